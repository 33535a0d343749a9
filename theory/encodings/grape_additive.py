"""GRAPE-A: a bias as the action of unipotent matrices on two extra coordinates.

Queries and keys are lifted to q^ = [q; 1; 0] and k^ = [k; 0; 1], so q^.k^ = q.k.  The group acts on the two extra
coordinates only and the content enters by the scalar q.k, so 2 x 2 matrices speak for every head dimension.

Source: GRAPE, arXiv 2512.07805, additive part.  The paper's query is at i and its key at j; here j is the query.
"""

from collections.abc import Sequence

import sympy as sp

from theory.encodings.encoding import HEADS, ONE_LAW, Encoding, Law, Parameter, Recovery
from theory.relation import relative

SLOPE = sp.Symbol("omega", positive=True)
_QUERY_TAIL = sp.ImmutableMatrix([1, 0])
_KEY_TAIL = sp.ImmutableMatrix([0, 1])


def nilpotent() -> sp.Matrix:
    """E = e_{d+2} e_{d+1}^T on the extra coordinates: E^2 = 0.  [P]"""
    return sp.Matrix([[0, 0], [1, 0]])


def unipotent(generator: sp.Matrix, time: sp.Expr) -> sp.Matrix:
    """I + t A, which is exp(t A) for a generator with A^2 = 0.  [P]"""
    return sp.eye(generator.rows) + time * generator


def score(content: sp.Expr, *, query_action: sp.Matrix, key_action: sp.Matrix) -> sp.Expr:
    """The scalar product of the lifted query and key after their 2 x 2 actions; `content` is q.k.  [P]"""
    return content + (query_action * _QUERY_TAIL).dot(key_action * _KEY_TAIL)


def bias(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """What the group of -omega E adds to q.k: the query moved by G(j), the key by G(i)^-T = G(-i)^T.  [P]"""
    generator = -slope * nilpotent()
    query_action, key_action = unipotent(generator, query_position), unipotent(generator, -key_position).T
    return score(sp.Integer(0), query_action=query_action, key_action=key_action)


def lifted(content: Sequence[sp.Expr], tail: sp.Matrix) -> sp.Matrix:
    """[q; tail] on one plane of content and the two extra coordinates.  4 x 1.  [P]"""
    return sp.Matrix([*content, *tail])


def joint_score(
    query: Sequence[sp.Expr], key: Sequence[sp.Expr], *, query_action: sp.Matrix, key_action: sp.Matrix
) -> sp.Expr:
    """The scalar product of a lifted query and key after their 4 x 4 actions, one plane standing for all.  [P]"""
    return (query_action * lifted(query, _QUERY_TAIL)).dot(key_action * lifted(key, _KEY_TAIL))


def linear_offset(there: sp.Matrix, here: sp.Matrix, *, weights: sp.Matrix) -> sp.Expr:
    """m = alpha . (r - r'), the offset of two places in the plane or in space, in place of j - i.  [P]"""
    return weights.dot(there - here)


def length_offset(there: sp.Matrix, here: sp.Matrix) -> sp.Expr:
    """m = |r - r'|.  [P, Appendix G; it does not add up]"""
    return sp.sqrt((there - here).dot(there - here))


def singular_values(shear: sp.Expr, *, root: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Of I + s E on the extra coordinates, s >= 0: root + s/2 and root - s/2 with root^2 = 1 + s^2/4.  [P]

    In the paper's form their squares are 1 + s^2/2 + s root and 1 + s^2/2 - s root.  On the content all are 1.
    """
    return root + shear / 2, root - shear / 2


def condition_number(shear: sp.Expr, *, root: sp.Expr) -> sp.Expr:
    """sigma_+ / sigma_- = sigma_+^2, since their product is 1.  [P]"""
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
    laws=tuple(Law),
    recovers=(Recovery(of="alibi", assignment={SLOPE: sp.Symbol("m", positive=True)}),),
)
