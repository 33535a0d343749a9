"""The run store: one folder a finished run, and the state of what is being trained.

    ROOT/RUN-ID/              config.json, metrics.parquet, checkpoint.safetensors, environment.json, files.json
    ROOT/.unfinished/NAME/    state.sealed, progress.json; NAME is a run, or runs that are trained together
    ROOT/.locks/NAME          held by the process that trains the run, or the runs

A finished run appears by one rename and is never touched again; files.json has the SHA-256 of all the others. A state
is a single file, replaced whole, so that a killed training goes on from its last checkpoint as if it had never stopped.
Whatever is not as it was written is an error of one line, and is never believed.
"""

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from empirical.runs import unfinished
from empirical.runs.measurement import Measurement, MetricsError, decoded, encoded
from empirical.runs.run import FORMAT_VERSION, Run
from empirical.runs.unfinished import State
from theory.system import messages
from theory.system.errors import LengthgenError
from theory.system.files import locked, parse_json, read_bytes, write_bytes, write_json

CONFIG, METRICS, CHECKPOINT, ENVIRONMENT = (
    "config.json",
    "metrics.parquet",
    "checkpoint.safetensors",
    "environment.json",
)
FILES = "files.json"
LARGEST = {CONFIG: 1 << 20, METRICS: 64 << 20, CHECKPOINT: 1 << 30, ENVIRONMENT: 1 << 20, FILES: 1 << 20}
"""Bytes of the largest file of a finished run that is written or read."""


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
        """Held while runs are trained: two processes never train the same run. Who has to wait is told for whom."""
        with ExitStack() as held:
            for name in sorted({self._unfinished(runs).name, *(run.id for run in runs)}):
                held.enter_context(locked(self._lock(name), on_wait=partial(_tell_waiting, name)))
            yield

    def finished(self, run: Run) -> bool:
        """Whether the run is done."""
        return self.folder(run).is_dir()

    def begun_together(self, runs: Sequence[Run]) -> bool:
        """Whether there is a state, sound or not, of these runs trained together."""
        return unfinished.has_state(self._unfinished(runs))

    def state_path(self, runs: Sequence[Run]) -> Path:
        """The state of runs that are trained together; may not exist."""
        return self._unfinished(runs) / unfinished.STATE

    def state(self, runs: Sequence[Run]) -> State | None:
        """The state of runs that are trained together, if there is one.

        Raises:
            DamagedFile: it is not as it was written, or of other runs.
        """
        return unfinished.read_state(self._unfinished(runs)) if self.begun_together(runs) else None

    def keep_state(self, runs: Sequence[Run], content: bytes) -> None:
        """Writes a state in place of the one before; `content` is safetensors with `unfinished.metadata`."""
        unfinished.write_state(self._unfinished(runs), content)

    def tell(self, runs: Sequence[Run], done: int) -> None:
        """Notes how many epochs are done, for those who look on."""
        unfinished.write_note(self._unfinished(runs), runs, done)

    def finish(
        self, run: Run, *, metrics: Sequence[Measurement], checkpoint: bytes, environment: Mapping[str, Any]
    ) -> None:
        """Stores a finished run, unless it is stored already.

        Raises:
            StoreError: the metrics are not those that the run asks for.
            LengthgenError: a file is larger than any that is read.
        """
        if self.finished(run):
            return
        try:
            rows = encoded(metrics, run.measured())
        except MetricsError as error:
            raise StoreError(
                f"run {run.id} is not stored, for its metrics are not those it asks for: {error}"
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
                raise  # else another process, where locks do not hold, was first
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def forget_state(self, runs: Sequence[Run]) -> None:
        """Removes the state of runs that are finished, and what killed processes had written of their folders."""
        for run in runs:
            for path in self.root.glob(f".unfinished/{run.id}.*.finished"):
                shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(self._unfinished(runs), ignore_errors=True)

    def forget_finished(self) -> None:
        """Removes what killed processes left below .unfinished of runs that are finished."""
        for folder in self.root.glob(".unfinished/*"):
            if folder.is_dir() and self._is_of_finished_runs(folder):
                shutil.rmtree(folder, ignore_errors=True)

    def _is_of_finished_runs(self, folder: Path) -> bool:
        name = re.sub(r"\.\w+\.finished$", "", folder.name)
        if (self.root / name).is_dir():
            return True
        try:
            return all(map(self.finished, unfinished.read_note(folder)[0]))
        except (LengthgenError, OSError):  # no note, or a damaged one
            return False

    def metrics(self, run: Run) -> list[Measurement]:
        """All rows of a finished run, in the order of checkpoints and scales.

        Raises:
            StoreError: the run is not finished, or its folder does not hold what was written, or other rows than the
                run asks for.
        """
        return self._rows(run)

    def checkpoint(self, run: Run) -> bytes:
        """The weights at the end, as safetensors. Raises as `metrics` does."""
        return self._read(run, CHECKPOINT)[CHECKPOINT]

    def environment(self, run: Run) -> dict[str, Any]:
        """Where and when a finished run was trained. Raises as `metrics` does."""
        return _json_object(self._read(run, ENVIRONMENT)[ENVIRONMENT], self.folder(run) / ENVIRONMENT)

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
        found = [self.look(path.name) for path in self._finished_folders()]
        for folder in self._unfinished_folders():
            try:
                runs, done = unfinished.look(folder)
            except FileNotFoundError:
                continue  # it went away, or has only begun
            except (OSError, LengthgenError) as error:
                found.append(Stored(name=folder.name, run=None, done=None, broken=str(error)))
            else:
                waiting = [run for run in runs if not self.finished(run)]
                found += [Stored(name=run.id, run=run, done=done, broken=None) for run in waiting]
        return found

    def look(self, name: str) -> Stored:
        """The finished run of this name, looked at whole."""
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
        """The names of the finished runs, sound or not."""
        return [path.name for path in self._finished_folders()]

    def notes(self) -> Iterator[tuple[tuple[Run, ...], int]]:
        """The runs of every unfinished training, and how many epochs of them are done."""
        for folder in self._unfinished_folders():
            try:
                yield unfinished.read_note(folder)
            except (OSError, LengthgenError):
                continue  # it went away; or `contents` names it

    def begun(self) -> list[tuple[Run, ...]]:
        """The runs of every unfinished training that can go on. Where a note is damaged, the state says which."""
        found = []
        for folder in self._unfinished_folders():
            if unfinished.has_state(folder):
                try:
                    found.append(unfinished.read_note(folder)[0])
                except (OSError, LengthgenError):
                    with suppress(OSError, LengthgenError):  # `contents` names it
                        found.append(unfinished.read_state(folder).runs)
        return found

    def removable(self) -> list[str]:
        """The names that `remove` takes: finished runs, and unfinished trainings, each of one or several runs."""
        return [*self.finished_names(), *(folder.name for folder in self._unfinished_folders())]

    def remove(self, name: str) -> None:
        """Removes what lies under a name of `removable`; it goes by one rename, as it came.

        Raises:
            StoreError: another process trains it, or it cannot be removed.
        """

        def refuse(holder: str) -> NoReturn:
            raise StoreError(f"{name} is not removed, for {holder} trains it: stop that first")

        with locked(self._lock(name), on_wait=refuse):
            for folder in (self.root / name, self.root / ".unfinished" / name):
                aside = self.root / ".unfinished" / f"{secrets.token_hex(8)}.removed"
                try:
                    aside.parent.mkdir(exist_ok=True)
                    os.rename(folder, aside)
                    shutil.rmtree(aside)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise StoreError(f"{folder} cannot be removed: {error}") from error

    def _run_in(self, folder: Path) -> Run:
        """The run whose finished folder this is."""
        path = folder / CONFIG
        config = _json_object(_limited(path), path)
        version = config.get("version")
        if type(version) is int and version != FORMAT_VERSION:
            raise StoreError(f"{folder} is of format {version}, not {FORMAT_VERSION}: {redo(folder)}")
        try:
            run = Run.from_config(config)
        except (ValueError, TypeError, RecursionError) as error:
            raise StoreError(f"{path} is no config of a run ({error}): {redo(folder)}") from error
        if run.id != folder.name:
            raise StoreError(f"{path} is of another run, {run.id}: {redo(folder)}")
        return run

    def _rows(self, run: Run) -> list[Measurement]:
        content = self._read(run, METRICS)[METRICS]
        try:
            return decoded(content, run.measured())
        except LengthgenError as error:
            path = self.folder(run) / METRICS
            raise StoreError(f"{path} does not hold what {CONFIG} asks for ({error}): {redo(path.parent)}") from error

    def _read(self, run: Run, *names: str) -> dict[str, bytes]:
        """Files of a finished run by name, once they and the run's config are known to be what was written."""
        folder = self.folder(run)
        if not folder.is_dir():
            raise StoreError(f"run {run.id} is not in {self.root}: train it first")
        known = _json_object(_limited(folder / FILES), folder / FILES)
        contents = {wanted: _limited(folder / wanted) for wanted in dict.fromkeys((CONFIG, *names))}
        for wanted, content in contents.items():
            if _digest(content) != known.get(wanted):
                raise StoreError(f"{folder / wanted} is not as it was written: {redo(folder)}")
        if _json_object(contents[CONFIG], folder / CONFIG) != run.config:
            raise StoreError(f"{folder / CONFIG} is of another run than its name says: {redo(folder)}")
        return contents

    def _finished_folders(self) -> list[Path]:
        return [path for path in sorted(self.root.glob("[!.]*")) if path.is_dir()]

    def _unfinished_folders(self) -> list[Path]:
        """The folders of unfinished trainings; what a killed process left of a run that is finished is none."""
        found = unfinished.folders(self.root / ".unfinished")
        return [folder for folder in found if not (self.root / folder.name).is_dir()]

    def _unfinished(self, runs: Sequence[Run]) -> Path:
        return self.root / ".unfinished" / unfinished.name_of(runs)

    def _lock(self, name: str) -> Path:
        return self.root / ".locks" / name


def _tell_waiting(name: str, holder: str) -> None:
    messages.tell(f"waiting for {holder}, which trains {name}")


def _limited(path: Path) -> bytes:
    """A file of a finished run.

    Raises:
        StoreError: it cannot be read, or is larger than any of its name.
    """
    try:
        return read_bytes(path, largest=LARGEST[path.name])
    except (OSError, LengthgenError) as error:
        raise StoreError(f"run {path.parent} is broken ({error}): {redo(path.parent)}") from error


def _json_object(content: bytes, path: Path) -> dict[str, Any]:
    """The JSON object that was read from a file of a finished run."""
    try:
        parsed = parse_json(content, path)
    except LengthgenError as error:
        raise StoreError(f"{error}: {redo(path.parent)}") from error
    if not isinstance(parsed, dict):
        raise StoreError(f"{path} holds no JSON object: {redo(path.parent)}")
    return parsed


def redo(folder: Path) -> str:
    """How to go on where what a finished run's folder holds cannot be used."""
    return f"remove {folder.name} (lengthgen runs --remove {folder.name}), and it is trained again"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
