"""Training of sealed runs, each by one process of this machine; an interrupted training begins anew."""

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.runs.environment import revision
from lengthgen.empirical.runs.sealed import SealedRun
from lengthgen.empirical.training.sweep import workers
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import FullDisk, locked, write_sealed_json
from lengthgen.infrastructure.processes import interrupts_left, pool
from lengthgen.infrastructure.userfile import user_code

R = TypeVar("R", bound=SealedRun)
Train = Callable[[R, Backend], dict[str, Any]]
"""Function of a module, since it is sent to other processes: (run, backend) -> the result as JSON."""


def train_all(
    runs: Sequence[R], train: Train[R], out: Path, backend: Backend, on_done: Callable[[R], None]
) -> list[str]:
    """Train the runs without a stored result; return the error message of each that failed.

    Raises:
        BackendError: this machine lacks the backend.
        LengthgenError: a process was killed.
        FullDisk: no space is left for the results, which ends the other trainings too.
    """
    backend.require()
    missing = [run for run in runs if run.result(out) is None]
    failures: list[str] = []
    if not missing:
        return failures
    with pool(min(workers(backend), len(missing))) as processes:
        with interrupts_left():
            futures = {processes.submit(_train, run, train, out, backend): run for run in missing}
        try:
            for future in as_completed(futures):
                if error := future.result():
                    failures.append(error)
                on_done(futures[future])
        except BrokenProcessPool as error:
            raise LengthgenError(
                "a training process was killed (out of memory?): run the same command again to go on"
            ) from error
    return failures


def _train(run: R, train: Train[R], out: Path, backend: Backend) -> str | None:
    """Train one run in this process and store its result; return the error message of a failure. Raises FullDisk."""
    revision()  # of the code that trains; it may be another one when training ends
    try:
        with (
            user_code(run.name, error=LengthgenError, expected=(LengthgenError, OSError)),
            locked(run.path(out).with_suffix(".lock"), f"trains {run.name}"),
        ):
            if run.result(out) is None:
                write_sealed_json(run.path(out), train(run, backend))
    except FullDisk:  # the other runs would say the same
        raise
    except (LengthgenError, OSError) as error:  # the other runs continue
        return in_words(error)
    return None


def steps_shown(steps: int) -> list[int]:
    """Steps, from 0, whose training losses are stored: about 100, the last one included."""
    return sorted({*range(0, steps, max(1, steps // 100)), steps - 1})
