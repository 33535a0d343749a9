"""Judgement of a preregistration on made-up outcomes."""

from dataclasses import replace
from math import comb

import pytest

from lengthgen.empirical.studies.verdict.frozen import Answer, FrozenCells
from lengthgen.empirical.studies.verdict.judgement import judge
from lengthgen.empirical.studies.verdict.population import HALVES, half_of
from lengthgen.empirical.studies.verdict.power import gate
from lengthgen.empirical.studies.verdict.runs import seen_cells
from tests.empirical.studies.verdict.made_up import frozen, frozen_cell, outcomes

YES: Answer = (0.9, None)
NO: Answer = (0.1, 3)
TASKS = [name for name in (f"task-{number}" for number in range(120)) if half_of(name) == HALVES[1]]


def cells(**constant: Answer) -> FrozenCells:
    """Return cells of which coverage says yes to every other one, and all other rules no unless said."""
    return frozen(
        [
            frozen_cell(task, "rpe", others=NO, coverage=YES if place % 2 else NO, **constant)
            for place, task in enumerate(TASKS)
        ]
    )


def as_coverage_says(all_cells: FrozenCells) -> dict[str, list[int | None]]:
    return {cell.name: [cell.answers["coverage"][1]] * 3 for cell in all_cells.cells}


def pair(judgement: dict, first: str, second: str, part: str = HALVES[1]) -> dict:
    [chosen] = [
        each for each in judgement["pairs"] if (each["first"], each["second"], each["part"]) == (first, second, part)
    ]
    return chosen


def test_a_rule_that_is_always_right_wins_and_nobody_wins_against_himself() -> None:
    all_cells = cells()
    judgement = judge(all_cells, outcomes(all_cells, as_coverage_says(all_cells)))
    won = pair(judgement, "coverage", "always-no")
    assert won["better"] == "coverage" and won["against_second"] > 20 and won["against_first"] < 1
    assert won["wins_first"] == won["tasks"] == won["cells"] == len(TASKS) // 2 and won["wins_second"] == 0
    same = pair(judgement, "distractors", "coverage", part="amendment")
    assert same["better"] == "undecided" and same["cells"] == 0
    score = judgement["rules"]["coverage"]["judgement"]
    assert score["wrong_yes"] == score["wrong_no"] == 0 and score["brier"] == pytest.approx(0.01)
    assert judgement["breaking"]["coverage"]["counts"] == [[3, 3, len(TASKS) - len(TASKS) // 2]]
    assert judgement["decided"]["majority"] == {"yes": 0, "no": 0, "undecided": len(TASKS), "by_e_bh": 0}


def test_cells_with_too_few_fitting_runs_do_not_count_and_those_that_never_fit_are_named() -> None:
    all_cells = cells()
    failures = as_coverage_says(all_cells)
    yes = [cell.name for cell in all_cells.cells if cell.answers["coverage"] == YES]
    failures[yes[0]], failures[yes[1]] = [1, 2, 1], [None, None, 2]
    judgement = judge(all_cells, outcomes(all_cells, failures))
    assert judgement["counting"] == len(TASKS) - 2 and judgement["seen"] == len(TASKS)
    assert judgement["never_fit"] == {"cells": 1, "predicted_yes": [yes[0]], "by_encoding": {"rpe": 1}}
    universes = {(each["threshold"], each["fitting"]): each["cells"] for each in judgement["multiverse"]}
    assert universes[0.95, 1] == len(TASKS) - 1 and universes[0.95, 3] == len(TASKS) - 2


def test_a_scale_is_solved_from_the_threshold_that_is_asked_for() -> None:
    all_cells = cells()
    name = all_cells.cells[0].name
    [run] = outcomes(all_cells, {name: [None]})[name]
    weak = {name: [replace(run, exact_match=run.exact_match * 0.93)]}
    [at_registered] = seen_cells(all_cells, weak)
    [at_less] = seen_cells(all_cells, weak, threshold=0.9)
    assert (at_registered.fit, at_less.fit, at_less.generalize) == (0, 1, 1)


def test_runs_that_are_missing_between_others_are_counted() -> None:
    all_cells = cells()
    runs = outcomes(all_cells, as_coverage_says(all_cells))
    assert judge(all_cells, runs)["gaps"] == 0
    del runs[all_cells.cells[0].name][1]
    assert judge(all_cells, runs)["gaps"] == 1


def test_the_gate_tells_what_the_cells_cannot_decide() -> None:
    powers = {(each["true"], each["against"]): each for each in gate(cells())["pairs"]}
    assert powers["coverage", "always-no"]["verdict"] == "can decide"
    equal = frozen([frozen_cell(task, "rpe", others=NO) for task in TASKS])
    answer = gate(equal)
    assert {each["verdict"] for each in answer["pairs"]} == {"this set cannot decide"}
    assert answer["cells"] == len(TASKS)


def test_scales_after_the_first_beyond_training_are_counted_apart() -> None:
    predicted = {task: (2, 3, 4)[place % 3] for place, task in enumerate(TASKS)}
    all_cells = frozen([frozen_cell(task, "rpe", others=NO, coverage=(0.1, predicted[task])) for task in TASKS])
    assert all_cells.preregistration.train[1] == 2
    breaks = {cell.name: [max(3, predicted[cell.task])] * 3 for cell in all_cells.cells}
    breaking = judge(all_cells, outcomes(all_cells, breaks))["breaking"]["coverage"]
    late = sum(scale == 4 for scale in predicted.values())
    assert breaking["later_than_first"]["cells"] == breaking["later_than_first"]["exact"]["successes"] == late
    assert breaking["cells"] == len(TASKS) and breaking["exact"]["successes"] == sum(s > 2 for s in predicted.values())


def test_the_rule_that_is_always_wrong_loses() -> None:
    all_cells = cells()
    opposite = {
        name: [3 if first is None else None for first in runs] for name, runs in as_coverage_says(all_cells).items()
    }
    lost = pair(judge(all_cells, outcomes(all_cells, opposite)), "coverage", "always-no")
    assert lost["better"] == "always-no" and lost["against_first"] > 20


def test_five_unanimous_runs_decide_a_cell() -> None:
    all_cells = cells()
    failures = {name: 2 * runs for name, runs in as_coverage_says(all_cells).items()}
    decided = judge(all_cells, outcomes(all_cells, failures))["decided"]["majority"]
    assert decided["yes"] + decided["no"] == decided["by_e_bh"] == len(TASKS)


def test_permuted_outcomes_decide_nothing_at_the_stated_rate() -> None:
    all_cells = cells()
    null = judge(all_cells, outcomes(all_cells, as_coverage_says(all_cells)))["null_rate"]
    simulations, alpha = null["simulations"], null["stated"]
    assert simulations == 1000
    at_most = next(
        count
        for count in range(simulations)
        if sum(comb(simulations, k) * alpha**k * (1 - alpha) ** (simulations - k) for k in range(count + 1)) > 0.999
    )
    assert null["rate"] * simulations <= at_most
