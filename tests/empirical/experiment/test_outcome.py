"""The outcome of a run, by hand."""

from dataclasses import replace
from math import nan

import pytest

from lengthgen.empirical.experiment.outcome import outcome
from lengthgen.empirical.experiment.store import StoreError
from tests.empirical.trial.trials import FAILS, SOLVES, UNFIT, rows


@pytest.mark.parametrize(
    "scores, fits, generalizes, first",
    [
        (SOLVES, True, True, None),
        (FAILS, True, False, 4),
        (UNFIT, False, None, 2),
        ((1, 0.95, 0.95, 0.95), True, True, None),
        ((1, 0.9499, 1, 1), False, None, 2),
        ((1, 1, nan, 1), True, False, 3),
    ],
)
def test_the_three_outcomes(small_run, scores, fits, generalizes, first):
    result = outcome((small_run(), rows(scores)), threshold=0.95)
    assert (result.fits, result.generalizes, result.first_failure) == (fits, generalizes, first)


def test_the_threshold_is_what_is_asked_for(small_run):
    history = (small_run(), rows((1, 1, 0.9, 0.8)))
    assert [outcome(history, threshold=t).first_failure for t in (0.8, 0.9, 0.95, 1.0)] == [None, 4, 3, 3]


def test_a_scale_between_the_training_scales_is_one_to_generalize_to(small_run):
    run = replace(small_run(), train=(1, 3))
    result = outcome((run, rows((1, 0, 1, 1))), threshold=0.95)
    assert (result.fits, result.generalizes, result.first_failure) == (True, False, 2)


HISTORY = [
    *rows((1, 0.9, 1, 1), epoch=10),
    *rows((1, 1, 0.5, 0.5), epoch=20),
    *rows((1, 1, 0.25, 0.5), epoch=30),
    *rows((0.5, 0.5, 0.5, 0.5), epoch=40),
]


@pytest.mark.parametrize("checkpoint, epoch", [("last", 40), ("best_on_training", 30), ("best_on_test", 10)])
def test_each_rule_judges_its_own_checkpoint(small_run, checkpoint, epoch):
    result = outcome((small_run(), HISTORY[::-1]), threshold=0.9, checkpoint=checkpoint)
    assert result.epoch == epoch
    assert result.exact_match == {row.scale: row.exact_match for row in HISTORY if row.epoch == epoch}


def test_the_rule_that_selects_on_training_scales_does_not_see_the_others(small_run):
    history = [*rows((1, 1, 0, 0), epoch=1), *rows((1, 0.99, 1, 1), epoch=2)]
    chosen = {
        rule: outcome((small_run(), history), threshold=0.95, checkpoint=rule).epoch
        for rule in ("best_on_training", "best_on_test")
    }
    assert chosen == {"best_on_training": 1, "best_on_test": 2}


@pytest.mark.parametrize("checkpoint", ["best_on_training", "best_on_test"])
def test_ties_go_to_the_latest_though_sums_are_rounded(small_run, checkpoint):
    assert (0.1 + 0.7) / 2 != (0.3 + 0.5) / 2, "a tie that rounding breaks"
    history = [*rows((0.3, 0.5, 0.3, 0.5), epoch=1), *rows((0.1, 0.7, 0.1, 0.7), epoch=2)]
    assert outcome((small_run(), history), threshold=0.95, checkpoint=checkpoint).epoch == 2


def test_a_run_without_measurements_is_not_judged(small_run):
    with pytest.raises(StoreError, match="was not measured at scale 4"):
        outcome((small_run(), rows((1, 1, 1))), threshold=0.95)
    with pytest.raises(StoreError, match="has no metrics: give the rows"):
        outcome((small_run(), []), threshold=0.95)
