"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import yarn

RIGHT_RAMP, RIGHT_RANGE = yarn.ramp, yarn.index_range


def _without_refusal(*sizes: Any, **law: Any) -> tuple[sp.Expr, sp.Expr]:
    try:
        return RIGHT_RANGE(*sizes, **law)
    except ValueError:
        return sp.Integer(0), sp.Integer(0)


WRONG: list[tuple[Any, ...]] = [
    ("yarn.turns", lambda frequency, *, trained_length: trained_length * frequency, "yarn-2"),
    ("yarn.turns", lambda frequency, *, trained_length: trained_length * frequency / 6, "yarn-3"),
    ("yarn.ramp", lambda turns, *, alpha, beta: sp.Max(0, sp.Min(1, (turns - alpha) / beta)), "yarn-1"),
    ("yarn.ramp", lambda turns, *, alpha, beta: RIGHT_RAMP(turns, alpha=0, beta=beta), "yarn-3"),
    ("yarn.plane_with", lambda turns, *, head_dim, base, trained_length: trained_length / turns, "yarn-2"),
    ("yarn.index_range", lambda *sizes, **law: (sp.Integer(0), sp.Integer(46)), "yarn-2"),
    ("yarn.index_range", _without_refusal, "yarn-2"),
    ("yarn.index_ramp", lambda plane, *, first, last: sp.Max(0, sp.Min(1, (plane - first) / (last - first))), "yarn-1"),
    ("yarn.index_ramp", lambda plane, *, first, last: sp.Integer(1), "yarn-3"),
    ("yarn.frequency", lambda frequency, *, kept, scale: kept * frequency / scale + (1 - kept) * frequency, "yarn-1"),
    ("yarn.frequency", lambda frequency, *, kept, scale: frequency / scale + kept * frequency, "yarn-5"),
    ("yarn.magnitude", lambda scale: sp.log(scale) + 1, "yarn-4"),
    ("yarn.magnitude", lambda scale: sp.log(scale) / 10 + 2, "yarn-5"),
]
