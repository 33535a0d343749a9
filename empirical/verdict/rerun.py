"""Rerun of a sample of runs: the same seeds give the same runs, and the same rules give the frozen answers."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from typing import Any

import numpy as np

from lengthgen.empirical.experiment.judge import share
from lengthgen.empirical.verdict.forgery import Draw
from lengthgen.empirical.verdict.frozen import FrozenCell, FrozenCells, answers_of
from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.empirical.verdict.runs import CellRun, run_from, train_piece
from lengthgen.infrastructure.processes import interrupts_left, pool

ROUNDING = 0.05
"""Largest share of runs whose first failure rounding may change ([F]): it did in 3 of 100 on other processors."""
ROUNDED = 0.1
"""Largest change of the share of right samples by rounding, at a scale that only one of two runs solves ([F]): it was
0.06 at most, at any scale, in 40 fitting runs that were trained again with other vector instructions."""


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

    Args:
        answer: answer of `rerun`.
        trained: environment in which the stored runs were trained; empty if it is unknown.
        here: environment of the rerun.

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
