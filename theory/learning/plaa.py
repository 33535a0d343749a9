"""Position-only linear attention with advice (PLAA): its values, and what is learned under an encoding.

For x in {+1, -1}^N the advice n(x) is the last index with x_i = -1, and f_A(x) = x^T A e_n(x) with A upper triangular
(arXiv 2410.08898). On the all-ones input, which has no advice, f_A is 0 [P]. So f_A(x) is the output of POLA at the
query n(x).

A generalised relative encoding is A = sum_k p_k U_k with independent upper triangular U_k [P]. Training sees the inputs
with n(x) <= N0. They span a space of low dimension and involve only the first N0 columns of A.

Min-degree interpolator w.r.t. the functions b_k = f_{U_k} [F; only its name could be read]: among all coefficients that
fit the training set, those with the least degree profile. The profile is (sum of p_k^2 over the b_k of degree d),
compared lexicographically from the largest degree down. The degree is that of the multilinear polynomial, by its
Fourier expansion.

What is learned is computed exactly: input numbers are read as the rationals they are, and results are Fractions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from flint import fmpq_mat
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.rational import NoSolution, diagonal, exact_matrix, fractions, null_space, rank, rows_of, solve
from lengthgen.theory.relation import upper_pairs

Signs = NDArray[np.int64]
Numbers = NDArray[Any]

_REAL = (int, float, Fraction, np.integer, np.floating)


class PlaaError(LengthgenError):
    """Raised for an input, a basis or a target that is invalid for PLAA."""


def inputs_up_to(training_scale: int, *, size: int) -> Signs:
    """Inputs whose advice is at most N0: int64 [2^N0, N], +1 and -1, every x_i with i > N0 being +1 [P].

    Raises:
        PlaaError: N0 is not in 0..N.
    """
    if not 0 <= training_scale <= size:
        raise PlaaError(f"the training scale must be in 0..{size}, not {training_scale}")
    signs = np.ones((2**training_scale, size), dtype=np.int64)
    signs[:, :training_scale] -= 2 * (np.arange(2**training_scale)[:, None] >> np.arange(training_scale) & 1)
    return signs


def advice(inputs: ArrayLike) -> NDArray[np.int64]:
    """Advice n(x): the last index i (1-based) with x_i = -1, and 0 for all ones: [..., N] -> int64 [...] [P].

    Raises:
        PlaaError: an entry is neither +1 nor -1.
    """
    signs = np.asarray(inputs)
    if signs.ndim == 0 or not np.isin(signs, (1, -1)).all():
        raise PlaaError("an input of PLAA must be a vector of +1 and -1")
    return np.asarray(((signs == -1) * np.arange(1, signs.shape[-1] + 1)).max(axis=-1, initial=0), dtype=np.int64)


def evaluate(matrix: ArrayLike, inputs: ArrayLike) -> Numbers:
    """Values f_A(x) = x^T A e_n(x), and 0 for the all-ones input [P]: [..., N, N] and [M, N] -> [..., M].

    Floating-point matrices give floats; integers and Fractions are computed exactly.

    Raises:
        PlaaError: a matrix is not square, real and upper triangular, an entry of an input is neither +1 nor -1, or the
            sizes differ.
    """
    patterns, last = _patterns(matrix), advice(inputs)
    signs = np.asarray(inputs)
    if signs.ndim != 2 or signs.shape[-1] != patterns.shape[-1]:
        raise PlaaError(f"matrices {patterns.shape} take inputs of shape [M, {patterns.shape[-1]}], not {signs.shape}")
    advised_column = np.maximum(last, 1) - 1
    # For Fractions, selecting the sign is much faster than multiplying by it.
    terms = np.where(signs.T > 0, patterns[..., :, advised_column], (-patterns)[..., :, advised_column])
    return np.where(last > 0, terms.sum(axis=-2), 0)


def fourier(matrix: ArrayLike) -> Numbers:
    """Fourier coefficients of f_A, which depend only on the two least members s < t of the set: [N+1, N+1] [F].

    With c_j = 2^-(N-j+1), positions 1..N, and t = N+1 for a set with one member,

        G(s, t) = sum over s<j<t of A_sj c_j - [t <= N] A_st c_t + A_ss c_s - sum over j<s of A_jj c_j,

    and the coefficient of the empty set, at (N+1, N+1), is - sum_j A_jj c_j. It follows by expanding
    1[n(x) = j] = (1 - x_j)/2 prod over k>j of (1 + x_k)/2.

    Returns:
        Fractions, index s-1, t-1; zero at the pairs that belong to no set.

    Raises:
        PlaaError: the matrix is not square, real, finite and upper triangular.
    """
    pattern = exact_pattern(matrix)
    size = len(pattern)
    indicator = [Fraction(1, 2 ** (size - j)) for j in range(size)]
    weighted = pattern * np.array(indicator, dtype=object)
    table = np.full((size + 1, size + 1), Fraction(0), dtype=object)
    for s in range(size):
        running = weighted[s, s] - sum(weighted[j, j] for j in range(s))
        for t in range(s + 1, size):
            table[s, t] = running - weighted[s, t]
            running += weighted[s, t]
        table[s, size] = running
    table[size, size] = -sum(weighted[j, j] for j in range(size))
    return table


def degree_profile(matrix: ArrayLike) -> tuple[Fraction, ...]:
    """Fourier weight of f_A at each degree 0..N: the sum of squared coefficients over the sets of that size [F].

    Raises as `fourier` does.
    """
    table = fourier(matrix)
    size = len(table) - 1
    profile = [table[size, size] ** 2, sum(table[:size, size] ** 2)]
    for degree in range(2, size + 1):
        profile.append(
            sum(
                comb(size - 1 - t, degree - 2) * table[s, t] ** 2 for t in range(1, size - degree + 2) for s in range(t)
            )
        )
    return tuple(map(Fraction, profile))


def degree(matrix: ArrayLike) -> int:
    """Degree of f_A as a multilinear polynomial; 0 for A = 0 [F].

    It is N for N >= 2 unless A_11 = 2 A_12. The degree of x_i 1[n(x) = j] is N - j + 2 for i < j and N - j + 1 for i =
    j. Raises as `fourier` does.
    """
    return max((d for d, weight in enumerate(degree_profile(matrix)) if weight), default=0)


def exact_patterns(matrices: ArrayLike) -> Numbers:
    """Upper triangular matrices [..., N, N] as Fractions: every number is read as the rational that it is.

    Raises:
        PlaaError: a matrix is not square, real, finite and upper triangular.
    """
    try:
        return np.asarray(np.frompyfunc(_fraction, 1, 1)(_patterns(matrices)))
    except OverflowError as error:
        raise PlaaError("exact computation takes finite numbers only") from error


def exact_pattern(matrix: ArrayLike) -> Numbers:
    """Upper triangular matrix [N, N] as Fractions. Raises as `exact_patterns` does, and for a stack of matrices."""
    pattern = exact_patterns(matrix)
    if pattern.ndim != 2:
        raise PlaaError(f"one matrix is taken at a time here, not a stack of shape {pattern.shape}")
    return pattern


def _patterns(matrices: ArrayLike) -> Numbers:
    """Stack [..., N, N] of upper triangular real matrices, checked; anything but floats becomes Python numbers."""
    # Read lists as objects: numpy would turn mixed or large integers into floats.
    stack = matrices if isinstance(matrices, np.ndarray) else np.array(matrices, dtype=object)
    if stack.ndim < 2 or stack.shape[-1] != stack.shape[-2] or not stack.shape[-1]:
        raise PlaaError(f"a matrix of PLAA must be square, not of shape {stack.shape}")
    numbers = stack if stack.dtype.kind == "f" else stack.astype(object)
    wrong_types = {type(entry).__name__ for entry in numbers.flat if not isinstance(entry, _REAL)}
    if wrong_types or np.not_equal(numbers, numbers).any():
        raise PlaaError(f"a matrix of PLAA must hold real numbers, not {', '.join(sorted(wrong_types)) or 'a NaN'}")
    if np.tril(numbers != 0, -1).any():
        raise PlaaError("a matrix of PLAA must be upper triangular: rows are keys i, columns queries j, and i <= j")
    return numbers


def _fraction(number: Any) -> Fraction:
    """Number as a Fraction."""
    return Fraction(number.item() if isinstance(number, np.generic) else number)


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
