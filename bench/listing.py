"""How much faster are stored runs listed again, from rows that are kept, than by reading all of their files?"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from unittest.mock import patch

from bench.measure import TimingComparison, compare
from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.protocol import load_protocol
from lengthgen.empirical.experiment.run import one_run
from lengthgen.questions.runs import SETTLING, runs_answer, store_in

RUNS = 300
CHECKPOINT = bytes(50_000)
"""Content of the size of the weights of a small model."""


def kept_rows_against_all_files() -> TimingComparison:
    """`lengthgen runs` on runs that it has listed before, against a check of every file of every run."""
    protocol = load_protocol("fig1", "smoke")
    rest = dict.fromkeys(Measurement.__dataclass_fields__, 1.0)
    with TemporaryDirectory() as folder, patch.dict(os.environ, XDG_CACHE_HOME=f"{folder}/cache"):
        store = store_in(Path(folder))
        for seed in range(RUNS):
            run = one_run(protocol, protocol.cells[0], protocol.profile.models[0], seed=seed)
            metrics = [Measurement(**rest | {"epoch": epoch, "scale": scale}) for epoch, scale in run.metric_keys()]
            store.finish(run, metrics=metrics, checkpoint=CHECKPOINT, environment={"device": "cpu"})
        sleep(SETTLING)
        return compare(
            f"listing {RUNS} stored runs again", lambda: runs_answer(Path(folder)), "reading all files", store.contents
        )
