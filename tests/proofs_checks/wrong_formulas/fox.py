"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import fox

STEP = sp.Symbol("l", integer=True)


def _with_the_key(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(fox.LOG_GATES[STEP], (STEP, key, query))


def _gates_with_the_key(*, key: sp.Expr, query: sp.Expr) -> sp.Product:
    return sp.Product(sp.exp(fox.LOG_GATES[STEP]), (STEP, key, query))


def _up_to_the_query(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(fox.LOG_GATES[STEP], (STEP, key + 1, query - 1))


WRONG: list[tuple[Any, ...]] = [
    ("fox.log_gate", lambda logit: -sp.log(1 + sp.exp(logit)), "fox-3 fox-6"),
    ("fox.log_gate", lambda logit: -sp.log(2 + sp.exp(-logit)), "fox-10"),
    ("fox.path_bias", _with_the_key, "fox-1 grape-10 fox-2 fox-7 fox-8 fox-11"),
    ("fox.path_bias", _up_to_the_query, "fox-12"),
    ("fox.path_gate", _gates_with_the_key, "fox-4 fox-13"),
    (
        "fox.constant_bias",
        lambda gate, *, query_position, key_position: gate * (key_position - query_position),
        "fox-2",
    ),
    ("fox.timescale_logit", lambda timescale: -sp.log(sp.exp(1 / timescale) + 1), "fox-10"),
    ("fox.timescales", lambda heads, *, shortest, longest: (shortest,) * heads, "fox-10"),
    ("fox.timescales", lambda heads, *, shortest, longest: tuple(range(2, 2 + heads)), "fox-10"),
    ("fox.recurrent_state", lambda state, *, gate, written: gate * (state + written), "fox-4"),
    ("fox.link", lambda *, log_gate: sp.Matrix([[1, 0], [log_gate, 1]]), "fox-6 grape-10"),
    ("fox.pruning_threshold", lambda *, bound, keys, mass: -(bound + sp.log(keys)) + sp.log(mass), "fox-9"),
    ("fox.pruning_threshold", lambda *, bound, keys, mass: -2 * bound + sp.log(mass), "fox-9"),
]
