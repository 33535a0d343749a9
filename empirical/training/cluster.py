"""A sweep on a Ray cluster: an `Engine` (sweep.py) whose groups are tasks of the cluster's nodes.

What it needs: a cluster that runs (`ray start --head`, and `ray start --address=HEAD:6379` on each further node); the
same lengthgen with its extras `train` and `cluster` on all nodes; and a store in a folder that all nodes share, whose
locks hold between them. All of it is tested on each node before anything is trained, and again by each task. Tasks and
encodings in files of the user's own are read from the caller's working folder, which must be shared as well.

What follows: a run is trained by one process at a time, and a finished one never again. If a process or a node dies,
its group goes on elsewhere from the last checkpoint. If a node is only thought dead, its lock keeps the group waiting
as long as the file system keeps that lock. Where that lets go of it too early (NFS 4, after its lease) both train: no
file is ever half of each, since all are replaced whole, and the first to finish is kept; time is lost, no run. Where
the lock of a dead node is kept until the node is back (NFS 3), its group waits for it.

Ray prints into any program that uses it, and ends it when the cluster is lost; so what uses it is a process of its own.
"""

import fcntl
import multiprocessing
import os
import secrets
import socket
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from empirical.model.backend import Backend
from empirical.training.sweep import Group, Provenance, SweepError, part, train_group
from theory.system.digests import source_digest
from theory.system.files import locked
from theory.system.processes import end_with_parent, interrupts_left

RETRIES = 5
"""How often a group is begun again when its process or node dies; one that kills its process each time must end."""
PATIENCE = 60
"""Seconds for a cluster to answer; Ray itself would take some minutes to find that there is none."""
JOINED = "joined"


@dataclass(frozen=True, kw_only=True)
class Common:
    """What a worker must have in common with the caller.

    Attributes:
        root: of the store.
        beacon: a file in it that the caller holds a lock of.
        source: hash of the project's code.
        folder: where relative paths start.
    """

    root: Path
    beacon: Path
    source: str
    folder: Path


def ray(
    groups: Sequence[Group], root: Path, backend: Backend, provenance: Provenance
) -> Iterator[tuple[Group, str | None]]:
    """An `Engine`: tasks of one CPU, or one GPU, on an existing Ray cluster, which RAY_ADDRESS may name.

    Raises:
        SweepError: Ray is not installed, no cluster answers, no node has such a device, or a node cannot train: it has
            other code or lacks a package, it does not share the store's folder, or locks do not hold there; or the
            cluster is lost.
    """
    if not groups:
        return
    context = multiprocessing.get_context("spawn")
    answers, sending = context.Pipe(duplex=False)
    with _common(root.resolve()) as common:
        arguments = (sending, groups, backend, provenance, common, os.getpid())
        driver = context.Process(target=_drive, args=arguments)
        with interrupts_left():
            driver.start()
        sending.close()
        try:
            if not answers.poll(PATIENCE):
                raise SweepError(_no_cluster(f"no answer in {PATIENCE} s"))
            _next(answers)
            for _ in groups:
                index, error = _next(answers)
                yield groups[index], error
            driver.join()
        finally:
            driver.kill()  # then its cluster stops what it has under way
            driver.join()


def _next(answers: Connection) -> Any:
    try:
        answer = answers.recv()
    except EOFError as error:
        raise SweepError("the Ray cluster was lost: run the same command again to go on") from error
    if isinstance(answer, Exception):
        raise answer
    return answer


def _no_cluster(why: str) -> str:
    address = os.environ.get("RAY_ADDRESS")
    at = f" at RAY_ADDRESS={address}" if address else ""
    return (
        f"no Ray cluster{at} ({why}): start one with  ray start --head  or name it by RAY_ADDRESS=HOST:6379, and set "
        "RAY_AUTH_MODE=token if it asks for a token"
    )


def _drive(
    answers: Connection, groups: Sequence[Group], backend: Backend, provenance: Provenance, common: Common, parent: int
) -> None:
    """In a process of its own: sends JOINED, then (number of the group, what went wrong) as each ends; or an error."""
    end_with_parent(parent)
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    try:
        with _connected() as library:
            answers.send(JOINED)
            _ask_nodes(library, common, backend)
            task = library.remote(num_cpus=1, num_gpus=int(backend.is_cuda), max_retries=RETRIES)(_train)
            waiting = {
                task.remote(group, backend, part(provenance, group), common): index
                for index, group in enumerate(groups)
            }
            while waiting:
                [done], _ = library.wait(list(waiting), num_returns=1)
                index = waiting.pop(done)
                answers.send((index, _outcome(library, done, groups[index])))
    except SweepError as error:
        answers.send(error)
    except Exception:
        answers.send(RuntimeError(traceback.format_exc()))


@contextmanager
def _connected() -> Iterator[Any]:
    """Ray, as one who uses the cluster."""
    try:
        import ray as library
    except ModuleNotFoundError as error:
        raise SweepError("--engine ray needs Ray: pip install 'lengthgen[cluster]'") from error
    try:
        library.init(address="auto", log_to_driver=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise SweepError(_no_cluster(_line(error))) from error
    try:
        yield library
    finally:
        library.shutdown()


@contextmanager
def _common(root: Path) -> Iterator[Common]:
    """With a beacon: who sees it shares the folder, and who finds it locked shares the locks."""
    beacon = root / ".locks" / f"sweep-{secrets.token_hex(8)}"
    with locked(beacon):
        try:
            yield Common(root=root, beacon=beacon, source=_source(), folder=Path.cwd())
        finally:
            beacon.unlink(missing_ok=True)


@cache
def _source() -> str:
    """Hash of the code by which this process trains: of the files as they are when it is first asked."""
    return source_digest("theory", "circuits", "empirical")


def _ask_nodes(library: Any, common: Common, backend: Backend) -> None:
    """Asks every node that may be given a task whether it can train."""
    kind = "GPU" if backend.is_cuda else "CPU"
    nodes = [node for node in library.nodes() if node["Alive"] and node["Resources"].get(kind, 0) >= 1]
    if not nodes:
        raise SweepError(f"no node of the Ray cluster has a {kind}: add one with  ray start --address=HEAD:6379")
    at = library.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    ask = library.remote(num_cpus=0)(_unable)
    answers = [(node, ask.options(scheduling_strategy=at(node["NodeID"], soft=False)).remote(common)) for node in nodes]
    for node, answer in answers:
        try:
            problem = library.get(answer)
        except library.exceptions.RayError as error:
            problem = f"{_line(error)} (all nodes need the same lengthgen[train,cluster])"
        if problem:
            raise SweepError(f"node {node['NodeManagerAddress']} of the Ray cluster cannot train: {problem}")


def _unable(common: Common) -> str | None:
    """On a worker: why it cannot train, if so."""
    import empirical.training.train  # noqa: F401  (whose packages may be missing)

    if _source() != common.source:
        return "its lengthgen is not the caller's: install the same on all nodes, and leave it while a sweep runs"
    try:
        with common.beacon.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except FileNotFoundError:
        return f"it does not share {common.root}: choose an --out that all nodes share"
    return f"locks in {common.root} do not hold between nodes: choose an --out on a file system where they do"


def _train(group: Group, backend: Backend, provenance: Provenance, common: Common) -> str | None:
    """On a worker: `train_group`, if the worker can, which one that joined later may not."""
    _end_with_node()
    with suppress(OSError):
        os.chdir(common.folder)
    if problem := _unable(common):
        return f"{_names(group)}: node {socket.gethostname()} cannot train: {problem}"
    return train_group(group, common.root, backend, provenance)


@cache
def _end_with_node() -> None:
    """Ends this worker when its node's daemon is gone, which Ray alone does only once the task is done."""
    end_with_parent(os.getppid())


def _outcome(library: Any, done: Any, group: Group) -> str | None:
    """What went wrong with a task, in one line, if anything. An error of the program itself is raised as it is."""
    try:
        problem: str | None = library.get(done)
    except library.exceptions.RayTaskError:
        raise
    except library.exceptions.RayError as error:
        return f"{_names(group)}: begun {RETRIES + 1} times and killed each time (out of memory?), {_line(error)}"
    return problem


def _names(group: Group) -> str:
    return ", ".join(run.id for run in group)


def _line(error: Exception) -> str:
    """An error of Ray, or what caused it, in one short line."""
    cause = getattr(error, "cause", None) or error
    return f"{type(cause).__name__}: {str(cause).strip().splitlines()[0].partition('. ')[0]}"
