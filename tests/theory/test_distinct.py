"""Counting distinct values equals a set of exact values, whatever the dtype, the memory order, the way of counting."""

import math
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from itertools import product
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
# Every way of counting, on matrices of a few entries: tile shape, slots of a table, keys held while sorting, threads.
SETTINGS = (
    ((32, 1024), 2**21, 20 * 10**6, 2),
    ((2, 3), 32, 24, 1),
    ((3, 2), 64, 48, 3),
    ((1, 4), 16, 16, 2),
    ((2, 2), 2**12, 32, 2),
)


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


def _set(patch: pytest.MonkeyPatch, tile: tuple[int, int], slots: int, part: int, workers: int) -> None:
    patch.setattr(distinct, "TILE", tile)
    patch.setattr(distinct, "SLOTS", slots)
    patch.setattr(distinct, "PART", part)
    patch.setattr(distinct, "WORKERS", workers)
    patch.setattr(distinct, "STEP", 8)


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
    setting: tuple[tuple[int, int], int, int, int], layout: str, dtype: str, size: int, many: int, shape: str, seed: int
) -> None:
    matrix = LAYOUTS[layout](_matrix(dtype, size, many, shape, seed))
    expected = _oracle(matrix)
    with pytest.MonkeyPatch.context() as patch:
        _set(patch, *setting)
        counts = new_values_per_query(matrix)
    assert counts.dtype == np.int64
    assert counts.tolist() == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_at_a_size_of_many_tiles(monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    for many in (40, 2_000, 60_000):
        matrix = _matrix("i8", 300, many, shape, seed=many)
        expected = _oracle(matrix)
        for layout, (slots, part) in product("CF", [(2**21, 20 * 10**6), (2**14, 2**15)]):
            _set(monkeypatch, (16, 64), slots, part, 2)
            monkeypatch.setattr(distinct, "STEP", 1000)
            assert new_values_per_query(LAYOUTS[layout](matrix)).tolist() == expected


def _spy(patch: pytest.MonkeyPatch, owner: object, name: str) -> list[str]:
    calls: list[str] = []
    original = getattr(owner, name)

    def spied(*args: Any, **keywords: Any) -> Any:
        calls.append(name)
        return original(*args, **keywords)

    patch.setattr(owner, name, spied)
    return calls


def test_each_way_of_counting_is_taken_where_it_is_meant_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    sorts, rehashes = _spy(monkeypatch, distinct._Part, "fill"), _spy(monkeypatch, distinct._Table, "rehash")
    lookups = _spy(monkeypatch, distinct.Tile, "keys")
    _set(monkeypatch, (4, 8), 2**10, 64, 1)
    relative = _matrix("i8", 200, 400, "relative", seed=1)
    assert distinct_values(relative) == sum(_oracle(relative))
    assert not sorts
    assert len(lookups) <= 25, "beyond the first row of tiles, a relative pattern is compared with itself only"
    many = _matrix("i8", 50, 10_000, "random", seed=2)
    assert distinct_values(many) == sum(_oracle(many))
    assert len(sorts) > 10, "more values than the table takes are sorted in parts"
    few = _matrix("i8", 200, 24, "random", seed=3)
    assert distinct_values(few) == sum(_oracle(few))
    assert rehashes, "some of these keys share a slot at first"


def test_keys_are_found_where_all_of_them_want_one_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    _set(monkeypatch, (2, 8), 2**7, 64, 1)
    inverse = pow(int(distinct.MULTIPLIER), -1, 2**64)
    for home in (0, 5, 2**7 - 1):  # slot 0 is never free, the last one wraps around
        keys = np.array([(home * 2**57 + number) * inverse % 2**64 for number in range(1, 40)], dtype=np.uint64)
        matrix = np.random.default_rng(home).choice(keys, size=(30, 30))
        assert new_values_per_query(matrix).tolist() == _oracle(matrix)


def test_parts_that_a_sample_cannot_foresee_are_cut_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _set(monkeypatch, (2, 4), 32, 32, 1)
    monkeypatch.setattr(distinct, "_ranges", lambda matrix, room: [(1, 2**64 - 1)])
    for shape in ("random", "distinct", "column"):
        matrix = _matrix("i8", 40, 2_000, shape, seed=4)
        assert new_values_per_query(matrix).tolist() == _oracle(matrix)


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
    size, rng = 2_000, np.random.default_rng(7)
    if shape == "relative":
        matrix = np.arange(size) - np.arange(size)[:, None]
    else:
        matrix = rng.integers(1, 1_000 if shape == "few" else 2**62, size=(size, size))
    expected = len(set(matrix[np.triu_indices(size)].tolist()) - {0})
    # A tenth of what the module has by default, for a hundredth of the entries.
    _set(monkeypatch, (32, 1024), 2**18, 2 * 10**6, 2)
    monkeypatch.setattr(distinct, "STEP", 2**12)
    tracemalloc.start()
    try:
        assert distinct_values(matrix) == expected
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    most = 95e6 if shape == "distinct" else 30e6
    assert peak < most, f"{peak / 1e6:.0f} MB beside a matrix of {matrix.nbytes / 1e6:.0f} MB"


def test_the_default_settings_fit_into_the_memory_that_is_promised() -> None:
    for workers in (1, 2, 4):
        tile_buffers = workers * 8 * 4 * math.prod(distinct.TILE)
        assert workers * 12 * distinct.SLOTS + tile_buffers < 200e6
        assert 8 * distinct.PART + tile_buffers < 200e6
        assert distinct.PART // workers >= 2 * math.prod(distinct.TILE)
    assert 4 * math.prod(distinct.TILE) <= distinct.SLOTS


@pytest.mark.parametrize("setting", SETTINGS[:3], ids=str)
def test_a_nan_above_the_diagonal_is_refused_and_one_below_does_not_count(
    monkeypatch: pytest.MonkeyPatch, setting: tuple[tuple[int, int], int, int, int]
) -> None:
    _set(monkeypatch, *setting)
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
    setting: tuple[tuple[int, int], int, int, int],
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
        _set(patch, *setting)
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


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint64, bool])
@pytest.mark.parametrize("offset", [0, 7])
def test_tiles_within_a_run_of_known_numbers_are_passed_over_and_others_are_not(
    monkeypatch: pytest.MonkeyPatch, dtype: Any, offset: int
) -> None:
    _set(monkeypatch, (4, 8), 2**10, 64, 1)
    run_searches = _spy(monkeypatch, distinct._Table, "longest_run")
    matrix = np.triu(np.random.default_rng(0).integers(offset, offset + 3, (96, 96))).astype(dtype)
    matrix[80, 90] = 1 if dtype is bool else 100  # beyond the run, long after it is known
    matrix[3, 95] = 1 if dtype is bool else 101
    values = {int(matrix[i, j]) for j in range(96) for i in range(j + 1)} - {0}
    assert distinct_values(matrix) == len(values)
    profile = new_values_per_query(matrix).cumsum()
    for scale in (1, 2, 10, 90, 91, 95, 96):
        seen = {int(matrix[i, j]) for j in range(scale) for i in range(j + 1)} - {0}
        assert profile[scale - 1] == len(seen)
    assert run_searches
