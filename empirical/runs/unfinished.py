"""Folders of unfinished trainings: a state from which training resumes, and a progress note for watchers.

    NAME/state.sealed     SHA-256 of the rest, then safetensors whose metadata name the runs
    NAME/progress.json    the runs and their number of finished epochs, sealed; rewritten after every epoch

NAME is that of one run, or a common name of runs that are trained together. A file that differs from what was written,
or that was copied here from another training, is never used.
"""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthgen.empirical.runs.run import Run
from lengthgen.infrastructure.files import (
    DamagedFile,
    read_sealed_bytes,
    read_sealed_json,
    write_sealed_bytes,
    write_sealed_json,
)

STATE, NOTE = "state.sealed", "progress.json"
OLD_STATE = "state.safetensors"
"""State of older versions, which did not seal it."""
LARGEST = 32 << 30
"""Largest size in bytes of a state that is read: 20 of the largest models with their optimiser take 24 GB."""
Runs = tuple[Run, ...]


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


def name_of(runs: Sequence[Run]) -> str:
    """Name of the folder of runs that are trained together."""
    if len(runs) == 1:
        return runs[0].id
    seeds = hashlib.sha256(json.dumps([run.seed for run in runs]).encode()).hexdigest()[:8]
    return f"{runs[0].group}-{len(runs)}-runs-{seeds}"


def folders(root: Path) -> list[Path]:
    """Folders below `root` that hold a state or a note."""
    return sorted({path.parent for name in (NOTE, STATE, OLD_STATE) for path in root.glob(f"*/{name}")})


def has_state(folder: Path) -> bool:
    """True if there is a state, valid or not."""
    return (folder / STATE).exists() or (folder / OLD_STATE).exists()


def metadata(runs: Sequence[Run], *, epoch: int, progress: Mapping[str, Any]) -> dict[str, str]:
    """Metadata of the safetensors of a state."""
    content = {"runs": [run.config for run in runs], "epoch": epoch, "progress": progress}
    return {key: json.dumps(value) for key, value in content.items()}


def write_state(folder: Path, content: bytes) -> None:
    """Replace the state by `content`, safetensors with `metadata`."""
    write_sealed_bytes(folder / STATE, content)


def read_state(folder: Path) -> State:
    """Read the state of a training.

    Raises:
        DamagedFile: the state differs from what was written, belongs to another training, or was not sealed by an older
            version.
        OSError: it cannot be read.
    """
    if not (folder / STATE).exists() and (folder / OLD_STATE).exists():
        raise damaged_state(
            folder / OLD_STATE, "it was written by an older version of lengthgen, which did not seal it"
        )
    try:
        content = read_sealed_bytes(folder / STATE, largest=LARGEST)
        texts = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
        configs, epoch, progress = (json.loads(texts[key]) for key in ("runs", "epoch", "progress"))
        return State(
            runs=_runs(folder, configs), epoch=_checked_epochs(epoch), progress=dict(progress), content=content
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged_state(folder / STATE, error) from error


def removal(root: Path, name: str) -> str:
    """Command, as a shell takes it, that removes a run or training from the store `root`, which is OUT/runs."""
    return shlex.join(["lengthgen", "runs", "--remove", name, "--out", str(root.parent)])


def damaged_state(path: Path, why: object) -> DamagedFile:
    """Error for a state that cannot be used."""
    return DamagedFile(
        f"{path} cannot be used ({why}): remove it ({_removal_of(path.parent)}), and its training starts again"
    )


def _removal_of(folder: Path) -> str:
    """Command that removes the training whose folder this is, ROOT/.unfinished/NAME."""
    return removal(folder.parent.parent, folder.name)


def write_note(folder: Path, runs: Sequence[Run], done: int) -> None:
    """Record the number of finished epochs of the runs."""
    write_sealed_json(folder / NOTE, {"runs": [run.config for run in runs], "done": done})


def read_note(folder: Path) -> tuple[Runs, int]:
    """Read the runs of a training and their number of finished epochs.

    Raises:
        DamagedFile: the note differs from what was written, or belongs to another training.
        OSError: it cannot be read.
    """
    try:
        note = read_sealed_json(folder / NOTE)
        return _runs(folder, note["runs"]), _checked_epochs(note["done"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedFile(
            f"{folder / NOTE} cannot be used ({error}): run the same training again, which resumes and rewrites it, or "
            f"remove it ({_removal_of(folder)})"
        ) from error


def look(folder: Path) -> tuple[Runs, int]:
    """Same result as `read_note`, after a check of the state; read from the state if there is no note yet.

    Raises:
        DamagedFile: note or state is damaged.
        OSError: one of them cannot be read, or both were removed meanwhile.
    """
    state = read_state(folder) if has_state(folder) else None
    if state is None or (folder / NOTE).exists():
        return read_note(folder)
    return state.runs, state.epoch


def _runs(folder: Path, configs: Sequence[dict[str, Any]]) -> Runs:
    """Runs of these configs. Raises ValueError unless the folder is that of their training."""
    runs = tuple(Run.from_config(config) for config in configs)
    if not runs or name_of(runs) != folder.name:
        raise ValueError("it belongs to other runs than the folder's name says")
    return runs


def _checked_epochs(number: Any) -> int:
    """Check a number of epochs."""
    if type(number) is not int or number < 0:
        raise ValueError("its number of epochs is invalid")
    return number
