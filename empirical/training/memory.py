"""Memory of a computation: its peak, and what it keeps for its next step."""

import ctypes
import resource
import sys
from contextlib import suppress
from pathlib import Path

import torch

PROCESS = Path("/proc/self")
_LIBRARY = ctypes.CDLL(None)
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of parameters of glibc's `mallopt`."""


def keep_freed() -> None:
    """Let this process keep up to 1 GiB that it frees for its next step, if its C library is glibc.

    By default at most 64 MiB are kept, and the system clears the pages of all others when they are asked for again.
    """
    if hasattr(_LIBRARY, "mallopt"):
        _LIBRARY.mallopt(_MMAP_THRESHOLD, 32 << 20)  # the largest that is allowed; larger blocks are not kept
        _LIBRARY.mallopt(_TRIM_THRESHOLD, 1 << 30)


def forget_peak(device: str) -> None:
    """Reset the peak: earlier use no longer counts, on a GPU and on Linux (`proc(5)`, clear_refs)."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        return
    if hasattr(_LIBRARY, "malloc_trim"):
        _LIBRARY.malloc_trim(0)  # gives back what `keep_freed` has kept
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
