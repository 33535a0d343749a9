"""Evidence stands on a random sample of tasks, whatever was trained beyond them."""

from lengthgen.empirical.studies.verdict.frozen import Answer
from lengthgen.empirical.studies.verdict.judgement import judge
from lengthgen.empirical.studies.verdict.pairs import Score, disputed, reached
from lengthgen.empirical.studies.verdict.population import HALVES, half_of, hash_order
from tests.empirical.studies.verdict.made_up import frozen, frozen_cell, outcomes

YES: Answer = (0.9, None)
NO: Answer = (0.1, 3)
TASKS = sorted((f"task-{number}" for number in range(120)), key=hash_order)
JUDGING = [task for task in TASKS if half_of(task) == HALVES[1]]


def test_rules_differ_by_the_side_of_a_half_and_for_brier_scores_by_probability() -> None:
    pair = ("coverage", "literal")
    sides = frozen_cell("a", coverage=(0.9, None), literal=(0.1, 3))
    strength = frozen_cell("b", coverage=(0.9, None), literal=(0.6, None))
    abstention = frozen_cell("c", coverage=(None, None), literal=(0.5, None))
    untrainable = frozen_cell("d", "ipe", coverage=(None, None), literal=(0.1, 3))
    cells = [sides, strength, abstention, untrainable]
    assert disputed(cells, pair) == [sides]
    assert disputed(cells, pair, Score.BRIER) == [sides, strength]


def test_tasks_are_reached_up_to_the_first_that_lacks_a_run() -> None:
    cells = [frozen_cell(task, encoding) for task in TASKS[:4] for encoding in ("rpe", "nope")]
    full = {cell.name: [None] * 3 for cell in cells}
    assert reached(cells[::-1], full, first=3) == [each for at in (1, 3, 5, 7) for each in (cells[at], cells[at - 1])]
    assert {cell.task for cell in reached(cells, full | {cells[5].name: [None] * 2}, first=3)} == set(TASKS[:2])
    del full[cells[0].name]
    assert reached(cells, full, first=3) == []


def test_a_pair_is_judged_on_its_own_cells_wherever_training_stands_with_the_others() -> None:
    """A task beyond the first gap must not count: it may have been trained because of what other rules say of it."""
    cells = [frozen_cell(task, "rpe", others=NO, coverage=YES) for task in JUDGING]
    cells += [frozen_cell(task, "nope", others=NO) for task in JUDGING]
    population = frozen(cells)
    generalizes = {cell.name: [None] * 3 for cell in cells[: len(JUDGING)]}

    def pair(failures: dict[str, list[None]]) -> dict:
        judged = judge(population, outcomes(population, failures))
        return next(
            each
            for each in judged["pairs"]
            if (each["first"], each["second"], each["part"]) == ("coverage", "always-no", HALVES[1])
        )

    complete = pair(generalizes)
    assert (complete["reached"], complete["tasks"]) == (len(JUDGING), len(JUDGING))
    cut = pair({name: runs for name, runs in generalizes.items() if name != cells[5].name})
    assert (cut["disputed"], cut["reached"], cut["tasks"]) == (len(JUDGING), 5, 5)
    assert judge(population, outcomes(population, generalizes))["sample"]["tasks"] == 0, "`nope` has no runs at all"
