"""Backend of training and evaluation: CPU or GPU, eager or compiled."""

import logging
import os
import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lengthgen.infrastructure.errors import LengthgenError

if TYPE_CHECKING:
    from lengthgen.empirical.model.decoder import Decoder

DEVICES = ("cpu", "cuda")


class BackendError(LengthgenError):
    """A device or a compiler is missing; the message says in one line what and how to mend it."""


@dataclass(frozen=True)
class Backend:
    """Device, "cpu" or "cuda", and whether training steps are compiled for it by `torch.compile`.

    Compilation takes about half a minute for each shape of model and batch, and pays off in long runs: kernels are
    fused, and on a GPU a step is replayed as CUDA graphs. Sums are computed in another order, so their last bits
    differ.

    Raises:
        BackendError: the device has another name.
    """

    device: str = "cpu"
    compiled: bool = False

    def __post_init__(self) -> None:
        if self.device not in DEVICES:
            raise BackendError(f"unknown device '{self.device}': choose cpu or cuda")

    @property
    def is_cuda(self) -> bool:
        """True for a GPU."""
        return self.device == "cuda"

    def require(self) -> None:
        """Raise BackendError if this machine lacks the device, or a compiler although one is needed."""
        if self.is_cuda:
            import torch

            if not torch.cuda.is_available():
                raise BackendError("no CUDA device is available: leave out --device, or use --device cpu")
        compiler = os.environ.get("CXX") or "g++"
        if self.compiled and not shutil.which(compiler):
            raise BackendError(
                f"--compile needs a C++ compiler, and there is no '{compiler}': install it or leave it out"
            )

    def forward_of(self, decoder: "Decoder") -> Any:
        """Return the callable that replaces the decoder during training; parts that cannot be compiled run eagerly."""
        import torch

        if not self.compiled:
            return decoder
        # No warning for every such part.
        torch._logging.set_logs(dynamo=logging.ERROR)  # type: ignore[attr-defined]
        with suppress(ImportError):  # the compiler's progress bar has a semaphore, which a killed process leaves behind
            from tqdm import tqdm  # type: ignore[import-untyped]

            tqdm.set_lock(threading.RLock())
        return torch.compile(decoder, dynamic=False, mode="reduce-overhead" if self.is_cuda else "default")


CPU = Backend()
"""Default backend: CPU, eager."""
