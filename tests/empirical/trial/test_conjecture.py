"""Verdicts of cells, by hand and by simulation."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from lengthgen.circuits.prediction_record import Prediction
from lengthgen.empirical.experiment.judge import e_process, tail
from lengthgen.empirical.experiment.outcome import by_checkpoint
from lengthgen.empirical.trial.conjecture import TrialError, judge, unanimous_runs
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
    "prediction, counts, verdict",
    [
        (YES, {SOLVES: 5}, "consistent"),
        (NO, {SOLVES: 5}, "refuted"),
        (YES, {FAILS: 5}, "refuted"),
        (NO, {FAILS: 5}, "consistent"),
        (YES, {FAILS: 4}, "undecided (power)"),
        (YES, {SOLVES: 4, FAILS: 1}, "undecided (power)"),
        (YES, {SOLVES: 4, UNFIT: 1}, "undecided (power)"),
        (YES, {SOLVES: 10, FAILS: 1}, "consistent"),
        (YES, {SOLVES: 2, UNFIT: 9}, "undecided (power)"),
        (YES, {SOLVES: 3, FAILS: 3}, "undecided (power)"),
        (YES, {SOLVES: 11, FAILS: 15}, "mixed"),
        (NO, {SOLVES: 11, FAILS: 15}, "mixed"),
        (YES, {SOLVES: 19, FAILS: 7}, "undecided (power)"),
        (YES, {UNFIT: 5}, "not learnt"),
        (NO, {UNFIT: 5}, "not learnt"),
        (None, {SOLVES: 20}, "no prediction"),
        (NOTHING, {SOLVES: 20}, "no prediction"),
    ],
)
def test_verdicts_of_a_cell_alone(small_run, prediction, counts, verdict):
    assert alone(small_run(), prediction, counts).verdict == verdict


def test_e_values_are_those_of_the_majority_in_the_direction_of_the_prediction(small_run):
    run, counts = small_run(), {SOLVES: 4, FAILS: 1, UNFIT: 2}
    expected = e_process(4, 5)
    yes, no = alone(run, YES, counts), alone(run, NO, counts)
    assert (yes.e_for, yes.e_against) == (no.e_against, no.e_for) == (expected.above, expected.below)
    assert alone(run, None, counts).e_for is None
    assert alone(run, YES, {SOLVES: 2}).e_for is None, "two fitting runs are too few for a cell to count"


def test_among_several_cells_the_same_runs_decide_less_unless_they_all_agree(small_run):
    run = small_run()
    several = [evidence(histories(run, {FAILS: 5}), YES, name=f"{t}/f/e") for t in "ab"]
    other = evidence(histories(run, {SOLVES: 2, FAILS: 2}), YES, name="c/f/e")
    assert [cell.verdict for cell in judge(several, MAIN)] == ["refuted"] * 2
    assert [cell.verdict for cell in judge([several[0], other], MAIN)] == ["undecided (power)"] * 2


@pytest.mark.parametrize("cells", [1, 2, 3, 8, 48])
def test_unanimous_runs_are_the_fewest_that_decide_a_cell_whatever_the_others_do(small_run, cells):
    run, needed = small_run(), unanimous_runs(cells)
    others = [evidence(histories(run, {SOLVES: 2, FAILS: 2}), YES, name=f"{number}/f/e") for number in range(1, cells)]
    for runs, decided in ((needed, True), (needed - 1, False)):
        first, *_ = judge([evidence(histories(run, {SOLVES: runs}), YES), *others], MAIN)
        assert first.decided is decided


def test_the_questions_about_a_cell_are_apart(small_run):
    def answers_of(counts):
        return {name: entry["answer"] for name, entry in alone(small_run(), YES, counts).estimates().items()}

    assert answers_of({SOLVES: 5}) == {"possible": True, "majority": True, "nearly_all": None}
    assert answers_of({FAILS: 8, SOLVES: 1}) == {"possible": None, "majority": None, "nearly_all": False}
    assert answers_of({SOLVES: 6, FAILS: 8}) == {"possible": True, "majority": None, "nearly_all": False}
    assert answers_of({SOLVES: 2}) == dict.fromkeys(("possible", "majority", "nearly_all"))


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
    shares = [(share.successes, share.trials) for share in cell.shares.values()]
    assert shares == [(2, 3), (1, 2), (1, 3)]


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


def test_a_cell_that_is_looked_at_after_every_run_is_seldom_decided_wrongly(small_run):
    """Both verdicts are wrong if half of all runs generalize; a fixed test, repeated, errs more often."""
    draw, draws, most = np.random.default_rng(1), 400, 40
    pool = {True: (small_run(), rows(SOLVES)), False: (small_run(), rows(FAILS))}
    decided, tested = {"refuted": 0, "consistent": 0}, 0
    for _ in range(draws):
        outcomes = draw.random(most) < 0.5
        for runs in range(3, most + 1, 3):
            [cell] = judge([evidence([pool[bool(solved)] for solved in outcomes[:runs]], YES)], MAIN)
            if cell.decided:
                decided[cell.verdict] += 1
                break
        wins = np.cumsum(outcomes)
        tested += any(tail(int(wins[runs - 1]), runs) <= 0.05 for runs in range(3, most + 1, 3))
    assert all(count <= binom.ppf(0.999, draws, 0.05) for count in decided.values())
    assert tested > binom.ppf(0.999, draws, 0.05)


def test_wrong_verdicts_are_rare_in_both_directions_and_right_ones_are_not(small_run):
    """Cells of all kinds, many runs: few of the names are wrong, most cells are named rightly."""
    wrong = {"refuted": 0, "consistent": 0}
    named, draws = 0, 300
    chances = [0, 0.1, 0.2, 0.45, 0.55, 0.8, 0.9, 1]
    for trial in simulated(small_run(), np.random.default_rng(2), chances, 20, draws):
        right = [(cell, cell.predicted == (chance > 0.5)) for cell, chance in trial]
        for verdict, at_fault in (("refuted", True), ("consistent", False)):
            called = [agrees for cell, agrees in right if cell.verdict == verdict]
            wrong[verdict] += sum(agrees is at_fault for agrees in called) / max(1, len(called))
        named += sum(cell.verdict == ("consistent" if agrees else "refuted") for cell, agrees in right)
    assert all(share / draws <= 0.05 for share in wrong.values()), "the expected share of wrong ones"
    assert named / draws >= 4


def test_predictions_survive_json():
    for prediction in (YES, NO, UNCOVERED, NOTHING):
        assert Prediction.from_json(json.loads(json.dumps(prediction.as_json()))) == prediction


def test_checkpoints_ascend_whatever_the_order_of_the_rows():
    measured = [row for epoch in (40, 9, 32, 1) for row in rows((1.0, 0.5), epoch=epoch)]
    checkpoints = by_checkpoint(measured)
    assert [*checkpoints] == [1, 9, 32, 40]
    assert all(row.epoch == epoch for epoch, scales in checkpoints.items() for row in scales.values())
