"""Position interpolation: RoPE at positions divided by s = L'/L, so that L' of them lie within the trained length L.

Source: Chen, Wong, Chen, Tian, arXiv 2306.15595.  The paper's score of a head is a(x) = Re sum_l h_l e^(i x theta_l),
with x the distance of query and key.  Its Theorem 2.1 bounds |a - a_linear| between two distances.  The paper's other
bound, for |a| at distances outside training, is `rotary.decay_bound`.
"""

from collections.abc import Iterable, Sequence

import sympy as sp

from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import ONE_LAW, Encoding, Law, Parameter, Recovery
from lengthgen.theory.relation import relative

SHRINK = sp.Symbol("u", positive=True)


def position(index: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    """Interpolated position index / s, with s = L'/L.  [P]"""
    return index / scale


def frequencies(head_dim: int, base: int, *, scale: sp.Expr) -> tuple[sp.Expr, ...]:
    """Frequencies theta_l / s: RoPE with these at the indices equals RoPE at the interpolated positions.  [F]"""
    return tuple(frequency / scale for frequency in rotary.frequencies(head_dim, base))


def linear(at: sp.Expr, *, ends: Sequence[sp.Expr], values: Sequence[sp.Expr]) -> sp.Expr:
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


def square_sum(*, head_dim: sp.Expr | int, base: sp.Expr | int) -> sp.Expr:
    """Sum of theta_l^2 = c^(-4l/d) over the d/2 planes, (1 - c^(-2)) / (1 - c^(-4/d)).  [F]"""
    return (1 - sp.sympify(base) ** -2) / (1 - sp.sympify(base) ** (sp.Integer(-4) / head_dim))


ENCODING = Encoding(
    name="interpolation",
    title="Position interpolation",
    arxiv="2306.15595",
    aliases=("pi", "position-interpolation"),
    summary="rotary, positions divided",
    options={**rotary.ROTATION_OPTIONS, "scale": rotary.STRETCH},
    caveat=ONE_LAW,
    planes="head",
    parameters=(*rotary.ENCODING.parameters, Parameter(symbol=SHRINK, meaning="1/s, trained length over new length")),
    positions=lambda index, _: position(index, scale=1 / SHRINK),
    rotate=rotary.ENCODING.rotate,
    relation=relative(),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.NORM, Law.STREAMING),
    recovers=(Recovery(of="rope", assignment={SHRINK: sp.Integer(1)}),),
)
ENCODINGS = (ENCODING,)
