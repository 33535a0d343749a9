"""The run store: one folder a finished run, and the state of what is being trained.

    ROOT/RUN-ID/              config.json, metrics.parquet, checkpoint.safetensors, environment.json, files.json
    ROOT/.unfinished/NAME/    state.safetensors, progress.json; NAME is a run, or runs that are trained together
    ROOT/.locks/RUN-ID        held by the process that trains the run

A finished run appears by one rename and is never touched again; files.json has the SHA-256 of all the others. A state
is a single file, replaced whole, so that a killed training goes on from its last checkpoint as if it had never stopped.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from empirical.files import locked, write_bytes, write_json
from empirical.measurement import Measurement
from empirical.run import FORMAT_VERSION, Run
from theory.errors import LengthgenError

CONFIG, METRICS, CHECKPOINT, ENVIRONMENT = (
    "config.json",
    "metrics.parquet",
    "checkpoint.safetensors",
    "environment.json",
)
FILES = "files.json"


class StoreError(LengthgenError):
    """A stored run that cannot be used; the message says which file and what to do."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What lies in a store under one name: a finished run, one with `done` epochs of all, or what is `broken`."""

    name: str
    run: Run | None
    done: int | None
    broken: str | None


class RunStore:
    """The runs under one folder."""

    def __init__(self, root: Path) -> None:
        """`root` need not exist yet."""
        self.root = root

    def folder(self, run: Run) -> Path:
        """Where the finished run lies or will lie."""
        return self.root / run.id

    @contextmanager
    def locks(self, runs: Sequence[Run]) -> Iterator[None]:
        """Held while runs are trained: two processes never train the same run."""
        with ExitStack() as held:
            for name in sorted(run.id for run in runs):
                held.enter_context(locked(self.root / ".locks" / name))
            yield

    def finished(self, run: Run) -> bool:
        """Whether the run is done."""
        return self.folder(run).is_dir()

    def state_path(self, runs: Sequence[Run]) -> Path:
        """The state of runs that are trained together; may not exist."""
        return self._unfinished(runs) / "state.safetensors"

    def tell(self, runs: Sequence[Run], done: int) -> None:
        """Notes how many epochs are done, for those who look on."""
        note = {"runs": [run.config for run in runs], "done": done}
        write_json(self._unfinished(runs) / "progress.json", note)

    def finish(
        self, run: Run, *, metrics: Sequence[Measurement], checkpoint: bytes, environment: Mapping[str, Any]
    ) -> None:
        """Stores a finished run, unless it is stored already."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self.finished(run):
            return
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist([asdict(row) for row in metrics]), sink)
        new = self.root / ".unfinished" / f"{run.id}.{secrets.token_hex(4)}.finished"
        try:
            write_json(new / CONFIG, run.config)
            write_json(new / ENVIRONMENT, dict(environment))
            write_bytes(new / CHECKPOINT, checkpoint)
            write_bytes(new / METRICS, sink.getvalue().to_pybytes())
            write_json(new / FILES, {path.name: _digest(path.read_bytes()) for path in new.iterdir()})
            os.rename(new, self.folder(run))
        except OSError:
            if not self.finished(run):
                raise  # else another process, where locks do not hold, was first
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def forget_state(self, runs: Sequence[Run]) -> None:
        """Removes the state of runs that are finished, and what killed processes had written of their folders."""
        for run in runs:
            for path in self.root.glob(f".unfinished/{run.id}.*.finished"):
                shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(self._unfinished(runs), ignore_errors=True)

    def metrics(self, run: Run) -> list[Measurement]:
        """All rows of a finished run, in the order of checkpoints and scales.

        Raises:
            StoreError: the run is not finished, or its folder does not hold what was written.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = self._read(run, METRICS)[METRICS]
        try:
            # Not `read_table`: its threads outlive it, and where torch is loaded they abort the process at its end.
            rows = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False).to_pylist()
            return [Measurement(**row) for row in rows]
        except (TypeError, pa.ArrowException) as error:
            raise StoreError(f"{self.folder(run) / METRICS} holds no metrics: {_redo(self.folder(run))}") from error

    def checkpoint(self, run: Run) -> bytes:
        """The weights at the end, as safetensors. Raises as `metrics` does."""
        return self._read(run, CHECKPOINT)[CHECKPOINT]

    def environment(self, run: Run) -> dict[str, Any]:
        """Where and when a finished run was trained. Raises as `metrics` does."""
        content: dict[str, Any] = json.loads(self._read(run, ENVIRONMENT)[ENVIRONMENT])
        return content

    def digest(self, run: Run) -> str:
        """SHA-256 of what a finished run is and found, wherever and whenever that was. Raises as `metrics` does."""
        contents = self._read(run, ENVIRONMENT, CONFIG, METRICS, CHECKPOINT)
        return _digest(b"".join(contents[name] for name in (CONFIG, METRICS, CHECKPOINT)))

    def final_exact_match(self, run: Run) -> dict[int, float]:
        """scale -> exact match at the last checkpoint. Raises as `metrics` does."""
        rows = self.metrics(run)
        last = max(row.epoch for row in rows)
        return {row.scale: row.exact_match for row in rows if row.epoch == last}

    def contents(self) -> list[Stored]:
        """Everything in the store, by name: finished runs first, each looked at whole."""
        found = [self._look(path) for path in sorted(self.root.glob("[!.]*")) if path.is_dir()]
        for folder in self._unfinished_folders():
            try:
                runs, done = _note(folder)
            except (OSError, ValueError, KeyError, TypeError, LengthgenError) as error:
                found.append(Stored(name=folder.name, run=None, done=None, broken=f"{folder}: {error}"))
            else:
                waiting = [run for run in runs if not self.finished(run)]
                found += [Stored(name=run.id, run=run, done=done, broken=None) for run in waiting]
        return found

    def notes(self) -> Iterator[tuple[tuple[Run, ...], int]]:
        """The runs of every unfinished training, and how many epochs of them are done."""
        for folder in self._unfinished_folders():
            try:
                yield _note(folder)
            except (OSError, ValueError, KeyError, TypeError, LengthgenError):
                continue  # it went away; or `contents` names it

    def begun(self) -> list[tuple[Run, ...]]:
        """The runs of every unfinished training that can go on."""
        return [runs for runs, _ in self.notes() if self.state_path(runs).exists()]

    def remove(self, name: str) -> None:
        """Removes what lies under a name of `contents`, finished or not."""
        shutil.rmtree(self.root / name, ignore_errors=True)
        shutil.rmtree(self.root / ".unfinished" / name, ignore_errors=True)

    def _look(self, folder: Path) -> Stored:
        try:
            config = json.loads((folder / CONFIG).read_text())
            if config.get("version") != FORMAT_VERSION:
                raise StoreError(
                    f"{folder} is of format {config.get('version')}, not {FORMAT_VERSION}: {_redo(folder)}"
                )
            run = Run.from_config(config)
            if run.id != folder.name:
                raise StoreError(f"{folder / CONFIG} is of another run, {run.id}: {_redo(folder)}")
            self.digest(run)
        except (OSError, ValueError, AttributeError, LengthgenError) as error:
            return Stored(name=folder.name, run=None, done=None, broken=str(error))
        return Stored(name=folder.name, run=run, done=None, broken=None)

    def _read(self, run: Run, *names: str) -> dict[str, bytes]:
        """Files of a finished run by name, once they and the run's config are known to be what was written."""
        folder = self.folder(run)
        if not folder.is_dir():
            raise StoreError(f"run {run.id} is not in {self.root}: train it first")
        try:
            known = json.loads((folder / FILES).read_text())
            contents = {wanted: (folder / wanted).read_bytes() for wanted in dict.fromkeys((CONFIG, *names))}
            wrong = [wanted for wanted, content in contents.items() if _digest(content) != known[wanted]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"run {folder} is broken ({error}): {_redo(folder)}") from error
        if wrong:
            raise StoreError(f"{folder / wrong[0]} is not as it was written: {_redo(folder)}")
        if json.loads(contents[CONFIG]) != run.config:
            raise StoreError(f"{folder / CONFIG} is of another run than its name says: {_redo(folder)}")
        return contents

    def _unfinished_folders(self) -> list[Path]:
        return sorted(path.parent for path in self.root.glob(".unfinished/*/progress.json"))

    def _unfinished(self, runs: Sequence[Run]) -> Path:
        seeds = _digest(json.dumps([run.seed for run in runs]).encode())[:8]
        name = runs[0].id if len(runs) == 1 else f"{runs[0].group}-{len(runs)}-runs-{seeds}"
        return self.root / ".unfinished" / name


def _note(folder: Path) -> tuple[tuple[Run, ...], int]:
    """The runs of an unfinished training, and the epochs that are done."""
    note = json.loads((folder / "progress.json").read_text())
    return tuple(Run.from_config(config) for config in note["runs"]), int(note["done"])


def _redo(folder: Path) -> str:
    return f"remove {folder.name} (lengthgen runs --remove {folder.name}), and it is trained again"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
