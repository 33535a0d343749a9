"""xPos: RoPE whose planes decay with the distance between query and key, each at its own rate.

Source: Sun et al., arXiv 2212.10554.  The query at j is scaled by zeta^(j/512), the key at i by zeta^(-i/512); here
zeta^(1/512) is written exp(-rate).
"""

import sympy as sp

from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import ONE_LAW, Actions, Encoding, Law, Option, Parameter, Recovery
from lengthgen.theory.relation import relative

FREQUENCY = rotary.FREQUENCY
RATE = sp.Symbol("lambda", positive=True)


def zeta(plane: sp.Expr | int, *, head_dim: sp.Expr | int) -> sp.Expr:
    """Decay base (2l/d + 0.4) / 1.4 of plane l.  [P]"""
    return (2 * sp.sympify(plane) / head_dim + sp.Rational(2, 5)) / sp.Rational(7, 5)


def rate(plane: sp.Expr | int, *, head_dim: sp.Expr | int, scale_base: int = 512) -> sp.Expr:
    """Decay rate -log(zeta_l) / 512, so that zeta^(n/512) = exp(-n rate).  [F]"""
    return -sp.log(zeta(plane, head_dim=head_dim)) / scale_base


def actions(position: sp.Expr, *, frequency: sp.Expr, rate: sp.Expr) -> Actions:
    """Matrices exp(-n rate) R2(n w) for the query and exp(n rate) R2(n w) for the key, both at position n.  [P]"""
    turn = rotary.rotation(position * frequency)
    return sp.exp(-position * rate) * turn, sp.exp(position * rate) * turn


def kernel(offset: sp.Expr, *, frequency: sp.Expr, rate: sp.Expr) -> sp.Matrix:
    """Kernel X(D) = exp(-D rate) R2(D w); the score is k^T X(j - i) q.  [P]"""
    return sp.exp(-offset * rate) * rotary.rotation(offset * frequency)


def first_infinite_key(
    plane: sp.Expr | int, *, head_dim: sp.Expr | int, ends: sp.Expr | int, scale_base: int = 512
) -> int:
    """First position n >= 1 whose key factor zeta_l^(-n/512) is at least `ends`, n = ceil(log(ends) / rate).  [F]

    `ends` is the number that a floating-point format rounds to infinity.
    """
    return int(sp.ceiling(sp.log(ends) / rate(plane, head_dim=head_dim, scale_base=scale_base)))


ENCODING = Encoding(
    name="xpos",
    title="xPos",
    arxiv="2212.10554",
    summary="rotary with decay (xPos)",
    options={**rotary.ROTATION_OPTIONS, "scale_base": Option(default=512.0, least=1e-3, most=1e300)},
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        Parameter(symbol=FREQUENCY, meaning="angle of the plane in one step, from `rotary.frequencies`"),
        Parameter(symbol=RATE, meaning="decay rate of the plane in one step, from `rate`"),
    ),
    rotate=lambda position, _: actions(position, frequency=FREQUENCY, rate=RATE),
    relation=relative(),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.STREAMING),
    recovers=(Recovery(of="rope", assignment={RATE: sp.Integer(0)}, attained=False),),
)
ENCODINGS = (ENCODING,)
