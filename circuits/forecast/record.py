"""Recorded cells, `cells.csv`, which `tools/forecast_cells.py` makes from docs/results."""

import csv
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lengthgen.circuits.forecast.features import Features, Labels, Shown
from lengthgen.circuits.prediction_record import RULES, Counted

FILE = Path(__file__).with_name("cells.csv")
FITTED, JUDGED = "amendment", "judgement"
"""Halves of the drawn tasks, by the hash of their names: the table counts the first, the second judges it.

Tasks with names belong to no half, and no fit sees them.
"""
REGISTERED = ("verdict/random-tasks", "verdict/random-languages", "verdict/swapped-arguments")
"""Records of random tasks that were drawn, predicted and trained alike; rates count one half of these."""
DRAWN = (*REGISTERED, "verdict/new-tasks")
"""These and the record of new tasks, of other kinds and by hand too; the table counts one half of all."""
ANSWERED = {rule: name for rule, name in RULES.items() if rule != "forecast"}
"""Rules whose answers are recorded: columns of the file, each "yes", "no" or "" for an abstention."""
COLUMNS = (
    *("record", "half", "task", "base", "operands", "bits", "encoding", "train", "test", "digest"),
    *("shown", "labels", "start", "first_break", *ANSWERED.values(), "runs", "fit", "first_failures"),
)
"""Columns of the file."""


@dataclass(frozen=True, kw_only=True)
class RecordedCell:
    """A cell on record, with all runs of one experiment.

    Attributes:
        record: name of the record that has the runs; `tools/forecast_cells.py` has its folders.
        half: FITTED or JUDGED for random tasks, "" for named ones.
        task, base: name of the task, and its base if one was chosen.
        encoding: text of the encoding.
        train, test: largest scales of training and of the test; the smallest are 1.
        digest: `lengthgen.circuits.analysis.digest_of` the task up to `test`; "" where only the name is compared.
        features: what a forecast compares.
        first_break: first scale beyond training at which a rule expects a failure; None if none does.
        answers: name of a rule -> answer; None for an abstention.
        runs, fit: number of runs, and of those that solve all training scales.
        first_failures: first tested scale that a fitting run does not solve -> number of such runs.
    """

    record: str
    half: str
    task: str
    base: int | None
    encoding: str
    train: int
    test: int
    digest: str
    features: Features
    first_break: int | None
    answers: Mapping[str, bool | None]
    runs: int
    fit: int
    first_failures: Mapping[int, int]

    @property
    def name(self) -> str:
        """Name of the task with its base, as `lengthgen.circuits.tasks.parse_task` reads it."""
        return self.task if self.base is None else f"{self.task}[base={self.base}]"

    @property
    def counts(self) -> bool:
        """True if the table of forecasts counts it."""
        return self.record in DRAWN and self.half == FITTED

    @property
    def generalize(self) -> int:
        """Number of fitting runs that solve all test scales."""
        return self.fit - sum(self.first_failures.values())


_ANSWERS = {"yes": True, "no": False, "": None}


@cache
def recorded_cells() -> tuple[RecordedCell, ...]:
    """Return all recorded cells, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as stream:
        return tuple(_cell_of(row) for row in csv.DictReader(stream))


@cache
def version() -> str:
    """Return the hash of the recorded cells, by which a forecast names what it was made from."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()[:12]


_FEATURES = ("start", "operands", "bits")
"""Columns of the file that are features, as they stand there."""
_TEXTS = ("record", "half", "task", "encoding", "digest")
_NUMBERS = ("base", "train", "test", "first_break", "runs", "fit")
"""Columns of the file that are fields of a cell; an empty number stands for None."""


def _cell_of(row: Mapping[str, str]) -> RecordedCell:
    failures = (part.split(":") for part in row["first_failures"].split())
    fields: dict[str, Any] = {name: row[name] for name in _TEXTS}
    fields |= {name: int(row[name]) if row[name] else None for name in _NUMBERS}
    return RecordedCell(
        **fields,
        features=Features(
            shown=Shown[row["shown"]], labels=Labels(row["labels"]), **{name: row[name] for name in _FEATURES}
        ),
        answers={rule: _ANSWERS[row[rule]] for rule in ANSWERED.values()},
        first_failures={int(scale): int(count) for scale, count in failures},
    )


def row_of(cell: RecordedCell) -> dict[str, str]:
    """Return the row of the file that `recorded_cells` reads as this cell."""
    words = {answer: word for word, answer in _ANSWERS.items()}
    fields = {name: getattr(cell, name) for name in (*_TEXTS, *_NUMBERS)}
    return {name: "" if value is None else str(value) for name, value in fields.items()} | {
        **{name: getattr(cell.features, name) for name in _FEATURES},
        "shown": cell.features.shown.name,
        "labels": cell.features.labels.value,
        **{rule: words[cell.answers[rule]] for rule in ANSWERED.values()},
        "first_failures": " ".join(f"{scale}:{count}" for scale, count in sorted(cell.first_failures.items())),
    }


def write_cells(cells: Iterable[RecordedCell], path: Path = FILE) -> None:
    """Write recorded cells to a file."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row_of(cell) for cell in cells)


@dataclass(frozen=True, kw_only=True)
class OnRecord:
    """Runs of a cell, or of equal ones, and the first scales at which those fail that fit."""

    counted: Counted
    first_failures: Counter[int]


def on_record(
    task: str, base: int | None, digest: str, *, operands: str, encoding: str, train: int, test: int
) -> OnRecord:
    """Return what is on record for a cell, or for one whose task has other names and the same sequences.

    Args:
        task: the task's name.
        base: its base, if one was chosen.
        digest: `lengthgen.circuits.analysis.digest_of` its analysis.
        operands: its format.
        encoding: text of the encoding.
        train: largest scale of training; only cells with the same one count.
        test: largest scale of the test, likewise.
    """
    settings = (operands, encoding, train, test)
    cells = [
        cell
        for cell in recorded_cells()
        if (cell.features.operands, cell.encoding, cell.train, cell.test) == settings
        and ((cell.task, cell.base) == (task, base) or (cell.digest and cell.digest == digest))
    ]
    failures: Counter[int] = Counter()
    for cell in cells:
        failures.update(cell.first_failures)
    fit = sum(cell.fit for cell in cells)
    counted = Counted(runs=fit, generalize=fit - failures.total(), unfit=sum(cell.runs - cell.fit for cell in cells))
    return OnRecord(counted=counted, first_failures=failures)
