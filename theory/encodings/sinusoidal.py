"""Sinusoidal position codes, added to the token embeddings: each plane holds the sine and the cosine of one angle.

Source: Vaswani et al., arXiv 1706.03762, Section 3.5.  The width is D; plane l holds coordinates 2l and 2l + 1, and its
frequency is that of RoPE's plane l in a head of width D.
"""

import sympy as sp

from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import ONE_LAW, Encoding, Law, Parameter
from lengthgen.theory.relation import absolute

FREQUENCY = rotary.FREQUENCY


def code(position: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    """Position code (sin p w, cos p w), 2 x 1: one plane of the code of position p.  [P]"""
    return sp.Matrix([sp.sin(position * frequency), sp.cos(position * frequency)])


def shift(offset: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    """Matrix M_k = [[cos k w, sin k w], [-sin k w, cos k w]] that maps the code of p to that of p + k.  [P]"""
    return rotary.rotation(-offset * frequency)


ENCODING = Encoding(
    name="sinusoidal",
    title="sinusoidal",
    arxiv="1706.03762",
    summary="sinusoidal absolute",
    options={"base": rotary.BASE},
    relation=absolute(),
    caveat=ONE_LAW,
    planes="width",
    parameters=(Parameter(symbol=FREQUENCY, meaning="angle of the plane in one step, from `rotary.frequencies`"),),
    embed=lambda position: code(position, frequency=FREQUENCY),
    laws=(Law.STREAMING,),
)
ENCODINGS = (ENCODING,)
