"""Position-only linear attention with advice (PLAA): its values and its Fourier expansion (arXiv 2410.08898).

For x in {+1, -1}^N the advice n(x) is the last index with x_i = -1, and f_A(x) = x^T A e_n(x) with A upper triangular.
On the all-ones input, which has no advice, f_A is 0 [P]. So f_A(x) is the output of POLA at the query n(x).

`lengthgen.theory.min_degree` has the encodings and what gradient descent learns under them.
"""

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.errors import LengthgenError

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
