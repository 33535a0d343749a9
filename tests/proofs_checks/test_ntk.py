"""The claims on NTK-aware scaling: counterexamples, figures, and wrong formulas that they refute."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers import ntk as claims
from proofs_checks.runner import Result
from theory.encodings import ntk, rotary
from theory.relation import from_function

COUNTEREXAMPLES = {
    "ntk-1": {
        "base times s": r"ln theta'_l .*-1.60000 != -2.66667",
        "exponent (d-2)/d": r"ln theta'_l .*-0.960000 != -2.66667",
    },
    "ntk-2": {
        "as in position interpolation": r"ln of the first factor, entry 1: -4.00000 != 0 at S = 4",
        "fast planes slowed most": r"ln of the first factor, entry 1: -4.00000 != 0 at S = 4",
    },
    "dntk-1": {
        "alpha T / L": r"alpha = 4, L = 4, T = 4: the scale is 4$",
        "without the maximum": r"alpha = 4, L = 4, T = 1: the scale is -2$",
    },
    "dntk-2": {
        "keys cached as they arrived": r"key 3 scores 0.961, key 23 1.435; turned for n = 64 both score 0.83",
        "keys turned for half the length": r"distance 40: key 3 scores 0.8707, key 23 1.006",
    },
}

FIGURES = [
    ("dntk-2", r"keys 3 and 23 score 0\.83, and as turned on arrival 0\.961 and 1\.435"),
    ("dntk-2", r"78 pairs of distance and length up to n = 12 have a label each"),
]


def _keys_turned_back(position: sp.Expr) -> tuple[sp.Matrix, sp.Matrix]:
    turn = rotary.rotation(position * rotary.FREQUENCY)
    return turn, turn.T


WRONG: list[tuple[str, Callable[..., Any], str]] = [
    ("scaled_base", lambda base, *, head_dim, scale: base * scale, "ntk-1"),
    ("share", lambda plane, *, head_dim: 2 * plane / head_dim, "ntk-1"),
    ("share", lambda plane, *, head_dim: 2 * plane / head_dim, "ntk-2"),
    ("factor", lambda share, *, scale: scale**share, "ntk-1"),
    ("factor", lambda share, *, scale: scale**share, "ntk-2"),
    ("frequencies", lambda head_dim, base, *, scale: rotary.frequencies(head_dim, base * scale), "ntk-1"),
    ("dynamic_scale", lambda length, *, trained_length, growth: length / trained_length, "dntk-1"),
    ("dynamic_scale", lambda length, *, trained_length, growth: sp.Max(1, growth * length / trained_length), "dntk-1"),
    ("_turned", _keys_turned_back, "ntk-1"),
    ("_turned", _keys_turned_back, "dntk-1"),
    ("_turned", _keys_turned_back, "dntk-2"),
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
def test_the_facts_quote_the_figures(claim_id: str, figure: str, result_of: Callable[[str], Result]) -> None:
    result = result_of(claim_id)
    assert result.evidence is not None
    assert any(re.search(figure, text) for text in (*result.evidence.facts, result.reason)), result.evidence.facts


@pytest.mark.parametrize(("name", "wrong", "claim_id"), WRONG, ids=[f"{row[0]}-{row[2]}" for row in WRONG])
def test_a_wrong_formula_is_refuted(
    name: str, wrong: Callable[..., Any], claim_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ntk, name, wrong)
    claim = next(claim for claim in claims.CLAIMS if claim.id == claim_id)
    with pytest.raises(Refuted, match=r"\d"):
        claim.check(**claim.holds)


def test_a_relation_that_forgets_the_length_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    for law in (lambda key, query, _: query - key, lambda key, query, length: query + length * length):
        relation = from_function(law, name="wrong", scale_hint=True)
        with monkeypatch.context() as patch:
            patch.setattr(ntk, "DYNAMIC", replace(ntk.DYNAMIC, relation=relation))
            claim = next(claim for claim in claims.CLAIMS if claim.id == "dntk-2")
            with pytest.raises(Refuted, match=r"\d+ pairs of distance and length have|have the labels"):
                claim.check(**claim.holds)
