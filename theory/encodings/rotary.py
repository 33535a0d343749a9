"""RoPE: every plane of the head is rotated by an angle proportional to the position.

Source: Su et al., RoFormer, arXiv 2104.09864.  The paper writes the query at m and the key at n; here the query is at j
and the key at i.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import sympy as sp

from lengthgen.theory.encodings.encoding import ONE_LAW, Encoding, Law, Option, Parameter
from lengthgen.theory.relation import relative

FREQUENCY = sp.Symbol("theta", positive=True)

Layout = Literal["interleaved", "halves"]
"""Coordinates that form plane l: (2l, 2l + 1), as in the paper, or (l, l + d/2), as in most model code.  [P]"""

BASE = Option(default=10000.0, least=1e-3, most=1e300)
ROTATION_OPTIONS = {"base": BASE, "layout": Option(default="interleaved", words=("interleaved", "halves"))}
STRETCH = Option(default=2.0, least=1e-3, most=1e6)
"""Option: new length over trained length."""

PlaneFunction = Callable[[sp.Expr], sp.Expr]
"""Function of the index of a plane."""


def rotation(angle: sp.Expr) -> sp.Matrix:
    """Rotation R2(t) = [[cos t, -sin t], [sin t, cos t]] = exp(t J2), J2 = [[0, -1], [1, 0]]; 2 x 2.  [P]"""
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def frequency(plane: sp.Expr | int, *, head_dim: sp.Expr | int, base: sp.Expr | int = 10000) -> sp.Expr:
    """Frequency theta_l = base^(-2l/d), for numbers and for symbols.  [P]"""
    return sp.sympify(base) ** (-2 * sp.sympify(plane) / head_dim)


def frequencies(head_dim: int, base: sp.Expr | int = 10000) -> tuple[sp.Expr, ...]:
    """Exact frequency of each plane, l = 0 .. d/2 - 1.  [P]

    Raises:
        ValueError: `head_dim` is not a positive even number.
    """
    if head_dim <= 0 or head_dim % 2:
        raise ValueError(f"head_dim must be a positive even number, not {head_dim}")
    return tuple(frequency(plane, head_dim=head_dim, base=base) for plane in range(head_dim // 2))


def score(
    query: Sequence[sp.Expr],
    key: Sequence[sp.Expr],
    *,
    query_position: sp.Expr,
    key_position: sp.Expr,
    frequency: sp.Expr,
) -> sp.Expr:
    """Score (R2(j w) q) . (R2(i w) k) of one plane, with j the query and i the key position.  [P]"""
    turned_query = rotation(query_position * frequency) * sp.Matrix(query)
    turned_key = rotation(key_position * frequency) * sp.Matrix(key)
    return turned_query.dot(turned_key)


def partial_sum(terms: PlaneFunction, count: sp.Expr) -> sp.Sum:
    """Partial sum S_count of the terms of planes 0 .. count - 1, unevaluated.  [P]"""
    plane = sp.Symbol("l", integer=True)
    return sp.Sum(terms(plane), (plane, 0, count - 1))


def by_parts(content: PlaneFunction, sums: PlaneFunction, planes: sp.Expr) -> sp.Sum:
    """Sum of (h_l - h_(l+1)) S_(l+1), unevaluated (summation by parts).

    It equals the sum of h_l z_l if S are the partial sums of z and h ends with 0.  [P]
    """
    return partial_sum(lambda plane: (content(plane) - content(plane + 1)) * sums(plane + 1), planes)


def decay_bound(content: Sequence[sp.Expr], angles: Sequence[sp.Expr]) -> sp.Expr:
    """Decay bound: max |h_(l+1) - h_l| times the sum of |S_(l+1)|, with h_(d/2) = 0.  [P]

    S are the partial sums of e^(i angle).  The bound holds for |sum of h_l e^(i angle_l)|, and so for the score, where
    angle_l is D theta_l and h_l is the product of the planes of query and key as complex numbers.
    """
    steps = [
        abs(current - following) for current, following in zip(content, (*content[1:], sp.Integer(0)), strict=True)
    ]
    return sp.Max(*steps) * sp.Add(*(_absolute_sum(angles[: plane + 1]) for plane in range(len(angles))))


def _absolute_sum(angles: Sequence[sp.Expr]) -> sp.Expr:
    """Absolute value |sum of e^(i angle)|."""
    return sp.sqrt(sp.Add(*map(sp.cos, angles)) ** 2 + sp.Add(*map(sp.sin, angles)) ** 2)


def period(plane: sp.Expr | int, *, head_dim: sp.Expr | int, base: sp.Expr | int) -> sp.Expr:
    """Period 2 pi / theta_l: number of positions in which plane l makes one full turn.  [F]"""
    return 2 * sp.pi / frequency(plane, head_dim=head_dim, base=base)


def last_full_turn(length: sp.Expr | int, *, head_dim: sp.Expr | int, base: sp.Expr | int) -> sp.Expr:
    """Plane index d log(L / 2 pi) / (2 log base); planes beyond it make less than one turn in L positions.  [F]"""
    return head_dim * sp.log(sp.sympify(length) / (2 * sp.pi)) / (2 * sp.log(base))


def coordinates(plane: sp.Expr | int, *, head_dim: sp.Expr | int, layout: Layout) -> tuple[sp.Expr, sp.Expr]:
    """Indices of the two coordinates of the head that form plane l.  [P]"""
    first = sp.sympify(plane)
    return (2 * first, 2 * first + 1) if layout == "interleaved" else (first, first + sp.sympify(head_dim) / 2)


def to_halves(head_dim: int) -> tuple[int, ...]:
    """Permutation between the layouts: entry c is the place in "halves" of coordinate c of "interleaved".  [F]"""
    moves: list[tuple[sp.Expr, sp.Expr]] = []
    for plane in range(head_dim // 2):
        interleaved = coordinates(plane, head_dim=head_dim, layout="interleaved")
        moves += zip(interleaved, coordinates(plane, head_dim=head_dim, layout="halves"), strict=True)
    return tuple(int(place) for _, place in sorted(moves))


ENCODING = Encoding(
    name="rope",
    title="RoPE",
    arxiv="2104.09864",
    aliases=("rotary",),
    summary="rotary",
    options=ROTATION_OPTIONS,
    caveat=ONE_LAW,
    planes="head",
    parameters=(Parameter(symbol=FREQUENCY, meaning="angle of the plane in one step, from `frequencies`"),),
    rotate=lambda position, _: (rotation(position * FREQUENCY), rotation(position * FREQUENCY)),
    relation=relative(),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.NORM, Law.STREAMING),
)
ENCODINGS = (ENCODING,)
