"""Folder of a verdict with made-up answers and runs for tests of its figures."""

from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.tables import write_rows
from lengthgen.empirical.studies.verdict.frozen import CELLS, FrozenCell, FrozenCells, load_frozen
from lengthgen.empirical.studies.verdict.population import half_of
from lengthgen.empirical.studies.verdict.preregistration import load_preregistration
from lengthgen.empirical.studies.verdict.rule_figures import RANDOM_TASKS
from lengthgen.empirical.studies.verdict.runs import RUNS
from lengthgen.paper_figs.sources import Sources

PREREGISTRATION = load_preregistration(RANDOM_TASKS)
TASKS, LAST = 24, PREREGISTRATION.test[1]
ENCODINGS = ("ipe-sh", "rope", "ape")


def breaks_at(task: int, form: str, encoding: str) -> int | None:
    """First scale that all runs of a cell fail: none with IPE-SH, later with filled operands, late for task 5."""
    if encoding == "ipe-sh":
        return None
    if task == 5:
        return 19
    return 6 + task % 3 if form == "aligned" else 9 + task % 3


def answer(rule: str, task: int, form: str, encoding: str) -> tuple[float | None, int | None]:
    """Answer of a rule: coverage knows the truth but for task 5, other rules say always yes, always no, or nothing."""
    if encoding == "ipe":
        return None, None
    if rule in ("coverage", "distractors", "minimised", "minimised-distractors"):
        truth = breaks_at(6 if task == 5 else task, form, encoding)
        return (0.9, None) if truth is None else (0.1, truth + (rule == "distractors"))
    if rule == "encodings-order":
        return 0.9, None
    return (None, None) if rule == "k-sparse" else (0.1, None)


def frozen_rows() -> list[dict[str, Any]]:
    """Return a row for each cell; one cell of every task has no run, because `ipe` has no model without roles."""
    rows = []
    for task in range(TASKS):
        for form in ("aligned", "filled"):
            for encoding in (*ENCODINGS, "ipe"):
                row: dict[str, Any] = {
                    "task": f"task-{task}", "format": form, "encoding": encoding, "stratum": "made up",
                    "half": half_of(f"task-{task}"), "rises_at": 10 if task % 4 == 3 else None, "shape": "0",
                }  # fmt: skip
                for rule in PREREGISTRATION.rules:
                    row[rule], row[f"{rule} breaks at"] = answer(rule, task, form, encoding)
                rows.append(row)
    return rows


def exact_match(cell: FrozenCell, index: int) -> list[float | None]:
    """Return the share of right samples by scale: run 3 does not fit, and three scales are tested after a failure."""
    first = breaks_at(int(cell.task.removeprefix("task-")), cell.format, cell.encoding)
    if index == 3:
        first = 2
    if first is None:
        return [1.0] * LAST
    return [1.0 if n < first else 0.25 if n < first + 3 else None for n in range(1, LAST + 1)]


def verdict_sources(folder: Path, *, runs: int = 4) -> tuple[Sources, FrozenCells]:
    """Write the answers and runs to OUT/verdict/random-tasks; return the sources of figures and the frozen cells."""
    sources = Sources(out=folder / "out", profile="smoke", width=7.0)
    path = sources.out / "verdict" / RANDOM_TASKS
    path.mkdir(parents=True)
    write_rows(path / CELLS, frozen_rows())
    frozen = load_frozen(PREREGISTRATION, path)
    rows = [
        {
            "cell": cell.name, "index": index, "frozen": frozen.digest,
            "steps": 100, "solved": index != 3, "exact_match": exact_match(cell, index),
        }
        for cell in frozen.cells if cell.encoding in ENCODINGS
        for index in range(runs)
    ]  # fmt: skip
    if rows:
        write_rows(path / RUNS, rows)
    return sources, frozen
