"""Run store: one folder per finished run, and the states of unfinished trainings.

    ROOT/RUN-ID/config.json, metrics.parquet, checkpoint.safetensors, environment.json, files.json
    ROOT/.unfinished/NAME/state.sealed     SHA-256 of the rest, then safetensors whose metadata name the runs
    ROOT/.unfinished/NAME/progress.json    the runs and their number of finished epochs, sealed
    ROOT/.locks/NAME                       locked by the process that trains the run or runs

NAME is that of one run, or a common name of runs that are trained together. A finished run appears by one rename and is
never changed afterwards; files.json has the SHA-256 of all other files. A state is a single file, replaced at once, so
that a killed training resumes at its last state as if it had never stopped. A file that differs from what was written,
or that was copied here from another training, gives an error of one line and is never used.
"""

import json
import os
import re
import secrets
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.metrics import Measurement, MetricsError, from_parquet, to_parquet
from lengthgen.empirical.experiment.run import FORMAT_VERSION, Run
from lengthgen.infrastructure.digests import sha256
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import (
    DamagedFile,
    Held,
    locked,
    parse_json,
    read_bytes,
    read_sealed_bytes,
    read_sealed_json,
    seal,
    sweep_partial,
    write_bytes,
    write_json,
    write_sealed_bytes,
    write_sealed_json,
)

CONFIG, METRICS, CHECKPOINT, ENVIRONMENT, FILES = FINISHED = (
    "config.json",
    "metrics.parquet",
    "checkpoint.safetensors",
    "environment.json",
    "files.json",
)
"""Files of a finished run."""
STATE, NOTE = "state.sealed", "progress.json"
"""Files of an unfinished training."""
LARGEST = {
    CONFIG: 1 << 20,
    METRICS: 64 << 20,
    CHECKPOINT: 1 << 30,
    ENVIRONMENT: 1 << 20,
    FILES: 1 << 20,
    STATE: 32 << 30,
}
"""Largest size in bytes of each file: 20 of the largest models with their optimiser take 24 GB."""
Runs = tuple[Run, ...]


class StoreError(LengthgenError):
    """A stored run cannot be used; the message names the file and says what to do."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Entry of a store: a finished run, an unfinished one with `done` epochs, or a `broken` folder with the reason."""

    name: str
    run: Run | None
    done: int | None
    broken: str | None


@dataclass(frozen=True, kw_only=True)
class State:
    """State from which an unfinished training resumes.

    Attributes:
        runs: runs that are trained together.
        epoch: number of finished epochs.
        progress: further data of the training, as JSON.
        content: tensors as safetensors, whose metadata hold all the above.
    """

    runs: Runs
    epoch: int
    progress: dict[str, Any]
    content: bytes


def state_metadata(runs: Sequence[Run], *, epoch: int, progress: Mapping[str, Any]) -> dict[str, str]:
    """Metadata of the safetensors of a state."""
    content = {"runs": [run.config for run in runs], "epoch": epoch, "progress": progress}
    return {key: json.dumps(value) for key, value in content.items()}


class RunStore:
    """Store of runs under one folder."""

    def __init__(self, root: Path) -> None:
        """Open a store; the folder `root` need not exist yet."""
        self.root, self._below = root, root / ".unfinished"

    def folder(self, run: Run) -> Path:
        """Folder of the finished run, which may not exist yet."""
        return self.root / run.id

    @contextmanager
    def locks(self, runs: Sequence[Run]) -> Iterator[None]:
        """Hold the locks of runs during their training: two processes never train the same run.

        A process that must wait prints which process it waits for.
        """
        with ExitStack() as stack:
            for name in sorted({_name_of(runs), *(run.id for run in runs)}):
                stack.enter_context(locked(self.root / ".locks" / name, f"trains {name}"))
            yield

    def finished(self, run: Run) -> bool:
        """True if the run is finished."""
        return self.folder(run).is_dir()

    def state_path(self, runs: Sequence[Run]) -> Path:
        """Path of the state of runs that are trained together; it may not exist."""
        return self._below / _name_of(runs) / STATE

    def has_state(self, runs: Sequence[Run]) -> bool:
        """True if there is a state, valid or not, of these runs trained together."""
        return _has_state(self.state_path(runs).parent)

    def state(self, runs: Sequence[Run]) -> State | None:
        """State of runs that are trained together; None if there is none.

        Raises:
            DamagedFile: the state differs from what was written, or belongs to other runs.
        """
        return _read_state(self.state_path(runs).parent) if self.has_state(runs) else None

    def save_state(self, runs: Sequence[Run], content: bytes) -> None:
        """Replace the state; `content` is safetensors with `state_metadata` as metadata."""
        write_sealed_bytes(self.state_path(runs), content)

    def note_progress(self, runs: Sequence[Run], done: int) -> None:
        """Record the number of finished epochs for other processes that watch."""
        note = {"runs": [run.config for run in runs], "done": done}
        write_sealed_json(self.state_path(runs).with_name(NOTE), note)

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
        new = self._below / f"{run.id}.{secrets.token_hex(4)}.finished"
        try:
            write_json(new / CONFIG, run.config)
            write_json(new / ENVIRONMENT, dict(environment))
            write_bytes(new / CHECKPOINT, checkpoint)
            write_bytes(new / METRICS, rows)
            written = {path.name: read_bytes(path, largest=LARGEST[path.name]) for path in new.iterdir()}
            write_json(new / FILES, {name: sha256(content) for name, content in written.items()})
            os.rename(new, self.folder(run))
        except OSError:
            if not self.finished(run):
                raise  # otherwise another process finished first, on a file system without working locks
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def remove_state(self, runs: Sequence[Run]) -> None:
        """Delete the state of finished runs, and half-written folders that killed processes left."""
        for run in runs:
            for path in self._below.glob(f"{run.id}.*.finished"):
                shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(self.state_path(runs).parent, ignore_errors=True)

    def remove_leftovers(self) -> None:
        """Delete what killed processes left below .unfinished of runs that are finished."""
        for folder in self._below.glob("*"):
            if folder.is_dir() and self._is_of_finished_runs(folder):
                shutil.rmtree(folder, ignore_errors=True)

    def remove_half_written(self) -> None:
        """Delete files that killed processes were writing; all are below .unfinished until a run is whole."""
        sweep_partial(self._below)

    def _is_of_finished_runs(self, folder: Path) -> bool:
        """True if all runs of an unfinished training are finished."""
        if (self.root / re.sub(r"\.\w+\.finished$", "", folder.name)).is_dir():
            return True
        try:
            return all(map(self.finished, read_note(folder)[0]))
        except (LengthgenError, OSError):  # no note, or a damaged one
            return False

    def metrics(self, run: Run) -> list[Measurement]:
        """Read the rows of a finished run, in order of checkpoints and scales.

        Raises:
            StoreError: the run is not finished, its files differ from what was written, or the rows are not
                those of the run.
        """
        return self._rows(run, self._read(run, METRICS)[METRICS])

    def _rows(self, run: Run, content: bytes) -> list[Measurement]:
        """Rows of a finished run in the content of its file; raises as `metrics` does."""
        try:
            return from_parquet(content, run.metric_keys(), run.may_end)
        except LengthgenError as error:
            path = self.folder(run) / METRICS
            raise StoreError(
                f"{path} does not have the rows that {CONFIG} requires ({error}): {redo(path.parent)}"
            ) from error

    def checkpoint(self, run: Run) -> bytes:
        """Final weights, as safetensors. Raises what `metrics` raises."""
        return self._read(run, CHECKPOINT)[CHECKPOINT]

    def environment(self, run: Run) -> dict[str, Any]:
        """Environment in which a finished run was trained. Raises what `metrics` raises."""
        return _json_object(self._read(run, ENVIRONMENT)[ENVIRONMENT], self.folder(run) / ENVIRONMENT)

    def digest(self, run: Run) -> str:
        """SHA-256 of a finished run's config and results, independent of place and time. Raises as `metrics` does."""
        contents = self._read(run, ENVIRONMENT, CONFIG, METRICS, CHECKPOINT)
        return sha256(b"".join(contents[name] for name in (CONFIG, METRICS, CHECKPOINT)))

    def final_exact_match(self, run: Run) -> dict[int, float]:
        """scale -> exact match at the last checkpoint. Raises what `metrics` raises."""
        rows = self.metrics(run)
        last = max(row.epoch for row in rows)
        return {row.scale: row.exact_match for row in rows if row.epoch == last}

    def contents(self) -> list[Stored]:
        """List everything in the store by name, finished runs first; every file is checked."""
        return [*map(self.look, self.finished_names()), *self.unfinished()]

    def unfinished(self) -> list[Stored]:
        """List the unfinished runs by the names of their trainings; every note or state is checked."""
        entries: list[Stored] = []
        for folder in self._unfinished_folders():
            try:
                state = _read_state(folder) if _has_state(folder) else None
                if state is None or (folder / NOTE).exists():
                    runs, done = read_note(folder)
                else:
                    runs, done = state.runs, state.epoch
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
        try:
            run = self._run_in(self.root / name)
            contents = self._read(run, METRICS, CHECKPOINT, ENVIRONMENT)
            self._rows(run, contents[METRICS])
            _json_object(contents[ENVIRONMENT], self.folder(run) / ENVIRONMENT)
        except LengthgenError as error:
            return Stored(name=name, run=None, done=None, broken=str(error))
        return Stored(name=name, run=run, done=None, broken=None)

    def last_changes(self, names: Sequence[str]) -> Iterator[tuple[int, float] | None]:
        """Yield, for each finished run, a number that differs after any change of its files, and when the last one was.

        The system knows both without reading the files; None for a run of which a file is missing.
        """
        if not names:
            return
        root = os.open(self.root, os.O_RDONLY | os.O_CLOEXEC)  # so that the system finds the folder once
        try:
            for name in names:
                try:
                    files = [os.stat(f"{name}/{file}", dir_fd=root) for file in FINISHED]
                except OSError:
                    yield None
                else:
                    times = [file.st_ctime_ns for file in files]  # unlike st_mtime_ns, no program can set them back
                    yield hash((*times, *[file.st_ino for file in files])), max(times) / 1e9
        finally:
            os.close(root)

    def finished_names(self) -> list[str]:
        """Names of the finished runs, valid or broken."""
        if not self.root.is_dir():
            return []
        with os.scandir(self.root) as entries:  # tells folders from files without a look at each
            return sorted(entry.name for entry in entries if entry.name[0] != "." and entry.is_dir())

    def notes(self) -> Iterator[tuple[Runs, int]]:
        """Yield the runs of every unfinished training and the number of their finished epochs."""
        for folder in self._unfinished_folders():
            with suppress(OSError, LengthgenError):  # removed meanwhile; or damaged, which `contents` reports
                yield read_note(folder)

    def resumable(self) -> list[Runs]:
        """Runs of every unfinished training that can be resumed; if a note is damaged, they are read from the state."""
        trainings = []
        for folder in filter(_has_state, self._unfinished_folders()):
            try:
                trainings.append(read_note(folder)[0])
            except (OSError, LengthgenError):
                with suppress(OSError, LengthgenError):  # `contents` reports it
                    trainings.append(_read_state(folder).runs)
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
            with locked(self.root / ".locks" / name, "trains it", wait=False):
                for folder in (self.root / name, self._below / name):
                    self._remove_folder(folder)
        except Held as held:
            raise StoreError(f"{name} is not removed, because {held}: stop that first") from held

    def _remove_folder(self, folder: Path) -> None:
        """Remove a folder of the store, if it exists, by one rename."""
        aside = self._below / f"{secrets.token_hex(8)}.removed"
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

    def _read(self, run: Run, *names: str) -> dict[str, bytes]:
        """Files of a finished run by name, after a check that they and the run's config are as written."""
        folder = self.folder(run)
        if not folder.is_dir():
            raise StoreError(f"run {run.id} is not in {self.root}: train it first")
        digests = _json_object(_read_file(folder / FILES), folder / FILES)
        contents = {filename: _read_file(folder / filename) for filename in dict.fromkeys((CONFIG, *names))}
        for filename, content in contents.items():
            if sha256(content) != digests.get(filename):
                raise StoreError(f"{folder / filename} is not as it was written: {redo(folder)}")
        if _json_object(contents[CONFIG], folder / CONFIG) != run.config:
            raise StoreError(f"{folder / CONFIG} belongs to another run than the folder's name says: {redo(folder)}")
        return contents

    def _unfinished_folders(self) -> list[Path]:
        """Folders of unfinished trainings, with a state or a note, without leftovers of finished runs."""
        folders = {path.parent for name in (NOTE, STATE) for path in self._below.glob(f"*/{name}")}
        return [folder for folder in sorted(folders) if not (self.root / folder.name).is_dir()]


def _name_of(runs: Sequence[Run]) -> str:
    """Name of the folder of runs that are trained together."""
    if len(runs) == 1:
        return runs[0].id
    return f"{runs[0].group}-{len(runs)}-runs-{seal([run.seed for run in runs])[:8]}"


def _has_state(folder: Path) -> bool:
    """True if a folder of an unfinished training has a state, valid or not."""
    return (folder / STATE).exists()


def _read_state(folder: Path) -> State:
    """State in a folder. Raises as `RunStore.state`, and OSError if it cannot be read."""
    try:
        content = read_sealed_bytes(folder / STATE, largest=LARGEST[STATE])
        texts = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
        configs, epoch, progress = (json.loads(texts[key]) for key in ("runs", "epoch", "progress"))
        runs, epoch = _of_folder(folder, configs, epoch)
        return State(runs=runs, epoch=epoch, progress=dict(progress), content=content)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged_state(folder / STATE, error) from error


def read_note(folder: Path) -> tuple[Runs, int]:
    """Runs of a training and their number of finished epochs.

    Raises:
        DamagedFile: the note differs from what was written, or belongs to another training.
        OSError: it cannot be read.
    """
    try:
        note = read_sealed_json(folder / NOTE)
        return _of_folder(folder, note["runs"], note["done"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedFile(
            f"{folder / NOTE} cannot be used ({error}): run the same training again, which resumes and rewrites it, or "
            f"remove it ({removal(folder.parents[1], folder.name)})"
        ) from error


def _of_folder(folder: Path, configs: Sequence[dict[str, Any]], epochs: Any) -> tuple[Runs, int]:
    """Runs and finished epochs of a training. Raises ValueError unless the folder is that of these runs."""
    runs = tuple(Run.from_config(config) for config in configs)
    if not runs or _name_of(runs) != folder.name:
        raise ValueError("it belongs to other runs than the folder's name says")
    if type(epochs) is not int or epochs < 0:
        raise ValueError("its number of epochs is invalid")
    return runs, epochs


def damaged_state(path: Path, why: object) -> DamagedFile:
    """Error for a state that cannot be used."""
    command = removal(path.parents[2], path.parent.name)
    return DamagedFile(f"{path} cannot be used ({why}): remove it ({command}), and its training starts again")


def redo(folder: Path) -> str:
    """Advice for messages about a finished run whose folder cannot be used."""
    return f"remove {folder.name} ({removal(folder.parent, folder.name)}), and it is trained again"


def removal(root: Path, name: str) -> str:
    """Command, as a shell takes it, that removes a run or training from the store `root`, which is OUT/runs."""
    return shlex.join(["lengthgen", "runs", "--remove", name, "--out", str(root.parent)])


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
