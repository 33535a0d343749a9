"""Processes that work for this one: they end when it ends, and an interrupt is left for it to answer."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """Spawned processes; submit to them under `interrupts_left`.

    At the end nothing is waited for: the workers are idle then, and after an error or an interrupt what is under way
    is given up.
    """
    context = multiprocessing.get_context("spawn")
    found = ProcessPoolExecutor(count, mp_context=context, initializer=end_with_parent, initargs=(os.getpid(),))
    try:
        yield found
    finally:
        for worker in (found._processes or {}).values():  # from Python 3.14 on this is terminate_workers()
            worker.terminate()
        found.shutdown(cancel_futures=True)


@contextmanager
def interrupts_left() -> Iterator[None]:
    """Processes and threads begun meanwhile, and those that they begin, leave Ctrl-C to this thread."""
    # Python's own helper process would, as it starts, let interrupts through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """Ends this process when its parent is gone: who is killed leaves nobody working behind its back."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
