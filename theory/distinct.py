"""Number of distinct non-zero values on and above the diagonal of a large matrix: LRC by counting, in bounded memory.

Position patterns repeat along diagonals. So an entry that equals the one a key and a query earlier is not new, and a
tile is skipped if its minimum and maximum lie in a run of consecutive integers that are all known. Other entries are
looked up in a hash table, tile by tile, with vector operations. If the table would outgrow its memory, most entries are
distinct values. Then the range of values is cut into parts that fit, and each part is sorted.

A tile fits a core's cache. Threads share the tiles, since numpy releases the interpreter lock in the slow operations.
Values are compared as keys: uint64 numbers that are equal iff the values are equal, 0 for the value 0.
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

from lengthgen.infrastructure.errors import LengthgenError

Matrix = NDArray[Any]
Keys = NDArray[np.uint64]
Queries = NDArray[np.int32]
Places = NDArray[np.intp]
Place = tuple[int, int]
Item = TypeVar("Item")
Result = TypeVar("Result")

TILE = (32, 1024)
"""Rows and columns of a tile, in memory order: rows long enough for fast reads, small enough for a core's cache."""
WORKERS = min(4, os.cpu_count() or 1)

SLOTS = 2**21
"""Slots of each thread's hash table, 12 bytes each: a power of two, at least 4 tiles. At most half are filled."""
PART = 20 * 10**6
"""Keys that all threads together hold while sorting, at least 2 tiles each: 8 bytes a key, 40 with its query."""
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: the high bits of its multiples spread regular keys evenly (Knuth, TAOCP 3, 6.4)."""
PAUSE = 16
"""Tiles that are skipped before a shortcut (equal neighbours, or known extremes) is tried again after it failed."""
FEW = 2**16
"""Largest number of known values among which a run of consecutive integers is searched."""
STEP = 2**16
"""Keys that are processed at once when repeats are dropped, and size of the sample that sets the ranges."""
UNSEEN = np.iinfo(np.int32).max
"""First query of a key that is not in the table."""


def new_values_per_query(matrix: Matrix) -> NDArray[np.int64]:
    """Number of distinct non-zero values that each query is the first to hold: int64 [n].

    The running sum is LRC per scale. Memory beside the matrix is at most 200 MB if there are less than a million
    values, and at most 900 MB in any case; for blocks, the size of the distinct blocks.

    Args:
        matrix: real [n, n], rows keys and columns queries, in any memory order, bool, int, uint or float of up to 64
            bits; -0.0 is 0. Or [n, n, ...], whose entries are blocks (vector tokens). Entries below the diagonal are
            ignored.

    Raises:
        LengthgenError: not square, of another dtype, or a NaN on or above the diagonal.
    """
    matrix = _checked(matrix)
    if matrix.ndim > 2:
        return _new_blocks(matrix)

    def count_per_query(part: _Part) -> NDArray[np.int64]:
        return np.bincount(part.queries[: part.used], minlength=len(matrix))

    table_part = _tabulated(matrix)
    return count_per_query(table_part) if table_part else np.asarray(sum(_by_parts(matrix, count_per_query)))


def check_upper_triangular(matrix: Matrix) -> None:
    """Raise if a matrix [n, n] or [n, n, ...] holds a NaN, or a non-zero entry below the diagonal.

    The message names the first such place in row order; a NaN is reported first. The memory needed does not grow with n
    x n.

    Raises:
        LengthgenError: not square, of a dtype that `new_values_per_query` rejects, a NaN, not upper triangular.
    """
    matrix = _checked(matrix)
    tops = range(0, len(matrix), _tile_shape(matrix)[0])
    faults = _in_threads(lambda top: _faults(matrix, top), tops, _workers_for(matrix))
    for i, j in (nan for nans, _ in faults for nan in nans[:1]):
        raise LengthgenError(f"the pattern holds a NaN at i={i}, j={j}")
    for i, j in (place for _, below in faults for place in below[:1]):
        raise LengthgenError(f"the pattern is not upper triangular: A({i}, {j}) is not 0 although i > j")


def _new_blocks(matrix: Matrix) -> NDArray[np.int64]:
    """Same as `new_values_per_query` for a matrix whose entries are blocks; keeps a set of their bytes."""
    blocks_seen: set[bytes] = set()
    counts = [0]
    for query in range(len(matrix)):
        for start in range(0, query + 1, TILE[1]):
            stop = min(start + TILE[1], query + 1)
            blocks = matrix[start:stop, query].reshape(stop - start, -1)
            _refuse_nan(blocks)
            if matrix.dtype.kind == "f":
                blocks = blocks + blocks.dtype.type(0)  # turns -0.0 into 0.0
            blocks = np.ascontiguousarray(blocks[blocks.any(axis=1)])
            blocks_seen.update(blocks.view(f"V{blocks.strides[0]}").ravel().tolist())
        counts.append(len(blocks_seen))
    return np.diff(counts)


def _faults(matrix: Matrix, top: int) -> tuple[list[Place], list[Place]]:
    """First NaN, and first non-zero entry below the diagonal, of each tile in the row of tiles at key `top`."""
    height, width = _tile_shape(matrix)
    bottom = min(top + height, len(matrix))
    nans: list[Place] = []
    below_diagonal: list[Place] = []
    for left in range(0, len(matrix) if matrix.dtype.kind == "f" else bottom, width):
        tile = matrix[top:bottom, left : left + width]
        # Minimum and maximum are much faster than a test of every entry, and are NaN iff some entry is.
        smallest, largest = tile.min(), tile.max()
        if np.isnan(largest):
            is_wrong, faults = np.isnan(tile), nans
        elif left < bottom and (smallest or largest):
            is_wrong, faults = (
                np.tril((tile != 0).reshape(*tile.shape[:2], -1).any(axis=2), top - left - 1),
                below_diagonal,
            )
        else:
            continue
        for fault in np.argwhere(is_wrong)[:1]:
            faults.append((top + int(fault[0]) + 1, left + int(fault[1]) + 1))
    return sorted(nans), sorted(below_diagonal)


def _checked(matrix: Matrix) -> Matrix:
    """Matrix as an array; raises `LengthgenError` if it is not square or not of real numbers of at most 64 bits."""
    matrix = np.asarray(matrix)
    if matrix.ndim < 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise LengthgenError(f"a pattern must be a square matrix, not of shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf" or matrix.dtype.itemsize > 8:
        raise LengthgenError(f"a pattern must hold real numbers of at most 64 bits, not {matrix.dtype}")
    return matrix


def _refuse_nan(values: Matrix) -> None:
    """Raise `LengthgenError` if a value is a NaN."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise LengthgenError("the pattern holds a NaN on or above its diagonal: write a number there")


@dataclass(frozen=True, kw_only=True)
class Tile:
    """Tile of the matrix: its entries in memory order, and the entries one key and one query earlier.

    The tile starts at key `top` and query `left`, from 0. Places are flat indices.

    Attributes:
        entries: keys by queries, or queries by keys if `flipped`.
        earlier: the entries one key and one query earlier; None in the first row of tiles.
        top: first key.
        left: first query.
        flipped: True if the matrix is in column order.
    """

    entries: Matrix
    earlier: Matrix | None
    top: int
    left: int
    flipped: bool

    def clear_below_diagonal(self, entries: Matrix) -> None:
        """Set the entries below the diagonal to 0, in place."""
        entries = entries.T if self.flipped else entries
        side = self.top + len(entries) - self.left
        if side > 1:
            entries[-side:, :side] *= np.tri(side, dtype=bool).T

    def keys(self, out: Keys) -> Keys:
        """Flat array of keys; 0 below the diagonal."""
        keys = _keys_of(self.entries, out)
        self.clear_below_diagonal(keys)
        return keys.reshape(-1)

    def new_places(self) -> Places | None:
        """Places at which entries differ from the earlier ones; None if they are many, or without earlier entries."""
        if self.earlier is None:
            return None
        differs = self.entries != self.earlier
        self.clear_below_diagonal(differs)
        return np.flatnonzero(differs) if 64 * np.count_nonzero(differs) < differs.size else None

    def queries(self) -> Queries:
        """Queries of the entries, in a shape that broadcasts with them."""
        queries = np.arange(self.left, self.left + self.entries.shape[0 if self.flipped else 1], dtype=np.int32)
        return queries[:, None] if self.flipped else queries

    def queries_at(self, places: Places) -> Queries:
        """Queries of the given places."""
        width = self.entries.shape[1]
        queries: Queries = (self.left + (places // width if self.flipped else places % width)).astype(np.int32)
        return queries


def _keys_of(entries: Matrix, out: Keys) -> Keys:
    """Keys of the entries, in their shape, written to `out`."""
    keys = out[: entries.size].reshape(entries.shape)
    if entries.dtype.kind == "f":
        np.add(entries, 0.0, out=keys.view(np.float64))  # turns -0.0 into 0.0
    else:
        np.copyto(keys.view(np.int64), entries, casting="unsafe")
    return keys


def _tile_shape(matrix: Matrix) -> tuple[int, int]:
    """Number of keys and queries of the matrix's tiles."""
    return TILE if abs(matrix.strides[0]) >= abs(matrix.strides[1]) else TILE[::-1]


def _tiles(matrix: Matrix, worker: int = 0, workers: int = 1) -> Iterator[Tile]:
    """Tiles of one worker; all workers' tiles cover the upper triangle, by columns of tiles, queries ascending."""
    size, (height, width) = len(matrix), _tile_shape(matrix)
    flipped = height > width
    for start in range(0, size, width):
        right = min(start + width, size)
        for top in range(worker * height, right, workers * height):
            left, bottom = max(start, top), min(top + height, right)
            entries = matrix[top:bottom, left:right]
            earlier = matrix[top - 1 : bottom - 1, left - 1 : right - 1] if top else None
            if flipped:
                entries, earlier = entries.T, None if earlier is None else earlier.T
            yield Tile(entries=entries, earlier=earlier, top=top, left=left, flipped=flipped)


def _workers_for(matrix: Matrix) -> int:
    """Number of threads for a matrix: at most WORKERS, and at most one per tile."""
    return min(WORKERS, -(-matrix.size // math.prod(TILE)))


def _in_threads(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> list[Result]:
    """Results of the function on the items, in order, computed by several threads."""
    if workers == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


class _Table:
    """Hash table of the keys seen, each with its smallest query: open addressing, linear probing.

    Slot 0 always holds key 0, so that zeros count as seen.
    """

    def __init__(self, slots: int) -> None:
        self.keys: Keys = np.empty(slots, dtype=np.uint64)  # not np.zeros, which gets no huge pages
        self.keys.fill(0)
        self.queries: Queries = np.full(slots, UNSEEN, dtype=np.int32)
        self.queries[0] = -1
        self.added = 0
        self._multiplier = MULTIPLIER
        self._shift = np.uint64(65 - slots.bit_length())

    def first_slots(self, keys: Keys, out: Keys | None = None) -> Places:
        """Slot at which the search for each key begins."""
        return np.right_shift(np.multiply(keys, self._multiplier, out=out), self._shift, out=out).view(np.intp)

    def add(self, keys: Keys, queries: Queries) -> None:
        """Insert keys with their queries; keys may be 0, known, or repeated (repeats are counted in `added`)."""
        slots = self.first_slots(keys)
        while keys.size:
            free = np.flatnonzero((self.keys[slots] == 0) & (slots != 0))
            self.keys[slots[free]] = keys[free]
            self.added += free.size
            settled = self.keys[slots] == keys
            np.minimum.at(self.queries, slots[settled], queries[settled])
            keys, queries = keys[~settled], queries[~settled]
            slots = (slots[~settled] + 1) & (self.keys.size - 1)

    def rehash(self) -> None:
        """Try other hash multipliers until each key sits in its own first slot, if the keys are few enough."""
        used = self.filled_slots()
        keys, queries = self.keys[used], self.queries[used]
        if used.size**2 > self.keys.size:
            return
        for _ in range(16):
            self._multiplier = np.uint64(int(self._multiplier) * int(MULTIPLIER) % 2**64)
            first_slots = self.first_slots(keys)
            if first_slots.all() and np.unique(first_slots).size == first_slots.size:
                break
        self.keys[used], self.queries[used], self.added = 0, UNSEEN, 0
        self.add(keys, queries)

    def filled_slots(self) -> Places:
        """Indices of the filled slots, slot 0 left out."""
        return np.flatnonzero(self.keys != 0)  # 50 times as fast as np.flatnonzero of integers

    def longest_run(self, *, unsigned: bool) -> tuple[int, int]:
        """First and last number of the longest run of consecutive integers that are all known."""
        numbers = np.sort(
            np.append(self.keys[self.filled_slots()], np.uint64(0)).view(np.uint64 if unsigned else np.int64)
        )
        breaks = np.flatnonzero(np.diff(numbers) != 1)
        first, last = np.append(0, breaks + 1), np.append(breaks, numbers.size - 1)
        longest = int(np.argmax(last - first))
        return int(numbers[first[longest]]), int(numbers[last[longest]])

    def full(self) -> bool:
        """True if more than half of the slots are filled."""
        if 2 * self.added > self.keys.size:
            self.added = self.filled_slots().size
        return 2 * self.added > self.keys.size


@dataclass(kw_only=True)
class _Part:
    """Room for keys, of which the first `used` are filled, and for the query of each key if queries are wanted."""

    keys: Keys
    queries: Queries
    used: int = 0

    def squeeze(self) -> None:
        """Sort and drop repeats; keep the smallest query of each key."""
        keys = self.keys[: self.used]
        if self.queries.size < keys.size:
            keys.sort()
            self.used = _drop_repeats(keys)
        elif keys.size:
            order = np.argsort(keys)
            keys[:] = keys[order]
            starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
            self.used = starts.size
            self.queries[: self.used] = np.minimum.reduceat(self.queries[order], starts)
            self.keys[: self.used] = keys[starts]

    def fill(self, matrix: Matrix, low: int, high: int) -> int:
        """Collect the keys in low..high, or as many of the smallest as fit; return the last key covered."""
        buffer, offsets = np.empty((2, math.prod(TILE)), dtype=np.uint64)
        for tile in _tiles(matrix):
            keys = tile.keys(buffer)
            within = np.subtract(keys, np.uint64(low), out=offsets[: keys.size]) <= np.uint64(high - low)
            if self.used + np.count_nonzero(within) > self.keys.size:
                self.squeeze()
                if self.used > self.keys.size // 2:
                    self.used = self.keys.size // 2
                    high = int(self.keys[self.used - 1])
                    within &= keys <= np.uint64(high)
            places = np.flatnonzero(within)
            end = self.used + places.size
            self.keys[self.used : end] = keys[places]
            if self.queries.size:
                self.queries[self.used : end] = tile.queries_at(places)
            self.used = end
        if matrix.dtype.kind == "f":
            _refuse_nan(self.keys[: self.used].view(np.float64))
        self.squeeze()
        return high


def _tabulated(matrix: Matrix) -> _Part | None:
    """Distinct non-zero keys with the first query of each; None if they are too many for a table."""
    workers = _workers_for(matrix)

    def work(worker: int) -> _Part | None:
        table = _scan(matrix, worker, workers)
        if table is None:
            return None
        used = table.filled_slots()
        return _Part(keys=table.keys[used], queries=table.queries[used], used=used.size)

    parts = [part for part in _in_threads(work, range(workers), workers) if part]
    if len(parts) < workers:
        return None
    keys = np.concatenate([part.keys for part in parts])
    part = _Part(keys=keys, queries=np.concatenate([part.queries for part in parts]), used=keys.size)
    part.squeeze()
    return part


def _scan(matrix: Matrix, worker: int, workers: int) -> _Table | None:
    """Hash table of one worker's tiles; None if it is full."""
    table = _Table(min(SLOTS, 1 << (8 * matrix.size).bit_length()))
    keys_buffer, slots_buffer, lookup_buffer = np.empty((3, math.prod(TILE)), dtype=np.uint64)
    pause, last_new_query, rehashed_at = 0, 0, 0
    known_run, run_at, run_pause = (0, 0), 0, 0
    for tile in _tiles(matrix, worker, workers):
        revisits = tile.left < last_new_query
        if run_pause:
            run_pause -= 1
        elif known_run != (0, 0) and not revisits:
            if known_run[0] <= tile.entries.min() and tile.entries.max() <= known_run[1]:
                continue
            run_pause = PAUSE
        new_places = None if pause else tile.new_places()
        looked_up = new_places is None
        if new_places is not None:
            keys = _keys_of(tile.entries[np.divmod(new_places, tile.entries.shape[1])], keys_buffer)
        else:
            pause = pause - 1 if pause else PAUSE * (tile.earlier is not None)
            keys = tile.keys(keys_buffer)
            slots = table.first_slots(keys, slots_buffer[: keys.size])
            unknown = table.keys.take(slots, out=lookup_buffer[: keys.size], mode="wrap") != keys
            if revisits:
                # This column of tiles may hold a known value at an earlier query than the one recorded.
                later = table.queries.take(slots).reshape(tile.entries.shape) > tile.queries()
                places = np.flatnonzero(later.reshape(-1) & ~unknown)
                np.minimum.at(table.queries, slots[places], tile.queries_at(places))
            if not unknown.any():
                if matrix.dtype.kind != "f" and run_at < table.added <= FEW:
                    known_run, run_at = table.longest_run(unsigned=matrix.dtype.kind == "u"), table.added
                continue
            new_places = np.flatnonzero(unknown)
            keys = keys[new_places]
        if matrix.dtype.kind == "f":
            _refuse_nan(keys.view(np.float64))
        added = table.added
        queries = tile.queries_at(new_places)
        table.add(keys, queries)
        if table.added > added:
            last_new_query = max(last_new_query, int(queries.max()))
            if table.full():
                return None
        elif looked_up and rehashed_at < added:
            # The keys were known, but not in their first slots: every later lookup would fail in the same way.
            table.rehash()
            rehashed_at = table.added
    return table


def _drop_repeats(keys: Keys) -> int:
    """Move the distinct keys of a sorted array of non-zero keys to the front, in little memory; return their number."""
    used, last = 0, np.uint64(0)
    for start in range(0, keys.size, STEP):
        step = keys[start : start + STEP]
        distinct_keys = step.compress(np.concatenate(([step[0] != last], step[1:] != step[:-1])))
        last = distinct_keys[-1] if distinct_keys.size else last
        keys[used : used + distinct_keys.size] = distinct_keys
        used += distinct_keys.size
    return used


def _by_parts(matrix: Matrix, use: Callable[[_Part], Result]) -> list[Result]:
    """Results of `use` on sorted parts that together hold every distinct non-zero key once, with its first query."""
    workers = _workers_for(matrix)
    room = PART // workers

    def work(bounds: tuple[int, int]) -> list[Result]:
        results = []
        low, high = bounds
        while low <= high:
            queries = np.empty(room, dtype=np.int32)
            part = _Part(keys=np.empty(room, dtype=np.uint64), queries=queries)
            low = part.fill(matrix, low, high) + 1
            results.append(use(part))
        return results

    return [result for results in _in_threads(work, _ranges(matrix, room), workers) for result in results]


def _ranges(matrix: Matrix, room: int) -> list[tuple[int, int]]:
    """Ranges of keys that cover all keys but 0, cut at quantiles of a sample so that each range is likely to fit."""
    pairs = np.sort(np.random.default_rng(0).integers(len(matrix), size=(2, STEP)), axis=0)
    keys = np.sort(_keys_of(matrix[pairs[0], pairs[1]], np.empty(STEP, dtype=np.uint64)))
    ranges = 1 + int(1.1 * matrix.size / 2 / room)
    cuts = {int(keys[index * STEP // ranges]) for index in range(1, ranges)} - {0, 1}
    return [(low, high - 1) for low, high in pairwise([1, *sorted(cuts), 2**64])]
