"""Are tasks that people wrote forecast as well if they are trained afterwards?  From the root of the project:

PYTHONPATH=. python docs/results/new-tasks/kept_back.py freeze      forecasts for the tasks by hand without any run
PYTHONPATH=. python docs/results/new-tasks/kept_back.py 1500        train them for so many seconds, as registered
PYTHONPATH=. python docs/results/new-tasks/kept_back.py             print the scores
"""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthgen.circuits.forecast.rates import recorded_rates
from lengthgen.circuits.forecast.scores import new_kind
from lengthgen.empirical.studies.verdict.frozen import FrozenCell, FrozenCells, load_frozen
from lengthgen.empirical.studies.verdict.preregistration import load_preregistration
from lengthgen.empirical.studies.verdict.runs import join_pieces, load_runs, missing_runs, train_wanted
from lengthgen.infrastructure.files import read_json, write_json
from lengthgen.questions.predict import forecast

FOLDER = Path(__file__).with_name("kept-back")
RECORD = Path(__file__).parents[1] / "verdict" / "new-tasks"
FORECASTS = FOLDER / "forecasts.json"


def frozen_cells() -> FrozenCells:
    """Answers that were frozen for all new tasks, in the order of the hashes of their names."""
    return load_frozen(load_preregistration("new-tasks"), RECORD)


def kept_back(frozen: FrozenCells) -> list[FrozenCell]:
    """Cells that can be trained of the tasks by hand of which the record has no run."""
    cells = {cell.name: cell for cell in frozen.cells}
    trained = {cells[name].task for name in load_runs(frozen, RECORD)}
    return [cell for cell in frozen.planned if new_kind(cell.task) == "by hand" and cell.task not in trained]


def freeze() -> None:
    """Write the forecast of each cell, as `lengthgen predict` makes it; refused once they are there."""
    if FORECASTS.exists():
        sys.exit(f"error: {FORECASTS} is frozen: forecasts of today would be no forecasts of these runs")
    by_task: dict[tuple[str, str], list[str]] = {}
    for cell in kept_back(frozen_cells()):
        by_task.setdefault((cell.task, cell.format), []).append(cell.encoding)
    shares = {}
    for (task, format), encodings in by_task.items():
        answers = forecast(task, ",".join(encodings), format=format)
        shares[task] = {encoding: answers[encoding].share for encoding in encodings}
        print(task, format, shares[task], flush=True)
    write_json(FORECASTS, shares)


def train(seconds: float) -> None:
    """Train the first runs of each cell, as of all new tasks, task by task, until the time is over."""
    frozen = frozen_cells()
    counts = {cell.name: frozen.preregistration.stopping.first for cell in kept_back(frozen)}
    wanted = missing_runs(frozen, load_runs(frozen, FOLDER), counts)
    train_wanted(
        frozen,
        wanted,
        FOLDER,
        workers=os.cpu_count() or 1,
        deadline=time.time() + seconds,
        progress=lambda done, total: print(f"{done} of {total} runs", flush=True),
    )
    join_pieces(frozen, FOLDER)


def scores() -> Mapping[str, Any]:
    """Count tasks, cells and runs, and score the fitting runs: by the forecast, the recorded rate, and always-no."""
    frozen = frozen_cells()
    registered, cells, shares = frozen.preregistration, {cell.name: cell for cell in frozen.cells}, read_json(FORECASTS)
    rates, runs = recorded_rates(frozenset()), load_runs(frozen, FOLDER)
    lost, fit, generalize, said = dict.fromkeys(("forecast", "rate", "always-no"), 0.0), 0, 0, 0.0
    for name, of_cell in runs.items():
        cell = cells[name]
        fitting = [run for run in of_cell if run.fits(registered)]
        yes = sum(run.generalizes(registered) for run in fitting)
        stated = rates.probabilities(cell.encoding, cell.format, None) | {"forecast": shares[cell.task][cell.encoding]}
        for rival in lost:
            lost[rival] += yes * (1 - stated[rival]) ** 2 + (len(fitting) - yes) * stated[rival] ** 2
        fit, generalize, said = fit + len(fitting), generalize + yes, said + len(fitting) * stated["forecast"]
    return {
        "tasks": len({cells[name].task for name in runs}),
        "cells": len(runs),
        "runs": sum(map(len, runs.values())),
        "fit": fit,
        "generalize": generalize,
        "said": said / fit,
        "brier": {rival: of_rival / fit for rival, of_rival in lost.items()},
    }


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["freeze"]:
            freeze()
        case [seconds]:
            train(float(seconds))
        case _:
            print(scores())
