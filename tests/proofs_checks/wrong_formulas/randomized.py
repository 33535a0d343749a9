"""Wrong formulas that the claims refute."""

from itertools import product
from typing import Any

import sympy as sp


def _with_replacement(*, length: int, longest: int) -> list[tuple[int, ...]]:
    return [tuple(sorted(drawn)) for drawn in product(range(longest), repeat=length)]


WRONG: list[tuple[Any, ...]] = [
    ("randomized.draws", _with_replacement, "rpe-1 rpe-2 rpe-3 rpe-5"),
    ("randomized.coverage", lambda *, length, longest: (length - 1) / sp.sympify(longest), "rpe-2 rpe-4"),
    ("randomized.expected_gap", lambda *, length, longest: sp.sympify(longest) / (length + 1), "rpe-3 rpe-5"),
    (
        "randomized.expected_position",
        lambda rank, *, length, longest: rank * sp.Rational(1) * (longest + 1) / (length + 1),
        "rpe-3",
    ),
    ("randomized.gap_probability", lambda gap, *, length, longest: sp.Rational(1, longest), "rpe-5"),
    ("randomized.row", lambda offset, *, longest, rows: offset + longest, "rpe-6"),
    ("randomized.row", lambda offset, *, longest, rows: sp.Min(offset + longest, rows - 2), "rpe-6"),
    ("randomized.released_distance", lambda drawn, *, first, second: drawn[second - 1] - drawn[0], "rpe-6-distances"),
    ("randomized.released_distance", lambda drawn, *, first, second: abs(second - first), "rpe-6-distances"),
]
