"""Frozen predictions: the answers of all rules for every cell of a preregistration, with a digest, before any run."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.tasks import TaskSpec, parse_task
from lengthgen.empirical.experiment.environment import experiment_code
from lengthgen.empirical.experiment.freeze import SeededCell, frozen_digest
from lengthgen.empirical.experiment.judge import says
from lengthgen.empirical.experiment.samples import TEST, examples
from lengthgen.empirical.experiment.tables import TableError, read_rows, write_rows
from lengthgen.empirical.studies.verdict.population import HALVES, DrawnTask, draw, half_of, hash_order
from lengthgen.empirical.studies.verdict.preregistration import Preregistration, given
from lengthgen.empirical.studies.verdict.rules import answers, is_ideal
from lengthgen.infrastructure.cache import Cached
from lengthgen.infrastructure.processes import interrupts_left, pool
from lengthgen.infrastructure.shapes import (
    COUNT,
    NUMBER,
    TEXT,
    Shape,
    WrongShape,
    list_of,
    made_into,
    one_for_each,
    or_none,
    record,
)

CELLS = "cells.parquet"
"""File of the frozen answers in the folder of a verdict."""
Answer = tuple[float | None, int | None]
"""Probability that a fitting run generalizes, None for an abstention; first scale of a failure, None if not said."""


@dataclass(frozen=True, kw_only=True)
class FrozenCell(SeededCell):
    """Cell with the answers that were frozen before its runs.

    Attributes:
        registered: digest of the preregistration.
        task: name of the task (`circuits.tasks.parse_task`).
        format: format of the task.
        encoding: text of the encoding.
        stratum, half, rises_at: as in `DrawnTask`.
        shape: hash of the alphabet's size and of all lengths; tasks of one shape can be trained together.
        answers: rule -> answer.
    """

    registered: str
    task: str
    format: str
    encoding: str
    stratum: str
    half: str
    rises_at: int | None
    shape: str
    answers: Mapping[str, Answer]

    @property
    def name(self) -> str:
        """Name of the cell."""
        return f"{self.task}/{self.format}/{self.encoding}"

    @property
    def content(self) -> list[Any]:
        """The preregistration and this cell's answers."""
        return [self.registered, self.name, self.plain_answers]

    @property
    def plain_answers(self) -> dict[str, list[Any]]:
        """Answers as JSON; probabilities as whole thousandths, so that no rounding changes a digest."""
        return {
            rule: [None if probability is None else round(1000 * probability), breaks_at]
            for rule, (probability, breaks_at) in self.answers.items()
        }

    @property
    def trainable(self) -> bool:
        """True if a model can be made: ideal labels need a circuit, and `ipe` roles that no scale changes."""
        return self.answers["coverage"][0] is not None or not _is_ideal(self.encoding)

    def says(self, rule: str) -> bool | None:
        """Answer of a rule; None if it abstains."""
        return says(self.answers[rule][0])


@cache
def _is_ideal(encoding: str) -> bool:
    return is_ideal(parse_encoding(encoding))


@dataclass(frozen=True, kw_only=True)
class FrozenCells:
    """Frozen answers for all cells of a preregistration, in the order in which tasks are trained."""

    preregistration: Preregistration
    cells: tuple[FrozenCell, ...]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the preregistration and of all answers: to be published before the first run."""
        return frozen_digest([self.preregistration.digest, {cell.name: cell.plain_answers for cell in self.cells}])

    @cached_property
    def planned(self) -> list[FrozenCell]:
        """Cells whose models can be made."""
        return [cell for cell in self.cells if cell.trainable]

    @cached_property
    def judging(self) -> list[FrozenCell]:
        """Planned cells of the half that judges."""
        return [cell for cell in self.planned if cell.half == HALVES[1]]


def spec_of(task: str, form: str) -> TaskSpec:
    """Return a task of the population in a format."""
    parsed = parse_task(task)
    return TaskSpec(name=parsed.name, base=parsed.base, format=form)


def freeze(
    preregistration: Preregistration,
    folder: Path,
    *,
    workers: int,
    on_drawn: Callable[[int, int], None],
    on_answered: Callable[[int, int], None],
) -> FrozenCells:
    """Draw the tasks, and let all rules answer for every cell; what was answered before is not asked again.

    Args:
        preregistration: what is fixed.
        folder: folder of the verdict, which gets CELLS.
        workers: number of processes.
        on_drawn: called with (tasks that are drawn, all of them), first with 0.
        on_answered: called with (pairs of a task and a format that are answered, all of them), first with 0.
    """
    if (folder / CELLS).is_file():
        return load_frozen(preregistration, folder)
    tasks = given(preregistration.tasks)
    entry = Cached(path=folder / "tasks.json", code=experiment_code(), inputs=tasks)
    contents = entry.computed(lambda: [asdict(task) for task in draw(**tasks, progress=on_drawn)], list_of(_TASK))
    drawn = [DrawnTask(**content) for content in contents]
    jobs = [
        (task, form)
        for task in sorted(drawn, key=lambda task: hash_order(task.name))
        for form in preregistration.formats_of(task)
    ]
    answered: dict[tuple[str, str], list[dict[str, Any]]] = {}
    on_answered(0, len(jobs))
    with pool(workers) as processes:
        with interrupts_left():
            futures = {
                processes.submit(_cells_of, preregistration, task, form, folder / "answers"): (task.name, form)
                for task, form in jobs
            }
        for future in as_completed(futures):
            answered[futures[future]] = future.result()
            on_answered(len(answered), len(jobs))
    write_rows(folder / CELLS, [row for task, form in jobs for row in answered[task.name, form]])
    return load_frozen(preregistration, folder)


def load_frozen(preregistration: Preregistration, folder: Path) -> FrozenCells:
    """Read the frozen answers.

    Raises:
        TableError: the file is missing or damaged, lacks a rule of the preregistration, or puts a task into
            another half than its name does.
    """
    cells, shape = [], _row(preregistration.rules)
    for row in read_rows(folder / CELLS):
        try:
            shape(row, "cell")
            answers_of_cell = {rule: (row.pop(rule), row.pop(_breaks(rule))) for rule in preregistration.rules}
            cell = FrozenCell(**row, registered=preregistration.digest, answers=answers_of_cell)
        except (WrongShape, TypeError) as error:
            raise TableError(f"{folder / CELLS} does not fit its preregistration ({error}): freeze it anew") from error
        if cell.half != half_of(cell.task):
            raise TableError(
                f"{folder / CELLS}: {cell.task} belongs to the half '{half_of(cell.task)}': freeze it anew"
            )
        cells.append(cell)
    return FrozenCells(preregistration=preregistration, cells=tuple(cells))


def answers_of(preregistration: Preregistration, task: str, form: str) -> dict[str, dict[str, Answer]]:
    """Return encoding -> rule -> answer, computed now."""
    guesses = answers(
        spec_of(task, form), preregistration.encodings, preregistration.train_scales, preregistration.test_scales
    )
    return {
        encoding: {rule: (of_rules[rule].probability, of_rules[rule].breaks_at) for rule in preregistration.rules}
        for encoding, of_rules in guesses.items()
    }


def _cells_of(preregistration: Preregistration, task: DrawnTask, form: str, folder: Path) -> list[dict[str, Any]]:
    """Return the rows of all cells of a task in a format; runs in a worker process."""

    def compute() -> list[dict[str, Any]]:
        shape = _shape(preregistration, task.name, form)
        return [
            {
                "task": task.name,
                "format": form,
                "encoding": encoding,
                "stratum": task.stratum,
                "half": task.half,
                "rises_at": task.rises_at,
                "shape": shape,
            }
            | {rule: probability for rule, (probability, _) in of_rules.items()}
            | {_breaks(rule): breaks_at for rule, (_, breaks_at) in of_rules.items()}
            for encoding, of_rules in answers_of(preregistration, task.name, form).items()
        ]

    name = hashlib.sha256(f"{task.name}/{form}".encode()).hexdigest()[:16]
    shape = one_for_each(preregistration.encodings, itemgetter("encoding"), _row(preregistration.rules))
    entry = Cached(path=folder / f"{name}.json", code=experiment_code(), inputs=preregistration.digest)
    rows: list[dict[str, Any]] = entry.computed(compute, shape)
    return rows


def _shape(preregistration: Preregistration, task: str, form: str) -> str:
    """Return the hash of the size of a task's alphabet and of the lengths of its sequences and prompts."""
    laid_out = spec_of(task, form).laid_out(preregistration.test[1])
    lengths = []
    for scale in preregistration.test_scales:
        drawn = examples(laid_out, [scale], 1, split=TEST, seed=0)
        lengths.append([drawn.tokens.shape[1], int(drawn.is_step[0].argmax())])
    return frozen_digest([len(laid_out.alphabet), lengths])[:8]


_TASK = made_into(DrawnTask, **dict.fromkeys(("name", "source", "profile"), TEXT), rises_at=or_none(COUNT))


def _row(rules: Sequence[str]) -> Shape:
    """Return the shape of the row of a cell."""
    return record(
        **dict.fromkeys(("task", "format", "encoding", "stratum", "half", "shape"), TEXT),
        rises_at=or_none(COUNT),
        **dict.fromkeys(rules, or_none(NUMBER)),
        **dict.fromkeys(map(_breaks, rules), or_none(NUMBER)),
    )


def _breaks(rule: str) -> str:
    """Return the name of the column that holds the breaking scales of a rule."""
    return f"{rule} breaks at"
