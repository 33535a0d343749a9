"""New tests of finished runs: at other scales, with more samples, free running; or as their metrics say."""

import random
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.progress import Progress
from lengthgen.stored import store_in, stored_run


def evaluation_answer(
    name: str, scales: Sequence[int], *, samples: int, free_running: bool, out: Path, device: str
) -> dict[str, Any]:
    """Return exact match and token accuracy at each scale.

    With `free_running` also those of generation from prompts alone.

    Raises:
        StoreError: the run does not exist or is broken, or `out` is no folder.
        ScaleError: as for `lengthgen.empirical.experiment.evaluation.load_trained`.
    """
    from lengthgen.empirical.experiment.evaluation import test

    store = store_in(out)
    run = stored_run(store, name)
    results = test(run, store, scales, samples=samples, running=free_running, device=device)
    return {
        "run": run.id,
        "samples": samples,
        "scales": {str(scale): row for scale, row in results.items()},
        "disagreements": sum(row.get("disagreements", 0) for row in results.values()),
    }


def check_answer(store: RunStore, names: Sequence[str], *, sample: int | None, device: str) -> dict[str, Any]:
    """Test the weights of finished runs again, on the test data of their training, and compare with their metrics.

    Args:
        store: the store.
        names: names of finished runs.
        sample: number of runs to draw, anew each time, so that nobody knows them before; None for all.
        device: device of the tests.

    Returns:
        JSON: the number of runs that were tested, "differ" with the reason by name of each run whose weights say
        otherwise or cannot be tested, and the mean seconds of a run.
    """
    drawn = random.SystemRandom().sample(names, min(sample, len(names))) if sample else names
    runs = [stored_run(store, name) for name in drawn]
    progress, differ, started = Progress("tested again", len(runs), "runs"), {}, monotonic()
    for run in sorted(runs, key=lambda run: (str(run.task), run.id)):  # the analysis of a task is made once
        if why := _disagreement(run, store, device):
            differ[run.id] = why
        progress.step(run.id)
    return {
        "tested": len(runs),
        "differ": differ,
        "seconds_each": round((monotonic() - started) / len(runs), 2) if runs else None,
    }


def _disagreement(run: Run, store: RunStore, device: str) -> str | None:
    """Return why the weights of a run do not confirm its metrics; None if they do."""
    from lengthgen.empirical.experiment.evaluation import disagreement

    try:
        return disagreement(run, store, device=device)
    except LengthgenError as error:
        return str(error)
