"""Run claims in processes of their own, each within a time limit, and keep what they settled for the next time.

A settled result is believed as long as the code that its claim reads is the same, letter by letter. Claims on trained
runs are no such claims: their checks take milliseconds, so that they run each time, here, on the runs as they are now.
Without a cache, as for a user's own claims, nothing is kept and every claim has its process.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from pebble import ProcessExpired, ProcessPool

from proofs_checks import reading, runner
from proofs_checks.claim import Claim
from proofs_checks.runner import Result, Verdict, run_claim
from theory.system.errors import LengthgenError
from theory.system.files import DamagedFile, read_sealed_json, seal, sweep_partial, write_sealed_json
from theory.system.messages import tell
from theory.system.processes import end_with_parent, interrupts_left


class LedgerError(LengthgenError):
    """The claims cannot be run as asked; the message is one line."""


class Steps(Protocol):
    """Listener that hears of each claim that ends."""

    def step(self, name: str) -> None:
        """One more has ended: its id and its verdict."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Claims to run, and how their code is found.

    Attributes:
        claims: in the order in which their results are wanted.
        find: id -> claim, in another process: what can be imported there, or a partial of it.
        home: claim -> the file that lists it.
    """

    claims: tuple[Claim, ...]
    find: Callable[[str], Claim]
    home: Callable[[Claim], Path]


@dataclass(frozen=True, kw_only=True)
class _Kept:
    """Place and key of a stored result, with the file that lists its claim and the code that this reads."""

    home: Path
    code: str
    place: Path
    key: str


@dataclass(frozen=True, kw_only=True)
class _Task:
    """A claim as a worker is told of it; `kept` is None where its result is not stored."""

    find: Callable[[str], Claim]
    claim_id: str
    kept: _Kept | None


def run(
    selection: Selection,
    *,
    cache: Path | None,
    progress: Callable[[int], Steps],
    time_limit: float = runner.TIME_LIMIT,
    fresh: bool = False,
) -> tuple[Result, ...]:
    """Run the claims that are not settled yet, beside each other; the results are in the order of the claims.

    With a cache, claims on runs are settled first, in this process, and never stored.

    A claim that passes its limit, or whose process dies, is unsettled, and the others go on.  What is settled is
    stored by the process that found it, so that an interrupt loses nothing.

    Args:
        selection: the claims.
        cache: folder of the stored results, one file a claim; None to store nothing.
        progress: called with the number of claims to run; told of each as it ends.
        time_limit: seconds for each claim.
        fresh: run what is stored as well.

    Raises:
        LedgerError: for a limit that is not positive, and for a folder that cannot be written.
    """
    if not time_limit > 0:
        raise LedgerError(f"the time limit must be a positive number of seconds, not {time_limit:g}")
    if cache is None:
        tasks = {claim.id: _Task(find=selection.find, claim_id=claim.id, kept=None) for claim in selection.claims}
        results = {}
    else:
        _make_writable(cache)
        tasks = _tasks(selection, cache)
        results = {} if fresh else _settled(selection, tasks)
        results |= {claim.id: run_claim(claim) for claim in selection.claims if claim.on_runs}
    waiting = [claim for claim in selection.claims if claim.id not in results]
    steps = progress(len(waiting))

    def keep(result: Result) -> None:
        results[result.claim.id] = result
        steps.step(f"{result.claim.id} {result.verdict}")

    if waiting:
        try:
            _run_beside(waiting, tasks, time_limit, keep)
        finally:
            if cache is not None:
                sweep_partial(cache)  # what workers were writing when they were ended
    return tuple(results[claim.id] for claim in selection.claims)


def settled(selection: Selection, cache: Path) -> dict[str, Result]:
    """Stored results of the selection that are still to be believed, by id; nothing is run."""
    return _settled(selection, _tasks(selection, cache))


def _settled(selection: Selection, tasks: Mapping[str, _Task]) -> dict[str, Result]:
    stored = {
        claim.id: _stored(claim, kept)
        for claim in selection.claims
        if claim.id in tasks and (kept := tasks[claim.id].kept)
    }
    return {claim_id: result for claim_id, result in stored.items() if result}


def _tasks(selection: Selection, cache: Path) -> dict[str, _Task]:
    """Tasks of the claims that are proved; those on runs are neither run in a worker nor stored."""
    homes = {claim.id: selection.home(claim) for claim in selection.claims if not claim.on_runs}
    code = _code(homes.values())
    versions = reading.versions()
    return {
        claim_id: _Task(
            find=selection.find,
            claim_id=claim_id,
            kept=_Kept(
                home=home,
                code=code[home],
                place=cache / f"{quote(claim_id, safe='')}.json",
                key=seal([claim_id, code[home], versions]),
            ),
        )
        for claim_id, home in homes.items()
    }


def _code(homes: Iterable[Path]) -> dict[Path, str]:
    """Home -> hash of what its claims read, and of what runs them and reaches their verdicts."""
    engine = Path(runner.__file__)
    digests = reading.digests({*homes, engine})
    return {home: seal([digest, digests[engine]]) for home, digest in digests.items()}


def _run_beside(
    claims: Sequence[Claim], tasks: Mapping[str, _Task], time_limit: float, keep: Callable[[Result], None]
) -> None:
    """Settle the claims; in every case all processes have ended."""
    others = multiprocessing.active_children()
    # A task is handed over at the start as well, so that what finding a claim imports does not count against the limit.
    pool = ProcessPool(
        min(os.cpu_count() or 1, len(claims)),
        initializer=_begin,
        initargs=(tasks[claims[0].id],),
        context=multiprocessing.get_context("spawn"),
    )
    try:
        with interrupts_left():
            futures: dict[Future[dict[str, Any]], Claim] = {
                pool.schedule(_settle, (tasks[claim.id],), timeout=time_limit): claim for claim in claims
            }
        for future in as_completed(futures):
            keep(_outcome(futures[future], future, time_limit))
    finally:
        pool.stop()  # type: ignore[no-untyped-call]
        # The pool takes its locks away before it ends its workers: one that is just starting would miss them aloud.
        for worker in multiprocessing.active_children():
            if worker not in others:
                worker.terminate()
        pool.join()


def _settle(task: _Task) -> dict[str, Any]:
    """In a worker: run a claim, and store its result if that is settled and its code has not changed meanwhile."""
    result, kept = run_claim(task.find(task.claim_id)), task.kept
    plain = result.as_plain()
    if kept and result.verdict is not Verdict.UNSETTLED and _code([kept.home])[kept.home] == kept.code:
        write_sealed_json(kept.place, {"key": kept.key, "result": plain})
    return plain


def _outcome(claim: Claim, future: Future[dict[str, Any]], time_limit: float) -> Result:
    try:
        return Result.from_plain(claim, future.result())
    except TimeoutError:
        return Result.cut_short(claim, f"passed its time limit of {time_limit:g} s", time_limit)
    except ProcessExpired as death:
        code = death.exitcode
        how = f"by signal {-code}, out of memory perhaps" if code < 0 else f"with exit code {code}"
        return Result.cut_short(claim, f"its process ended before the check did, {how}", 0.0)
    except BrokenProcessPool:
        return Result.cut_short(claim, "its process ended before the check began", 0.0)


def _begin(_: _Task) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    assert parent.pid is not None
    end_with_parent(parent.pid)


def _stored(claim: Claim, kept: _Kept) -> Result | None:
    """The result stored under this key, if it is whole; a damaged file is named and not believed."""
    try:
        entry = read_sealed_json(kept.place)
        return Result.from_plain(claim, entry["result"]) if entry["key"] == kept.key else None
    except FileNotFoundError:
        return None
    except (DamagedFile, ValueError, KeyError, TypeError):
        tell(f"{kept.place} was damaged and is made again")
        return None


def _make_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(f"results cannot be kept in {folder} ({error.strerror}): set XDG_CACHE_HOME") from error
    if not os.access(folder, os.W_OK):
        raise LedgerError(f"results cannot be kept in {folder}, which cannot be written: set XDG_CACHE_HOME")
