"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import hope


def _without_n(query: Any, key: Any) -> tuple[Any, Any]:
    return (query[0] + query[1]) * (key[0] + key[1]), sp.Integer(0)


RIGHT_KEY, RIGHT_MARGINS = hope.peaked_key, hope.falling_margins


WRONG: list[tuple[Any, ...]] = [
    ("hope.boost", lambda t: sp.Matrix([[sp.cosh(t), -sp.sinh(t)], [-sp.sinh(t), sp.cosh(t)]]), "hope-1 hope-2"),
    ("hope.boost", lambda t: sp.cosh(t) * sp.eye(2), "hope-2"),
    ("hope.query_action", lambda position, *, rate, damping: hope.boost(position * rate), "hope-1"),
    ("hope.key_action", lambda position, *, rate, damping: hope.boost(position * rate), "hope-1"),
    ("hope.kernel", lambda offset, *, rate, damping: hope.boost(offset * rate), "hope-7"),
    ("hope.score", lambda query, key, **law: query[0] * key[0] + query[1] * key[1], "hope-1 hope-3"),
    ("hope.channels", _without_n, "hope-1"),
    ("hope.channels", lambda query, key: _without_n(query, key)[::-1], "hope-3 hope-5-uniform"),
    ("hope.decay_rates", lambda *, rate, damping: (damping, damping + rate), "hope-1 hope-7"),
    ("hope.decay_rates", lambda *, rate, damping: (damping + rate, damping - rate), "hope-10"),
    ("hope.plane_with", lambda *, slow, fast: (fast - slow, fast + slow), "hope-7"),
    ("hope.light_cone", lambda: sp.Matrix([[1, 1], [1, 1]]), "hope-7 hope-2"),
    ("hope.light_cone_score", lambda query, key, **law: RIGHT_KEY(query, **law)[0], "hope-8"),
    ("hope.light_cone_score", lambda query, key, *, offset, **law: 5 * sp.exp(-offset), "hope-5"),
    ("hope.decay_factors", lambda *, rate, damping: (sp.exp(-damping), sp.exp(-damping)), "hope-6-real"),
    ("hope.falling_margins", lambda *content, **law: RIGHT_MARGINS(*content, **law)[::-1], "hope-4"),
    ("hope.falling_margins", lambda query, key, **law: _without_n(query, key), "hope-4 hope-4-gaussian"),
    ("hope.peaked_key", lambda query, *, offset, **law: RIGHT_KEY(query, offset=2 * offset, **law), "hope-8"),
    ("hope.peaked_key", lambda query, **law: query, "hope-8"),
]
