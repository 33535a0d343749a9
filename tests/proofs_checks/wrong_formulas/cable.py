"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

STEP = sp.Symbol("l", integer=True)


def _with_the_key(steps: sp.IndexedBase, *, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(steps[STEP], (STEP, key, query))


def _twice(steps: sp.IndexedBase, *, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(2 * steps[STEP], (STEP, key + 1, query))


WRONG: list[tuple[Any, ...]] = [
    ("paths.cable_log_gate", lambda logit: -sp.log(1 + sp.exp(-logit)), "cable-1 cable-3"),
    ("paths.cable_log_gate", lambda logit: sp.log(1 + sp.exp(logit)), "cable-2", r"the step .* is -"),
    ("paths.cable_rectified", lambda logit: logit, "cable-2"),
    ("paths.cable_rectified", lambda logit: sp.log(1 + sp.exp(logit)), "cable-4 cable-6"),
    ("paths.cable_rectified", lambda logit: sp.Integer(1), "cable-3-without-bias"),
    ("paths.cable_gate", lambda logit: logit, "cable-2"),
    ("paths.cable_bias", lambda distance_, *, gate: gate * distance_, "cable-1 cable-2 cable-3 cable-6 cable-7"),
    ("paths.cable_bias", lambda distance_, *, gate: -gate * distance_**2, "cable-5 cable-7"),
    ("paths.cable_bias", lambda distance_, *, gate: -distance_, "cable-5"),
    ("paths.cable_distance", _with_the_key, "cable-1 cable-2 cable-3 cable-5"),
    ("paths.cable_distance", _twice, "cable-7"),
    ("paths.cable_logarithm", lambda distance_: -sp.log(1 + distance_), "cable-9 cable-10"),
    ("paths.cable_logarithm", lambda distance_: -sp.log(2 + distance_**2), "cable-9"),
]
