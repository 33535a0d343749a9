"""Exact linear algebra over the rationals, on FLINT's matrices of fractions.

Arrays hold integers and Fractions. Floats are refused: whoever has some says by `Fraction(x)` that they mean them so.
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import ArrayLike, NDArray

from theory.system.errors import LengthgenError


class NoSolution(LengthgenError):
    """A linear system that nothing solves."""


def exact_matrix(matrix: ArrayLike) -> fmpq_mat:
    """The matrix [m, n], for FLINT.

    Raises:
        LengthgenError: not two-dimensional, or an entry is not an integer or a Fraction.
    """
    entries: NDArray[Any] = np.asarray(matrix, dtype=object)
    if entries.ndim != 2:
        raise LengthgenError(f"an exact matrix must have two dimensions, not the shape {entries.shape}")
    rows, columns = entries.shape
    return fmpq_mat(rows, columns, [_rational(entry) for entry in entries.flat])


def diagonal(entries: Iterable[int | Fraction]) -> fmpq_mat:
    """The square matrix with these entries on its diagonal."""
    return exact_matrix(np.diag(np.array(list(entries), dtype=object)))


def fractions(matrix: fmpq_mat) -> NDArray[Any]:
    """The matrix as an array of Fractions [m, n]."""
    exact = [Fraction(int(entry.p), int(entry.q)) for entry in matrix.entries()]
    return np.array(exact, dtype=object).reshape(matrix.nrows(), matrix.ncols())


def rank(matrix: ArrayLike) -> int:
    """The rank of a matrix [m, n]. Raises as `exact_matrix` does."""
    return int(exact_matrix(matrix).rank())


def rows_of(matrix: fmpq_mat, chosen: Iterable[int]) -> fmpq_mat:
    """The matrix of some of its rows, in the order given."""
    table, wanted = matrix.table(), list(chosen)
    return fmpq_mat(len(wanted), matrix.ncols(), [entry for row in wanted for entry in table[row]])


def solve(matrix: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
    """One solution of matrix @ X = right, with zeros in the free unknowns.

    Raises:
        NoSolution: there is none.
    """
    unknowns, wanted = matrix.ncols(), right.ncols()
    both = [entry for pair in zip(matrix.table(), right.table(), strict=True) for entry in chain(*pair)]
    rows, pivots = _reduced(fmpq_mat(matrix.nrows(), unknowns + wanted, both))
    if pivots and pivots[-1] >= unknowns:
        raise NoSolution("the linear system has no solution")
    solution = [[fmpq(0)] * wanted for _ in range(unknowns)]
    for row, pivot in zip(rows, pivots, strict=True):
        solution[pivot] = row[unknowns:]
    return fmpq_mat(unknowns, wanted, list(chain(*solution)))


def null_space(matrix: fmpq_mat) -> fmpq_mat:
    """A basis of the kernel, in columns."""
    rows, pivots = _reduced(matrix)
    free = [column for column in range(matrix.ncols()) if column not in pivots]
    kernel = fmpq_mat(matrix.ncols(), len(free))
    for at, column in enumerate(free):
        kernel[column, at] = 1
        for row, pivot in zip(rows, pivots, strict=True):
            kernel[pivot, at] = -row[column]
    return kernel


def _reduced(matrix: fmpq_mat) -> tuple[list[list[fmpq]], list[int]]:
    """The rows of the reduced row echelon form that are not zero, and the columns of their leading ones."""
    echelon, found = matrix.rref()
    rows = echelon.table()[:found]
    return rows, [next(column for column, entry in enumerate(row) if entry) for row in rows]


def _rational(entry: Any) -> fmpq:
    if not isinstance(entry, int | Fraction | np.integer):
        raise LengthgenError(f"exact linear algebra needs integers or Fractions, not {type(entry).__name__}")
    return fmpq(int(entry.numerator), int(entry.denominator))
