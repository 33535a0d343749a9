"""Linear Representation Complexity: how many parameters position-only linear attention needs for a pattern.

POLA computes f_A(x)_j = sum over i <= j of A_ij x_i. Under a relation phi its entries are A_ij = theta_phi(i,j), so
the fewest non-zero parameters over all relations that represent A is the number of its distinct non-zero entries
[F of arXiv 2510.04130, Def. 3]. A label whose parameter is zero is not used and does not count.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.relation import Relation, from_labels


def as_pattern(matrix: ArrayLike) -> NDArray[Any]:
    """The matrix as a pattern of attention: [n, n], rows keys i, columns queries j, zero below the diagonal.

    Entries are numbers of any exact or floating type; an object array may hold ints and Fractions.

    Raises:
        ValueError: not square, empty, not of numbers, holds a NaN, or is non-zero below the diagonal.
    """
    # Lists stay what they are: numpy would turn mixed or large integers into floats, and unequal ones into equal.
    pattern = matrix if isinstance(matrix, np.ndarray) else np.array(matrix, dtype=object)
    if pattern.ndim != 2 or pattern.shape[0] != pattern.shape[1] or not pattern.size:
        raise ValueError(f"a pattern must be a square matrix, not of shape {pattern.shape}")
    if pattern.dtype == object:
        for entry in pattern.flat:
            if not isinstance(entry, int | float | Fraction | np.integer | np.floating):
                raise ValueError(f"a pattern must hold real numbers, not {type(entry).__name__}")
    elif pattern.dtype.kind not in "iufb":
        raise ValueError(f"a pattern must hold real numbers, not {pattern.dtype}")
    nan = np.not_equal(pattern, pattern)
    if nan.any():
        row, column = np.argwhere(nan)[0] + 1
        raise ValueError(f"the pattern holds a NaN at i={row}, j={column}")
    below = np.tril(pattern != 0, -1)
    if below.any():
        row, column = np.argwhere(below)[0] + 1
        raise ValueError(f"the pattern is not upper triangular: A({row}, {column}) is not 0 although i > j")
    return pattern


def lrc(matrix: ArrayLike, scale: int | None = None) -> int:
    """LRC at one scale: the number of distinct non-zero entries A_ij with i <= j <= scale [F].

    Args:
        matrix: the pattern, [n, n], as `as_pattern` reads it.
        scale: 1..n; the whole matrix if left out.

    Raises:
        ValueError: the matrix is no pattern, or the scale is not in 1..n.
    """
    pattern = as_pattern(matrix)
    size = len(pattern) if scale is None else scale
    if not 1 <= size <= len(pattern):
        raise ValueError(f"scale must be in 1..{len(pattern)}, not {size}")
    return _distinct_nonzero(pattern[:size, :size])


def lrc_profile(matrix: ArrayLike, scales: Iterable[int]) -> dict[int, int]:
    """LRC at each of the scales, in the order given: {scale: LRC}. Raises as `lrc` does."""
    pattern = as_pattern(matrix)
    return {scale: lrc(pattern, scale) for scale in scales}


def level_sets(matrix: ArrayLike) -> Relation:
    """The relation that puts equal entries under one label and all zeros under 0: the ideal PRF of the pattern.

    It represents the pattern with LRC many parameters, and no relation does with fewer. Labels 1, 2, ... are
    numbered by first use, query by query.

    Raises:
        ValueError: the matrix is no pattern.
    """
    pattern = as_pattern(matrix)
    numbers: dict[Any, int] = {0: 0}
    labels = np.zeros(pattern.shape, dtype=np.int64)
    for query in range(len(pattern)):
        for key in range(query + 1):
            labels[key, query] = numbers.setdefault(pattern[key, query], len(numbers))
    return from_labels(labels, name="level-sets")


def _distinct_nonzero(pattern: NDArray[Any]) -> int:
    entries = pattern[np.triu_indices(len(pattern))]
    if pattern.dtype == object:
        return len(set(entries.tolist()) - {0})
    return int(np.count_nonzero(np.unique(entries)))
