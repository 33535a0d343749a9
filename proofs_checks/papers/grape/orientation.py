"""The normal form of a plane's generator (GRAPE, arXiv 2512.07805, Lemma J.1): which basis brings it to s J."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import product, require_equal
from proofs_checks.papers.grape.source import source
from theory.encodings import rotary

Basis = Callable[[int], sp.Matrix]
"""Dimension -> an orthogonal B, whose first two columns span the plane of e_1 and e_2."""
DIMENSIONS = (2, 3, 4)


def exchanged(dimension: int) -> sp.Matrix:
    """e_2, e_1, and the other axes, the third turned round where there is one.  d x d.  [F]"""
    basis = sp.eye(dimension)
    basis[:2, :2] = sp.Matrix([[0, 1], [1, 0]])
    if dimension > 2:
        basis[2, 2] = -1
    return basis


def in_order(dimension: int) -> sp.Matrix:
    """The axes in their order.  d x d."""
    return sp.eye(dimension)


def plane_form(*, basis: Basis, determinant: Callable[[int], int]) -> Evidence:
    """Decide B^T L B = J + 0 for L = L(e_1, e_2), B orthogonal with this determinant, and what SO(2) can do."""
    facts = []
    for dimension in DIMENSIONS:
        change = basis(dimension)
        generator = _generator(sp.eye(dimension).col(0), sp.eye(dimension).col(1))
        form = sp.zeros(dimension, dimension)
        form[:2, :2] = rotary.rotation(sp.pi / 2)
        facts += [
            require_equal(f"d = {dimension}: B^T B = I", product(change.T, change), sp.eye(dimension)),
            require_equal(
                f"d = {dimension}: B^T L(e_1, e_2) B = J, s = 1", product(change.T, product(generator, change)), form
            ),
        ]
        if sp.simplify(change.det() - determinant(dimension)) != 0:
            raise Refuted(f"d = {dimension}: det B = {sp.simplify(change.det())}, not {determinant(dimension)}")
    angle = sp.Symbol("t", real=True)
    a, b = sp.Matrix(sp.symbols("a1 a2", real=True)), sp.Matrix(sp.symbols("b1 b2", real=True))
    generator, turn = _generator(a, b), rotary.rotation(angle)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            require_equal(
                "d = 2: L(a, b) = -det(a, b) J",
                generator,
                lambda: -sp.Matrix.hstack(a, b).det() * rotary.rotation(sp.pi / 2),
            ),
            require_equal("every B in SO(2) leaves it as it is", lambda: turn.T * generator * turn, generator),
            "so at d = 2 B^T L B = s J for a B in SO(2) if and only if det(a, b) < 0, or s = 0",
        ),
        assumptions=(
            "d >= 3: as at d = 3 with further axes left alone",
            "other planes: B times a rotation to the plane",
        ),
    )


def _generator(a: sp.Matrix, b: sp.Matrix) -> sp.Matrix:
    return a * b.T - b * a.T


def _rotated(dimension: int) -> sp.Matrix:
    """An arbitrary rotation at d = 2."""
    return rotary.rotation(sp.Symbol("t", real=True)) if dimension == 2 else exchanged(dimension)


CLAIMS = (
    Claim(
        id="grape-orientation",
        source=source("Lemma J.1: B in SO(d) with B^T L B = s J on a plane (read in a converted copy of version 1)"),
        statement="Some orthogonal B brings L(a, b) to s J on its plane; B may be chosen a rotation for d >= 3, at d = "
        "2 only where det(a, b) < 0 (the lemma has B in SO(d) for every d; for e_1, e_2 in the plane it takes O(2)).",
        latex=r"d=2:\ B^\top L(a,b)B=L(a,b)=-\det(a,b)\,J\quad\forall B\in SO(2)",
        label="F",
        check=plane_form,
        holds={"basis": exchanged, "determinant": lambda dimension: -1 if dimension == 2 else 1},
        printed={"basis": _rotated, "determinant": lambda dimension: 1},
        falsifiers={
            "the exchange is a rotation at d = 2": {"determinant": lambda dimension: 1},
            "the axes in their order": {"basis": in_order},
            "the third axis as it is": {"basis": lambda dimension: sp.diag(exchanged(2), sp.eye(dimension - 2))},
        },
    ),
)
