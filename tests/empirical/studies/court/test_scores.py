"""Scores: closed forms, the price of abstention, clusters, base rates, and controls that must win or lose."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lengthgen.circuits.prediction_record import SURE
from lengthgen.empirical.experiment.outcome import Outcome
from lengthgen.empirical.studies.court.cells import Cell
from lengthgen.empirical.studies.court.scores import BASE_RATE, base_rates, brier_scores, difference, score
from lengthgen.empirical.studies.court.trial import freeze, judge
from tests.empirical.studies.court.examples import cell, right, theory


def judged(cells: list[Cell]) -> list[Outcome[Cell]]:
    """Outcomes at 0.9."""
    return [of_cell.outcome(0.9) for of_cell in cells]


def many(tasks: int = 12) -> list[Cell]:
    """Cells of two encodings for each task; even tasks generalize."""
    return [
        cell(right(1.0 if number % 2 == 0 else 0.0), task=f"task {number}", encoding=encoding)
        for number in range(tasks)
        for encoding in ("rope", "nope")
    ]


def test_brier_and_log_scores_have_their_closed_forms() -> None:
    outcomes = judged([cell(right(), task="a"), cell(right(), right(0.0), task="b"), cell(right(0.0), task="c")])
    result = score(outcomes, [0.9, 0.3, None], [0.5, 0.5, 0.5])
    assert result["brier"] == pytest.approx((0.1**2 + (0.7**2 + 0.3**2) / 2 + 0.25) / 3)
    assert result["log"] == pytest.approx(-(math.log(0.9) + (math.log(0.3) + math.log(0.7)) / 2 + math.log(0.5)) / 3)
    assert (result["answered"], result["abstained"]) == (2, 1)
    assert (result["right_yes"], result["wrong_yes"], result["right_no"], result["wrong_no"]) == (1, 0, 0, 0)


def test_an_abstention_costs_what_one_half_costs() -> None:
    outcomes = judged(many())
    assert (brier_scores(outcomes, [None] * 24) == brier_scores(outcomes, [0.5] * 24)).all()


def test_certainty_that_is_wrong_costs_much_but_not_without_bound() -> None:
    assert score(judged([cell(right(0.0))]), [1.0], [0.5])["log"] == pytest.approx(-math.log(0.001))


def test_the_interval_is_over_tasks_and_not_over_cells() -> None:
    """Ten copies of each cell change nothing but the number of cells."""
    once = judged([cell(right(float(number % 3 > 0)), task=f"task {number}") for number in range(9)])
    copied = [outcome_ for outcome_ in once for _ in range(10)]
    first, second = np.linspace(0, 1, 9), np.linspace(1, 0.3, 9)
    few, more = difference(once, first, second), difference(copied, np.repeat(first, 10), np.repeat(second, 10))
    assert (few["value"], few["low"], few["high"]) == pytest.approx((more["value"], more["low"], more["high"]))
    assert (few["cells"], more["cells"], few["tasks"], more["tasks"]) == (9, 90, 9, 9)
    assert few["low"] < few["value"] < few["high"]


def test_a_base_rate_does_not_see_the_task_that_it_is_asked_about() -> None:
    cells = many()
    rates = base_rates(judged(cells), [None] * len(cells))
    flipped = [cell(right(0.0), task="task 0", encoding="rope"), *cells[1:]]
    after = base_rates(judged(flipped), [None] * len(flipped))
    assert rates[BASE_RATE][:2] == after[BASE_RATE][:2]
    assert rates[BASE_RATE][2:] != after[BASE_RATE][2:]
    assert rates[BASE_RATE][0] == pytest.approx((10 + 1) / (22 + 2))
    assert rates["base-rate-task"][0] == pytest.approx((1 + 1) / (1 + 2))
    assert rates["base-rate-encoding"][0] == pytest.approx((5 + 1) / (11 + 2))
    assert rates["always-no"] == [1 - SURE] * len(cells)


def test_one_bit_of_src_is_counted_among_the_cells_of_other_tasks_with_the_same_bit() -> None:
    cells = many()
    literal = [0.9 if at % 4 < 2 else 0.1 for at in range(len(cells))]  # right of every task
    rates = base_rates(judged(cells), literal)
    assert rates["base-rate-src"][:3:2] == [pytest.approx((5 + 1) / (5 + 2)), pytest.approx(1 / (5 + 2))]


def test_cells_of_other_operands_do_not_count_in_the_rate_of_an_encoding() -> None:
    cells = [replace(each, operands="filled" if at < 8 else "aligned") for at, each in enumerate(many())]
    assert base_rates(judged(cells), [None] * 24)["base-rate-encoding"][0] == pytest.approx((1 + 1) / (3 + 2))


def test_every_theory_is_compared_with_every_baseline_and_kinds_are_apart() -> None:
    cells = [*many(), *(cell(right(), task=f"task {number}", encoding="ipe") for number in range(12))]
    literal = theory("src", lambda question: 0.9 if question.encoding == "ipe" else None)
    row = judge(cells, [literal], freeze([literal], {each.name: each.question for each in cells}))["theories"]["src"]
    assert {*row["against"]} == {"always-no", "base-rate-encoding", "base-rate-src"}
    assert (
        row["against"]["always-no"]["value"] == pytest.approx(0.1**2 - 0.9**2)
        and row["against"]["always-no"]["cells"] == 12
    )
    assert [(kind, its["cells"], its["right"]) for kind, its in row["kinds"].items()] == [
        ("in use", 24, 0), ("ideal", 12, 12), ("all", 36, 12),
    ]  # fmt: skip


def test_controls_win_and_lose() -> None:
    cells = many()
    literal = theory("src", lambda question: 0.9 if question.subject.name[-1] in "02468" else 0.1)
    answer = judge(cells, [literal], freeze([literal], {of_cell.name: of_cell.question for of_cell in cells}))
    assert answer["theories"]["src"]["verdict"] == "supported"
    verdicts = {name: control["verdict"] for name, control in answer["controls"].items()}
    assert verdicts == {
        "opposite-of-src": "refuted",
        "fed-with-answers": "supported",
        "opposite-of-answers": "refuted",
    }


def test_few_tasks_decide_nothing() -> None:
    cells = many(4)
    literal = theory("src", lambda question: 0.9 if question.subject.name[-1] in "02" else 0.1)
    answer = judge(cells, [literal], freeze([literal], {of_cell.name: of_cell.question for of_cell in cells}))
    assert answer["theories"]["src"]["verdict"] == "undecided"
    assert answer["controls"]["fed-with-answers"]["verdict"] == "undecided"


def test_a_theory_that_never_answers_is_not_refuted() -> None:
    cells = many()
    theories = [theory("src", lambda _: 0.5), theory("silent", lambda _: None)]
    answer = judge(cells, theories, freeze(theories, {of_cell.name: of_cell.question for of_cell in cells}))
    silent = answer["theories"]["silent"]
    assert (silent["verdict"], silent["answered"], silent["brier"]) == ("undecided", 0, 0.25)
