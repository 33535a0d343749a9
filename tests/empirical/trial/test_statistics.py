"""Exact statistics against closed forms, scipy and slow definitions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from empirical.trial.statistics import ALPHA, holm, runs_needed, share, tail


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


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(p_values):
    """A hypothesis falls iff every set of hypotheses that contains it falls: the largest p of such sets."""
    sets = [s for size in range(1, len(p_values) + 1) for s in combinations(range(len(p_values)), size)]
    closed = [
        max(min(1.0, len(s) * min(p_values[i] for i in s)) for s in sets if index in s)
        for index in range(len(p_values))
    ]
    assert holm(p_values) == pytest.approx(closed, abs=1e-15)


@pytest.mark.parametrize("cells", [1, 2, 3, 8, 48, 1000])
def test_the_runs_needed_are_the_fewest_that_decide_a_cell_among_so_many(cells):
    needed = runs_needed(cells)
    for runs, decided in ((needed, True), (needed - 1, False)):
        assert (max(holm([tail(runs, runs)] * cells)) <= ALPHA) is decided


def test_five_runs_decide_one_cell_and_not_two():
    assert (runs_needed(1), runs_needed(2)) == (5, 6)


def test_holm_holds_the_error_rate_of_a_family_and_no_correction_does_not():
    """All nulls true, p-values uniform, independent: exact for Holm's first step, which alone decides then."""
    cells, draws = 12, 4_000
    p = np.random.default_rng(0).uniform(size=(draws, cells))
    corrected = np.mean([min(holm(row.tolist())) <= ALPHA for row in p])
    uncorrected = np.mean(p.min(axis=1) <= ALPHA)
    low, high = binom.ppf([1e-4, 1 - 1e-4], draws, 1 - (1 - ALPHA / cells) ** cells) / draws
    assert low <= corrected <= high <= 0.07
    assert uncorrected > 0.4
