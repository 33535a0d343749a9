"""ALiBi: an attention bias that decreases linearly with the distance between query and key.

Source: Press, Smith, Lewis, arXiv 2108.12409; as a group action: GRAPE, arXiv 2512.07805.
"""

import sympy as sp

from lengthgen.theory.encodings import grape_additive
from lengthgen.theory.encodings.encoding import DISTANCE_LAWS, ONE_LAW, Encoding, Parameter
from lengthgen.theory.relation import relative

SLOPE = sp.Symbol("m", positive=True)


def slopes(heads: int) -> tuple[sp.Expr, ...]:
    """Exact slope of each head.

    For a power of two, m_h = 2^(-8h/H), h = 1 .. H.  Otherwise the slopes of the largest power of two below H, then
    every second slope of twice that power, until there are H slopes (the rule of the released code).  [P]

    Raises:
        ValueError: `heads` is not positive.
    """
    if heads <= 0:
        raise ValueError(f"heads must be positive, not {heads}")
    power = 1 << (heads.bit_length() - 1)
    between = _geometric_slopes(2 * power)[::2]
    return _geometric_slopes(power) + between[: heads - power]


def bias(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias -m (j - i), with j the query and i the key position, i <= j.  [P]"""
    return -slope * (query_position - key_position)


def generator(*, slope: sp.Expr) -> sp.Matrix:
    """Generator A = -m E, whose unipotent group acts on the two extra coordinates.  [P, GRAPE]"""
    return -slope * grape_additive.nilpotent()


def _geometric_slopes(heads: int) -> tuple[sp.Expr, ...]:
    """Slopes 2^(-8h/H), h = 1 .. H."""
    return tuple(sp.Integer(2) ** sp.Rational(-8 * head, heads) for head in range(1, heads + 1))


ENCODING = Encoding(
    name="alibi",
    title="ALiBi",
    arxiv="2108.12409",
    summary="linear in the distance (ALiBi)",
    caveat=ONE_LAW,
    parameters=(Parameter(symbol=SLOPE, meaning="slope of the head, from `slopes`"),),
    bias=lambda query_position, key_position, _: bias(
        SLOPE, query_position=abs(query_position - key_position), key_position=sp.Integer(0)
    ),
    relation=relative(),
    laws=DISTANCE_LAWS,
)
ENCODINGS = (ENCODING,)
