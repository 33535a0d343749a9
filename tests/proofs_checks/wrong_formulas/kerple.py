"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp


def _rising(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return scale * distance**exponent


def _cubed(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return -scale * distance ** (2 * exponent)


def _log_of_distance(distance: sp.Expr, *, scale: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return -scale * sp.log(2 + rate * distance)


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.kerple.power", _rising, "kerple-1", r"-K\(t\) = t\^p"),
    ("theory.encodings.kerple.power", _cubed, "kerple-1", r"c\^T K c = -24"),
    ("theory.encodings.kerple.power", _rising, "kerple-3", r"x = \(0, 1\), p = 1: the form is not positive"),
    ("theory.encodings.kerple.power", _cubed, "kerple-4", "D = j - i, entry 1"),
    ("theory.encodings.kerple.logarithm", _log_of_distance, "kerple-2", r"e\^\(-K\) = 1 \+ s"),
    ("theory.encodings.kerple.logarithm", _log_of_distance, "kerple-5", r"weight\^\(-1/r1\)"),
    (
        "theory.encodings.kerple.logarithm",
        lambda distance, *, scale, rate: -(scale**2) * sp.log(1 + rate * distance),
        "kerple-5",
        "scale: r1 times the kernel of r1 = 1",
    ),
]
