"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import paths

STEP = sp.Symbol("l", integer=True)


def _with_the_key(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(paths.LOG_GATES[STEP], (STEP, key, query))


def _gates_with_the_key(*, key: sp.Expr, query: sp.Expr) -> sp.Product:
    return sp.Product(sp.exp(paths.LOG_GATES[STEP]), (STEP, key, query))


def _up_to_the_query(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(paths.LOG_GATES[STEP], (STEP, key + 1, query - 1))


WRONG: list[tuple[Any, ...]] = [
    ("paths.fox_log_gate", lambda logit: -sp.log(1 + sp.exp(logit)), "fox-3 fox-6"),
    ("paths.fox_log_gate", lambda logit: -sp.log(2 + sp.exp(-logit)), "fox-10"),
    ("paths.fox_bias", _with_the_key, "fox-1 grape-10 fox-2 fox-7 fox-8 fox-11"),
    ("paths.fox_bias", _up_to_the_query, "fox-12"),
    ("paths.fox_path_gate", _gates_with_the_key, "fox-4 fox-13"),
    (
        "paths.fox_constant_bias",
        lambda gate, *, query_position, key_position: gate * (key_position - query_position),
        "fox-2",
    ),
    ("paths.fox_timescale_logit", lambda timescale: -sp.log(sp.exp(1 / timescale) + 1), "fox-10"),
    ("paths.fox_timescales", lambda heads, *, shortest, longest: (shortest,) * heads, "fox-10"),
    ("paths.fox_timescales", lambda heads, *, shortest, longest: tuple(range(2, 2 + heads)), "fox-10"),
    ("paths.fox_state", lambda state, *, gate, written: gate * (state + written), "fox-4"),
    ("grape.fox_link", lambda *, log_gate: sp.Matrix([[1, 0], [log_gate, 1]]), "fox-6 grape-10"),
    ("paths.fox_pruning_threshold", lambda *, bound, keys, mass: -(bound + sp.log(keys)) + sp.log(mass), "fox-9"),
    ("paths.fox_pruning_threshold", lambda *, bound, keys, mass: -2 * bound + sp.log(mass), "fox-9"),
]
