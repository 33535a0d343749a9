"""Findings on cells that do not do as predicted: each shown by evidence made for it, and absent without it."""

import json
from dataclasses import replace
from math import nan

import pytest

from lengthgen.empirical.trial.conjecture import judge
from lengthgen.empirical.trial.diagnosis import diagnose, disagreements
from tests.empirical.trial.trials import (
    FAILS,
    MAIN,
    NO,
    NOTHING,
    SOLVES,
    UNCOVERED,
    UNFIT,
    YES,
    evidence,
    histories,
    rows,
)


def findings(cell_evidence):
    [cell] = judge([cell_evidence], MAIN)
    results = diagnose(cell, cell_evidence, MAIN)
    json.dumps([finding.evidence for finding in results], allow_nan=False)
    return {finding.kind: finding for finding in results}


@pytest.mark.parametrize(
    "prediction, counts, rules",
    [
        (YES, {SOLVES: 3}, {}),
        (YES, {FAILS: 3}, {"coverage": True, "literal": True}),
        (NO, {SOLVES: 3}, {"coverage": False, "literal": False}),
        (UNCOVERED, {FAILS: 3}, {"literal": True}),
        (UNCOVERED, {SOLVES: 3}, {"coverage": False}),
        (YES, {SOLVES: 1, FAILS: 1}, {}),
        (YES, {UNFIT: 3}, {}),
        (None, {FAILS: 3}, {}),
        (NOTHING, {FAILS: 3}, {}),
    ],
)
def test_the_rules_that_a_cell_disagrees_with(small_run, prediction, counts, rules):
    [cell] = judge([evidence(histories(small_run(), counts), prediction)], MAIN)
    assert disagreements(cell) == rules


def test_a_cell_that_is_not_learnt_shows_its_course(small_run):
    run = small_run()
    course = [*rows(UNFIT, epoch=1), *rows((0.5, 0.1, 0, 0), epoch=2), *rows((0.9, 0.3, 0, 0), epoch=3)]
    better = [*rows(UNFIT, epoch=1), *rows((0.5, 0.1, 0, 0), epoch=2), *rows((0.9, 0.9, 0, 0), epoch=3)]
    finding = findings(evidence([(run, course), (run, course), (run, better)], YES))["not fitted"]
    assert finding.evidence["course"] == [[1, 0.75], [2, pytest.approx(0.3)], [3, pytest.approx(0.6)]]
    assert finding.evidence["change"] == pytest.approx(0.3)
    assert (finding.evidence["worst_scale_median"], finding.evidence["worst_scale_best_run"]) == (0.3, 0.9)
    assert finding.evidence["computable_in_training"] is True
    assert "0.60 over the training scales (+0.30 since" in finding.says


def test_an_encoding_that_cannot_compute_its_training_steps_is_reported(small_run):
    run, impossible = small_run(), replace(NO, complexity_train=float("inf"), breaks_at=2)
    finding = findings(evidence(histories(run, {UNFIT: 3}), impossible))["not fitted"]
    assert finding.evidence["computable_in_training"] is False
    assert "cannot compute every training step" in finding.says
    assert finding.evidence["change"] is None
    for without in (None, NOTHING):
        finding = findings(evidence(histories(run, {UNFIT: 3}), without))["not fitted"]
        assert finding.evidence["computable_in_training"] is None


HALF_SEEN = {"seen_steps": 0.9, "seen_samples": {1: 1, 2: 1, 3: 0.8, 4: 0.5}}
WRONG_IN_ALL = {"seen_steps": 0.5, "seen_samples": 0.0, "exact_match_seen": nan}
ALL_RIGHT = {"exact_match_seen": 1.0}
RARE = {"seen_steps": 0.99, "seen_samples": 0.96, "exact_match_seen": 1.0}
LABELS = replace(UNCOVERED, entries_covered=True, labels_covered=False)
GROWING = replace(LABELS, complexity_test=2)
"""A prediction that does not rest on coverage."""
DISTRACTED = {prediction: replace(prediction, unseen_distractors=7) for prediction in (YES, UNCOVERED, NO)}
PART = (1, 1, 1, 0.5)


def seen(steps, three, four, *solved):
    """Columns of a cell whose samples at scales 3 and 4 are seen in part, and are then solved so often."""
    columns = {"seen_steps": steps, "seen_samples": {1: 1, 2: 1, 3: three, 4: four}}
    return columns | {"exact_match_seen": dict(enumerate((1, 1, *solved), 1))}


COVERED, NOT_TESTABLE = "operator-table coverage", "operator-table coverage, not testable"
UNEXPLAINED = {"unexplained": ""}
TOO_FEW = {COVERED: "too few to be missed"}
FINDINGS = {
    "as predicted": (YES, {SOLVES: 3, FAILS: 1}, WRONG_IN_ALL, {}),
    "fails as predicted": (NO, {FAILS: 3}, WRONG_IN_ALL, {}),
    "no prediction": (None, {FAILS: 3}, {}, {}),
    "a prediction of nothing": (NOTHING, {FAILS: 3}, {}, {}),
    "nothing applies": (YES, {FAILS: 3}, {}, {"unexplained": "solve 0 of 150 samples whose entries were all met"}),
    "nothing applies to one that solves": (NO, {SOLVES: 3}, {}, UNEXPLAINED),
    "labels that fail": (LABELS, {FAILS: 3}, {}, {"label coverage": ""}),
    "labels": (LABELS, {SOLVES: 2, FAILS: 1}, {}, {"label coverage": "generalize all the same", "optimisation": ""}),
    "labels and entries": (UNCOVERED, {FAILS: 3}, {}, UNEXPLAINED),
    "labels beside a growing circuit": (GROWING, {SOLVES: 3}, {}, UNEXPLAINED),
    "seen samples fail as well": (YES, {PART: 3}, HALF_SEEN | {"exact_match_seen": 0.5}, UNEXPLAINED),
    "all is seen": (YES, {PART: 3}, {"exact_match_seen": None, "seen_steps": 1.0, "seen_samples": 1.0}, UNEXPLAINED),
    "too few are unseen": (YES, {(1, 1, 1, 0.9): 3}, RARE | {"seen_samples": 0.9}, UNEXPLAINED),
    "half are seen and fail": (YES, {(1, 1, 0.8, 0.1): 9}, seen(0.9, 0.8, 0.5, 1, 0.2), UNEXPLAINED),
    "few are seen and fail": (YES, {(1, 1, 0.8, 0.1): 9}, seen(0.9, 0.8, 0.1, 1, 0.6), UNEXPLAINED),
    "seen ones are solved at every scale": (YES, {(1, 1, 0.8, 0.1): 9}, seen(0.9, 0.8, 0.4, 1, 0.95), {COVERED: ""}),
    "none is wholly seen": (YES, {(1, 1, 1, 0.1): 3}, seen(0.7, 1, 0, 1, nan), {NOT_TESTABLE: "30% of steps"}),
    "hardly one is wholly seen": (YES, {(1, 1, 1, 0.1): 3}, seen(0.7, 1, 0.1, 1, 1), {NOT_TESTABLE: "30% of steps"}),
    "unseen ones are solved": (UNCOVERED, {SOLVES: 3}, ALL_RIGHT | HALF_SEEN, {COVERED: "105 of 105 of the test"}),
    "36 unseen samples": (UNCOVERED, {(1, 1, 0.96, 0.96): 9}, RARE, TOO_FEW),
    "one in twenty": (UNCOVERED, {(1, 1, 0.96, 0.96): 9}, RARE | seen(0.99, 0.96, 0.94, 1, 1), TOO_FEW),
    "seeds disagree": (YES, {SOLVES: 1, FAILS: 3, UNFIT: 4}, {}, {"optimisation": "1 of 4 fitting runs generalize"}),
    "seeds against a refusal": (NO, {SOLVES: 3, FAILS: 1}, {}, {"optimisation": "3 of 4 fitting runs generalize"}),
    "unseen distractors": (DISTRACTED[YES], {FAILS: 3}, {}, {"unseen distractors": ""}),
    "distractors, uncovered": (DISTRACTED[UNCOVERED], {FAILS: 3}, {}, UNEXPLAINED),
    "distractors, solved": (DISTRACTED[NO], {SOLVES: 3}, {}, UNEXPLAINED),
}


@pytest.mark.parametrize("prediction, counts, columns, expected", FINDINGS.values(), ids=FINDINGS)
def test_the_findings_of_a_cell(small_run, prediction, counts, columns, expected):
    diagnosis = findings(evidence(histories(small_run(), counts, **columns), prediction))
    assert list(diagnosis) == list(expected)
    assert all(part in diagnosis[kind].says for kind, part in expected.items())
    assert ("too few" in str(diagnosis)) == (expected is TOO_FEW)


def test_seen_entries_solved_and_unseen_ones_not_is_operator_coverage(small_run):
    """50 test samples a scale and run; at scale 4 half are seen, and just these are right."""
    runs = histories(small_run(), {(1, 1, 1, 0.5): 3}, exact_match_seen=1.0, **HALF_SEEN)
    finding = findings(evidence(runs, YES))["operator-table coverage"]
    assert finding.evidence["seen"] == {"right": 75, "samples": 75, "exact_match": 1}
    assert finding.evidence["unseen"] == {"right": 0, "samples": 75, "exact_match": 0}
    assert [row["scale"] for row in finding.evidence["scales"]] == [4], "where they fail"
    assert "solve 75 of 75 samples whose entries were all met in training, 0 of 75 of the others" in finding.says


def course(run, *points):
    return (
        run,
        [row for epoch, (scores, loss) in enumerate(points, 1) for row in rows(scores, epoch=epoch, loss=loss)],
    )


@pytest.mark.parametrize(
    "before, last, falling", [(1.0, 0.5, True), (1.0, 0.95, False), (1.0, 1.2, False), (1e-3, 1e-4, False)]
)
@pytest.mark.parametrize("scores", [FAILS, UNFIT])
def test_a_loss_still_falling_at_the_end(small_run, scores, before, last, falling):
    diagnosis = findings(evidence([course(small_run(), (scores, 9.0), (scores, before), (scores, last))] * 3, YES))
    assert ("optimisation" in diagnosis) is falling
    if falling:
        assert "fell by 50% to 0.5" in diagnosis["optimisation"].says


def test_runs_that_solve_it_at_another_checkpoint(small_run):
    run = small_run()
    lost, never = course(run, (SOLVES, 0), (FAILS, 0)), course(run, (FAILS, 0), (FAILS, 0))
    diagnosis = findings(evidence([lost, lost, never], YES))
    assert diagnosis["optimisation"].says == "2 of 3 runs that fail solve every scale at another checkpoint"
    unlearnt = course(run, (FAILS, 0), (UNFIT, 0))
    diagnosis = findings(evidence([unlearnt, unlearnt], YES))
    assert list(diagnosis) == ["not fitted", "optimisation"]
    assert "2 of 2 runs that fail solve every training scale at another checkpoint" in diagnosis["optimisation"].says


def test_several_findings_stand_in_order_and_change_no_verdict(small_run):
    distracted = replace(YES, unseen_distractors=7)
    cell_evidence = evidence(
        histories(small_run(), {SOLVES: 1, (1, 1, 1, 0.5): 12}, exact_match_seen=1.0, **HALF_SEEN), distracted
    )
    assert list(findings(cell_evidence)) == ["operator-table coverage", "optimisation", "unseen distractors"]
    assert findings(cell_evidence)["operator-table coverage"].evidence["seen"]["samples"] == 12 * 25, (
        "of the runs that fail"
    )
    [cell] = judge([cell_evidence], MAIN)
    assert cell.verdict == "refuted"
