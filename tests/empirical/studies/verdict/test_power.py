"""Laws of the gate before training: agreement with the evidence itself, stated rates, exact power of a cell."""

import numpy as np
import pytest
from scipy.stats import binom

from lengthgen.empirical.experiment.judge import Estimand, EvidenceError
from lengthgen.empirical.experiment.outcome import Outcome
from lengthgen.empirical.studies.verdict import power
from lengthgen.empirical.studies.verdict.pairs import compare, log_e_values
from lengthgen.empirical.studies.verdict.power import Noise, Plan, cell_powers, pair_powers
from tests.empirical.studies.verdict.made_up import frozen_cell
from tests.timing import at_once

SILENT = Noise(task=0, cell=0, run=0)


def plan_of(tasks=40, encodings=5, rules=4, seed=0, runs=5):
    draw = np.random.default_rng(seed)
    answers = {f"rule-{r}": [bool(x) for x in draw.random(tasks * encodings) < 0.6] for r in range(rules)}
    return Plan(tasks=[f"t{i % tasks}" for i in range(tasks * encodings)], answers=answers, runs=runs)


def test_differences_are_those_of_the_evidence():
    draw = np.random.default_rng(0)
    plan = plan_of(tasks=12, encodings=3, rules=2)
    plan.answers["rule-0"][4] = None
    successes = draw.integers(0, 6, len(plan.tasks))
    (a, b), starts = power._matrix(plan)[0].values(), power._matrix(plan)[1]
    shares = (successes / 5)[power._order(plan)][None]
    cells = []
    for i, task in enumerate(plan.tasks):
        first, second = (None if says[i] is None else float(says[i]) for says in plan.answers.values())
        answered = frozen_cell(task, coverage=(first, None), literal=(second, None))
        cells.append(Outcome(cell=answered, runs=5, failures=(None,) * successes[i] + (3,) * (5 - successes[i])))
    evidence = compare(cells, ("coverage", "literal"))
    differences = power._differences(a, b, shares, starts)[0]
    assert differences == pytest.approx(evidence.differences)
    assert log_e_values(differences) == pytest.approx(evidence.log_against_b)


def test_without_noise_power_is_0_or_1_by_the_number_of_tasks():
    for tasks, expected in ((4, 0.0), (12, 1.0)):
        names = [f"t{i}" for i in range(tasks)]
        plan = Plan(tasks=names, answers={"yes": [True] * tasks, "no": [False] * tasks}, runs=3)
        results = pair_powers(plan, noise=SILENT, simulations=20)
        assert [result["power"] for result in results] == [expected] * 2
        assert {result["verdict"] for result in results} == {"can decide" if expected else "this set cannot decide"}
        assert [result["cells"] for result in results] == [tasks] * 2


def test_rules_with_the_same_answers_are_never_told_apart():
    plan = plan_of(rules=1)
    twins = Plan(tasks=plan.tasks, answers={"a": plan.answers["rule-0"], "b": plan.answers["rule-0"]}, runs=5)
    assert [(result["power"], result["alone"], result["cells"]) for result in pair_powers(twins)] == [(0.0, 0.0, 0)] * 2


def test_power_falls_with_noise_and_with_the_correction():
    plan = plan_of(tasks=25, encodings=4)
    calm = pair_powers(plan, noise=Noise(task=0.05, cell=0.05), seed=1)
    rough = pair_powers(plan, noise=Noise(task=0.3, cell=0.1), seed=1)
    assert len(calm) == 12
    assert sum(result["power"] for result in rough) < sum(result["power"] for result in calm) - 1
    assert all(result["power"] <= result["alone"] for result in calm + rough)
    assert any(result["power"] < result["alone"] for result in rough)


def test_the_true_rule_that_is_contrary_half_the_time_is_found_at_the_stated_rate():
    plan = plan_of(tasks=60, encodings=4, rules=2)
    results = pair_powers(plan, noise=Noise(task=0.5, cell=0, run=0), simulations=1000)
    assert all(result["alone"] * 1000 <= binom.ppf(0.9999, 1000, 0.05) for result in results)
    assert any(result["alone"] > 0 for result in results)


def test_the_same_seed_gives_the_same_numbers():
    plan = plan_of(tasks=10)
    assert pair_powers(plan, seed=3) == pair_powers(plan, seed=3)


def test_five_runs_decide_a_cell_exactly_if_unanimous():
    for result in cell_powers(5):
        assert result["above"] == pytest.approx(result["share"] ** 5)
        assert result["below"] == pytest.approx((1 - result["share"]) ** 5)


def test_a_cell_at_the_threshold_is_decided_at_most_at_the_stated_rate():
    half = cell_powers(30)[-1]
    assert half["share"] == 0.5 == Estimand.MAJORITY.value
    assert 0 < half["above"] <= 0.05
    assert half["above"] == pytest.approx(half["below"])


def test_more_runs_decide_more():
    few, many = cell_powers(5), cell_powers(20)
    assert all(a["above"] < b["above"] for a, b in zip(few, many, strict=True))
    assert [result["verdict"] for result in many] == ["can decide", "this set cannot decide", "this set cannot decide"]


def test_only_the_correct_answer_counts_as_power():
    nearly_all = cell_powers(40, estimand=Estimand.NEARLY_ALL)
    assert [result["verdict"] for result in nearly_all][1:] == ["this set cannot decide", "can decide"]
    assert nearly_all[2]["below"] > 0.99 and nearly_all[2]["above"] < 1e-6


@pytest.mark.parametrize(
    "plan",
    [
        Plan(tasks=[], answers={"a": [], "b": []}, runs=1),
        Plan(tasks=["t"], answers={"a": [True], "b": []}, runs=1),
        Plan(tasks=["t"], answers={"a": [True], "b": [True]}, runs=0),
    ],
)
def test_impossible_plans_are_refused(plan):
    with pytest.raises(EvidenceError):
        pair_powers(plan)


def test_time_grows_with_pairs_of_rules_and_cells_and_no_faster():
    """A plan of 500 tasks, 20 encodings and 12 rules takes ten times what this one does."""
    with at_once(2):
        pair_powers(plan_of(tasks=200, encodings=10, rules=6))
