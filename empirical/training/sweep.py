"""Many runs: by processes of this machine, or on a Ray cluster (cluster.py), one group of runs at a time in each."""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from itertools import groupby
from pathlib import Path

from empirical.model.backend import Backend
from empirical.runs.run import Run
from empirical.runs.store import RunStore
from theory.system.errors import LengthgenError
from theory.system.files import sweep_partial
from theory.system.processes import interrupts_left, pool
from theory.system.userfile import user_code

Group = tuple[Run, ...]
Provenance = Mapping[str, Mapping[str, str]]
"""Run id -> what is added to its environment.json."""
Engine = Callable[[Sequence[Group], Path, Backend, Provenance], Iterator[tuple[Group, str | None]]]
"""(groups, root of the store, backend, provenance) -> each group as it ends, with what went wrong, if anything."""


MOST_PARAMETERS_TOGETHER = 200_000_000
"""Trained numbers of models that are trained together: with their optimiser 5 GB."""


class SweepError(LengthgenError):
    """Not all runs came to their end; one line says which and what to do."""


def train_all(
    runs: Sequence[Run],
    store: RunStore,
    *,
    backend: Backend,
    provenance: Provenance,
    engine: Engine | None = None,
    on_done: Callable[[Group], None] = lambda group: None,
) -> None:
    """Trains every run that is not finished; `on_done` is called for each group as it ends.

    Raises:
        BackendError: this machine, if it is to train, has no such backend.
        SweepError: runs that did not come to their end, after all others did; or a worker was killed. What had
            finished is stored, what was under way goes on from its checkpoint another time.
    """
    store.remove_leftovers()
    waiting = [run for run in runs if not store.finished(run)]
    failures = []
    engine = engine or local
    try:
        for group, error in engine(groups(waiting, store, workers(backend)), store.root, backend, provenance):
            if error:
                failures.append(error)
            on_done(group)
    finally:
        sweep_partial(store.root)  # what workers were writing when they were ended
    if failures:
        raise SweepError(f"not all of {len(waiting)} runs came to their end: {'; '.join(failures)}")


def workers(backend: Backend) -> int:
    """Processes of this machine: one a core, or one for the GPU."""
    return 1 if backend.is_cuda else os.cpu_count() or 1


def groups(runs: Sequence[Run], store: RunStore, workers: int) -> list[Group]:
    """Runs that differ in their seed alone, in groups small enough to keep all workers busy and to fit into memory.

    What was begun together stays together: its state is that of all.
    """
    left = {run.id: run for run in runs}
    found: list[Group] = []
    for group in store.resumable():
        if len(group) > 1 and any(run.id in left for run in group):
            found.append(group)
            for run in group:
                left.pop(run.id, None)
    alike = [tuple(same) for _, same in groupby(left.values(), key=lambda run: run.group)]
    largest = max(1, math.ceil(len(left) / (2 * workers)))
    return found + [part for same in alike for part in _parts(same, min(largest, _fitting(same[0])))]


def _fitting(run: Run) -> int:
    """How many models of a run's size are trained together at most."""
    return max(1, MOST_PARAMETERS_TOGETHER // run.model.parameters)


def _parts(runs: Group, largest: int) -> Iterator[Group]:
    """The runs in parts of nearly the same size."""
    size = math.ceil(len(runs) / math.ceil(len(runs) / largest))
    return (runs[start : start + size] for start in range(0, len(runs), size))


def local(
    groups: Sequence[Group], root: Path, backend: Backend, provenance: Provenance
) -> Iterator[tuple[Group, str | None]]:
    """An `Engine`: processes of this machine. Raises BackendError if it has no such backend."""
    backend.require()
    if not groups:
        return
    with pool(min(workers(backend), len(groups))) as processes:
        with interrupts_left():
            futures = {
                processes.submit(train_group, group, root, backend, part(provenance, group)): group for group in groups
            }
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool as error:
            raise SweepError(
                "a training process was killed (out of memory?): run the same command again to go on"
            ) from error


def part(provenance: Provenance, group: Group) -> dict[str, dict[str, str]]:
    """The provenance of the runs of a group."""
    return {run.id: dict(provenance.get(run.id, {})) for run in group}


def train_group(group: Group, root: Path, backend: Backend, provenance: Provenance) -> str | None:
    """Trains a group in this process; returns what went wrong, in one line, if anything."""
    from empirical.training.train import train

    try:
        with user_code(group[0].id, error=SweepError, expected=(LengthgenError, OSError)):
            train(group, RunStore(root), backend=backend, provenance=provenance)
    except (LengthgenError, OSError) as error:  # of a user's own task or encoding: the other runs go on
        return str(error)
    return None
