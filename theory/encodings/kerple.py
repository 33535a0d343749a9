"""KERPLE: an attention bias that is a conditionally positive definite kernel of the positions.

Two numbers are learned per head.  Source: Chi, Fan, Ramadge, Rudnicky, arXiv 2205.09921.  Its released code decides
which numbers are learned, and that all layers share them.
"""

import sympy as sp

from lengthgen.theory.encodings.alibi import SLOPE
from lengthgen.theory.encodings.encoding import DISTANCE_LAWS, HEADS, ONE_LAW, Encoding, Parameter, Recovery
from lengthgen.theory.relation import relative

SCALE, EXPONENT, RATE = sp.Symbol("r1", positive=True), sp.Symbol("p", positive=True), sp.Symbol("r2", positive=True)
EXPONENTS = sp.Interval.Lopen(0, 2)
"""Exponents for which the power kernel is conditionally positive definite.  [P]"""


def power(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Power bias -r1 D^p, with 0 < p <= 2.  [P]"""
    return -scale * distance**exponent


def logarithm(distance: sp.Expr, *, scale: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Logarithmic bias -r1 log(1 + r2 D).  [P]"""
    return -scale * sp.log(1 + rate * distance)


_SCALE = Parameter(symbol=SCALE, meaning="scale, in every head", learned=HEADS)
_NO_SCALE = Recovery(of="nope", assignment={SCALE: sp.Integer(0)}, attained=False)

POWER = Encoding(
    name="kerple-power",
    title="Kerple (power)",
    arxiv="2205.09921",
    summary="power of the distance (Kerple)",
    caveat=ONE_LAW,
    parameters=(
        _SCALE,
        Parameter(symbol=EXPONENT, meaning="exponent, in every head", learned=HEADS, domain=EXPONENTS),
    ),
    bias=lambda query_position, key_position, _: power(
        abs(query_position - key_position), scale=SCALE, exponent=EXPONENT
    ),
    relation=relative(),
    laws=DISTANCE_LAWS,
    recovers=(Recovery(of="alibi", assignment={SCALE: SLOPE, EXPONENT: sp.Integer(1)}), _NO_SCALE),
)

LOGARITHM = Encoding(
    name="kerple-log",
    title="Kerple (log)",
    arxiv="2205.09921",
    aliases=("kerple",),
    summary="logarithm of the distance (Kerple)",
    caveat=ONE_LAW,
    parameters=(_SCALE, Parameter(symbol=RATE, meaning="rate, in every head", learned=HEADS)),
    bias=lambda query_position, key_position, _: logarithm(abs(query_position - key_position), scale=SCALE, rate=RATE),
    relation=relative(),
    laws=DISTANCE_LAWS,
    recovers=(_NO_SCALE,),
)
ENCODINGS = (POWER, LOGARITHM)
