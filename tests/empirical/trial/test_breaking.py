"""Scales where runs break and where they were predicted to break, worked out by hand."""

import pytest

from lengthgen.empirical.trial.conjecture import judge
from lengthgen.empirical.trial.trial import breaking, breaking_summary
from tests.empirical.trial.trials import FAILS, MAIN, NO, NOTHING, SOLVES, UNFIT, YES, evidence, histories

AT_3 = (1, 1, 0, 0)


def cell(run, prediction, counts, name="t/f/e"):
    [judged_cell] = judge([evidence(histories(run, counts), prediction, name=name)], MAIN)
    return judged_cell


@pytest.mark.parametrize(
    "counts, observed, difference, exact, trials, reach",
    [
        ({AT_3: 5}, 3, 0, 5, 5, [3, 3]),
        ({FAILS: 5}, 4, 1, 0, 5, [4, 4]),
        ({AT_3: 1, FAILS: 1}, 3.5, 0.5, 1, 2, [3, 4]),
        ({AT_3: 3, SOLVES: 2}, 3, 0, 3, 5, [3, 3]),
        ({AT_3: 2, SOLVES: 3}, None, None, 2, 5, [3, 3]),
        ({AT_3: 1, SOLVES: 1}, None, None, 1, 2, [3, 3]),
        ({SOLVES: 3}, None, None, 0, 3, None),
        ({AT_3: 1, UNFIT: 4}, 3, 0, 1, 1, [3, 3]),
    ],
)
def test_a_cell_predicted_to_break_at_3(small_run, counts, observed, difference, exact, trials, reach):
    result = breaking(cell(small_run(), NO, counts))
    assert (result["predicted"], result["observed"], result["difference"]) == (3, observed, difference)
    assert (result["exact"]["successes"], result["exact"]["trials"], result["range"]) == (exact, trials, reach)


def test_a_cell_predicted_not_to_break_hits_where_it_does_not(small_run):
    result = breaking(cell(small_run(), YES, {SOLVES: 3, FAILS: 1}))
    assert (result["predicted"], result["observed"], result["difference"]) == (None, None, None)
    assert (result["exact"]["successes"], result["exact"]["trials"]) == (3, 4)


def test_without_a_prediction_or_a_fitting_run_nothing_is_compared(small_run):
    run = small_run()
    assert breaking(cell(run, None, {FAILS: 3})) is None
    assert breaking(cell(run, NOTHING, {FAILS: 3})) is None
    assert breaking(cell(run, NO, {UNFIT: 3})) is None


def test_the_summary_is_over_cells_that_were_predicted_to_break(small_run):
    run = small_run()
    counts = [{AT_3: 2}, {FAILS: 2}, {AT_3: 1, FAILS: 1}, {SOLVES: 2}, {UNFIT: 2}]
    cells = [cell(run, NO, cell_counts, f"{number}/f/e") for number, cell_counts in enumerate(counts)]
    cells += [cell(run, YES, {FAILS: 2}), cell(run, None, {AT_3: 2})]
    assert breaking_summary(cells) == {
        "cells": 4, "as_predicted": 1, "earlier": 0, "later": 2, "never": 1, "median_difference": 0.5,
    }  # fmt: skip
    assert breaking_summary([])["median_difference"] is None
