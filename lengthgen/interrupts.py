"""Signals that end a command: Ctrl-C, SIGTERM and SIGHUP all interrupt it, and none is lost.

A signal that the command was started to ignore stays ignored, as SIGINT in the background jobs of a shell script and
SIGHUP under nohup.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import Any

SAME = 2.0
"""Seconds within which a further signal counts as the same: timeout and service managers send several at once."""


@contextmanager
def interrupts_heeded() -> Iterator[list[signal.Signals]]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt, as SIGINT does; yields a list of those that came."""
    came: list[signal.Signals] = []
    last = -SAME

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        if monotonic() - last < SAME:
            return
        last = monotonic()
        came.append(signal.Signals(number))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
            signal.raise_signal(signal.SIGINT)  # comes when `interrupts_left` lets it
        else:
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with _raised_again():
        try:
            for number in (signal.SIGTERM, signal.SIGHUP):
                if before[number] != signal.SIG_IGN:
                    signal.signal(number, interrupt)
            yield came
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _raised_again() -> Iterator[None]:
    """An interrupt that meets a callback or `__del__`, as while a module is imported, is not lost.

    Python prints and drops whatever these raise; this raises it once more, a moment later.
    """
    before = sys.unraisablehook

    def again(dropped: Any) -> None:
        if isinstance(dropped.exc_value, KeyboardInterrupt):
            # Here it would be dropped once more; and a thread that waits is woken by nothing but a signal.
            main = threading.main_thread().ident
            threading.Timer(0.01, signal.pthread_kill, (main, signal.SIGINT)).start()
        else:
            before(dropped)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before
