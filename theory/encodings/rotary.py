"""Rotary encodings: every plane of queries and keys is moved by a matrix of the position; scores see the distance.

RoPE rotates each plane by an angle proportional to the position; position interpolation, NTK-aware scaling and YaRN
change its frequencies for longer texts, xPos damps it, and SWAT adds biases and another normaliser.  The papers write
the query at m and the key at n; here the query is at j and the key at i, at the distance D = j - i.  Planes are
l = 0 .. d/2 - 1.  Learned planes are in `grape`, boosts in `hope`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

import sympy as sp

from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import (
    DISTANCE_LAWS,
    ONE_LAW,
    Actions,
    Encoding,
    Law,
    Normaliser,
    Option,
    Parameter,
    Properties,
    Recovery,
)
from lengthgen.theory.relation import clipped_relative, from_function, relative

FREQUENCY = sp.Symbol("theta", positive=True)

Layout = Literal["interleaved", "halves"]
"""Coordinates that form plane l: (2l, 2l + 1), as in the paper, or (l, l + d/2), as in most model code.  [P]"""

BASE = Option(default=10000.0, least=1e-3, most=1e300)
ROTATION_OPTIONS = {"base": BASE, "layout": Option(default="interleaved", words=("interleaved", "halves"))}
STRETCH = Option(default=2.0, least=1e-3, most=1e6)
"""Option: new length over trained length."""

PlaneFunction = Callable[[sp.Expr], sp.Expr]
"""Function of the index of a plane."""


def rotation(angle: sp.Expr) -> sp.Matrix:
    """Rotation R2(t) = [[cos t, -sin t], [sin t, cos t]] = exp(t J2), J2 = [[0, -1], [1, 0]]; 2 x 2.  [P]"""
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def frequency(plane: sp.Expr | int, *, head_dim: sp.Expr | int, base: sp.Expr | int = 10000) -> sp.Expr:
    """Frequency theta_l = base^(-2l/d), for numbers and for symbols.  [P]"""
    return sp.sympify(base) ** (-2 * sp.sympify(plane) / head_dim)


def frequencies(head_dim: int, base: sp.Expr | int = 10000) -> tuple[sp.Expr, ...]:
    """Exact frequency of each plane, l = 0 .. d/2 - 1.  [P]

    Raises:
        ValueError: `head_dim` is not a positive even number.
    """
    if head_dim <= 0 or head_dim % 2:
        raise ValueError(f"head_dim must be a positive even number, not {head_dim}")
    return tuple(frequency(plane, head_dim=head_dim, base=base) for plane in range(head_dim // 2))


def score(
    query: Sequence[sp.Expr],
    key: Sequence[sp.Expr],
    *,
    query_position: sp.Expr,
    key_position: sp.Expr,
    frequency: sp.Expr,
) -> sp.Expr:
    """Score (R2(j w) q) . (R2(i w) k) of one plane, with j the query and i the key position.  [P]"""
    turned_query = rotation(query_position * frequency) * sp.Matrix(query)
    turned_key = rotation(key_position * frequency) * sp.Matrix(key)
    return turned_query.dot(turned_key)


def partial_sum(terms: PlaneFunction, count: sp.Expr) -> sp.Sum:
    """Partial sum S_count of the terms of planes 0 .. count - 1, unevaluated.  [P]"""
    plane = sp.Symbol("l", integer=True)
    return sp.Sum(terms(plane), (plane, 0, count - 1))


def by_parts(content: PlaneFunction, sums: PlaneFunction, planes: sp.Expr) -> sp.Sum:
    """Sum of (h_l - h_(l+1)) S_(l+1), unevaluated (summation by parts).

    It equals the sum of h_l z_l if S are the partial sums of z and h ends with 0.  [P]
    """
    return partial_sum(lambda plane: (content(plane) - content(plane + 1)) * sums(plane + 1), planes)


def decay_bound(content: Sequence[sp.Expr], angles: Sequence[sp.Expr]) -> sp.Expr:
    """Decay bound: max |h_(l+1) - h_l| times the sum of |S_(l+1)|, with h_(d/2) = 0.  [P]

    S are the partial sums of e^(i angle).  The bound holds for |sum of h_l e^(i angle_l)|, and so for the score, where
    angle_l is D theta_l and h_l is the product of the planes of query and key as complex numbers.
    """
    steps = [
        abs(current - following) for current, following in zip(content, (*content[1:], sp.Integer(0)), strict=True)
    ]
    return sp.Max(*steps) * sp.Add(*(_absolute_sum(angles[: plane + 1]) for plane in range(len(angles))))


def _absolute_sum(angles: Sequence[sp.Expr]) -> sp.Expr:
    """Absolute value |sum of e^(i angle)|."""
    return sp.sqrt(sp.Add(*map(sp.cos, angles)) ** 2 + sp.Add(*map(sp.sin, angles)) ** 2)


def period(plane: sp.Expr | int, *, head_dim: sp.Expr | int, base: sp.Expr | int) -> sp.Expr:
    """Period 2 pi / theta_l: number of positions in which plane l makes one full turn.  [F]"""
    return 2 * sp.pi / frequency(plane, head_dim=head_dim, base=base)


def last_full_turn(length: sp.Expr | int, *, head_dim: sp.Expr | int, base: sp.Expr | int) -> sp.Expr:
    """Plane index d log(L / 2 pi) / (2 log base); planes beyond it make less than one turn in L positions.  [F]"""
    return head_dim * sp.log(sp.sympify(length) / (2 * sp.pi)) / (2 * sp.log(base))


def coordinates(plane: sp.Expr | int, *, head_dim: sp.Expr | int, layout: Layout) -> tuple[sp.Expr, sp.Expr]:
    """Indices of the two coordinates of the head that form plane l.  [P]"""
    first = sp.sympify(plane)
    return (2 * first, 2 * first + 1) if layout == "interleaved" else (first, first + sp.sympify(head_dim) / 2)


def to_halves(head_dim: int) -> tuple[int, ...]:
    """Permutation between the layouts: entry c is the place in "halves" of coordinate c of "interleaved".  [F]"""
    moves: list[tuple[sp.Expr, sp.Expr]] = []
    for plane in range(head_dim // 2):
        interleaved = coordinates(plane, head_dim=head_dim, layout="interleaved")
        moves += zip(interleaved, coordinates(plane, head_dim=head_dim, layout="halves"), strict=True)
    return tuple(int(place) for _, place in sorted(moves))


ROPE = Encoding(
    name="rope",
    title="RoPE",
    arxiv="2104.09864",
    aliases=("rotary",),
    summary="rotary",
    options=ROTATION_OPTIONS,
    caveat=ONE_LAW,
    planes="head",
    parameters=(Parameter(FREQUENCY, "angle of the plane in one step, from `frequencies`"),),
    rotate=lambda position, _: (rotation(position * FREQUENCY), rotation(position * FREQUENCY)),
    relation=relative(),
    laws=DISTANCE_LAWS,
    properties=Properties(far="oscillates"),
)
"""RoPE.  Source: Su et al., RoFormer, arXiv 2104.09864."""


SHRINK = sp.Symbol("u", positive=True)


def interpolated_position(index: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    """Interpolated position index / s, with s = L'/L.  [P]"""
    return index / scale


def interpolated_frequencies(head_dim: int, base: int, *, scale: sp.Expr) -> tuple[sp.Expr, ...]:
    """Frequencies theta_l / s: RoPE with these at the indices equals RoPE at the interpolated positions.  [F]"""
    return tuple(frequency / scale for frequency in frequencies(head_dim, base))


def linear_interpolation(at: sp.Expr, *, ends: Sequence[sp.Expr], values: Sequence[sp.Expr]) -> sp.Expr:
    """Linear interpolation a_linear: the straight line through `values` at the two `ends`.  [P]"""
    (left, right), (first, last) = ends, values
    return ((right - at) * first + (at - left) * last) / (right - left)


def error_constant(frequencies: Iterable[sp.Expr]) -> sp.Expr:
    """Least K with |a - a_linear| <= K max|h| (x - x1)(x2 - x) for all h: half the sum of theta_l^2.  [F]"""
    return sp.Add(*(frequency**2 for frequency in frequencies)) / 2


def printed_error_constant(*, head_dim: sp.Expr | int, base: sp.Expr | int) -> sp.Expr:
    """Constant d / (8 ln c) of Theorem 2.1, as printed in the paper.  [P]"""
    return head_dim / (8 * sp.log(base))


def closed_error_constant(*, head_dim: sp.Expr | int, base: sp.Expr | int) -> sp.Expr:
    """Closed form 1 / (2 (1 - c^(-4/d))): the least constant divided by 1 - c^(-2).  [F]"""
    return 1 / (2 * (1 - sp.sympify(base) ** (sp.Integer(-4) / head_dim)))


def sum_of_squared_frequencies(*, head_dim: sp.Expr | int, base: sp.Expr | int) -> sp.Expr:
    """Sum of theta_l^2 = c^(-4l/d) over the d/2 planes, (1 - c^(-2)) / (1 - c^(-4/d)).  [F]"""
    return (1 - sp.sympify(base) ** -2) / (1 - sp.sympify(base) ** (sp.Integer(-4) / head_dim))


INTERPOLATION = replace(
    ROPE,
    name="interpolation",
    title="Position interpolation",
    arxiv="2306.15595",
    aliases=("pi", "position-interpolation"),
    summary="rotary, positions divided",
    options={**ROTATION_OPTIONS, "scale": STRETCH},
    parameters=(*ROPE.parameters, Parameter(SHRINK, "1/s, trained length over new length")),
    positions=lambda index, _: interpolated_position(index, scale=1 / SHRINK),
    recovers=(Recovery("rope", {SHRINK: sp.Integer(1)}),),
)
"""Position interpolation: RoPE at positions divided by s = L'/L, so that L' of them lie within the trained length L.

Source: Chen, Wong, Chen, Tian, arXiv 2306.15595.  The paper's score of a head is a(x) = Re sum_l h_l e^(i x theta_l),
with x the distance of query and key.  Its Theorem 2.1 bounds |a - a_linear| between two distances.  The paper's other
bound, for |a| at distances outside training, is `decay_bound`.
"""


NTK_FACTOR = sp.Symbol("g", positive=True)
NTK_FACTOR_AT = sp.Function("g", positive=True)
NTK_SHARE = sp.Symbol("w", nonnegative=True)
NTK_TRAINED_LENGTH = sp.Symbol("L", integer=True, positive=True)
NTK_GROWTH = sp.Symbol("alpha", positive=True)
_SCALE = sp.Symbol("s", positive=True)


def ntk_base(base: sp.Expr, *, head_dim: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """Scaled base b' = b s^(d/(d-2)).  [P]"""
    return base * scale ** (head_dim / (head_dim - 2))


def ntk_share(plane: sp.Expr, *, head_dim: sp.Expr) -> sp.Expr:
    """Exponent 2l/(d-2) of 1/s in the slow-down of plane l: 0 for the fastest, 1 for the slowest.  [F]"""
    return 2 * plane / (head_dim - 2)


def ntk_factor(share: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    """Factor s^(-2l/(d-2)) by which the scaled base multiplies the frequency of plane l.  [F]"""
    return scale**-share


def ntk_frequencies(head_dim: int, base: int, *, scale: sp.Expr) -> tuple[sp.Expr, ...]:
    """Frequencies b'^(-2l/d): those of RoPE with the scaled base; d is even and above 2.  [P]"""
    scaled = ntk_base(sp.Integer(base), head_dim=sp.Integer(head_dim), scale=scale)
    return frequencies(head_dim, scaled)


def dynamic_ntk_scale(length: sp.Expr, *, trained_length: sp.Expr, growth: sp.Expr) -> sp.Expr:
    """Scale s = max(1, alpha T/L - (alpha - 1)) for a sequence of T tokens.  [P, code]

    The code of transformers calls alpha `factor`.
    """
    return sp.Max(1, growth * length / trained_length - (growth - 1))


def _ntk_actions(position: sp.Expr) -> Actions:
    """Matrices that act on a query and on a key at a position: a rotation."""
    turn = rotation(position * FREQUENCY)
    return turn, turn


def _dynamic_ntk_scale(length: sp.Expr) -> sp.Expr:
    """Dynamic scale of a sequence of this length."""
    return dynamic_ntk_scale(length, trained_length=NTK_TRAINED_LENGTH, growth=NTK_GROWTH)


def _distance_and_length(key: int, query: int, length: int) -> int:
    """Integer that is unique for each pair of distance and length (Cantor pairing)."""
    distance = query - key
    diagonal = distance + length
    return diagonal * (diagonal + 1) // 2 + distance


NTK = replace(
    ROPE,
    name="ntk",
    title="NTK-aware scaling",
    arxiv="2309.00071",
    aliases=("ntk-aware",),
    summary="rotary, base enlarged (NTK-aware)",
    options={**ROTATION_OPTIONS, "scale": STRETCH},
    parameters=(*ROPE.parameters, Parameter(NTK_FACTOR, "factor of the frequency of the plane, from `ntk_factor`")),
    rotate=lambda position, _: _ntk_actions(position * NTK_FACTOR),
    recovers=(Recovery("rope", {NTK_FACTOR: sp.Integer(1)}),),
)
"""NTK-aware scaling: RoPE with a larger base, so that slow planes are interpolated and fast ones stay unchanged.

Source: the rule b' = b s^(d/(d-2)) as YaRN (Peng et al., arXiv 2309.00071) states it.
"""

DYNAMIC_NTK = replace(
    ROPE,
    name="dynamic-ntk",
    title="Dynamic NTK scaling",
    arxiv="2309.00071",
    aliases=(),
    summary="rotary, base enlarged with the length",
    options={**ROTATION_OPTIONS, "factor": Option(default=1.0, least=1e-3, most=1e6)},
    parameters=(
        *ROPE.parameters,
        Parameter(NTK_FACTOR_AT, "factor of the frequency of the plane at each scale, from `ntk_factor`"),
        Parameter(NTK_TRAINED_LENGTH, "trained length"),
        Parameter(NTK_GROWTH, "how fast the scale grows with the length"),
    ),
    rotate=lambda position, length: _ntk_actions(position * NTK_FACTOR_AT(_dynamic_ntk_scale(length))),
    relation=from_function(_distance_and_length, name="relative at each length", scale_hint=True),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.NORM),
    properties=Properties(far="oscillates", width="none"),
    recovers=(Recovery("rope", {NTK_FACTOR_AT: sp.Lambda(_SCALE, ntk_factor(NTK_SHARE, scale=_SCALE))}, within=True),),
)
"""NTK-aware scaling with a base that grows with the sequence: "dynamic" of modeling_rope_utils in transformers."""


YARN_KEPT = sp.Symbol("gamma", nonnegative=True)
"""Share of its frequency that a plane keeps."""


def yarn_turns(frequency: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Number of turns r = L theta / (2 pi) of a plane within the trained length.  [P]"""
    return trained_length * frequency / (2 * sp.pi)


def yarn_ramp(turns: sp.Expr, *, alpha: sp.Expr, beta: sp.Expr) -> sp.Expr:
    """Ramp gamma(r) = (r - alpha) / (beta - alpha), clipped to 0 .. 1.  [P]"""
    return sp.Max(0, sp.Min(1, (turns - alpha) / (beta - alpha)))


def yarn_plane_with(turns: sp.Expr, *, head_dim: sp.Expr, base: sp.Expr, trained_length: sp.Expr) -> sp.Expr:
    """Plane index c(n) = d ln(L / (2 pi n)) / (2 ln b), not an integer, of a plane that turns n times.  [P, code]"""
    return last_full_turn(trained_length / turns, head_dim=head_dim, base=base)


def yarn_index_range(
    head_dim: int, base: int, *, trained_length: int, alpha: sp.Expr, beta: sp.Expr
) -> tuple[sp.Expr, sp.Expr]:
    """Planes (max(floor c(beta), 0), min(ceil c(alpha), d - 1)) between which the index ramp decreases.  [P, code]

    Raises:
        ValueError: no plane is left between the two, so that the ramp of the code is not defined.
    """
    fast, slow = (
        yarn_plane_with(turns, head_dim=sp.Integer(head_dim), base=sp.Integer(base), trained_length=trained_length)
        for turns in (beta, alpha)
    )
    first, last = sp.Max(sp.floor(fast), 0), sp.Min(sp.ceiling(slow), head_dim - 1)
    if first >= last:
        raise ValueError(f"no ramp: it would fall from plane {first} to plane {last}")
    return first, last


def yarn_index_ramp(plane: sp.Expr, *, first: sp.Expr, last: sp.Expr) -> sp.Expr:
    """Ramp gamma_l = 1 - (l - first) / (last - first), clipped to 0 .. 1.  [P, code]"""
    return 1 - sp.Max(0, sp.Min(1, (plane - first) / (last - first)))


def yarn_frequency(frequency: sp.Expr, *, kept: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """Blended frequency (1 - gamma) theta / s + gamma theta.  [P]"""
    return (1 - kept) * frequency / scale + kept * frequency


def yarn_magnitude(scale: sp.Expr) -> sp.Expr:
    """Factor sqrt(1/t) = 0.1 ln s + 1 by which queries and keys are multiplied, for s >= 1.  [P]"""
    return sp.log(scale) / 10 + 1


def _yarn_action(position: sp.Expr) -> sp.Matrix:
    """Matrix that acts on a query and on a key at a position, 2 x 2."""
    turned = rotation(position * yarn_frequency(FREQUENCY, kept=YARN_KEPT, scale=1 / SHRINK))
    return yarn_magnitude(1 / SHRINK) * turned


YARN = replace(
    ROPE,
    name="yarn",
    title="YaRN",
    arxiv="2309.00071",
    aliases=(),
    summary="rotary, slow planes stretched (YaRN)",
    options={
        **ROTATION_OPTIONS,
        "scale": STRETCH,
        "ramp": Option(default="paper", words=("paper", "code")),
        "alpha": Option(default=1.0, least=0, most=1e6),
        "beta": Option(default=32.0, least=0, most=1e6),
    },
    parameters=(
        *ROPE.parameters,
        Parameter(SHRINK, "1/s, trained length over new length", domain=sp.Interval.Lopen(0, 1)),
        Parameter(
            YARN_KEPT,
            "share of the frequency that the plane keeps, from `yarn_ramp` or `yarn_index_ramp`",
            domain=sp.Interval(0, 1),
        ),
    ),
    rotate=lambda position, _: (_yarn_action(position), _yarn_action(position)),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.STREAMING),
    recovers=(Recovery("rope", {SHRINK: sp.Integer(1)}),),
)
"""YaRN: slow planes of RoPE are interpolated, fast ones stay unchanged; queries and keys are scaled by a constant.

Slow planes turn seldom within the trained length.  Source: Peng, Quesnelle, Fan, Shippole, arXiv 2309.00071.  The paper
blends by the number of turns of a plane (`yarn_ramp`), the released code by its index (`yarn_index_ramp`).
"""


XPOS_RATE = sp.Symbol("lambda", positive=True)


def xpos_zeta(plane: sp.Expr | int, *, head_dim: sp.Expr | int) -> sp.Expr:
    """Decay base (2l/d + 0.4) / 1.4 of plane l.  [P]"""
    return (2 * sp.sympify(plane) / head_dim + sp.Rational(2, 5)) / sp.Rational(7, 5)


def xpos_rate(plane: sp.Expr | int, *, head_dim: sp.Expr | int, scale_base: int = 512) -> sp.Expr:
    """Decay rate -log(zeta_l) / 512, so that zeta^(n/512) = exp(-n rate).  [F]"""
    return -sp.log(xpos_zeta(plane, head_dim=head_dim)) / scale_base


def xpos_actions(position: sp.Expr, *, frequency: sp.Expr, rate: sp.Expr) -> Actions:
    """Matrices exp(-n rate) R2(n w) for the query and exp(n rate) R2(n w) for the key, both at position n.  [P]"""
    turn = rotation(position * frequency)
    return sp.exp(-position * rate) * turn, sp.exp(position * rate) * turn


def xpos_kernel(offset: sp.Expr, *, frequency: sp.Expr, rate: sp.Expr) -> sp.Matrix:
    """Kernel X(D) = exp(-D rate) R2(D w); the score is k^T X(j - i) q.  [P]"""
    return sp.exp(-offset * rate) * rotation(offset * frequency)


def xpos_first_infinite_key(
    plane: sp.Expr | int, *, head_dim: sp.Expr | int, ends: sp.Expr | int, scale_base: int = 512
) -> int:
    """First position n >= 1 whose key factor zeta_l^(-n/512) is at least `ends`, n = ceil(log(ends) / rate).  [F]

    `ends` is the number that a floating-point format rounds to infinity.
    """
    return int(sp.ceiling(sp.log(ends) / xpos_rate(plane, head_dim=head_dim, scale_base=scale_base)))


XPOS = Encoding(
    name="xpos",
    title="xPos",
    arxiv="2212.10554",
    summary="rotary with decay (xPos)",
    options={**ROTATION_OPTIONS, "scale_base": Option(default=512.0, least=1e-3, most=1e300)},
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        Parameter(FREQUENCY, "angle of the plane in one step, from `frequencies`"),
        Parameter(XPOS_RATE, "decay rate of the plane in one step, from `xpos_rate`"),
    ),
    rotate=lambda position, _: xpos_actions(position, frequency=FREQUENCY, rate=XPOS_RATE),
    relation=relative(),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.STREAMING),
    properties=Properties(far="logit to 0, all alike", causal_only=True),
    recovers=(Recovery("rope", {XPOS_RATE: sp.Integer(0)}, attained=False),),
)
"""xPos: RoPE whose planes decay with the distance between query and key, each at its own rate.

Source: Sun et al., arXiv 2212.10554.  The query at j is scaled by zeta^(j/512), the key at i by zeta^(-i/512); here
zeta^(1/512) is written exp(-rate).
"""


SWAT_SLOPE = sp.Symbol("slope", real=True, nonzero=True)
SWAT_WINDOW = sp.Symbol("W", integer=True, positive=True)

SwatSlopes = Literal["balanced", "negative", "positive"]
SWAT_SLOPES = ("balanced", "negative", "positive")
"""Signs of the slopes: SWAT(-+), the paper's choice, SWAT(-) and SWAT(+).  [P]"""

_SWAT_WINDOW = 128
"""Window for which the description of the released code reports its results.  [P, code]"""


def swat_weight(logit: sp.Expr) -> sp.Expr:
    """Weight sigma(l) = 1 / (1 + e^-l) of a key with the logit l.  [P]"""
    return 1 / (1 + sp.exp(-logit))


def swat_slopes(heads: int, kind: SwatSlopes = "balanced") -> tuple[sp.Expr, ...]:
    """Exact slope of each head.

    Balanced: -2^-k for k = 1 .. ceil(H/2), then 2^-k for k = 1 .. floor(H/2).  The paper has an even H [P]; with an odd
    one there is one negative slope more [F].  Negative and positive: ALiBi's slopes with this sign; the released code
    has the positive ones where H is a power of two [P, code].

    Raises:
        ValueError: `heads` is not positive, or `kind` is none of the three.
    """
    if kind not in SWAT_SLOPES:
        raise ValueError(f"slopes must be {', '.join(SWAT_SLOPES)}, not {kind!r}")
    if heads <= 0:
        raise ValueError(f"heads must be positive, not {heads}")
    if kind == "balanced":
        sizes = [sp.Rational(1, 2**power) for power in range(1, (heads + 1) // 2 + 1)]
        return (*(-size for size in sizes), *sizes[: heads // 2])
    sign = -1 if kind == "negative" else 1
    return tuple(sign * slope for slope in biases.alibi_slopes(heads))


def swat_bias(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias s (j - i), with j the query and i the key position: that of ALiBi with the slope -s.  [P]"""
    return biases.alibi_bias(-slope, query_position=query_position, key_position=key_position)


def swat_receptive_field(*, window: sp.Expr, layers: sp.Expr) -> sp.Expr:
    """Number 1 + (W - 1) L of tokens, itself included, on which the output of a token depends after L layers.  [P]"""
    return 1 + (window - 1) * layers


SWAT = Encoding(
    name="swat",
    title="SWAT",
    arxiv="2502.18845",
    summary="rotary and linear, sigmoid weights, window (SWAT)",
    options={
        "slopes": Option(default="balanced", words=SWAT_SLOPES),
        "window": Option(default=_SWAT_WINDOW, least=1, most=10**9),
        "base": BASE,
    },
    caveat=f"{ONE_LAW}; keys as many tokens back as the window, or more, share a label and have no weight",
    planes="head",
    parameters=(
        Parameter(FREQUENCY, "angle of the plane in one step, from `frequencies`"),
        Parameter(SWAT_SLOPE, "slope of the head, from `swat_slopes`"),
        Parameter(SWAT_WINDOW, "number of keys that a query sees, itself included"),
    ),
    rotate=ROPE.rotate,
    bias=lambda query_position, key_position, _: swat_bias(
        SWAT_SLOPE, query_position=query_position, key_position=key_position
    ),
    normaliser=Normaliser.SIGMOID,
    window=SWAT_WINDOW,
    relation=clipped_relative(_SWAT_WINDOW),
    relation_of=lambda circuit, window, **_: clipped_relative(window),
    laws=DISTANCE_LAWS,
    properties=Properties(
        far="slope < 0, D < W: falls exponentially; slope > 0, D < W: weight to 1, whatever the content; "
        "D >= W: no weight",
        causal_only=True,
        width="2",
    ),
)
"""SWAT: the logistic function of each logit in place of softmax, a window, RoPE, and linear biases of both signs.

Source: Fu et al., arXiv 2502.18845.  The weight of key i for query j is sigma((R(j) q . R(i) k) / sqrt(d) + s (j - i))
if i is among the last W tokens up to j, else 0; weights do not sum to 1.  Half of the heads have s < 0, which prefers
near keys as ALiBi does, and half s > 0, which prefers old ones.  The released layer with a sigmoid kernel is
`positive` here: all heads prefer old keys [P, code].
"""

ENCODINGS = (ROPE, XPOS, INTERPOLATION, NTK, DYNAMIC_NTK, YARN, SWAT)
