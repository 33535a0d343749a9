"""Many runs on one machine: one process a core, each training one run at a time on one thread."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from empirical.run import Run
from empirical.store import RunStore
from theory.errors import LengthgenError


class SweepError(LengthgenError):
    """A worker died; one line says what is left to do."""


def train_all(
    runs: Sequence[Run],
    store: RunStore,
    *,
    device: str,
    provenance: Mapping[str, Mapping[str, str]],
    on_done: Callable[[Run], None],
) -> None:
    """Trains every run that is not finished; `on_done` is called for each as it ends.

    Args:
        runs: what to train.
        store: where they go.
        device: "cpu" or "cuda".
        provenance: run id -> what is added to its environment.json.
        on_done: called in this process.

    Raises:
        SweepError: a worker was killed. What had finished is stored, what was under way goes on from its checkpoint.
        TrainingError: as `train` raises it.
    """
    waiting = [run for run in runs if not store.finished(run)]
    if not waiting:
        return
    workers = min(os.cpu_count() or 1, len(waiting))
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent, initargs=(os.getpid(),))
    try:
        # Workers begin while interrupts are ignored, and so ignore them: an interrupt is the parent's to answer.
        answer = signal.signal(signal.SIGINT, signal.SIG_IGN)
        futures = {pool.submit(_train, run, store.root, device, dict(provenance[run.id])): run for run in waiting}
        signal.signal(signal.SIGINT, answer)
        for future in as_completed(futures):
            future.result()
            on_done(futures[future])
    except BrokenProcessPool as error:
        raise SweepError(
            "a training process was killed (out of memory?): run the same command again to go on"
        ) from error
    finally:
        # Nothing is waited for: at the end the workers are idle, and after an error or an interrupt what is under way
        # goes on from its checkpoint another time. (From Python 3.14 on this is pool.terminate_workers().)
        for worker in (pool._processes or {}).values():
            worker.terminate()
        pool.shutdown(cancel_futures=True)


def _train(run: Run, root: Path, device: str, provenance: dict[str, str]) -> None:
    from empirical.training import train

    train(run, RunStore(root), device=device, provenance=provenance)


def _end_with_parent(parent: int) -> None:
    """Ends this process when its parent is gone: a killed sweep leaves nobody training behind its back."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
