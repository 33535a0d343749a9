"""Peak memory of a computation."""

import resource
import sys
from contextlib import suppress
from pathlib import Path

import torch

from lengthgen.infrastructure.memory import return_freed_memory

PROCESS = Path("/proc/self")


def forget_peak(device: str) -> None:
    """Reset the peak: earlier use no longer counts, on a GPU and on Linux (`proc(5)`, clear_refs)."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        return
    return_freed_memory()
    with suppress(OSError):
        (PROCESS / "clear_refs").write_text("5", encoding="utf-8")


def peak(device: str) -> int:
    """Peak memory in MiB since `forget_peak` or the start: of the GPU if device is cuda, else of this process."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated() >> 20
    try:
        status = (PROCESS / "status").read_text(encoding="utf-8", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0]) >> 10
    except (OSError, ValueError, IndexError):
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used >> (20 if sys.platform == "darwin" else 10)
