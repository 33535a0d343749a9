"""Signals that end a command: Ctrl-C, SIGTERM and SIGHUP all interrupt it, and none of them is lost.

A signal that is ignored when the command starts stays ignored, for example SIGINT in background jobs of a shell script
and SIGHUP under nohup.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import Any

INTERRUPTED = 130
"""Exit code of an interrupted command, the same as in shells."""
SAME = 2.0
"""Seconds within which a further signal counts as the same one: timeout and service managers send several at once."""


def interruptible(work: Callable[[], int]) -> tuple[int, signal.Signals]:
    """Do some work, in which SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt.

    Returns:
        The exit code of the work, INTERRUPTED if a signal ended it; and the signal, SIGINT if there was none.
    """
    received: list[signal.Signals] = []
    last = -SAME
    at_work = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        if not at_work:
            return
        if number != signal.SIGINT:
            if monotonic() - last < SAME:
                return
            last = monotonic()
            signal.signal(signal.SIGINT, interrupt)  # it may be ignored
        received.append(signal.Signals(number))
        if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
            signal.raise_signal(signal.SIGINT)  # delivered when `interrupts_left` unblocks it
        else:
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        with _raised_again():
            for number, handler in before.items():
                if handler != signal.SIG_IGN:
                    signal.signal(number, interrupt)
            code = work()
        at_work = False  # no call, and so no signal, between this and the end of `try`
    except BaseException as error:
        at_work = False
        # An interrupt inside the making of a class, for example, becomes another error.
        if not (received or isinstance(error, KeyboardInterrupt)):
            raise
        code = INTERRUPTED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code, (*received, signal.SIGINT)[0]


@contextmanager
def _raised_again() -> Iterator[None]:
    """Raise an interrupt again that came inside a callback or `__del__`, for example while a module is imported.

    Python prints and drops exceptions raised there; this raises the interrupt once more, a moment later.
    """
    before = sys.unraisablehook

    def again(dropped: Any) -> None:
        if isinstance(dropped.exc_value, KeyboardInterrupt):
            # Raised here, it would be dropped once more; and only a signal wakes a waiting thread.
            main = threading.main_thread().ident
            threading.Timer(0.01, signal.pthread_kill, (main, signal.SIGINT)).start()
        else:
            before(dropped)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before
