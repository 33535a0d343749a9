"""Stores of runs that nobody trained: real configs, and metrics as they are written down here."""

import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.protocol import Cell, load_protocol
from lengthgen.empirical.experiment.run import Run, plan
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.proofs_checks.trained import Arm

Scores = Callable[[int], float]
"""Function from a scale to the share of samples without an error."""


def solves(scale: int) -> float:
    return 1.0


def fails(scale: int) -> float:
    """Exact match of a run that fits the training scales, 1-5 or 1-10, and fails beyond 10."""
    return 1.0 if scale <= 10 else 0.0


def unfit(scale: int) -> float:
    return 0.5


def rows(run: Run, scores: Scores, *, epoch: int) -> list[Measurement]:
    return [
        Measurement(
            epoch=epoch, scale=scale, exact_match=scores(scale), token_accuracy=scores(scale), first_wrong=1.0,
            seen_steps=1.0, seen_samples=1.0, exact_match_seen=1.0, token_accuracy_seen=1.0, training_loss=0.0,
        )
        for scale in run.test
    ]  # fmt: skip


def put(store: RunStore, run: Run, scores: Scores, **environment: str) -> None:
    """Store a finished run whose last checkpoint has these scores, and whose earlier checkpoints score 0."""
    *before, last = dict.fromkeys(epoch for epoch, _ in run.metric_keys())
    metrics = [row for epoch in before for row in rows(run, lambda scale: 0.0, epoch=epoch)]
    metrics += rows(run, scores, epoch=last)
    weights = hashlib.sha256(run.id.encode()).digest()
    store.finish(run, metrics=metrics, checkpoint=weights, environment={"device": "none", **environment})


@cache
def runs_of(protocol: str, profile: str = "quick") -> dict[Cell, list[Run]]:
    return {cell: runs for (cell, _), runs in plan(load_protocol(protocol, profile)).items()}


def fill(
    out: Path,
    protocol: str,
    scores: Callable[[Cell, int], Scores | None],
    arms: Iterable[Arm] | None = None,
    profile: str = "quick",
) -> RunStore:
    """Store the runs of a protocol under `out`, of all its cells or of some arms; each takes milliseconds.

    `scores` takes a cell and a seed, and gives None for no run.
    """
    store = RunStore(out / "runs")
    planned = runs_of(protocol, profile)
    if arms is not None:
        listed = load_protocol(protocol, profile)
        chosen = {cell for arm in arms if arm.protocol == protocol for cell in arm.cells(listed)}
        planned = {cell: runs for cell, runs in planned.items() if cell in chosen}
    for cell, runs in planned.items():
        for run in runs:
            run_scores = scores(cell, run.seed)
            if run_scores is not None:
                put(store, run, run_scores)
    return store


def by_encoding(good: Iterable[str], other: Scores = fails) -> Callable[[Cell, int], Scores]:
    """Scores: runs of the encodings in `good` generalize, all others have the scores `other`."""
    wanted = set(good)
    return lambda cell, seed: solves if cell.encoding in wanted else other
