"""GRAPE-A: an attention bias as the action of unipotent matrices on two extra coordinates.

Queries and keys are extended to q^ = [q; 1; 0] and k^ = [k; 0; 1], so q^.k^ = q.k.  The group acts only on the two
extra coordinates, and the content enters only through the scalar q.k, so 2 x 2 matrices cover every head dimension.

Source: GRAPE, arXiv 2512.07805, additive part.  The paper's query is at i and its key at j; here j is the query.
"""

from collections.abc import Sequence

import sympy as sp

from lengthgen.theory.encodings.encoding import DISTANCE_LAWS, HEADS, ONE_LAW, Encoding, Parameter, Recovery
from lengthgen.theory.relation import relative

SLOPE = sp.Symbol("omega", positive=True)
_QUERY_TAIL = sp.ImmutableMatrix([1, 0])
_KEY_TAIL = sp.ImmutableMatrix([0, 1])


def nilpotent() -> sp.Matrix:
    """Nilpotent matrix E = e_{d+2} e_{d+1}^T on the extra coordinates: E^2 = 0.  [P]"""
    return sp.Matrix([[0, 0], [1, 0]])


def unipotent(generator: sp.Matrix, time: sp.Expr) -> sp.Matrix:
    """Unipotent matrix I + t A, which is exp(t A) for a generator with A^2 = 0.  [P]"""
    return sp.eye(generator.rows) + time * generator


def score(content: sp.Expr, *, query_action: sp.Matrix, key_action: sp.Matrix) -> sp.Expr:
    """Scalar product of the extended query and key after their 2 x 2 actions; `content` is q.k.  [P]"""
    return content + (query_action * _QUERY_TAIL).dot(key_action * _KEY_TAIL)


def bias(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias that the group of -omega E adds to q.k.  The query is moved by G(j), the key by G(i)^-T = G(-i)^T.  [P]"""
    generator = -slope * nilpotent()
    query_action, key_action = unipotent(generator, query_position), unipotent(generator, -key_position).T
    return score(sp.Integer(0), query_action=query_action, key_action=key_action)


def lifted(content: Sequence[sp.Expr], tail: sp.Matrix) -> sp.Matrix:
    """Extended vector [q; tail], 4 x 1: one plane of content and the two extra coordinates.  [P]"""
    return sp.Matrix([*content, *tail])


def joint_score(
    query: Sequence[sp.Expr], key: Sequence[sp.Expr], *, query_action: sp.Matrix, key_action: sp.Matrix
) -> sp.Expr:
    """Scalar product of an extended query and key after their 4 x 4 actions, for one plane.  [P]"""
    return (query_action * lifted(query, _QUERY_TAIL)).dot(key_action * lifted(key, _KEY_TAIL))


def linear_offset(there: sp.Matrix, here: sp.Matrix, *, weights: sp.Matrix) -> sp.Expr:
    """Offset m = alpha . (r - r') of two points in the plane or in space, in place of j - i.  [P]"""
    return weights.dot(there - here)


def length_offset(there: sp.Matrix, here: sp.Matrix) -> sp.Expr:
    """Offset m = |r - r'|.  [P, Appendix G; it is not additive]"""
    return sp.sqrt((there - here).dot(there - here))


def singular_values(shear: sp.Expr, *, root: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Singular values root + s/2 and root - s/2 of I + s E on the extra coordinates, s >= 0, root^2 = 1 + s^2/4.  [P]

    The paper writes their squares, 1 + s^2/2 + s root and 1 + s^2/2 - s root.  On the content all are 1.
    """
    return root + shear / 2, root - shear / 2


def condition_number(shear: sp.Expr, *, root: sp.Expr) -> sp.Expr:
    """Condition number sigma_+ / sigma_- = sigma_+^2, since the product of both is 1.  [P]"""
    return singular_values(shear, root=root)[0] ** 2


ENCODING = Encoding(
    name="grape-additive",
    title="GRAPE-A",
    arxiv="2512.07805",
    aliases=("grape-a",),
    summary="linear in the distance, slope learned (GRAPE-A)",
    caveat=ONE_LAW,
    parameters=(
        Parameter(symbol=SLOPE, meaning="ALiBi's slope of the head times softplus of a trained number", learned=HEADS),
    ),
    bias=lambda query_position, key_position, _: bias(SLOPE, query_position=query_position, key_position=key_position),
    relation=relative(),
    laws=DISTANCE_LAWS,
    recovers=(Recovery(of="alibi", assignment={SLOPE: sp.Symbol("m", positive=True)}),),
)
ENCODINGS = (ENCODING,)
