"""GRAPE-M on several orthogonal planes: commuting rotations, that is RoPE in a learned basis with learned frequencies.

Plane l is spanned by J a_l and a_l, where J is the quarter turn of every coordinate pair; its generator is
L(a_l, J a_l).

Source: GRAPE, arXiv 2512.07805, commuting multi-subspace mode.
"""

from collections.abc import Sequence

import sympy as sp

from lengthgen.theory.encodings.encoding import (
    DISTANCE_LAWS,
    HEAD_DIM,
    HEADS,
    ONE_LAW,
    Encoding,
    Option,
    Parameter,
    Recovery,
)
from lengthgen.theory.encodings.grape import (
    SPEED,
    Frame,
    Gram,
    PlaneOperator,
    identity,
    rank2_exponential,
    rank2_generator,
)
from lengthgen.theory.encodings.rotary import FREQUENCY
from lengthgen.theory.relation import relative


def quarter_turn(vector: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Quarter turn J a, J = blockdiag(J2, ..., J2): (a_1, a_2) becomes (-a_2, a_1), and so on.  [P]"""
    return [entry for pair in zip(vector[::2], vector[1::2], strict=True) for entry in (-pair[1], pair[0])]


def spanning(vectors: Sequence[Sequence[sp.Expr]]) -> list[Sequence[sp.Expr]]:
    """Vectors J a_1, a_1, J a_2, a_2, ... that span the planes of a_1, a_2, ..."""
    return [spanned for vector in vectors for spanned in (quarter_turn(vector), vector)]


def plane_generator(frame: Frame, plane: int) -> PlaneOperator:
    """Generator L(a_l, J a_l) of plane l, counted from 0, in a frame of the vectors J a_1, a_1, J a_2, a_2, ...  [P]"""
    return _in_frame(rank2_generator(_plane(frame, plane)), frame, plane)


def plane_exponential(frame: Frame, plane: int, *, angle: sp.Expr) -> PlaneOperator:
    """Rotation exp(angle L(a_l, J a_l)) of plane l.

    Its speed s is |a_l|^2, since a_l and J a_l have the same length and are orthogonal.  [P]
    """
    gram = _plane(frame, plane)
    return _in_frame(rank2_exponential(gram, time=angle, speed=gram.alpha), frame, plane)


def action(frame: Frame, angles: Sequence[sp.Expr]) -> PlaneOperator:
    """Product of the exponentials of the planes, one angle per plane.  [P]"""
    product = identity(frame)
    for plane, angle in enumerate(angles):
        product = product @ plane_exponential(frame, plane, angle=angle)
    return product


def _plane(frame: Frame, plane: int) -> Gram:
    """Scalar products of a_l and J a_l, in this order."""
    turned, plain = 2 * plane, 2 * plane + 1
    products = frame.matrix
    return Gram(alpha=products[plain, plain], beta=products[turned, turned], gamma=products[plain, turned])


def _in_frame(operator: PlaneOperator, frame: Frame, plane: int) -> PlaneOperator:
    """Operator of plane l, written with all vectors of the frame."""
    change = sp.zeros(frame.matrix.rows, 2)
    change[2 * plane + 1, 0] = change[2 * plane, 1] = 1
    return operator.expressed(frame, change)


def _in_coordinates(angle: sp.Expr) -> sp.Matrix:
    """Action on one plane in the coordinates (J a, a), a of length 1: 2 x 2.  [F]"""
    turned = action(Frame(matrix=sp.ImmutableMatrix(sp.eye(2))), [angle])
    return turned.identity * sp.eye(2) + turned.coefficients


ENCODING = Encoding(
    name="grape-commuting",
    title="GRAPE-M, commuting planes",
    arxiv="2512.07805",
    summary="rotation of learned planes (GRAPE-M)",
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        Parameter(
            symbol=FREQUENCY,
            meaning="angle of the plane in one step, trained, d/2 a head; the planes' basis is trained too, an "
            "orthogonal matrix of d(d-1)/2 numbers a head, and a score in it is one in coordinates",
            learned=HEADS * HEAD_DIM**2 / 2,
        ),
    ),
    rotate=lambda position, _: (_in_coordinates(position * FREQUENCY),) * 2,
    relation=relative(),
    laws=DISTANCE_LAWS,
    recovers=(
        Recovery(of="rope", assignment={FREQUENCY: FREQUENCY}),
        Recovery(of="grape", assignment={FREQUENCY: SPEED}, attained=False),
    ),
)

THIN = Encoding(
    name="grape-thin",
    title="GRAPE-M, thin",
    arxiv="2512.07805",
    summary="rotation of learned planes of a subspace (GRAPE-M)",
    options={"rank": Option(default=4, least=2, most=1_024)},
    no_formula="it is commuting planes in a learned subspace, in a basis that no formula names (claim grape-7)",
    relation=relative(),
    caveat=ONE_LAW,
)
ENCODINGS = (ENCODING, THIN)
