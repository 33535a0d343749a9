"""Preregistrations, frozen cells and outcomes of a few lines, for tests that need no training or very little."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.tables import write_rows
from lengthgen.empirical.studies.verdict.frozen import CELLS, Answer, FrozenCell, FrozenCells
from lengthgen.empirical.studies.verdict.population import half_of
from lengthgen.empirical.studies.verdict.preregistration import Preregistration, load_preregistration
from lengthgen.empirical.studies.verdict.runs import FROZEN, CellRun, run_from

YES: Answer = (1.0, None)
REGISTERED = load_preregistration("random-tasks")


def unreported(done: int, total: int) -> None:
    """Report nothing."""


def preregistration(**changes: Any) -> Preregistration:
    """Return `random-tasks` on two training and four test scales with little training, changed as said."""
    small = {
        "train": (1, 2),
        "test": (1, 4),
        "training": replace(REGISTERED.training, steps=4, batch=8),
        "check": replace(REGISTERED.check, every=2, samples=8),
        "testing": replace(REGISTERED.testing, samples=16, samples_near=32),
    }
    return replace(REGISTERED, **(small | changes))


@cache
def _small_digest() -> str:
    """Digest of `preregistration()`."""
    return preregistration().digest


def frozen_cell(
    task: str,
    encoding: str = "nope",
    *,
    form: str = "aligned",
    shape: str = "0",
    others: Answer = YES,
    **answers: Answer,
) -> FrozenCell:
    """Return a cell with these answers (rule=answer, with _ for -), and `others` of all other rules."""
    by_rule = {rule: answers.pop(rule.replace("-", "_"), others) for rule in REGISTERED.rules}
    assert not answers
    return FrozenCell(
        registered=_small_digest(), task=task, format=form, encoding=encoding, stratum="local invariant",
        half=half_of(task), rises_at=None, shape=shape, answers=by_rule,
    )  # fmt: skip


def frozen(cells: Iterable[FrozenCell], **changes: Any) -> FrozenCells:
    registered = preregistration(**changes)
    of_it = (replace(cell, registered=registered.digest) for cell in cells)
    return FrozenCells(preregistration=registered, cells=tuple(of_it))


def cell_row(cell: FrozenCell) -> dict[str, Any]:
    """Return the row of a cell in the file of frozen answers."""
    row: dict[str, Any] = {
        name: getattr(cell, name) for name in ("task", "format", "encoding", "stratum", "half", "rises_at", "shape")
    }
    for rule, (probability, breaks_at) in cell.answers.items():
        row |= {rule: probability, f"{rule} breaks at": breaks_at}
    return row


def store_cells(cells: Iterable[FrozenCell], folder: Path) -> None:
    write_rows(folder / CELLS, [cell_row(cell) for cell in cells])


def run_row(
    cells: FrozenCells, cell: FrozenCell, index: int, first_failure: int | None = None, **changes: Any
) -> dict[str, Any]:
    """Return the row of a run of frozen cells: it solves the scales before its first failure, and no other."""
    scales = cells.preregistration.test_scales
    shares = [1.0 if first_failure is None or scale < first_failure else 0.25 for scale in scales]
    return {
        "cell": cell.name,
        "index": index,
        "frozen": cells.digest,
        "steps": 4,
        "solved": True,
        "exact_match": shares,
    } | changes


def outcomes(cells: FrozenCells, failures: Mapping[str, Sequence[int | None]]) -> dict[str, list[CellRun]]:
    """Return the runs of cells: name of the cell -> first failure of each run, None if it generalizes."""
    by_name = {cell.name: cell for cell in cells.cells}
    runs = {}
    for name, of_cell in failures.items():
        rows = [run_row(cells, by_name[name], index, failure) for index, failure in enumerate(of_cell)]
        runs[name] = [run_from({key: row[key] for key in row if key != FROZEN}) for row in rows]
    return runs
