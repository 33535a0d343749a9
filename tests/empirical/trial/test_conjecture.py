"""Verdicts of cells, by hand and by simulation."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from circuits.prediction import Prediction
from empirical.trial.conjecture import TrialError, judge
from empirical.trial.outcomes import by_checkpoint
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


def alone(run, prediction, counts, setting=MAIN):
    [cell] = judge([evidence(histories(run, counts), prediction)], setting)
    return cell


@pytest.mark.parametrize(
    "prediction, counts, verdict, p_against, p_for",
    [
        (YES, {SOLVES: 5}, "consistent", 1, 1 / 32),
        (NO, {SOLVES: 5}, "refuted", 1 / 32, 1),
        (YES, {FAILS: 5}, "refuted", 1 / 32, 1),
        (NO, {FAILS: 5}, "consistent", 1, 1 / 32),
        (YES, {FAILS: 4}, "undecided (power)", 1 / 16, 1),
        (YES, {SOLVES: 4, FAILS: 1}, "undecided (power)", 31 / 32, 6 / 32),
        (YES, {SOLVES: 4, UNFIT: 1}, "undecided (power)", 1, 1 / 16),
        (YES, {SOLVES: 1, UNFIT: 9}, "undecided (power)", 1, 1 / 2),
        (YES, {UNFIT: 5}, "not learnt", None, None),
        (NO, {UNFIT: 5}, "not learnt", None, None),
        (None, {SOLVES: 20}, "no prediction", None, None),
        (NOTHING, {SOLVES: 20}, "no prediction", None, None),
    ],
)
def test_verdicts_of_a_cell_alone(small_run, prediction, counts, verdict, p_against, p_for):
    cell = alone(small_run(), prediction, counts)
    assert cell.verdict == verdict
    assert (cell.p_against, cell.p_for) == (p_against, p_for)
    assert (cell.p_against_holm, cell.p_for_holm) == (p_against, p_for), "one cell needs no correction"


def test_among_several_cells_the_same_runs_decide_less(small_run):
    run = small_run()
    cells = judge([evidence(histories(run, {FAILS: 5}), YES, name=f"{t}/f/e") for t in "ab"], MAIN)
    assert [cell.verdict for cell in cells] == ["undecided (power)"] * 2
    assert [cell.p_against_holm for cell in cells] == [1 / 16] * 2


def test_cells_without_a_prediction_or_a_fitting_run_cost_the_others_nothing(small_run):
    run = small_run()
    others = [
        evidence(histories(run, {SOLVES: 9}), None, name="b/f/e"),
        evidence(histories(run, {UNFIT: 9}), YES, "c/f/e"),
    ]
    cells = judge([evidence(histories(run, {FAILS: 5}), YES), *others], MAIN)
    assert [cell.verdict for cell in cells] == ["refuted", "no prediction", "not learnt"]


def test_a_run_that_does_not_fit_counts_in_the_whole_and_not_in_the_condition(small_run):
    cell = alone(small_run(), YES, {SOLVES: 1, FAILS: 1, UNFIT: 1})
    assert (cell.fit.successes, cell.fit.trials) == (2, 3)
    assert (cell.generalizes_given_fit.successes, cell.generalizes_given_fit.trials) == (1, 2)
    assert (cell.generalizes.successes, cell.generalizes.trials) == (1, 3)


@pytest.mark.parametrize(
    "counts, observed",
    [
        ({SOLVES: 2, FAILS: 1}, True),
        ({SOLVES: 1, FAILS: 2, UNFIT: 9}, False),
        ({SOLVES: 1, FAILS: 1}, None),
        ({UNFIT: 3}, None),
    ],
)
def test_the_majority_of_fitting_runs_is_observed(small_run, counts, observed):
    assert alone(small_run(), YES, counts).observed is observed


def test_each_rule_has_its_own_prediction(small_run):
    run = small_run()
    predicted = {
        rule: [
            alone(run, prediction, {SOLVES: 5}, replace(MAIN, rule=rule)).predicted
            for prediction in (YES, NO, UNCOVERED, None)
        ]
        for rule in ("coverage", "literal")
    }
    assert predicted == {"coverage": [True, False, False, None], "literal": [True, False, True, None]}
    assert alone(run, UNCOVERED, {FAILS: 5}, replace(MAIN, rule="literal")).verdict == "refuted"
    assert alone(run, UNCOVERED, {FAILS: 5}).verdict == "consistent"


def test_threshold_checkpoint_and_mode_are_the_settings(small_run):
    run = small_run()
    history = [(run, [*rows((1, 1, 1, 1), epoch=1), *rows((1, 1, 0.9, 0.9), epoch=2)])] * 5
    cell_evidence = evidence(history, YES, declared=NO)
    verdicts = {
        name: judge([cell_evidence], replace(MAIN, **{name: value}))[0].verdict
        for name, value in {"threshold": 0.9, "checkpoint": "best_on_test", "mode": "declared"}.items()
    }
    assert judge([cell_evidence], MAIN)[0].verdict == "refuted"
    assert verdicts == dict.fromkeys(verdicts, "consistent")
    assert judge([cell_evidence], replace(MAIN, mode="typed"))[0].verdict == "no prediction"


def test_cells_of_another_size_are_left_out_and_a_size_that_no_cell_has_is_named(small_run):
    runs = histories(small_run(), {SOLVES: 5})
    evidences = [evidence(runs), evidence(runs, size="large")]
    assert [cell.key.size for cell in judge(evidences, replace(MAIN, size="large"))] == ["large"]
    with pytest.raises(TrialError, match="no cell has the model size 'huge': the cells have small, large"):
        judge(evidences, replace(MAIN, size="huge"))


def simulated(run, draw, chances, runs, draws):
    """Trials of cells with these chances to generalize, a random half predicted yes: lists of (cell, chance)."""
    pool = {True: (run, rows(SOLVES)), False: (run, rows(FAILS))}
    for _ in range(draws):
        evidences = []
        for number, chance in enumerate(chances):
            cell_runs = [pool[bool(draw.random() < chance)] for _ in range(runs)]
            evidences.append(evidence(cell_runs, YES if draw.random() < 0.5 else NO, name=f"{number}/f/e"))
        yield list(zip(judge(evidences, MAIN), chances, strict=True))


def test_the_chance_that_any_right_prediction_is_refuted_is_held_and_uncorrected_it_is_not(small_run):
    """The error is largest, and known, at the edge of the hypothesis, one half, where all predictions are right."""
    cells, runs, draws = 10, 8, 1_000  # 8 of 8 is the only result that 10 cells can be refuted by
    corrected = uncorrected = 0
    for trial in simulated(small_run(), np.random.default_rng(1), [0.5] * cells, runs, draws):
        corrected += any(cell.verdict == "refuted" for cell, _ in trial)
        uncorrected += any(cell.p_against <= 0.05 for cell, _ in trial)
    low, high = binom.ppf([1e-4, 1 - 1e-4], draws, 1 - (1 - 0.5**runs) ** cells)
    assert low <= corrected <= high < 0.1 * draws
    assert uncorrected > 0.2 * draws


def test_wrong_verdicts_are_rare_in_both_directions_and_right_ones_are_not(small_run):
    """Cells of all kinds, many runs: few trials hold any wrong name, most cells are named rightly."""
    wrong = {"refuted": 0, "consistent": 0}
    named, draws = 0, 300
    chances = [0, 0.1, 0.2, 0.45, 0.55, 0.8, 0.9, 1]
    for trial in simulated(small_run(), np.random.default_rng(2), chances, 20, draws):
        right = [(cell, cell.predicted == (chance > 0.5)) for cell, chance in trial]
        wrong["refuted"] += any(cell.verdict == "refuted" and agrees for cell, agrees in right)
        wrong["consistent"] += any(cell.verdict == "consistent" and not agrees for cell, agrees in right)
        named += sum(cell.verdict == ("consistent" if agrees else "refuted") for cell, agrees in right)
    assert all(count <= binom.ppf(0.999, draws, 0.05) for count in wrong.values())
    assert named / draws >= 4


def test_predictions_survive_json():
    for prediction in (YES, NO, UNCOVERED, NOTHING):
        assert Prediction.from_json(json.loads(json.dumps(prediction.as_json()))) == prediction


def test_checkpoints_ascend_whatever_the_order_of_the_rows():
    measured = [row for epoch in (40, 9, 32, 1) for row in rows((1.0, 0.5), epoch=epoch)]
    checkpoints = by_checkpoint(measured)
    assert [*checkpoints] == [1, 9, 32, 40]
    assert all(row.epoch == epoch for epoch, scales in checkpoints.items() for row in scales.values())
