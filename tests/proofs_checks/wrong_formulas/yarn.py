"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import rotary

RIGHT_RAMP, RIGHT_RANGE = rotary.yarn_ramp, rotary.yarn_index_range


def _without_refusal(*sizes: Any, **law: Any) -> tuple[sp.Expr, sp.Expr]:
    try:
        return RIGHT_RANGE(*sizes, **law)
    except ValueError:
        return sp.Integer(0), sp.Integer(0)


WRONG: list[tuple[Any, ...]] = [
    ("rotary.yarn_turns", lambda frequency, *, trained_length: trained_length * frequency, "yarn-2"),
    ("rotary.yarn_turns", lambda frequency, *, trained_length: trained_length * frequency / 6, "yarn-3"),
    ("rotary.yarn_ramp", lambda turns, *, alpha, beta: sp.Max(0, sp.Min(1, (turns - alpha) / beta)), "yarn-1"),
    ("rotary.yarn_ramp", lambda turns, *, alpha, beta: RIGHT_RAMP(turns, alpha=0, beta=beta), "yarn-3"),
    ("rotary.yarn_plane_with", lambda turns, *, head_dim, base, trained_length: trained_length / turns, "yarn-2"),
    ("rotary.yarn_index_range", lambda *sizes, **law: (sp.Integer(0), sp.Integer(46)), "yarn-2"),
    ("rotary.yarn_index_range", _without_refusal, "yarn-2"),
    (
        "rotary.yarn_index_ramp",
        lambda plane, *, first, last: sp.Max(0, sp.Min(1, (plane - first) / (last - first))),
        "yarn-1",
    ),
    ("rotary.yarn_index_ramp", lambda plane, *, first, last: sp.Integer(1), "yarn-3"),
    (
        "rotary.yarn_frequency",
        lambda frequency, *, kept, scale: kept * frequency / scale + (1 - kept) * frequency,
        "yarn-1",
    ),
    ("rotary.yarn_frequency", lambda frequency, *, kept, scale: frequency / scale + kept * frequency, "yarn-5"),
    ("rotary.yarn_magnitude", lambda scale: sp.log(scale) + 1, "yarn-4"),
    ("rotary.yarn_magnitude", lambda scale: sp.log(scale) / 10 + 2, "yarn-5"),
]
