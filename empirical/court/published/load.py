"""Published results as cells of evidence: `published_cells` loads all tables, `sources` says where they come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lengthgen.circuits.rivals.rival import Question
from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from lengthgen.empirical.court.cell import Cell, MeasuredRun
from lengthgen.empirical.court.published.source import FOLDER, PublishedError, Source, read_sources
from lengthgen.empirical.court.published.tables import READERS, Measurement, read_rows
from lengthgen.infrastructure.errors import nearest

UNSEEN_FIT = "No length of training was measured: whether a run fits is not known."
"""Remark on a cell whose runs were measured beyond the training length only."""


@dataclass(frozen=True, kw_only=True)
class Unusable:
    """Measured run that is no evidence.

    Attributes:
        evidence: name of the table.
        task: name of the task.
        name: name of the run.
        why: reason why it is not used.
    """

    evidence: str
    task: str
    name: str
    why: str


@cache
def sources() -> Mapping[str, Source]:
    """Return all sources by the names of their tables.

    Raises:
        PublishedError: as `read_sources`.
    """
    return read_sources(FOLDER)


def published_cells() -> tuple[Cell, ...]:
    """Return all cells of all tables, in the order of the tables.

    Raises:
        PublishedError: a table is damaged, as `load_tables`.
    """
    return load_tables(FOLDER)[0]


def unusable_runs() -> tuple[Unusable, ...]:
    """Return the runs that are in no cell, with the reason; errors as `published_cells`."""
    return load_tables(FOLDER)[1]


@cache
def huang_predictions() -> Mapping[tuple[str, str], bool]:
    """Return (task, encoding) -> True if Huang et al. predict that it generalizes (arXiv 2410.02140, their figures).

    True means that they know a program of C-RASP[periodic, local] (learned absolute positions) or C-RASP[] (NoPE). The
    rows with the regulariser are left out: they repeat what the NoPE rows say.

    Raises:
        PublishedError: the table is damaged.
    """
    source = sources()["huang2025"]
    rows = [row for row in read_rows(FOLDER, "huang2025") if row.text("pe") != "ape_reg"]
    return {(row.text("task"), source.encodings[row.text("pe")]): row.truth("predicted") for row in rows}


@cache
def load_tables(folder: Path) -> tuple[tuple[Cell, ...], tuple[Unusable, ...]]:
    """Return the cells of the tables in a folder, and the runs that are in none.

    Args:
        folder: folder of `sources.toml` and of a table `NAME.csv` for each source.

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
            task = _task(evidence, source, measured)
            if measured.encoding in source.unusable:
                why = source.unusable[measured.encoding]
                unusable.append(Unusable(evidence=evidence, task=task, name=measured.run, why=why))
                continue
            question = task, _encoding(evidence, source, measured)
            accuracy = runs.setdefault(question, {}).setdefault(measured.run, {})
            if repeated := accuracy.keys() & measured.accuracy:
                raise PublishedError(
                    f"{evidence}: '{measured.run}' of {task} with {question[1]} has length {min(repeated)} twice"
                )
            accuracy.update(measured.accuracy)
        cells += [_cell(evidence, source, *question, by_name) for question, by_name in runs.items()]
    return tuple(cells), tuple(unusable)


def _task(evidence: str, source: Source, measured: Measurement) -> str:
    """Return the name of the task of a measurement; raise PublishedError if it is unknown."""
    task = source.names.get(measured.task, measured.task)
    if task not in SUBJECTS:
        raise PublishedError(f"{evidence}: unknown task '{task}': {nearest(task, SUBJECTS)}")
    return task


def _encoding(evidence: str, source: Source, measured: Measurement) -> str:
    """Return the encoding of a measurement; raise PublishedError if it is unknown."""
    if measured.encoding not in source.encodings:
        hint = nearest(measured.encoding, source.encodings)
        raise PublishedError(f"{evidence}: unknown encoding '{measured.encoding}' of '{measured.run}': {hint}")
    return source.encodings[measured.encoding]


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
        runs=tuple(MeasuredRun(name=name, accuracy=accuracy) for name, accuracy in runs.items()),
        remark=" ".join([*remarks, UNSEEN_FIT] if min(lengths) > train else remarks),
    )
