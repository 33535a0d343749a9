"""Position-only linear attention (POLA) and what it learns under a relation.

POLA computes f_A(x)_j = sum over i <= j of A_ij x_i, with A_ij = theta_phi(i,j) under a relation phi ([F] of arXiv
2510.04130, Def. 2). In theta it is a linear model. Its features are Z_(s,j),k = sum of x_i over the keys i <= j of
query j in sample s with phi(i, j) = k. So the squared loss is a `QuadraticProblem`, whose parameters are numbered as in
`lengthgen.theory.relation.LabelClasses`: that of whole populations without noise (`population`).

On noise-free data with unit second moments the loss decouples over labels. Gradient descent ends with every label met
in training at the mean of A over its class, and with every other label at its start ([F], "POLA and LRC" in
docs/theory/definitions.md; arXiv 2510.04130 Thm. 2 could not be read; `lengthgen.theory.learning.flow` derives it).

Vector tokens: A_ij is a matrix W_ij, [d, e], that maps tokens of size e to outputs of size d, and theta_k is [d, e].
Relations with scale hint are not supported here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.learning.learners import QuadraticProblem, gradient_flow_limit
from lengthgen.theory.relation import Labels, label_classes

Array = NDArray[np.float64]


def population(
    target: NDArray[Any],
    labels: Labels,
    *,
    training_scale: int,
    scale_weights: ArrayLike | None = None,
    vector_tokens: bool = False,
) -> QuadraticProblem:
    """Quadratic loss on noise-free data whose tokens have identity second moments: the Hessian has the entries m_k.

    L(theta) = sum of w_j |theta_phi(i,j) - A_ij|^2 over the pairs i <= j <= N0: the expected squared error of an
    instance, summed over its queries. w_j = sum of p_n over n >= j, and m_k is the weight of all pairs labelled k.

    Args:
        target: A, real [..., n, n]; with vector_tokens W, real [..., n, n, d, e].
        labels: int64 [n, n].
        training_scale: N0 in 1..n.
        scale_weights: p, [N0], the weights of scales 1..N0 in the data, not negative; if left out every instance has
            scale N0, so that all pairs have the same weight.
        vector_tokens: True if the entries of A are matrices.

    Returns:
        The problem of K labels, with b [..., K] and h [K]; with vector_tokens b [..., d, K e] and h [K e].

    Raises:
        LengthgenError: the shapes do not fit, training_scale is not in 1..n, or a weight is negative or not finite.
    """
    classes = label_classes(labels)
    stack = _scalar_targets(target, vector_tokens)
    if stack.shape[-2:] != labels.shape:
        raise LengthgenError(f"target {target.shape} and labels {labels.shape} must end in the same [n, n]")
    if not 1 <= training_scale <= len(labels):
        raise LengthgenError(f"the training scale must be in 1..{len(labels)}, not {training_scale}")
    query_weights = _query_weights(scale_weights, training_scale)
    in_training = classes.queries < training_scale
    weights = query_weights[classes.queries[in_training]]
    entries = stack[..., classes.keys[in_training], classes.queries[in_training]].astype(np.float64)
    hessian, linear = (classes.sum_by_label(values, in_training) for values in (weights, weights * entries))
    constant = (weights * entries**2).sum(axis=-1)
    if vector_tokens:
        *outer, inputs, count = linear.shape
        linear = np.swapaxes(linear, -1, -2).reshape(*outer, count * inputs)
        hessian, constant = np.repeat(hessian, inputs), constant.sum(axis=-1)
    return QuadraticProblem(hessian=hessian, linear=linear, constant=constant)


def pola_matrix(theta: Array, labels: Labels, *, vector_tokens: bool = False) -> Array:
    """POLA matrix of the parameters: A_ij = theta_phi(i,j), and 0 below the diagonal.

    Args:
        theta: float64 [..., K], as the learners return it; with vector_tokens [..., d, K e].
        labels: int64 [n, n].
        vector_tokens: True if the entries of A are matrices.

    Returns:
        float64 [..., n, n], or [..., n, n, d, e].

    Raises:
        LengthgenError: there are not K parameters, or with vector_tokens not a multiple of K.
    """
    classes = label_classes(labels)
    inputs, rest = divmod(theta.shape[-1], classes.count)
    if rest or inputs < 1 or (theta.ndim < 2 if vector_tokens else inputs > 1):
        raise LengthgenError(
            f"theta {theta.shape} does not fit {classes.count} labels: pass [..., K], or [..., d, K e] for vectors"
        )
    values = np.moveaxis(theta.reshape(*theta.shape[:-1], classes.count, inputs), -1, -2) if vector_tokens else theta
    matrix = np.zeros((*values.shape[:-1], *labels.shape))
    matrix[..., classes.keys, classes.queries] = values[..., classes.parameters]
    return np.moveaxis(matrix, (-4, -3), (-2, -1)) if vector_tokens else matrix


def learned_matrix(
    target: NDArray[Any],
    labels: Labels,
    *,
    training_scale: int,
    start: ArrayLike = 0.0,
    vector_tokens: bool = False,
) -> Array:
    """POLA matrix that gradient descent (at any rate that converges) ends at, on `population` data.

    Every label met in training is at the mean of its class, and every other at its start. From start 0 this is the
    min-norm least-squares fit.

    Args:
        target: patterns A, real [..., n, n], rows keys and columns queries; with vector_tokens W, [..., n, n, d, e].
        labels: the relation's label matrix, int64 [n, n] (`Relation.labels`).
        training_scale: N0 in 1..n; training sees the pairs i <= j <= N0, equally often.
        start: theta before training: one number, or one for each label, [K], in the order of the labels.
        vector_tokens: True if the entries of A are matrices; all entries of these matrices have the same start.

    Returns:
        float64 of the target's shape, zero below the diagonal.

    Raises:
        LengthgenError: the shapes do not fit, or training_scale is not in 1..n.
    """
    # With identity second moments every entry of W is a scalar problem of its own.
    stack = _scalar_targets(target, vector_tokens)
    problem = population(stack, labels, training_scale=training_scale)
    first = np.asarray(start, dtype=np.float64)
    if first.shape not in ((), problem.hessian.shape):
        raise LengthgenError(
            f"start {first.shape} does not fit: pass one number, or {len(problem.hessian)}, one per label"
        )
    learned = pola_matrix(gradient_flow_limit(problem, start=first), labels)
    return np.moveaxis(learned, (-4, -3), (-2, -1)) if vector_tokens else learned


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorByScale:
    """Error of a learned pattern against its target at scales 1..N.

    Attributes:
        risk: sum over i <= j <= n of |learned_ij - target_ij|^2, float64 [..., N]: the expected squared error of an
            instance of scale n, summed over its queries, above the noise.
        largest: the largest |learned_ij - target_ij| with i <= j <= n, over all entries of matrices; float64 [..., N].
    """

    risk: Array
    largest: Array


def error_by_scale(learned: NDArray[Any], target: NDArray[Any], *, vector_tokens: bool = False) -> ErrorByScale:
    """Error at every scale 1..N, for tokens with identity second moments [F].

    Args:
        learned: real [..., N, N]; with vector_tokens [..., N, N, d, e].
        target: real, of a shape that broadcasts with `learned`.
        vector_tokens: True if the entries of both are matrices.

    Raises:
        LengthgenError: the patterns are not square or of different size.
    """
    output, expected = _scalar_targets(learned, vector_tokens), _scalar_targets(target, vector_tokens)
    if output.shape[-2:] != expected.shape[-2:] or output.ndim < 2 or output.shape[-2] != output.shape[-1]:
        raise LengthgenError(f"patterns {learned.shape} and {target.shape} must both be square, and of one size")
    gap = np.abs(np.triu(output.astype(np.float64) - expected.astype(np.float64)))
    risk, largest = (gap**2).sum(axis=-2), gap.max(axis=-2)
    if vector_tokens:
        risk, largest = risk.sum(axis=(-3, -2)), largest.max(axis=(-3, -2))
    return ErrorByScale(risk=risk.cumsum(axis=-1), largest=np.maximum.accumulate(largest, axis=-1))


def _scalar_targets(target: NDArray[Any], vector_tokens: bool) -> NDArray[Any]:
    """Stack of scalar targets: [..., n, n] unchanged, or [..., n, n, d, e] as [..., d, e, n, n]."""
    if not vector_tokens:
        return target
    if target.ndim < 4:
        raise LengthgenError(f"a pattern of matrices must be [..., n, n, d, e], not of shape {target.shape}")
    return np.moveaxis(target, (-2, -1), (-4, -3))


def _query_weights(scale_weights: ArrayLike | None, training_scale: int) -> Array:
    """Weight w_j of each query: the sum of the scale weights p_n over n >= j; 1 if there are none."""
    if scale_weights is None:
        return np.ones(training_scale)
    weights = np.asarray(scale_weights, dtype=np.float64)
    if weights.shape != (training_scale,) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise LengthgenError(f"scale weights must be {training_scale} finite numbers >= 0, one per scale 1..N0")
    return weights[::-1].cumsum()[::-1]
