"""New test of a finished run: at other scales, with more samples, free running."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lengthgen.stored import store_in, stored_run


def evaluation_answer(
    name: str, scales: Sequence[int], *, samples: int, free_running: bool, out: Path, device: str
) -> dict[str, Any]:
    """Return exact match and token accuracy at each scale.

    With `free_running` also those of generation from prompts alone.

    Raises:
        StoreError: the run does not exist or is broken, or `out` is no folder.
        ScaleError: as for `empirical.training.testing.load_trained`.
    """
    from empirical.training.testing import test

    store = store_in(out)
    run = stored_run(store, name)
    results = test(run, store, scales, samples=samples, running=free_running, device=device)
    return {
        "run": run.id,
        "samples": samples,
        "scales": {str(scale): row for scale, row in results.items()},
        "disagreements": sum(row.get("disagreements", 0) for row in results.values()),
    }
