"""A finished run tested again: at other scales, with more samples, free running."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from empirical.runs.store import RunStore
from lengthgen.stored import stored_run


def evaluation_answer(
    name: str, scales: Sequence[int], *, samples: int, free_running: bool, out: Path, device: str
) -> dict[str, Any]:
    """Exact match and token accuracy at each scale; with `free_running` also that of generation from prompts alone.

    Raises:
        StoreError: no such run, or it is broken.
        ScaleError: as `empirical.training.testing.load_trained`.
    """
    from empirical.training.testing import test

    store = RunStore(out / "runs")
    run = stored_run(store, name)
    found = test(run, store, scales, samples=samples, running=free_running, device=device)
    return {
        "run": run.id,
        "samples": samples,
        "scales": {str(scale): row for scale, row in found.items()},
        "disagreements": sum(row.get("disagreements", 0) for row in found.values()),
    }
