"""PLAA is its definition, and its spectrum is that of the transform."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthgen.theory.learning import plaa
from tests.oracles.plaa import Rows, all_inputs, patterns, value

ENTRIES = st.sampled_from([0, 0, 1, -1, 2, Fraction(1, 3), Fraction(-5, 2), 10**30])


def _coefficient(rows: Rows, members: Sequence[int]) -> Fraction:
    total = Fraction(0)
    for signs in all_inputs(len(rows)):
        character = 1
        for member in members:
            character *= signs[member]
        total += character * Fraction(value(rows, signs))
    return total / 2 ** len(rows)


def _subsets(size: int) -> list[tuple[int, ...]]:
    return [chosen for count in range(size + 1) for chosen in itertools.combinations(range(size), count)]


@given(rows=patterns(entries=ENTRIES))
def test_the_value_is_that_of_the_definition_and_exact(rows: Rows) -> None:
    inputs = all_inputs(len(rows))
    values = plaa.evaluate(rows, np.array(inputs))
    assert values.tolist() == [value(rows, signs) for signs in inputs]


def test_the_all_ones_input_gives_zero_and_floats_stay_floats() -> None:
    values = plaa.evaluate(np.triu(np.full((3, 3), 0.5)), np.array([[1, 1, 1], [1, -1, 1]]))
    assert values.dtype == np.float64
    assert values.tolist() == [0.0, 0.0]


def test_stacked_matrices_are_evaluated_one_by_one() -> None:
    stack = np.triu(np.random.default_rng(0).integers(-3, 4, (2, 3, 4, 4)))
    inputs = plaa.inputs_up_to(4, size=4)
    together = plaa.evaluate(stack, inputs)
    assert together.shape == (2, 3, 16)
    for at in np.ndindex(2, 3):
        assert together[at].tolist() == [value(stack[at].tolist(), signs) for signs in inputs.tolist()]


def test_integers_beyond_64_bits_do_not_overflow() -> None:
    largest = 2**63 - 1
    matrix = np.array([[0, largest], [0, -largest]], dtype=np.int64)
    assert plaa.evaluate(matrix, np.array([[1, -1]])).tolist() == [2 * largest]


@given(rows=patterns(entries=ENTRIES))
def test_plaa_is_pola_read_at_the_advice(rows: Rows) -> None:
    matrix = np.array(rows, dtype=object)
    for signs in all_inputs(len(rows))[1:]:
        last = int(plaa.advice(signs))
        everywhere = [sum(matrix[i, j] * signs[i] for i in range(j + 1)) for j in range(len(rows))]
        assert plaa.evaluate(matrix, np.array([signs]))[0] == everywhere[last - 1]


@pytest.mark.parametrize("size", range(1, 6))
def test_the_training_inputs_are_those_advised_at_most_the_training_scale(size: int) -> None:
    for scale in range(size + 1):
        inputs = {tuple(row) for row in plaa.inputs_up_to(scale, size=size).tolist()}
        wanted = {signs for signs in all_inputs(size) if all(sign == 1 for sign in signs[scale:])}
        assert inputs == wanted
        assert plaa.inputs_up_to(scale, size=size).shape == (2**scale, size)


@given(rows=patterns(entries=ENTRIES))
def test_the_fourier_table_is_the_transform(rows: Rows) -> None:
    size, table = len(rows), plaa.fourier(rows)
    for members in _subsets(size):
        least = (*members[:2], size, size)[:2]
        assert table[least] == _coefficient(rows, members), members


@given(rows=patterns(entries=st.integers(-2, 2)))
def test_the_degree_and_its_profile_are_those_of_the_transform(rows: Rows) -> None:
    size = len(rows)
    weights = [Fraction(0)] * (size + 1)
    for members in _subsets(size):
        weights[len(members)] += _coefficient(rows, members) ** 2
    assert plaa.degree_profile(rows) == tuple(weights)
    assert plaa.degree(rows) == max((degree for degree, weight in enumerate(weights) if weight), default=0)
    assert sum(weights) == sum(Fraction(value(rows, signs)) ** 2 for signs in all_inputs(size)) / 2**size


@given(rows=patterns(size=4, entries=st.integers(-2, 2)))
def test_the_degree_is_full_unless_the_first_cell_is_twice_its_neighbour(rows: Rows) -> None:
    assert (plaa.degree(rows) == 4) == (rows[0][0] != 2 * rows[0][1])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: plaa.advice([1, 0]), r"\+1 and -1"),
        (lambda: plaa.inputs_up_to(3, size=2), r"0\.\.2, not 3"),
        (lambda: plaa.evaluate([[1, 0], [1, 1]], [[1, -1]]), "upper triangular"),
        (lambda: plaa.evaluate([[1, 0], [0, 1]], [[1, -1, 1]]), r"shape \[M, 2\]"),
        (lambda: plaa.evaluate([[1, 0]], [[1, -1]]), "square"),
        (lambda: plaa.evaluate([["1"]], [[-1]]), "real numbers, not str"),
        (lambda: plaa.evaluate([[float("nan")]], [[-1]]), "not a NaN"),
        (lambda: plaa.fourier([[float("inf")]]), "finite"),
        (lambda: plaa.fourier(np.zeros((2, 1, 1))), "one matrix"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_one_line(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as refusal:
        call()
    assert "\n" not in str(refusal.value)
