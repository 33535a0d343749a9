"""Position-only linear attention (POLA) and what it learns under a relation.

POLA computes f_A(x)_j = sum over i <= j of A_ij x_i, with A_ij = theta_phi(i,j) under a relation phi ([F] of arXiv
2510.04130, Def. 2). In theta it is a linear model. Its features are Z_(s,j),k = sum of x_i over the keys i <= j of
query j in sample s with phi(i, j) = k. So the squared loss is a `QuadraticProblem`, whose parameters are numbered as in `lengthgen.theory.relation`. Here the data are noise-free and of whole populations;
`lengthgen.theory.learning.pola` treats finite samples.

On noise-free data with unit second moments the loss decouples over labels. Gradient descent ends with every label met
in training at the mean of A over its class, and with every other label at its start ([F], "POLA and LRC" in
docs/theory/definitions.md; arXiv 2510.04130 Thm. 2 could not be read; `lengthgen.theory.learning.pola` derives it).

Vector tokens: A_ij is a matrix W_ij, [d, e], that maps tokens of size e to outputs of size d, and theta_k is [d, e].
Relations with scale hint are not supported here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, product
from math import lcm
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.learning.learners import QuadraticProblem, gradient_flow_limit
from lengthgen.theory.relation import NO_LABEL, Labels, label_classes

Array = NDArray[np.float64]


def attend(pattern: NDArray[Any], tokens: NDArray[Any]) -> NDArray[Any]:
    """POLA output f_A(x)_j = sum over i <= j of A_ij x_i.

    Args:
        pattern: A, [n, n], or W, [n, n, d, e], rows keys and columns queries; read on and above the diagonal only.
        tokens: x, [..., n], or [..., n, e] for vector tokens; numbers of any exact or floating type.

    Returns:
        [..., n], or [..., n, d].

    Raises:
        LengthgenError: the shapes do not fit.
    """
    size = pattern.shape[0] if pattern.ndim in (2, 4) else -1
    token_shape = (size, pattern.shape[3]) if pattern.ndim == 4 else (size,)
    if pattern.shape[:2] != (size, size) or tokens.shape[max(0, tokens.ndim - len(token_shape)) :] != token_shape:
        raise LengthgenError(
            f"pattern {pattern.shape} and tokens {tokens.shape} do not fit: pass A [n, n] and x [..., n], "
            "or W [n, n, d, e] and x [..., n, e]"
        )
    causal = np.triu(np.ones((size, size), dtype=bool))
    if pattern.ndim == 2:
        return np.asarray(tokens @ np.where(causal, pattern, 0))
    weights = np.where(causal[:, :, None, None], pattern, 0)
    return np.tensordot(tokens, weights, axes=((-2, -1), (0, 3)))


def population(
    target: NDArray[Any],
    labels: Labels,
    *,
    training_scale: int,
    scale_weights: ArrayLike | None = None,
    vector_tokens: bool = False,
) -> QuadraticProblem:
    """Quadratic loss on noise-free data whose tokens have identity second moments: H is diagonal, with entries m_k.

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
        The problem of K labels, with b [..., K] and H [K]; with vector_tokens b [..., d, K e] and H [K e].

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


SecondMoment = Callable[[sp.Expr, sp.Expr], sp.Expr]

KEY, QUERY, LABEL, TRAINING_SCALE = sp.symbols("i j l N0", integer=True, positive=True)
OTHER_KEY = KEY + sp.Symbol("s", integer=True, nonzero=True)
"""A key different from KEY: the shift is not zero."""
RELATION = sp.Function("phi", integer=True)
PARAMETERS, PATTERN, QUERY_WEIGHTS = (sp.IndexedBase(name, real=True) for name in ("theta", "A", "w"))

CLASS_WEIGHT, START = sp.Symbol("m", positive=True), sp.Symbol("theta0", real=True)
CLASS_MEAN, TIME = sp.Symbol("mu", real=True), sp.Symbol("t", nonnegative=True)
RATE, STEPS = sp.Symbol("eta", positive=True), sp.Symbol("k", integer=True, nonnegative=True)


def unit_second_moment(key: sp.Expr, other: sp.Expr) -> sp.Expr:
    """E[x_i x_h] = 1 if i = h, else 0: noise-free data that spans, in coordinates where it is white [F]."""
    return sp.KroneckerDelta(key, other)


def class_weight() -> sp.Expr:
    """Weight m_l of label l: the sum of w_j over the pairs i <= j <= N0 labelled l [F]."""
    return _over_pairs(QUERY_WEIGHTS[QUERY] * _INDICATOR)


def class_sum() -> sp.Expr:
    """Sum of w_j A_ij over the pairs i <= j <= N0 labelled l: m_l times the mean of A over the class [F]."""
    return _over_pairs(QUERY_WEIGHTS[QUERY] * PATTERN[KEY, QUERY] * _INDICATOR)


@dataclass(frozen=True, kw_only=True)
class Flow:
    """Gradient flow d theta_l / dt = -(slope theta_l + intercept) - cross of the parameter of one label l.

    Attributes:
        slope: a multiple of a sum over pairs.
        intercept: a multiple of a sum over pairs.
        cross: the contribution of two different keys at query j, before the sums over j and both keys; 0 iff the flow
            of one label does not depend on the parameters of the others.
    """

    slope: sp.Expr
    intercept: sp.Expr
    cross: sp.Expr

    def velocity(self, theta: sp.Expr) -> sp.Expr:
        """Flow without `cross` at theta_l = theta, with m and mu in place of the sums that define them."""
        names = {class_weight(): CLASS_WEIGHT, class_sum(): CLASS_WEIGHT * CLASS_MEAN}
        return sp.expand(-(self.slope.xreplace(names) * theta + self.intercept.xreplace(names)))

    def unseen_velocity(self, theta: sp.Expr) -> sp.Expr:
        """Flow without `cross` of a label that occurs in no training pair: all indicators phi(i, j) = l are 0."""
        never = {_INDICATOR: sp.Integer(0)}
        return -(self.slope.xreplace(never).doit() * theta + self.intercept.xreplace(never).doit())


def label_flow(second_moment: SecondMoment = unit_second_moment) -> Flow:
    """Flow of theta_l on the expected loss, by differentiation [F].

    A squared residual is a double sum over keys i, h: the pairs with i = h give slope and intercept, those with i != h
    give `cross`.
    """
    own = QUERY_WEIGHTS[QUERY] * _residual(KEY) ** 2 * second_moment(KEY, KEY)
    mixed = QUERY_WEIGHTS[QUERY] * _residual(KEY) * _residual(OTHER_KEY) * second_moment(KEY, OTHER_KEY)
    parameter = PARAMETERS[LABEL]
    # Differentiation gives the indicator phi(i, j) = l; where it is 1, theta_phi(i,j) equals theta_l.
    gradient = sp.expand(sp.diff(own, parameter).xreplace({PARAMETERS[RELATION(KEY, QUERY)]: parameter}))
    return Flow(
        slope=_over_pairs(gradient.coeff(parameter, 1)),
        intercept=_over_pairs(gradient.coeff(parameter, 0)),
        cross=sp.expand(sp.diff(mixed, parameter)),
    )


def constant_class_sum(value: sp.Expr) -> sp.Expr:
    """`class_sum` if A has one value on the class, with the value taken out of the sum [F]."""
    return _over_pairs(class_sum().function.xreplace({PATTERN[KEY, QUERY]: value}))


@cache
def flow_solution(flow: Flow) -> sp.Expr:
    """Value of theta_l at TIME of gradient flow from START; sympy solves the flow without `cross` [F]."""
    theta = sp.Function("theta_l")
    solved = sp.dsolve(sp.Eq(theta(TIME).diff(TIME), flow.velocity(theta(TIME))), theta(TIME), ics={theta(0): START})
    return sp.expand(solved.rhs)


@cache
def descent_solution(flow: Flow) -> sp.Expr:
    """Value of theta_l after STEPS steps of gradient descent at RATE from START, without `cross`; by sympy [F]."""
    theta = sp.Function("theta_l")
    step = theta(STEPS + 1) - theta(STEPS) - RATE * flow.velocity(theta(STEPS))
    return sp.expand(sp.rsolve(step, theta(STEPS), {theta(0): START}))


_INDICATOR = sp.KroneckerDelta(LABEL, RELATION(KEY, QUERY))


def _residual(key: sp.Expr) -> sp.Expr:
    """Error of the parameter of a key's label at QUERY."""
    return PARAMETERS[RELATION(key, QUERY)] - PATTERN[key, QUERY]


def _over_pairs(term: sp.Expr) -> sp.Expr:
    """Sum over the pairs i <= j <= N0; constant factors are taken out, so that equal sums have equal form."""
    constant, summand = term.as_independent(KEY, QUERY, QUERY_WEIGHTS, PATTERN)
    return constant * sp.Sum(summand, (KEY, 1, QUERY), (QUERY, 1, TRAINING_SCALE))


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


def cell_count(size: int) -> int:
    """Number of pairs i <= j <= n, d_n = n(n+1)/2: the dimension of the space of patterns of scale n."""
    return size * (size + 1) // 2


def kinds(cells: int) -> Iterator[tuple[int, ...]]:
    """Yield every way in which `cells` entries can be zero or equal: 0 for zero, 1, 2, ... for values by first use.

    Exactly S(cells + 1, k + 1) of them have k distinct non-zero values (Stirling numbers of the second kind).
    """
    if cells == 0:
        yield ()
        return
    for entries in kinds(cells - 1):
        for entry in range(max(entries, default=0) + 2):
            yield (*entries, entry)


def every_relation(size: int) -> Iterator[Labels]:
    """Yield the label matrices, int64 [size, size], of all relations on positions 1..size, up to renaming of labels."""
    for others in kinds(cell_count(size) - 1):
        labels = np.full((size, size), NO_LABEL, dtype=np.int64)
        labels[np.triu_indices(size)] = (0, *others)
        yield labels


def every_pattern(size: int, values: Sequence[float]) -> NDArray[np.float64]:
    """Stack of all patterns with entries among the given values: float64 [len(values) ** d_n, size, size]."""
    cells = np.array(list(product(values, repeat=cell_count(size))), dtype=np.float64)
    patterns = np.zeros((len(cells), size, size))
    patterns[:, *np.triu_indices(size)] = cells
    return patterns


def union_volume(centres: Sequence[Sequence[Fraction | int]], *, radius: Fraction, half_side: Fraction) -> Fraction:
    """Exact volume of a union of boxes within a cube, all in R^D with the max norm.

    The volume is vol( {y: |y - c| <= radius for some centre c} intersected with [-half_side, half_side]^D ). The ends
    of the boxes cut every axis into intervals, and each cell of that grid lies entirely inside or outside a box.

    Args:
        centres: at least one point of R^D; time and memory grow like (2 len(centres) + 1)^D at worst.
        radius: half the side of a box, positive.
        half_side: half the side of the cube, positive.

    Raises:
        LengthgenError: no centre, centres of different lengths, or a radius or half_side that is not positive.
    """
    if radius <= 0 or half_side <= 0:
        raise LengthgenError(f"boxes of radius {radius} in a cube of half side {half_side}: both must be positive")
    if len({len(centre) for centre in centres}) != 1:
        raise LengthgenError("the centres of the boxes must be one or more points of the same dimension")
    # Multiplied by the common denominator all lengths are integers, which are much faster than Fractions.
    scale = lcm(*(length.denominator for length in chain((radius, half_side), *centres)))
    reach, edge = int(radius * scale), int(half_side * scale)
    cuts, covered = [], []
    for coordinates in zip(*centres, strict=True):
        middles = [int(x * scale) for x in coordinates]
        ends = [tuple(min(max(end, -edge), edge) for end in (x - reach, x + reach)) for x in middles]
        axis = sorted({-edge, edge}.union(*ends))
        index_of_cut = {cut: index for index, cut in enumerate(axis)}
        cuts.append(axis)
        covered.append([slice(index_of_cut[low], index_of_cut[high]) for low, high in ends])
    inside = np.zeros([len(axis) - 1 for axis in cuts], dtype=bool)
    for box in zip(*covered, strict=True):
        inside[box] = True
    volume: Any = inside.astype(object)
    for axis in reversed(cuts):
        volume = volume @ np.diff(np.array(axis, dtype=object))
    return Fraction(volume, scale ** len(cuts))
