"""Laws of the evidence for one rule against another: exact null, clusters, power, order and scores."""

from functools import cache
from itertools import product
from math import exp, inf, log, nan

import numpy as np
import pytest
from scipy.stats import binom

from lengthgen.empirical.experiment.judge import EvidenceError
from lengthgen.empirical.experiment.outcome import Outcome
from lengthgen.empirical.studies.verdict import pairs
from lengthgen.empirical.studies.verdict.pairs import BETS, Score, log_e_values, log_last_e_values
from lengthgen.empirical.studies.verdict.population import hash_order
from tests.empirical.studies.verdict.made_up import frozen_cell

LEVEL = 20


PAIR = ("coverage", "literal")


@cache
def cell(task="t", a: float | None = 0.9, b: float | None = 0.1, successes=4, trials=5):
    failures = (None,) * successes + (3,) * (trials - successes)
    of_rules = frozen_cell(task, coverage=(a, None), literal=(b, None))
    return Outcome(cell=of_rules, runs=trials, failures=failures)


def compare(cells, score=Score.RIGHT):
    return pairs.compare(cells, PAIR, score)


def test_expectation_is_1_and_ville_holds_over_all_outcomes_of_fair_tasks():
    differences = np.array(list(product((-1.0, 1.0), repeat=14)))
    running = np.exp(log_e_values(differences))
    assert running.mean(axis=0) == pytest.approx(np.ones(14))
    reached = np.mean(running.max(axis=1) >= LEVEL)
    assert 0 < reached <= 1 / LEVEL


def test_expectation_is_at_most_1_where_the_other_rule_is_better():
    outcomes = np.array(list(product((-1.0, 0.2, 1.0), repeat=7)))
    mass = np.prod(np.where(outcomes == -1, 0.5, np.where(outcomes == 1, 0.3, 0.2)), axis=1)
    assert np.all(mass @ np.exp(log_e_values(outcomes)) < 1)


def test_running_values_are_means_of_products():
    differences = np.array([0.5, -1.0, 1.0])
    by_hand = [np.mean([np.prod(1 + bet * differences[:n]) for bet in BETS]) for n in (1, 2, 3)]
    assert np.exp(log_e_values(differences)) == pytest.approx(by_hand)
    assert np.exp(log_last_e_values(differences)) == pytest.approx(by_hand[-1])
    assert log_last_e_values(differences[:0]) == pytest.approx(0), "nothing was bet"
    assert all(0 < bet < 1 for bet in BETS)


def test_rate_under_the_null_with_cells_clustered_by_task():
    """Rules that are right on half of the tasks, all 8 cells of a task alike: false decisions are at most 1 in 20."""
    draw, simulations, tasks = np.random.default_rng(1), 400, 40
    decided = 0
    for _ in range(simulations):
        successes = draw.choice((0, 5), tasks)
        evidence = compare([cell(f"t{i}", successes=int(successes[i])) for i in range(tasks) for _ in range(8)])
        decided += max(evidence.log_against_b) >= log(LEVEL)
    assert decided <= binom.ppf(0.9999, simulations, 1 / LEVEL)


def test_cells_of_a_task_that_count_as_independent_would_break_the_rate():
    draw = np.random.default_rng(1)
    differences = np.repeat(draw.choice((-1.0, 1.0), (400, 40)), 8, axis=1)
    decided = np.sum(log_e_values(differences).max(axis=1) >= log(LEVEL))
    assert decided > binom.ppf(0.9999, 400, 1 / LEVEL)


def test_power_where_a_is_right_in_85_percent_of_differing_cells():
    draw = np.random.default_rng(2)
    differences = np.where(draw.random((2000, 30)) < 0.85, 1.0, -1.0)
    assert np.mean(log_e_values(differences).max(axis=1) >= log(LEVEL)) > 0.95
    assert np.mean(log_e_values(-differences).max(axis=1) >= log(LEVEL)) < 1 / LEVEL


def test_difference_is_the_mean_over_the_differing_cells_of_the_task():
    evidence = compare(
        [cell(successes=5), cell(successes=3), cell(a=0.8, b=0.7), cell(trials=0, successes=0), cell(a=0.1, b=0.2)]
    )
    assert evidence.differences == pytest.approx([(1.0 + 0.2) / 2])
    assert (evidence.cells, evidence.wins_a, evidence.wins_b) == (2, 1, 0)


@pytest.mark.parametrize("trials", range(3, 16))
def test_cells_of_a_task_that_cancel_are_a_tie_although_their_shares_round(trials):
    ahead = [cell(f"t{won}", successes=won, trials=trials) for won in range(trials + 1)]
    behind = [cell(f"t{won}", successes=trials - won, trials=trials) for won in range(trials + 1)]
    evidence = compare([*ahead, *behind])
    assert (len(evidence.tasks), evidence.wins_a, evidence.wins_b) == (trials + 1, 0, 0)


def test_the_smallest_real_difference_is_no_tie():
    cells = [cell(successes=8, trials=15)] + [cell(successes=1, trials=2) for _ in range(99)]
    evidence = compare(cells)
    assert (evidence.wins_a, evidence.wins_b) == (1, 0)


def test_brier_difference_by_hand():
    evidence = compare([cell(a=0.9, b=0.6, successes=4, trials=5)], Score.BRIER)
    loss_a = (4 * 0.1**2 + 0.9**2) / 5
    loss_b = (4 * 0.4**2 + 0.6**2) / 5
    assert evidence.differences == pytest.approx([loss_b - loss_a])
    assert compare([cell(a=0.9, b=0.6)]).tasks == ()


@pytest.mark.parametrize(("score", "expected"), [(Score.RIGHT, 0.5), (Score.BRIER, 0.25 - 0.0)])
def test_an_abstention_counts_as_a_coin(score, expected):
    for abstains in (None, 0.5):
        evidence = compare([cell(a=1.0, b=abstains, successes=5)], score)
        assert evidence.differences == pytest.approx([expected])


def test_rules_that_change_places_change_sides():
    cells = [cell(f"t{i}", successes=i % 6) for i in range(20)]
    turned = [cell(f"t{i}", a=0.1, b=0.9, successes=i % 6) for i in range(20)]
    assert compare(cells).against == pytest.approx(compare(turned).against[::-1])
    assert compare(cells).wins_a == compare(turned).wins_b


def test_order_is_that_of_the_hash_whatever_the_order_of_the_cells():
    cells = [cell(f"t{i}", successes=i % 6) for i in range(20)]
    assert compare(cells) == compare(cells[::-1])
    assert (
        list(compare(cells).tasks)
        == sorted((c.cell.task for c in cells), key=hash_order)
        != [c.cell.task for c in cells]
    )


def test_trajectory_ends_at_the_evidence():
    cells = [cell(f"t{i}", successes=5) for i in range(6) for _ in range(3)]
    evidence = compare(cells)
    points = evidence.trajectory
    assert points[0] == (0, 0.0, 0.0)
    assert [point[0] for point in points] == [0, 3, 6, 9, 12, 15, 18]
    assert (exp(points[-1][1]), exp(points[-1][2])) == pytest.approx(evidence.against)
    assert evidence.against[1] > 1 > evidence.against[0]


def test_no_cells_give_no_evidence():
    assert compare([]).trajectory == [(0, 0.0, 0.0)]
    assert (compare([]).cells, compare([]).against) == (0, (1.0, 1.0))


def test_thousands_of_tasks_give_finite_values():
    assert 1e300 < compare([cell(f"t{i}", successes=5) for i in range(3000)]).against[1] < inf


@pytest.mark.parametrize("bad", [{"a": 1.5}, {"b": -0.1}, {"a": nan}])
def test_impossible_cells_are_refused(bad):
    with pytest.raises(EvidenceError):
        compare([cell(**bad)])
