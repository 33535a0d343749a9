"""Verdicts of cells, by hand and by simulation."""

from dataclasses import replace

import pytest

from lengthgen.empirical.experiment.judge import e_process
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
