"""Squared-error problem of position-only linear attention on finite, possibly noisy samples.

`lengthgen.theory.pola.population` is its limit for noise-free data with identity second moments.
"""

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.label_classes import label_classes
from lengthgen.theory.learners import QuadraticProblem

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def from_samples(tokens: Array, outputs: Array, labels: Labels, lengths: NDArray[np.int64]) -> QuadraticProblem:
    """Mean over samples of the squared error summed over the queries j <= n_s, for finite, possibly noisy data.

    Only the second moments of each query enter: besides H and a copy of the tokens, memory is one block [N0 e, N0 e].

    Args:
        tokens: x, float64 [S, N0] or [S, N0, e]; not read beyond each sample's length.
        outputs: y, float64 [S, N0], or [S, N0, d] for vector tokens; not read beyond each sample's length.
        labels: int64 [n, n] with n >= N0; labels that do not occur in the data have zero rows in H.
        lengths: n_s, int64 [S], in 1..N0.

    Returns:
        The problem of K labels, with b [K] and H [K, K]; for vector tokens b [d, K e] and H [K e, K e].

    Raises:
        LengthgenError: the shapes do not fit, there is no sample, a length is not in 1..N0, or an entry is not finite.
    """
    classes = label_classes(labels)
    vectors, output_vectors = _as_vectors(tokens, outputs, labels, lengths)
    samples, scale, inputs = vectors.shape
    hessian = np.zeros((classes.count * inputs, classes.count * inputs))
    linear = np.zeros((classes.count * inputs, output_vectors.shape[-1]))
    constant = np.zeros(output_vectors.shape[-1])
    for query in range(scale):
        in_use = lengths > query
        keys = vectors[in_use, : query + 1].reshape(in_use.sum(), (query + 1) * inputs)
        targets = output_vectors[in_use, query]
        parameter_index = classes.number[: query + 1, query, None] * inputs + np.arange(inputs)
        columns = parameter_index.ravel()
        np.add.at(hessian, (columns[:, None], columns), keys.T @ keys / samples)
        np.add.at(linear, columns, keys.T @ targets / samples)
        constant += (targets**2).sum(axis=0) / samples
    if tokens.ndim == 2:
        return QuadraticProblem(hessian=hessian, linear=linear[:, 0], constant=constant[0])
    return QuadraticProblem(hessian=hessian, linear=linear.T, constant=constant)


def _as_vectors(tokens: Array, outputs: Array, labels: Labels, lengths: NDArray[np.int64]) -> tuple[Array, Array]:
    """Tokens [S, N0, e] and outputs [S, N0, d]."""
    samples, scale = tokens.shape[:2] if tokens.ndim in (2, 3) else (0, 0)
    fits = outputs.ndim == tokens.ndim and outputs.shape[:2] == (samples, scale) and lengths.shape == (samples,)
    if not fits or not samples or not 1 <= scale <= len(labels):
        shapes = f"tokens {tokens.shape}, outputs {outputs.shape}, lengths {lengths.shape}, labels {labels.shape}"
        raise LengthgenError(f"{shapes} do not fit: pass x, y [S, N0] (or [S, N0, e], [S, N0, d]), [S], [n, n]")
    if not ((lengths >= 1) & (lengths <= scale)).all():
        raise LengthgenError(f"the length of every sample must be in 1..{scale}, the width of the tokens")
    if tokens.ndim == 2:
        return tokens[:, :, None], outputs[:, :, None]
    return tokens, outputs
