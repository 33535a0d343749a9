"""A relation generalizes a pattern exactly where a learner that is run learns it, and the cells named say why not."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.generalization import (
    Judgement,
    TrainTestScalesError,
    judge,
    judge_standard_encodings,
    learn,
    levels_of,
)
from lengthgen.theory.learning.pola import learned_matrix
from lengthgen.theory.lrc import level_sets, lrc
from lengthgen.theory.pattern import Pattern, PatternError, from_array, from_formula
from lengthgen.theory.relation import (
    Relation,
    absolute,
    clipped_relative,
    constant,
    from_function,
    from_labels,
    relative,
    t5_buckets,
)
from tests.oracles import partitions
from tests.timing import at_once

Cell = partitions.Cell
Case = tuple[dict[Cell, int], dict[Cell, int], Relation, Relation, int, int]
PAIRS = partitions.cells(3, hinted=False)


def pattern(entry: Callable[[int, int], float], size: int = 8) -> NDArray[np.float64]:
    return np.array([[entry(i, j) if i <= j else 0 for j in range(1, size + 1)] for i in range(1, size + 1)])


def pattern_of(entries: dict[Cell, int]) -> NDArray[np.float64]:
    return pattern(lambda i, j: entries[i, j], max(entries)[-1])


def relation_of(entries: dict[Cell, int], *, hinted: bool) -> Relation:
    by_arguments = {cell if hinted else cell[:2]: entry for cell, entry in entries.items()}
    return from_function(lambda *cell: by_arguments[cell], name="given", scale_hint=hinted)


def learned(cells: list[Cell], labels: list[int], values: NDArray[np.float64], train: int) -> NDArray[np.float64]:
    """Entries that least squares of least norm on the cells of scales up to train learns; values [cells, ...]."""
    member = np.equal.outer(labels, sorted(set(labels))).astype(float)
    seen = [cell[-1] <= train for cell in cells]
    theta, *_ = np.linalg.lstsq(member[seen], values[seen], rcond=None)
    return member @ theta


@pytest.mark.parametrize("train", [1, 2])
def test_every_relation_on_three_positions_generalizes_just_what_least_squares_learns(train: int) -> None:
    patterns = np.array(list(product((0, 1, 2), repeat=len(PAIRS))))
    # Patterns that differ by exchanging 1 and 2 have the same level sets and are judged once.
    groups: dict[bytes, tuple[Relation, list[int]]] = {}
    for at, entries in enumerate(patterns.tolist()):
        values = level_sets(pattern_of(dict(zip(PAIRS, entries, strict=True))))
        groups.setdefault(values.labels(3).tobytes(), (values, []))[1].append(at)
    relations = list(partitions.all_partitions(PAIRS))
    assert (len(patterns), len(groups), len(relations)) == (729, 365, 203)
    for number, blocks in enumerate(relations):
        labels = {cell: label for label, block in enumerate(sorted(blocks, key=min)) for cell in block}
        relation = relation_of(labels, hinted=False)
        outcome = learned(PAIRS, [labels[cell] for cell in PAIRS], patterns.T.astype(float), train)
        right = (np.abs(outcome - patterns.T) < 1e-9).all(axis=0)
        # Each relation meets every thirtieth of the patterns, and each pattern every thirtieth of the relations.
        for values, at in list(groups.values())[number % 30 :: 30]:
            assert (right[at] == judge(values, relation, train=train, test=3).generalizes).all()


def random_entries(cells: list[Cell], kinds: int, rng: np.random.Generator, *, hinted: bool) -> dict[Cell, int]:
    """An entry for each cell, the same at all scales without scale hint."""
    drawn: dict[Cell, int] = {}
    return {cell: drawn.setdefault(cell if hinted else cell[:2], int(rng.integers(kinds))) for cell in cells}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Values and labels of few kinds, either with scale hint or without; in half of the cases they are consistent."""
    test = draw(st.integers(1, 4))
    train = draw(st.integers(1, test))
    consistent, relation_hinted = draw(st.booleans()), draw(st.booleans())
    values_hinted = relation_hinted if consistent else draw(st.booleans())
    cells = partitions.cells(test, hinted=relation_hinted or values_hinted)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    labels = random_entries(cells, draw(st.integers(1, 9)), rng, hinted=relation_hinted)
    if consistent:
        of_label = rng.integers(0, 3, 9).tolist()
        values = {cell: of_label[label] for cell, label in labels.items()}
    else:
        values = random_entries(cells, draw(st.integers(1, 3)), rng, hinted=values_hinted)
    levels, relation = relation_of(values, hinted=values_hinted), relation_of(labels, hinted=relation_hinted)
    return values, labels, levels, relation, train, test


def expected_judgement(values: dict[Cell, int], labels: dict[Cell, int], train: int, test: int) -> Judgement:
    """The judgement by its definition, looking through all pairs of cells."""
    cells = list(values)
    classes = {label: [cell for cell in cells if labels[cell] == label] for label in labels.values()}
    split = [label for label, members in classes.items() if len({values[cell] for cell in members}) > 1]
    unseen = [label for label, members in classes.items() if all(cell[-1] > train for cell in members)]
    filled = [label for label in unseen if any(values[cell] for cell in classes[label])]
    clashes = [
        (first, second)
        for at, second in enumerate(cells)
        for first in cells[:at]
        if labels[first] == labels[second] and values[first] != values[second]
    ]
    across = [(first, second) for first, second in clashes if first[-1] <= train < second[-1]]
    return Judgement(
        train=train,
        test=test,
        fits=not any(second[-1] <= train for _, second in clashes),
        labels=len(classes),
        inconsistent_labels=len(split),
        unseen_labels=len(unseen),
        unseen_nonzero_labels=len(filled),
        conflict=next(iter(across or clashes), None),
        unseen=next((cell for cell in cells if labels[cell] in filled and values[cell]), None),
    )


@settings(max_examples=200)
@given(case=cases())
def test_a_judgement_agrees_with_looking_through_all_pairs_of_cells(case: Case) -> None:
    values, labels, levels, relation, train, test = case
    assert judge(levels, relation, train=train, test=test) == expected_judgement(values, labels, train, test)


@given(case=cases())
def test_generalizing_agrees_with_least_squares_with_and_without_scale_hint(case: Case) -> None:
    values, labels, levels, relation, train, test = case
    entries = np.array([(0.0, 1.5, -2.0)[value] for value in values.values()])
    outcome = learned(list(values), list(labels.values()), entries, train)
    judgement = judge(levels, relation, train=train, test=test)
    assert judgement.generalizes == bool((np.abs(outcome - entries) < 1e-9).all())
    if judgement.consistent and judgement.covered:
        assert judgement.generalizes
    seen = [cell[-1] <= train for cell in values]
    assert judgement.fits == bool((np.abs(outcome - entries)[seen] < 1e-9).all())


def number_of_values(values: dict[Cell, int], scale: int) -> int:
    return len({value for cell, value in values.items() if cell[-1] <= scale} - {0})


@given(case=cases())
def test_the_level_sets_generalize_iff_the_number_of_values_does_not_grow(case: Case) -> None:
    values, _, levels, _, train, test = case
    judgement = judge(levels, levels, train=train, test=test)
    assert judgement.consistent
    assert judgement.generalizes == (number_of_values(values, train) == number_of_values(values, test))


@given(case=cases())
def test_the_level_sets_generalize_if_any_relation_does(case: Case) -> None:
    _, _, levels, relation, train, test = case
    if judge(levels, relation, train=train, test=test).generalizes:
        assert judge(levels, levels, train=train, test=test).generalizes


PREFIX_SUM = pattern(lambda i, j: 1)
WINDOW = pattern(lambda i, j: {0: 2, 1: -1}.get(j - i, 0))
DECAY = pattern(lambda i, j: 0.5 ** (j - i))
FIRST_KEY = pattern(lambda i, j: i == 1)
ZERO = pattern(lambda i, j: 0)
LATE = pattern(lambda i, j: j - i == 5)

# Which of constant, absolute, relative, clipped, T5, level sets generalize from 4 to 8, and the clipping limits.
WORKED = {
    "prefix sum": (PREFIX_SUM, "yes no no yes no yes", range(4)),
    "window": (WINDOW, "no no yes yes yes yes", range(2, 4)),
    "decay": (DECAY, "no no no no no no", range(4, 4)),
    "first key": (FIRST_KEY, "no no no no no yes", range(4, 4)),
    "zero": (ZERO, "yes yes yes yes yes yes", range(4)),
    "beyond training": (LATE, "no no no no no no", range(4, 4)),
}


@pytest.mark.parametrize(("target", "verdicts", "limits"), WORKED.values(), ids=WORKED.keys())
def test_worked_cases_from_scale_four_to_eight(target: NDArray[np.float64], verdicts: str, limits: range) -> None:
    answers = judge_standard_encodings(level_sets(target), train=4, test=8)
    assert " ".join("yes" if answer.judgement.generalizes else "no" for answer in answers) == verdicts
    assert [answer.limits for answer in answers] == [None, None, None, limits, None, None]
    assert answers[-1].judgement.generalizes == (lrc(target, 4) == lrc(target, 8))


@given(seed=st.integers(0, 10**6), test=st.integers(1, 8), hinted=st.booleans(), noise=st.booleans(), data=st.data())
def test_standard_answers_are_the_judgements_of_their_relations(
    seed: int, test: int, hinted: bool, noise: bool, data: st.DataObject
) -> None:
    train = data.draw(st.integers(1, test))
    rng = np.random.default_rng(seed)
    by_distance = rng.integers(0, 3, 8)
    by_distance[rng.integers(0, 8) :] = rng.integers(0, 2)
    exception = tuple(rng.integers(1, 9, 2).tolist()) if noise else None

    def value(i: int, j: int, *n: int) -> int:
        return 7 if (i, (n or (j,))[0]) == exception else int(by_distance[j - i])

    values = from_function(value, name="values", scale_hint=hinted)
    answers = judge_standard_encodings(values, train=train, test=test)
    relations = [constant(), absolute(), relative(), answers[3].relation, t5_buckets(), values]
    for answer, relation in zip(answers, relations, strict=True):
        assert answer.relation.name == relation.name
        assert answer.judgement == judge(values, relation, train=train, test=test)
    works = [
        limit for limit in range(train) if judge(values, clipped_relative(limit), train=train, test=test).generalizes
    ]
    assert list(answers[3].limits) == works
    assert answers[3].relation.name == f"clipped-{works[0] if works else train - 1}"


def test_reasons_name_the_cells() -> None:
    window, prefix = level_sets(WINDOW), level_sets(PREFIX_SUM)
    hinted = from_function(lambda i, j, n: int(i == n), name="last", scale_hint=True)
    reasons = {
        "one value, and training meets every label.": (prefix, constant()),
        "the pattern is zero wherever training does not meet the label.": (window, relative()),
        "key 1, query 1 (in training) and key 1, query 5 (beyond training) have one label, but the pattern differs "
        "there.": (window, constant()),
        "key 1, query 5 (beyond training) has a label that training never meets, and the pattern is not zero there.": (
            prefix,
            relative(),
        ),
        "key 1, query 1, scale 1 (in training) and key 1, query 1, scale 5 (beyond training) have one label, but "
        "the pattern differs there.": (hinted, absolute()),
    }
    for reason, (values, relation) in reasons.items():
        assert judge(values, relation, train=4, test=8).why.endswith(reason)


# From scale 2 to 3; cells are listed as (1,1), (1,2), (2,2), (1,3), (2,3), (3,3).
CONFLICTS = {
    "within training where there is no other": ([1, 2, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1], ((1, 1), (1, 2))),
    "beyond training where there is no other": ([0, 0, 0, 1, 2, 1], [0, 0, 0, 1, 1, 1], ((1, 3), (2, 3))),
    "of training and beyond before one within": ([1, 2, 3, 3, 0, 0], [0, 0, 1, 2, 1, 3], ((2, 2), (2, 3))),
    "of training and beyond before one beyond": ([1, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 0], ((1, 1), (3, 3))),
    "with a later training cell where the first agrees": ([1, 2, 2, 1, 1, 1], [0] * 6, ((1, 2), (1, 3))),
}


@pytest.mark.parametrize(("values", "labels", "cells"), CONFLICTS.values(), ids=CONFLICTS.keys())
def test_the_two_cells_of_a_conflict_are_named(values: list[int], labels: list[int], cells: tuple[Cell, Cell]) -> None:
    levels, relation = (relation_of(dict(zip(PAIRS, row, strict=True)), hinted=False) for row in (values, labels))
    assert judge(levels, relation, train=2, test=3).conflict == cells


@pytest.mark.parametrize("scales", [(0, 3), (4, 3), (-1, -1)])
def test_scales_out_of_order_are_refused_in_one_line(scales: tuple[int, int]) -> None:
    train, test = scales
    asks = (
        lambda: judge(relative(), relative(), train=train, test=test),
        lambda: judge_standard_encodings(relative(), train=train, test=test),
    )
    for ask in asks:
        with pytest.raises(LengthgenError, match=f"1 <= train <= test, not train={train}, test={test}$") as caught:
            ask()
        assert "\n" not in str(caught.value)


def test_a_pattern_that_does_not_reach_the_test_scale_is_refused() -> None:
    with pytest.raises(LengthgenError, match=r"positions 1\.\.8, not 9"):
        judge(level_sets(WINDOW), relative(), train=4, test=9)


def test_half_a_million_pairs_and_all_triples_up_to_a_hundred_take_seconds() -> None:
    window = Relation(name="window", law=lambda key, query, _: np.maximum(3 - query + key, 0))
    last = Relation(name="last", law=lambda key, query, scale: (key == scale).astype(np.int64), scale_hint=True)
    with at_once(10):
        assert judge_standard_encodings(window, train=500, test=1000)[3].limits == range(3, 500)
        assert judge_standard_encodings(last, train=50, test=100)[-1].judgement.generalizes


@st.composite
def learning_cases(draw: st.DrawFn) -> tuple[Pattern, Any, int]:
    size = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    pattern = np.triu(rng.integers(0, draw(st.integers(1, 6)), (size, size)))
    labels = rng.integers(0, draw(st.integers(1, 10)), (size, size))
    return from_array(pattern), from_labels(labels, name="random"), draw(st.integers(1, size))


@given(case=learning_cases())
def test_it_is_the_learned_matrix_of_pola(case: tuple[Pattern, Any, int]) -> None:
    pattern, relation, train = case
    size = pattern.limit or 0
    outcome = learn(levels_of(pattern, size), relation, train=train)
    cells = levels_of(pattern, size).cells
    matrix = np.zeros((size, size))
    matrix[cells.keys - 1, cells.queries - 1] = [float(outcome.parameters[number]) for number in outcome.class_of]
    target = pattern.numeric(size)
    learned = learned_matrix(target, relation.labels(size), training_scale=train)
    np.testing.assert_allclose(matrix, learned, atol=1e-12)
    gap = np.abs(learned - target)
    np.testing.assert_array_equal(outcome.wrong, gap[cells.keys - 1, cells.queries - 1] > 1e-9)
    assert outcome.largest_error == pytest.approx(gap.max())
    assert outcome.wrong.any() == (outcome.first_wrong is not None)


@given(case=learning_cases())
def test_it_is_right_everywhere_iff_the_relation_generalizes(case: tuple[Pattern, Any, int]) -> None:
    pattern, relation, train = case
    size = pattern.limit or 0
    judgement = judge(level_sets(pattern, size), relation, train=train, test=size)
    assert judgement.generalizes == (not learn(levels_of(pattern, size), relation, train=train).wrong.any())


def test_a_difference_too_small_for_floats_is_a_difference() -> None:
    pattern = levels_of(from_formula("1 + (j > 3) / 10**30"), 5)
    outcome = learn(pattern, constant(), train=3)
    assert outcome.first_wrong == (1, 4)
    assert outcome.parameters == [1]
    assert 0 < (outcome.largest_error or 0) < 1e-29


def test_irrational_entries_and_parameters_have_exact_means() -> None:
    pattern = levels_of(from_formula("sqrt(2) if i == j else a", parameters=["a"]), 3)
    outcome = learn(pattern, constant(), train=2)
    a = sp.Symbol("a", real=True)
    assert sp.expand(outcome.parameters[0] - (2 * sp.sqrt(2) + a) / 3) == 0
    assert outcome.wrong.all()
    assert outcome.largest_error is None


def test_a_mean_that_happens_to_be_an_entry_is_right_there() -> None:
    outcome = learn(levels_of(from_array([[1, 2, 0], [0, 3, 0], [0, 0, 2]]), 3), constant(), train=2)
    assert outcome.parameters == [2]
    assert outcome.wrong.tolist() == [True, False, True, True, True, False]


def test_families_learn_from_all_scales_up_to_train() -> None:
    pattern = levels_of(from_formula("n"), 3)
    outcome = learn(pattern, absolute(), train=2)
    by_pair = {
        (int(key), int(query)): outcome.parameters[number]
        for key, query, number in zip(pattern.cells.keys, pattern.cells.queries, outcome.class_of, strict=True)
    }
    assert by_pair[1, 1] == Fraction(3, 2)
    assert by_pair[1, 2] == by_pair[2, 2] == 2
    assert by_pair[1, 3] == 0
    hinted = from_function(lambda i, j, n: n, name="n", scale_hint=True)
    assert learn(pattern, hinted, train=3).first_wrong is None
    assert learn(pattern, hinted, train=2).first_wrong == (1, 1, 3)


def test_matrices_are_learned_entry_by_entry() -> None:
    outcome = learn(levels_of(from_formula("[[j, 1], [0, i]]"), 2), constant(), train=2)
    assert outcome.parameters == [(Fraction(5, 3), 1, 0, Fraction(4, 3))]
    assert outcome.largest_error == pytest.approx(2 / 3)


def test_a_large_scale_is_learned_in_seconds() -> None:
    outcome = learn(levels_of(from_formula("min(j - i, 5)"), 600), absolute(), train=300)
    assert int(np.count_nonzero(outcome.wrong)) == sum(min(query - 1, 600 - 0) for query in range(301, 601))
    assert learn(levels_of(from_formula("min(j - i, 5)"), 600), relative(), train=300).first_wrong == (1, 301)


def test_patterns_that_cannot_be_learned_are_refused() -> None:
    pattern = levels_of(from_formula("1"), 3)
    with pytest.raises(TrainTestScalesError, match="at least 1"):
        learn(pattern, constant(), train=0)
    with pytest.raises(PatternError, match="inf"):
        levels_of(from_array(np.array([[np.inf]])), 1)
    with pytest.raises(PatternError, match="scale must be 1 to 2"):
        levels_of(from_array(np.eye(2)), 3)
