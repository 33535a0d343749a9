"""Verdicts of toy claims, whose check does as its parameter says."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength, Unsettled
from lengthgen.proofs_checks.result import Result, Verdict
from lengthgen.proofs_checks.runner import run, run_claim
from lengthgen.theory.zero.sympy_engine import Undecided

Outcome = Callable[[], Evidence]


def _raising(error: BaseException) -> Outcome:
    def check() -> Evidence:
        raise error

    return check


def _accepting(strength: Strength = Strength.NUMERIC, reach: str = "") -> Outcome:
    return lambda: Evidence(strength=strength, facts=("accepted",), reach=reach)


ACCEPT, REFUTE, CRASH = _accepting(), _raising(Refuted("1 != 2")), _raising(ZeroDivisionError("by zero"))
LEAVE, GIVE_UP = _raising(SystemExit(3)), _raising(Undecided("outside the fragment"))
SAY_NOTHING: Any = lambda: None  # noqa: E731


def _claim(ours: Outcome, *, falsifier: Outcome = REFUTE, printed: Outcome | None = None) -> Claim:
    return Claim(
        id="toy-1",
        source=Source(paper="toy", arxiv="0000.00000", place="nowhere"),
        statement="the [statement], for n <= 3",
        latex="x",
        label="F",
        check=lambda *, outcome: outcome(),
        holds={"outcome": partial(ours)},
        falsifiers={"wrong": {"outcome": falsifier}},
        printed={"outcome": printed} if printed else {},
    )


NOT_REJECTED, NOT_REFUTED = "falsifier 'wrong' is not rejected: ", "the printed statement is not refuted"
UNNAMED = "the statement does not name the range that the check went through: "


@pytest.mark.parametrize(
    ("claim", "verdict", "reason"),
    [
        (_claim(ACCEPT), Verdict.VERIFIED, ""),
        (_claim(REFUTE), Verdict.REFUTED, "1 != 2"),
        (_claim(CRASH), Verdict.UNSETTLED, "ZeroDivisionError: by zero"),
        (_claim(GIVE_UP), Verdict.UNSETTLED, "Undecided: outside the fragment"),
        (_claim(_raising(Unsettled("5 runs are missing"))), Verdict.UNSETTLED, "5 runs are missing"),
        (_claim(LEAVE), Verdict.UNSETTLED, "SystemExit: 3"),
        (_claim(SAY_NOTHING), Verdict.UNSETTLED, "the check returned NoneType, not Evidence"),
        (_claim(ACCEPT, falsifier=LEAVE), Verdict.UNSETTLED, NOT_REJECTED + "SystemExit: 3"),
        (_claim(ACCEPT, falsifier=ACCEPT), Verdict.UNSETTLED, NOT_REJECTED + "the check accepts it"),
        (_claim(ACCEPT, falsifier=CRASH), Verdict.UNSETTLED, NOT_REJECTED + "ZeroDivisionError: by zero"),
        (_claim(ACCEPT, falsifier=GIVE_UP), Verdict.UNSETTLED, NOT_REJECTED + "Undecided: outside"),
        (_claim(ACCEPT, printed=REFUTE), Verdict.CORRECTED, "as printed: 1 != 2"),
        (_claim(ACCEPT, printed=ACCEPT), Verdict.UNSETTLED, NOT_REFUTED),
        (_claim(ACCEPT, printed=CRASH), Verdict.UNSETTLED, NOT_REFUTED),
        (_claim(_accepting(Strength.EXHAUSTIVE, "n <= 3")), Verdict.VERIFIED, ""),
        (_claim(_accepting(Strength.EXHAUSTIVE, "n <= 4")), Verdict.UNSETTLED, UNNAMED + "n <= 4"),
        (_claim(_accepting(Strength.EXHAUSTIVE)), Verdict.UNSETTLED, UNNAMED + "?"),
        (_claim(_accepting(Strength.BOUNDED, "n <= 4")), Verdict.UNSETTLED, UNNAMED + "n <= 4"),
        (_claim(_accepting(Strength.GENERAL)), Verdict.VERIFIED, ""),
    ],
)
def test_verdict_and_reason(claim: Claim, verdict: Verdict, reason: str) -> None:
    result = run_claim(claim)
    assert result.verdict == verdict
    assert result.reason.startswith(reason) and bool(result.reason) == bool(reason)
    assert result.holds == (verdict in (Verdict.VERIFIED, Verdict.CORRECTED))
    assert result.strength == (claim.holds["outcome"]().strength if result.holds else None)
    assert Result.from_plain(claim, json.loads(json.dumps(result.as_plain()))) == result
    [falsifier] = result.falsifiers
    assert falsifier.rejected == (falsifier.reason == "1 != 2")


def test_claims_are_run_in_order() -> None:
    assert [result.verdict for result in run([_claim(ACCEPT), _claim(REFUTE)])] == ["verified", "refuted"]


def test_a_claim_cut_short_is_unsettled_and_has_rejected_nothing() -> None:
    result = Result.cut_short(_claim(ACCEPT), "passed its time limit of 1 s", 1.0)
    assert (result.verdict, result.strength, result.holds) == (Verdict.UNSETTLED, None, False)
    assert result.reason == "passed its time limit of 1 s"
    assert [(falsifier.name, falsifier.rejected, falsifier.reason) for falsifier in result.falsifiers] == [
        ("wrong", False, result.reason)
    ]
