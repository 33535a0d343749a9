"""Published results as plain data: cells by table, task and encoding, with their sources."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from lengthgen.empirical.court.cells import Cell
from lengthgen.empirical.court.published.load import PublishedError, Source, published_cells, sources, unusable_runs
from lengthgen.infrastructure.errors import in_any_case, nearest


def published_answer(
    *, evidence: str | None = None, task: str | None = None, encoding: str | None = None
) -> dict[str, Any]:
    """Return the published cells that match the filters, the runs that are no evidence, and the sources of both.

    Runs that are no evidence are filtered by table and task.

    Raises:
        PublishedError: no published result has this table, task or encoding, or a table is damaged.
    """
    cells, unusable = published_cells(), unusable_runs()
    evidence = _as_listed("evidence", evidence, sources())
    task = _as_listed("task", task, [cell.question.subject.name for cell in cells])
    encoding = _as_listed("encoding", encoding, [cell.question.encoding for cell in cells])
    rows = [
        _row(cell)
        for cell in cells
        if evidence in (None, cell.evidence)
        and task in (None, cell.question.subject.name)
        and encoding in (None, cell.question.encoding)
    ]
    unused = [asdict(run) for run in unusable if evidence in (None, run.evidence) and task in (None, run.task)]
    listed = {row["evidence"] for row in [*rows, *unused]}
    return {
        "sources": {name: _described(source) for name, source in sources().items() if name in listed},
        "cells": rows,
        "unusable": unused,
    }


def _as_listed(kind: str, name: str | None, names: Iterable[str]) -> str | None:
    """Return a filter's value as it is listed. Raise PublishedError if no published result has it."""
    names = dict.fromkeys(names)
    name = None if name is None else in_any_case(name, names)
    if name is not None and name not in names:
        hint = nearest(name, names, listed="`lengthgen published` lists all")
        raise PublishedError(f"no published result has the {kind} '{name}': {hint}")
    return name


def _described(source: Source) -> dict[str, Any]:
    """Return what a source says for people: all but the tables of names."""
    return {key: value for key, value in asdict(source).items() if not isinstance(value, dict)}


def _row(cell: Cell) -> dict[str, Any]:
    """Return a cell as plain data."""
    question = cell.question
    return {
        "evidence": cell.evidence,
        "task": question.subject.name,
        "encoding": question.encoding,
        "train": question.train,
        "test": question.test,
        "runs": [_run(name, accuracy) for name, accuracy in cell.runs.items()],
        "remark": cell.remark,
        "expressible": question.subject.task is not None,
        "why_not": question.subject.why_not,
    }


def _run(name: str, accuracy: Mapping[int, float]) -> dict[str, Any]:
    """Return a run as plain data; lengths are texts, as in JSON."""
    return {"name": name, "accuracy": {str(length): share for length, share in sorted(accuracy.items())}}
