"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import rotary

RIGHT_CONSTANT, RIGHT_SUM = rotary.error_constant, rotary.sum_of_squared_frequencies


WRONG: list[tuple[Any, ...]] = [
    ("rotary.interpolated_position", lambda index, *, scale: index / scale**2, "pi-1"),
    ("rotary.interpolated_position", lambda index, *, scale: index, "pi-6"),
    ("rotary.interpolated_frequencies", lambda head_dim, base, *, scale: [scale] * (head_dim // 2), "pi-1"),
    ("rotary.linear_interpolation", lambda at, *, ends, values: values[0], "pi-2"),
    ("rotary.error_constant", lambda frequencies: 2 * RIGHT_CONSTANT(frequencies), "pi-2 pi-5"),
    ("rotary.error_constant", lambda frequencies: sp.Add(*frequencies) / 2, "pi-2"),
    ("rotary.printed_error_constant", lambda *, head_dim, base: head_dim / (4 * sp.log(base)), "pi-4"),
    (
        "rotary.closed_error_constant",
        lambda *, head_dim, base: 1 / (2 * (1 - sp.sympify(base) ** (sp.Integer(-2) / head_dim))),
        "pi-3",
    ),
    (
        "rotary.sum_of_squared_frequencies",
        lambda *, head_dim, base: 1 / (1 - sp.sympify(base) ** (sp.Integer(-4) / head_dim)),
        "pi-3",
    ),
    (
        "rotary.sum_of_squared_frequencies",
        lambda *, head_dim, base: 2 * RIGHT_SUM(head_dim=head_dim, base=base),
        "pi-4",
    ),
]
