"""Contextual GRAPE-M: the angle of a position is a phase, the sum of rates computed from the tokens before it.

Source: GRAPE, arXiv 2512.07805, contextual multiplicative form.
"""

import sympy as sp

from lengthgen.theory.encodings.encoding import (
    DEPENDS_ON_TOKENS,
    HEAD_DIM,
    LAYERS,
    ONE_LAW,
    WIDTH,
    Encoding,
    Family,
    Law,
    Parameter,
    Recovery,
)
from lengthgen.theory.encodings.rotary import FREQUENCY, rotation

RATES = sp.IndexedBase("w", positive=True)
_STEP = sp.Symbol("l", integer=True)


def phase(position: sp.Expr) -> sp.Sum:
    """Phase Phi_t = sum of w_l over 0 <= l < t, as an unevaluated sum in `RATES`.  [P]"""
    return sp.Sum(RATES[_STEP], (_STEP, 0, position - 1))


def action(phase_: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    """Rotation R2(Phi theta) of one plane, 2 x 2.  [P]"""
    return rotation(phase_ * frequency)


def _rotation_at(position: sp.Expr) -> sp.Matrix:
    """Rotation at a position, 2 x 2."""
    return action(phase(position), frequency=FREQUENCY)


ENCODING = Encoding(
    name="grape-contextual",
    title="GRAPE-M, contextual",
    arxiv="2512.07805",
    summary="rotation by sums of token rates (GRAPE-M)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        Parameter(
            symbol=FREQUENCY, meaning="angle of the plane in a phase of 1, shared by heads", learned=HEAD_DIM / 2
        ),
        Parameter(
            symbol=RATES,
            meaning="softplus(W x_l + b) of the layer's input, one number per token",
            learned=LAYERS * (WIDTH + 1),
            family=Family.TOKENS,
        ),
    ),
    rotate=lambda position, _: (_rotation_at(position), _rotation_at(position)),
    laws=(Law.TRANSLATION, Law.NORM, Law.STREAMING),
    recovers=(Recovery(of="rope", assignment={RATES: sp.Integer(1)}),),
)
ENCODINGS = (ENCODING,)
