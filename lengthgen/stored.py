"""Stored runs: listed, filtered, removed."""

from collections.abc import Container, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from empirical.run import Run
from empirical.store import RunStore, Stored, StoreError

STATES = ("finished", "unfinished", "broken")


def runs_answer(
    out: Path,
    *,
    names: Container[str] | None = None,
    task: str | None = None,
    encoding: str | None = None,
    state: str | None = None,
) -> dict[str, Any]:
    """What lies in OUT/runs, all of it or what fits: of each run its state, and when it is finished what it reached.

    Raises:
        StoreError: no such state.
    """
    if state is not None and state not in STATES:
        raise StoreError(f"unknown state '{state}': choose one of {', '.join(STATES)}")
    store = RunStore(out / "runs")
    rows = [_row(store, one) for one in store.contents()]
    shown = [
        row
        for row in rows
        if (names is None or row["name"] in names)
        and (task is None or row["task"] == task)
        and (encoding is None or row["encoding"] == encoding)
        and (state is None or row["state"] == state)
    ]
    return {"runs": shown, "broken": sum(row["state"] == "broken" for row in shown)}


def removed(out: Path, names: Sequence[str]) -> None:
    """Removes runs by name, finished or not.

    Raises:
        StoreError: no such run; none is removed then.
    """
    store = RunStore(out / "runs")
    known = [one.name for one in store.contents()]
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            raise StoreError(f"no run '{name}' in {store.root}{f': did you mean {close[0]}?' if close else ''}")
    for name in names:
        store.remove(name)


def stored_run(store: RunStore, name: str) -> Run:
    """The finished run of this name.

    Raises:
        StoreError: there is none, or it is broken.
    """
    known = {one.name: one for one in store.contents() if one.done is None}
    if name not in known:
        close = get_close_matches(name, known, n=1)
        raise StoreError(f"no finished run '{name}' in {store.root}{f': did you mean {close[0]}?' if close else ''}")
    run = known[name].run
    if run is None:
        raise StoreError(str(known[name].broken))
    return run


def _row(store: RunStore, one: Stored) -> dict[str, Any]:
    run = one.run
    row: dict[str, Any] = {
        "name": one.name,
        "state": "broken" if run is None else "finished" if one.done is None else "unfinished",
        "reason": one.broken,
        "task": run and run.task,
        "format": run and run.format,
        "encoding": run and run.encoding,
        "epochs": None if run is None else run.training.epochs if one.done is None else one.done,
        "of_epochs": run and run.training.epochs,
    }
    if run is not None and one.done is None:
        exact, environment = store.final_exact_match(run), store.environment(run)
        row |= {
            "worst_in_training": min(exact[scale] for scale in run.train),
            "worst_beyond": min(exact[scale] for scale in set(run.test) - set(run.train)),
            "seconds": environment["seconds"],
            "peak_memory_mib": environment["peak_memory_mib"],
        }
    return row
