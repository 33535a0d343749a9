"""Published results as cells of evidence, from the tables NAME.csv of this folder, which sources.toml describes."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from lengthgen.empirical.studies.court.cells import Cell
from lengthgen.empirical.studies.theories.rival import Question
from lengthgen.infrastructure.errors import LengthgenError, nearest
from lengthgen.infrastructure.settings import read, read_toml

FOLDER = Path(__file__).parent
BINS = (50, 100, 150)
"""Largest lengths of the three bins of huang2025 and decompiling2026."""
SHARE = re.compile(r"-?[0-9]+(\.[0-9]+)?")
"""Decimal number, as the tables write shares."""
UNSEEN_FIT = "No length of training was measured: whether a run fits is not known."
"""Remark on a cell whose runs were measured beyond the training length only."""


class PublishedError(LengthgenError):
    """Published numbers that are damaged, or a name that they do not have. The message is one line."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Source of the numbers of one table.

    Attributes:
        title, arxiv, authors: the paper.
        repository, file: where the numbers were taken from.
        retrieved: when, as far as it is known.
        licence: remark on the licence of the repository.
        lengths: which lengths were tested, in words.
        model: what was trained.
        accuracy: what is counted, and in which unit the table has it.
        traps: what misleads whoever takes the numbers as they stand.
        train: largest length of training.
        train_of: task -> largest length of training, where it is another one.
        names: task as the table writes it -> its name here; a task that is not listed has the same name.
        encodings: encoding as the table writes it -> text of an encoding.
        unusable: encoding as the table writes it -> reason why its rows are no evidence.
        remarks: task, encoding or task/encoding -> remark on its cells.
    """

    title: str
    arxiv: str
    authors: str
    repository: str
    file: str
    retrieved: str
    licence: str
    lengths: str
    model: str
    accuracy: str
    traps: tuple[str, ...]
    train: int
    train_of: dict[str, int]
    names: dict[str, str]
    encodings: dict[str, str]
    unusable: dict[str, str]
    remarks: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Unusable:
    """Measured run that is no evidence: the table, task and run, and the reason why it is not used."""

    evidence: str
    task: str
    name: str
    why: str


def read_sources(folder: Path) -> dict[str, Source]:
    """Return the sources that `sources.toml` in a folder describes, by the names of their tables.

    Raises:
        PublishedError: the file cannot be read, or a key is missing, unknown or of the wrong type.
    """
    try:
        tables = read_toml(folder / "sources.toml")
        return {name: read(Source, table, f"sources.toml, {name}") for name, table in tables.items()}
    except LengthgenError as error:
        raise PublishedError(str(error)) from error


@cache
def sources() -> Mapping[str, Source]:
    """Return all sources by the names of their tables; errors as `read_sources`."""
    return read_sources(FOLDER)


def published_cells() -> tuple[Cell, ...]:
    """Return all cells of all tables, in the order of the tables; errors as `load_tables`."""
    return load_tables(FOLDER)[0]


def unusable_runs() -> tuple[Unusable, ...]:
    """Return the runs that are in no cell, with the reason; errors as `load_tables`."""
    return load_tables(FOLDER)[1]


@cache
def huang_predictions() -> Mapping[tuple[str, str], bool]:
    """Return (task, encoding) -> True if Huang et al. predict that it generalizes (arXiv 2410.02140, their figures).

    True means that they know a program of C-RASP[periodic, local] (learned absolute positions) or C-RASP[] (NoPE). The
    rows with the regulariser are left out: they repeat what the NoPE rows say.
    """
    source = sources()["huang2025"]
    rows = [row for row in read_rows(FOLDER, "huang2025") if row.text("pe") != "ape_reg"]
    return {(row.text("task"), source.encodings[row.text("pe")]): row.truth("predicted") for row in rows}


@cache
def load_tables(folder: Path) -> tuple[tuple[Cell, ...], tuple[Unusable, ...]]:
    """Return the cells of the tables in a folder, and the runs that are in none.

    Raises:
        PublishedError: a file cannot be read, a column is missing, an accuracy is out of range, a task or an encoding
            is unknown, a length was measured twice, or none beyond the training length.
    """
    cells: list[Cell] = []
    unusable: list[Unusable] = []
    for evidence, source in read_sources(folder).items():
        runs: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
        if evidence not in READERS:
            raise PublishedError(f"unknown table '{evidence}': {nearest(evidence, READERS)}")
        for row in read_rows(folder, evidence):
            measured = READERS[evidence](row)
            task = source.names.get(measured.task, measured.task)
            if task not in SUBJECTS:
                raise PublishedError(f"{evidence}: unknown task '{task}': {nearest(task, SUBJECTS)}")
            if measured.encoding in source.unusable:
                why = source.unusable[measured.encoding]
                unusable.append(Unusable(evidence=evidence, task=task, name=measured.run, why=why))
                continue
            if measured.encoding not in source.encodings:
                hint = nearest(measured.encoding, source.encodings)
                raise PublishedError(f"{evidence}: unknown encoding '{measured.encoding}' of '{measured.run}': {hint}")
            encoding = source.encodings[measured.encoding]
            accuracy = runs.setdefault((task, encoding), {}).setdefault(measured.run, {})
            if repeated := accuracy.keys() & measured.accuracy:
                raise PublishedError(
                    f"{evidence}: '{measured.run}' of {task} with {encoding} has length {min(repeated)} twice"
                )
            accuracy.update(measured.accuracy)
        cells += [_cell(evidence, source, *question, by_name) for question, by_name in runs.items()]
    return tuple(cells), tuple(unusable)


def _cell(evidence: str, source: Source, task: str, encoding: str, runs: Mapping[str, Mapping[int, float]]) -> Cell:
    """Return the cell of a task and an encoding; raise PublishedError if no longer input was measured."""
    train = source.train_of.get(task, source.train)
    lengths = [length for accuracy in runs.values() for length in accuracy]
    if max(lengths) <= train:
        raise PublishedError(f"{evidence}: {task} with {encoding} was measured at no length above {train}")
    remarks = [source.remarks[key] for key in (task, encoding, f"{task}/{encoding}") if key in source.remarks]
    return Cell(
        evidence=evidence,
        question=Question(subject=SUBJECTS[task], encoding=encoding, train=train, test=max(lengths)),
        runs=runs,
        remark=" ".join([*remarks, UNSEEN_FIT] if min(lengths) > train else remarks),
    )


class Row:
    """Row of a CSV file whose entries are checked as they are read.

    Args:
        entries: column -> text.
        place: file and line, for errors.
    """

    def __init__(self, entries: Mapping[str, str], place: str) -> None:
        self._entries, self._place = entries, place

    def text(self, column: str) -> str:
        """Return an entry; raise PublishedError if there is no such column, or the row is too short."""
        entry = self._entries.get(column)
        if entry is None:
            raise PublishedError(f"{self._place}: column '{column}' is missing")
        return entry

    def share(self, column: str, *, full: int = 1) -> float:
        """Return an entry divided by `full`; raise PublishedError if it is no number from 0 to `full`."""
        text = self.text(column)
        if not SHARE.fullmatch(text) or not 0 <= Decimal(text) <= full:
            raise PublishedError(f"{self._place}: {column} = '{text}' is no number from 0 to {full}")
        return abs(float(Decimal(text) / full))  # without the sign of -0.0

    def bins(self, column: str, *, full: int = 1) -> dict[int, float]:
        """Return largest length of the bin -> share, from the columns COLUMN0, COLUMN1 and COLUMN2."""
        return {length: self.share(f"{column}{index}", full=full) for index, length in enumerate(BINS)}

    def length(self, column: str) -> int:
        """Return an entry; raise PublishedError if it is no positive whole number."""
        text = self.text(column)
        if not (text.isdecimal() and int(text)):
            raise PublishedError(f"{self._place}: {column} = '{text}' is no length")
        return int(text)

    def truth(self, column: str) -> bool:
        """Return an entry; raise PublishedError if it is neither True nor False."""
        text = self.text(column)
        if text not in ("True", "False"):
            raise PublishedError(f"{self._place}: {column} = '{text}' is neither True nor False")
        return text == "True"


def read_rows(folder: Path, name: str) -> Iterator[Row]:
    """Yield the rows of the table NAME.csv in a folder.

    Raises:
        PublishedError: the file cannot be read, is no text, or a row has more entries than the first line.
    """
    path = folder / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            for entries in reader:
                place = f"{path.name}, line {reader.line_num}"
                if None in entries:
                    raise PublishedError(f"{place}: more entries than columns")
                yield Row(entries, place)
    except (OSError, UnicodeError, csv.Error) as error:
        raise PublishedError(f"{path} cannot be read: {error}") from error


class Measurement(NamedTuple):
    """Row of a table: task and encoding as the table writes them, name of the run, and length -> share in [0, 1]."""

    task: str
    encoding: str
    run: str
    accuracy: Mapping[int, float]


def _huang(row: Row) -> Measurement:
    """Return a row of huang2025: percent in three bins, a mean over runs."""
    accuracy = row.bins("bin", full=100)
    return Measurement(row.text("task"), row.text("pe"), f"mean of {row.text('pe')}", accuracy)


def _decompiling(row: Row) -> Measurement:
    """Return a row of decompiling2026, shares in three bins; the model is named TASK-MARK..., mark one of @#%^."""
    model = row.text("model")
    task, _, size = model.partition("-")
    return Measurement(task, size[:1], model, row.bins("b"))


def _kazemnejad_lengths(row: Row) -> Measurement:
    """Return a row of kazemnejad2023_lengths: the share at one length, of one seed."""
    return Measurement(
        f"{row.text('task')}/{row.text('split')}",
        row.text("pe"),
        f"seed {row.text('seed')}",
        {row.length("length"): row.share("exact_match")},
    )


def _kazemnejad_math(row: Row) -> Measurement:
    """Return a row of kazemnejad2023_math: the share at one length, a mean of three seeds."""
    return Measurement(
        row.text("panel"), row.text("pe"), "mean of 3 seeds", {row.length("length"): row.share("accuracy")}
    )


READERS: Mapping[str, Callable[[Row], Measurement]] = {
    "huang2025": _huang,
    "decompiling2026": _decompiling,
    "kazemnejad2023_lengths": _kazemnejad_lengths,
    "kazemnejad2023_math": _kazemnejad_math,
}
"""Table -> reader of a row."""
