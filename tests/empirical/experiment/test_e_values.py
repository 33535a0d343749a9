"""Laws of the e-values: exact expectations under the null, Ville's inequality, power, and e-BH."""

from fractions import Fraction
from math import comb, inf, nan

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import beta, betainc
from scipy.stats import binom

from lengthgen.empirical.experiment import judge
from lengthgen.empirical.experiment.judge import (
    Estimand,
    Evidence,
    EvidenceError,
    decides,
    e_bh,
    e_process,
    least_rejected,
    near_half,
)

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


@pytest.mark.parametrize("side", ["above", "below"])
def test_expectation_exceeds_1_off_the_null(side):
    assert expectation(side, 0.6 if side == "above" else 0.4, 12, 0.5) > 1.05


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("side", ["above", "below"])
def test_ville_holds_at_the_stopping_time_of_reaching_20(side, threshold):
    assert max(reach_probability(side, q, 30, threshold) for q in null_shares(side, threshold)) <= 1 / 20


def test_the_recursion_over_stopping_times_notices_an_invalid_process(monkeypatch):
    monkeypatch.setattr(judge, "PRIOR", tuple((position, 3 * weight) for position, weight in judge.PRIOR))
    assert reach_probability("above", 0.5, 30, 0.5) > 1 / 20


def test_weights_of_the_prior_sum_to_1():
    assert sum(Fraction(str(weight)) for _, weight in judge.PRIOR) == 1


@pytest.mark.parametrize(("dissenting", "runs"), [(0, 5), (1, 11), (2, 14)])
def test_runs_to_decide_a_majority(dissenting, runs):
    deciding = [n for n in range(dissenting, 40) if decides(e_process(n - dissenting, n)) is True]
    assert deciding == list(range(runs, 40))
    assert [n for n in range(dissenting, 40) if decides(e_process(dissenting, n)) is False] == deciding


def test_sides_mirror_each_other():
    for k in range(8):
        high, low = e_process(k, 7, threshold=0.9), e_process(7 - k, 7, threshold=1 - 0.9)
        assert (high.above, high.below) == pytest.approx((low.below, low.above))


def test_both_sides_never_decide_at_once():
    for threshold in THRESHOLDS:
        for n in range(41):
            for k in range(n + 1):
                evidence = e_process(k, n, threshold=threshold)
                assert min(evidence.above, evidence.below) <= 1 + ROUNDING


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (5, 5), (9, 12), (3, 20), (0, 8)])
def test_a_prior_that_approximates_a_beta_gives_its_closed_form(monkeypatch, successes, trials, threshold):
    """A fine grid with beta weights approaches the truncated beta mixture, computed by the incomplete beta function."""
    a, b, points = 2.0, 1.5, 4000
    shares = threshold + (1 - threshold) * (np.arange(points) + 0.5) / points
    weights = shares ** (a - 1) * (1 - shares) ** (b - 1)
    weights /= weights.sum()
    positions = (1 - shares) / (1 - threshold)
    monkeypatch.setattr(judge, "PRIOR", tuple(zip(positions.tolist(), weights.tolist(), strict=True)))
    failures = trials - successes

    def tail(a, b):
        return beta(a, b) * betainc(b, a, 1 - threshold)

    closed = tail(a + successes, b + failures) / tail(a, b) / threshold**successes / (1 - threshold) ** failures
    assert e_process(successes, trials, threshold=threshold).above == pytest.approx(closed, rel=1e-3)


def test_the_closed_form_of_the_tail_is_the_integral():
    value, _ = quad(lambda p: p**3 * (1 - p) ** 1.5, 0.5, 1)
    assert beta(4, 2.5) * betainc(2.5, 4, 0.5) == pytest.approx(value)


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


def test_e_bh_agrees_with_another_package():
    other = pytest.importorskip("ville.evalues", reason="an independent package, compared where it is installed")
    draw = np.random.default_rng(0)
    for _ in range(500):
        values = np.exp(draw.normal(1, 2.5, draw.integers(1, 15))).tolist()
        assert e_bh(values, 0.1) == other.ebh(values, 0.1).tolist()


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


def test_false_discovery_rate_under_dependence():
    """Twenty cells at the threshold that share their luck in groups of five, and ten cells with real effects."""
    alpha, simulations, draw = 0.2, 2000, np.random.default_rng(0)
    e_of = [e_process(k, 12).above for k in range(13)]
    false_share = []
    for _ in range(simulations):
        nulls = np.repeat(draw.binomial(12, 0.5, 4), 5)
        effects = draw.binomial(12, 0.9, 10)
        rejected = np.array(e_bh([e_of[k] for k in (*nulls, *effects)], alpha))
        false_share.append(rejected[:20].sum() / max(rejected.sum(), 1))
    slack = 4 * np.std(false_share) / simulations**0.5
    assert 0 < np.mean(false_share) <= alpha + slack


def test_binomial_probabilities_of_the_recursion():
    first = reach_probability("above", 0.5, 5, 0.5)
    assert first == pytest.approx(binom.pmf(5, 5, 0.5))


class TestNearHalf:
    """The mixture near one half: exact, valid at every stopping time, and stronger than the other near one half."""

    @pytest.mark.parametrize(("successes", "trials"), [(0, 0), (5, 5), (0, 5), (67, 108), (41, 108), (300, 500)])
    def test_it_is_the_integral_over_the_beta_mixture(self, successes, trials):
        def integrand(p):
            density = p**4 * (1 - p) ** 4 / (beta(5, 5) / 2)
            return density * (2 * p) ** successes * (2 * (1 - p)) ** (trials - successes)

        evidence = near_half(successes, trials)
        assert evidence.above == pytest.approx(quad(integrand, 0.5, 1, epsabs=0)[0], rel=1e-6)
        assert evidence.below == pytest.approx(quad(integrand, 0, 0.5, epsabs=0)[0], rel=1e-6)

    @pytest.mark.parametrize("runs", [1, 2, 5, 12, 30])
    def test_its_expectation_is_1_at_one_half_and_less_below(self, runs):
        of = [near_half(k, runs).above for k in range(runs + 1)]
        expected = [sum(binom.pmf(range(runs + 1), runs, q) * of) for q in (0.1, 0.4, 0.5)]
        assert expected[-1] == pytest.approx(1) and max(expected) <= 1 + ROUNDING

    def test_whoever_stops_at_will_is_misled_as_seldom_as_stated_and_near_one_half_it_decides_sooner(self):
        """2,000 sequences of 200 runs at share 1/2, stopped as soon as an e-value is 20; and at share .6."""
        longest, draws = 200, np.random.default_rng(0)

        def decided(share, e_value):
            table = np.array([[e_value(k, n) if k <= n else 0 for k in range(longest + 1)] for n in range(longest + 1)])
            counts = (draws.random((2_000, longest)) < share).cumsum(axis=1)
            return (table[np.arange(1, longest + 1), counts] >= 20).any(axis=1).mean()

        def near(successes, trials):
            return near_half(successes, trials).above

        def both(successes, trials):
            return (near(successes, trials) + e_process(successes, trials).above) / 2

        assert decided(0.5, near) < 0.05 and decided(0.5, both) < 0.05
        old, new = decided(0.6, lambda *counts: e_process(*counts).above), decided(0.6, near)
        assert new > old + 0.2, "share .6 within 200 runs"

    def test_counts_that_cannot_be_are_refused(self):
        with pytest.raises(EvidenceError):
            near_half(3, 2)


@pytest.mark.parametrize("others", [[], [1.0, 50.0, 30.0], [100.0] * 5, [0.0] * 9, [21.0, 21.0, 39.0, 1.0]])
def test_the_least_rejected_e_value_is_rejected_and_a_smaller_one_is_not(others):
    least = least_rejected(others)
    assert e_bh([least * (1 + 1e-9), *others])[0] and not e_bh([least * (1 - 1e-9), *others])[0]
