"""Answers on the terminal: at most 25 lines of 100 columns, and nothing is lost from --details."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from lengthgen.empirical.studies.verdict.verdict_command import together_screen, verdict_screen
from lengthgen.proofs_checks.claim import Evidence, Strength
from lengthgen.proofs_checks.result import FalsifierResult, Result, Verdict
from lengthgen.questions.encodings import encodings_screen, encodings_table, full_matrix
from lengthgen.questions.src import _runs_of_scales, src_screen
from lengthgen.questions.verify import ledger_screen
from lengthgen.terminal.layout import LINES, WIDEST
from lengthgen.theory import far, laws
from lengthgen.theory.encodings.encoding import Law
from tests.proofs_checks import toys


def lines(renderable, width=140):
    console = Console(width=width, file=io.StringIO())
    console.print(renderable)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def on_one_screen(renderable, width=140):
    shown = lines(renderable, width)
    assert len(shown) <= LINES and max(map(len, shown)) <= WIDEST
    return " ".join(" ".join(shown).split())


def results(count, verdict=Verdict.VERIFIED):
    evidence = (
        None if verdict in (Verdict.REFUTED, Verdict.UNSETTLED) else Evidence(strength=Strength.NUMERIC, facts=())
    )
    return [
        Result(
            claim=replace(toys.CLAIMS["toy-0"], id=f"{verdict}-{number}", statement="A statement of some words. " * 4),
            verdict=verdict,
            evidence=evidence,
            reason="" if verdict is Verdict.VERIFIED else "1 != 2",
            falsifiers=(FalsifierResult(name="one", rejected=verdict is not Verdict.UNSETTLED, reason=""),),
            seconds=1.0,
        )
        for number in range(count)
    ]


def test_a_few_claims_have_their_statements_and_some_more_a_line_each():
    few = on_one_screen(ledger_screen(results(2) + results(1, Verdict.REFUTED)))
    assert few.startswith("2 of 3 claims hold; 3 of 3 falsifiers are rejected")
    assert few.count("statement of some words") == 12 and "1 != 2" in few
    some = on_one_screen(ledger_screen(results(15)))
    assert all(f"verified-{number} [F] verified numeric A statement" in some for number in range(15))
    assert some.endswith("whole statements and reasons: --details")


@pytest.mark.parametrize("width", [80, 140])
def test_many_claims_are_counted_and_named_where_they_are_not_verified(width):
    ledger = (
        results(400) + results(90, Verdict.CORRECTED) + results(2, Verdict.REFUTED) + results(60, Verdict.UNSETTLED)
    )
    shown = on_one_screen(ledger_screen(ledger), width)
    assert shown.startswith("490 of 552 claims hold; 492 of 492 falsifiers are rejected")
    assert "verified 400 - 400" in shown and "unsettled - 60 60" in shown
    assert "refuted: refuted-0, refuted-1 corrected: corrected-0" in shown
    left = int(shown.partition("corrected: ")[2].partition("and ")[2].split()[0])
    assert shown.partition("corrected: ")[2].partition("unsettled:")[0].count("corrected-") + left == 90


def test_the_screen_of_encodings_names_them_all(monkeypatch, tmp_path):
    """Properties that the screen does not show are not computed here: claims of each encoding decide them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("causal_only", "bounded"):
        monkeypatch.setattr(far, name, lambda _: True)
    decide_law, unshown = laws.decide_law, laws.Ruling(holds=True, reason="not computed here")
    monkeypatch.setattr(
        laws, "decide_law", lambda encoding, law: decide_law(encoding, law) if law is Law.RELATIVE else unshown
    )
    answer = full_matrix()
    shown = on_one_screen(encodings_screen(answer)).replace(",", " ").split()
    names = {row["name"] for row in answer["encodings"]} | set(answer["without_formulas"])
    assert names <= set(shown)
    few = {"encodings": answer["encodings"][:3], "without_formulas": {}}
    assert lines(encodings_screen(few), WIDEST) == lines(encodings_table(few), WIDEST)


def test_equal_values_of_successive_scales_are_one_row():
    values = {"1": 1, "2": 1, "3": 2, "5": 2, "6": 2, "400": 2}
    assert _runs_of_scales(values) == [("1-2", 1), ("3", 2), ("5-6", 2), ("400", 2)]
    answer = {
        "src": {str(n): n for n in range(1, 61)}, "bounds": {str(n): [n, n] for n in range(1, 61)}, "status": "exact",
        "statement": "SRC(f, 60) = 60", "stopped": None, "wiring": [["place t"]] * 40, "roles": None, "unread": None,
    }  # fmt: skip
    shown = on_one_screen(src_screen(answer))
    assert shown.startswith("exact: SRC(f, 60) = 60") and shown.count("more: --details") == 2


def judged_verdict():
    """Made-up answer of one preregistration: thirty rules against a baseline, and a registered pair."""
    wins = {"wins_first": 9, "wins_second": 1}
    e_values = {"against_second": 99.0, "against_first": 0.1}
    pair = {"first": "r0", "second": "b", "better": "r0", **wins, **e_values}
    scores = {"always-no": 0.3, "rate": None, "r0": 0.2, "elsewhere": 0.1}
    return {
        "title": "Which?", "runs": 9, "seen": 3, "cells": 4, "counting": 2, "gaps": 0,
        "pairs": [pair | {"part": part} for part in ("all", "judgement")],
        "fair": [
            {"first": f"r{n}", "second": "rate with SRC", "kind": kind, "better": better, **wins, **e_values}
            for n in range(30) for kind, better in (("in use", "rate with SRC"), ("all", f"r{n}"))
        ],
        "kinds": {"all": {"rules": {name: {"brier": score} for name, score in scores.items()}}},
    }  # fmt: skip


def test_the_verdict_shows_rules_beside_baselines_and_ranks_them():
    answer = judged_verdict()
    shown = on_one_screen(verdict_screen(answer))
    assert "r0 rate with SRC 9:1 (99) - no task 9:1 (99) +" in shown and "r1 " not in shown, "not registered"
    assert "Brier score: r0 0.200, always-no 0.300" in shown
    assert "r0 against b 9 : 1 99 : 0.1: r0" in shown


def test_all_verdicts_together_keep_to_one_screen():
    answer = judged_verdict()
    answer["pairs"] += [pair | {"first": f"r{n}"} for n in range(1, 30) for pair in answer["pairs"][:2]]
    trials = {"trials": 3, "own": {"consistent": 5, "refuted": 2}, "over_all": {"consistent": 1, "refuted": 0}}
    over_all = {"experiments": {"first": answer, "second": answer}, "trials": trials, "hypotheses": 70, "rejected": 4}
    shown = on_one_screen(together_screen(over_all))
    assert "it keeps 1 of 5 consistent, 0 of 2 refuted" in shown and "--details" in shown
