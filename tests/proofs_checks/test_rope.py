"""RoPE's claims: why falsifiers fall, the figures they quote, and wrong formulas."""

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers.rope import CLAIMS
from proofs_checks.runner import Result
from theory.encodings import rotary

COUNTEREXAMPLES = {
    "rope-1": {
        "key turned backwards": r"R\(i\)\^T R\(i \+ D\) = R\(D\), entry 1: 0.84\d* != -0.65\d* at D = 4, i = 4",
        "offset reversed": r"entry 2: 0.756\d* != -0.756\d* at D = 4, i = 4",
        "unequal gains after rotation": r"entry 1: -1.40\d* != -0.65\d* at D = 4, i = 4",
    },
    "rope-2": {
        "with the scaling of xPos": r"\|R q\|\^2 = \|q\|\^2, entry 1: 9.84\d* != 10.0+ at n = 4",
        "with unequal gains": r"\|R q\|\^2 = \|q\|\^2, entry 1: 39.9\d* != 10.0+ at n = 4",
    },
    "rope-3": {
        "the score is monotone": r"d = 16, all ones: the score is 5.54310 at D = 3, 5.55968 at D = 4",
        "the score is largest at distance 0": r"k = R\(5\) q: the score is 6.13704 at D = 0 and 8.00000 at D = 5",
        "the last difference left out": r"all ones, D = 0: the score 8.0+ is beyond the bound 0",
        "the last partial sum left out": r"h = \(5,\), angles .*: max \|step\| sum \|S\| is 5, the bound 0",
        "twice the bound is attained": r"h = \(5,\), angles .*: max \|step\| sum \|S\| is 5, the bound 10",
    },
    "rope-4": {
        "the key is the query": r"r = 1: the score is 0.540302 at D = r, 1.0+ at 0",
        "turned the other way": r"r = 1: the score is -0.416147 at D = r, 0.540302 at 0",
    },
    "rope-5": {
        "all planes turn once": r"L = 4096: 18 of 64 planes turn less than once, from plane 46 on, not 0",
        "without 2 pi": r"plane 46 has the period 4711.72",
        "one head twice as wide": r"plane 46 has the period 4711.72",
    },
    "rope-6": {
        "equal without permuting": r"d = 4: R_halves P = P R_interleaved, entry 1: 0 != 0.756\d*",
        "the inverse permutation": r"d = 6: R_halves P = P R_interleaved, entry 1: 0 != 0.756\d*",
    },
    "rope-7": {
        "unequal gains on the query": r"entry 1: -0.558\d* != -1.307\d* at D = 4, i = 4",
        "the same unequal gains on both": r"entry 1: -0.368\d* != -2.614\d* at D = 4, i = 4",
        "gains drawn at random": r"entry 1: -1.394\d* != -0.217\d* at D = 4, i = 4",
    },
}

FIGURES = [
    ("rope-3", r"all ones score 5.54310 at D = 3 and more at D = 4"),
    ("rope-3", r"k = R\(5\) q scores 6.13704 there and 8.00000 at D = 5"),
    ("rope-5", r"18 of 64 planes turn less than once"),
    ("rope-6", r"entry by entry for d = 2, 4, .. 12"),
]

RIGHT_ROTATION, RIGHT_BOUND, RIGHT_COORDINATES = rotary.rotation, rotary.decay_bound, rotary.coordinates


def _backwards(angle: sp.Expr) -> sp.Matrix:
    return RIGHT_ROTATION(-angle)


def _stretched(angle: sp.Expr) -> sp.Matrix:
    return 2 * RIGHT_ROTATION(angle)


def _swapped(plane: sp.Expr, *, head_dim: sp.Expr, layout: rotary.Layout) -> tuple[sp.Expr, sp.Expr]:
    return RIGHT_COORDINATES(plane, head_dim=head_dim, layout=layout)[::-1]


WRONG: list[tuple[ModuleType, str, Any, str]] = [
    (rotary, "rotation", _backwards, "rope-1"),
    (rotary, "rotation", _stretched, "rope-2"),
    (rotary, "rotation", _stretched, "rope-7"),
    (rotary, "score", lambda query, key, **at: query.dot(key), "rope-4"),
    (rotary, "score", lambda query, key, **at: query.dot(key), "rope-7"),
    (rotary, "partial_sum", lambda terms, count: sp.Sum(terms(sp.Symbol("l")), (sp.Symbol("l"), 0, count)), "rope-3"),
    (
        rotary,
        "by_parts",
        lambda content, sums, planes: rotary.partial_sum(
            lambda plane: (content(plane + 1) - content(plane)) * sums(plane + 1), planes
        ),
        "rope-3",
    ),
    (rotary, "decay_bound", lambda content, angles: RIGHT_BOUND(content, angles) / 2, "rope-3"),
    (rotary, "decay_bound", lambda content, angles: RIGHT_BOUND(content[::-1], angles), "rope-3"),
    (rotary, "decay_bound", lambda content, angles: RIGHT_BOUND(content, angles[::-1]), "rope-3"),
    (rotary, "frequency", lambda plane, *, head_dim, base=10000: base ** (-plane / head_dim), "rope-5"),
    (rotary, "period", lambda plane, *, head_dim, base=10000: 1 / rotary.frequency(plane, head_dim=head_dim), "rope-5"),
    (
        rotary,
        "last_full_turn",
        lambda length, *, head_dim, base=10000: head_dim * sp.log(length) / (2 * sp.log(base)),
        "rope-5",
    ),
    (rotary, "coordinates", _swapped, "rope-6"),
    (rotary, "to_halves", lambda head_dim: tuple(reversed(range(head_dim))), "rope-6"),
]


@pytest.mark.parametrize("claim_id", COUNTEREXAMPLES)
def test_falsifiers_fall_for_the_reason_that_makes_them_false(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    falsifiers = {falsifier.name: falsifier for falsifier in result_of(claim_id).falsifiers}
    assert set(falsifiers) == set(COUNTEREXAMPLES[claim_id])
    for name, reason in COUNTEREXAMPLES[claim_id].items():
        assert falsifiers[name].rejected
        assert re.search(reason, falsifiers[name].reason), falsifiers[name].reason


@pytest.mark.parametrize(("claim_id", "figure"), FIGURES)
def test_the_facts_quote_the_figure(claim_id: str, figure: str, result_of: Callable[[str], Result]) -> None:
    evidence = result_of(claim_id).evidence
    assert evidence is not None
    assert any(re.search(figure, fact) for fact in evidence.facts), evidence.facts


@pytest.mark.parametrize(
    ("module", "name", "wrong", "claim_id"), WRONG, ids=[f"{row[1]}-{row[3]}-{n}" for n, row in enumerate(WRONG)]
)
def test_wrong_formula_is_refuted(
    module: ModuleType, name: str, wrong: Any, claim_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = next(claim for claim in CLAIMS if claim.id == claim_id)
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(Refuted, match=r"\d"):
        claim.check(**claim.holds)
