"""Run store: one folder per finished run, and the states of unfinished trainings.

    ROOT/RUN-ID/              config.json, metrics.parquet, checkpoint.safetensors, environment.json, files.json
    ROOT/.unfinished/NAME/    state.sealed, progress.json; NAME names one run, or several that are trained together
    ROOT/.locks/NAME          locked by the process that trains the run or runs

A finished run appears by one rename and is never changed afterwards; files.json has the SHA-256 of all other files. A
state is a single file, replaced at once, so that a killed training resumes at its last state as if it had never
stopped. A file that differs from what was written gives an error of one line and is never used.
"""

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthgen.empirical.runs import unfinished
from lengthgen.empirical.runs.measurement import Measurement, MetricsError, from_parquet, to_parquet
from lengthgen.empirical.runs.run import FORMAT_VERSION, Run
from lengthgen.empirical.runs.unfinished import State
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import Held, locked, parse_json, read_bytes, write_bytes, write_json

CONFIG, METRICS, CHECKPOINT, ENVIRONMENT = (
    "config.json",
    "metrics.parquet",
    "checkpoint.safetensors",
    "environment.json",
)
FILES = "files.json"
LARGEST = {CONFIG: 1 << 20, METRICS: 64 << 20, CHECKPOINT: 1 << 30, ENVIRONMENT: 1 << 20, FILES: 1 << 20}
"""Largest size in bytes of each file of a finished run that is written or read."""


class StoreError(LengthgenError):
    """A stored run cannot be used; the message names the file and says what to do."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Entry of a store: a finished run, an unfinished one with `done` epochs, or a `broken` folder with the reason."""

    name: str
    run: Run | None
    done: int | None
    broken: str | None


class RunStore:
    """Store of runs under one folder."""

    def __init__(self, root: Path) -> None:
        """Open a store; the folder `root` need not exist yet."""
        self.root = root

    def folder(self, run: Run) -> Path:
        """Folder of the finished run, which may not exist yet."""
        return self.root / run.id

    @contextmanager
    def locks(self, runs: Sequence[Run]) -> Iterator[None]:
        """Hold the locks of runs during their training: two processes never train the same run.

        A process that must wait prints which process it waits for.
        """
        with ExitStack() as stack:
            for name in sorted({self._unfinished(runs).name, *(run.id for run in runs)}):
                stack.enter_context(locked(self._lock(name), f"trains {name}"))
            yield

    def finished(self, run: Run) -> bool:
        """True if the run is finished."""
        return self.folder(run).is_dir()

    def has_state(self, runs: Sequence[Run]) -> bool:
        """True if there is a state, valid or not, of these runs trained together."""
        return unfinished.has_state(self._unfinished(runs))

    def state_path(self, runs: Sequence[Run]) -> Path:
        """Path of the state of runs that are trained together; it may not exist."""
        return self._unfinished(runs) / unfinished.STATE

    def state(self, runs: Sequence[Run]) -> State | None:
        """State of runs that are trained together; None if there is none.

        Raises:
            DamagedFile: the state differs from what was written, or belongs to other runs.
        """
        return unfinished.read_state(self._unfinished(runs)) if self.has_state(runs) else None

    def save_state(self, runs: Sequence[Run], content: bytes) -> None:
        """Replace the state; `content` is safetensors with `unfinished.metadata` as metadata."""
        unfinished.write_state(self._unfinished(runs), content)

    def note_progress(self, runs: Sequence[Run], done: int) -> None:
        """Record the number of finished epochs for other processes that watch."""
        unfinished.write_note(self._unfinished(runs), runs, done)

    def finish(
        self, run: Run, *, metrics: Sequence[Measurement], checkpoint: bytes, environment: Mapping[str, Any]
    ) -> None:
        """Store a finished run, unless it is stored already.

        Raises:
            StoreError: the metrics do not have the rows of the run.
            LengthgenError: a file is larger than LARGEST allows.
        """
        if self.finished(run):
            return
        try:
            rows = to_parquet(metrics, run.metric_keys(), run.may_end)
        except MetricsError as error:
            raise StoreError(
                f"run {run.id} is not stored, because its metrics have other rows than it needs: {error}"
            ) from error
        new = self.root / ".unfinished" / f"{run.id}.{secrets.token_hex(4)}.finished"
        try:
            write_json(new / CONFIG, run.config)
            write_json(new / ENVIRONMENT, dict(environment))
            write_bytes(new / CHECKPOINT, checkpoint)
            write_bytes(new / METRICS, rows)
            written = {path.name: read_bytes(path, largest=LARGEST[path.name]) for path in new.iterdir()}
            write_json(new / FILES, {name: _digest(content) for name, content in written.items()})
            os.rename(new, self.folder(run))
        except OSError:
            if not self.finished(run):
                raise  # otherwise another process finished first, on a file system without working locks
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def remove_state(self, runs: Sequence[Run]) -> None:
        """Delete the state of finished runs, and half-written folders that killed processes left."""
        for run in runs:
            for path in self.root.glob(f".unfinished/{run.id}.*.finished"):
                shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(self._unfinished(runs), ignore_errors=True)

    def remove_leftovers(self) -> None:
        """Delete what killed processes left below .unfinished of runs that are finished."""
        for folder in self.root.glob(".unfinished/*"):
            if folder.is_dir() and self._is_of_finished_runs(folder):
                shutil.rmtree(folder, ignore_errors=True)

    def _is_of_finished_runs(self, folder: Path) -> bool:
        """True if all runs of an unfinished training are finished."""
        name = re.sub(r"\.\w+\.finished$", "", folder.name)
        if (self.root / name).is_dir():
            return True
        try:
            return all(map(self.finished, unfinished.read_note(folder)[0]))
        except (LengthgenError, OSError):  # no note, or a damaged one
            return False

    def metrics(self, run: Run) -> list[Measurement]:
        """Read the rows of a finished run, in order of checkpoints and scales.

        Raises:
            StoreError: the run is not finished, its files differ from what was written, or the rows are not
                those of the run.
        """
        return self._rows(run)

    def checkpoint(self, run: Run) -> bytes:
        """Final weights, as safetensors. Raises what `metrics` raises."""
        return self._read(run, CHECKPOINT)[CHECKPOINT]

    def environment(self, run: Run) -> dict[str, Any]:
        """Environment in which a finished run was trained. Raises what `metrics` raises."""
        return _json_object(self._read(run, ENVIRONMENT)[ENVIRONMENT], self.folder(run) / ENVIRONMENT)

    def digest(self, run: Run) -> str:
        """SHA-256 of a finished run's config and results, independent of place and time. Raises as `metrics` does."""
        contents = self._read(run, ENVIRONMENT, CONFIG, METRICS, CHECKPOINT)
        return _digest(b"".join(contents[name] for name in (CONFIG, METRICS, CHECKPOINT)))

    def final_exact_match(self, run: Run) -> dict[int, float]:
        """scale -> exact match at the last checkpoint. Raises what `metrics` raises."""
        rows = self.metrics(run)
        last = max(row.epoch for row in rows)
        return {row.scale: row.exact_match for row in rows if row.epoch == last}

    def contents(self) -> list[Stored]:
        """List everything in the store by name, finished runs first; every file is checked."""
        entries = [self.look(path.name) for path in self._finished_folders()]
        for folder in self._unfinished_folders():
            try:
                runs, done = unfinished.look(folder)
            except FileNotFoundError:
                continue  # the folder was removed meanwhile, or holds no file yet
            except (OSError, LengthgenError) as error:
                entries.append(Stored(name=folder.name, run=None, done=None, broken=in_words(error)))
            else:
                unfinished_runs = [run for run in runs if not self.finished(run)]
                entries += [Stored(name=run.id, run=run, done=done, broken=None) for run in unfinished_runs]
        return entries

    def look(self, name: str) -> Stored:
        """Check all files of the finished run of this name."""
        folder = self.root / name
        try:
            run = self._run_in(folder)
            self.digest(run)
            self._rows(run)
            self.environment(run)
        except LengthgenError as error:
            return Stored(name=name, run=None, done=None, broken=str(error))
        return Stored(name=name, run=run, done=None, broken=None)

    def finished_names(self) -> list[str]:
        """Names of the finished runs, valid or broken."""
        return [path.name for path in self._finished_folders()]

    def notes(self) -> Iterator[tuple[tuple[Run, ...], int]]:
        """Yield the runs of every unfinished training and the number of their finished epochs."""
        for folder in self._unfinished_folders():
            try:
                yield unfinished.read_note(folder)
            except (OSError, LengthgenError):
                continue  # removed meanwhile; or damaged, which `contents` reports

    def resumable(self) -> list[tuple[Run, ...]]:
        """Runs of every unfinished training that can be resumed; if a note is damaged, they are read from the state."""
        trainings = []
        for folder in self._unfinished_folders():
            if unfinished.has_state(folder):
                try:
                    trainings.append(unfinished.read_note(folder)[0])
                except (OSError, LengthgenError):
                    with suppress(OSError, LengthgenError):  # `contents` reports it
                        trainings.append(unfinished.read_state(folder).runs)
        return trainings

    def removable(self) -> list[str]:
        """Names that `remove` accepts: finished runs, and unfinished trainings of one or several runs."""
        return [*self.finished_names(), *(folder.name for folder in self._unfinished_folders())]

    def remove(self, name: str) -> None:
        """Remove the run or training of this name, by one rename.

        Raises:
            StoreError: another process trains it, or it cannot be removed.
        """
        try:
            with locked(self._lock(name), "trains it", wait=False):
                for folder in (self.root / name, self.root / ".unfinished" / name):
                    self._remove_folder(folder)
        except Held as held:
            raise StoreError(f"{name} is not removed, because {held}: stop that first") from held

    def _remove_folder(self, folder: Path) -> None:
        """Remove a folder of the store, if it exists, by one rename."""
        aside = self.root / ".unfinished" / f"{secrets.token_hex(8)}.removed"
        try:
            aside.parent.mkdir(exist_ok=True)
            os.rename(folder, aside)
            shutil.rmtree(aside)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"{folder} cannot be removed: {error.strerror}") from error

    def _run_in(self, folder: Path) -> Run:
        """Run described by the config of a finished folder."""
        path = folder / CONFIG
        config = _json_object(_read_file(path), path)
        version = config.get("version")
        if type(version) is int and version != FORMAT_VERSION:
            raise StoreError(f"{folder} is of format {version}, not {FORMAT_VERSION}: {redo(folder)}")
        try:
            run = Run.from_config(config)
        except (ValueError, TypeError, RecursionError) as error:
            raise StoreError(f"{path} is not the config of a run ({error}): {redo(folder)}") from error
        if run.id != folder.name:
            raise StoreError(f"{path} belongs to another run, {run.id}: {redo(folder)}")
        return run

    def _rows(self, run: Run) -> list[Measurement]:
        """Rows of metrics of a finished run."""
        content = self._read(run, METRICS)[METRICS]
        try:
            return from_parquet(content, run.metric_keys(), run.may_end)
        except LengthgenError as error:
            path = self.folder(run) / METRICS
            raise StoreError(
                f"{path} does not have the rows that {CONFIG} requires ({error}): {redo(path.parent)}"
            ) from error

    def _read(self, run: Run, *names: str) -> dict[str, bytes]:
        """Files of a finished run by name, after a check that they and the run's config are as written."""
        folder = self.folder(run)
        if not folder.is_dir():
            raise StoreError(f"run {run.id} is not in {self.root}: train it first")
        digests = _json_object(_read_file(folder / FILES), folder / FILES)
        contents = {filename: _read_file(folder / filename) for filename in dict.fromkeys((CONFIG, *names))}
        for filename, content in contents.items():
            if _digest(content) != digests.get(filename):
                raise StoreError(f"{folder / filename} is not as it was written: {redo(folder)}")
        if _json_object(contents[CONFIG], folder / CONFIG) != run.config:
            raise StoreError(f"{folder / CONFIG} belongs to another run than the folder's name says: {redo(folder)}")
        return contents

    def _finished_folders(self) -> list[Path]:
        return [path for path in sorted(self.root.glob("[!.]*")) if path.is_dir()]

    def _unfinished_folders(self) -> list[Path]:
        """Folders of unfinished trainings, without leftovers of finished runs."""
        candidates = unfinished.folders(self.root / ".unfinished")
        return [folder for folder in candidates if not (self.root / folder.name).is_dir()]

    def _unfinished(self, runs: Sequence[Run]) -> Path:
        return self.root / ".unfinished" / unfinished.name_of(runs)

    def _lock(self, name: str) -> Path:
        return self.root / ".locks" / name


def _read_file(path: Path) -> bytes:
    """Read a file of a finished run.

    Raises:
        StoreError: the file cannot be read, or is larger than LARGEST allows.
    """
    try:
        return read_bytes(path, largest=LARGEST[path.name])
    except (OSError, LengthgenError) as error:
        raise StoreError(f"run {path.parent} is broken ({in_words(error)}): {redo(path.parent)}") from error


def _json_object(content: bytes, path: Path) -> dict[str, Any]:
    """Parse a JSON object that was read from a file of a finished run."""
    try:
        parsed = parse_json(content, path)
    except LengthgenError as error:
        raise StoreError(f"{error}: {redo(path.parent)}") from error
    if not isinstance(parsed, dict):
        raise StoreError(f"{path} holds no JSON object: {redo(path.parent)}")
    return parsed


def redo(folder: Path) -> str:
    """Advice for messages about a finished run whose folder cannot be used."""
    return f"remove {folder.name} ({unfinished.removal(folder.parent, folder.name)}), and it is trained again"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
