"""The forecast on trial: its Brier scores against those of each rival, task by task."""

from dataclasses import replace

import pytest

from lengthgen.circuits.forecast.scores import NEW_KINDS
from lengthgen.empirical.studies.verdict.forecast_trial import by_brier, forecast_against
from lengthgen.empirical.studies.verdict.pairs import UNDECIDED
from lengthgen.empirical.studies.verdict.runs import SeenCell
from tests.empirical.studies.verdict.made_up import frozen_cell

RULES = ("always-no", "coverage", "forecast")


def seen(task: str, encoding: str, forecast: float, failures: tuple[int | None, ...]) -> SeenCell:
    """Cell whose rules say no, but for the forecast."""
    cell = frozen_cell(task, encoding, others=(0.1, 3))
    cell = replace(cell, answers=cell.answers | {"forecast": (forecast, None)})
    return SeenCell.of(cell, failures, train=2)


def test_a_task_counts_each_fitting_run_and_not_each_cell() -> None:
    cells = [seen("a", "rpe", 0.9, (None,)), seen("a", "nope", 0.9, (3, 3, 3, None))]
    evidence = by_brier(cells, ("forecast", "coverage"))
    # Where runs generalize the forecast gains .81 - .01, where they fail it loses as much: 2 runs and 3.
    assert evidence.differences == (pytest.approx((2 - 3) * 0.8 / 5),)
    assert (evidence.wins_a, evidence.wins_b, evidence.cells) == (0, 1, 2)


def test_a_better_forecast_is_told_by_kind_of_task_and_of_encoding() -> None:
    tasks = [f"random-tree-invariant-{number}[base=2]" for number in range(40)] + ["made by hand"]
    cells = [seen(task, encoding, 0.9, (None, None, None)) for task in tasks for encoding in ("rpe", "ipe")]
    comparisons = forecast_against(cells, RULES, alpha=0.05)
    assert {each["part"] for each in comparisons} == {NEW_KINDS[1], NEW_KINDS[2]}, "no task is of a counted family"
    assert {each["against"] for each in comparisons} == {"always-no", "rate", "rate with SRC", "coverage"}
    better = {(each["part"], each["kind"], each["against"]): each["better"] for each in comparisons}
    for kind in ("in use", "ideal", "all"):
        assert better[NEW_KINDS[1], kind, "coverage"] == "forecast"
        assert better[NEW_KINDS[2], kind, "coverage"] == UNDECIDED, "one task decides nothing"


def test_a_worse_forecast_loses_and_unfit_runs_say_nothing() -> None:
    tasks = [f"random-tree-invariant-{number}[base=2]" for number in range(40)]
    wrong = [seen(task, "rpe", 0.9, (3, 3, 3)) for task in tasks]
    better = {each["against"]: each["better"] for each in forecast_against(wrong, RULES, alpha=0.05)}
    assert better["coverage"] == "coverage" and better["always-no"] == "always-no"
    assert forecast_against([seen(task, "rpe", 0.9, (1, 2)) for task in tasks], RULES, alpha=0.05) == []
    assert forecast_against(wrong, RULES[:2], alpha=0.05) == [], "no forecast was asked"
