"""How verdicts are reached, on toy claims whose check does as it is told."""

from collections.abc import Callable
from functools import partial

import pytest

from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from proofs_checks.report import as_json, table
from proofs_checks.runner import Result, Verdict, run, run_claim
from theory.exact import Undecided


def _accept() -> Evidence:
    return Evidence(strength=Strength.NUMERIC, facts=("accepted",))


def _refute() -> Evidence:
    raise Refuted("1 != 2")


def _crash() -> Evidence:
    raise ZeroDivisionError("by zero")


def _give_up() -> Evidence:
    raise Undecided("outside the fragment")


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


def test_callback_sees_each_result_in_order() -> None:
    seen: list[Result] = []
    results = run([_claim(_accept), _claim(_refute)], on_done=seen.append)
    assert tuple(seen) == results


def test_json_contract() -> None:
    ledger = as_json(run([_claim(_accept, printed=_refute)]))
    assert set(ledger) == {"claims", "holds"}
    assert ledger["holds"] is True
    (entry,) = ledger["claims"]
    assert set(entry) == {
        *("id", "verdict", "holds", "strength", "seconds", "falsifiers", "reason"),
        *("statement", "latex", "label", "source", "facts", "assumptions"),
    }
    assert (entry["id"], entry["verdict"], entry["strength"]) == ("toy-1", "corrected", "numeric")
    assert entry["falsifiers"] == [{"name": "wrong", "rejected": True, "reason": "1 != 2"}]
    assert entry["seconds"] >= 0


def test_json_of_a_run_that_does_not_hold() -> None:
    ledger = as_json(run([_claim(_accept), _claim(_refute)]))
    assert ledger["holds"] is False
    assert ledger["claims"][1]["strength"] is None


def test_table_has_one_row_a_claim() -> None:
    assert table(run([_claim(_accept), _claim(_refute)])).row_count == 2
