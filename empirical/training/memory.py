"""The most memory that something took, from a moment on."""

import resource
import sys
from contextlib import suppress
from pathlib import Path

import torch

PROCESS = Path("/proc/self")


def forget_peak(device: str) -> None:
    """Begins anew: what came before no longer counts, on a GPU and on Linux (`proc(5)`, clear_refs)."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        return
    with suppress(OSError):
        (PROCESS / "clear_refs").write_text("5", encoding="utf-8")


def peak(device: str) -> int:
    """MiB: of the GPU where there is one, else of this whole process, since `forget_peak` or since it began."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated() >> 20
    try:
        status = (PROCESS / "status").read_text(encoding="utf-8", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0]) >> 10
    except (OSError, ValueError, IndexError):
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used >> (20 if sys.platform == "darwin" else 10)
