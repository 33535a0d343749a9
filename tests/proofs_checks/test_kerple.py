"""The claims on KERPLE: counterexamples, figures, and wrong formulas that they refute."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers import kerple as claims
from proofs_checks.runner import Result

COUNTEREXAMPLES = {
    "kerple-1": {
        "up to p = 3": r"p = 3: x = \(-1, 0, 1\), c = \(1, -2, 1\) give c\^T K c = -8, and 100 times .* -8.000E\+6",
        "up to p = 5/2": r"p = 5/2: .* give c\^T K c = 8 - 8\*sqrt\(2\), and 100 times these points -3.314E\+5",
        "only up to ALiBi's p = 1": r"p = 2 is conditionally positive definite too",
    },
    "kerple-2": {
        "+|x - y|": r"p = 1, a = 1/10, x = \(0, 1\), c = \(1, -1\): c\^T K c = -2.000",
        "+log": r"p = 2, a = 1/10, x = \(0, 1\), c = \(1, -1\): c\^T K c = -0.1906",
        "up to p = 3": r"p = 3, a = 1/10, x = \(-1, 0, 1\), c = \(1, -2, 1\): c\^T K c = -0.4131",
    },
    "kerple-3": {
        "already with c = 0": r"x = \(0, 1\), p = 1, c = 0: K \+ c 1 1\^T is not positive definite",
        "with the c at which it is only semidefinite": r"x = \(0, 1\), p = 1, c = 1/2: K \+ c 1 1\^T is not",
        "for p = 2 too": r"x = \(0, 1, 2\), p = 2: the form is not positive .* \[\[2, 4\], \[4, 8\]\]",
    },
    "kerple-4": {
        "p = 2": r"-m D\^p = -m \(j - i\), D = j - i, entry 1: -64.0000 != -16.0000 at D = 4, m = 4",
        "r1 = 2m": r"-m D\^p = -m \(j - i\), D = j - i, entry 1: -32.0000 != -16.0000 at D = 4, m = 4",
    },
    "kerple-5": {
        "finite for r1 = 1": r"r1 = 1, r2 = 1: each doubling .* adds 1/2 or more, above 13.86 after 2\^20 keys",
        "infinite up to r1 = 2": r"r1 = 2: block k has 2\^k terms of at most 2\^\(-2 k\): finite sum",
        "finite from r1 = 1/2 on": r"r1 = 3/4: 2\^k terms of at least 2\^\(-3/4 \(k \+ 1\)\) each",
    },
}

FIGURES = {
    "kerple-1": [r"c\^T K c = 8 - 2\*2\*\*p, negative for every p > 2"],
    "kerple-2": [r"c\^T K c = a \(8 - 2\*2\*\*p\) \+ O\(a\^2\)"],
    "kerple-3": [r"x = \(0, 1, 2, 3, 4, 5\), p = 1: g = 20, and .* with c = 91/36"],
    "kerple-5": [r"each block 2\*\*\(1 - r1\) times"],
}


def _rising(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return scale * distance**exponent


def _cubed(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return -scale * distance ** (2 * exponent)


def _log_of_distance(distance: sp.Expr, *, scale: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return -scale * sp.log(2 + rate * distance)


WRONG = [
    ("kerple.power", _rising, "kerple-1", r"-K\(t\) = t\^p"),
    ("kerple.power", _cubed, "kerple-1", r"c\^T K c = -24"),
    ("kerple.power", _rising, "kerple-3", r"x = \(0, 1\), p = 1: the form is not positive"),
    ("kerple.power", _cubed, "kerple-4", "D = j - i, entry 1"),
    ("kerple.logarithm", _log_of_distance, "kerple-2", r"e\^\(-K\) = 1 \+ s"),
    ("kerple.logarithm", _log_of_distance, "kerple-5", r"weight\^\(-1/r1\)"),
    (
        "kerple.logarithm",
        lambda distance, *, scale, rate: -(scale**2) * sp.log(1 + rate * distance),
        "kerple-5",
        "scale: r1 times the kernel of r1 = 1",
    ),
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
