"""Run claims in separate processes, each within a time limit, and store the settled results for the next time.

A stored result is used again as long as the code that its claim reads is the same, letter by letter. Claims on trained
runs are not stored: their checks take milliseconds, so they run each time, in this process, on the runs as they are
now. Without a cache, as for a user's own claims, nothing is stored and every claim has its own process.
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

from lengthgen.infrastructure.cache import UserCached, can_keep
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import seal, sweep_partial
from lengthgen.infrastructure.processes import end_with_parent, interrupts_left
from lengthgen.proofs_checks import reading, runner
from lengthgen.proofs_checks.claim import TIME_LIMIT, Claim
from lengthgen.proofs_checks.result import RESULT, Result, Verdict
from lengthgen.proofs_checks.runner import run_claim


class LedgerError(LengthgenError):
    """The claims cannot be run as asked; the message is one line."""


class Steps(Protocol):
    """Listener that is called when a claim ends."""

    def step(self, name: str) -> None:
        """Record that a claim has ended; `name` is its id and its verdict."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Claims to run, and how their code is found.

    Attributes:
        claims: the claims, in the order in which their results are wanted.
        find: id -> claim, called in another process: an importable function, or a partial of one.
        home: claim -> the file that lists it.
    """

    claims: tuple[Claim, ...]
    find: Callable[[str], Claim]
    home: Callable[[Claim], Path]


def run(
    selection: Selection,
    *,
    cache: Path | None,
    progress: Callable[[int], Steps],
    time_limit: float = TIME_LIMIT,
    fresh: bool = False,
) -> tuple[Result, ...]:
    """Run the claims that are not settled yet, in parallel; the results are in the order of the claims.

    With a cache, claims on trained runs are settled first, in this process, and never stored.

    A claim that passes its time limit, or whose process dies, is unsettled, and the others go on. Each worker stores
    the results that it settles itself, so that an interrupt loses nothing.

    `cache` is the folder of the stored results, one file per claim, or None to store nothing; `fresh` runs claims with
    a stored result again. `progress` is called with the number of claims to run; the listener that it returns is told
    of each claim that ends. Raises `LedgerError` if the limit, in seconds for each claim, is not positive.
    """
    if not time_limit > 0:
        raise LedgerError(f"the time limit must be a positive number of seconds, not {time_limit:g}")
    results: dict[str, Result] = {}
    entries = _entries(selection, cache)
    if cache is not None:
        results = {} if fresh else _stored(selection, entries)
        results |= {claim.id: run_claim(claim) for claim in selection.claims if claim.on_runs}
        if not can_keep(cache):
            cache, entries = None, {}
    waiting = [claim for claim in selection.claims if claim.id not in results]
    steps = progress(len(waiting))

    def record(result: Result) -> None:
        results[result.claim.id] = result
        steps.step(f"{result.claim.id} {result.verdict}")

    if waiting:
        try:
            _run_in_parallel(waiting, selection, entries, time_limit, record)
        finally:
            if cache is not None:
                sweep_partial(cache)  # what workers were writing when they were ended
    return tuple(results[claim.id] for claim in selection.claims)


def settled(selection: Selection, cache: Path) -> dict[str, Result]:
    """Stored results of the selection that are still valid, by claim id; nothing is run."""
    return _stored(selection, _entries(selection, cache))


def _stored(selection: Selection, entries: Mapping[str, UserCached]) -> dict[str, Result]:
    """Stored results that are still valid, by claim id; a damaged file is reported."""
    read = [(claim, entries[claim.id].recalled(RESULT)) for claim in selection.claims if claim.id in entries]
    return {claim.id: Result.from_plain(claim, plain_result) for claim, plain_result in read if plain_result}


def _entries(selection: Selection, cache: Path | None) -> dict[str, UserCached]:
    """Place of the result by claim id, where results are stored; those on trained runs are not."""
    if cache is None:
        return {}
    homes = {claim.id: selection.home(claim) for claim in selection.claims if not claim.on_runs}
    code = _code(homes.values())
    return {
        claim_id: UserCached(path=cache / f"{quote(claim_id, safe='')}.json", code=code[home], inputs=claim_id)
        for claim_id, home in homes.items()
    }


def _code(homes: Iterable[Path]) -> dict[Path, str]:
    """Home -> hash of the code that its claims read and of the code that runs them and judges their results."""
    engine = Path(runner.__file__)
    digests = reading.digests({*homes, engine})
    return {home: seal([digest, digests[engine]]) for home, digest in digests.items()}


def _run_in_parallel(
    claims: Sequence[Claim],
    selection: Selection,
    entries: Mapping[str, UserCached],
    time_limit: float,
    record: Callable[[Result], None],
) -> None:
    """Settle the claims in a pool of worker processes; all of them have ended when this returns or raises."""
    earlier_processes = multiprocessing.active_children()
    # What finds a claim is handed over at the start as well, so that its imports do not count against the limit.
    pool = ProcessPool(
        min(os.cpu_count() or 1, len(claims)),
        initializer=_start_worker,
        initargs=(selection.find,),
        context=multiprocessing.get_context("spawn"),
    )
    try:
        with interrupts_left():
            futures: dict[Future[dict[str, Any]], Claim] = {
                pool.schedule(
                    _settle,
                    (selection.find, claim.id, selection.home(claim), entries.get(claim.id)),
                    timeout=time_limit,
                ): claim
                for claim in claims
            }
        for future in as_completed(futures):
            record(_outcome(futures[future], future, time_limit))
    finally:
        pool.stop()  # type: ignore[no-untyped-call]
        # The pool takes its locks away before it ends its workers: one that is just starting would miss them aloud.
        for worker in multiprocessing.active_children():
            if worker not in earlier_processes:
                worker.terminate()
        pool.join()


def _settle(find: Callable[[str], Claim], claim_id: str, home: Path, entry: UserCached | None) -> dict[str, Any]:
    """Run a claim in a worker; store the result if it is settled and its code has not changed meanwhile."""
    result = run_claim(find(claim_id))
    plain_result = result.as_plain()
    if entry and result.verdict is not Verdict.UNSETTLED and _code([home])[home] == entry.code:
        entry.keep(plain_result)
    return plain_result


def _outcome(claim: Claim, future: Future[dict[str, Any]], time_limit: float) -> Result:
    """Result that a worker returned, or an unsettled one if it ran out of time or died."""
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


def _start_worker(_: Callable[[str], Claim]) -> None:
    """Start a worker: it ends when its parent process ends."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    assert parent.pid is not None
    end_with_parent(parent.pid)
