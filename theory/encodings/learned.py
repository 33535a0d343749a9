"""Learned absolute position codes: a trained table with one row per position, added to the token embedding.

Source: Gehring et al., arXiv 1705.03122, Section 3.1.  The table has L rows, so positions are 0 .. L - 1.
"""

import sympy as sp

from lengthgen.theory.encodings.encoding import WIDTH, Encoding, Law, Parameter
from lengthgen.theory.relation import absolute

ROWS = sp.Symbol("L", integer=True, positive=True)
TABLE = sp.IndexedBase("P", real=True)


def code(position: sp.Expr) -> sp.Matrix:
    """Position code (P[p, 0], P[p, 1]), 2 x 1: one plane of the row of position p.  [P]"""
    return sp.Matrix([TABLE[position, 0], TABLE[position, 1]])


ENCODING = Encoding(
    name="ape",
    title="learned absolute",
    arxiv="1705.03122",
    aliases=("learned",),
    summary="learned absolute",
    relation=absolute(),
    caveat="pairs share the vectors of their positions",
    parameters=(Parameter(symbol=TABLE, meaning="table of L rows, one per position", learned=ROWS * WIDTH),),
    embed=code,
    limit=ROWS,
    laws=(Law.STREAMING,),
)
ENCODINGS = (ENCODING,)
