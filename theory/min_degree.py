"""Generalised relative encodings in PLAA: what gradient descent learns under them, and the min-degree interpolator.

A generalised relative encoding is A = sum_k p_k U_k with independent upper triangular U_k [P of arXiv 2410.08898].
Training sees the inputs with n(x) <= N0 (`lengthgen.theory.plaa`). They span a space of low dimension and involve only
the first N0 columns of A.

Min-degree interpolator w.r.t. the functions b_k = f_{U_k} [F; only its name could be read]: among all coefficients that
fit the training set, those with the least degree profile. The profile is (sum of p_k^2 over the b_k of degree d),
compared lexicographically from the largest degree down. The degree is that of the multilinear polynomial.

All computations are exact: input numbers are read as the rationals they are, and results are Fractions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq_mat
from numpy.typing import ArrayLike, NDArray

from lengthgen.theory.label_classes import upper_pairs
from lengthgen.theory.plaa import Numbers, PlaaError, degree, exact_pattern, exact_patterns
from lengthgen.theory.rational import NoSolution, diagonal, exact_matrix, fractions, null_space, rank, rows_of, solve


@dataclass(frozen=True, kw_only=True, eq=False)
class PositionBasis:
    """Generalised relative encoding: independent upper triangular U_1..U_r, and A = sum_k p_k U_k [P].

    Attributes:
        matrices: Fractions [r, N, N], r >= 1.
        degrees: the degree of each f_{U_k}.
    """

    matrices: Numbers
    degrees: tuple[int, ...]

    @property
    def size(self) -> int:
        """Size N of the matrices."""
        return int(self.matrices.shape[-1])

    def matrix(self, coefficients: Numbers) -> Numbers:
        """Sum of p_k U_k over k: integers or Fractions [..., r] -> Fractions [..., N, N]."""
        rows, stack = np.reshape(coefficients, (-1, len(self.matrices))), self.matrices.reshape(len(self.matrices), -1)
        combined = fractions(exact_matrix(rows) * exact_matrix(stack))
        return combined.reshape(*np.shape(coefficients)[:-1], self.size, self.size)

    def seen(self, training_scale: int) -> Numbers:
        """Cells i <= j <= N0 of each matrix, which training sees: [N0(N0+1)/2, r].

        Raises:
            PlaaError: N0 is not in 1..N.
        """
        return _cells(self.matrices, training_scale).T


def position_basis(matrices: Iterable[ArrayLike]) -> PositionBasis:
    """Encoding with these matrices.

    Raises:
        PlaaError: there is no matrix, a matrix is not square, real, finite and upper triangular, their sizes differ, or
            they are linearly dependent.
    """
    patterns = [exact_pattern(matrix) for matrix in matrices]
    if len({len(pattern) for pattern in patterns}) != 1:
        raise PlaaError("a basis needs matrices of one size, and at least one")
    stack = np.array(patterns, dtype=object)
    if rank(stack.reshape(len(stack), -1)) < len(stack):
        raise PlaaError("the matrices of a basis must be linearly independent: remove combinations of others")
    return PositionBasis(matrices=stack, degrees=tuple(map(degree, patterns)))


def relation_basis(labels: NDArray[np.int64]) -> PositionBasis:
    """Encoding of a relation: one 0/1 matrix per label, in increasing order, with disjoint supports [P].

    Absolute labels give the E_ij (APE), relative ones D_k = sum_i E_i,i+k (RPE).

    Args:
        labels: the relation's label matrix, int64 [N, N] (`Relation.labels`), read on and above the diagonal.
    """
    occurring = np.unique(labels[upper_pairs(len(labels))])
    return position_basis(np.triu(labels == label).astype(np.int64) for label in occurring)


def learned_coefficients(
    basis: PositionBasis, targets: ArrayLike, *, training_scale: int, weights: Sequence[Fraction | int] | None = None
) -> Numbers:
    """Limit of gradient descent on squared loss from p = 0, trained on the inputs with n(x) <= N0 [F].

    Given n(x) = j the inputs x_1..x_j are uncorrelated under the uniform law, so the loss is sum over j <= N0 of w_j
    sum over i <= j of (A_ij - A*_ij)^2 with w_j = P(n(x) = j). The limit is the minimiser of least Euclidean norm in p.
    For a target in the span of the U_k it does not depend on the weights, nor on the law of the inputs, as long as the
    inputs determine the first N0 columns.

    Args:
        basis: the encoding.
        targets: A*, [..., N, N].
        training_scale: N0 in 1..N.
        weights: w_1..w_N0, positive; proportional to 2^(j-1), the uniform law over inputs, if left out.

    Returns:
        Fractions [..., r].

    Raises:
        PlaaError: a target is not square, real, finite and upper triangular, the sizes differ, N0 is not in 1..N, or
            the weights are not N0 positive numbers.
    """
    law = [2**j for j in range(training_scale)] if weights is None else list(weights)
    if len(law) != training_scale or any(weight <= 0 for weight in law):
        raise PlaaError(f"training up to scale {training_scale} needs {training_scale} positive weights, not {law}")
    basis_cells, target_cells = _training_system(basis, targets, training_scale)
    _, queries = upper_pairs(training_scale)
    weighted = basis_cells.transpose() * diagonal(Fraction(law[query]) for query in queries)
    normal = weighted * basis_cells
    # The minimiser of least norm lies in the row space of the seen cells, which is the range of the normal matrix.
    multiplier = solve(normal * normal, weighted * target_cells)
    return _unflatten(normal * multiplier, targets)


def min_degree_interpolator(basis: PositionBasis, targets: ArrayLike, *, training_scale: int) -> Numbers:
    """Coefficients of the min-degree interpolator w.r.t. the functions f_{U_k}: [..., N, N] -> Fractions [..., r].

    The degree profile is minimised one degree at a time, from the largest down, over the affine space of all
    interpolators [F].

    Raises:
        PlaaError: a target is not square, real, finite and upper triangular, the sizes differ, N0 is not in 1..N, or no
            coefficients fit a target on the training set.
    """
    basis_cells, target_cells = _training_system(basis, targets, training_scale)
    try:
        coefficients = solve(basis_cells, target_cells)
    except NoSolution as error:
        raise PlaaError(
            "no coefficients of the basis fit the target on the training set: pass a target in its span"
        ) from error
    directions = null_space(basis_cells)
    for at_degree in sorted(set(basis.degrees), reverse=True):
        block = [k for k, degree_of_k in enumerate(basis.degrees) if degree_of_k == at_degree]
        block_coefficients, block_directions = rows_of(coefficients, block), rows_of(directions, block)
        coefficients = coefficients + directions * solve(
            block_directions.transpose() * block_directions, -(block_directions.transpose() * block_coefficients)
        )
        directions = directions * null_space(block_directions)
    return _unflatten(coefficients, targets)


def degrees_separate(basis: PositionBasis, *, training_scale: int) -> bool:
    """True if the training set separates functions of different degree [F].

    That is, the spans that the f_{U_k} of each degree have on the training set are independent: rank(all) = sum over
    degrees of the rank. This holds if the U_k that do not vanish there stay independent, as those of a relation do.
    Exactly then the limit of gradient descent is the min-degree interpolator for every target in the span. Reason: the
    limit is orthogonal to the kernel of p -> (training set). The min-degree interpolator is orthogonal to a graded
    space of the same dimension, which the lexicographic minimum makes of that kernel. The two spaces are equal iff the
    kernel is graded.

    Raises:
        PlaaError: N0 is not in 1..N.
    """
    basis_cells = basis.seen(training_scale)
    blocks = [[k for k, d in enumerate(basis.degrees) if d == at_degree] for at_degree in set(basis.degrees)]
    return rank(basis_cells) == sum(rank(basis_cells[:, block]) for block in blocks)


def _training_system(basis: PositionBasis, targets: ArrayLike, training_scale: int) -> tuple[fmpq_mat, fmpq_mat]:
    """Training cells of the basis [cells, r] and of the targets [cells, number of targets]."""
    patterns = exact_patterns(targets)
    if patterns.shape[-1] != basis.size:
        raise PlaaError(f"targets {patterns.shape} do not fit a basis of matrices of size {basis.size}")
    cells = _cells(patterns, training_scale)
    return exact_matrix(basis.seen(training_scale)), exact_matrix(cells.reshape(-1, cells.shape[-1]).T)


def _unflatten(columns: fmpq_mat, targets: ArrayLike) -> Numbers:
    """Columns as an array [..., r] with the leading axes of the targets."""
    return fractions(columns.transpose()).reshape(*np.shape(targets)[:-2], columns.nrows())


def _cells(patterns: Numbers, training_scale: int) -> Numbers:
    """Cells i <= j <= N0 of patterns [..., N, N]: [..., N0(N0+1)/2]."""
    if not 1 <= training_scale <= patterns.shape[-1]:
        raise PlaaError(f"the training scale must be in 1..{patterns.shape[-1]}, not {training_scale}")
    return np.asarray(patterns[..., *upper_pairs(training_scale)])
