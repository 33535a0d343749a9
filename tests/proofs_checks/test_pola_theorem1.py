"""The numbers of Theorem 1, counted again by slow means that share no code with the claims."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.result import Result
from tests.oracles.pola import min_norm_map, relations

CLAIMS = {claim.id: claim for claim in registry.CLAIMS}


@pytest.mark.parametrize(("training_scale", "block"), [(1, [5.0]), (2, [1.0, 0.0, 1.0]), (2, [1.0, 2.0, 3.5])])
def test_all_relations_reach_just_the_targets_that_keep_the_complexity(training_scale: int, block: list[float]) -> None:
    reached = set()
    for blocks in relations(6):
        learn, shown = min_norm_map(blocks, training_scale, 3)
        learned = learn @ block
        if np.allclose(learned[shown], block):
            reached.add(tuple((learned + 0.0).round(9)))
    assert len(reached) == (len(set(block) - {0.0}) + 1) ** (6 - len(block))
    assert {len(set(target) - {0.0}) for target in reached} == {len(set(block) - {0.0})}


def test_reached_dimensions_are_the_numbers_of_labels_met_in_training(
    result_of: Callable[[str], Result],
) -> None:
    evidence = result_of("pola-1d").evidence
    assert evidence is not None
    for training_scale in (1, 2):
        counts: Counter[int] = Counter()
        for blocks in relations(6):
            learn, shown = min_norm_map(blocks, training_scale, 3)
            square = np.zeros((6, 6))
            square[:, shown] = learn
            fixed = 6 - np.linalg.matrix_rank(square - np.eye(6))
            assert fixed == len({blocks[at] for at in shown})
            counts[int(fixed)] += 1
        # Least squares and descent from 1 reach that much; ridge and a few steps reach one pattern, zero.
        stated = {0: 2 * 203} | {dimension: 2 * counts[dimension] for dimension in sorted(counts)}
        assert any(f"N0 = {training_scale}: dimension {stated} " in fact for fact in evidence.facts)


@pytest.mark.parametrize("delta", ["0", "1/4", "1/3", "1/2", "3/5", "2/3", "9/10", "11/12"])
def test_linear_programming_finds_as_many_targets_and_no_more(delta: str) -> None:
    stated = CLAIMS["pola-1b"].holds["bound"](Fraction(delta))
    confidence = float(1 - Fraction(delta))
    for count, possible in ((stated, True), (stated + 1, False)):
        least = linprog(np.ones(count), bounds=[(confidence, 1)] * count)
        assert (least.fun <= 1 + 1e-9) == possible


@pytest.mark.parametrize("r", range(5))
def test_low_complexity_patterns_over_q_values_grow_with_the_power_of_the_dimension(r: int) -> None:
    cells = 3
    counts = np.array(
        [sum(len(set(entries) - {0}) <= r for entries in product(range(q + 1), repeat=cells)) for q in range(cells + 4)]
    )
    dimension = CLAIMS["pola-1e"].holds["dimension"](r, cells)
    assert np.diff(counts, dimension).all()
    assert not np.diff(counts, dimension + 1).any()


@pytest.mark.parametrize("block", [(0, 0, 0), (Fraction(1, 3), 0, Fraction(1, 3)), (2, Fraction(-1, 2), 1)])
def test_targets_of_the_same_complexity_are_counted_with_values_of_no_importance(block: tuple[Any, ...]) -> None:
    values = set(block) - {0}
    alphabet = sorted(values | {0, 7, Fraction(1, 9)})
    count = sum(set(entries) - {0} <= values for entries in product(alphabet, repeat=3))
    assert count == CLAIMS["pola-1e-count"].holds["number"](len(values), 3)


def test_one_slope_on_the_target_itself_generalizes_unless_training_shows_only_zeros() -> None:
    rng = np.random.default_rng(3)
    for zero_block in (False, True):
        for size, training_scale in ((3, 2), (6, 1), (8, 5)):
            target = np.triu(rng.normal(size=(size, size)))
            if zero_block:
                target[:training_scale, :training_scale] = 0
            seen = target[:training_scale, :training_scale][np.triu_indices(training_scale)]
            [slope], *_ = np.linalg.lstsq(seen[:, None], seen, rcond=None)
            assert np.allclose(slope * target, target) == (not zero_block)
