"""Position interpolation (arXiv 2306.15595): the effect of dividing positions, and the bounds that recommend it.

Theorem 2.1 bounds the error of interpolation between distances; its corrected constant has a closed form.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import flint
import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.facts import Formula, ball, derivative, same_by_sympy, short
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="Position interpolation", arxiv="2306.15595")
CLAIMS = PaperClaims(SOURCE)
DEFINITION = "definition of position interpolation"
THEOREM = "Theorem 2.1 (interpolation bound)"
BASE = 10000
_WIDTHS = (2, 4, 8)  # the frequencies of base 10^4 are rational at these widths
_PRINTED_WIDTHS = (128, 2)


@CLAIMS.claim(
    "pi-1",
    DEFINITION,
    r"R\big(\tfrac{n}{s}\,\theta_l\big) = R\big(n\,\tfrac{\theta_l}{s}\big)",
    label="P",
    assumptions=("u stands for 1/s", "plane by plane, so every even d follows"),
    falsifiers={
        "base times s": {
            "frequencies": lambda head_dim, base, scale: [
                theta * scale ** sp.Rational(-2 * plane, head_dim)
                for plane, theta in enumerate(rotary.frequencies(head_dim, base))
            ]
        },
        "frequencies times s": {
            "frequencies": lambda head_dim, base, scale: rotary.interpolated_frequencies(
                head_dim, base, scale=1 / scale
            )
        },
    },
)
def frequency_scaling(frequencies: Formula = rotary.interpolated_frequencies) -> Facts:
    """Dividing positions by s is the same as dividing every frequency of RoPE by s."""
    i, j, scale = sp.symbols("i j s", positive=True)
    for head_dim in _WIDTHS:
        listed, slowed = frequencies(head_dim, BASE, scale=scale), sp.Matrix(rotary.frequencies(head_dim, BASE)) / scale
        yield same_by_sympy(f"d = {head_dim}: frequencies = theta_l / s", sp.Matrix(listed), slowed)
    shrunk = rotary.FREQUENCY * rotary.SHRINK
    yield (
        "score at j/s, i/s and theta = score at j, i and theta/s",
        lambda: rotary.INTERPOLATION.score(query_position=j, key_position=i),
        rotary.score(QUERY, KEY, query_position=j, key_position=i, frequency=shrunk),
    )


def _aligned_error(at: sp.Expr, *, ends: tuple[sp.Expr, sp.Expr], centre: sp.Expr) -> sp.Expr:
    """Error f - f_linear of one plane with h = e^(-i centre theta), that is with a key rotated by `centre`."""
    query = sp.Matrix([1, 0])
    key = rotary.rotation(centre * rotary.FREQUENCY) * query

    def score(distance: sp.Expr) -> sp.Expr:
        return rotary.score(query, key, query_position=distance, key_position=sp.S.Zero, frequency=rotary.FREQUENCY)

    return score(at) - rotary.linear_interpolation(at, ends=ends, values=[score(end) for end in ends])


def _one_plane() -> Facts:
    """Facts for one plane: |f - f_linear| <= |h| theta^2/2 (x - x1)(x2 - x) for its score f at the distance t."""
    x, t, left, right = sp.symbols("x t x1 x2", real=True)
    theta = rotary.FREQUENCY
    score = rotary.score(QUERY, KEY, query_position=t, key_position=sp.S.Zero, frequency=theta)
    slope, ends = score.diff(t), (left, right)
    rising, falling = (score - (t - left) * slope) / theta**2, -(score + (right - t) * slope) / theta**2
    below = (right - x) * (rising.subs(t, x) - rising.subs(t, left))
    above = (x - left) * (falling.subs(t, right) - falling.subs(t, x))
    line = rotary.linear_interpolation(x, ends=ends, values=[score.subs(t, end) for end in ends])
    mass, width = ((right - x) * (x - left) ** 2 + (x - left) * (right - x) ** 2) / 2, right - left
    yield "G(x, t) = (t - x1)(x2 - x)/(x2 - x1) for t <= x, (x - x1)(x2 - t)/(x2 - x1) for t >= x"
    yield "first primitive of f(t) G(x, t), t < x", lambda: derivative(rising, t), lambda: (t - left) * score
    yield "second primitive, t > x", lambda: derivative(falling, t), lambda: (right - t) * score
    error = "f(x) - f_linear(x) = theta^2 int G f dt"
    yield error, lambda: score.subs(t, x) - line, lambda: theta**2 * (below + above) / width
    yield "int G(x, t) dt = (x - x1)(x2 - x)/2", lambda: mass / width, lambda: (x - left) * (right - x) / 2
    squares = "f^2 + (f'/theta)^2 = |h|^2 = |q|^2 |k|^2"
    yield squares, lambda: score**2 + (slope / theta) ** 2, lambda: QUERY.dot(QUERY) * KEY.dot(KEY)


def _small_interval() -> Facts:
    """Facts on the error of one aligned plane in the middle of [-eps, eps], where (x - x1)(x2 - x) = eps^2."""
    theta, eps = rotary.FREQUENCY, sp.Symbol("epsilon", positive=True)

    def error() -> sp.Expr:
        return _aligned_error(sp.S.Zero, ends=(-eps, eps), centre=sp.S.Zero)

    change, change_of_change = error().diff(eps), error().diff(eps, 2)
    yield "error at 0 in [-eps, eps] = 1 - cos(eps theta)", error, lambda: 1 - sp.cos(eps * theta)
    yield "no part of first order in eps", lambda: change.xreplace({eps: sp.S.Zero}), sp.S.Zero
    yield "second order: theta^2/2 eps^2", lambda: change_of_change.xreplace({eps: sp.S.Zero}), theta**2


@CLAIMS.claim(
    "pi-2",
    THEOREM,
    r"|a(x)-a_{\mathrm{lin}}(x)| \le \tfrac12\Big(\sum_l\theta_l^2\Big)\max_l|h_l|\,(x-x_1)(x_2-x)",
    label="P",
    assumptions=("any frequencies; K is a sum over planes, which is read off at 1 to 3 of them",),
    printed={
        "constant": lambda frequencies, base: rotary.printed_error_constant(head_dim=2 * len(frequencies), base=base)
    },
    falsifiers={
        "half of it": {"constant": lambda frequencies, base: rotary.error_constant(frequencies) / 2},
        "every plane as fast as the fastest": {
            "constant": lambda frequencies, base: len(frequencies) * rotary.error_constant(frequencies[:1])
        },
    },
)
def least_constant(constant: Formula = lambda frequencies, base: rotary.error_constant(frequencies)) -> Facts:
    """Between two distances the score differs from its linear interpolation by at most K max|h| (x - x1)(x2 - x), with
    K half the sum of theta_l^2 and no smaller K (errata F1: the paper prints K = d/(8 ln c), which is exceeded at its
    own d = 128, c = 10^4).
    """
    rows, at = [], sp.S.Half  # the error at 1/2 between 0 and 1 with all planes aligned there, and the bound with K
    error = _aligned_error(at, ends=(sp.S.Zero, sp.S.One), centre=at)
    for head_dim in _PRINTED_WIDTHS:
        thetas = rotary.frequencies(head_dim, BASE)
        total = sp.Add(*(error.xreplace({rotary.FREQUENCY: theta}) for theta in thetas))
        rows.append((head_dim, ball(total), ball(constant(thetas, BASE) * at * (1 - at))))
    where = f"c = {BASE}, h_l = exp(-i theta_l/2), x = 1/2 in [0, 1]"
    exceeded = [f"d = {d}: error {short(error)} > {short(bound)}" for d, error, bound in rows if error > bound]
    refute(exceeded, f"{where}; {'; '.join(exceeded)}")
    yield from _one_plane()
    yield from _small_interval()
    for planes in range(1, 4):
        frequencies = sp.symbols(f"theta1:{planes + 1}", positive=True)
        halves = sp.Add(*(frequency**2 / 2 for frequency in frequencies))
        given = partial(constant, frequencies, sp.Symbol("c", positive=True))
        yield f"{planes} planes: K is the sum over planes of theta_l^2/2", given, halves
    figures = "; ".join(f"d = {d}: error {short(error)} <= {short(bound)}" for d, error, bound in rows)
    yield "G >= 0 for t in [x1, x2], so a plane errs by at most |h| theta^2/2 (x - x1)(x2 - x); planes add up"
    yield "with h_l = 1 the error over (x - x1)(x2 - x) tends to the sum of theta_l^2/2 as [x1, x2] shrinks to 0"
    yield f"{where}; {figures}"


@CLAIMS.claim(
    "pi-3",
    f"{THEOREM}, the sum in its proof",
    r"\sum_{l<d/2}\theta_l^2 = \frac{1-c^{-2}}{1-c^{-4/d}} < \frac{1}{1-c^{-4/d}}",
    assumptions=("d = 2N, c = e^(2 N lambda), so theta_l = e^(-2 lambda l); induction on N for each lambda",),
    falsifiers={
        "the printed constant": {"constant": rotary.printed_error_constant},
        "planes without end": {"square_sum": lambda **sizes: 2 * rotary.closed_error_constant(**sizes)},
        "half the exponent": {
            "square_sum": lambda head_dim, base: rotary.sum_of_squared_frequencies(head_dim=2 * head_dim, base=base)
        },
    },
)
def closed_forms(
    square_sum: Formula = rotary.sum_of_squared_frequencies, constant: Formula = rotary.closed_error_constant
) -> Facts:
    """The sum of theta_l^2 is (1 - c^(-2)) / (1 - c^(-4/d)), so K = 1 / (2 (1 - c^(-4/d))) bounds the interpolation
    error in closed form; at d = 128, c = 10^4, d/(8 ln c) does not.
    """
    for head_dim in _PRINTED_WIDTHS:
        where, sizes = f"d = {head_dim}, c = {BASE}", {"head_dim": head_dim, "base": BASE}
        least = ball(rotary.error_constant(rotary.frequencies(head_dim, BASE)))
        total, bound = ball(square_sum(**sizes)), ball(constant(**sizes))
        refute(not total.overlaps(2 * least), f"{where}: the sum is {short(2 * least, 10)}, not {short(total, 10)}")
        refute(bound < least, f"{where}: {short(bound)} is less than the least constant {short(least)}")
    planes, rate = sp.symbols("N lambda", positive=True)

    def at(count: sp.Expr, what: Formula) -> sp.Expr:
        return what(head_dim=2 * count, base=sp.exp(2 * count * rate))

    theta = rotary.frequency(planes, head_dim=2 * (planes + 1), base=sp.exp(2 * (planes + 1) * rate))
    added = at(planes + 1, square_sum) - at(planes, square_sum)
    excess = at(planes, constant) - at(planes, square_sum) / 2
    first = "one plane: the sum is theta_0^2"
    yield first, lambda: at(sp.Integer(1), square_sum), lambda: theta.subs(planes, 0) ** 2
    yield "one plane more adds theta_N^2", added, lambda: theta**2
    yield "K - sum/2 = c^(-2) K > 0", excess, lambda: sp.exp(2 * planes * rate) ** -2 * at(planes, constant)
    for head_dim in _WIDTHS:
        own = 2 * rotary.error_constant(rotary.frequencies(head_dim, BASE))
        stated = square_sum(head_dim=head_dim, base=BASE)
        yield same_by_sympy(f"d = {head_dim}, c = {BASE}: RoPE's own sum", own, stated)


_LENGTH, _STEP = 4096, 64
_ROUNDING = 1e-9
"""Rounding error bound of B(s) in float64, eps = 2.3e-16: 8 eps for a turn, 64 (8 + 64) eps for a sum of up to 64
turns, 4 * 64 eps more for its absolute value, 64 (4864 + 64 * 64) eps < 2e-10 for the sum of 64 absolute values."""


def _turns(frequencies: Sequence[Any], distance: int) -> list[Any]:
    """Enclosures of e^(i s theta_l)."""
    return [flint.acb(0, distance * frequency).exp() for frequency in frequencies]


def _partial_sizes(turns: Iterable[Any]) -> Any:
    """B, the sum over k of |z_0 + ... + z_k|, for enclosures and for arrays."""
    return sum(abs(partial) for partial in accumulate(turns))


@CLAIMS.claim(
    "pi-5",
    "comparison of the interpolation bound with the extrapolation bound",
    r"\min_{1\le s<4096}\frac{2B(s)}{\tfrac18\sum_l\theta_l^2} \ge 571,\quad "
    r"B(s)=\sum_k\Big|\sum_{l\le k}e^{\mathrm{i}s\theta_l}\Big|",
    strength=Strength.INTERVAL,
    assumptions=(
        "whole distances 1 .. 4095",
        f"IEEE 754 double arithmetic, sizes of complex numbers to 4 eps: rounding stays below {_ROUNDING}",
    ),
    answers=("least_ratio",),
    falsifiers={
        "a head of 64": {"head_dim": 64},
        "the printed constant": {
            "constant": lambda frequencies: rotary.printed_error_constant(head_dim=2 * len(frequencies), base=BASE)
        },
    },
)
def bounds_apart(least_ratio: int = 571, head_dim: int = 128, constant: Formula = rotary.error_constant) -> Facts:
    """For d = 128 and c = 10^4 the extrapolation bound is at least 571 times the corrected interpolation bound at every
    distance below 4096, and less than 572 times at the worst: the paper's 'about 600 times' survives the correction.

    Extrapolation: 2 max|h| B(s). Interpolation: K max|h| / 4 with the least K, where 1/4 is the largest (x - x1)(x2 -
    x). In float64 the turn by 64 a + b is the product of the turns by 64 a and by b.
    """
    frequencies = [ball(frequency) for frequency in rotary.frequencies(head_dim, BASE)]
    interpolated = ball(constant(rotary.frequencies(head_dim, BASE))) / 4
    printed = ball(rotary.printed_error_constant(head_dim=head_dim, base=BASE)) / 4
    fine, coarse = (
        np.array([_turns(frequencies, distance) for distance in distances], dtype=complex)
        for distances in (range(_STEP), range(0, _LENGTH, _STEP))
    )
    sums = _partial_sizes((coarse[:, None] * fine[None]).reshape(_LENGTH, -1).T)
    worst = 1 + int(sums[1:].argmin())
    far = 2 * _partial_sizes(_turns(frequencies, worst))
    ratio = far / interpolated
    apart = f"the bounds are {short(ratio, 6)} times apart, not {least_ratio}"
    refute(not least_ratio <= ratio < least_ratio + 1, f"d = {head_dim}, s = {worst}: {apart}")
    if not 2 * (float(sums[worst]) - _ROUNDING) / interpolated >= least_ratio:
        raise Undecided(f"within rounding, another distance than {worst} may have bounds less apart")
    yield f"d = {head_dim}, c = {BASE}: the least B(s)/d is {short(far / 2 / head_dim)}, at s = {worst}"
    yield f"the bounds there are {short(ratio)} times apart, by the printed constant {short(far / printed)}"
    few = 8
    thetas = rotary.frequencies(few, BASE)
    bound = ball(rotary.decay_bound([sp.Integer(1)] * len(thetas), [worst * theta for theta in thetas]))
    size = _partial_sizes(_turns([ball(theta) for theta in thetas], worst))
    where = f"d = {few}, s = {worst}"
    refute(not size.overlaps(bound), f"{where}: B is {short(size)}, the decay bound {short(bound)}")
    yield f"{where}: B and the decay bound of equal h_l are {short(bound)}"
    yield "both are upper bounds: of the scores themselves the ratio says nothing"
