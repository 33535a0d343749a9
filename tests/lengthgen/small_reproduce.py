"""The command `lengthgen reproduce`, small: few claims, tasks, epochs and figures, and few workers.

All claims are settled in tests/proofs_checks, each figure is drawn in tests/paper_figs, and SRC of all tasks is
computed in tests/circuits. Nothing here changes how the parts are run, stored and found again.
"""

import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lengthgen import reproduce
from lengthgen.cli import main
from lengthgen.empirical.experiment import protocol, sweep
from lengthgen.empirical.experiment.protocol import Profile, load_profile
from lengthgen.proofs_checks import ledger, registry
from lengthgen.questions import report
from lengthgen.terminal import progress
from tests.lengthgen.settled_here import settled_here
from tests.pool_here import pool_here

CLAIMS = ("alibi-1", "rope-1", "fox-1", "fox-10", "fig2-ideal", "rpe-7", "conjecture-coverage")
TASKS = ("parity", "copy", "permutation", "unaligned-copy")
FIGURES = (
    "figure2", "results-fig2", "accuracy-fig1", "predicted-fig1", "ledger", "table-formats",
    "labels-fig2-addition",
)  # fmt: skip


def one_epoch(name: str, changes: Mapping[str, Any] | None = None, **options: Any) -> Profile:
    """Stand-in for `load_profile` of protocols."""
    return load_profile(name, {"training": {"epochs": 1}, "seeds": 1} | dict(changes or {}), **options)


def small_reproduce(out: Path, cache: Path, *, worker: bool) -> None:
    """Become the command, in a process that does nothing else; one worker trains, or none.

    The cache is one of its own: what few claims, tasks and figures give is stored under the keys of all.
    """
    selection = partial(registry.selection, CLAIMS)
    registry.selection = selection  # type: ignore[assignment]
    tasks = {name: reproduce.TASKS[name] for name in TASKS}
    reproduce.TASKS = report.TASKS = tasks  # type: ignore[attr-defined]
    reproduce.draw_catalogue = partial(reproduce.draw_catalogue, names=FIGURES)
    protocol.load_profile = one_epoch  # type: ignore[attr-defined]
    # A worker takes seconds to start.
    os.cpu_count = lambda: 1
    progress.pool = pool_here  # type: ignore[assignment]
    if not worker:
        sweep.pool = pool_here  # type: ignore[assignment]
        ledger._run_in_parallel = settled_here  # type: ignore[assignment]
    os.environ["XDG_CACHE_HOME"] = str(cache)
    sys.argv = ["lengthgen", "reproduce", "--profile", "smoke", "--out", str(out)]
    main()
