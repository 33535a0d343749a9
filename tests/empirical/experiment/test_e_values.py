"""Laws of the e-values: exact expectations under the null, Ville's inequality, power, and e-BH."""

from math import comb, inf, nan

import numpy as np
import pytest

from lengthgen.empirical.experiment.judge import Estimand, Evidence, EvidenceError, decides, e_bh, e_process

THRESHOLDS = [estimand.value for estimand in Estimand]
ROUNDING = 1e-10


def expectation(side, q, runs, threshold):
    return sum(
        comb(runs, k) * q**k * (1 - q) ** (runs - k) * getattr(e_process(k, runs, threshold=threshold), side)
        for k in range(runs + 1)
    )


def reach_probability(side, q, runs, threshold, level=20.0):
    """Probability that the e-value reaches the level at some run, by exact recursion over counts of undecided paths."""
    undecided, reached = {0: 1.0}, 0.0
    for n in range(1, runs + 1):
        after: dict[int, float] = {}
        for k, mass in undecided.items():
            after[k] = after.get(k, 0.0) + mass * (1 - q)
            after[k + 1] = after.get(k + 1, 0.0) + mass * q
        decided = {k for k in after if getattr(e_process(k, n, threshold=threshold), side) >= level}
        reached += sum(after.pop(k) for k in decided)
        undecided = after
    return reached


def null_shares(side, threshold):
    return np.linspace(0, threshold, 41) if side == "above" else np.linspace(threshold, 1, 41)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("side", ["above", "below"])
def test_expectation_is_at_most_1_on_the_null_and_is_1_at_the_threshold(side, threshold):
    for runs in (1, 2, 5, 12, 30):
        assert max(expectation(side, q, runs, threshold) for q in null_shares(side, threshold)) <= 1 + ROUNDING
        assert expectation(side, threshold, runs, threshold) == pytest.approx(1, abs=ROUNDING)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("side", ["above", "below"])
def test_ville_holds_at_the_stopping_time_of_reaching_20(side, threshold):
    assert max(reach_probability(side, q, 30, threshold) for q in null_shares(side, threshold)) <= 1 / 20


@pytest.mark.parametrize(("dissenting", "runs"), [(0, 5), (1, 11), (2, 14)])
def test_runs_to_decide_a_majority(dissenting, runs):
    deciding = [n for n in range(dissenting, 40) if decides(e_process(n - dissenting, n)) is True]
    assert deciding == list(range(runs, 40))
    assert [n for n in range(dissenting, 40) if decides(e_process(dissenting, n)) is False] == deciding


def test_many_runs_give_a_finite_e_value():
    assert 1e300 < e_process(10_000, 10_000).above < inf
    assert e_process(0, 10_000).above < 1e-300


def test_no_runs_give_no_evidence():
    assert e_process(0, 0) == Evidence(above=pytest.approx(1), below=pytest.approx(1))
    assert decides(e_process(0, 0)) is None


@pytest.mark.parametrize(("successes", "trials", "threshold"), [(3, 2, 0.5), (-1, 2, 0.5), (1, 2, 0.0), (1, 2, 1.0)])
def test_impossible_counts_and_thresholds_are_refused(successes, trials, threshold):
    with pytest.raises(EvidenceError):
        e_process(successes, trials, threshold=threshold)


def test_estimands_ask_different_questions_about_the_same_runs():
    runs = (4, 10)
    assert [decides(estimand.evidence(*runs)) for estimand in Estimand] == [True, None, False]


@pytest.mark.parametrize(
    ("values", "rejected"),
    [
        ([], []),
        ([19.9], [False]),
        ([20.0], [True]),
        ([39.9, 0.0], [False, False]),
        ([40.0, 0.0], [True, False]),
        ([20.0, 20.0], [True, True]),
        ([15.0, 30.0, 31.0], [False, True, True]),
        ([20.0, 30.0, 31.0], [True, True, True]),
        ([0.0, 0.0], [False, False]),
        ([inf, 1.0], [True, False]),
    ],
)
def test_e_bh_by_its_definition(values, rejected):
    assert e_bh(values, 0.05) == rejected


@pytest.mark.parametrize("values", [[-1.0], [nan]])
def test_e_bh_refuses_what_is_no_e_value(values):
    with pytest.raises(EvidenceError):
        e_bh(values, 0.05)


@pytest.mark.parametrize("alpha", [0.0, 1.0, nan])
def test_levels_outside_0_and_1_are_refused(alpha):
    with pytest.raises(EvidenceError):
        e_bh([1.0], alpha)
    with pytest.raises(EvidenceError):
        decides(Evidence(1.0, 1.0), alpha)
