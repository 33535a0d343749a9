"""Cells of evidence: a question, and the runs that answer it; finished runs of one's own as such cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial

from lengthgen.circuits.formats import in_format
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.tasks.published.subjects import Subject
from lengthgen.empirical.experiment.outcome import Outcome, first_failure
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore, StoreError
from lengthgen.empirical.studies.theories.rival import Question

OWN = "runs"
"""Name of the data set of one's own runs."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Question with the runs that answer it.

    Attributes:
        evidence: name of the data set.
        question: what is asked.
        runs: seed or model name of the source -> length -> share of test inputs that are answered without any error. A
            run may be the mean of several where a source gives no more. Where a source bins lengths, the key is the
            largest length of the bin. There is at least one run, each measured up to and beyond the training length.
        remark: trap of this cell, for people; empty if there is none.
        operands: format of the task, of one's own runs; published results have each one of their own.
        group: name of the group of runs if the data set has several cells of one question; else empty.
    """

    evidence: str
    question: Question
    runs: Mapping[str, Mapping[int, float]]
    remark: str = ""
    group: str = ""
    operands: str = ""

    @property
    def name(self) -> str:
        """Name of the cell: data set, task, encoding, lengths of training and test, and the group if there is one."""
        lengths = f"{self.question.train}-{self.question.test}"
        return "/".join(filter(None, (self.evidence, self.task, self.question.encoding, lengths, self.group)))

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.question.subject.name

    @property
    def measures_training(self) -> bool:
        """True if a length of training was measured in some run, so that it is known whether runs fit."""
        return any(length <= self.question.train for accuracy in self.runs.values() for length in accuracy)

    def outcome(self, threshold: float) -> Outcome["Cell"]:
        """Return the outcome up to the tested length; all runs fit where no length of training was measured."""
        failures = [
            first_failure({at: share for at, share in accuracy.items() if at <= self.question.test}, threshold)
            for accuracy in self.runs.values()
        ]
        return Outcome.of(self, failures, train=self.question.train)


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
    first, test = runs[0], max(runs[0].test)
    subject = _subject(first.task, test)
    return Cell(
        evidence=OWN,
        group=first.group,
        operands=first.task.format,
        question=Question(subject=subject, encoding=first.encoding, train=max(first.train), test=test),
        runs={f"seed {run.seed}": store.final_exact_match(run) for run in runs},
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
