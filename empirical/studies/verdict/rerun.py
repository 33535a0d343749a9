"""Runs trained again: the same seeds give the same runs, the same rules give the frozen answers, forgers are met.

Stored outcomes can be changed by hand and sealed again; only training again shows it. Every run of a cell on which two
rules differ may have been changed. To change k tasks takes at least k runs, and what a changed task had been at worst
is -1: the better rule lost it. So a question is decided by stored runs only if at least `Decided.fewest` of them were
changed, or it is decided by the true ones too ([F]).
"""

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from math import comb, log
from typing import Any

import numpy as np

from lengthgen.empirical.experiment.judge import share
from lengthgen.empirical.studies.verdict.frozen import FrozenCell, FrozenCells, answers_of
from lengthgen.empirical.studies.verdict.pairs import UNDECIDED, Numbers, Pair, comparison, log_last_e_values
from lengthgen.empirical.studies.verdict.preregistration import Preregistration
from lengthgen.empirical.studies.verdict.runs import CellRun, Wanted, run_from, train_piece
from lengthgen.infrastructure.processes import interrupts_left, pool

ROUNDING = 0.05
"""Largest share of runs whose first failure rounding may change ([F]): it did in 3 of 100 on other processors."""
ROUNDED = 0.1
"""Largest change of the share of right samples by rounding, at a scale that only one of two runs solves ([F]): it was
0.06 at most, at any scale, in 40 fitting runs that were trained again with other vector instructions."""


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
    compared = comparison(frozen, runs)
    # e-BH rejects every e-value of this size, whatever the others are.
    surely = log(2 * len(compared.better) / frozen.preregistration.stopping.alpha)
    result = []
    for pair, better in compared.better.items():
        if better != UNDECIDED:
            differences, won = np.array(compared.evidence[pair].differences), better == pair[0]
            result.append(
                Decided(
                    pair=pair if won else (pair[1], pair[0]),
                    runs=tuple((cell, run.index) for cell in compared.reached[pair] for run in runs[cell.name]),
                    fewest=_fewest(differences if won else -differences, surely),
                )
            )
    return result


def _fewest(differences: Numbers, surely: float) -> int:
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
    frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]], questions: Sequence[Decided], *, count: int, seed: int
) -> Draw:
    """Draw so many of all runs, or all if they are fewer."""
    stored = [(cell, run.index) for cell in frozen.cells for run in runs.get(cell.name, [])]
    chosen = random.Random(seed).sample(stored, min(count, len(stored)))
    among, drawn = ((size,) * len(questions) for size in (len(stored), len(chosen)))
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


def rerun(
    frozen: FrozenCells,
    runs: Mapping[str, Sequence[CellRun]],
    draw: Draw,
    *,
    workers: int,
    progress: Callable[[int, int], None],
) -> dict[str, Any]:
    """Train some runs again, each alone, and ask the rules again; compare both.

    Args:
        frozen: frozen answers.
        runs: finished runs by cell.
        draw: the runs to train again.
        workers: number of processes.
        progress: called with (runs done, all of them), first with 0.

    Returns:
        JSON: the number of runs ("cells"), of how many cells the answers are the frozen ones, how many have the same
        fit, the same first failure, and the same numbers to the last digit, the cells with other first failures, and
        the names of those with other answers. Where first failures differ, `share` is the share of right samples at the
        scale that one run solves and the other does not, as stored and again.
    """
    chosen, preregistration = draw.runs, frozen.preregistration
    stored_runs = {(name, run.index): run for name, of_cell in runs.items() for run in of_cell}
    same = dict.fromkeys(("answers", "fit", "first_failure", "numbers"), 0)
    differ: list[dict[str, Any]] = []
    answered_otherwise: list[str] = []
    progress(0, len(chosen))
    with pool(workers) as processes:
        with interrupts_left():
            futures = {processes.submit(_again, preregistration, *wanted): wanted for wanted in chosen}
        for done, future in enumerate(as_completed(futures), start=1):
            (cell, index), (row, answers) = futures[future], future.result()
            before, after = stored_runs[cell.name, index], run_from(row)
            pairs = {
                "answers": (dict(cell.answers), answers),
                "fit": (before.fits(preregistration), after.fits(preregistration)),
                "first_failure": (before.first_failure(preregistration), after.first_failure(preregistration)),
                "numbers": (before.exact_match.round(4).tolist(), after.exact_match.tolist()),
            }
            for name, (stored, again) in pairs.items():
                same[name] += repr(stored) == repr(again)  # NaN is the same as NaN
            first, again = pairs["first_failure"]
            if first != again:
                scale = preregistration.test_scales.index(min(first, again))
                shares = [round(float(np.nan_to_num(run.exact_match[scale])), 4) for run in (before, after)]
                differ.append({"cell": cell.name, "index": index, "stored": first, "again": again, "share": shares})
            if pairs["answers"][0] != pairs["answers"][1]:
                answered_otherwise.append(cell.name)
            progress(done, len(chosen))
    return {
        "cells": len(chosen),
        "seed": draw.seed,
        "same": same,
        "differ": sorted(differ, key=lambda each: str(each["cell"])),
        "answered_otherwise": sorted(answered_otherwise),
    }


def judged(answer: Mapping[str, Any], trained: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether a rerun agrees with what is stored, and what differs.

    Answers are exact and must agree everywhere. First failures must agree on the machine and with the torch with which
    the stored runs were trained. Elsewhere sums are rounded otherwise: there so many may differ that their share can be
    ROUNDING, by its 95% interval, and none by more than ROUNDED.

    Returns:
        JSON: `agrees`, and `why`, one line on what differs, or None.
    """
    cells, numbers = answer["cells"], answer["cells"] - answer["same"]["numbers"]
    failures, answered = [each["cell"] for each in answer["differ"]], answer["answered_otherwise"]
    beyond = [each for each in answer["differ"] if abs(each["share"][0] - each["share"][1]) > ROUNDED]
    elsewhere = bool(trained) and _place(trained) != _place(here)
    too_many = share(len(failures), cells).low > ROUNDING if elsewhere else bool(failures)
    parts = []
    if answered:
        parts.append(
            f"the rules answer otherwise than was frozen in {_counted(answered, cells)}, and answers are exact: "
            "their code has changed"
        )
    if numbers:
        trained_on = f"{_place(trained)}, at revision {trained['revision']}" if trained else "an unknown machine"
        parts.append(
            f"other numbers in {numbers} of {cells} cells, another first failure in {_counted(failures, cells)}; the "
            f"stored runs were trained on {trained_on}, and this is {_place(here)}"
            + (": other processors and versions round otherwise" if elsewhere else "")
            + (f", but seldom change more than {ROUNDING:.0%} of first failures" if elsewhere and too_many else "")
        )
    if beyond:
        changes = [
            f"{each['cell']} at scale {min(each['stored'], each['again'])}: stored {each['share'][0]:.3f}, again "
            f"{each['share'][1]:.3f}"
            for each in beyond
        ]
        parts.append(f"the share of right samples differs by more than rounding does: {', '.join(changes)}")
    return {"agrees": not (answered or too_many or beyond), "why": "; ".join(parts) or None}


def _place(environment: Mapping[str, Any]) -> str:
    """Return the machine and the version of torch, on which the last bits of sums depend."""
    return f"{environment['machine']} with torch {environment['versions']['torch']}"


def _counted(names: Sequence[str], cells: int) -> str:
    """Return how many cells these are, with the first two names."""
    named = f" ({', '.join(names[:2])}{', ...' if names[2:] else ''})" if names else ""
    return f"{len(names)} of {cells}{named}"


def _again(
    preregistration: Preregistration, cell: FrozenCell, index: int
) -> tuple[dict[str, Any], dict[str, tuple[float | None, int | None]]]:
    """Return the row of a run that is trained again, and the answers for its cell; runs in a worker process."""
    import torch

    torch.set_num_threads(1)
    [row] = train_piece(preregistration, [(cell, index)])
    return row, answers_of(preregistration, cell.task, cell.format)[cell.encoding]
