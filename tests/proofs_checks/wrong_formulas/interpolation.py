"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from theory.encodings import interpolation

RIGHT_CONSTANT, RIGHT_SUM = interpolation.error_constant, interpolation.square_sum


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.interpolation.position", lambda index, *, scale: index / scale**2, "pi-1", r"\d"),
    ("theory.encodings.interpolation.position", lambda index, *, scale: index, "pi-6", r"\d"),
    (
        "theory.encodings.interpolation.frequencies",
        lambda head_dim, base, *, scale: [scale] * (head_dim // 2),
        "pi-1",
        r"\d",
    ),
    ("theory.encodings.interpolation.linear", lambda at, *, ends, values: values[0], "pi-2", r"\d"),
    (
        "theory.encodings.interpolation.error_constant",
        lambda frequencies: 2 * RIGHT_CONSTANT(frequencies),
        "pi-2",
        r"\d",
    ),
    ("theory.encodings.interpolation.error_constant", lambda frequencies: sp.Add(*frequencies) / 2, "pi-2", r"\d"),
    (
        "theory.encodings.interpolation.error_constant",
        lambda frequencies: 2 * RIGHT_CONSTANT(frequencies),
        "pi-5",
        r"\d",
    ),
    (
        "theory.encodings.interpolation.printed_error_constant",
        lambda *, head_dim, base: head_dim / (4 * sp.log(base)),
        "pi-4",
        r"\d",
    ),
    (
        "theory.encodings.interpolation.closed_error_constant",
        lambda *, head_dim, base: 1 / (2 * (1 - sp.sympify(base) ** (sp.Integer(-2) / head_dim))),
        "pi-3",
        r"\d",
    ),
    (
        "theory.encodings.interpolation.square_sum",
        lambda *, head_dim, base: 1 / (1 - sp.sympify(base) ** (sp.Integer(-4) / head_dim)),
        "pi-3",
        r"\d",
    ),
    (
        "theory.encodings.interpolation.square_sum",
        lambda *, head_dim, base: 2 * RIGHT_SUM(head_dim=head_dim, base=base),
        "pi-4",
        r"\d",
    ),
]
