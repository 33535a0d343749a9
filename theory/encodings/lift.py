"""GRAPE-A: a bias as the action of unipotent matrices on two extra coordinates.

Queries and keys are lifted to q^ = [q; 1; 0] and k^ = [k; 0; 1], so q^.k^ = q.k.  The group acts on the two extra
coordinates only and the content enters by the scalar q.k, so 2 x 2 matrices speak for every head dimension.

Source: GRAPE, arXiv 2512.07805, additive part.  The paper's query is at i and its key at j; here j is the query.
"""

import sympy as sp

_QUERY_TAIL = sp.ImmutableMatrix([1, 0])
_KEY_TAIL = sp.ImmutableMatrix([0, 1])


def nilpotent() -> sp.Matrix:
    """E = e_{d+2} e_{d+1}^T on the extra coordinates: E^2 = 0.  [P]"""
    return sp.Matrix([[0, 0], [1, 0]])


def unipotent(generator: sp.Matrix, time: sp.Expr) -> sp.Matrix:
    """I + t A, which is exp(t A) for a generator with A^2 = 0.  [P]"""
    return sp.eye(2) + time * generator


def score(content: sp.Expr, *, query_action: sp.Matrix, key_action: sp.Matrix) -> sp.Expr:
    """The scalar product of the lifted query and key after their 2 x 2 actions; `content` is q.k.  [P]"""
    return content + (query_action * _QUERY_TAIL).dot(key_action * _KEY_TAIL)
