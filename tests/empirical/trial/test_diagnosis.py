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


def kinds(run, prediction, counts, **columns):
    return list(findings(evidence(histories(run, counts, **columns), prediction)))


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


def test_a_cell_that_does_as_both_rules_say_has_no_findings(small_run):
    run = small_run()
    wrong_in_all = {"seen_steps": 0.5, "seen_samples": 0.0, "exact_match_seen": nan}
    assert kinds(run, YES, {SOLVES: 3, FAILS: 1}, **wrong_in_all) == []
    assert kinds(run, NO, {FAILS: 3}, **wrong_in_all) == []
    assert kinds(run, None, {FAILS: 3}) == kinds(run, NOTHING, {FAILS: 3}) == []


def test_a_cell_to_which_no_finding_applies_is_unexplained(small_run):
    diagnosis = findings(evidence(histories(small_run(), {FAILS: 3}), YES))
    assert list(diagnosis) == ["unexplained"]
    assert "solve 0 of 150 samples whose entries were all met" in diagnosis["unexplained"].says
    assert kinds(small_run(), NO, {SOLVES: 3}) == ["unexplained"]


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


LABELS = replace(UNCOVERED, entries_covered=True, labels_covered=False)


def test_labels_that_training_never_meets(small_run):
    run = small_run()
    finding = findings(evidence(histories(run, {FAILS: 3}), LABELS))["label coverage"]
    assert finding.evidence == {"breaks_at": 3, "observed": 4}
    finding = findings(evidence(histories(run, {SOLVES: 2, FAILS: 1}), LABELS))["label coverage"]
    assert "generalize all the same" in finding.says
    assert "label coverage" not in kinds(run, UNCOVERED, {FAILS: 3})
    growing = replace(LABELS, complexity_test=2)
    assert kinds(run, growing, {SOLVES: 3}) == ["unexplained"], "coverage was not what the prediction rested on"


HALF_SEEN = {"seen_steps": 0.9, "seen_samples": {1: 1, 2: 1, 3: 0.8, 4: 0.5}}


@pytest.mark.parametrize("prediction", [YES, UNCOVERED])
def test_seen_entries_solved_and_unseen_ones_not_is_operator_coverage(small_run, prediction):
    """50 test samples a scale and run; at scale 4 half are seen, and just these are right."""
    runs = histories(small_run(), {(1, 1, 1, 0.5): 3}, exact_match_seen=1.0, **HALF_SEEN)
    finding = findings(evidence(runs, prediction))["operator-table coverage"]
    assert finding.evidence["seen"] == {"right": 75, "samples": 75, "exact_match": 1}
    assert finding.evidence["unseen"] == {"right": 0, "samples": 75, "exact_match": 0}
    assert [row["scale"] for row in finding.evidence["scales"]] == [4], "where they fail"
    assert "solve 75 of 75 samples whose entries were all met in training, 0 of 75 of the others" in finding.says


@pytest.mark.parametrize(
    "why, score, columns",
    [
        ("seen samples fail as well", 0.5, {"exact_match_seen": 0.5, **HALF_SEEN}),
        ("all is seen", 0.5, {"exact_match_seen": None, "seen_steps": 1.0, "seen_samples": 1.0}),
        ("too few are unseen", 0.9, {"exact_match_seen": 1.0, "seen_steps": 0.99, "seen_samples": 0.9}),
    ],
)
def test_other_failures_are_not_operator_coverage(small_run, why, score, columns):
    assert kinds(small_run(), YES, {(1, 1, 1, score): 3}, **columns) == ["unexplained"], why


@pytest.mark.parametrize("share, solved, against", [(0.5, 0.2, True), (0.1, 0.6, True), (0.4, 0.95, False)])
def test_one_scale_where_seen_samples_fail_speaks_against_coverage(small_run, share, solved, against):
    """Seen samples are solved at scale 3 but fail at 4, even if few are unseen there: there is another reason too."""
    columns = {
        "seen_steps": 0.9,
        "seen_samples": {1: 1, 2: 1, 3: 0.8, 4: share},
        "exact_match_seen": {1: 1, 2: 1, 3: 1, 4: solved},
    }
    finding_kinds = kinds(small_run(), YES, {(1, 1, 0.8, 0.1): 9}, **columns)
    assert finding_kinds == ["unexplained" if against else "operator-table coverage"]


@pytest.mark.parametrize("share, match", [(0, nan), (0.1, 1)])
def test_where_hardly_a_sample_is_wholly_seen_coverage_cannot_be_tested(small_run, share, match):
    columns = {
        "seen_steps": 0.7,
        "seen_samples": {1: 1, 2: 1, 3: 1, 4: share},
        "exact_match_seen": {1: 1, 2: 1, 3: 1, 4: match},
    }
    diagnosis = findings(evidence(histories(small_run(), {(1, 1, 1, 0.1): 3}, **columns), YES))
    assert list(diagnosis) == ["operator-table coverage, not testable"]
    assert "30% of steps" in diagnosis["operator-table coverage, not testable"].says


def test_entries_that_runs_solve_unseen_or_that_are_too_rare_to_matter(small_run):
    run = small_run()
    diagnosis = findings(evidence(histories(run, {SOLVES: 3}, exact_match_seen=1.0, **HALF_SEEN), UNCOVERED))
    assert "105 of 105 of the test samples" in diagnosis["operator-table coverage"].says
    assert "too few" not in diagnosis["operator-table coverage"].says
    rare = {"seen_steps": 0.99, "seen_samples": 0.96, "exact_match_seen": 1.0}
    diagnosis = findings(evidence(histories(run, {(1, 1, 0.96, 0.96): 9}, **rare), UNCOVERED))
    assert "0 of 36 of the test samples" in diagnosis["operator-table coverage"].says
    assert "too few to be missed" in diagnosis["operator-table coverage"].says
    at_the_limit = rare | {"seen_samples": {1: 1, 2: 1, 3: 0.96, 4: 0.94}}
    diagnosis = findings(evidence(histories(run, {(1, 1, 0.96, 0.96): 9}, **at_the_limit), UNCOVERED))
    assert "of 45 of the test samples" in diagnosis["operator-table coverage"].says
    assert "too few to be missed" in diagnosis["operator-table coverage"].says, "45 of 900 is one in twenty"


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


def test_seeds_that_disagree(small_run):
    diagnosis = findings(evidence(histories(small_run(), {SOLVES: 1, FAILS: 3, UNFIT: 4}), YES))
    assert diagnosis["optimisation"].says == "1 of 4 fitting runs generalize"
    diagnosis = findings(evidence(histories(small_run(), {SOLVES: 3, FAILS: 1}), NO))
    assert diagnosis["optimisation"].says == "3 of 4 fitting runs generalize"


def test_runs_that_solve_it_at_another_checkpoint(small_run):
    run = small_run()
    lost, never = course(run, (SOLVES, 0), (FAILS, 0)), course(run, (FAILS, 0), (FAILS, 0))
    diagnosis = findings(evidence([lost, lost, never], YES))
    assert diagnosis["optimisation"].says == "2 of 3 runs that fail solve every scale at another checkpoint"
    unlearnt = course(run, (FAILS, 0), (UNFIT, 0))
    diagnosis = findings(evidence([unlearnt, unlearnt], YES))
    assert list(diagnosis) == ["not fitted", "optimisation"]
    assert "2 of 2 runs that fail solve every training scale at another checkpoint" in diagnosis["optimisation"].says


def test_unseen_distractors_matter_to_cells_predicted_to_generalize(small_run):
    distracted = replace(YES, unseen_distractors=7)
    assert kinds(small_run(), distracted, {FAILS: 3}) == ["unseen distractors"]
    assert kinds(small_run(), replace(UNCOVERED, unseen_distractors=7), {FAILS: 3}) == ["unexplained"]
    assert kinds(small_run(), replace(NO, unseen_distractors=7), {SOLVES: 3}) == ["unexplained"]


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
