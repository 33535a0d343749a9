"""What models are trained and tested on: a CPU or a GPU, and whether their training steps are compiled."""

import logging
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theory.system.errors import LengthgenError

if TYPE_CHECKING:
    from empirical.model.decoder import Decoder

DEVICES = ("cpu", "cuda")


class BackendError(LengthgenError):
    """A device or a compiler that is not there; one line says what and how to mend it."""


@dataclass(frozen=True)
class Backend:
    """A device, "cpu" or "cuda", and whether training steps are compiled for it by `torch.compile`.

    Compiling takes about half a minute for each shape of model and batch, and pays in long runs: kernels are fused, and
    on a GPU a step is replayed as CUDA graphs. Sums come out in another order, so in other last bits.

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
        """Whether it is a GPU."""
        return self.device == "cuda"

    def require(self) -> None:
        """Raises BackendError if this machine has no such device, or nothing to compile with."""
        if self.is_cuda:
            import torch

            if not torch.cuda.is_available():
                raise BackendError("no CUDA device is available: leave out --device, or say --device cpu")
        compiler = os.environ.get("CXX") or "g++"
        if self.compiled and not shutil.which(compiler):
            raise BackendError(
                f"--compile needs a C++ compiler, and there is no '{compiler}': install it or leave it out"
            )

    def forward_of(self, decoder: "Decoder") -> Any:
        """What is called in place of the decoder while it is trained; what cannot be compiled runs as it is."""
        import torch

        if not self.compiled:
            return decoder
        torch._logging.set_logs(dynamo=logging.ERROR)  # it would warn of every such part
        return torch.compile(decoder, dynamic=False, mode="reduce-overhead" if self.is_cuda else "default")


CPU = Backend()
"""The default: a CPU, and steps that are not compiled."""
