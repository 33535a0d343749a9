"""Forged outcomes: how many runs somebody must have changed to decide a question, and what a rerun would meet of them.

Stored outcomes can be changed by hand and sealed again; only training again shows it. Every run of a cell on which two
rules differ may have been changed. To change k tasks takes at least k runs, and what a changed task had been at worst
is -1: the better rule lost it. So a question is decided by stored runs only if at least `Decided.fewest` of them were
changed, or it is decided by the true ones too ([F]).
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, log
from typing import Any

import numpy as np

from lengthgen.empirical.verdict.comparisons import UNDECIDED, comparisons, pair_answers
from lengthgen.empirical.verdict.disputes import Pair, disputed, reached
from lengthgen.empirical.verdict.frozen import FrozenCells
from lengthgen.empirical.verdict.pairs import log_last_e_values
from lengthgen.empirical.verdict.population import HALVES
from lengthgen.empirical.verdict.runs import CellRun, Wanted, trainable
from lengthgen.empirical.verdict.seen import seen_cells


@dataclass(frozen=True, kw_only=True)
class Decided:
    """Question that the stored runs decide.

    Attributes:
        pair: the rules, the better one first.
        runs: runs of the cells on which they differ, in tasks that training has reached.
        fewest: smallest number of runs that may have decided it if they were changed.
    """

    pair: Pair
    runs: tuple[Wanted, ...]
    fewest: int


def decided(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]]) -> list[Decided]:
    """Return the questions that the half that judges has decided."""
    preregistration, stopping = frozen.preregistration, frozen.preregistration.stopping
    planned = [cell for cell in trainable(frozen.cells) if cell.half == HALVES[1]]
    counting = [cell for cell in seen_cells(frozen, runs) if cell.fit >= stopping.fitting]
    counts = {name: len(of_cell) for name, of_cell in runs.items()}
    compared = comparisons(preregistration, planned, counting, counts)
    answers = pair_answers(preregistration, HALVES[1], compared)
    # e-BH rejects every e-value of this size, whatever the others are.
    surely = log(2 * len(answers) / stopping.alpha)
    result = []
    for answer in answers:
        if answer["better"] == UNDECIDED:
            continue
        pair = answer["first"], answer["second"]
        differences = np.array(compared[pair].evidence.differences)
        won = answer["better"] == answer["first"]
        cells = reached(disputed(planned, pair), counts, first=stopping.first)
        result.append(
            Decided(
                pair=pair if won else (pair[1], pair[0]),
                runs=tuple((cell, run.index) for cell in cells for run in runs[cell.name]),
                fewest=_fewest(differences if won else -differences, surely),
            )
        )
    return result


def _fewest(differences: np.ndarray[Any, np.dtype[np.float64]], surely: float) -> int:
    """Return how many tasks, taken for lost, leave an e-value whose logarithm is below `surely`; at least 1."""
    changed = np.sort(differences)[::-1]
    for count in range(len(changed)):
        if log_last_e_values(changed) < surely:
            return max(count, 1)
        changed[count] = -1.0
    return len(changed)


def chance(runs: int, changed: int, drawn: int) -> float:
    """Return the probability that some of the `changed` runs are among those drawn at random from `runs`."""
    return 1 - comb(runs - changed, drawn) / comb(runs, drawn)


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Runs that are trained again.

    Attributes:
        seed: seed of the draw.
        runs: the runs.
        among: for each question, from how many runs they were drawn.
        drawn: for each question, how many of those were drawn.
    """

    seed: int
    runs: tuple[Wanted, ...]
    among: tuple[int, ...]
    drawn: tuple[int, ...]


def of_all(
    frozen: FrozenCells,
    runs: Mapping[str, Sequence[CellRun]],
    questions: Sequence[Decided],
    *,
    count: int,
    seed: int,
) -> Draw:
    """Draw so many of all runs, or all if they are fewer."""
    stored = [(cell, run.index) for cell in frozen.cells for run in runs.get(cell.name, [])]
    chosen = random.Random(seed).sample(stored, min(count, len(stored)))
    sizes = (len(stored), len(chosen))
    among, drawn = ((size,) * len(questions) for size in sizes)
    return Draw(seed=seed, runs=tuple(chosen), among=among, drawn=drawn)


def of_deciding(questions: Sequence[Decided], *, count: int, seed: int) -> Draw:
    """Draw so many runs, each for the question whose forger is least likely to be met by those drawn for it so far.

    A run that was drawn for another question before is drawn for this one too, and trained once.
    """
    generator = random.Random(seed)
    waiting = [generator.sample(question.runs, len(question.runs)) for question in questions]
    drawn = [0] * len(questions)
    chosen: dict[tuple[str, int], Wanted] = {}
    while len(chosen) < count and any(waiting):
        place = min(
            (place for place, runs in enumerate(waiting) if runs),
            key=lambda place: chance(len(questions[place].runs), questions[place].fewest, drawn[place]),
        )
        cell, index = waiting[place].pop()
        drawn[place] += 1
        chosen[cell.name, index] = cell, index
    among = tuple(len(question.runs) for question in questions)
    return Draw(seed=seed, runs=tuple(chosen.values()), among=among, drawn=tuple(drawn))


def met(questions: Sequence[Decided], draw: Draw) -> list[dict[str, Any]]:
    """Return, for each question, how likely a draw meets whoever changed as few runs as may decide it."""
    return [
        {
            "better": question.pair[0],
            "worse": question.pair[1],
            "fewest": question.fewest,
            "among": among,
            "drawn": drawn,
            "chance": chance(among, question.fewest, drawn),
        }
        for question, among, drawn in zip(questions, draw.among, draw.drawn, strict=True)
    ]
