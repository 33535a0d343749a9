"""Patterns from formulas, functions, arrays and relations have the entries that they should, exactly."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.pattern import (
    Pattern,
    PatternError,
    as_matrix,
    from_array,
    from_formula,
    from_function,
    from_relation,
)
from lengthgen.theory.relation import Relation

SQUARES = [[1, 4, 9], [0, 25, 36], [0, 0, 81]]
RELATIVE = Relation(name="relative", law=lambda keys, queries, _: queries - keys)


def _sources() -> dict[str, Pattern]:
    """Patterns of (i j)**2 - i j + i - j + 1/2, written in every way."""
    relation = Relation(name="pair", law=lambda keys, queries, _: 10 * queries + keys)
    values = {10 * j + i: Fraction(2 * ((i * j) ** 2 - i * j + i - j) + 1, 2) for j in range(1, 6) for i in range(1, 6)}
    return {
        "formula": from_formula("(i*j)**2 - i*j + i - j + 1/2"),
        "function": from_function(lambda i, j: (i * j) ** 2 - i * j + i - j + Fraction(1, 2), name="f"),
        "floats": from_function(lambda i, j: float((i * j) ** 2 - i * j + i - j) + 0.5, name="f"),
        "array": from_array(
            [[values[10 * j + i] if i <= j else 0 for j in range(1, 6)] for i in range(1, 6)],
        ),
        "relation": from_relation(relation, values),
    }


@pytest.mark.parametrize("source", ["formula", "function", "floats", "array", "relation"])
def test_every_source_gives_the_same_matrices(source: str) -> None:
    pattern = _sources()[source]
    for size in (1, 2, 5):
        matrix = pattern.matrix(size)
        assert matrix.shape == (size, size)
        assert matrix.dtype == object
        for i in range(1, size + 1):
            for j in range(1, size + 1):
                expected = (i * j) ** 2 - i * j + i - j + Fraction(1, 2) if i <= j else 0
                assert matrix[i - 1, j - 1] == expected
                assert isinstance(matrix[i - 1, j - 1], int | Fraction)
        numeric = pattern.numeric(size)
        assert numeric.dtype == np.float64
        np.testing.assert_array_equal(numeric, matrix.astype(float))


def test_entries_of_some_cells_in_any_order() -> None:
    keys, queries = np.array([2, 1, 1, 2]), np.array([5, 1, 4, 5])
    for pattern in _sources().values():
        np.testing.assert_array_equal(pattern.floats(keys, queries), [87.5, 0.5, 9.5, 87.5])


def test_families_take_their_scale() -> None:
    for pattern in (from_formula("i*n + j"), from_function(lambda i, j, n: i * n + j, name="f", scale_hint=True)):
        assert pattern.scale_hint
        assert pattern.matrix(2).tolist() == [[3, 4], [0, 6]]
        assert pattern.matrix(2, scale=7).tolist() == [[8, 9], [0, 16]]
    hinted = from_relation(_from_the_end())
    assert hinted.scale_hint
    assert hinted.matrix(2)[0, 1] != hinted.matrix(2, scale=3)[0, 1]


def _from_the_end() -> Relation:
    return Relation(name="from-the-end", law=lambda keys, queries, scales: scales - keys, scale_hint=True)


@pytest.mark.parametrize(
    "pattern",
    [
        from_formula("[[i, j, i - j], [0, 1/2, sqrt(2)]]"),
        from_function(lambda i, j: [[i, j, i - j], [0, Fraction(1, 2), sp.sqrt(2)]], name="f"),
        from_function(lambda i, j: sp.Matrix([[i, j, i - j], [0, sp.Rational(1, 2), sp.sqrt(2)]]), name="f"),
        from_function(lambda i, j: np.array([[i, j, i - j], [0, Fraction(1, 2), sp.sqrt(2)]]), name="f"),
    ],
)
def test_matrix_valued_entries(pattern: Pattern) -> None:
    assert pattern.shape == (2, 3)
    matrix = pattern.matrix(3)
    assert matrix.shape == (3, 3, 2, 3)
    assert matrix[1, 2].tolist() == [[2, 3, -1], [0, Fraction(1, 2), sp.sqrt(2)]]
    assert not np.any(matrix[2, 0] != 0)
    np.testing.assert_allclose(pattern.numeric(3)[1, 2], [[2, 3, -1], [0, 0.5, 2**0.5]])


def test_a_matrix_of_one_row_is_not_a_number() -> None:
    assert from_function(lambda i, j: [[i]], name="f").shape == (1, 1)
    assert from_function(lambda i, j: np.array(i), name="f").shape == ()


def test_arrays_of_every_type_stay_exact() -> None:
    large = 2**63 - 1
    for dtype in (np.int8, np.uint64, np.int64, np.float32, np.float64, object):
        pattern = from_array(np.array(SQUARES, dtype=dtype))
        assert pattern.limit == 3
        assert pattern.matrix(3).tolist() == SQUARES
        assert all(isinstance(entry, int) for entry in pattern.matrix(3).ravel())
    unequal = from_array(np.array([[large, large - 1], [0, large]]))
    assert unequal.matrix(2).tolist() == [[large, large - 1], [0, large]]
    assert from_array([[2**70, 0.5], [0, 2**70 + 1]]).matrix(2).tolist() == [[2**70, Fraction(1, 2)], [0, 2**70 + 1]]
    tenth = from_array(np.array([[0.1]])).matrix(1)[0, 0]
    assert tenth == Fraction(0.1) != Fraction(1, 10)
    assert from_array(np.array([[True]])).matrix(1)[0, 0] == 1
    assert from_array(np.array([[-np.inf, 0.0], [0.0, 1.0]])).numeric(2)[0, 0] == -np.inf


def test_arrays_of_matrices() -> None:
    array = np.zeros((3, 3, 2, 2), dtype=np.int64)
    array[0, 2] = [[1, 2], [3, 4]]
    pattern = from_array(array)
    assert pattern.shape == (2, 2)
    np.testing.assert_array_equal(pattern.numeric(3), array)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 2, 3], [0, 1, 2]], "square"),
        ([1, 2], "square"),
        (np.zeros((0, 0)), "square"),
        (np.zeros((2, 2, 2)), "square"),
        ([[1, 2], [3, 4]], r"A\(2, 1\) is not 0 although i > j"),
        (np.array([[1, 2], [3, 4]]), r"A\(2, 1\)"),
        (np.array([[1.0, np.nan], [0, 1]]), "i=1, j=2.*NaN|NaN.*i=1, j=2|A\\(1, 2\\).*NaN|NaN.*A\\(1, 2\\)"),
        ([[1, float("nan")], [0, 1]], "i=1, j=2 is a NaN"),
        (np.array([["a"]]), "real numbers"),
        (np.array([[1j]]), "real numbers"),
        ([[sp.I]], "not real"),
        ([[sp.zoo]], "not real"),
        ([[None]], "must hold real numbers, not NoneType"),
    ],
)
def test_matrices_that_are_no_pattern_are_refused(matrix: Any, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        as_matrix(matrix)


def test_scales_that_are_not_given_are_refused() -> None:
    for size in (0, -1, 4):
        with pytest.raises(PatternError, match="scale must be 1 to 3"):
            from_array(SQUARES).matrix(size)
    with pytest.raises(PatternError, match="1 or more"):
        from_formula("i").matrix(0)


def _raises(i: int, j: int) -> float:
    return 1 / (j - 3)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_raises, "'f' at i=1, j=3 fails: ZeroDivisionError"),
        (lambda i, j: "a" if j == 3 else 1, "'f' at i=1, j=3 must hold real numbers, not str"),
        (lambda i, j: None if j == 3 else 1, "not NoneType"),
        (lambda i, j: 1j if j == 3 else 1, "not complex"),
        (lambda i, j: float("nan") if j == 3 else 1, "i=1, j=3 is a NaN"),
        (lambda i, j: np.float32("nan") if j == 3 else 1, "i=1, j=3 is a NaN"),
        (lambda i, j: sp.sqrt(2 - j), "which is not real"),
        (lambda i, j: [[1]] if j == 3 else 1, r"shape \(\) at the first pair and \(1, 1\)"),
        (lambda i, j: [[1, 2], [3]] if j == 3 else [[1, 2], [3, 4]], "not a matrix"),
        (lambda i, j: [1, 2], "not a matrix"),
        (lambda i, j: 10**5000 if j == 3 else 1, "j=3 holds a number of more than 4096 bits"),
        (lambda i, j: sp.pi / 10**5000 if j == 3 else 1, "j=3 holds a number of more than 4096 bits"),
        (lambda i: i, "fails: TypeError"),
    ],
)
def test_functions_that_fail_are_named_with_their_pair(function: Any, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        from_function(function, name="f").matrix(4)


def test_relations_have_free_parameters_unless_they_are_given() -> None:
    free = from_relation(RELATIVE).matrix(3)
    assert [[str(entry) for entry in row] for row in free] == [
        ["theta_0", "theta_1", "theta_2"],
        ["0", "theta_0", "theta_1"],
        ["0", "0", "theta_0"],
    ]
    with pytest.raises(PatternError, match=r"holds free parameters: give theta_\d a value"):
        from_relation(RELATIVE).numeric(2)
    with pytest.raises(PatternError, match="has label 2, for which no parameter is given"):
        from_relation(RELATIVE, {0: 1, 1: sp.pi}).matrix(3)
    with pytest.raises(PatternError, match="different shapes"):
        from_relation(RELATIVE, {0: 1, 1: [[1]]})
    with pytest.raises(PatternError, match="label 0 is a NaN"):
        from_relation(RELATIVE, {0: float("nan")})
    assert from_relation(RELATIVE, {0: [[1, 2]], 1: [[3, 4]]}).numeric(2)[0, 1].tolist() == [[3, 4]]


def test_numbers_too_large_for_a_float_are_refused_as_floats() -> None:
    assert from_formula("10**400").matrix(1)[0, 0] == 10**400
    with pytest.raises(LengthgenError, match="too large for a float"):
        from_formula("pi*10**400 - i").numeric(1)
