"""Runs of one's own as cells of evidence."""

from functools import cache, partial

from lengthgen.circuits.formats import in_format
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.tasks.published.subject import Subject
from lengthgen.circuits.theories.theory import Question
from lengthgen.empirical.court.cell import Cell, MeasuredRun
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore, StoreError

EVIDENCE = "runs"
"""Name of this data set."""


def stored_cells(store: RunStore) -> tuple[Cell, ...]:
    """Return the finished runs of a store as cells: one for each task, format, encoding, size and range of scales.

    Accuracy is the exact match at the last checkpoint.

    Raises:
        StoreError: the store has no finished run, or a run is broken.
    """
    groups: dict[str, list[Run]] = {}
    for stored in store.contents():
        if stored.broken is not None:
            raise StoreError(stored.broken)
        if stored.run is not None and stored.done is None and max(stored.run.test) > max(stored.run.train):
            groups.setdefault(stored.run.group, []).append(stored.run)
    if not groups:
        raise StoreError(f"{store.root} holds no finished run tested beyond its training: train some, or see --out")
    return tuple(_cell(store, runs) for runs in groups.values())


def _cell(store: RunStore, runs: list[Run]) -> Cell:
    """Return the cell of runs that differ in their seeds alone."""
    first = runs[0]
    return Cell(
        evidence=EVIDENCE,
        group=first.group,
        question=Question(
            subject=_subject(first.task, max(first.test)),
            encoding=first.encoding,
            train=max(first.train),
            test=max(first.test),
        ),
        runs=tuple(MeasuredRun(name=f"seed {run.seed}", accuracy=store.final_exact_match(run)) for run in runs),
    )


@cache
def _subject(spec: TaskSpec, largest_scale: int) -> Subject:
    """Return the task of a run; one object for each, since what is computed about a task is kept by its function."""
    return Subject(
        name=str(spec), words=f"{spec.words}, {spec.format}", arxiv="", task=partial(_task, spec, largest_scale)
    )


def _task(spec: TaskSpec, largest_scale: int) -> Task:
    """Return the task of a run as its models met it."""
    return in_format(spec.plain(), spec.format, largest_scale=largest_scale)
