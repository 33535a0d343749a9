"""Number of distinct non-zero values on and above the diagonal of a large matrix: LRC by counting, in bounded memory.

Position patterns repeat along diagonals, so an entry that equals the one a key and a query earlier is not new. The
others are sorted, block of queries by block. If there are more distinct values than fit, the smallest are counted
first, and further passes count those above them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError

Matrix = NDArray[Any]

BLOCK = 2**20
"""Entries that are looked at together."""
MOST = 2**24
"""Largest number of distinct values that one pass keeps, 16 bytes each."""


def new_values_per_query(matrix: Matrix) -> NDArray[np.int64]:
    """Number of distinct non-zero values that each query is the first to hold: int64 [n].

    The running sum is LRC per scale. Memory beside the matrix is at most 900 MB; for blocks, the size of the distinct
    blocks.

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
    first, most = _first_queries(matrix, None)
    new = np.bincount(first, minlength=len(matrix))
    while most is not None:
        first, most = _first_queries(matrix, most)
        new += np.bincount(first, minlength=len(matrix))
    return new


def _first_queries(matrix: Matrix, above: Any) -> tuple[NDArray[np.int64], Any]:
    """First query of each of the smallest distinct non-zero values above a bound, and the largest value among them.

    The largest value is None if no value is left out.
    """
    dtype = matrix.dtype.newbyteorder("=")
    values, first, most = np.empty(0, dtype), np.empty(0, np.int64), None
    width = max(1, BLOCK // len(matrix))
    for left in range(0, len(matrix), width):
        right = min(left + width, len(matrix))
        block = matrix[:right, left:right].astype(dtype)
        candidates = np.triu(np.ones(block.shape, dtype=bool), -left)  # on and above the diagonal
        if dtype.kind == "f" and np.isnan(block[candidates]).any():
            raise LengthgenError("the pattern holds a NaN on or above its diagonal: write a number there")
        candidates &= block != 0
        candidates[1:, 1:] &= block[1:, 1:] != block[:-1, :-1]
        if above is not None:
            candidates &= block > above
        if most is not None:
            candidates &= block <= most
        entries = block.T[candidates.T]
        fresh = np.sort(entries)
        fresh = fresh[np.append(True, fresh[1:] != fresh[:-1])[: len(fresh)]]
        at = np.searchsorted(values, fresh)
        new, inside = np.ones(len(fresh), dtype=bool), at < len(values)
        new[inside] = values[at[inside]] != fresh[inside]
        if new.any():
            place = _first_places(entries, fresh[new])  # that of the first query
            values = np.insert(values, at[new], fresh[new])
            first = np.insert(first, at[new], left + np.nonzero(candidates.T)[0][place])
        if len(values) > MOST:
            values, first = values[: MOST // 2], first[: MOST // 2]
            most = values[-1]
    return first, most


def _first_places(entries: Matrix, values: Matrix) -> NDArray[np.int64]:
    """Index of the first entry that equals each of some ascending values."""
    nearest = np.minimum(np.searchsorted(values, entries), len(values) - 1)
    equal = np.flatnonzero(values[nearest] == entries)[::-1]
    places = np.empty(len(values), dtype=np.int64)
    places[nearest[equal]] = equal  # of equal values the last assignment stays, which is the first entry
    return places


def check_upper_triangular(matrix: Matrix) -> None:
    """Raise if a matrix [n, n] or [n, n, ...] holds a NaN, or a non-zero entry below the diagonal.

    The message names the first such place in row order; a NaN is reported first. Memory beside the matrix is that of
    a few times BLOCK entries, or of one row.

    Raises:
        LengthgenError: not square, of a dtype that `new_values_per_query` rejects, a NaN, not upper triangular.
    """
    matrix = _checked(matrix)
    size, below = len(matrix), None
    height = max(1, BLOCK // (matrix.size // size))
    for top in range(0, size, height):
        rows = np.asarray(matrix[top : top + height]).reshape(-1, size, matrix.size // size**2)
        if matrix.dtype.kind == "f" and len(nans := np.argwhere(np.isnan(rows).any(axis=2))):
            raise LengthgenError(f"the pattern holds a NaN at i={top + nans[0][0] + 1}, j={nans[0][1] + 1}")
        if below is None and len(wrong := np.argwhere(np.tril((rows != 0).any(axis=2), top - 1))):
            below = top + wrong[0][0] + 1, wrong[0][1] + 1
    if below:
        raise LengthgenError(f"the pattern is not upper triangular: A({below[0]}, {below[1]}) is not 0 although i > j")


def _new_blocks(matrix: Matrix) -> NDArray[np.int64]:
    """Same as `new_values_per_query` for a matrix whose entries are blocks; keeps a set of their bytes."""
    blocks_seen: set[bytes] = set()
    counts = [0]
    for query in range(len(matrix)):
        blocks = matrix[: query + 1, query].reshape(query + 1, -1)
        if matrix.dtype.kind == "f":
            if np.isnan(blocks).any():
                raise LengthgenError("the pattern holds a NaN on or above its diagonal: write a number there")
            blocks = blocks + blocks.dtype.type(0)  # turns -0.0 into 0.0
        blocks_seen.update(block.tobytes() for block in blocks[blocks.any(axis=1)])
        counts.append(len(blocks_seen))
    return np.diff(counts)


def _checked(matrix: Matrix) -> Matrix:
    """Matrix as an array; raises `LengthgenError` if it is not square or not of real numbers of at most 64 bits."""
    matrix = np.asarray(matrix)
    if matrix.ndim < 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise LengthgenError(f"a pattern must be a square matrix, not of shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf" or matrix.dtype.itemsize > 8:
        raise LengthgenError(f"a pattern must hold real numbers of at most 64 bits, not {matrix.dtype}")
    return matrix
