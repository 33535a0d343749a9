"""Baselines beside rules: what rates count and whom they judge, by a few cells; and the numbers of the records."""

from dataclasses import replace
from pathlib import Path

import pytest

from lengthgen.empirical.studies.verdict import judging
from lengthgen.empirical.studies.verdict.fair import fair
from lengthgen.empirical.studies.verdict.frozen import load_frozen
from lengthgen.empirical.studies.verdict.judgement import judge
from lengthgen.empirical.studies.verdict.population import HALVES, half_of
from lengthgen.empirical.studies.verdict.preregistration import load_preregistration
from lengthgen.empirical.studies.verdict.runs import load_runs, seen_cells
from tests.empirical.studies.verdict.made_up import frozen, frozen_cell, outcomes

RECORD = Path(__file__).parents[4] / "docs" / "results" / "verdict"
AMENDING, JUDGING = (
    [name for name in (f"task {number}" for number in range(99)) if half_of(name) == half][:20] for half in HALVES
)
NO = (0.1, 3)


@pytest.fixture
def cells():
    """All tasks under `nope`, whose runs fail where SRC rises, and under `ipe`, whose runs generalize."""
    made = [
        replace(frozen_cell(task, encoding, coverage=NO, always_no=NO), rises_at=3 if at % 2 else None)
        for tasks in (AMENDING, JUDGING)
        for at, task in enumerate(tasks)
        for encoding in ("nope", "ipe")
    ]
    return frozen(made)


def runs_of(cells):
    return outcomes(
        cells, {cell.name: [3 if cell.encoding == "nope" and cell.rises_at else None] * 3 for cell in cells.cells}
    )


def test_rates_count_the_half_for_amendments_and_the_other_half_is_judged(cells) -> None:
    runs = runs_of(cells)
    compared = fair(cells, runs, seen_cells(cells, runs))
    assert compared.fitted == 3 * 2 * len(AMENDING)
    assert {each.cell.task for each in compared.cells} == {*JUDGING}
    by_cell = {(each.cell.encoding, each.cell.rises_at): each.cell.answers for each in compared.cells}
    # Of 120 runs 90 generalize, and that share stands for one run more: nope 30 of 60, with SRC's bit 0 or 30 of 30.
    assert by_cell["nope", 3]["rate"][0] == pytest.approx((30 + 0.75) / 61)
    assert by_cell["nope", 3]["rate with SRC"][0] == pytest.approx(0.75 / 31)
    assert by_cell["nope", None]["rate with SRC"][0] == pytest.approx((30 + 0.75) / 31)
    assert by_cell["ipe", 3]["rate"][0] == pytest.approx((60 + 0.75) / 61)


def test_kinds_are_apart_and_only_the_registered_question_is_called_so(cells) -> None:
    runs = runs_of(cells)
    compared = fair(cells, runs, seen_cells(cells, runs))
    wins = {key: (evidence.wins_a, evidence.wins_b) for key, evidence in compared.evidence.items()}
    with_bit = ("coverage", "rate with SRC")
    # coverage says no to all: wrong on ipe (20 tasks) and on the 10 tasks of nope with invariant SRC.
    assert (wins["ideal", with_bit], wins["in use", with_bit], wins["all", with_bit]) == ((0, 20), (0, 10), (0, 20))
    assert ("all", ("coverage", "always-no")) not in wins, "these say the same"
    assert {(each["kind"], each["second"]) for each in compared.as_json() if each["registered"]} == set()
    assert compared.better["ideal", with_bit] == "rate with SRC"


def test_outcomes_of_the_judged_half_do_not_change_a_rate(cells) -> None:
    runs = runs_of(cells)
    others = {
        name: [replace(run, exact_match=run.exact_match * 0 + (run.index == 9)) for run in of_cell]
        if half_of(name.partition("/")[0]) == HALVES[1]
        else of_cell
        for name, of_cell in runs.items()
    }
    rates = [
        {each.cell.name: each.cell.answers["rate"] for each in fair(cells, its, seen_cells(cells, its)).cells}
        for its in (runs, others)
    ]
    assert rates[0] and not rates[1], "without a fitting run no cell counts"
    judged = judge(cells, others)
    assert judged["baselines"] == {"half": HALVES[0], "runs": 3 * 2 * len(AMENDING)}


@pytest.fixture(scope="module")
def recorded():
    """The judgement of the recorded random tasks."""
    stored = load_frozen(load_preregistration("random-tasks"), RECORD / "random-tasks")
    return judge(stored, load_runs(stored, RECORD / "random-tasks"))


def test_what_the_records_say_of_baselines(recorded) -> None:
    """Numbers that were computed once by other code."""
    wins = {
        (each["first"], each["second"], each["kind"]): (each["wins_first"], each["wins_second"])
        for each in recorded["fair"]
    }
    assert wins["literal", "rate", "all"] == (46, 47) and wins["literal", "rate with SRC", "all"] == (3, 47)
    assert wins["coverage", "rate", "all"] == (61, 28) and wins["coverage", "rate with SRC", "all"] == (22, 32)
    assert wins["distractors", "rate with SRC", "all"] == (27, 7)
    assert wins["coverage", "always-no", "in use"] == (3, 31) and wins["distractors", "always-no", "in use"] == (5, 6)
    rate = recorded["kinds"]["all"]["rules"]["rate"]
    right, wrong = (rate[f"{which}_yes"] + rate[f"{which}_no"] for which in ("right", "wrong"))
    assert round(right / (right + wrong), 3) == 0.867 and round(rate["brier"], 3) == 0.098
    assert recorded["frozen"].startswith("cd6a51156f6b55df"), "what was registered is as it was"


def test_a_folder_without_runs_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(judging.VerdictError, match="has no complete runs"):
        judging.together_answer(tmp_path)
