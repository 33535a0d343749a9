"""Command `lengthgen verdict` on made-up and on very small experiments."""

import re
import runpy
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lengthgen.empirical.experiment.tables import read_rows, write_rows
from lengthgen.empirical.studies.verdict import judging
from lengthgen.empirical.studies.verdict.frozen import FrozenCells, load_frozen
from lengthgen.empirical.studies.verdict.judging import (
    VerdictError,
    freeze_answer,
    rerun_answer,
    train_answer,
    verdict_answer,
)
from lengthgen.empirical.studies.verdict.preregistration import Preregistration, load_preregistration
from lengthgen.empirical.studies.verdict.rerun import Decided
from lengthgen.empirical.studies.verdict.runs import RUNS, CellRun, load_runs
from lengthgen.infrastructure.files import read_json, write_json
from tests.empirical.studies.verdict.made_up import frozen, frozen_cell, outcomes, preregistration, store_cells
from tests.lengthgen.refusal import refused
from tests.pool_here import pool_here

RECORD = Path(__file__).parents[4] / "docs" / "results" / "verdict"
TASK = "random-local-invariant-1[base=2]"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of verdicts with frozen answers for two cells, of a preregistration with little training."""
    registered = preregistration(stopping=replace(preregistration().stopping, first=2, most=3))
    monkeypatch.setattr(judging, "load_preregistration", lambda name: registered)
    monkeypatch.setattr("lengthgen.empirical.studies.verdict.runs.pool", pool_here)
    monkeypatch.setattr(
        "lengthgen.empirical.studies.verdict.runs.keep_freed_memory", lambda: None
    )  # it would for all later tests
    store_cells([frozen_cell(TASK, "nope"), frozen_cell(TASK, "alibi")], tmp_path / "mine")
    return tmp_path


def test_runs_are_trained_judged_and_kept_and_forged_answers_are_noticed(small: Path) -> None:
    answer = train_answer("mine", small, seconds=3600, until_decided=False)
    assert answer["seen"] == 2 and answer["runs"] == 4
    before = (small / "mine" / RUNS).read_bytes()
    again = train_answer("mine", small, seconds=3600, until_decided=False)
    assert again == answer and (small / "mine" / RUNS).read_bytes() == before, "nothing is trained twice"
    assert train_answer("mine", small, seconds=3600, until_decided=True)["runs"] in range(4, 7)
    cells_of_another = load_frozen(preregistration(), small / "mine")
    assert verdict_answer("mine", small)["frozen"] != cells_of_another.digest, "another preregistration, another hash"
    cells = small / "mine" / "cells.parquet"
    rows = read_rows(cells)
    rows[0]["coverage"] = 0.1
    write_rows(cells, rows)
    with pytest.raises(Exception, match="does not follow from the frozen answers"):
        verdict_answer("mine", small)


def test_freezing_says_what_it_does_and_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], told_of_every_piece: None
) -> None:
    """Drawing takes the longest; a cell is a task, a format and an encoding, and what is counted are no cells."""
    registered = preregistration()
    registered = replace(registered, encodings=("nope", "alibi"), tasks=replace(registered.tasks, count=1))
    monkeypatch.setattr(judging, "load_preregistration", lambda name: registered)
    monkeypatch.setattr("lengthgen.empirical.studies.verdict.frozen.pool", pool_here)
    monkeypatch.setattr(judging, "gate", lambda frozen: {"cells": len(frozen.cells)})
    assert freeze_answer("mine", tmp_path) == {"cells": 4}
    lines = [re.sub(r" \(.*", "", line) for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "drawing of tasks: 1 tasks to do",
        "drawing of tasks: 1 of 1 tasks",
        "answers of the rules: 2 pairs of a task and a format to do",
        "answers of the rules: 1 of 2 pairs of a task and a format",
        "answers of the rules: 2 of 2 pairs of a task and a format",
        "simulation of what 4 cells can decide",
    ]
    freeze_answer("mine", tmp_path)
    assert capsys.readouterr().err == "simulation of what 4 cells can decide\n", "it is frozen already"


def test_tasks_are_trained_in_portions_in_the_order_of_the_frozen_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = frozen([frozen_cell(f"task{number}", encoding) for number in range(3) for encoding in ("rpe", "nope")])
    monkeypatch.setattr(judging, "AT_ONCE", 2)
    done: dict[str, list[int | None]] = {cells.cells[0].name: [None]}
    portions = []
    while wanted := judging._wanted(cells, outcomes(cells, done), until_decided=False):
        portions.append({cell.task: 0 for cell, _ in wanted} | {"runs": len(wanted)})
        for cell, _ in wanted:
            done.setdefault(cell.name, []).append(None)
    assert portions == [{"task0": 0, "task1": 0, "runs": 11}, {"task2": 0, "runs": 6}]


def test_without_frozen_answers_or_runs_there_is_one_line(small: Path, tmp_path: Path) -> None:
    with pytest.raises(VerdictError, match="--freeze"):
        verdict_answer("mine", tmp_path / "elsewhere")
    with pytest.raises(VerdictError, match="has no runs"):
        rerun_answer("mine", small, count=1, seed=0, deciding=False)


@pytest.mark.parametrize(("agrees", "code", "begin"), [(True, 0, ""), (False, 1, "error: ")])
def test_a_rerun_says_what_differs_and_fails_if_that_must_agree(
    run: Any, small: Path, monkeypatch: pytest.MonkeyPatch, agrees: bool, code: int, begin: str
) -> None:
    train_answer("mine", small, seconds=3600, until_decided=False)
    monkeypatch.setattr("lengthgen.empirical.studies.verdict.rerun.pool", pool_here)
    monkeypatch.setattr(judging, "judged", lambda *_: {"agrees": agrees, "why": "1 of 1 differs"})
    ended = run("verdict", "mine", "--rerun", "1", "--out", str(small))
    assert ended[0] == code and "Cells trained again" in ended[1]
    assert ended[2].splitlines()[-1] == f"{begin}1 of 1 differs"


@pytest.mark.parametrize("deciding", [False, True])
def test_a_forged_outcome_is_named_by_a_rerun_on_any_machine(
    run: Any, small: Path, monkeypatch: pytest.MonkeyPatch, deciding: bool
) -> None:
    train_answer("mine", small, seconds=3600, until_decided=False)
    path, answers = small / "mine" / RUNS, frozen_cell(TASK).answers
    rows = read_rows(path)
    rows[0]["exact_match"] = [1.0] * 4
    write_rows(path, rows)
    environment = small / "mine" / judging.ENVIRONMENT
    write_json(environment, read_json(environment) | {"machine": "another"})
    monkeypatch.setattr("lengthgen.empirical.studies.verdict.rerun.pool", pool_here)
    monkeypatch.setattr(
        "lengthgen.empirical.studies.verdict.rerun.answers_of", lambda *_: dict.fromkeys(("nope", "alibi"), answers)
    )
    question = Decided(pair=("coverage", "name"), runs=tuple((frozen_cell(TASK, "nope"), n) for n in (0, 1)), fewest=1)
    monkeypatch.setattr(judging, "decided", lambda *_: [question] if deciding else [])
    aimed = ["--deciding"] if deciding else []
    code, shown, err = run("verdict", "mine", "--rerun", "4", *aimed, "--out", str(small))
    assert code == 1 and f"{rows[0]['cell']}: stored 5, again" in shown
    assert "differs by more than rounding does: " + rows[0]["cell"] in err.splitlines()[-1]
    assert re.search(r"coverage, not name +1 +2 +2 +100%", shown) or not deciding
    if not deciding:
        refused(run("verdict", "mine", "--rerun", "1", "--deciding", "--out", str(small)), "leave out --deciding")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nobody"], "unknown preregistration"),
        (["--freeze", "--train", "1h"], "different work"),
        (["--until-decided"], "goes with --train"),
        (["--seed", "3"], "goes with --rerun"),
        (["--deciding"], "--deciding goes with --rerun"),
        (["--train", "soon"], "budget"),
        (["--rerun", "0"], "rerun"),
        (["--format", "markdown", "--json"], "leave out --json"),
        (["random-tasks", "--format", "markdown"], "leave out random-tasks"),
        ([], "has no complete runs"),
    ],
)
def test_bad_calls_end_with_one_line(run: Any, tmp_path: Path, arguments: list[str], says: str) -> None:
    refused(run("verdict", *arguments, "--out", str(tmp_path)), says)


@pytest.fixture(scope="module")
def runs_read_once() -> Iterator[tuple[Callable[..., Any], Callable[..., Any]]]:
    """Have the scripts of the record share its runs: to read them and check their seeds takes each a second.

    Gives what stands for `load_runs` and for `load_frozen`.
    """

    @cache
    def runs_in(folder: Path) -> dict[str, list[CellRun]]:
        return load_runs(frozen_in(folder), folder)

    @cache
    def frozen_in(folder: Path) -> FrozenCells:
        return load_frozen(load_preregistration(folder.name), folder)

    def runs_once(_: FrozenCells, folder: Path) -> dict[str, list[CellRun]]:
        return runs_in(folder.resolve())

    def frozen_once(_: Preregistration, folder: Path) -> FrozenCells:
        return frozen_in(folder.resolve())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lengthgen.empirical.studies.verdict.runs.load_runs", runs_once)
        patch.setattr("lengthgen.empirical.studies.verdict.frozen.load_frozen", frozen_once)
        yield runs_once, frozen_once


def test_the_page_of_the_project_is_what_the_records_say(
    run: Any, monkeypatch: pytest.MonkeyPatch, runs_read_once: Any
) -> None:
    for loader, once in zip(("load_runs", "load_frozen"), runs_read_once, strict=True):
        monkeypatch.setattr(judging, loader, once)
    monkeypatch.chdir(RECORD.parents[2])  # the page names the folder as the command does
    code, page, err = run("verdict", "--out", "docs/results/verdict", "--format", "markdown")
    assert code == 0, err
    assert page == (RECORD.parents[1] / "verdict.md").read_text(encoding="utf-8"), (
        "run: lengthgen verdict --out docs/results/verdict --format markdown > docs/verdict.md"
    )


@pytest.fixture(scope="module")
def counts(runs_read_once: Any) -> dict[str, Any]:
    """The script that counts the stored runs; it reads them once."""
    return runpy.run_path(str(RECORD / "counts.py"))


def test_the_stored_answers_are_about_all_runs_that_are_meant_and_no_others(counts: dict[str, Any]) -> None:
    swapped = [each["cell"] for each in read_json(RECORD / "swapped.json")]
    assert swapped == sorted(cell.name for cell, _ in counts["swapped_runs"]())
    assert counts["at_the_swap"]() == (282, 288)
    for experiment in ("changed", "wider", "off-by-one"):
        meant = {
            (cell.name, run.index) for cell, run in counts["padded_runs"]() if experiment != "wider" or not run.index
        }
        assert {(row["cell"], row["index"]) for row in counts["padding_rows"](experiment)} == meant
