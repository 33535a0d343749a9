"""Command `lengthgen verdict` on made-up and on very small experiments."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lengthgen.verdict as module
from empirical.verdict.frozen import load_frozen
from empirical.verdict.runs import RUNS
from empirical.verdict.tables import read_rows, write_rows
from lengthgen.verdict import VerdictError, rerun_answer, train_answer, verdict_answer
from tests.empirical.verdict.made_up import frozen_cell, preregistration, store_cells
from tests.lengthgen.refusal import refused

RECORD = Path(__file__).parents[2] / "docs" / "results" / "verdict"
TASK = "random-local-invariant-1[base=2]"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of verdicts with frozen answers for two cells, of a preregistration with little training."""
    registered = preregistration(stopping=replace(preregistration().stopping, first=2, most=3))
    monkeypatch.setattr(module, "load_preregistration", lambda name: registered)
    store_cells([frozen_cell(TASK, "nope"), frozen_cell(TASK, "alibi")], tmp_path / "mine")
    return tmp_path


def test_runs_are_trained_judged_and_kept_and_forged_answers_are_noticed(small: Path) -> None:
    answer = train_answer("mine", small, seconds=3600, until_decided=False)
    assert answer["seen"] == 2 and answer["runs"] == 4
    before = (small / "mine" / RUNS).read_bytes()
    again = train_answer("mine", small, seconds=3600, until_decided=False)
    assert again == answer and (small / "mine" / RUNS).read_bytes() == before, "nothing is trained twice"
    assert train_answer("mine", small, seconds=3600, until_decided=True)["runs"] in range(4, 7)
    frozen = load_frozen(preregistration(), small / "mine")
    assert verdict_answer("mine", small)["frozen"] != frozen.digest, "another preregistration, another hash"
    cells = small / "mine" / "cells.parquet"
    rows = read_rows(cells)
    rows[0]["coverage"] = 0.1
    write_rows(cells, rows)
    with pytest.raises(Exception, match="does not follow from the frozen answers"):
        verdict_answer("mine", small)


def test_without_frozen_answers_or_runs_there_is_one_line(small: Path, tmp_path: Path) -> None:
    with pytest.raises(VerdictError, match="--freeze"):
        verdict_answer("mine", tmp_path / "elsewhere")
    with pytest.raises(VerdictError, match="has no runs"):
        rerun_answer("mine", small, cells=1, seed=0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nobody"], "unknown preregistration"),
        (["--freeze", "--train", "1h"], "different work"),
        (["--until-decided"], "goes with --train"),
        (["--seed", "3"], "goes with --rerun"),
        (["--train", "soon"], "budget"),
        (["--rerun", "0"], "rerun"),
        ([], "no frozen answers"),
    ],
)
def test_bad_calls_end_with_one_line(run: Any, tmp_path: Path, arguments: list[str], says: str) -> None:
    refused(run("verdict", *arguments, "--out", str(tmp_path)), says)


def test_the_record_of_the_project_is_judged_from_its_files(answer: Any) -> None:
    judged = answer("verdict", "--out", str(RECORD))
    assert judged["cells"] == 10_000 and judged["runs"] > 0
    text = (RECORD.parents[1] / "verdict.md").read_text(encoding="utf-8")
    for number in (judged["frozen"], f"{judged['runs']:,} runs", f"{judged['counting']:,} cells"):
        assert number in text, f"docs/verdict.md says otherwise than the record: {number}"
