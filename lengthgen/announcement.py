"""Announcement of a trial before it trains: how many runs there are, what they cost, and how many of them decide."""

from collections.abc import Sequence
from pathlib import Path

from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.sweep import workers
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.trial.conjecture import FEWEST, unanimous_runs
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import read_sealed_json
from lengthgen.infrastructure.messages import tell


def announce_runs(missing: Sequence[Run], *, seeds: int, predicted: int, backend: Backend, engine: str) -> None:
    """Say what is about to be trained: runs, their cost in core-minutes, and whether so many can decide a cell.

    Args:
        missing: the runs that are not stored yet.
        seeds: planned number of runs of each cell.
        predicted: number of cells with a prediction.
        backend: device of the training.
        engine: "local" or "ray"; the cost on a cluster is not estimated.
    """
    cost = _cost(missing, backend) if engine == "local" else ""
    tell(f"{len(missing)} runs to train, {seeds} of each cell{cost}")
    if predicted:
        tell(deciding(seeds, predicted))


def deciding(seeds: int, cells: int) -> str:
    """Return how many runs decide a cell, and whether the planned ones can."""
    least, most = unanimous_runs(), unanimous_runs(cells)
    enough = "" if seeds >= least else f"{seeds} runs a cell decide nothing: "
    unlike = "" if most == least else f", and {most} whatever the others do"
    if cells == 1:
        needed = f"{least} fitting runs that agree decide the cell"
    else:
        needed = f"{least} fitting runs that agree decide a cell if all {cells} cells are like it{unlike}"
    return f"{enough}{needed}; the 2x2 table counts every cell with {FEWEST} fitting runs anyway"


def offer(most: int, round_size: int) -> None:
    """Say by which command undecided cells get more runs."""
    tell(
        f"cells that stay undecided get more runs, {round_size} at a time and at most {most} a cell, by the same "
        "command with --until-decided --budget 1h"
    )


def announce_replacement(path: Path, digest: str) -> None:
    """Say that the trial in a file is replaced by one of other cells or predictions, whose hash is given."""
    try:
        stored = read_sealed_json(path)["frozen"]
    except (OSError, LengthgenError, KeyError, TypeError):
        return  # none, or a damaged one: nothing that could be kept
    if stored != digest:
        tell(
            f"{path} holds a trial of other cells or predictions, and is replaced; its runs stay, and its own command "
            "gives it again: use another --out to keep both"
        )


def _cost(runs: Sequence[Run], backend: Backend) -> str:
    """Return the estimated cost of the runs as text; nothing if it cannot be estimated."""
    from lengthgen.empirical.experiment.cost import seconds_of_runs

    try:
        minutes = max(seconds_of_runs(runs, backend) / 60, 0.1)
    except LengthgenError:  # the training says what is wrong, and trains the other cells
        return ""
    if backend.is_cuda:
        return f": about {minutes:.1f} GPU-minutes, by a few timed steps"
    cores = workers(backend)
    ending = ", less where runs end early" if runs[0].training.stop_when_solved else ""
    return f": about {minutes:.1f} core-minutes ({minutes / cores:.1f} on {cores} cores), by a few timed steps{ending}"
