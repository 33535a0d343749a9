"""RoPE: every plane of the head is turned by an angle proportional to the position.

Source: Su et al., RoFormer, arXiv 2104.09864.  The paper writes the query at m and the key at n; here the query is at j
and the key at i.
"""

from collections.abc import Sequence

import sympy as sp


def rotation(angle: sp.Expr) -> sp.Matrix:
    """R2(t) = [[cos t, -sin t], [sin t, cos t]] = exp(t J2), J2 = [[0, -1], [1, 0]].  2 x 2.  [P]"""
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def frequencies(head_dim: int, base: sp.Expr | int = 10000) -> tuple[sp.Expr, ...]:
    """The frequency of each plane, base^(-2l/d) for l = 0 .. d/2 - 1, exact.  [P]

    Raises `ValueError` unless `head_dim` is a positive even number.
    """
    if head_dim <= 0 or head_dim % 2:
        raise ValueError(f"head_dim must be a positive even number, not {head_dim}")
    return tuple(sp.Integer(base) ** sp.Rational(-2 * plane, head_dim) for plane in range(head_dim // 2))


def score(
    query: Sequence[sp.Expr],
    key: Sequence[sp.Expr],
    *,
    query_position: sp.Expr,
    key_position: sp.Expr,
    frequency: sp.Expr,
) -> sp.Expr:
    """The score of one plane, (R2(j w) q) . (R2(i w) k), with j the query and i the key position.  [P]"""
    turned_query = rotation(query_position * frequency) * sp.Matrix(query)
    turned_key = rotation(key_position * frequency) * sp.Matrix(key)
    return turned_query.dot(turned_key)
