"""The numbers of the claims on POLA, PLAA and complexity, counted again by slow means that share no code with them."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.result import Result
from tests.oracles.pola import min_norm_map, pairs, relations

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


def test_rank_and_what_is_learned_disagree_both_ways() -> None:
    ends = np.diag([1.0, 0.0, 1.0])
    assert [np.linalg.matrix_rank(ends[:n, :n]) for n in (1, 3)] == [1, 2]
    learn, shown = min_norm_map((0, 1, 1, 1, 1, 0), 1, 3)
    assert np.allclose(learn @ ends[0, :1], [ends[pair] for pair in pairs(3)])
    assert shown == [0]
    row = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert [np.linalg.matrix_rank(row[:n, :n]) for n in (1, 3)] == [1, 1]
    for blocks in relations(6):
        assert not np.allclose(min_norm_map(blocks, 1, 3)[0] @ [1.0], [row[pair] for pair in pairs(3)])


def test_profiles_of_random_patterns_are_allowed() -> None:
    allowed = CLAIMS["pola-3-monotone"].holds["allowed"]
    rng = np.random.default_rng(4)
    for _ in range(200):
        size = int(rng.integers(1, 9))
        pattern = rng.integers(0, int(rng.integers(1, 40)), (size, size))
        profile = tuple(len({int(pattern[i, j]) for i, j in pairs(n)} - {0}) for n in range(1, size + 1))
        assert allowed(profile)
    assert not allowed((2,))
    assert not allowed((1, 0))
    assert not allowed((1, 4))


def test_the_counterexample_to_independence_alone_holds_by_hand(
    result_of: Callable[[str], Result],
) -> None:
    """U = diag(0,1,0), diag(1,0,0), I on the first two columns: target U_1 is fitted by (1 - s, -s, s), any s."""
    assert "target U_1: descent ends at p = (2/3, -1/3, 1/3)" in result_of("plaa-2").reason
    steps = np.linspace(-1, 1, 2001)
    norms = (1 - steps) ** 2 + steps**2 + steps**2
    assert abs(steps[norms.argmin()] - 1 / 3) < 1e-3
    of_largest_degree = steps**2 + steps**2
    assert abs(steps[of_largest_degree.argmin()]) < 1e-12
