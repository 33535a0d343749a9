"""Rerun of a random sample: the same seeds give the same runs, and the same rules give the frozen answers."""

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from typing import Any

from empirical.verdict.frozen import FrozenCell, FrozenCells, answers_of
from empirical.verdict.preregistration import Preregistration
from empirical.verdict.runs import CellRun, run_from, train_piece
from theory.system.processes import interrupts_left, pool


def rerun(
    frozen: FrozenCells,
    runs: Mapping[str, Sequence[CellRun]],
    *,
    cells: int,
    seed: int,
    workers: int,
    progress: Callable[[int, int], None],
) -> dict[str, Any]:
    """Train the first run of some random cells again, each alone, and ask the rules again; compare both.

    Args:
        frozen: frozen answers.
        runs: finished runs by cell.
        cells: number of cells to draw among those with a run.
        seed: seed of the draw.
        workers: number of processes.
        progress: called with (cells done, all of them), first with 0.

    Returns:
        JSON: the number of cells, how many have the same frozen answers, the same fit, the same first failure, and the
        same numbers to the last digit, and the cells that differ.
    """
    candidates = [cell for cell in frozen.cells if runs.get(cell.name)]
    chosen = random.Random(seed).sample(candidates, min(cells, len(candidates)))
    preregistration = frozen.preregistration
    same = dict.fromkeys(("answers", "fit", "first_failure", "numbers"), 0)
    differ: list[dict[str, Any]] = []
    progress(0, len(chosen))
    with pool(workers) as processes:
        with interrupts_left():
            futures = {
                processes.submit(_again, preregistration, cell, runs[cell.name][0].index): cell for cell in chosen
            }
        for done, future in enumerate(as_completed(futures), start=1):
            cell, (row, answers) = futures[future], future.result()
            before, after = runs[cell.name][0], run_from(row)
            pairs = {
                "answers": (dict(cell.answers), answers),
                "fit": (before.fits(preregistration), after.fits(preregistration)),
                "first_failure": (before.first_failure(preregistration), after.first_failure(preregistration)),
                "numbers": (before.exact_match.round(4).tolist(), after.exact_match.tolist()),
            }
            for name, (stored, again) in pairs.items():
                same[name] += repr(stored) == repr(again)  # NaN is the same as NaN
            if repr(pairs["first_failure"][0]) != repr(pairs["first_failure"][1]):
                differ.append(
                    {"cell": cell.name, "stored": pairs["first_failure"][0], "again": pairs["first_failure"][1]}
                )
            progress(done, len(chosen))
    return {
        "cells": len(chosen),
        "seed": seed,
        "same": same,
        "differ": sorted(differ, key=lambda each: str(each["cell"])),
    }


def _again(
    preregistration: Preregistration, cell: FrozenCell, index: int
) -> tuple[dict[str, Any], dict[str, tuple[float | None, int | None]]]:
    """Return the row of a run that is trained again, and the answers for its cell; runs in a worker process."""
    import torch

    torch.set_num_threads(1)
    [row] = train_piece(preregistration, [(cell, index)])
    return row, answers_of(preregistration, cell.task, cell.format)[cell.encoding]
