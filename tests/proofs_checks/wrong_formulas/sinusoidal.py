"""Wrong formulas that the claims refute."""

from dataclasses import replace
from typing import Any

import sympy as sp

from lengthgen.theory.encodings import absolute, rotary

RIGHT = absolute.sinusoidal_code


def _slower_cosine(position: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    return sp.Matrix([sp.sin(position * frequency), sp.cos(position * frequency / 2)])


def _twice(position: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    return 2 * RIGHT(position, frequency=frequency)


WRONG: list[tuple[Any, ...]] = [
    ("absolute.sinusoidal_code", _slower_cosine, "sin-1 sin-4"),
    ("absolute.sinusoidal_code", _twice, "sin-2 sin-3"),
    ("absolute.sinusoidal_shift", lambda offset, *, frequency: rotary.rotation(offset * frequency), "sin-1"),
    ("absolute.sinusoidal_shift", lambda offset, *, frequency: sp.eye(2), "sin-1"),
    ("rotary.frequency", lambda plane, *, head_dim, base=10000: 2 * sp.pi / (plane + 1), "sin-4"),
    ("rotary.frequency", lambda plane, *, head_dim, base=10000: sp.Rational(1, 2), "sin-2"),
    ("absolute.SINUSOIDAL", replace(absolute.SINUSOIDAL, embed=lambda position: sp.Matrix([1, 1])), "sin-5"),
]
