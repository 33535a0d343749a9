"""Statistics of the trial, against closed forms and hand-made outcomes."""

import json
from dataclasses import replace

import pytest
from scipy.stats import beta

from circuits.prediction import Prediction
from empirical.conjecture import (
    as_json,
    holm,
    judge,
    outcome,
    share,
    table,
)
from empirical.store import Measurement

YES = Prediction(
    encoding="ipe", relation="ideal", scale_hint=False, complexity_train=1, complexity_test=1, labels_covered=True,
    entries_covered=True, unseen_distractors=0, breaks_at=None, why="",
)  # fmt: skip
NO = replace(YES, complexity_test=float("inf"), breaks_at=3)


def rows(*scores, epoch=1):
    return [
        Measurement(epoch=epoch, scale=scale, exact_match=score, token_accuracy=score, training_loss=0.0)
        for scale, score in enumerate(scores, start=1)
    ]


FITS_AND_GENERALIZES = rows(1, 1, 1, 1)
FITS_ONLY = rows(1, 1, 1, 0)
DOES_NOT_FIT = rows(1, 0.5, 1, 1)


@pytest.mark.parametrize("successes, trials", [(0, 5), (1, 5), (5, 5), (20, 20), (3, 7)])
def test_intervals_are_clopper_pearson(successes, trials):
    found = share(successes, trials)
    low = beta.ppf(0.025, successes, trials - successes + 1) if successes else 0.0
    high = beta.ppf(0.975, successes + 1, trials - successes) if successes < trials else 1.0
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_no_trials_say_nothing():
    assert (share(0, 0).low, share(0, 0).high) == (0.0, 1.0)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@pytest.mark.parametrize(
    "scores, fits, generalizes, first",
    [
        (FITS_AND_GENERALIZES, True, True, None),
        (FITS_ONLY, True, False, 4),
        (DOES_NOT_FIT, False, None, 2),
        (rows(1, 0.95, 0.95, 0.95), True, True, None),
        (rows(1, 0.9499, 1, 1), False, None, 2),
    ],
)
def test_the_three_outcomes(small_run, scores, fits, generalizes, first):
    found = outcome(small_run(), scores)
    assert (found.fits, found.generalizes, found.first_failure) == (fits, generalizes, first)


def test_the_last_checkpoint_decides_and_the_published_rule_is_only_beside_it(small_run):
    history = [*rows(1, 1, 1, 1, epoch=1), *rows(1, 1, 1, 0, epoch=2)]
    assert outcome(small_run(), history).generalizes is False
    assert outcome(small_run(), history, best_on_test=True).generalizes is True


def verdicts(small_run, prediction, *histories):
    run = small_run()
    [cell] = judge({("t", "f", "e"): prediction}, {("t", "f", "e"): [(run, scores, True) for scores in histories]})
    return cell


@pytest.mark.parametrize(
    "prediction, histories, verdict, p",
    [
        (YES, [FITS_AND_GENERALIZES] * 5, "consistent", 1.0),
        (NO, [FITS_AND_GENERALIZES] * 5, "refuted", 1 / 32),
        (YES, [FITS_ONLY] * 5, "refuted", 1 / 32),
        (NO, [FITS_ONLY] * 5, "consistent", 1.0),
        (YES, [FITS_ONLY] * 4, "undecided", 1 / 16),
        (YES, [FITS_AND_GENERALIZES] * 4 + [FITS_ONLY], "undecided", 31 / 32),
        (YES, [DOES_NOT_FIT] * 5, "not learnt", 1.0),
        (YES, [DOES_NOT_FIT] * 4 + [FITS_AND_GENERALIZES], "undecided", 1.0),
    ],
)
def test_verdicts(small_run, prediction, histories, verdict, p):
    cell = verdicts(small_run, prediction, *histories)
    assert cell.verdict == verdict
    assert cell.p_against == pytest.approx(p)


def test_a_run_that_does_not_fit_counts_in_the_whole_and_not_in_the_condition(small_run):
    cell = verdicts(small_run, YES, FITS_AND_GENERALIZES, FITS_ONLY, DOES_NOT_FIT)
    assert (cell.fit.successes, cell.fit.trials) == (2, 3)
    assert (cell.generalizes_given_fit.successes, cell.generalizes_given_fit.trials) == (1, 2)
    assert (cell.generalizes.successes, cell.generalizes.trials) == (1, 3)


def test_the_table_and_the_disagreements(small_run):
    run = small_run()
    outcomes = {"a": (YES, FITS_AND_GENERALIZES), "b": (YES, FITS_ONLY), "c": (NO, FITS_ONLY), "d": (NO, DOES_NOT_FIT)}
    cells = judge(
        {("t", "f", name): prediction for name, (prediction, _) in outcomes.items()},
        {("t", "f", name): [(run, scores, True)] * 5 for name, (_, scores) in outcomes.items()},
    )
    assert table(cells) == {"yes_yes": 1, "yes_no": 1, "no_yes": 0, "no_no": 1, "not_observed": 1}
    trial = as_json(cells)
    assert trial["disagreements"] == ["t/f/b"]
    assert [cell["diagnosis"] is not None for cell in trial["cells"]] == [False, True, False, True]
    # Hypergeometric: of three observed cells one says yes, and it is among the two predicted yes.
    assert trial["fisher_p"] == pytest.approx(2 / 3)


def test_runs_under_other_predictions_are_told(small_run):
    run = small_run()
    [cell] = judge({("t", "f", "e"): YES}, {("t", "f", "e"): [(run, FITS_ONLY, True), (run, FITS_ONLY, False)]})
    assert cell.predicted_before_training is False


def test_predictions_survive_json():
    for prediction in (YES, NO):
        assert Prediction.from_json(json.loads(json.dumps(prediction.as_json()))) == prediction
