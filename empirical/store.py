"""The run store: one folder a finished run, and the state of each unfinished one.

    ROOT/RUN-ID/            config.json, metrics.parquet, checkpoint.safetensors, environment.json
    ROOT/.unfinished/RUN-ID/ state.safetensors, lock

A finished run appears by one rename and is never touched again. The state of an unfinished one is a single file,
replaced whole, so that a killed run goes on from its last checkpoint and ends as if it had never stopped.
"""

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from empirical.files import locked, write_bytes, write_json
from empirical.run import Run
from theory.errors import LengthgenError

STATE = "state.safetensors"


class StoreError(LengthgenError):
    """A stored run that cannot be used; the message says which file and what to do."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One row of metrics: exact match (all generated tokens right) and token accuracy at one checkpoint and scale."""

    epoch: int
    scale: int
    exact_match: float
    token_accuracy: float
    training_loss: float


class RunStore:
    """The runs under one folder."""

    def __init__(self, root: Path) -> None:
        """`root` need not exist yet."""
        self.root = root

    def folder(self, run: Run) -> Path:
        """Where the finished run lies or will lie."""
        return self.root / run.id

    def lock(self, run: Run) -> AbstractContextManager[None]:
        """Held while a run is trained: two processes never train the same run."""
        return locked(self._unfinished(run) / "lock")

    def finished(self, run: Run) -> bool:
        """Whether the run is done."""
        return self.folder(run).is_dir()

    def state_path(self, run: Run) -> Path:
        """The state of an unfinished run; may not exist."""
        return self._unfinished(run) / STATE

    def finish(
        self, run: Run, *, metrics: Sequence[Measurement], checkpoint: bytes, environment: dict[str, Any]
    ) -> None:
        """Stores a finished run and removes its state."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        new = self._unfinished(run) / "finished"
        shutil.rmtree(new, ignore_errors=True)
        write_json(new / "config.json", run.config())
        write_json(new / "environment.json", environment)
        write_bytes(new / "checkpoint.safetensors", checkpoint)
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist([asdict(row) for row in metrics]), sink)
        write_bytes(new / "metrics.parquet", sink.getvalue().to_pybytes())
        os.rename(new, self.folder(run))
        self.state_path(run).unlink(missing_ok=True)

    def metrics(self, run: Run) -> list[Measurement]:
        """All rows of a finished run, in the order of checkpoints and scales.

        Raises:
            StoreError: the run is not finished, or its folder does not hold what was written.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        folder = self.folder(run)
        if not folder.is_dir():
            raise StoreError(f"run {run.id} is not in {self.root}: train it first")
        try:
            config = json.loads((folder / "config.json").read_text())
            rows = [Measurement(**row) for row in pq.read_table(folder / "metrics.parquet").to_pylist()]
            json.loads((folder / "environment.json").read_text())
        except (OSError, ValueError, TypeError, pa.ArrowException) as error:
            raise StoreError(f"run {folder} is broken ({error}): remove the folder, and it is trained again") from error
        if config != run.config():
            raise StoreError(f"run {folder} has another config than its name says: remove the folder")
        return rows

    def final_exact_match(self, run: Run) -> dict[int, float]:
        """scale -> exact match at the last checkpoint. Raises as `metrics` does."""
        rows = self.metrics(run)
        last = max(row.epoch for row in rows)
        return {row.scale: row.exact_match for row in rows if row.epoch == last}

    def environment(self, run: Run) -> dict[str, Any]:
        """Where and when a finished run was trained."""
        return json.loads((self.folder(run) / "environment.json").read_text())

    def _unfinished(self, run: Run) -> Path:
        return self.root / ".unfinished" / run.id


def environment(device: str) -> dict[str, Any]:
    """What is written beside results: versions, machine, device, source revision, time."""
    import torch

    packages = ("torch", "numpy", "scipy", "sympy", "networkx")
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": {name: version(name) for name in packages},
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "revision": revision(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def revision() -> str:
    """The git revision of the source, `+` where it was changed since; "unknown" outside a checkout."""
    here = Path(__file__).parent
    try:
        known = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty=+"],
            cwd=here, capture_output=True, text=True, check=True, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return known.stdout.strip()
