"""Worker processes: they end when this process ends, and they leave an interrupt (Ctrl-C) to this process."""

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess

from lengthgen.infrastructure.cache import can_keep
from lengthgen.infrastructure.files import user_cache
from lengthgen.infrastructure.interrupts import interrupts_held

GRACE = 5.0  # seconds


@contextmanager
def pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """Context manager for a pool of spawned worker processes; submit work to it under `interrupts_left`.

    At the end idle workers exit in order: a killed process leaves semaphores behind, about which Python warns.
    They are killed if they do not exit in `GRACE` seconds, as user-defined code can prevent it, and at once after an
    error or an interrupt.
    """
    can_keep(user_cache(""))  # if workers cannot, this process says so, and once
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=end_with_parent, initargs=(os.getpid(),))
    grace = 0.0
    try:
        yield executor
        grace = GRACE
    finally:
        killer = threading.Timer(grace, _terminate, [list((executor._processes or {}).values())])
        killer.start()
        executor.shutdown(cancel_futures=True)
        killer.cancel()


def _terminate(workers: Sequence[BaseProcess]) -> None:
    for worker in workers:  # from Python 3.14 on this is ProcessPoolExecutor.terminate_workers()
        worker.terminate()


@contextmanager
def interrupts_left() -> Iterator[None]:
    """Context manager as `interrupts_held`, for what starts processes by the package `multiprocessing`."""
    # Start Python's helper process now: on its start, it would unblock interrupts again.
    resource_tracker.ensure_running()
    with interrupts_held():
        yield


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends, so that no worker goes on after its parent was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
