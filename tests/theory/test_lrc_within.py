"""LRC within eps is the fewest labels of all partitions of the entries, and its relation represents them that well."""

from dataclasses import replace
from fractions import Fraction
from math import cos, inf, sqrt
from random import Random

import numpy as np
import pytest
import sympy as sp

from lengthgen.theory.lrc import UndecidedLrc, lrc, profile
from lengthgen.theory.lrc_within import bounds_within, levels_within, lrc_within
from lengthgen.theory.pattern import Pattern, PatternError, from_array, from_formula, from_function
from tests.oracles.partitions import all_partitions

STEPS = (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(5, 2))


def fewest_labels(entries: set[Fraction], epsilon: Fraction) -> int:
    """Fewest labels with parameters other than zero, over all partitions of the entries."""

    def cost(block: frozenset[Fraction]) -> float:
        if all(abs(entry) <= epsilon for entry in block):
            return 0
        return 1 if max(block) - min(block) <= 2 * epsilon else inf

    return int(min(sum(map(cost, partition)) for partition in all_partitions(sorted(entries))))


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_fewest_labels_of_all_partitions(seed: int) -> None:
    """800 patterns; entries and errors are multiples of few numbers, so many are just as far apart as allowed."""
    draw = Random(seed)
    for _ in range(100):
        values = [draw.choice([-1, 1]) * draw.randint(0, 6) * draw.choice(STEPS) for _ in range(draw.randint(1, 6))]
        scale = draw.randint(1, 4)
        matrix = [[draw.choice(values) for _ in range(scale)] for _ in range(scale)]
        epsilon = draw.choice(STEPS) * draw.randint(0, 3) / 2
        pattern = from_function(lambda i, j, matrix=matrix: matrix[i - 1][j - 1], name="drawn")
        for n in range(1, scale + 1):
            entries = {matrix[i][j] for j in range(n) for i in range(j + 1)}
            assert lrc_within(pattern, epsilon, n) == fewest_labels(entries, epsilon)
        assert lrc_within(pattern, Fraction(0), scale) == lrc(pattern, scale)
        if epsilon:
            _represents(pattern, matrix, epsilon, scale)


def _represents(pattern: Pattern, matrix: list[list[Fraction]], epsilon: Fraction, scale: int) -> None:
    """Check that each entry is within epsilon of the parameter of its label, and that no label is wasted."""
    relation, parameters = levels_within(pattern, epsilon, scale)
    labels = relation.labels(scale, scale)
    for j in range(scale):
        for i in range(j + 1):
            assert abs(matrix[i][j] - parameters[int(labels[i, j])]) <= epsilon
    assert parameters[0] == 0
    assert len(parameters) - 1 == lrc_within(pattern, epsilon, scale)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("cos(j - i)", cos),
        ("sqrt(j - i)", sqrt),
        ("-sqrt(j - i)", lambda d: -sqrt(d)),
        ("0.5**(j - i)", lambda d: 0.5**d),
    ],
)
@pytest.mark.parametrize("epsilon", ["1/7", "1/50", "3"])
def test_irrational_entries_are_covered_as_their_floats_are(formula: str, value, epsilon: str) -> None:
    error, scales = Fraction(epsilon), [1, 2, 10, 60]
    bounds = bounds_within(from_formula(formula), error, scales)
    for scale in scales:
        covered, needed = -inf, 0
        for entry in sorted(value(distance) for distance in range(scale)):
            if abs(entry) > error and entry > covered:
                needed, covered = needed + 1, entry + 2 * float(error)
        assert bounds[scale] == (needed, needed)


def test_a_decaying_pattern_needs_few_labels_within_any_error_and_one_for_each_distance_without() -> None:
    decay = from_formula("0.5**(j - i)")
    assert lrc_within(decay, Fraction(0), 300) == 300
    assert bounds_within(decay, Fraction(1, 100), [4, 8, 300]) == {4: (4, 4), 8: (6, 6), 300: (6, 6)}


def test_entries_that_may_be_as_far_apart_as_allowed_are_undecided() -> None:
    pattern = from_function(lambda i, j: sp.sqrt(2) + sp.Rational(j - i, 50), name="apart")
    assert bounds_within(pattern, Fraction(1, 100), [1, 2, 3]) == {1: (1, 1), 2: (1, 2), 3: (2, 3)}
    with pytest.raises(UndecidedLrc, match="LRC within 1/100 at scale 2 is 1 to 2"):
        lrc_within(pattern, Fraction(1, 100), 2)
    assert lrc_within(pattern, Fraction(11, 1000), 2) == 1


def test_infinite_entries_have_labels_of_their_own() -> None:
    matrix = np.array([[0.0, -np.inf, np.inf], [0, 0.1, -np.inf], [0, 0, 5]])
    assert lrc_within(matrix, Fraction(1, 5)) == 3
    relation, parameters = levels_within(
        from_function(lambda i, j: float(matrix[i - 1, j - 1]), name="m"), Fraction(1, 5), 3
    )
    labels = relation.labels(3, 3)
    assert [parameters[int(labels[i, j])] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (2, 2))] == [
        0, -inf, inf, 0, Fraction(26, 5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (from_formula("[[j, i], [1, 0]]"), "has matrices as entries"),
        (from_formula("a*j", parameters=["a"]), "has free parameters"),
    ],
)
def test_entries_that_are_no_numbers_are_refused(pattern, says: str) -> None:
    with pytest.raises(PatternError, match=says):
        lrc_within(pattern, Fraction(1, 10), 3)


def test_arguments_that_have_no_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 0, not -1"):
        lrc_within([[1]], Fraction(-1))
    with pytest.raises(ValueError, match=r"take lengthgen.theory\.lrc\.level_sets"):
        levels_within(from_formula("1"), Fraction(0), 2)
    with pytest.raises(PatternError, match="depends on the scale"):
        levels_within(from_formula("n"), Fraction(1), 2)


def test_asked_for_together_scales_have_the_bounds_that_each_has_alone() -> None:
    for seed in range(60):
        draw = Random(seed)
        size, epsilon = draw.randint(1, 9), Fraction(draw.randint(1, 6), 2)
        matrix = [
            [Fraction(draw.randint(-9, 9), 2) if i <= j else Fraction(0) for j in range(size)] for i in range(size)
        ]
        pattern = from_function(lambda i, j, matrix=matrix: matrix[i - 1][j - 1], name="drawn")
        scales = [scale for scale in range(1, size + 1) if draw.random() < 0.8][::-1]
        alone = {scale: bounds_within(pattern, epsilon, [scale])[scale] for scale in scales}
        together = bounds_within(pattern, epsilon, scales)
        assert together == alone and [*together] == scales, seed


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint8", "int64", "bool"])
def test_arrays_of_numbers_give_what_their_entries_one_by_one_give(dtype: str) -> None:
    """Entries lie close to ends of intervals: multiples of epsilon, and their neighbours among the floats."""
    draw = np.random.default_rng(len(dtype))
    for epsilon in (Fraction(1, 3), Fraction(1), Fraction(1, 10**9)):
        steps = draw.integers(-6 if dtype not in ("uint8", "bool") else 0, 7, size=(9, 9))
        matrix = (steps * float(epsilon) if dtype.startswith("float") else steps).astype(dtype)
        if dtype.startswith("float"):
            matrix = np.where(draw.random((9, 9)) < 0.3, np.nextafter(matrix, matrix.dtype.type(100)), matrix)
            matrix[2, 5], matrix[3, 7] = np.inf, -np.inf
        pattern = from_array(np.triu(matrix))
        assert pattern.array is not None
        one_by_one = replace(pattern, array=None)
        scales = [9, *range(1, 10)]
        assert bounds_within(pattern, epsilon, scales) == bounds_within(one_by_one, epsilon, scales)
        assert profile(pattern, 9).bounds(9) == profile(one_by_one, 9).bounds(9)


def test_integers_beyond_floats_are_compared_one_by_one() -> None:
    matrix = np.array([[2**53, 2**53 + 1], [0, 2**53 + 2]], dtype=np.int64)
    assert bounds_within(from_array(matrix), Fraction(1, 3), [2]) == {2: (3, 3)}
    assert bounds_within(from_array(matrix), Fraction(1, 2), [2]) == {2: (2, 2)}


def test_a_large_array_is_covered_by_the_greedy_intervals() -> None:
    """Half a million multiples of 2**-20, covered by a plain loop whose sums of floats are exact."""
    matrix = np.triu(np.round(np.random.default_rng(0).normal(size=(1000, 1000)) * 2**20) / 2**20)
    count = 0
    for side in (matrix, -matrix):
        start = -inf
        for entry in np.unique(side[side > 2**-6]).tolist():
            if entry > start + 2**-5:
                count, start = count + 1, entry
    assert lrc_within(matrix, Fraction(1, 64)) == count > 200
