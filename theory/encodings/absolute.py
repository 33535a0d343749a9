"""Absolute position codes, added to the token embeddings: sinusoids, a learned table, and orthogonal functions.

The width is D.  Plane l of a code holds its coordinates 2l and 2l + 1.  Codes that a network or a filter computes are
in `seqpe` and `prism`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

import sympy as sp

from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import (
    ONE_LAW,
    WIDTH,
    Encoding,
    Law,
    Option,
    Parameter,
    Properties,
    table_start,
)
from lengthgen.theory.relation import Labels, Relation, absolute


def sinusoidal_code(position: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    """Position code (sin p w, cos p w), 2 x 1: one plane of the code of position p.  [P]"""
    return sp.Matrix([sp.sin(position * frequency), sp.cos(position * frequency)])


def sinusoidal_shift(offset: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    """Matrix M_k = [[cos k w, sin k w], [-sin k w, cos k w]] that maps the code of p to that of p + k.  [P]"""
    return rotary.rotation(-offset * frequency)


SINUSOIDAL = Encoding(
    name="sinusoidal",
    title="sinusoidal",
    arxiv="1706.03762",
    summary="sinusoidal absolute",
    options={"base": rotary.BASE},
    relation=absolute(),
    caveat=ONE_LAW,
    planes="width",
    parameters=(Parameter(rotary.FREQUENCY, "angle of the plane in one step, from `rotary.frequencies`"),),
    embed=lambda position: sinusoidal_code(position, frequency=rotary.FREQUENCY),
    laws=(Law.STREAMING,),
    properties=Properties(far="the position enters"),
)
"""Sinusoidal codes: each plane holds the sine and the cosine of one angle.

Source: Vaswani et al., arXiv 1706.03762, Section 3.5.  The frequency of a plane is that of RoPE in a head of width D.
"""


TABLE_ROWS = sp.Symbol("L", integer=True, positive=True)
TABLE = sp.IndexedBase("P", real=True)


def table_code(position: sp.Expr) -> sp.Matrix:
    """Position code (P[p, 0], P[p, 1]), 2 x 1: one plane of the row of position p.  [P]"""
    return sp.Matrix([TABLE[position, 0], TABLE[position, 1]])


LEARNED = Encoding(
    name="ape",
    title="learned absolute",
    arxiv="1705.03122",
    aliases=("learned",),
    summary="learned absolute",
    options=table_start(1.0),
    relation=absolute(),
    caveat="pairs share the vectors of their positions",
    parameters=(Parameter(TABLE, "table of L rows, one per position", learned=TABLE_ROWS * WIDTH),),
    embed=table_code,
    limit=TABLE_ROWS,
    laws=(Law.STREAMING,),
    properties=Properties(far="the position enters"),
)
"""Learned codes: a trained table with one row per position.

Source: Gehring et al., arXiv 1705.03122, Section 3.1.  The table has L rows, so positions are 0 .. L - 1.
"""


Beyond = Literal["rescale", "clamp", "raw"]
"""Treatments of positions beyond the trained length by Legendre codes, see `coordinate`."""

PLANE = sp.Symbol("l", integer=True, nonnegative=True)
TRAINED_LENGTH = sp.Symbol("L", integer=True, positive=True)


def legendre_coordinate(position: sp.Expr, *, length: sp.Expr, trained_length: sp.Expr, beyond: str) -> sp.Expr:
    """Point x of [-1, 1] at which Legendre polynomials are taken; L >= 2.  [F]

    Up to the trained length it is -1 + 2p/(L - 1).  Beyond it,
    `rescale` divides by the length T of the sequence in place of L: the last position is always at 1;
    `clamp` gives every further position the point 1;
    `raw` goes on beyond 1.
    """
    if beyond == "rescale":
        return -1 + 2 * position / (sp.Max(length, trained_length) - 1)
    if beyond == "clamp":
        return -1 + 2 * sp.Min(position, trained_length - 1) / (trained_length - 1)
    return -1 + 2 * position / (trained_length - 1)


def legendre_function(degree: sp.Expr, point: sp.Expr) -> sp.Expr:
    """Legendre polynomial sqrt(2n + 1) P_n(x), whose mean square over [-1, 1] is 1.  [F]"""
    return sp.sqrt(2 * degree + 1) * sp.legendre(degree, point)


def haar_wavelet(point: sp.Expr) -> sp.Expr:
    """Haar's wavelet: 1 on [0, 1/2), -1 on [1/2, 1), 0 elsewhere.  [F]"""
    half = sp.Rational(1, 2)
    return sp.Piecewise((1, (point >= 0) & (point < half)), (-1, (point >= half) & (point < 1)), (0, True))


def haar_function(level: sp.Expr, shift: sp.Expr, point: sp.Expr) -> sp.Expr:
    """Haar function 2^(j/2) psi(2^j u - k), level j = 0, 1, ... and shift k = 0 .. 2^j - 1.  [F]"""
    return sp.sqrt(2) ** level * haar_wavelet(2**level * point - shift)


class Haar(sp.Function):  # type: ignore[misc]  # sympy has no types
    """Haar function number n at u: 1 on [0, 1) and 0 elsewhere for n = 0; for n = 2^j + k wavelet k of level j.  [F]"""

    is_real = True

    @classmethod
    def eval(cls, index: sp.Expr, point: sp.Expr) -> sp.Expr | None:
        """Value at a rational number u; None leaves the function unevaluated."""
        if not (index.is_Integer and point.is_Rational):
            return None
        if index == 0:
            return sp.S.One if 0 <= point < 1 else sp.S.Zero
        level = int(index).bit_length() - 1
        return haar_function(sp.Integer(level), index - 2**level, point)


def dct_cosine(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Cosine n of the DCT-II, cos(pi n (p + 1/2) / L).  [F]"""
    return sp.cos(sp.pi * index * (2 * position + 1) / (2 * trained_length))


def _plane_of_functions(function_of: Callable[[sp.Expr], sp.Expr]) -> sp.Matrix:
    """Plane l of a code, 2 x 1: the functions 2l and 2l + 1."""
    return sp.Matrix([function_of(2 * PLANE), function_of(2 * PLANE + 1)])


def _absolute_at_length() -> Relation:
    """Relation that gives every pair a label of its own at every length (Cantor pairing of both)."""

    def law(keys: Labels, queries: Labels, length: int | None) -> Labels:
        assert length is not None
        pairs = absolute().law(keys, queries, None)
        labels: Labels = (pairs + length) * (pairs + length + 1) // 2 + pairs
        return labels

    return Relation(name="absolute at each length", law=law, scale_hint=True)


_SCALED = _absolute_at_length()
_FUNCTIONS = Parameter(PLANE, "number of the plane, 0 .. D/2 - 1: it has the functions 2l and 2l + 1")
_TRAINED_LENGTH = Parameter(TRAINED_LENGTH, "trained length, at least 2")


LEGENDRE = Encoding(
    name="legendre",
    title="Legendre",
    arxiv="2506.06398",
    summary="Legendre polynomials, absolute",
    options={"beyond": Option(default="rescale", words=get_args(Beyond))},
    caveat=ONE_LAW,
    parameters=(_FUNCTIONS, _TRAINED_LENGTH),
    positions=lambda index, length: legendre_coordinate(
        index, length=length, trained_length=TRAINED_LENGTH, beyond="rescale"
    ),
    embed=lambda point: _plane_of_functions(lambda degree: legendre_function(degree, point)),
    relation=_SCALED,
    relation_of=lambda circuit, beyond: _SCALED if beyond == "rescale" else absolute(),
    properties=Properties(far="the position enters", width="none"),
)
"""Legendre codes; its formulas are those of the default policy, and `legendre_coordinate` has the others.

Source of the orthogonal codes: Yin Li, arXiv 2506.06398, proposes Legendre polynomials and wavelets.  Only its abstract
and its list of contributions were at hand, so every formula here is our reading [F]; the DCT is our control.  The
trained length is L.  Coordinate n of a code is function n.
"""

HAAR = Encoding(
    name="haar",
    title="Haar",
    arxiv="2506.06398",
    summary="Haar wavelets, absolute",
    caveat=ONE_LAW,
    repeats="D functions are constant on D cells, and 0 beyond the trained length",
    parameters=(_FUNCTIONS, _TRAINED_LENGTH),
    embed=lambda position: _plane_of_functions(lambda index: Haar(index, position / TRAINED_LENGTH)),
    relation=absolute(),
    laws=(Law.STREAMING,),
    properties=Properties(far="the position enters"),
)

DCT = replace(
    HAAR,
    name="dct",
    title="DCT",
    summary="cosines of the DCT, absolute",
    repeats="the code of p comes again at 2L - 1 - p",
    embed=lambda position: _plane_of_functions(
        lambda index: dct_cosine(index, position, trained_length=TRAINED_LENGTH)
    ),
)

ORTHOGONAL = (LEGENDRE, HAAR, DCT)
ENCODINGS = (SINUSOIDAL, LEARNED, *ORTHOGONAL)
