"""Position-only linear attention with advice (PLAA) and the min-degree interpolator (arXiv 2410.08898).

For x in {+1, -1}^N the advice n(x) is the last index with x_i = -1, and f_A(x) = x^T A e_n(x) with A upper triangular;
on the all-ones input, which has no advice, f_A is 0 [P]. So f_A(x) is what POLA gives at the query n(x).

A generalised relative encoding is A = sum_k p_k U_k with independent upper triangular U_k [P]. Training sees the inputs
with n(x) <= N0: they span a space of low dimension, and meet the first N0 columns of A alone.

Min-degree interpolator w.r.t. the functions b_k = f_{U_k} [F; only its name could be read]: of all coefficients that
fit the training set, those of the least degree profile, which is (sum of p_k^2 over the b_k of degree d), compared
lexicographically from the largest degree down. The degree is that of the multilinear polynomial.

Everything from `PositionBasis` on is exact: numbers are read as the rationals they are, and Fractions come back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import LengthgenError

Signs = NDArray[np.int64]
Numbers = NDArray[Any]

_REAL = (int, float, Fraction, np.integer, np.floating)


class PlaaError(LengthgenError):
    """An input, a basis or a target that PLAA cannot take."""


def inputs_up_to(training_scale: int, *, size: int) -> Signs:
    """The inputs whose advice is at most N0: int64 [2^N0, N], +1 and -1, every x_i with i > N0 being +1 [P].

    Raises:
        PlaaError: N0 is not in 0..N.
    """
    if not 0 <= training_scale <= size:
        raise PlaaError(f"the training scale must be in 0..{size}, not {training_scale}")
    signs = np.ones((2**training_scale, size), dtype=np.int64)
    signs[:, :training_scale] -= 2 * (np.arange(2**training_scale)[:, None] >> np.arange(training_scale) & 1)
    return signs


def advice(inputs: ArrayLike) -> NDArray[np.int64]:
    """n(x), the last index i (1-based) with x_i = -1, and 0 for the all-ones input: [..., N] -> int64 [...] [P].

    Raises:
        PlaaError: an entry is neither +1 nor -1.
    """
    signs = np.asarray(inputs)
    if signs.ndim == 0 or not np.isin(signs, (1, -1)).all():
        raise PlaaError("an input of PLAA must be a vector of +1 and -1")
    return np.asarray(((signs == -1) * np.arange(1, signs.shape[-1] + 1)).max(axis=-1, initial=0), dtype=np.int64)


def evaluate(matrix: ArrayLike, inputs: ArrayLike) -> Numbers:
    """f_A(x) = x^T A e_n(x), and 0 where x is all ones [P]: [..., N, N] and [M, N] -> [..., M].

    Floating-point matrices give floats; integers and Fractions are computed exactly.

    Raises:
        PlaaError: a matrix is not square, real and upper triangular, an entry of an input is neither +1 nor -1, or the
            sizes differ.
    """
    patterns, last = _patterns(matrix), advice(inputs)
    signs = np.asarray(inputs).astype(patterns.dtype)
    if signs.ndim != 2 or signs.shape[-1] != patterns.shape[-1]:
        raise PlaaError(f"matrices {patterns.shape} take inputs of shape [M, {patterns.shape[-1]}], not {signs.shape}")
    advised = patterns[..., :, np.maximum(last, 1) - 1]
    return np.where(last > 0, (signs.T * advised).sum(axis=-2), 0)


def fourier(matrix: ArrayLike) -> Numbers:
    """The Fourier coefficients of f_A, which depend only on the two least members s < t of the set: [N+1, N+1] [F].

    With c_j = 2^-(N-j+1), positions 1..N, and t = N+1 for a set with one member,

        G(s, t) = sum over s<j<t of A_sj c_j - [t <= N] A_st c_t + A_ss c_s - sum over j<s of A_jj c_j,

    and the coefficient of the empty set, at (N+1, N+1), is - sum_j A_jj c_j. It follows by expanding
    1[n(x) = j] = (1 - x_j)/2 prod over k>j of (1 + x_k)/2.

    Returns:
        Fractions, index s-1, t-1; zero at the pairs that belong to no set.

    Raises:
        PlaaError: the matrix is not square, real, finite and upper triangular.
    """
    pattern = _pattern(matrix)
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
    """The degree of f_A as a multilinear polynomial; 0 for A = 0 [F].

    It is N for N >= 2 unless A_11 = 2 A_12. That of x_i 1[n(x) = j] is N - j + 2 for i < j and N - j + 1 for i = j.
    Raises as `fourier` does.
    """
    return max((d for d, weight in enumerate(degree_profile(matrix)) if weight), default=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class PositionBasis:
    """A generalised relative encoding: independent upper triangular U_1..U_r, and A = sum_k p_k U_k [P].

    Attributes:
        matrices: Fractions [r, N, N], r >= 1.
        degrees: the degree of each f_{U_k}.
    """

    matrices: Numbers
    degrees: tuple[int, ...]

    @property
    def size(self) -> int:
        """N."""
        return int(self.matrices.shape[-1])

    def matrix(self, coefficients: Numbers) -> Numbers:
        """sum_k p_k U_k: [..., r] -> [..., N, N]."""
        return np.asarray(np.tensordot(coefficients, self.matrices, axes=1))

    def seen(self, training_scale: int) -> Numbers:
        """What training sees of each matrix, its cells i <= j <= N0: [N0(N0+1)/2, r].

        Raises:
            PlaaError: N0 is not in 1..N.
        """
        return _cells(self.matrices, training_scale).T


def position_basis(matrices: Iterable[ArrayLike]) -> PositionBasis:
    """The encoding with these matrices.

    Raises:
        PlaaError: there is none, one is not square, real, finite and upper triangular, their sizes differ, or they are
            linearly dependent.
    """
    patterns = [_pattern(matrix) for matrix in matrices]
    if len({len(pattern) for pattern in patterns}) != 1:
        raise PlaaError("a basis needs matrices of one size, and at least one")
    stack = np.array(patterns, dtype=object)
    if _rank(stack.reshape(len(stack), -1)) < len(stack):
        raise PlaaError("the matrices of a basis must be linearly independent: leave out those that others make up")
    return PositionBasis(matrices=stack, degrees=tuple(map(degree, patterns)))


def relation_basis(labels: NDArray[np.int64]) -> PositionBasis:
    """The encoding of a relation: one 0/1 matrix a label, in increasing order, with disjoint supports [P].

    Absolute labels give the E_ij (APE), relative ones D_k = sum_i E_i,i+k (RPE).

    Args:
        labels: the relation's label matrix, int64 [N, N] (`Relation.labels`), read on and above the diagonal.
    """
    used = np.unique(labels[np.triu_indices(len(labels))])
    return position_basis(np.triu(labels == label).astype(np.int64) for label in used)


def learned_coefficients(
    basis: PositionBasis, targets: ArrayLike, *, training_scale: int, weights: Sequence[Fraction | int] | None = None
) -> Numbers:
    """Where gradient descent on squared loss from p = 0 ends, trained on the inputs with n(x) <= N0 [F].

    Given n(x) = j the inputs x_1..x_j are uncorrelated under the uniform law, so the loss is
    sum over j <= N0 of w_j sum over i <= j of (A_ij - A*_ij)^2 with w_j = P(n(x) = j). The end is the minimiser of
    least Euclidean norm in p. For a target in the span of the U_k no weight matters, nor does any other law whose
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
        raise PlaaError(f"training up to scale {training_scale} takes as many positive weights, not {law}")
    seen, wanted = _training_system(basis, targets, training_scale)
    _, queries = np.triu_indices(training_scale)
    weighted = seen.T * np.array([Fraction(law[query]) for query in queries], dtype=object)
    normal = weighted @ seen
    # The minimiser of least norm lies in the row space of the seen cells, which is the range of the normal matrix.
    multiplier = _solve(normal @ normal, weighted @ wanted)
    return _unflatten(normal @ multiplier, targets)


def min_degree_interpolator(basis: PositionBasis, targets: ArrayLike, *, training_scale: int) -> Numbers:
    """The coefficients of the min-degree interpolator w.r.t. the functions f_{U_k}: [..., N, N] -> Fractions [..., r].

    The degree profile is minimised one degree at a time, from the largest down, over the affine space of all
    interpolators [F].

    Raises:
        PlaaError: a target is not square, real, finite and upper triangular, the sizes differ, N0 is not in 1..N, or no
            coefficients fit a target on the training set.
    """
    seen, wanted = _training_system(basis, targets, training_scale)
    if _rank(np.hstack([seen, wanted])) > _rank(seen):
        raise PlaaError("no coefficients of the basis fit the target on the training set: pass a target in its span")
    found, free = _solve(seen, wanted), _null_space(seen)
    for at_degree in sorted(set(basis.degrees), reverse=True):
        block = [k for k, degree_of_k in enumerate(basis.degrees) if degree_of_k == at_degree]
        directions = free[block]
        step = _solve(directions.T @ directions, -(directions.T @ found[block]))
        found = found + free @ step
        free = free @ _null_space(directions)
    return _unflatten(found, targets)


def degrees_separate(basis: PositionBasis, *, training_scale: int) -> bool:
    """Whether the training set keeps functions of different degree apart [F].

    That is, the spans that the f_{U_k} of each degree have on the training set are independent:
    rank(all) = sum over degrees of the rank. It holds where the U_k that do not vanish there stay independent, as those
    of a relation do. Exactly then is the end of gradient descent the min-degree interpolator of every target in the
    span: the first is orthogonal to the kernel of p -> (training set), the second to the graded space of the same
    dimension that the lexicographic minimum makes of it, and the two spaces are equal iff the kernel is graded.

    Raises:
        PlaaError: N0 is not in 1..N.
    """
    seen = basis.seen(training_scale)
    blocks = [[k for k, d in enumerate(basis.degrees) if d == at_degree] for at_degree in set(basis.degrees)]
    return _rank(seen) == sum(_rank(seen[:, block]) for block in blocks)


def _training_system(basis: PositionBasis, targets: ArrayLike, training_scale: int) -> tuple[Numbers, Numbers]:
    """Seen cells of the basis [cells, r] and of the targets [cells, number of targets]."""
    patterns = _exact(_patterns(targets))
    if patterns.shape[-1] != basis.size:
        raise PlaaError(f"targets {patterns.shape} do not fit a basis of matrices of size {basis.size}")
    cells = _cells(patterns, training_scale)
    return basis.seen(training_scale), cells.reshape(-1, cells.shape[-1]).T


def _unflatten(columns: Numbers, targets: ArrayLike) -> Numbers:
    return columns.T.reshape(*np.shape(targets)[:-2], len(columns))


def _cells(patterns: Numbers, training_scale: int) -> Numbers:
    if not 1 <= training_scale <= patterns.shape[-1]:
        raise PlaaError(f"the training scale must be in 1..{patterns.shape[-1]}, not {training_scale}")
    return np.asarray(patterns[..., *np.triu_indices(training_scale)])


def _patterns(matrices: ArrayLike) -> Numbers:
    """A stack [..., N, N] of upper triangular real matrices, checked; anything but floats becomes Python numbers."""
    # Lists stay what they are: numpy would turn mixed or large integers into floats.
    stack = matrices if isinstance(matrices, np.ndarray) else np.array(matrices, dtype=object)
    if stack.ndim < 2 or stack.shape[-1] != stack.shape[-2] or not stack.shape[-1]:
        raise PlaaError(f"a matrix of PLAA must be square, not of shape {stack.shape}")
    numbers = stack if stack.dtype.kind == "f" else stack.astype(object)
    strangers = {type(entry).__name__ for entry in numbers.flat if not isinstance(entry, _REAL)}
    if strangers or np.not_equal(numbers, numbers).any():
        raise PlaaError(f"a matrix of PLAA must hold real numbers, not {', '.join(sorted(strangers)) or 'a NaN'}")
    if np.tril(numbers != 0, -1).any():
        raise PlaaError("a matrix of PLAA must be upper triangular: rows are keys i, columns queries j, and i <= j")
    return numbers


def _pattern(matrix: ArrayLike) -> Numbers:
    """One matrix, checked and exact."""
    pattern = _patterns(matrix)
    if pattern.ndim != 2:
        raise PlaaError(f"one matrix is taken at a time here, not a stack of shape {pattern.shape}")
    return _exact(pattern)


def _exact(numbers: Numbers) -> Numbers:
    try:
        return np.asarray(np.frompyfunc(_fraction, 1, 1)(numbers))
    except OverflowError as error:
        raise PlaaError("exact computation takes finite numbers only") from error


def _fraction(number: Any) -> Fraction:
    return Fraction(number.item() if isinstance(number, np.generic) else number)


def _reduced(matrix: Numbers) -> tuple[list[list[Fraction]], list[int]]:
    """The reduced row echelon form and its pivot columns."""
    rows, pivots = [list(map(Fraction, row)) for row in matrix], list[int]()
    for column in range(matrix.shape[1]):
        rank = len(pivots)
        chosen = next((row for row in range(rank, len(rows)) if rows[row][column]), None)
        if chosen is None:
            continue
        rows[rank], rows[chosen] = rows[chosen], rows[rank]
        lead = rows[rank][column]
        rows[rank] = [entry / lead for entry in rows[rank]]
        for row, factor in enumerate([line[column] for line in rows]):
            if row != rank and factor:
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[rank], strict=True)]
        pivots.append(column)
    return rows, pivots


def _rank(matrix: Numbers) -> int:
    return len(_reduced(matrix)[1])


def _solve(matrix: Numbers, right: Numbers) -> Numbers:
    """One solution of matrix @ X = right, which must have some, with zeros in the free unknowns."""
    unknowns = matrix.shape[1]
    rows, pivots = _reduced(np.hstack([matrix, right]))
    solution = np.full((unknowns, right.shape[1]), Fraction(0), dtype=object)
    for row, pivot in zip(rows, pivots, strict=False):
        if pivot < unknowns:
            solution[pivot] = row[unknowns:]
    return solution


def _null_space(matrix: Numbers) -> Numbers:
    """A basis of the kernel, in columns."""
    unknowns = matrix.shape[1]
    rows, pivots = _reduced(matrix)
    free = [column for column in range(unknowns) if column not in pivots]
    kernel = np.full((unknowns, len(free)), Fraction(0), dtype=object)
    for at, column in enumerate(free):
        kernel[column, at] = Fraction(1)
        kernel[pivots, at] = [-row[column] for row, _ in zip(rows, pivots, strict=False)]
    return kernel
