"""Exact linear algebra: ranks against minors, solutions and kernels put in again."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.rational import NoSolution, diagonal, exact_matrix, fractions, null_space, rank, rows_of, solve

Rows = list[list[Fraction]]
ENTRIES = st.sampled_from([Fraction(0), Fraction(0), Fraction(1), Fraction(-2, 3), Fraction(5), Fraction(10**30, 7)])


def _rank_by_minors(rows: list[list[Fraction]]) -> int:
    def determinant(square: list[list[Fraction]]) -> Fraction:
        if not square:
            return Fraction(1)
        minors = ([row[:at] + row[at + 1 :] for row in square[1:]] for at in range(len(square)))
        return sum(((-1) ** at * square[0][at] * determinant(minor) for at, minor in enumerate(minors)), Fraction())

    for order in range(min(len(rows), len(rows[0])), 0, -1):
        for chosen in combinations(rows, order):
            for columns in combinations(range(len(rows[0])), order):
                if determinant([[row[column] for column in columns] for row in chosen]):
                    return order
    return 0


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.fractions(-2, 2, max_denominator=3), min_size=width, max_size=width), min_size=1, max_size=4
        )
    )
)
def test_rank_is_the_order_of_the_largest_minor_that_is_not_zero(rows: list[list[Fraction]]) -> None:
    assert rank(rows) == _rank_by_minors(rows)


def test_rank_tells_apart_what_floats_do_not() -> None:
    assert rank([[10**20, 10**20 + 1], [1, 1]]) == 2
    assert rank(np.array([[1, 2], [2, 4]])) == 1


@pytest.mark.parametrize(("matrix", "says"), [([1, 2], "shape"), ([[0.5]], "not float"), ([[True, "a"]], "not str")])
def test_matrices_without_an_exact_rank_are_refused(matrix: object, says: str) -> None:
    with pytest.raises(LengthgenError, match=says):
        rank(matrix)


@st.composite
def matrices(draw: st.DrawFn, *, rows: int | None = None) -> Rows:
    height, width = draw(st.integers(1, 4)) if rows is None else rows, draw(st.integers(1, 4))
    return [[draw(ENTRIES) for _ in range(width)] for _ in range(height)]


def _product(first: Rows, second: Rows) -> Rows:
    return [
        [sum((a * b for a, b in zip(row, column, strict=True)), Fraction()) for column in zip(*second, strict=True)]
        for row in first
    ]


@given(rows=matrices(), data=st.data())
def test_a_solution_solves_and_is_refused_where_the_rank_says_there_is_none(rows: Rows, data: st.DataObject) -> None:
    right = data.draw(matrices(rows=len(rows)))
    solvable = _rank_by_minors([[*a, *b] for a, b in zip(rows, right, strict=True)]) == _rank_by_minors(rows)
    if solvable:
        assert _product(rows, fractions(solve(exact_matrix(rows), exact_matrix(right))).tolist()) == right
    else:
        with pytest.raises(NoSolution, match="no solution"):
            solve(exact_matrix(rows), exact_matrix(right))


@given(rows=matrices(), data=st.data())
def test_systems_whose_right_side_is_in_the_range_are_solved(rows: Rows, data: st.DataObject) -> None:
    unknowns = data.draw(matrices(rows=len(rows[0])))
    right = _product(rows, unknowns)
    assert _product(rows, fractions(solve(exact_matrix(rows), exact_matrix(right))).tolist()) == right


@given(rows=matrices())
def test_the_null_space_is_all_that_is_sent_to_zero(rows: Rows) -> None:
    kernel = fractions(null_space(exact_matrix(rows)))
    dimension = len(rows[0]) - _rank_by_minors(rows)
    assert kernel.shape == (len(rows[0]), dimension)
    if dimension:
        assert not any(entry for row in _product(rows, kernel.tolist()) for entry in row)
        assert _rank_by_minors(kernel.tolist()) == dimension


def test_arrays_come_back_as_they_went_in() -> None:
    array = np.array([[1, Fraction(-3, 7), 10**40], [np.int64(2), 0, Fraction(1, 10**40)]], dtype=object)
    assert fractions(exact_matrix(array)).tolist() == array.tolist()
    assert all(isinstance(entry, Fraction) for entry in fractions(exact_matrix(array)).flat)
    assert fractions(rows_of(exact_matrix(array), (1, 0, 1))).tolist() == array[[1, 0, 1]].tolist()
    assert fractions(diagonal((1, Fraction(1, 2)))).tolist() == [[1, 0], [0, Fraction(1, 2)]]


def test_matrices_without_rows_or_columns_are_matrices() -> None:
    assert rank(np.zeros((0, 3), dtype=int)) == 0
    assert fractions(null_space(exact_matrix(np.zeros((0, 2), dtype=int)))).tolist() == [[1, 0], [0, 1]]
    assert fractions(null_space(exact_matrix(np.eye(2, dtype=int)))).shape == (2, 0)
    assert fractions(exact_matrix(np.zeros((2, 0), dtype=int))).shape == (2, 0)
