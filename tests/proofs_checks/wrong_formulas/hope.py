"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from theory.encodings import hope


def _without_n(query: Any, key: Any) -> tuple[Any, Any]:
    return (query[0] + query[1]) * (key[0] + key[1]), sp.Integer(0)


RIGHT_KEY, RIGHT_MARGINS = hope.peaked_key, hope.falling_margins


WRONG: list[tuple[str, Any, str, str]] = [
    (
        "theory.encodings.hope.boost",
        lambda t: sp.Matrix([[sp.cosh(t), -sp.sinh(t)], [-sp.sinh(t), sp.cosh(t)]]),
        "hope-2",
        r"\d",
    ),
    ("theory.encodings.hope.boost", lambda t: sp.cosh(t) * sp.eye(2), "hope-2", r"\d"),
    (
        "theory.encodings.hope.query_action",
        lambda position, *, rate, damping: hope.boost(position * rate),
        "hope-1",
        r"\d",
    ),
    (
        "theory.encodings.hope.key_action",
        lambda position, *, rate, damping: hope.boost(position * rate),
        "hope-1",
        r"\d",
    ),
    ("theory.encodings.hope.kernel", lambda offset, *, rate, damping: hope.boost(offset * rate), "hope-7", r"\d"),
    ("theory.encodings.hope.score", lambda query, key, **law: query[0] * key[0] + query[1] * key[1], "hope-3", r"\d"),
    ("theory.encodings.hope.channels", _without_n, "hope-1", r"\d"),
    ("theory.encodings.hope.channels", lambda query, key: _without_n(query, key)[::-1], "hope-3", r"\d"),
    ("theory.encodings.hope.channels", lambda query, key: _without_n(query, key)[::-1], "hope-5-uniform", r"\d"),
    ("theory.encodings.hope.decay_rates", lambda *, rate, damping: (damping, damping + rate), "hope-1", r"\d"),
    ("theory.encodings.hope.decay_rates", lambda *, rate, damping: (damping, damping + rate), "hope-7", r"\d"),
    ("theory.encodings.hope.decay_rates", lambda *, rate, damping: (damping + rate, damping - rate), "hope-10", r"\d"),
    ("theory.encodings.hope.plane_with", lambda *, slow, fast: (fast - slow, fast + slow), "hope-7", r"\d"),
    ("theory.encodings.hope.light_cone", lambda: sp.Matrix([[1, 1], [1, 1]]), "hope-7", r"\d"),
    ("theory.encodings.hope.light_cone", lambda: sp.Matrix([[1, 1], [1, 1]]), "hope-2", r"\d"),
    ("theory.encodings.hope.light_cone_score", lambda query, key, **law: RIGHT_KEY(query, **law)[0], "hope-8", r"\d"),
    (
        "theory.encodings.hope.light_cone_score",
        lambda query, key, *, offset, **law: 5 * sp.exp(-offset),
        "hope-5",
        r"\d",
    ),
    (
        "theory.encodings.hope.decay_factors",
        lambda *, rate, damping: (sp.exp(-damping), sp.exp(-damping)),
        "hope-6-real",
        r"\d",
    ),
    (
        "theory.encodings.hope.falling_margins",
        lambda *content, **law: RIGHT_MARGINS(*content, **law)[::-1],
        "hope-4",
        r"\d",
    ),
    ("theory.encodings.hope.falling_margins", lambda query, key, **law: _without_n(query, key), "hope-4", r"\d"),
    (
        "theory.encodings.hope.falling_margins",
        lambda query, key, **law: _without_n(query, key),
        "hope-4-gaussian",
        r"\d",
    ),
    (
        "theory.encodings.hope.peaked_key",
        lambda query, *, offset, **law: RIGHT_KEY(query, offset=2 * offset, **law),
        "hope-8",
        r"\d",
    ),
    ("theory.encodings.hope.peaked_key", lambda query, **law: query, "hope-8", r"\d"),
]
