"""Wrong formulas that the claims refute."""

from dataclasses import replace
from typing import Any

import sympy as sp

from lengthgen.theory.encodings import absolute

RIGHT_POINT, RIGHT_COSINE, RIGHT_WAVELET = absolute.legendre_coordinate, absolute.dct_cosine, absolute.haar_function


def _by_length(position: sp.Expr, *, length: sp.Expr, trained_length: sp.Expr, beyond: str) -> sp.Expr:
    """Divides by the length in place of the length minus 1."""
    return RIGHT_POINT(position, length=length + 1, trained_length=trained_length + 1, beyond=beyond)


def _always_raw(position: sp.Expr, *, length: sp.Expr, trained_length: sp.Expr, beyond: str) -> sp.Expr:
    return RIGHT_POINT(position, length=length, trained_length=trained_length, beyond="raw")


def _longer_cosine(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    return RIGHT_COSINE(index, position, trained_length=trained_length + 1)


def _half_wavelet(point: sp.Expr) -> sp.Expr:
    """The first step of the wavelet, without the second."""
    return sp.Piecewise((1, (point >= 0) & (point < sp.Rational(1, 2))), (0, True))


def _level_of_its_own(level: sp.Expr, shift: sp.Expr, point: sp.Expr) -> sp.Expr:
    return RIGHT_WAVELET(level + 1, shift, point)


WRONG: list[tuple[Any, ...]] = [
    (
        "absolute.legendre_function",
        lambda degree, point: sp.sqrt(degree + 1) * sp.legendre(degree, point),
        "orthogonal-1",
    ),
    ("absolute.legendre_function", sp.hermite, "orthogonal-1 orthogonal-1-grid"),
    ("absolute.legendre_coordinate", _by_length, "orthogonal-1-grid orthogonal-3"),
    ("absolute.legendre_coordinate", _always_raw, "orthogonal-3"),
    ("absolute.legendre_coordinate", lambda position, **_: sp.Integer(1), "orthogonal-9"),
    ("absolute.haar_wavelet", _half_wavelet, "orthogonal-4"),
    ("absolute.haar_function", _level_of_its_own, "orthogonal-4"),
    ("absolute.dct_cosine", _longer_cosine, "orthogonal-5 orthogonal-5-repeats orthogonal-9"),
    (
        "absolute.LEGENDRE",
        replace(absolute.LEGENDRE, positions=lambda index, length: 2 * index / (length - 1) - 1),
        "orthogonal-3",
    ),
]
