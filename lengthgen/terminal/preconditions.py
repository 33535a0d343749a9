"""Preconditions of a command, checked before it computes: installed extras, a device, a writable folder."""

from importlib.util import find_spec
from pathlib import Path

from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.extras import how_to_install
from lengthgen.infrastructure.files import require_folder

TRAINING = ("torch", "safetensors", "pyarrow")
"""Packages of the extra `train`."""


class PreconditionError(LengthgenError):
    """Error: an extra is not installed; one line says which and how to install it."""


def require_training() -> None:
    """Raise PreconditionError unless the extra `train` is installed. Imports nothing."""
    for name in TRAINING:
        if not _installed(name):
            raise PreconditionError(missing_training(name))


def missing_training(name: str) -> str:
    """Return the error line for a missing package of the extra `train`."""
    return f"this needs {name}: {how_to_install('train')}"


def require_ready(out: Path, backend: Backend, *, engine: str = "local", log: bool = False) -> None:
    """Raise unless models can be trained and the results stored in `out`.

    Raises:
        PreconditionError: an extra is not installed.
        BackendError: training is on this machine, and it has no such backend.
        LengthgenError: `out` is not a writable folder.
    """
    require_training()
    if log and not _installed("tensorboard"):
        raise PreconditionError(f"--log tensorboard needs TensorBoard: {how_to_install('curves')}")
    if engine == "ray" and not _installed("ray"):
        raise PreconditionError(f"--engine ray needs Ray: {how_to_install('cluster')}")
    if engine == "local":
        backend.require()
    require_folder(out)


def _installed(name: str) -> bool:
    """True if the package is installed."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
