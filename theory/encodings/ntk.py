"""NTK-aware scaling: RoPE with a larger base, so that slow planes are interpolated and fast ones stay unchanged.

Sources: the rule b' = b s^(d/(d-2)) as YaRN (Peng et al., arXiv 2309.00071) states it; the dynamic rule is that of
transformers ("dynamic" in modeling_rope_utils).  Planes are l = 0 .. d/2 - 1.
"""

import sympy as sp

from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import ONE_LAW, Actions, Encoding, Law, Option, Parameter, Recovery
from lengthgen.theory.relation import from_function, relative

FACTOR = sp.Symbol("g", positive=True)
FACTOR_AT = sp.Function("g", positive=True)
SHARE = sp.Symbol("w", nonnegative=True)
TRAINED_LENGTH = sp.Symbol("L", integer=True, positive=True)
GROWTH = sp.Symbol("alpha", positive=True)
_SCALE = sp.Symbol("s", positive=True)


def scaled_base(base: sp.Expr, *, head_dim: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """Scaled base b' = b s^(d/(d-2)).  [P]"""
    return base * scale ** (head_dim / (head_dim - 2))


def share(plane: sp.Expr, *, head_dim: sp.Expr) -> sp.Expr:
    """Exponent 2l/(d-2) of 1/s in the slow-down of plane l: 0 for the fastest, 1 for the slowest.  [F]"""
    return 2 * plane / (head_dim - 2)


def factor(share: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    """Factor s^(-2l/(d-2)) by which the scaled base multiplies the frequency of plane l.  [F]"""
    return scale**-share


def frequencies(head_dim: int, base: int, *, scale: sp.Expr) -> tuple[sp.Expr, ...]:
    """Frequencies b'^(-2l/d): those of RoPE with the scaled base; d is even and above 2.  [P]"""
    scaled = scaled_base(sp.Integer(base), head_dim=sp.Integer(head_dim), scale=scale)
    return rotary.frequencies(head_dim, scaled)


def dynamic_scale(length: sp.Expr, *, trained_length: sp.Expr, growth: sp.Expr) -> sp.Expr:
    """Scale s = max(1, alpha T/L - (alpha - 1)) for a sequence of T tokens.  [P, code]

    The code of transformers calls alpha `factor`.
    """
    return sp.Max(1, growth * length / trained_length - (growth - 1))


def _actions(position: sp.Expr) -> Actions:
    """Matrices that act on a query and on a key at a position: a rotation."""
    turn = rotary.rotation(position * rotary.FREQUENCY)
    return turn, turn


def _dynamic(length: sp.Expr) -> sp.Expr:
    """Dynamic scale of a sequence of this length."""
    return dynamic_scale(length, trained_length=TRAINED_LENGTH, growth=GROWTH)


def _distance_and_length(key: int, query: int, length: int) -> int:
    """Integer that is unique for each pair of distance and length (Cantor pairing)."""
    distance = query - key
    diagonal = distance + length
    return diagonal * (diagonal + 1) // 2 + distance


ENCODING = Encoding(
    name="ntk",
    title="NTK-aware scaling",
    arxiv="2309.00071",
    aliases=("ntk-aware",),
    summary="rotary, base enlarged (NTK-aware)",
    options={**rotary.ROTATION_OPTIONS, "scale": rotary.STRETCH},
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        *rotary.ENCODING.parameters,
        Parameter(symbol=FACTOR, meaning="factor of the frequency of the plane, from `factor`"),
    ),
    rotate=lambda position, _: _actions(position * FACTOR),
    relation=relative(),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.NORM, Law.STREAMING),
    recovers=(Recovery(of="rope", assignment={FACTOR: sp.Integer(1)}),),
)

DYNAMIC = Encoding(
    name="dynamic-ntk",
    title="Dynamic NTK scaling",
    arxiv="2309.00071",
    summary="rotary, base enlarged with the length",
    options={**rotary.ROTATION_OPTIONS, "factor": Option(default=1.0, least=1e-3, most=1e6)},
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        *rotary.ENCODING.parameters,
        Parameter(symbol=FACTOR_AT, meaning="factor of the frequency of the plane at each scale, from `factor`"),
        Parameter(symbol=TRAINED_LENGTH, meaning="trained length"),
        Parameter(symbol=GROWTH, meaning="how fast the scale grows with the length"),
    ),
    rotate=lambda position, length: _actions(position * FACTOR_AT(_dynamic(length))),
    relation=from_function(_distance_and_length, name="relative at each length", scale_hint=True),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.NORM),
    recovers=(
        Recovery(of="rope", assignment={FACTOR_AT: sp.Lambda(_SCALE, factor(SHARE, scale=_SCALE))}, within=True),
    ),
)
ENCODINGS = (ENCODING, DYNAMIC)
