"""Step matrix of PaTH, a partial reflection I - beta w w^T with a unit vector w, as in GRAPE's comparison with PaTH.

Source: GRAPE, arXiv 2512.07805, on PaTH attention (Yang et al., arXiv 2505.16381).
"""

import sympy as sp

from lengthgen.theory.encodings.grape import Frame, PlaneOperator

UNIT = Frame(matrix=sp.ImmutableMatrix([[1]]))
"""Gram matrix of one vector of length 1."""


def partial_reflection(strength: sp.Expr) -> PlaneOperator:
    """Partial reflection I - beta w w^T, |w| = 1, in every dimension.  [P]"""
    return PlaneOperator(gram=UNIT, identity=sp.Integer(1), coefficients=sp.Matrix([[-strength]]))


def singular_values(strength: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Singular values of the partial reflection: 1 orthogonal to w and |1 - beta| along w.  [P]"""
    return sp.Integer(1), sp.Abs(1 - strength)
