"""Counting distinct values equals a set of exact values, whatever the dtype, the memory order, the way of counting."""

import math
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthgen.theory import distinct
from lengthgen.theory.distinct import check_upper_triangular, new_values_per_query

INTEGERS = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i8", ">u2")
FLOATS = ("f2", "f4", "f8", ">f4")
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda matrix: np.repeat(np.repeat(matrix, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda matrix: np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1],
}
# Entries looked at together, and values kept in one pass.
SETTINGS = ((2**20, 2**24), (1, 4), (40, 8), (7, 2))


def distinct_values(matrix: np.ndarray) -> int:
    return int(new_values_per_query(matrix).sum())


def _exact(value: Any) -> Any:
    return value if isinstance(value, int) or math.isinf(value) else Fraction(value)


def _oracle(matrix: np.ndarray) -> list[int]:
    """Number of values that each query is the first to hold, by a set of exact numbers."""
    rows, seen, new = matrix.tolist(), set(), []
    for j in range(len(rows)):
        column = {_exact(rows[i][j]) for i in range(j + 1)} - {0} - seen
        seen |= column
        new.append(len(column))
    return new


def _set(patch: pytest.MonkeyPatch, setting: tuple[int, int]) -> None:
    patch.setattr(distinct, "BLOCK", setting[0])
    patch.setattr(distinct, "MOST", setting[1])


def _values(dtype: str, rng: np.random.Generator, many: int) -> np.ndarray:
    """Some values of a dtype, extreme ones among them."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        most, least = np.finfo(kind).max, np.finfo(kind).smallest_subnormal
        special = [0.0, -0.0, np.inf, -np.inf, most, -most, least, -least]
        return np.concatenate((special, rng.standard_normal(many).astype(kind).astype(float))).astype(kind)
    if kind.kind == "b":
        return np.array([False, True])
    bounds = np.iinfo(kind)
    special = [0, 0, bounds.min, bounds.max, 1, bounds.max - 1, bounds.max // 2, bounds.max // 2 + 1]
    some = rng.integers(bounds.min, bounds.max, size=many, dtype=kind.newbyteorder("="), endpoint=True)
    return np.concatenate((np.array(special, dtype=some.dtype), some)).astype(kind)


def _matrix(dtype: str, size: int, many: int, shape: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = _values(dtype, rng, many)
    i, j = np.indices((size, size))
    pick = {
        "random": rng.integers(values.size, size=(size, size)),
        "relative": (j - i) % values.size,
        "column": j % values.size,
        "growing": rng.integers(values.size, size=(size, size)) % (j + 1),
        "distinct": (size * i + j) % values.size,
        "nearly relative": np.where(rng.random((size, size)) < 0.02, 3 * i, j - i) % values.size,
    }[shape]
    return values[pick]  # what is below the diagonal must not count


SHAPES = ("random", "relative", "column", "growing", "distinct", "nearly relative")


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@settings(max_examples=40)
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    dtype=st.sampled_from(INTEGERS + FLOATS),
    size=st.integers(1, 20),
    many=st.sampled_from((0, 3, 30, 400)),
    shape=st.sampled_from(SHAPES),
    seed=st.integers(0, 2**32 - 1),
)
def test_counts_equal_a_set_of_exact_values(
    setting: tuple[int, int], layout: str, dtype: str, size: int, many: int, shape: str, seed: int
) -> None:
    matrix = LAYOUTS[layout](_matrix(dtype, size, many, shape, seed))
    expected = _oracle(matrix)
    with pytest.MonkeyPatch.context() as patch:
        _set(patch, setting)
        counts = new_values_per_query(matrix)
    assert counts.dtype == np.int64
    assert counts.tolist() == expected


def test_a_mapped_file_is_counted_like_an_array(tmp_path: Path) -> None:
    matrix = _matrix("f4", 60, 300, "random", seed=5)
    for order in ("C", "F"):
        mapped = np.memmap(tmp_path / order, dtype="f4", mode="w+", shape=matrix.shape, order=order)
        mapped[:] = matrix
        mapped.flush()
        read = np.memmap(tmp_path / order, dtype="f4", mode="r", shape=matrix.shape, order=order)
        assert distinct_values(read) == sum(_oracle(matrix))


@pytest.mark.parametrize("dtype", ["i8", "u1", "f4"])
@pytest.mark.parametrize("layout", ["C", "moved"])
def test_blocks_are_counted_as_a_whole(dtype: str, layout: str) -> None:
    rng = np.random.default_rng(6)
    for size in (1, 2, 7, 15):
        blocks = rng.integers(0, 2, size=(size, size, 2, 2)).astype(dtype)
        if dtype == "f4":
            blocks[rng.random(blocks.shape) < 0.2] = -0.0
        if layout == "moved":
            blocks = np.moveaxis(np.ascontiguousarray(np.moveaxis(blocks, -1, 0)), 0, -1)
        seen: set[tuple[float, ...]] = {(0.0,) * 4}
        expected = []
        for j in range(size):
            column = {tuple(blocks[i, j].ravel().tolist()) for i in range(j + 1)} - seen
            seen |= column
            expected.append(len(column))
        assert new_values_per_query(blocks).tolist() == expected


@pytest.mark.parametrize("shape", ["relative", "few", "distinct"])
def test_counting_takes_little_memory_beside_the_matrix(monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    size, rng = 800, np.random.default_rng(7)
    if shape == "relative":
        matrix = np.arange(size) - np.arange(size)[:, None]
    else:
        matrix = rng.integers(1, 1_000 if shape == "few" else 2**62, size=(size, size))
    expected = len(set(matrix[np.triu_indices(size)].tolist()) - {0})
    _set(monkeypatch, (2**14, 2**16))
    tracemalloc.start()
    try:
        assert distinct_values(matrix) == expected
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6e6, f"{peak / 1e6:.0f} MB beside a matrix of {matrix.nbytes / 1e6:.0f} MB"


@pytest.mark.parametrize("setting", SETTINGS[:3], ids=str)
def test_a_nan_above_the_diagonal_is_refused_and_one_below_does_not_count(
    monkeypatch: pytest.MonkeyPatch, setting: tuple[int, int]
) -> None:
    _set(monkeypatch, setting)
    for many, place in [(3, (0, 0)), (3, (4, 9)), (400, (8, 8)), (400, (18, 19)), (400, (0, 19))]:
        matrix = _matrix("f8", 20, many, "random", seed=8)
        matrix[place[1], place[0]] = np.nan
        if place[0] != place[1]:
            assert distinct_values(matrix) == sum(_oracle(np.triu(matrix)))
        matrix[place] = np.nan
        with pytest.raises(ValueError, match="holds a NaN on or above its diagonal"):
            new_values_per_query(matrix)


def _fault(matrix: np.ndarray) -> str | None:
    rows = matrix.tolist()
    places = [(i, j) for i in range(len(rows)) for j in range(len(rows))]
    for i, j in places:
        if rows[i][j] != rows[i][j]:
            return f"the pattern holds a NaN at i={i + 1}, j={j + 1}"
    for i, j in places:
        if i > j and rows[i][j] != 0:
            return f"the pattern is not upper triangular: A({i + 1}, {j + 1}) is not 0 although i > j"
    return None


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@settings(max_examples=30)
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    dtype=st.sampled_from(INTEGERS + FLOATS),
    size=st.integers(1, 14),
    seed=st.integers(0, 2**32 - 1),
    wrong=st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13), st.booleans()), max_size=3),
)
def test_the_first_fault_is_named(
    setting: tuple[int, int],
    layout: str,
    dtype: str,
    size: int,
    seed: int,
    wrong: list[tuple[int, int, bool]],
) -> None:
    matrix = np.triu(_matrix(dtype, size, 5, "random", seed))
    for i, j, nan in wrong:
        matrix[i % size, j % size] = np.nan if nan and dtype in FLOATS else 1
    matrix = LAYOUTS[layout](matrix)
    expected = _fault(matrix)
    with pytest.MonkeyPatch.context() as patch:
        _set(patch, setting)
        if expected is None:
            check_upper_triangular(matrix)
        else:
            with pytest.raises(ValueError) as caught:
                check_upper_triangular(matrix)
            assert str(caught.value) == expected


def test_the_first_fault_of_blocks_is_named() -> None:
    blocks = np.zeros((4, 4, 2, 3))
    blocks[0, 3] = blocks[2, 2] = -np.inf
    check_upper_triangular(blocks)
    blocks[3, 1, 1, 2] = blocks[2, 1, 0, 0] = -1
    with pytest.raises(ValueError, match=r"A\(3, 2\) is not 0 although i > j"):
        check_upper_triangular(blocks)
    blocks[3, 3, 1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN at i=4, j=4"):
        check_upper_triangular(blocks)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), "square"),
        (np.zeros(3), "square"),
        (np.zeros((0, 0)), "square"),
        (np.zeros((2, 2), dtype=complex), "real numbers"),
        (np.zeros((2, 2), dtype=object), "real numbers"),
        (np.zeros((2, 2), dtype=np.longdouble), "at most 64 bits"),
    ],
)
def test_matrices_that_are_no_pattern_are_refused(matrix: np.ndarray, message: str) -> None:
    for function in (new_values_per_query, check_upper_triangular):
        with pytest.raises(ValueError, match=message):
            function(matrix)
