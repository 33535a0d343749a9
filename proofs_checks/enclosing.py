"""Rigorous enclosures of numbers inside a check: every comparison is certain."""

from typing import Any

import sympy as sp

from lengthgen.theory.zero.enclosure import enclose

_BITS = 128


def ball(number: sp.Expr) -> Any:
    """Return a ball (midpoint and radius) that contains the number; comparisons of balls are true only if certain.

    Raises `ArithmeticError` if no enclosure is found.
    """
    enclosure = enclose(number, bits=_BITS)
    if enclosure is None:
        raise ArithmeticError(f"no enclosure of {number}")
    return enclosure


def short(number: Any, digits: int = 4) -> str:
    """Return the midpoint of a ball as text."""
    return f"{float(number.mid()):.{digits}g}"
