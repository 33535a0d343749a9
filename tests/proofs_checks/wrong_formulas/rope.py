"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import rotary

RIGHT_ROTATION, RIGHT_BOUND, RIGHT_COORDINATES = rotary.rotation, rotary.decay_bound, rotary.coordinates


def _backwards(angle: sp.Expr) -> sp.Matrix:
    return RIGHT_ROTATION(-angle)


def _stretched(angle: sp.Expr) -> sp.Matrix:
    return 2 * RIGHT_ROTATION(angle)


def _swapped(plane: sp.Expr, *, head_dim: sp.Expr, layout: rotary.Layout) -> tuple[sp.Expr, sp.Expr]:
    return RIGHT_COORDINATES(plane, head_dim=head_dim, layout=layout)[::-1]


WRONG: list[tuple[Any, ...]] = [
    ("rotary.rotation", _backwards, "rope-1 grape-5"),
    ("rotary.rotation", _stretched, "rope-2 rope-7"),
    ("rotary.score", lambda query, key, **at: query.dot(key), "rope-1 rope-4 rope-7"),
    ("rotary.partial_sum", lambda terms, count: sp.Sum(terms(sp.Symbol("l")), (sp.Symbol("l"), 0, count)), "rope-3"),
    (
        "rotary.by_parts",
        lambda content, sums, planes: rotary.partial_sum(
            lambda plane: (content(plane + 1) - content(plane)) * sums(plane + 1), planes
        ),
        "rope-3",
    ),
    ("rotary.decay_bound", lambda content, angles: RIGHT_BOUND(content, angles) / 2, "rope-3"),
    ("rotary.decay_bound", lambda content, angles: RIGHT_BOUND(content[::-1], angles), "rope-3"),
    ("rotary.decay_bound", lambda content, angles: RIGHT_BOUND(content, angles[::-1]), "rope-3"),
    ("rotary.frequency", lambda plane, *, head_dim, base=10000: base ** (-sp.sympify(plane) / head_dim), "rope-5"),
    ("rotary.period", lambda plane, *, head_dim, base=10000: 1 / rotary.frequency(plane, head_dim=head_dim), "rope-5"),
    (
        "rotary.last_full_turn",
        lambda length, *, head_dim, base=10000: head_dim * sp.log(length) / (2 * sp.log(base)),
        "rope-5",
    ),
    ("rotary.coordinates", _swapped, "rope-6"),
    ("rotary.to_halves", lambda head_dim: tuple(reversed(range(head_dim))), "rope-6"),
]
