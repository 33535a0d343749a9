"""Interrupts (Ctrl-C) that wait while a process is started."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Context manager: processes and threads started in it, and their children, ignore Ctrl-C.

    The current thread handles it after the block.
    """
    if sys.platform == "win32":
        yield
        return
    held = False

    def hold(number: int, frame: FrameType | None) -> None:
        nonlocal held
        held = True

    handler = signal.getsignal(signal.SIGINT)
    # The mask is for the children. If a thread of a library takes the signal, Python handles it in the main thread all
    # the same; so the main thread needs another handler as well.
    holds = threading.current_thread() is threading.main_thread() and handler not in (signal.SIG_IGN, None)
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        if holds:
            signal.signal(signal.SIGINT, hold)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
        if holds:
            signal.signal(signal.SIGINT, handler)
        if held:
            signal.raise_signal(signal.SIGINT)
