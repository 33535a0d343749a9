"""How many distinct non-zero values a big matrix holds on and above its diagonal: LRC by counting, in bounded memory.

Position patterns repeat along diagonals, so an entry that equals the one a key and a query earlier is no news, nor is
a tile whose extremes lie in a run of whole numbers that are all known. Other entries are looked up in a hash table,
tile by tile, with vector operations. Where the table would outgrow its memory, most entries are values of their own:
then the range of values is cut into parts that do fit, and each part is sorted. Threads share the work, since numpy
releases the interpreter in what takes long (theory.tiling).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from theory import tiling
from theory.tiling import (
    Keys,
    Matrix,
    Places,
    Queries,
    Result,
    checked,
    in_threads,
    keys_of,
    refuse_nan,
    tiles,
    workers_for,
)

SLOTS = 2**21
"""Of each thread's table, 12 bytes each: a power of two, at least 4 tiles. No more than half of them are filled."""
PART = 20 * 10**6
"""Keys that all threads together hold while sorting, at least 2 tiles each: 8 bytes a key, 40 with its query."""
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: the high bits of its multiples spread regular keys evenly (Knuth, TAOCP 3, 6.4)."""
PAUSE = 16
"""Tiles to go before neighbours are compared again, where they differed, or extremes, where they were too far apart."""
FEW = 2**16
"""Values among which a run of whole numbers is worth looking for: a tile with its extremes in that is no news."""
STEP = 2**16
UNSEEN = np.iinfo(np.int32).max


def new_values_per_query(matrix: Matrix) -> NDArray[np.int64]:
    """How many distinct non-zero values each query is the first to hold: int64 [n]. The running sum is LRC per scale.

    Args:
        matrix: real [n, n], rows keys and columns queries, in any memory order, bool, int, uint or float of up to
            64 bits; -0.0 is 0. Or [n, n, ...], whose entries are blocks (vector tokens). What lies below the diagonal
            does not count.

    Takes at most 200 MB beside the matrix if there are less than a million values, and at most 900 MB in any case; for
    blocks, what the distinct ones take.

    Raises:
        LengthgenError: not square, of another dtype, or a NaN on or above the diagonal.
    """
    matrix = checked(matrix)
    if matrix.ndim > 2:
        return _new_blocks(matrix)

    def tally(part: _Part) -> NDArray[np.int64]:
        return np.bincount(part.queries[: part.used], minlength=len(matrix))

    known = _tabulated(matrix)
    return tally(known) if known else np.asarray(sum(_by_parts(matrix, tally)))


def _new_blocks(matrix: Matrix) -> NDArray[np.int64]:
    """`new_values_per_query` where entries are blocks, by a set of their bytes."""
    known: set[bytes] = set()
    found = [0]
    for query in range(len(matrix)):
        for start in range(0, query + 1, tiling.TILE[1]):
            stop = min(start + tiling.TILE[1], query + 1)
            blocks = matrix[start:stop, query].reshape(stop - start, -1)
            refuse_nan(blocks)
            if matrix.dtype.kind == "f":
                blocks = blocks + blocks.dtype.type(0)  # turns -0.0 into 0.0
            blocks = np.ascontiguousarray(blocks[blocks.any(axis=1)])
            known.update(blocks.view(f"V{blocks.strides[0]}").ravel().tolist())
        found.append(len(known))
    return np.diff(found)


class _Table:
    """The keys seen, each with the least query it was added with: open addressing, linear probing.

    Slot 0 holds key 0 for good, so that zeros count as seen.
    """

    def __init__(self, slots: int) -> None:
        self.keys: Keys = np.empty(slots, dtype=np.uint64)  # not np.zeros, which gets no huge pages
        self.keys.fill(0)
        self.queries: Queries = np.full(slots, UNSEEN, dtype=np.int32)
        self.queries[0] = -1
        self.added = 0
        self._multiplier = MULTIPLIER
        self._shift = np.uint64(65 - slots.bit_length())

    def homes(self, keys: Keys, out: Keys | None = None) -> Places:
        """The slot where the search for each key begins."""
        return np.right_shift(np.multiply(keys, self._multiplier, out=out), self._shift, out=out).view(np.intp)

    def add(self, keys: Keys, queries: Queries) -> None:
        """Keys may be 0, known, or there more than once, which `added` counts more than once."""
        slots = self.homes(keys)
        while keys.size:
            free = np.flatnonzero((self.keys[slots] == 0) & (slots != 0))
            self.keys[slots[free]] = keys[free]
            self.added += free.size
            settled = self.keys[slots] == keys
            np.minimum.at(self.queries, slots[settled], queries[settled])
            keys, queries = keys[~settled], queries[~settled]
            slots = (slots[~settled] + 1) & (self.keys.size - 1)

    def spread(self) -> None:
        """Give every key a home of its own, by another multiplier; where they are few enough for chance to do it."""
        used = self.used()
        keys, queries = self.keys[used], self.queries[used]
        if used.size**2 > self.keys.size:
            return
        for _ in range(16):
            self._multiplier = np.uint64(int(self._multiplier) * int(MULTIPLIER) % 2**64)
            homes = self.homes(keys)
            if homes.all() and np.unique(homes).size == homes.size:
                break
        self.keys[used], self.queries[used], self.added = 0, UNSEEN, 0
        self.add(keys, queries)

    def used(self) -> Places:
        return np.flatnonzero(self.keys != 0)  # 50 times as fast as np.flatnonzero of integers

    def stretch(self, *, unsigned: bool) -> tuple[int, int]:
        """The first and the last of the longest run of whole numbers that are all known."""
        known = np.sort(np.append(self.keys[self.used()], np.uint64(0)).view(np.uint64 if unsigned else np.int64))
        breaks = np.flatnonzero(np.diff(known) != 1)
        first, last = np.append(0, breaks + 1), np.append(breaks, known.size - 1)
        longest = int(np.argmax(last - first))
        return int(known[first[longest]]), int(known[last[longest]])

    def full(self) -> bool:
        if 2 * self.added > self.keys.size:
            self.added = self.used().size
        return 2 * self.added > self.keys.size


def _tabulated(matrix: Matrix) -> "_Part | None":
    """All distinct non-zero keys and the first query of each, or None where they are too many for a table."""
    workers = workers_for(matrix)

    def work(worker: int) -> _Part | None:
        table = _scan(matrix, worker, workers)
        if table is None:
            return None
        used = table.used()
        return _Part(keys=table.keys[used], queries=table.queries[used], used=used.size)

    found = [part for part in in_threads(work, range(workers), workers) if part]
    if len(found) < workers:
        return None
    keys = np.concatenate([part.keys for part in found])
    part = _Part(keys=keys, queries=np.concatenate([part.queries for part in found]), used=keys.size)
    part.squeeze()
    return part


def _scan(matrix: Matrix, worker: int, workers: int) -> _Table | None:
    """A worker's tiles as a table, or None if it is full."""
    table = _Table(min(SLOTS, 1 << (8 * matrix.size).bit_length()))
    keys_buffer, slots_buffer, held_buffer = np.empty((3, math.prod(tiling.TILE)), dtype=np.uint64)
    pause, reach, spread_at = 0, 0, 0
    stretch, stretch_at, outside = (0, 0), 0, 0
    for tile in tiles(matrix, worker, workers):
        again = tile.left < reach
        if outside:
            outside -= 1
        elif stretch != (0, 0) and not again:
            if stretch[0] <= tile.entries.min() and tile.entries.max() <= stretch[1]:
                continue
            outside = PAUSE
        news = None if pause else tile.news()
        looked_up = news is None
        if news is not None:
            keys = keys_of(tile.entries[np.divmod(news, tile.entries.shape[1])], keys_buffer)
        else:
            pause = pause - 1 if pause else PAUSE * (tile.earlier is not None)
            keys = tile.keys(keys_buffer)
            slots = table.homes(keys, slots_buffer[: keys.size])
            unknown = table.keys.take(slots, out=held_buffer[: keys.size], mode="wrap") != keys
            if again:
                # Values that this column of tiles brought may be here at an earlier query.
                later = table.queries.take(slots).reshape(tile.entries.shape) > tile.queries()
                places = np.flatnonzero(later.reshape(-1) & ~unknown)
                np.minimum.at(table.queries, slots[places], tile.queries_at(places))
            if not unknown.any():
                if matrix.dtype.kind != "f" and stretch_at < table.added <= FEW:
                    stretch, stretch_at = table.stretch(unsigned=matrix.dtype.kind == "u"), table.added
                continue
            news = np.flatnonzero(unknown)
            keys = keys[news]
        if matrix.dtype.kind == "f":
            refuse_nan(keys.view(np.float64))
        added = table.added
        queries = tile.queries_at(news)
        table.add(keys, queries)
        if table.added > added:
            reach = max(reach, int(queries.max()))
            if table.full():
                return None
        elif looked_up and spread_at < added:
            # They were known but not at home, and would come here again and again.
            table.spread()
            spread_at = table.added
    return table


@dataclass(kw_only=True)
class _Part:
    """The first `used` of room for keys, and for the query of each if those are asked for."""

    keys: Keys
    queries: Queries
    used: int = 0

    def squeeze(self) -> None:
        """Sort and drop repeats, keeping the least query of each."""
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
        """Take all keys low..high, or as many of the least as there is room for; returns the last key looked for."""
        buffer, offsets = np.empty((2, math.prod(tiling.TILE)), dtype=np.uint64)
        for tile in tiles(matrix):
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
            refuse_nan(self.keys[: self.used].view(np.float64))
        self.squeeze()
        return high


def _drop_repeats(keys: Keys) -> int:
    """Move the distinct ones of sorted, non-zero keys to the front, in little memory; returns their number."""
    used, last = 0, np.uint64(0)
    for start in range(0, keys.size, STEP):
        step = keys[start : start + STEP]
        kept = step.compress(np.concatenate(([step[0] != last], step[1:] != step[:-1])))
        last = kept[-1] if kept.size else last
        keys[used : used + kept.size] = kept
        used += kept.size
    return used


def _by_parts(matrix: Matrix, use: Callable[[_Part], Result]) -> list[Result]:
    """`use` of sorted parts that together hold every distinct non-zero key once, with its first query."""
    workers = workers_for(matrix)
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

    return [result for results in in_threads(work, _ranges(matrix, room), workers) for result in results]


def _ranges(matrix: Matrix, room: int) -> list[tuple[int, int]]:
    """Ranges of keys that cover all but 0, cut where a sample says that each is likely to fit."""
    pairs = np.sort(np.random.default_rng(0).integers(len(matrix), size=(2, STEP)), axis=0)
    keys = np.sort(keys_of(matrix[pairs[0], pairs[1]], np.empty(STEP, dtype=np.uint64)))
    ranges = 1 + int(1.1 * matrix.size / 2 / room)
    cuts = {int(keys[index * STEP // ranges]) for index in range(1, ranges)} - {0, 1}
    return [(low, high - 1) for low, high in pairwise([1, *sorted(cuts), 2**64])]
