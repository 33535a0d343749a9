"""Forged runs: how few may decide a question, and how likely a draw meets one of them."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from lengthgen.empirical.studies.verdict.population import half_of
from lengthgen.empirical.studies.verdict.rerun import _fewest, chance, decided, met, of_all, of_deciding
from tests.empirical.studies.verdict.made_up import frozen, frozen_cell, outcomes

NO = (0.0, 3)
JUDGED = [name for name in (f"task {number}" for number in range(80)) if half_of(name) == "judgement"][:30]


@pytest.fixture(scope="module")
def clear():
    """Cells on which coverage says yes and always-no says no, and runs all of which generalize, but for one task."""
    cells = frozen([frozen_cell(task, always_no=NO) for task in JUDGED])
    failures = {cell.name: [3 if cell.task == JUDGED[0] else None] * 3 for cell in cells.cells}
    return cells, failures


def test_fewer_changed_runs_than_are_said_leave_a_question_decided(clear):
    cells, failures = clear

    def question(changed: int):
        """Coverage against always-no if in truth so many of the tasks that coverage won had been lost."""
        lost = [cell.name for cell in cells.cells if cell.task != JUDGED[0]][:changed]
        questions = decided(cells, outcomes(cells, failures | dict.fromkeys(lost, [3] * 3)))
        return next((each for each in questions if each.pair == ("coverage", "always-no")), None)

    stored = question(0)
    assert {(cell.name, index) for cell, index in stored.runs} == set(product(failures, range(3)))
    assert stored.fewest > 2 and question(stored.fewest - 1) and question(15) is None


@pytest.mark.parametrize(("differences", "fewest"), [([], 0), ([1.0], 1), ([1.0] * 9, 1), ([1.0] * 30, 6)])
def test_so_many_tasks_must_be_changed(differences, fewest):
    """The first that leaves a mean of bets below 400, by counting on."""

    def value(changed: int) -> float:
        bets = np.arange(1, 20)[:, None] / 20
        tasks = np.array([-1.0] * changed + differences[changed:])
        return float(np.prod(1 + bets * tasks, axis=1).mean())

    counted = next((count for count in range(len(differences) + 1) if value(count) < 400), len(differences))
    assert _fewest(np.array(differences), np.log(400)) == max(counted, 1 if differences else 0) == fewest


@pytest.mark.parametrize(("runs", "changed", "drawn"), [(6, 2, 3), (5, 1, 0), (5, 1, 5), (4, 3, 2)])
def test_the_chance_counts_the_draws_that_meet_a_changed_run(runs, changed, drawn):
    draws = list(combinations(range(runs), drawn))
    meeting = sum(min(draw, default=runs) < changed for draw in draws)
    assert chance(runs, changed, drawn) == pytest.approx(meeting / len(draws))


def test_draws_are_of_different_runs_and_equalise_the_questions(clear):
    cells, failures = clear
    runs = outcomes(cells, failures)
    questions = decided(cells, runs)
    for count, drawn in ((7, 7), (1_000, 90)):
        draws = of_all(cells, runs, questions, count=count, seed=0), of_deciding(questions, count=count, seed=0)
        for draw in draws:
            assert len({(cell.name, index) for cell, index in draw.runs}) == len(draw.runs) == drawn
            assert len(met(questions, draw)) == len(questions) > 0
    assert {row["chance"] for row in met(questions, draws[1])} == {1.0}, "all runs are trained again"
    aimed, blind = (
        met(questions, draw)
        for draw in (of_deciding(questions, count=9, seed=1), of_all(cells, runs, questions, count=9, seed=1))
    )
    assert min(row["chance"] for row in aimed) >= min(row["chance"] for row in blind)
    indices = Counter(index for _, index in of_all(cells, runs, questions, count=60, seed=2).runs)
    assert indices.keys() == {0, 1, 2}, "every run of a cell may be drawn, not the first alone"
    assert of_deciding(questions, count=9, seed=1) == of_deciding(questions, count=9, seed=1)
