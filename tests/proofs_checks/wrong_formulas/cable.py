"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

STEP = sp.Symbol("l", integer=True)


def _with_the_key(steps: sp.IndexedBase, *, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(steps[STEP], (STEP, key, query))


def _twice(steps: sp.IndexedBase, *, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(2 * steps[STEP], (STEP, key + 1, query))


WRONG: list[tuple[Any, ...]] = [
    ("cable.log_gate", lambda logit: -sp.log(1 + sp.exp(-logit)), "cable-1 cable-3"),
    ("cable.log_gate", lambda logit: sp.log(1 + sp.exp(logit)), "cable-2", r"the step .* is -"),
    ("cable.rectified", lambda logit: logit, "cable-2"),
    ("cable.rectified", lambda logit: sp.log(1 + sp.exp(logit)), "cable-4 cable-6"),
    ("cable.rectified", lambda logit: sp.Integer(1), "cable-3-without-bias"),
    ("cable.gate", lambda logit: logit, "cable-2"),
    ("cable.bias", lambda distance_, *, gate: gate * distance_, "cable-1 cable-2 cable-3 cable-6 cable-7"),
    ("cable.bias", lambda distance_, *, gate: -gate * distance_**2, "cable-5 cable-7"),
    ("cable.bias", lambda distance_, *, gate: -distance_, "cable-5"),
    ("cable.distance", _with_the_key, "cable-1 cable-2 cable-3 cable-5"),
    ("cable.distance", _twice, "cable-7"),
    ("cable.logarithm", lambda distance_: -sp.log(1 + distance_), "cable-9 cable-10"),
    ("cable.logarithm", lambda distance_: -sp.log(2 + distance_**2), "cable-9"),
]
