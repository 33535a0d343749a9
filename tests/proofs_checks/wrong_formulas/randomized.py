"""Wrong formulas that the claims refute."""

from itertools import product
from typing import Any

import sympy as sp


def _with_replacement(*, length: int, longest: int) -> list[tuple[int, ...]]:
    return [tuple(sorted(drawn)) for drawn in product(range(longest), repeat=length)]


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.randomized.draws", _with_replacement, "rpe-1", r"\d"),
    ("theory.encodings.randomized.draws", _with_replacement, "rpe-2", r"\d"),
    ("theory.encodings.randomized.draws", _with_replacement, "rpe-3", r"\d"),
    ("theory.encodings.randomized.draws", _with_replacement, "rpe-5", r"\d"),
    (
        "theory.encodings.randomized.coverage",
        lambda *, length, longest: (length - 1) / sp.sympify(longest),
        "rpe-2",
        r"\d",
    ),
    (
        "theory.encodings.randomized.coverage",
        lambda *, length, longest: (length - 1) / sp.sympify(longest),
        "rpe-4",
        r"\d",
    ),
    (
        "theory.encodings.randomized.expected_gap",
        lambda *, length, longest: sp.sympify(longest) / (length + 1),
        "rpe-3",
        r"\d",
    ),
    (
        "theory.encodings.randomized.expected_gap",
        lambda *, length, longest: sp.sympify(longest) / (length + 1),
        "rpe-5",
        r"\d",
    ),
    (
        "theory.encodings.randomized.expected_position",
        lambda rank, *, length, longest: rank * sp.Rational(1) * (longest + 1) / (length + 1),
        "rpe-3",
        r"\d",
    ),
    (
        "theory.encodings.randomized.gap_probability",
        lambda gap, *, length, longest: sp.Rational(1, longest),
        "rpe-5",
        r"\d",
    ),
    ("theory.encodings.randomized.row", lambda offset, *, longest, rows: offset + longest, "rpe-6", r"\d"),
    (
        "theory.encodings.randomized.row",
        lambda offset, *, longest, rows: sp.Min(offset + longest, rows - 2),
        "rpe-6",
        r"\d",
    ),
]
