"""Exact statistics against closed forms, scipy and slow definitions."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from lengthgen.empirical.experiment.judge import share, tail


@pytest.mark.parametrize("successes, trials", [(0, 5), (1, 5), (5, 5), (20, 20), (3, 7), (350, 1000)])
def test_intervals_are_clopper_pearson(successes, trials):
    expected = binomtest(successes, trials).proportion_ci(0.95, method="exact")
    interval = share(successes, trials)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("trials", [1, 5, 20])
def test_intervals_cover_the_truth_at_least_as_often_as_they_say(trials):
    intervals = [share(successes, trials) for successes in range(trials + 1)]
    for truth in np.linspace(0, 1, 101):
        covered = [interval.low - 1e-12 <= truth <= interval.high + 1e-12 for interval in intervals]
        assert binom.pmf(np.arange(trials + 1), trials, truth)[covered].sum() >= 0.95 - 1e-12


def test_no_trials_say_nothing():
    assert (share(0, 0).low, share(0, 0).high) == (0.0, 1.0)


@pytest.mark.parametrize("trials", [0, 1, 2, 5, 20, 37])
def test_the_tail_is_the_exact_binomial_test(trials):
    for successes in range(trials + 1):
        expected = binomtest(successes, trials, alternative="greater").pvalue if trials else 1.0
        assert tail(successes, trials) == pytest.approx(expected, rel=1e-12)
