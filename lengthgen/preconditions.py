"""What a command needs, asked before it computes anything: installed extras, a device, a folder that can be written."""

from importlib.util import find_spec
from pathlib import Path

from empirical.model.backend import Backend
from theory.system.errors import LengthgenError
from theory.system.files import require_folder

TRAINING = ("torch", "safetensors", "pyarrow")
"""Packages of the extra `train`."""


class PreconditionError(LengthgenError):
    """An extra is not installed; one line says which and how to mend it."""


def require_training() -> None:
    """Raises PreconditionError unless the extra `train` is installed. Imports nothing."""
    for name in TRAINING:
        if not _installed(name):
            raise PreconditionError(missing_training(name))


def missing_training(name: str) -> str:
    """The line on a package of the extra `train` that is not there."""
    return f"this needs {name}: install the extra with pip install 'lengthgen[train]'"


def require_ready(out: Path, backend: Backend, *, engine: str = "local", log: bool = False) -> None:
    """Raises unless models can be trained, and what is found can be stored in `out`.

    Raises:
        PreconditionError: an extra is not installed.
        BackendError: this machine, if it is to train, has no such backend.
        LengthgenError: `out` is no folder that can be written.
    """
    require_training()
    if log and not _installed("tensorboard"):
        raise PreconditionError("--log tensorboard needs TensorBoard: pip install 'lengthgen[curves]'")
    if engine == "ray" and not _installed("ray"):
        raise PreconditionError("--engine ray needs Ray: pip install 'lengthgen[cluster]'")
    if engine == "local":
        backend.require()
    require_folder(out)


def _installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
