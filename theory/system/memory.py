"""Memory of this process: freed memory is kept, so that large arrays of the next computation need no new pages."""

import ctypes
import sys

TRIM_THRESHOLD, MMAP_MAX = -1, -4
"""Settings of `mallopt`, from the header malloc.h of glibc."""


def keep_freed_memory() -> None:
    """Let this process keep the memory that it frees, until it ends.

    By default glibc returns every large array to the system and asks for new pages for the next one, which the system
    has to clear: up to two thirds of the time of language models on long texts.  Without glibc nothing is changed.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(MMAP_MAX, 0)
        mallopt(TRIM_THRESHOLD, -1)  # the largest size
