"""Gate before training: its simulation is that of the evidence itself, and the power of a cell is exact."""

import numpy as np
import pytest

from lengthgen.empirical.experiment.judge import Estimand
from lengthgen.empirical.experiment.outcome import Outcome
from lengthgen.empirical.studies.verdict import power
from lengthgen.empirical.studies.verdict.pairs import compare, log_e_values
from lengthgen.empirical.studies.verdict.population import hash_order
from lengthgen.empirical.studies.verdict.power import Noise, cell_powers, pair_powers
from tests.empirical.studies.verdict.made_up import frozen_cell

PAIR = ("coverage", "literal")
SILENT = Noise(task=0, cell=0, run=0)


def test_differences_are_those_of_the_evidence() -> None:
    draw = np.random.default_rng(0)
    tasks = sorted((f"t{at % 12}" for at in range(36)), key=hash_order)
    answers = draw.choice([0.0, 0.5, 1.0], (36, 2))
    successes = draw.integers(0, 6, 36)
    cells = [
        Outcome(
            cell=frozen_cell(task, coverage=(first, None), literal=(second, None)),
            runs=5,
            failures=(None,) * right + (3,) * (5 - right),
        )
        for task, (first, second), right in zip(tasks, answers.tolist(), successes.tolist(), strict=True)
    ]
    evidence = compare(cells, PAIR)
    differences = power._differences(*answers.T, (successes / 5)[None], np.arange(0, 36, 3))[0]
    assert differences == pytest.approx(evidence.differences)
    assert log_e_values(differences) == pytest.approx(evidence.log_against_b)


@pytest.mark.parametrize(("tasks", "expected"), [(0, 0.0), (4, 0.0), (12, 1.0)])
def test_without_noise_power_is_0_or_1_by_the_number_of_tasks_on_which_rules_differ(
    tasks: int, expected: float
) -> None:
    cells = [frozen_cell(f"t{at}", coverage=(0.9, None), literal=(0.1 if at < tasks else 0.9, 3)) for at in range(13)]
    results = pair_powers(cells, PAIR, 3, 0.05, SILENT)
    assert [(result["power"], result["cells"]) for result in results] == [(expected, tasks)] * 2
    assert {result["verdict"] for result in results} == {"can decide" if expected else "this set cannot decide"}


def test_five_runs_decide_a_cell_exactly_if_unanimous() -> None:
    for result in cell_powers(5):
        assert result["above"] == pytest.approx(result["share"] ** 5)
        assert result["below"] == pytest.approx((1 - result["share"]) ** 5)


def test_only_the_correct_answer_counts_as_power() -> None:
    nearly_all = cell_powers(40, estimand=Estimand.NEARLY_ALL)
    assert [result["verdict"] for result in nearly_all][1:] == ["this set cannot decide", "can decide"]
    assert nearly_all[2]["below"] > 0.99 and nearly_all[2]["above"] < 1e-6
