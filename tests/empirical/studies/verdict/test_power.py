"""Laws of the gate before training: agreement with the evidence itself, stated rates, exact power of a cell."""

import numpy as np
import pytest

from lengthgen.empirical.experiment.judge import Estimand, EvidenceError
from lengthgen.empirical.experiment.outcome import Outcome
from lengthgen.empirical.studies.verdict import power
from lengthgen.empirical.studies.verdict.pairs import compare, log_e_values
from lengthgen.empirical.studies.verdict.power import Plan, cell_powers, pair_powers
from tests.empirical.studies.verdict.made_up import frozen_cell


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


def test_five_runs_decide_a_cell_exactly_if_unanimous():
    for result in cell_powers(5):
        assert result["above"] == pytest.approx(result["share"] ** 5)
        assert result["below"] == pytest.approx((1 - result["share"]) ** 5)


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
