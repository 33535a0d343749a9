"""Verdicts of toy claims, whose check does as its name says."""

import json
from collections.abc import Callable
from functools import partial

import pytest

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength, Unsettled
from lengthgen.proofs_checks.result import Result, Verdict
from lengthgen.proofs_checks.runner import run, run_claim
from lengthgen.theory.zero.sympy_engine import Undecided


def _accept() -> Evidence:
    return Evidence(strength=Strength.NUMERIC, facts=("accepted",))


def _refute() -> Evidence:
    raise Refuted("1 != 2")


def _crash() -> Evidence:
    raise ZeroDivisionError("by zero")


def _leave() -> Evidence:
    raise SystemExit(3)


def _say_nothing() -> Evidence:
    return None  # type: ignore[return-value]


def _give_up() -> Evidence:
    raise Undecided("outside the fragment")


def _wait() -> Evidence:
    raise Unsettled("5 runs are missing")


def _claim(
    ours: Callable[[], Evidence],
    *,
    falsifier: Callable[[], Evidence] = _refute,
    printed: Callable[[], Evidence] | None = None,
) -> Claim:
    return Claim(
        id="toy-1",
        source=Source(paper="toy", arxiv="0000.00000", place="nowhere"),
        statement="the [statement]",
        latex="x",
        label="F",
        check=lambda *, outcome: outcome(),
        holds={"outcome": partial(ours)},
        falsifiers={"wrong": {"outcome": falsifier}},
        printed={"outcome": printed} if printed else {},
    )


@pytest.mark.parametrize(
    ("claim", "verdict", "reason"),
    [
        (_claim(_accept), Verdict.VERIFIED, ""),
        (_claim(_refute), Verdict.REFUTED, "1 != 2"),
        (_claim(_crash), Verdict.UNSETTLED, "ZeroDivisionError: by zero"),
        (_claim(_give_up), Verdict.UNSETTLED, "Undecided: outside the fragment"),
        (_claim(_wait), Verdict.UNSETTLED, "5 runs are missing"),
        (_claim(_leave), Verdict.UNSETTLED, "SystemExit: 3"),
        (_claim(_say_nothing), Verdict.UNSETTLED, "the check returned NoneType, not Evidence"),
        (_claim(_accept, falsifier=_leave), Verdict.UNSETTLED, "falsifier 'wrong' is not rejected"),
        (_claim(_accept, printed=_refute), Verdict.CORRECTED, "as printed: 1 != 2"),
        (_claim(_accept, printed=_accept), Verdict.UNSETTLED, "the printed statement is not refuted"),
        (_claim(_accept, printed=_crash), Verdict.UNSETTLED, "the printed statement is not refuted"),
        (_claim(_accept, falsifier=_accept), Verdict.UNSETTLED, "falsifier 'wrong' is not rejected"),
        (_claim(_accept, falsifier=_crash), Verdict.UNSETTLED, "falsifier 'wrong' is not rejected"),
        (_claim(_accept, falsifier=_give_up), Verdict.UNSETTLED, "falsifier 'wrong' is not rejected"),
    ],
)
def test_verdict_and_reason(claim: Claim, verdict: Verdict, reason: str) -> None:
    result = run_claim(claim)
    assert result.verdict == verdict
    assert result.reason.startswith(reason)
    assert result.holds == (verdict in (Verdict.VERIFIED, Verdict.CORRECTED))
    assert result.strength == (Strength.NUMERIC if result.holds else None)


def test_crashing_falsifier_is_not_rejected() -> None:
    (falsifier,) = run_claim(_claim(_accept, falsifier=_crash)).falsifiers
    assert not falsifier.rejected
    assert falsifier.reason == "ZeroDivisionError: by zero"


def test_claims_are_run_in_order() -> None:
    assert [result.verdict for result in run([_claim(_accept), _claim(_refute)])] == ["verified", "refuted"]


@pytest.mark.parametrize("outcome", [_accept, _refute, _crash, _leave, _say_nothing])
@pytest.mark.parametrize("falsifier", [_accept, _refute])
def test_a_result_survives_being_written_and_read(
    outcome: Callable[[], Evidence], falsifier: Callable[[], Evidence]
) -> None:
    claim = _claim(outcome, falsifier=falsifier, printed=_refute)
    result = run_claim(claim)
    assert Result.from_plain(claim, json.loads(json.dumps(result.as_plain()))) == result


def test_a_claim_cut_short_is_unsettled_and_has_rejected_nothing() -> None:
    result = Result.cut_short(_claim(_accept), "passed its time limit of 1 s", 1.0)
    assert (result.verdict, result.strength, result.holds) == (Verdict.UNSETTLED, None, False)
    assert result.reason == "passed its time limit of 1 s"
    assert [(falsifier.name, falsifier.rejected, falsifier.reason) for falsifier in result.falsifiers] == [
        ("wrong", False, result.reason)
    ]
