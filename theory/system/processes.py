"""Worker processes: they end when this process ends, and they leave an interrupt (Ctrl-C) to this process."""

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
    """Context manager for a pool of spawned worker processes; submit work to it under `interrupts_left`.

    At the end it waits for nothing.  The workers are idle then, or there was an error or an interrupt and their work is
    abandoned.
    """
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=end_with_parent, initargs=(os.getpid(),))
    try:
        yield executor
    finally:
        for worker in (executor._processes or {}).values():  # from Python 3.14 on this is terminate_workers()
            worker.terminate()
        executor.shutdown(cancel_futures=True)


@contextmanager
def interrupts_left() -> Iterator[None]:
    """Context manager: processes and threads started in it, and their children, ignore Ctrl-C.

    The current thread handles it after the block.
    """
    # Start Python's helper process now: on its start, it would unblock interrupts again.
    resource_tracker.ensure_running()
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends, so that no worker goes on after its parent was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
