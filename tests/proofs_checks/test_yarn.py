"""The claims on YaRN: counterexamples, figures, and wrong formulas that they refute."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers import yarn as claims
from proofs_checks.runner import Result
from theory.encodings import yarn

COUNTEREXAMPLES = {
    "yarn-1": {
        "gamma = 0 planes unchanged": r"gamma = 0, entry 1: 16.0000 != 4.00000",
        "few turns kept": r"r = .*, t = -1: gamma is 1, not 0",
        "late planes kept": r"l = .*, t = -1: gamma is 0, not 1",
    },
    "yarn-2": {
        "without 2 pi": r"d = 128, L = 4096: plane c\(1\) turns 0.1592 times",
        "counting every coordinate": r"d = 128, L = 4096: plane c\(1\) turns 0.001534 times",
    },
    "yarn-3": {
        "one ramp": r"l = 30: gamma is 0.248 by turns, 0.615 by index, 0.367 apart",
        "furthest in the middle of the range": r"l = 30: gamma is 0.248 by turns, 0.615 by index, 0.367 apart",
        "half as far": r"0.367 apart, not 0.183",
    },
    "yarn-4": {
        "by the factor itself": r"score at i = j = 0, entry 1: .* != .* at S = \d",
        "by 1 / t squared": r"score at i = j = 0, entry 1: .* != .* at S = \d",
        "without the 1": r"the factor .*1.10000 != 0.100000 at S = 1",
    },
    "yarn-5": {"temperature factor 1.1 at s = 1": r"1.00000 != 1.10000"},
}

FIGURES = [
    ("yarn-2", r"d = 128, .*c\(32\) = 20\.94, c\(1\) = 45\.03, the code ramp falls from 20 to 46"),
    ("yarn-3", r"l = 30: gamma is 0\.248 by turns, 0\.615 by index, 0\.367 apart"),
]

RIGHT_RAMP, RIGHT_RANGE = yarn.ramp, yarn.index_range


def _without_refusal(*sizes: Any, **law: Any) -> tuple[sp.Expr, sp.Expr]:
    try:
        return RIGHT_RANGE(*sizes, **law)
    except ValueError:
        return sp.Integer(0), sp.Integer(0)


WRONG: list[tuple[str, Callable[..., Any], str]] = [
    ("turns", lambda frequency, *, trained_length: trained_length * frequency, "yarn-2"),
    ("turns", lambda frequency, *, trained_length: trained_length * frequency / 6, "yarn-3"),
    ("ramp", lambda turns, *, alpha, beta: sp.Max(0, sp.Min(1, (turns - alpha) / beta)), "yarn-1"),
    ("ramp", lambda turns, *, alpha, beta: RIGHT_RAMP(turns, alpha=0, beta=beta), "yarn-3"),
    ("plane_with", lambda turns, *, head_dim, base, trained_length: trained_length / turns, "yarn-2"),
    ("index_range", lambda *sizes, **law: (sp.Integer(0), sp.Integer(46)), "yarn-2"),
    ("index_range", _without_refusal, "yarn-2"),
    ("index_ramp", lambda plane, *, first, last: sp.Max(0, sp.Min(1, (plane - first) / (last - first))), "yarn-1"),
    ("index_ramp", lambda plane, *, first, last: sp.Integer(1), "yarn-3"),
    ("frequency", lambda frequency, *, kept, scale: kept * frequency / scale + (1 - kept) * frequency, "yarn-1"),
    ("frequency", lambda frequency, *, kept, scale: frequency / scale + kept * frequency, "yarn-5"),
    ("magnitude", lambda scale: sp.log(scale) + 1, "yarn-4"),
    ("magnitude", lambda scale: sp.log(scale) / 10 + 2, "yarn-5"),
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
    monkeypatch.setattr(yarn, name, wrong)
    claim = next(claim for claim in claims.CLAIMS if claim.id == claim_id)
    with pytest.raises(Refuted, match=r"\d"):
        claim.check(**claim.holds)


def test_a_range_without_extent_is_refused() -> None:
    law = {"alpha": sp.Integer(1), "beta": sp.Integer(32)}
    with pytest.raises(ValueError, match="no ramp: it would fall from plane 0 to plane 0"):
        yarn.index_range(8, trained_length=sp.Integer(4), base=10000, **law)
    with pytest.raises(ValueError, match="no ramp: it would fall from plane 10 to plane 7"):
        yarn.index_range(8, trained_length=sp.Integer(4096), base=3, **law)
