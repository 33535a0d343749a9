"""Folders of unfinished trainings: the state that a training goes on from, and a note for those who look on.

    NAME/state.sealed     SHA-256 of what follows, then safetensors whose metadata name the runs
    NAME/progress.json    the runs and how many epochs are done, sealed; rewritten after every epoch

NAME is that of a run, or one for runs that are trained together. A file that is not as it was written, or that was
copied here from another training, is never believed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from empirical.runs.run import Run
from theory.system.files import (
    DamagedFile,
    read_sealed_bytes,
    read_sealed_json,
    write_sealed_bytes,
    write_sealed_json,
)

STATE, NOTE = "state.sealed", "progress.json"
OLD_STATE = "state.safetensors"
"""The state of versions that did not seal it."""
LARGEST = 32 << 30
"""Bytes of the largest state that is read: 20 of the largest models, with their optimiser, take 24 GB."""
Runs = tuple[Run, ...]


@dataclass(frozen=True, kw_only=True)
class State:
    """What an unfinished training goes on from.

    Attributes:
        runs: that are trained together.
        epoch: how many are done.
        progress: what else is known of them, as JSON holds it.
        content: the tensors, as safetensors whose metadata have all the above.
    """

    runs: Runs
    epoch: int
    progress: dict[str, Any]
    content: bytes


def name_of(runs: Sequence[Run]) -> str:
    """The name of the folder for runs that are trained together."""
    if len(runs) == 1:
        return runs[0].id
    seeds = hashlib.sha256(json.dumps([run.seed for run in runs]).encode()).hexdigest()[:8]
    return f"{runs[0].group}-{len(runs)}-runs-{seeds}"


def folders(root: Path) -> list[Path]:
    """All folders below `root` that hold a state or a note."""
    return sorted({path.parent for name in (NOTE, STATE, OLD_STATE) for path in root.glob(f"*/{name}")})


def has_state(folder: Path) -> bool:
    """Whether there is a state, sound or not."""
    return (folder / STATE).exists() or (folder / OLD_STATE).exists()


def metadata(runs: Sequence[Run], *, epoch: int, progress: Mapping[str, Any]) -> dict[str, str]:
    """The metadata that the safetensors of a state have."""
    content = {"runs": [run.config for run in runs], "epoch": epoch, "progress": progress}
    return {key: json.dumps(value) for key, value in content.items()}


def write_state(folder: Path, content: bytes) -> None:
    """Writes a state, safetensors with `metadata`, in place of the one before."""
    write_sealed_bytes(folder / STATE, content)


def read_state(folder: Path) -> State:
    """The state of a training.

    Raises:
        DamagedFile: it is not as it was written, of another training, or of a version that did not seal it.
        OSError: it cannot be read.
    """
    if not (folder / STATE).exists() and (folder / OLD_STATE).exists():
        raise damaged_state(folder / OLD_STATE, "a version of lengthgen wrote it that did not seal it")
    try:
        content = read_sealed_bytes(folder / STATE, largest=LARGEST)
        texts = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
        configs, epoch, progress = (json.loads(texts[key]) for key in ("runs", "epoch", "progress"))
        return State(runs=_runs(folder, configs), epoch=_epochs(epoch), progress=dict(progress), content=content)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged_state(folder / STATE, error) from error


def damaged_state(path: Path, why: object) -> DamagedFile:
    """The error of a state that cannot be used."""
    return DamagedFile(
        f"{path} cannot be used ({why}): remove it (lengthgen runs --remove {path.parent.name}), and its training "
        "begins anew"
    )


def write_note(folder: Path, runs: Sequence[Run], done: int) -> None:
    """Notes how many epochs of the runs are done."""
    write_sealed_json(folder / NOTE, {"runs": [run.config for run in runs], "done": done})


def read_note(folder: Path) -> tuple[Runs, int]:
    """The runs of a training, and how many epochs of them are done.

    Raises:
        DamagedFile: the note is not as it was written, or of another training.
        OSError: it cannot be read.
    """
    try:
        note = read_sealed_json(folder / NOTE)
        return _runs(folder, note["runs"]), _epochs(note["done"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedFile(
            f"{folder / NOTE} cannot be used ({error}): train the same again, which goes on and makes it anew, or "
            f"remove it (lengthgen runs --remove {folder.name})"
        ) from error


def look(folder: Path) -> tuple[Runs, int]:
    """As `read_note`, once the state is known to be sound too; where there is no note yet, from the state alone.

    Raises:
        DamagedFile: note or state is.
        OSError: one of them cannot be read, or both went away.
    """
    state = read_state(folder) if has_state(folder) else None
    if state is None or (folder / NOTE).exists():
        return read_note(folder)
    return state.runs, state.epoch


def _runs(folder: Path, configs: Sequence[dict[str, Any]]) -> Runs:
    """The runs of these configs, if this is the folder of their training."""
    runs = tuple(Run.from_config(config) for config in configs)
    if not runs or name_of(runs) != folder.name:
        raise ValueError("it is of other runs than the name of its folder says")
    return runs


def _epochs(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError("its epochs are no number")
    return number
