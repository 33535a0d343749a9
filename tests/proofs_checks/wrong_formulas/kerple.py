"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp


def _rising(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return scale * distance**exponent


def _cubed(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return -scale * distance ** (2 * exponent)


def _log_of_distance(distance: sp.Expr, *, scale: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return -scale * sp.log(2 + rate * distance)


WRONG: list[tuple[Any, ...]] = [
    ("kerple.power", _rising, "kerple-1", r"-K\(t\) = t\^p"),
    ("kerple.power", _cubed, "kerple-1", r"c\^T K c = -24"),
    ("kerple.power", _rising, "kerple-3", r"x = \(0, 1\), p = 1: the form is not positive"),
    ("kerple.power", _cubed, "kerple-4", "D = j - i, entry 1"),
    ("kerple.logarithm", _log_of_distance, "kerple-2", r"e\^\(-K\) = 1 \+ s"),
    ("kerple.logarithm", _log_of_distance, "kerple-5", r"weight\^\(-1/r1\)"),
    (
        "kerple.logarithm",
        lambda distance, *, scale, rate: -(scale**2) * sp.log(1 + rate * distance),
        "kerple-5",
        "scale: r1 times the kernel of r1 = 1",
    ),
]
