"""Exact learning under a relation equals what a float learner ends at, and the judgement says the same."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from lengthgen.theory.generalization import TrainTestScalesError, judge, learn, levels_of
from lengthgen.theory.learning.pola import learned_matrix
from lengthgen.theory.lrc import level_sets
from lengthgen.theory.pattern import Pattern, PatternError, from_array, from_formula
from lengthgen.theory.relation import absolute, constant, from_function, from_labels, relative


@st.composite
def cases(draw: st.DrawFn) -> tuple[Pattern, Any, int]:
    size = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    pattern = np.triu(rng.integers(0, draw(st.integers(1, 6)), (size, size)))
    labels = rng.integers(0, draw(st.integers(1, 10)), (size, size))
    return from_array(pattern), from_labels(labels, name="random"), draw(st.integers(1, size))


@given(case=cases())
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


@given(case=cases())
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
