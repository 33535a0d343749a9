"""Exact linear algebra over the rationals, with FLINT's rational matrices.

Arrays hold integers and Fractions. Floats are rejected: convert them by `Fraction(x)` if their exact value is meant.
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.errors import LengthgenError


class NoSolution(LengthgenError):
    """Raised for a linear system without a solution."""


def exact_matrix(matrix: ArrayLike) -> fmpq_mat:
    """Matrix [m, n] as a FLINT matrix.

    Raises:
        LengthgenError: not two-dimensional, or an entry is not an integer or a Fraction.
    """
    entries: NDArray[Any] = np.asarray(matrix, dtype=object)
    if entries.ndim != 2:
        raise LengthgenError(f"an exact matrix must have two dimensions, not the shape {entries.shape}")
    rows, columns = entries.shape
    return fmpq_mat(rows, columns, [_rational(entry) for entry in entries.flat])


def diagonal(entries: Iterable[int | Fraction]) -> fmpq_mat:
    """Square matrix with these entries on its diagonal."""
    return exact_matrix(np.diag(np.array(list(entries), dtype=object)))


def fractions(matrix: fmpq_mat) -> NDArray[Any]:
    """Matrix as an array of Fractions [m, n]."""
    exact = [Fraction(int(entry.p), int(entry.q)) for entry in matrix.entries()]
    return np.array(exact, dtype=object).reshape(matrix.nrows(), matrix.ncols())


def rank(matrix: ArrayLike) -> int:
    """Rank of a matrix [m, n]. Raises as `exact_matrix` does."""
    return int(exact_matrix(matrix).rank())


def rows_of(matrix: fmpq_mat, chosen: Iterable[int]) -> fmpq_mat:
    """Matrix of the chosen rows, in the order given."""
    table, indices = matrix.table(), list(chosen)
    return fmpq_mat(len(indices), matrix.ncols(), [entry for row in indices for entry in table[row]])


def solve(matrix: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
    """Solution X of matrix @ X = right, with zeros in the free unknowns.

    Raises:
        NoSolution: the system has no solution.
    """
    unknowns, right_columns = matrix.ncols(), right.ncols()
    augmented = [entry for pair in zip(matrix.table(), right.table(), strict=True) for entry in chain(*pair)]
    rows, pivots = _reduced(fmpq_mat(matrix.nrows(), unknowns + right_columns, augmented))
    if pivots and pivots[-1] >= unknowns:
        raise NoSolution("the linear system has no solution")
    solution = [[fmpq(0)] * right_columns for _ in range(unknowns)]
    for row, pivot in zip(rows, pivots, strict=True):
        solution[pivot] = row[unknowns:]
    return fmpq_mat(unknowns, right_columns, list(chain(*solution)))


def null_space(matrix: fmpq_mat) -> fmpq_mat:
    """Basis of the kernel, in columns."""
    rows, pivots = _reduced(matrix)
    free = [column for column in range(matrix.ncols()) if column not in pivots]
    kernel = fmpq_mat(matrix.ncols(), len(free))
    for index, column in enumerate(free):
        kernel[column, index] = 1
        for row, pivot in zip(rows, pivots, strict=True):
            kernel[pivot, index] = -row[column]
    return kernel


def _reduced(matrix: fmpq_mat) -> tuple[list[list[fmpq]], list[int]]:
    """Non-zero rows of the reduced row echelon form, and the columns of their leading ones."""
    echelon, matrix_rank = matrix.rref()
    rows = echelon.table()[:matrix_rank]
    return rows, [next(column for column, entry in enumerate(row) if entry) for row in rows]


def _rational(entry: Any) -> fmpq:
    """FLINT rational of an integer or a Fraction."""
    if not isinstance(entry, int | Fraction | np.integer):
        raise LengthgenError(f"exact linear algebra needs integers or Fractions, not {type(entry).__name__}")
    return fmpq(int(entry.numerator), int(entry.denominator))
