"""The command `lengthgen` whose `reproduce` is small: few claims, tasks and figures, and as few workers.

All claims are settled in tests/proofs_checks, each figure is drawn in tests/paper_figs, and SRC of all tasks is
computed in tests/circuits. Nothing here changes how the parts are run, stored and found again.
"""

import os
from functools import partial

CLAIMS = ("alibi-1", "rope-1", "fox-1", "fox-10", "plaa-2", "fig2-ideal", "rpe-7", "conjecture-coverage")
TASKS = ("parity", "copy", "permutation", "unaligned-copy")
FIGURES = (
    "figure1", "figure2", "results-fig2", "accuracy-fig1", "predicted-fig1", "ledger", "table-formats",
    "labels-fig2-addition",
)  # fmt: skip

if __name__ == "__main__":  # workers import this module too, and need none of it
    from lengthgen import gallery, pipeline, reporting
    from lengthgen.cli import main
    from proofs_checks import registry
    from tests.pool_here import pool_here

    selection = partial(registry.selection, CLAIMS)
    registry.selection = reporting.selection = selection  # type: ignore[assignment]
    tasks = {name: pipeline.TASKS[name] for name in TASKS}
    pipeline.TASKS = reporting.TASKS = tasks  # type: ignore[attr-defined]
    pipeline.draw_catalogue = partial(pipeline.draw_catalogue, names=FIGURES)
    # A worker takes seconds to start: claims and training have one, and figures and report none.
    os.cpu_count = lambda: 1
    gallery.pool = reporting.pool = pool_here  # type: ignore[assignment]
    main()
