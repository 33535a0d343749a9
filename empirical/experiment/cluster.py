"""Sweep on a Ray cluster: an `Engine` (sweep.py) whose groups are tasks of the cluster's nodes.

Requirements: a running cluster (`ray start --head`, and `ray start --address=HEAD:6379` on each further node); the same
lengthgen with its extras `train` and `cluster` on all nodes; and a store in a folder that all nodes share, with file
locks that hold between nodes. All of it is checked on each node before training, and again by each task. Tasks and
encodings in files of the user's own are read from the caller's working folder, which must be shared as well.

Guarantees: a run is trained by one process at a time, and a finished run never again. If a process or a node dies, its
group resumes elsewhere from the last state. If a node only seems dead, its group waits until the file system
releases the node's lock. If it is released too early (NFS 4, after its lease), both nodes train: no file mixes the two,
because all files are replaced at once, and the first to finish is kept; this costs time but no run. If the lock of a
dead node is kept until the node is back (NFS 3), its group waits for it.

Ray prints into any program that uses it, and ends it when the cluster is lost; so it runs in a process of its own.
"""

import fcntl
import multiprocessing
import os
import secrets
import socket
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.environment import experiment_code
from lengthgen.empirical.experiment.sweep import Group, Job, SweepError
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.extras import how_to_install
from lengthgen.infrastructure.files import FullDisk, locked
from lengthgen.infrastructure.processes import end_with_parent, interrupts_left

RETRIES = 5
"""Restarts of a group whose process or node dies; the number is limited, as a group may kill its process every time."""
AT_ONCE = 1_000
"""Largest number of groups that Ray has at a time: its memory, and its work for each, grow with their number."""
PATIENCE = 60
"""Seconds to wait for a cluster's answer; Ray itself would wait minutes before it reports that there is none."""
LOST = "the Ray cluster was lost: run the same command again to go on"
JOINED = "joined"
"""Message of the driver process: the cluster has answered."""


@dataclass(frozen=True, kw_only=True)
class Common:
    """Facts on which a worker must agree with the caller.

    Attributes:
        root: folder of the store.
        beacon: file in the store that the caller keeps locked.
        source: hash of the project's code.
        folder: working folder, where relative paths start.
    """

    root: Path
    beacon: Path
    source: str
    folder: Path


def ray(jobs: Sequence[Job[Group]], backend: Backend) -> Iterator[tuple[Job[Group], str | None]]:
    """Engine that runs tasks of one CPU, or one GPU, on an existing Ray cluster, which RAY_ADDRESS may name.

    Raises:
        SweepError: Ray is not installed, no cluster answers, no node has such a device, or the cluster is lost; or a
            node cannot train, because it has other code, lacks a package, does not share the store's folder, or locks
            do not hold there.
    """
    if not jobs:
        return
    context = multiprocessing.get_context("spawn")
    answers, to_caller = context.Pipe(duplex=False)
    with _with_beacon(jobs[0].root.resolve()) as common:
        driver = context.Process(target=_drive_cluster, args=(to_caller, jobs, backend, common, os.getpid()))
        with interrupts_left():
            driver.start()
        to_caller.close()
        try:
            if not answers.poll(PATIENCE):
                raise SweepError(_no_cluster(f"no answer in {PATIENCE} s"))
            _receive(answers)
            for _ in jobs:
                index, error = _receive(answers)
                yield jobs[index], error
            driver.join()
        finally:
            driver.kill()  # its cluster then stops the running tasks
            driver.join()


def _receive(answers: Connection) -> Any:
    """Receive an answer of the driver process; raise it if it is an error."""
    try:
        answer = answers.recv()
    except EOFError as error:
        raise SweepError(LOST) from error
    if isinstance(answer, Exception):
        raise answer
    return answer


def _no_cluster(why: str) -> str:
    """Error message for a missing cluster."""
    address = os.environ.get("RAY_ADDRESS")
    at = f" at RAY_ADDRESS={address}" if address else ""
    return (
        f"no Ray cluster{at} ({why}): start one with  ray start --head  or name it by RAY_ADDRESS=HOST:6379, and set "
        "RAY_AUTH_MODE=token if it asks for a token"
    )


def _drive_cluster(
    answers: Connection, jobs: Sequence[Job[Group]], backend: Backend, common: Common, parent: int
) -> None:
    """Body of the driver process: send JOINED, then (index of the job, error or None) as each ends.

    An exception is sent too.
    """
    end_with_parent(parent)
    null_device = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null_device, stream)
    try:
        with _connected() as library:
            answers.send(JOINED)
            _check_nodes(library, common, backend)
            task = library.remote(num_cpus=1, num_gpus=int(backend.is_cuda), max_retries=RETRIES)(_train_on_worker)
            pending: dict[Any, int] = {}
            for index, job in enumerate(jobs):
                if len(pending) == AT_ONCE:
                    _send_next(answers, library, pending, jobs)
                pending[task.remote(job, backend, common)] = index
            while pending:
                _send_next(answers, library, pending, jobs)
    except (SweepError, FullDisk) as error:
        answers.send(error)
    except OSError:  # the daemon of Ray that this process spoke to has ended
        answers.send(SweepError(LOST))
    except Exception:
        answers.send(RuntimeError(traceback.format_exc()))


def _send_next(answers: Connection, library: Any, pending: dict[Any, int], jobs: Sequence[Job[Group]]) -> None:
    """Wait until a task of `pending` ends, which are indices of jobs by task; remove it, and send index and outcome."""
    [finished_task], _ = library.wait(list(pending), num_returns=1)
    index = pending.pop(finished_task)
    answers.send((index, _outcome(library, finished_task, jobs[index])))


@contextmanager
def _connected() -> Iterator[Any]:
    """Connection to the cluster, as one of its clients."""
    try:
        import ray as library
    except ModuleNotFoundError as error:
        raise SweepError(f"--engine ray needs Ray: {how_to_install('cluster')}") from error
    try:
        library.init(address="auto", log_to_driver=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise SweepError(_no_cluster(_summary(error))) from error
    try:
        yield library
    finally:
        library.shutdown()


@contextmanager
def _with_beacon(root: Path) -> Iterator[Common]:
    """Lock a beacon file: a worker that sees it shares the folder, and one that finds it locked shares the locks."""
    beacon = root / ".locks" / f"sweep-{secrets.token_hex(8)}"
    with locked(beacon, "sweeps"):
        try:
            yield Common(root=root, beacon=beacon, source=experiment_code(), folder=Path.cwd())
        finally:
            beacon.unlink(missing_ok=True)


def _check_nodes(library: Any, common: Common, backend: Backend) -> None:
    """Check on every node that may get a task whether it can train."""
    kind = "GPU" if backend.is_cuda else "CPU"
    nodes = [node for node in library.nodes() if node["Alive"] and node["Resources"].get(kind, 0) >= 1]
    if not nodes:
        raise SweepError(f"no node of the Ray cluster has a {kind}: add one with  ray start --address=HEAD:6379")
    affinity = library.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    check = library.remote(num_cpus=0)(_reason_not_to_train)
    answers = [
        (node, check.options(scheduling_strategy=affinity(node["NodeID"], soft=False)).remote(common)) for node in nodes
    ]
    for node, answer in answers:
        try:
            problem = library.get(answer)
        except library.exceptions.RayError as error:
            problem = f"{_summary(error)} (all nodes need the same lengthgen, with its extras train and cluster)"
        if problem:
            raise SweepError(f"node {node['NodeManagerAddress']} of the Ray cluster cannot train: {problem}")


def _reason_not_to_train(common: Common) -> str | None:
    """Check, on a worker, whether it can train; return the reason if it cannot."""
    import lengthgen.empirical.experiment.train  # noqa: F401  (its packages may be missing)

    if experiment_code() != common.source:
        return "its lengthgen is not the caller's: install the same on all nodes, and leave it while a sweep runs"
    try:
        with common.beacon.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except FileNotFoundError:
        return f"it does not share {common.root}: choose an --out that all nodes share"
    return f"locks in {common.root} do not hold between nodes: choose an --out on a file system where they do"


def _train_on_worker(job: Job[Group], backend: Backend, common: Common) -> str | None:
    """Train a group on a worker, after a check of the worker, which may have joined later."""
    _end_with_node()
    with suppress(OSError):
        os.chdir(common.folder)
    if problem := _reason_not_to_train(common):
        return f"{_run_ids(job)}: node {socket.gethostname()} cannot train: {problem}"
    return replace(job, root=common.root).failure(backend)


@cache
def _end_with_node() -> None:
    """End this worker when its node's daemon dies; Ray alone would wait until the task is done."""
    end_with_parent(os.getppid())


def _outcome(library: Any, done: Any, job: Job[Group]) -> str | None:
    """Error message of a failed task, else None. FullDisk and errors of the program itself are raised as they are."""
    try:
        problem: str | None = library.get(done)
    except library.exceptions.RayTaskError as error:
        if isinstance(error.cause, FullDisk):
            raise error.cause from None
        raise
    except library.exceptions.RayError as error:
        return f"{_run_ids(job)}: begun {RETRIES + 1} times and killed each time (out of memory?), {_summary(error)}"
    return problem


def _run_ids(job: Job[Group]) -> str:
    return ", ".join(run.id for run in job.trained)


def _summary(error: Exception) -> str:
    """Ray error, or its cause, as one short line."""
    cause = getattr(error, "cause", None) or error
    return f"{type(cause).__name__}: {str(cause).strip().splitlines()[0].partition('. ')[0]}"
