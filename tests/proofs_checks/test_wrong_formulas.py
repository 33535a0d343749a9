"""A wrong formula in theory/ is refuted by the claim that rests on it, with a counterexample."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import sympy as sp

from proofs_checks import registry
from proofs_checks.runner import Verdict, run
from theory.encodings import fox, grape, hope


def _cosine_over_speed(gram: grape.Gram, *, time: sp.Expr, speed: sp.Expr) -> grape.PlaneOperator:
    generator = grape.rank2_generator(gram)
    cosine = (generator @ generator).scaled((1 - sp.cos(time * speed)) / speed)
    return grape.identity(gram) + generator.scaled(sp.sin(time * speed) / speed) + cosine


def _reversed_generator(gram: grape.Gram) -> grape.PlaneOperator:
    return grape.PlaneOperator(gram=gram, identity=sp.Integer(0), coefficients=sp.Matrix([[0, -1], [1, 0]]))


def _count_with_zero(matrix: Any, scale: int) -> int:
    return len(np.unique(np.asarray(matrix)[:scale, :scale][np.triu_indices(scale)]))


def _last_value_wins(target: Any, labels: Any, *, training_scale: int) -> Any:
    learned = np.zeros_like(target)
    for key, query in zip(*np.triu_indices(labels.shape[0]), strict=True):
        for seen_query in range(training_scale):
            for seen_key in range(seen_query + 1):
                if labels[seen_key, seen_query] == labels[key, query]:
                    learned[..., key, query] = target[..., seen_key, seen_query]
    return learned


def _knows_the_target(target: Any, labels: Any, *, training_scale: int) -> Any:
    return target


WRONG: list[tuple[str, str, Callable[..., Any], str]] = [
    (
        "theory.encodings.rotary",
        "rotation",
        lambda angle: sp.Matrix([[sp.cos(angle), sp.sin(angle)], [-sp.sin(angle), sp.cos(angle)]]),
        "rope-1",
    ),
    (
        "theory.encodings.rotary",
        "rotation",
        lambda angle: sp.Matrix([[sp.cos(angle), sp.sin(angle)], [-sp.sin(angle), sp.cos(angle)]]),
        "grape-5",
    ),
    ("theory.encodings.rotary", "score", lambda query, key, **positions: query.dot(key), "rope-1"),
    ("theory.encodings.grape", "squared_speed", lambda gram: gram.alpha * gram.beta + gram.gamma**2, "grape-1"),
    ("theory.encodings.grape", "rank2_exponential", _cosine_over_speed, "grape-1"),
    ("theory.encodings.grape", "rank2_generator", _reversed_generator, "grape-1"),
    ("theory.encodings.grape", "rank2_generator", _reversed_generator, "grape-5"),
    ("theory.encodings.grape", "plane_projector", grape.identity, "grape-1"),
    ("theory.encodings.lift", "nilpotent", lambda: sp.Matrix([[0, 1], [0, 0]]), "grape-8"),
    ("theory.encodings.lift", "unipotent", lambda generator, time: sp.eye(2) - time * generator, "grape-8"),
    ("theory.encodings.lift", "score", lambda content, **actions: content, "grape-10"),
    (
        "theory.encodings.alibi",
        "bias",
        lambda slope, *, query_position, key_position: slope * (query_position - key_position),
        "grape-8",
    ),
    ("theory.encodings.alibi", "generator", lambda *, slope: sp.Matrix([[0, 0], [slope, 0]]), "grape-8"),
    ("theory.encodings.alibi", "generator", lambda *, slope: sp.Matrix([[0, 0], [slope, 0]]), "grape-10"),
    ("theory.encodings.fox", "link", lambda *, log_gate: sp.Matrix([[1, 0], [log_gate, 1]]), "grape-10"),
    (
        "theory.encodings.fox",
        "path_bias",
        lambda *, key, query: sp.Sum(fox.LOG_GATES[sp.Symbol("l")], (sp.Symbol("l"), key, query)),
        "fox-1",
    ),
    (
        "theory.encodings.fox",
        "path_bias",
        lambda *, key, query: sp.Sum(fox.LOG_GATES[sp.Symbol("l")], (sp.Symbol("l"), key, query)),
        "grape-10",
    ),
    (
        "theory.encodings.fox",
        "path_gate",
        lambda *, key, query: sp.Product(fox.LOG_GATES[sp.Symbol("l")], (sp.Symbol("l"), key + 1, query)),
        "fox-1",
    ),
    (
        "theory.encodings.hope",
        "boost",
        lambda rapidity: sp.Matrix([[sp.cosh(rapidity), -sp.sinh(rapidity)], [-sp.sinh(rapidity), sp.cosh(rapidity)]]),
        "hope-1",
    ),
    (
        "theory.encodings.hope",
        "key_action",
        lambda position, *, rate, damping: sp.exp(-position * damping) * hope.boost(-position * rate),
        "hope-1",
    ),
    (
        "theory.encodings.hope",
        "kernel",
        lambda offset, *, rate, damping: sp.exp(-offset * damping) * hope.boost(-offset * rate),
        "hope-6-complex",
    ),
    ("theory.encodings.hope", "score", lambda query, key, **law: query.dot(key), "hope-1"),
    ("theory.encodings.hope", "light_cone_score", lambda query, key, **law: query.dot(key), "hope-1"),
    (
        "theory.encodings.hope",
        "decay_factors",
        lambda *, rate, damping: (sp.exp(-damping), sp.exp(-rate - damping)),
        "hope-6-real",
    ),
    ("theory.lrc", "lrc", _count_with_zero, "pola-2b"),
    ("theory.pola", "learned_matrix", _last_value_wins, "pola-2b"),
    ("theory.pola", "learned_matrix", _knows_the_target, "pola-2b"),
]


@pytest.mark.parametrize(("module", "name", "wrong", "claim_id"), WRONG, ids=[f"{row[1]}-{row[3]}" for row in WRONG])
def test_wrong_formula_is_refuted(
    module: str, name: str, wrong: Callable[..., Any], claim_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = registry.select([claim_id])
    monkeypatch.setattr(import_module(module), name, wrong)
    (result,) = run(claims)
    assert (result.verdict, result.holds) == (Verdict.REFUTED, False), result.reason
