"""Sweep: train many runs by processes of this machine or on a Ray cluster (cluster.py).

Runs of a store are trained in groups and resume from their states; a sealed run (sealed.py) begins anew. Either way a
failure ends one job alone, and is reported in one line.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Generic, TypeVar

from lengthgen.empirical.experiment.environment import revision
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.sealed import SealedRun
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import FullDisk, locked, write_sealed_json
from lengthgen.infrastructure.processes import interrupts_left, pool
from lengthgen.infrastructure.userfile import user_code

Group = tuple[Run, ...]
Provenance = Mapping[str, Mapping[str, str]]
"""Run id -> entries added to its environment.json."""
T = TypeVar("T")
S = TypeVar("S", bound=SealedRun)

MOST_PARAMETERS_TOGETHER = 200_000_000
"""Largest number of trainable parameters of models trained together: 5 GB with their optimiser."""
FEW = 3
"""Largest number of runs that a worker gets as one group although they are its whole share; alone each takes longer."""


class SweepError(LengthgenError):
    """Some runs were not finished; the message says which and what to do."""


def workers(backend: Backend) -> int:
    """Number of processes on this machine: one per core, or one for the GPU."""
    return 1 if backend.is_cuda else os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class Job(Generic[T]):
    """Work of one process: what it trains, and stores below a folder.

    Attributes:
        trained: runs of a group, or a sealed run.
        name: name for messages.
        root: folder of what is stored.
        work: function of a module, since it is sent to other processes: it trains and stores.
        provenance: that of the runs.
    """

    trained: T
    name: str
    root: Path
    work: Callable[["Job[T]", Backend], None]
    provenance: Provenance = field(default_factory=dict)

    def failure(self, backend: Backend) -> str | None:
        """Train in this process; return the error message of a failure, else None. Raises FullDisk."""
        try:
            with user_code(self.name, error=SweepError, expected=(LengthgenError, OSError)):
                self.work(self, backend)
        except FullDisk:  # the other jobs would say the same
            raise
        except (LengthgenError, OSError) as error:  # an error in a user's own code: other jobs continue
            return in_words(error)
        return None


def group_job(runs: Group, root: Path, provenance: Provenance) -> Job[Group]:
    """Job that trains the unfinished runs of a group in the store with this root, each from its state if it has one."""
    own = {run.id: dict(provenance.get(run.id, {})) for run in runs}
    return Job(trained=runs, name=runs[0].id, root=root, work=_train_group, provenance=own)


def _train_group(job: Job[Group], backend: Backend) -> None:
    from lengthgen.empirical.experiment.train import train

    train(job.trained, RunStore(job.root), backend=backend, provenance=job.provenance)


Engine = Callable[[Sequence[Job[Group]], Backend], Iterator[tuple[Job[Group], str | None]]]
"""(jobs, backend) -> each job when it ends, with an error message or None."""


def train_all(
    runs: Sequence[Run],
    store: RunStore,
    *,
    backend: Backend,
    provenance: Provenance,
    engine: Engine | None = None,
    on_done: Callable[[Group], None] = lambda runs: None,
) -> None:
    """Train every unfinished run; `on_done` is called with the runs of each group as it ends.

    Raises:
        SweepError: some runs failed, raised after all others ended; or a worker was killed. Finished runs are stored;
            the others resume from their states next time.
    """
    store.remove_leftovers()
    unfinished = [run for run in runs if not store.finished(run)]
    jobs = [group_job(runs, store.root, provenance) for runs in groups(unfinished, store, workers(backend))]
    failures = []
    try:
        for job, error in (engine or local)(jobs, backend):
            failures += [error] if error else []
            on_done(job.trained)
    finally:
        store.remove_half_written()
    if failures:
        raise SweepError(f"not all of {len(unfinished)} runs were finished: {'; '.join(failures)}")


def groups(runs: Sequence[Run], store: RunStore, workers: int) -> list[Group]:
    """Group runs that differ in their seed alone, small enough for memory and for several workers.

    Runs that were begun together stay together, because they share a state.
    """
    remaining = {run.id: run for run in runs}
    resumed: list[Group] = []
    for group in store.resumable():
        if len(group) > 1 and any(run.id in remaining for run in group):
            resumed.append(group)
            for run in group:
                remaining.pop(run.id, None)
    alike = [tuple(group_runs) for _, group_runs in groupby(remaining.values(), key=lambda run: run.group)]
    share = max(math.ceil(len(remaining) / (2 * workers)), min(FEW, len(remaining) // workers), 1)
    largest = len(remaining) if workers == 1 else share
    return resumed + [part for group_runs in alike for part in _split_evenly(group_runs, largest)]


def _split_evenly(runs: Group, largest: int) -> Iterator[Group]:
    """Split the runs into parts of nearly equal size, none larger than `largest` or than memory allows."""
    largest = min(largest, max(1, MOST_PARAMETERS_TOGETHER // runs[0].model.parameters))
    size = math.ceil(len(runs) / math.ceil(len(runs) / largest))
    return (runs[start : start + size] for start in range(0, len(runs), size))


def local(jobs: Sequence[Job[T]], backend: Backend) -> Iterator[tuple[Job[T], str | None]]:
    """Engine that trains by processes of this machine. Raises BackendError if it lacks the backend."""
    with pool(workers(backend)) as processes:  # each starts when there is work for it
        yield from trained_by(processes, jobs, backend)


@contextmanager
def staying(backend: Backend, store: RunStore) -> Iterator[Engine]:
    """Context manager for the engine `local` whose processes stay from one call to the next, as they start slowly."""
    try:
        with pool(workers(backend)) as processes:
            yield partial(trained_by, processes)
    finally:
        store.remove_half_written()


def trained_by(
    processes: ProcessPoolExecutor, jobs: Sequence[Job[T]], backend: Backend
) -> Iterator[tuple[Job[T], str | None]]:
    """Yield each job when a process has done it, as an engine does.

    Raises:
        SweepError: a process was killed.
    """
    backend.require()
    with interrupts_left():
        futures = {processes.submit(job.failure, backend): job for job in jobs}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise SweepError(
            "a training process was killed (out of memory?): run the same command again to go on"
        ) from error


def train_sealed(runs: Sequence[S], out: Path, backend: Backend, on_done: Callable[[S], None]) -> list[str]:
    """Train the sealed runs without a stored result; return the error message of each that failed."""
    jobs = [Job(trained=run, name=run.name, root=out, work=_train_sealed) for run in runs if run.result(out) is None]
    failures = []
    for job, error in local(jobs, backend):
        failures += [error] if error else []
        on_done(job.trained)
    return failures


def _train_sealed(job: Job[S], backend: Backend) -> None:
    """Train a sealed run, unless it has a result."""
    revision()  # of the code that trains; it may be another one when training ends
    run, path = job.trained, job.trained.path(job.root)
    with locked(path.with_suffix(".lock"), f"trains {run.name}"):
        if run.result(job.root) is None:
            write_sealed_json(path, run.train(job.root, backend))
