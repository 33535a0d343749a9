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
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from lengthgen.empirical.experiment.environment import revision
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.sealed import SealedRun
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import FullDisk, locked, sweep_partial, write_sealed_json
from lengthgen.infrastructure.processes import interrupts_left, pool
from lengthgen.infrastructure.userfile import user_code

Group = tuple[Run, ...]
Provenance = Mapping[str, Mapping[str, str]]
"""Run id -> entries added to its environment.json."""
Engine = Callable[[Sequence[Group], Path, Backend, Provenance], Iterator[tuple[Group, str | None]]]
"""(groups, root of the store, backend, provenance) -> each group when it ends, with an error message or None."""
J = TypeVar("J")
R = TypeVar("R")
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


def done_by(processes: ProcessPoolExecutor, jobs: Mapping[J, Callable[[], R]]) -> Iterator[tuple[J, R]]:
    """Yield each job's name and answer when a process has done it. Raises SweepError if a process was killed."""
    with interrupts_left():
        futures = {processes.submit(work): name for name, work in jobs.items()}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise SweepError(
            "a training process was killed (out of memory?): run the same command again to go on"
        ) from error


def failure(name: str, work: Callable[[], None]) -> str | None:
    """Do a job in this process; return the error message of a failure, else None. Raises FullDisk."""
    try:
        with user_code(name, error=SweepError, expected=(LengthgenError, OSError)):
            work()
    except FullDisk:  # the other jobs would say the same
        raise
    except (LengthgenError, OSError) as error:  # an error in a user's own code: other jobs continue
        return in_words(error)
    return None


def train_all(
    runs: Sequence[Run],
    store: RunStore,
    *,
    backend: Backend,
    provenance: Provenance,
    engine: Engine | None = None,
    on_done: Callable[[Group], None] = lambda group: None,
) -> None:
    """Train every unfinished run; `on_done` is called for each group as it ends.

    Raises:
        BackendError: this machine is to train and lacks the backend.
        SweepError: some runs failed, raised after all others ended; or a worker was killed. Finished runs are stored;
            the others resume from their states next time.
        FullDisk: no space is left for the results, which ends the other trainings too.
    """
    store.remove_leftovers()
    unfinished = [run for run in runs if not store.finished(run)]
    failures = []
    engine = engine or local
    try:
        for group, error in engine(groups(unfinished, store, workers(backend)), store.root, backend, provenance):
            if error:
                failures.append(error)
            on_done(group)
    finally:
        sweep_partial(store.root)  # half-written files of killed workers
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


def local(
    groups: Sequence[Group], root: Path, backend: Backend, provenance: Provenance
) -> Iterator[tuple[Group, str | None]]:
    """Engine that trains by processes of this machine. Raises BackendError if it lacks the backend."""
    with staying(backend, root) as engine:
        yield from engine(groups, root, backend, provenance)


@contextmanager
def staying(backend: Backend, root: Path) -> Iterator[Engine]:
    """Context manager for the engine `local` whose processes stay from one call to the next, as they start slowly."""
    try:
        with pool(workers(backend)) as processes:  # each starts when there is work for it
            yield partial(trained_by, processes)
    finally:
        sweep_partial(root)  # half-written files of killed processes


def trained_by(
    processes: ProcessPoolExecutor, groups: Sequence[Group], root: Path, backend: Backend, provenance: Provenance
) -> Iterator[tuple[Group, str | None]]:
    """Yield each group when a process has trained it, as an engine does. Raises BackendError as `local`."""
    backend.require()
    jobs = {group: partial(train_group, group, root, backend, part(provenance, group)) for group in groups}
    yield from done_by(processes, jobs)


def part(provenance: Provenance, group: Group) -> dict[str, dict[str, str]]:
    """Provenance of the runs of a group."""
    return {run.id: dict(provenance.get(run.id, {})) for run in group}


def train_group(group: Group, root: Path, backend: Backend, provenance: Provenance) -> str | None:
    """Train a group in this process; answer and errors as for `failure`."""
    from lengthgen.empirical.experiment.train import train

    return failure(group[0].id, partial(train, group, RunStore(root), backend=backend, provenance=provenance))


def train_sealed(runs: Sequence[S], out: Path, backend: Backend, on_done: Callable[[S], None]) -> list[str]:
    """Train the sealed runs without a stored result; return the error message of each that failed.

    Raises:
        BackendError: this machine lacks the backend.
        SweepError: a process was killed.
        FullDisk: no space is left for the results, which ends the other trainings too.
    """
    backend.require()
    jobs = {run: partial(_train_sealed, run, out, backend) for run in runs if run.result(out) is None}
    failures = []
    with pool(max(1, min(workers(backend), len(jobs)))) as processes:
        for run, error in done_by(processes, jobs):
            if error:
                failures.append(error)
            on_done(run)
    return failures


def _train_sealed(run: SealedRun, out: Path, backend: Backend) -> str | None:
    """Train one sealed run in this process and store its result; answer and errors as for `failure`."""
    revision()  # of the code that trains; it may be another one when training ends

    def work() -> None:
        with locked(run.path(out).with_suffix(".lock"), f"trains {run.name}"):
            if run.result(out) is None:
                write_sealed_json(run.path(out), run.train(out, backend))

    return failure(run.name, work)
