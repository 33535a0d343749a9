"""How many distinct non-zero values a big matrix holds on and above its diagonal: LRC by counting, in bounded memory.

Position patterns repeat along diagonals, so an entry that equals the one a key and a query earlier is no news. Other
entries are looked up in a hash table, tile by tile, with vector operations. Where the table would outgrow its memory,
most entries are values of their own: then the range of values is cut into parts that do fit, and each part is sorted.
Threads share the work, since numpy releases the interpreter in what takes long.

Values are compared as keys: uint64 numbers that are equal iff the values are, 0 for the value 0.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from theory.errors import LengthgenError

Matrix = NDArray[Any]
Keys = NDArray[np.uint64]
Queries = NDArray[np.int32]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
Place = tuple[int, int]
Places = NDArray[np.intp]
Item = TypeVar("Item")
Result = TypeVar("Result")

TILE = (16, 2048)
"""Rows and columns of a tile, in memory order: long enough for the memory, small enough for a core's cache."""
SLOTS = 2**21
"""Of a thread's table, 12 bytes each; a power of two, at least 4 tiles. It is full at half as many values."""
PART = 2**24
"""Entries that all threads together may hold while sorting: 9 bytes each, or 33 with their queries."""
WORKERS = min(4, os.cpu_count() or 1)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: the high bits of multiples of it spread regular keys evenly (Knuth, TAOCP 3, 6.4)."""
SAMPLES = 2**16
PAUSE = 16
"""Tiles until neighbours are compared again where they differed."""
UNSEEN = np.iinfo(np.int32).max


def count_nonzero_distinct(matrix: Matrix) -> int:
    """The number of distinct non-zero entries A_ij with i <= j: LRC of the pattern [F of arXiv 2510.04130, Def. 3].

    Args:
        matrix: real [n, n], rows keys and columns queries, in any memory order, bool, int, uint or float of up to
            64 bits; -0.0 is 0. Or [n, n, ...], whose entries are blocks (vector tokens). What lies below the diagonal
            does not count.

    Takes at most 200 MB beside the matrix; for blocks, what the distinct ones take.

    Raises:
        LengthgenError: not square, of another dtype, or a NaN is met on or above the diagonal.
    """
    matrix = _checked(matrix)
    if matrix.ndim > 2:
        return int(_new_blocks(matrix).sum())
    known = _tabulated(matrix)
    if known is not None:
        return known[0].size
    return sum(_by_parts(matrix, lambda part: part.squeeze(), with_queries=False))


def new_values_per_query(matrix: Matrix) -> Counts:
    """How many distinct non-zero values each query is the first to hold: int64 [n]. The running sum is LRC per scale.

    Arguments and errors are those of `count_nonzero_distinct`. Takes at most 700 MB beside the matrix, and 200 MB if
    there are less than a million values.
    """
    matrix = _checked(matrix)
    if matrix.ndim > 2:
        return _new_blocks(matrix)
    known = _tabulated(matrix)
    if known is not None:
        return np.bincount(known[1], minlength=len(matrix))

    def tally(part: "_Part") -> Counts:
        part.squeeze()
        return np.bincount(part.queries[: part.used], minlength=len(matrix))

    return np.sum(_by_parts(matrix, tally, with_queries=True), axis=0, dtype=np.int64)


def check_upper_triangular(matrix: Matrix) -> None:
    """Refuse a matrix [n, n] or [n, n, ...] that holds a NaN, or anything but 0 below the diagonal.

    The place named is the first row by row; a NaN goes first. Takes no memory that grows with n.

    Raises:
        LengthgenError: not square, not of a dtype that `count_nonzero_distinct` takes, a NaN, not upper triangular.
    """
    matrix = _checked(matrix)
    faults = _in_threads(
        lambda top: _faults(matrix, top), range(0, len(matrix), _tile_shape(matrix)[0]), _workers(matrix)
    )
    for i, j in (nan for nan, _ in faults if nan is not None):
        raise LengthgenError(f"the pattern holds a NaN at i={i}, j={j}")
    for i, j in (below for _, below in faults if below is not None):
        raise LengthgenError(f"the pattern is not upper triangular: A({i}, {j}) is not 0 although i > j")


def _checked(matrix: Matrix) -> Matrix:
    matrix = np.asarray(matrix)
    if matrix.ndim < 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise LengthgenError(f"a pattern must be a square matrix, not of shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf" or matrix.dtype.itemsize > 8:
        raise LengthgenError(f"a pattern must hold real numbers of at most 64 bits, not {matrix.dtype}")
    return matrix


def _workers(matrix: Matrix) -> int:
    return min(WORKERS, -(-matrix.size // math.prod(TILE)))


def _in_threads(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> list[Result]:
    if workers == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


def _faults(matrix: Matrix, top: int) -> tuple[Place | None, Place | None]:
    """The first NaN, and the first non-zero entry below the diagonal, in the row of tiles that starts at `top`."""
    height, width = _tile_shape(matrix)
    nans: list[Place] = []
    below: list[Place] = []
    bottom = min(top + height, len(matrix))
    for left in range(0, len(matrix) if matrix.dtype.kind == "f" else bottom, width):
        tile = matrix[top:bottom, left : left + width]
        # Extremes are far faster than looking at every entry, and are NaN iff some entry is.
        least, most = tile.min(), tile.max()
        if np.isnan(most):
            nans.append(_first_place(np.isnan(tile), top, left))
        elif left < bottom and (least or most):
            wrong = np.tril((tile != 0).reshape(*tile.shape[:2], -1).any(axis=2), top - left - 1)
            if wrong.any():
                below.append(_first_place(wrong, top, left))
    return min(nans, default=None), min(below, default=None)


def _first_place(mask: Mask, top: int, left: int) -> Place:
    row, column = np.argwhere(mask)[0, :2].tolist()
    return top + row + 1, left + column + 1


def _new_blocks(matrix: Matrix) -> Counts:
    """`new_values_per_query` where entries are blocks, by a set of their bytes."""
    known: set[bytes] = set()
    found = [0]
    for query in range(len(matrix)):
        for start in range(0, query + 1, TILE[1]):
            stop = min(start + TILE[1], query + 1)
            blocks = matrix[start:stop, query].reshape(stop - start, -1)
            _refuse_nan(blocks)
            if matrix.dtype.kind == "f":
                blocks = blocks + blocks.dtype.type(0)  # turns -0.0 into 0.0
            blocks = np.ascontiguousarray(blocks[blocks.any(axis=1)])
            known.update(blocks.view(f"V{blocks.strides[0]}").ravel().tolist())
        found.append(len(known))
    return np.diff(found)


def _refuse_nan(values: Matrix) -> None:
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise LengthgenError("the pattern holds a NaN on or above its diagonal: a NaN equals nothing, replace it")


def _keys(entries: Matrix, out: Keys) -> Keys:
    """The keys of the entries, in their shape, written to `out`."""
    keys = out[: entries.size].reshape(entries.shape)
    if entries.dtype.kind == "f":
        np.add(entries, 0.0, out=keys.view(np.float64))  # turns -0.0 into 0.0
    else:
        np.copyto(keys.view(np.int64), entries, casting="unsafe")
    return keys


@dataclass(frozen=True, kw_only=True)
class _Tile:
    """The entries at keys `top` and queries `left` onwards, in memory order, and those one key and one query earlier.

    Memory order is keys by queries, or `flipped`. Places are flat; all counts start from 0.
    """

    entries: Matrix
    earlier: Matrix | None
    top: int
    left: int
    flipped: bool

    def blank_below(self, entries: Matrix) -> None:
        """Set what is below the diagonal to 0, in place."""
        entries = entries.T if self.flipped else entries
        side = self.top + len(entries) - self.left
        if side > 1:
            entries[-side:, :side] *= np.tri(side, dtype=bool).T

    def keys(self, out: Keys) -> Keys:
        """Flat; 0 below the diagonal."""
        keys = _keys(self.entries, out)
        self.blank_below(keys)
        return keys.reshape(-1)

    def news(self) -> Places | None:
        """Where entries differ from those earlier; None if in many places, or if there are none."""
        if self.earlier is None:
            return None
        differs = self.entries != self.earlier
        self.blank_below(differs)
        return np.flatnonzero(differs) if 64 * np.count_nonzero(differs) < differs.size else None

    def queries(self) -> Queries:
        """In a shape that broadcasts with the entries."""
        rows, columns = self.entries.shape
        if self.flipped:
            return np.arange(self.left, self.left + rows, dtype=np.int32)[:, None]
        return np.arange(self.left, self.left + columns, dtype=np.int32)

    def queries_at(self, places: Places) -> Queries:
        columns = self.entries.shape[1]
        return (self.left + (places // columns if self.flipped else places % columns)).astype(np.int32)


def _tile_shape(matrix: Matrix) -> tuple[int, int]:
    """Keys and queries of its tiles."""
    return TILE if abs(matrix.strides[0]) >= abs(matrix.strides[1]) else TILE[::-1]


def _tiles(matrix: Matrix, worker: int = 0, workers: int = 1) -> Iterator[_Tile]:
    """A worker's share of the tiles that cover the upper triangle, queries ascending."""
    size, (height, width) = len(matrix), _tile_shape(matrix)
    flipped = height > width
    for start in range(0, size, width):
        right = min(start + width, size)
        for top in range(worker * height, right, workers * height):
            left, bottom = max(start, top), min(top + height, right)
            entries = matrix[top:bottom, left:right]
            earlier = matrix[top - 1 : bottom - 1, left - 1 : right - 1] if top else None
            yield _Tile(
                entries=entries.T if flipped else entries,
                earlier=earlier.T if flipped and earlier is not None else earlier,
                top=top,
                left=left,
                flipped=flipped,
            )


class _Table:
    """The keys seen, each with the least query it was seen at: open addressing, linear probing.

    Slot 0 holds key 0 for good, so that zeros count as seen.
    """

    def __init__(self, slots: int) -> None:
        self.keys: Keys = np.empty(slots, dtype=np.uint64)  # not np.zeros, which gets no huge pages
        self.keys.fill(0)
        self.queries: Queries = np.full(slots, UNSEEN, dtype=np.int32)
        self.queries[0] = -1
        self.added = 0
        self._shift = np.uint64(65 - slots.bit_length())
        self._multiplier = MULTIPLIER

    def homes(self, keys: Keys, out: Keys | None = None) -> Places:
        """The slot where the search for each key begins."""
        return np.right_shift(np.multiply(keys, self._multiplier, out=out), self._shift, out=out).view(np.intp)

    def add(self, keys: Keys, queries: Queries) -> None:
        """Keys may be 0, known, or there more than once: then `added` counts them more than once."""
        slots = self.homes(keys)
        while keys.size:
            free = np.flatnonzero((self.keys[slots] == 0) & (slots != 0))
            if free.size:
                self.keys[slots[free]] = keys[free]
                self.added += free.size
            settled = self.keys[slots] == keys
            np.minimum.at(self.queries, slots[settled], queries[settled])
            keys, queries = keys[~settled], queries[~settled]
            slots = (slots[~settled] + 1) & (self.keys.size - 1)

    def spread(self) -> None:
        """Look for homes of their own for all keys, as long as they are so few that chance provides them."""
        used = np.flatnonzero(self.keys)
        keys, queries = self.keys[used], self.queries[used]
        if used.size**2 < self.keys.size:
            while np.unique(self.homes(keys)).size < keys.size:
                self._multiplier *= MULTIPLIER
            self.keys[used], self.queries[used] = 0, UNSEEN
            self.add(keys, queries)

    def full(self) -> bool:
        if 2 * self.added > self.keys.size:
            self.added = np.count_nonzero(self.keys)
        return 2 * self.added > self.keys.size


def _tabulated(matrix: Matrix) -> tuple[Keys, Queries] | None:
    """The distinct non-zero keys and the first query of each, or None where they are too many for a table."""
    workers = _workers(matrix)
    tables = _in_threads(lambda worker: _scan(matrix, worker, workers), range(workers), workers)
    found = [(table.keys[used], table.queries[used]) for table in tables if table for used in [table.keys > 0]]
    if len(found) < workers:
        return None
    keys, queries = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    part = _Part(keys=keys, queries=queries, used=keys.size)
    part.squeeze()
    return keys[: part.used], queries[: part.used]


def _scan(matrix: Matrix, worker: int, workers: int) -> _Table | None:
    """A worker's tiles as a table, or None if it is full."""
    table = _Table(min(SLOTS, 1 << (8 * matrix.size).bit_length()))
    keys_buffer, slots_buffer, held_buffer = np.empty((3, math.prod(TILE)), dtype=np.uint64)
    renewed, pause = -1, 0
    spread_at = 0
    for tile in _tiles(matrix, worker, workers):
        added = table.added
        news = None if pause else tile.news()
        if news is not None:
            keys = _keys(tile.entries[np.divmod(news, tile.entries.shape[1])], keys_buffer)
        else:
            pause = pause - 1 if pause else PAUSE if tile.earlier is not None else 0
            keys = tile.keys(keys_buffer)
            slots = table.homes(keys, slots_buffer[: keys.size])
            held = table.keys.take(slots, out=held_buffer[: keys.size], mode="wrap")
            unknown = held != keys
            if tile.left <= renewed:
                # A value that this column of tiles brought may be here at an earlier query.
                late = table.queries.take(slots).reshape(tile.entries.shape) > tile.queries()
                places = np.flatnonzero(late.reshape(-1) & ~unknown)
                np.minimum.at(table.queries, slots[places], tile.queries_at(places))
            news = np.flatnonzero(unknown)
            keys = keys[news]
        if news.size:
            if matrix.dtype.kind == "f":
                _refuse_nan(keys.view(np.float64))
            table.add(keys, tile.queries_at(news))
        if table.added > added:
            renewed = max(renewed, tile.left + min(tile.entries.shape) if 0 else tile.left)
            if table.full():
                return None
    return table


@dataclass(kw_only=True)
class _Part:
    """Keys, and the query of each unless only their number is asked for; the first `used` of them."""

    keys: Keys
    queries: Queries | None
    used: int = 0

    def squeeze(self) -> int:
        """Sort and drop repeats, with the least query of each; returns how many are left."""
        keys = self.keys[: self.used]
        if self.queries is None:
            keys.sort()
            self.used = _drop_repeats(keys)
        elif self.used:
            order = np.argsort(keys)
            keys[:] = keys[order]
            starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
            self.used = starts.size
            self.queries[: self.used] = np.minimum.reduceat(self.queries[order], starts)
            self.keys[: self.used] = keys[starts]
        return self.used

    def fill(self, matrix: Matrix, low: int, high: int) -> int:
        """Take the keys low..high, or as many of the least as there is room for; returns where it ended."""
        buffer = np.empty((2, math.prod(TILE)), dtype=np.uint64)
        for tile in _tiles(matrix):
            keys = tile.keys(buffer[0])
            within = np.subtract(keys, np.uint64(low), out=buffer[1, : keys.size]) <= np.uint64(high - low)
            if self.used + np.count_nonzero(within) > self.keys.size and self.squeeze() > self.keys.size // 2:
                self.used = self.keys.size // 2
                high = int(self.keys[self.used - 1])
                within &= keys <= np.uint64(high)
            places = np.flatnonzero(within)
            end = self.used + places.size
            self.keys[self.used : end] = keys[places]
            if self.queries is not None:
                self.queries[self.used : end] = tile.queries_at(places)
            self.used = end
        return high


def _drop_repeats(keys: Keys) -> int:
    """Move the distinct ones of sorted keys to the front; step by step, to take no memory. Returns their number."""
    used, last = 0, np.uint64(0)
    for start in range(0, keys.size, SAMPLES):
        step = keys[start : start + SAMPLES]
        new = np.concatenate(([step[0] != last], step[1:] != step[:-1]))
        last = step[-1]
        kept = step.compress(new)
        keys[used : used + kept.size] = kept
        used += kept.size
    return used


def _by_parts(matrix: Matrix, use: Callable[[_Part], Result], *, with_queries: bool) -> list[Result]:
    """`use` of parts that together hold every distinct non-zero key once they are squeezed."""
    workers = _workers(matrix)
    capacity = PART // workers

    def work(bounds: tuple[int, int]) -> list[Result]:
        results = []
        low, high = bounds
        while low <= high:
            queries = np.empty(capacity, dtype=np.int32) if with_queries else None
            part = _Part(keys=np.empty(capacity, dtype=np.uint64), queries=queries)
            low = part.fill(matrix, low, high) + 1
            results.append(use(part))
        return results

    return [result for results in _in_threads(work, _ranges(matrix, capacity), workers) for result in results]


def _ranges(matrix: Matrix, capacity: int) -> list[tuple[int, int]]:
    """Ranges of keys that cover all but 0, each likely to fit: cut where a sample says."""
    size = len(matrix)
    sample = np.sort(np.random.default_rng(0).integers(size, size=(2, SAMPLES)), axis=0)
    keys = np.sort(_keys(matrix[sample[0], sample[1]], np.empty(SAMPLES, dtype=np.uint64)))
    parts = 1 + int(1.15 * size * (size + 1) / 2 / capacity)
    cuts = {int(keys[index * SAMPLES // parts]) for index in range(1, parts)} - {0, 1}
    bounds = [1, *sorted(cuts), 2**64]
    return [(low, high - 1) for low, high in pairwise(bounds)]
