"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import interpolation

RIGHT_CONSTANT, RIGHT_SUM = interpolation.error_constant, interpolation.square_sum


WRONG: list[tuple[Any, ...]] = [
    ("interpolation.position", lambda index, *, scale: index / scale**2, "pi-1"),
    ("interpolation.position", lambda index, *, scale: index, "pi-6"),
    ("interpolation.frequencies", lambda head_dim, base, *, scale: [scale] * (head_dim // 2), "pi-1"),
    ("interpolation.linear", lambda at, *, ends, values: values[0], "pi-2"),
    ("interpolation.error_constant", lambda frequencies: 2 * RIGHT_CONSTANT(frequencies), "pi-2 pi-5"),
    ("interpolation.error_constant", lambda frequencies: sp.Add(*frequencies) / 2, "pi-2"),
    ("interpolation.printed_error_constant", lambda *, head_dim, base: head_dim / (4 * sp.log(base)), "pi-4"),
    (
        "interpolation.closed_error_constant",
        lambda *, head_dim, base: 1 / (2 * (1 - sp.sympify(base) ** (sp.Integer(-2) / head_dim))),
        "pi-3",
    ),
    (
        "interpolation.square_sum",
        lambda *, head_dim, base: 1 / (1 - sp.sympify(base) ** (sp.Integer(-4) / head_dim)),
        "pi-3",
    ),
    ("interpolation.square_sum", lambda *, head_dim, base: 2 * RIGHT_SUM(head_dim=head_dim, base=base), "pi-4"),
]
