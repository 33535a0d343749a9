"""Numbers inside a check, enclosed: what is compared is certain."""

from typing import Any

import sympy as sp

from theory.enclosure import enclose

_BITS = 128


def ball(number: sp.Expr) -> Any:
    """A ball that holds the number; comparisons of balls are true only where they are certain."""
    found = enclose(number, bits=_BITS)
    if found is None:
        raise ArithmeticError(f"no enclosure of {number}")
    return found


def short(number: Any, digits: int = 4) -> str:
    """The middle of a ball."""
    return f"{float(number.mid()):.{digits}g}"
