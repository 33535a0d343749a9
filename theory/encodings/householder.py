"""PaTH's step: a reflection in part, I - beta w w^T with a unit vector w, as GRAPE compares itself with it.

Source: GRAPE, arXiv 2512.07805, on PaTH attention (Yang et al., arXiv 2505.16381).
"""

import sympy as sp

from theory.encodings.grape import Frame, PlaneOperator

UNIT = Frame(matrix=sp.ImmutableMatrix([[1]]))
"""One vector of length 1."""


def partial_reflection(strength: sp.Expr) -> PlaneOperator:
    """I - beta w w^T, |w| = 1, in every dimension.  [P]"""
    return PlaneOperator(gram=UNIT, identity=sp.Integer(1), coefficients=sp.Matrix([[-strength]]))


def singular_values(strength: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Across w and along it: 1 and |1 - beta|.  [P]"""
    return sp.Integer(1), sp.Abs(1 - strength)
