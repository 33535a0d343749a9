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
    ("biases.kerple_power", _rising, "kerple-1", r"-K\(t\) = t\^p"),
    ("biases.kerple_power", _cubed, "kerple-1", r"c\^T K c = -24"),
    ("biases.kerple_power", _rising, "kerple-3", r"x = \(0, 1\), p = 1: the form is not positive"),
    ("biases.kerple_power", _cubed, "kerple-4", "D = j - i, entry 1"),
    ("biases.kerple_logarithm", _log_of_distance, "kerple-2", r"e\^\(-K\) = 1 \+ s"),
    ("biases.kerple_logarithm", _log_of_distance, "kerple-5", r"weight\^\(-1/r1\)"),
    (
        "biases.kerple_logarithm",
        lambda distance, *, scale, rate: -(scale**2) * sp.log(1 + rate * distance),
        "kerple-5",
        "scale: r1 times the kernel of r1 = 1",
    ),
]
