"""The claims on FIRE: counterexamples, figures, and wrong formulas that they refute."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers import fire as claims
from proofs_checks.runner import Result
from theory.encodings import fire
from theory.relation import absolute, relative

COUNTEREXAMPLES = {
    "fire-1": {
        "divided by psi(L) alone": r"c = 1/10, L = 1/2, j = 2, D = 1: the input is 1.953",
        "positions counted from 0, as in the listing": r"c = 1/10, L = 1/2, j = 2, D = 1: the input is 1.000",
    },
    "fire-2": {
        "for every query": r"L = 1, D = 1: the input is 0.6309 at j = 2, 0.5000 at j = 3, so not relative up to j = 8",
        "up to L + 1": r"L = 2, D = 1: the input is 0.6309 at j = 2, 0.5000 at j = 3, so not relative up to j = 3",
        "up to L - 1": r"L = 3, D = 1: the input is 0.5000 at j = 2, 0.5000 at j = 3, so not only relative up to j = 2",
    },
    "fire-3": {
        "exact at j = L + 1": r"c = 1, L = 1, j = 2, D = 1, m = 1: f of the input: -0.5486 is not -1.000",
        "f linear": r"c = 1, L = 2, j = 2, D = 1, m = 1: f of the input: -1.262 is not -1.000",
        "without the 1 taken off": r"c = 1, L = 1, j = 1, D = 0, m = 1: f of the input: -1.000 is not 0",
    },
    "fire-3-width": {
        "n - 3 units, or 1": r"4 distances: the table \[0, 1, 0, 1\] forces 2 kinks, 1 units have less",
        "n - 2 units": r"2 distances, 0 units, any table, entry 2: 1.00000 != -11.0000",
        "T5 forces more than 45": r"force 45 kinks on 128 distances: not more than 45",
    },
    "fire-4": {
        "equal at equal distances": r"c = 1, L = 1/2, j = 2: the input at D = 1, .* 1.000: 0.6309 is not 1.710",
        "distances scaled by L/j": r"c = 1, L = 1/2, j = 2: the input at D = 1, .* 0.2500: 0.6309 is not 0.5503",
    },
}

FIGURES = {
    "fire-3": [r"c = 1, L = 1, j = 3, D = 2: -0.7320 for -2", r"T5: .*w\[Bucket\(D, 32, 128\)\]"],
    "fire-3-width": [r"force 45 kinks on 128 distances, the published network has 32 units; from 54 distances on"],
}


def _without_threshold(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return fire.psi(distance, rate=rate) / fire.psi(query_position, rate=rate)


def _with_the_smaller(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return fire.psi(distance, rate=rate) / fire.psi(sp.Min(query_position, threshold), rate=rate)


WRONG = [
    ("fire.psi", lambda distance, *, rate: rate * distance, "fire-1", r"e\^psi\(x\) = c x \+ 1"),
    ("fire.psi", lambda distance, *, rate: sp.log(rate * distance + 2), "fire-1", r"e\^psi\(x\) = c x \+ 1"),
    ("fire.fraction", _with_the_smaller, "fire-1", r"the input is 1\.\d+"),
    ("fire.fraction", _without_threshold, "fire-2", r"L = 3, D = 1: the input is .*, so not relative up to j = 3"),
    ("fire.relation", lambda threshold: relative(), "fire-2", r"label 1 has the inputs"),
    ("fire.relation", lambda threshold: absolute(), "fire-2", r"L = 1: the relation has 36 labels"),
    (
        "fire.recovered_distance",
        lambda part, *, threshold, rate: sp.exp(part * fire.psi(threshold, rate=rate)) / rate,
        "fire-3",
        "f of the input: -1.000 is not 0",
    ),
    (
        "fire.recovered_distance",
        lambda part, *, threshold, rate: part * threshold,
        "fire-4",
        "the input at D = 1",
    ),
    ("fire.HIDDEN", 31, "fire-3-width", "the network has 31 units, not 32"),
]


def test_every_claim_has_its_counterexamples_listed() -> None:
    assert {claim.id: set(claim.falsifiers) for claim in claims.CLAIMS} == {
        claim_id: set(reasons) for claim_id, reasons in COUNTEREXAMPLES.items()
    }


@pytest.mark.parametrize("claim_id", COUNTEREXAMPLES)
def test_falsifiers_fall_for_the_reason_that_makes_them_false(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    for falsifier in result_of(claim_id).falsifiers:
        assert falsifier.rejected, falsifier.reason
        assert re.search(COUNTEREXAMPLES[claim_id][falsifier.name], falsifier.reason), falsifier.reason


@pytest.mark.parametrize("claim_id", FIGURES)
def test_the_figures_are_computed(claim_id: str, result_of: Callable[[str], Result]) -> None:
    evidence = result_of(claim_id).evidence
    assert evidence is not None
    for figure in FIGURES[claim_id]:
        assert any(re.search(figure, fact) for fact in evidence.facts), (figure, evidence.facts)


@pytest.mark.parametrize(("name", "wrong", "claim_id", "reason"), WRONG)
def test_a_wrong_formula_is_refuted(
    name: str, wrong: Any, claim_id: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"theory.encodings.{name}", wrong)
    claim = next(claim for claim in claims.CLAIMS if claim.id == claim_id)
    with pytest.raises(Refuted, match=reason):
        claim.check(**claim.holds)
