"""Tiles of a large matrix on and above the diagonal that fit a core's cache, and threads that share them.

Values are compared as keys: uint64 numbers that are equal iff the values are equal, 0 for the value 0.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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


def check_upper_triangular(matrix: Matrix) -> None:
    """Raise if a matrix [n, n] or [n, n, ...] holds a NaN, or a non-zero entry below the diagonal.

    The message names the first such place in row order; a NaN is reported first. The memory needed does not grow with n
    x n.

    Raises:
        LengthgenError: not square, of a dtype that `new_values_per_query` rejects, a NaN, not upper triangular.
    """
    matrix = checked(matrix)
    tops = range(0, len(matrix), tile_shape(matrix)[0])
    faults = in_threads(lambda top: _faults(matrix, top), tops, workers_for(matrix))
    for i, j in (nan for nans, _ in faults for nan in nans[:1]):
        raise LengthgenError(f"the pattern holds a NaN at i={i}, j={j}")
    for i, j in (place for _, below in faults for place in below[:1]):
        raise LengthgenError(f"the pattern is not upper triangular: A({i}, {j}) is not 0 although i > j")


def checked(matrix: Matrix) -> Matrix:
    """Matrix as an array; raises `LengthgenError` if it is not square or not of real numbers of at most 64 bits."""
    matrix = np.asarray(matrix)
    if matrix.ndim < 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise LengthgenError(f"a pattern must be a square matrix, not of shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf" or matrix.dtype.itemsize > 8:
        raise LengthgenError(f"a pattern must hold real numbers of at most 64 bits, not {matrix.dtype}")
    return matrix


def refuse_nan(values: Matrix) -> None:
    """Raise `LengthgenError` if a value is a NaN."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise LengthgenError("the pattern holds a NaN on or above its diagonal: write a number there")


def workers_for(matrix: Matrix) -> int:
    """Number of threads for a matrix: at most WORKERS, and at most one per tile."""
    return min(WORKERS, -(-matrix.size // math.prod(TILE)))


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> list[Result]:
    """Results of the function on the items, in order, computed by several threads."""
    if workers == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


def _faults(matrix: Matrix, top: int) -> tuple[list[Place], list[Place]]:
    """First NaN, and first non-zero entry below the diagonal, of each tile in the row of tiles at key `top`."""
    height, width = tile_shape(matrix)
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
        keys = keys_of(self.entries, out)
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


def keys_of(entries: Matrix, out: Keys) -> Keys:
    """Keys of the entries, in their shape, written to `out`."""
    keys = out[: entries.size].reshape(entries.shape)
    if entries.dtype.kind == "f":
        np.add(entries, 0.0, out=keys.view(np.float64))  # turns -0.0 into 0.0
    else:
        np.copyto(keys.view(np.int64), entries, casting="unsafe")
    return keys


def tile_shape(matrix: Matrix) -> tuple[int, int]:
    """Number of keys and queries of the matrix's tiles."""
    return TILE if abs(matrix.strides[0]) >= abs(matrix.strides[1]) else TILE[::-1]


def tiles(matrix: Matrix, worker: int = 0, workers: int = 1) -> Iterator[Tile]:
    """Tiles of one worker; all workers' tiles cover the upper triangle, by columns of tiles, queries ascending."""
    size, (height, width) = len(matrix), tile_shape(matrix)
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
