"""Stored runs: list, filter and remove."""

import shlex
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore, Stored, StoreError, removal
from lengthgen.infrastructure.errors import in_any_case, nearest

STATES = ("finished", "unfinished", "broken")
"""States of a stored run."""


def store_in(out: Path) -> RunStore:
    """Return the store of the runs in OUT/runs, for commands that only read it.

    Raises:
        StoreError: `out` is no folder, as after a typing error; a folder without runs is an empty store.
    """
    if not out.is_dir():
        what = "is no folder" if out.exists() else "does not exist"
        raise StoreError(f"{out} {what}, so no runs are stored in it: give the --out with which they were trained")
    return RunStore(out / "runs")


def runs_answer(
    out: Path,
    *,
    names: Container[str] | None = None,
    task: str | None = None,
    encoding: str | None = None,
    state: str | None = None,
) -> dict[str, Any]:
    """Return the runs in OUT/runs that match the filters: each run's state, and its results if it is finished.

    Filters are read in any case; a task of a user's file is meant with and without the file.

    A number is None if it is unknown: the run's environment lacks it, or no scale is of that kind. "stored" counts all
    runs in the folder, and those that are not broken by task and by encoding, whatever the filters are.

    Raises:
        StoreError: the state does not exist, or `out` is no folder.
    """
    state = None if state is None else in_any_case(state, STATES)
    if state is not None and state not in STATES:
        raise StoreError(f"unknown state '{state}': {nearest(state, STATES)}")
    store = store_in(out)
    rows = [_row(store, stored) for stored in store.contents()]
    matching = [
        row
        for row in rows
        if (names is None or row["name"] in names)
        and (task is None or _is_named(row["task"] or "", task))
        and (encoding is None or (row["encoding"] or "").casefold() == encoding.casefold())
        and (state is None or row["state"] == state)
    ]
    readable = [row for row in rows if row["state"] != "broken"]
    return {
        "runs": matching,
        "broken": sum(row["state"] == "broken" for row in matching),
        "stored": {"runs": len(rows)}
        | {key: dict(Counter(row[key] for row in readable)) for key in ("task", "encoding")},
    }


def _is_named(task: str, text: str) -> bool:
    """True if a text means this task: by its whole name, or without the file."""
    return text.casefold() in (task.casefold(), task.rpartition(":")[2].casefold())


def remove_runs(out: Path, names: Sequence[str]) -> None:
    """Remove finished runs and unfinished trainings by name.

    Raises:
        StoreError: a run does not exist, or is trained together with others: then none is removed. Or another process
            trains it, or it cannot be removed. Or `out` is no folder.
    """
    store = store_in(out)
    removable = store.removable()
    group_of = {run.id: store.state_path(runs).parent.name for runs, _ in store.notes() for run in runs}
    for name in names:
        if name in group_of and name not in removable:
            command = removal(store.root, group_of[name])
            raise StoreError(f"{name} is trained together with others: remove them all ({command})")
        if name not in removable:
            raise _unknown("run", name, removable, store)
    for name in names:
        store.remove(name)


def stored_run(store: RunStore, name: str) -> Run:
    """Return the finished run of this name.

    Raises:
        StoreError: there is none, or it is broken.
    """
    finished = store.finished_names()
    if name not in finished:
        raise _unknown("finished run", name, finished, store)
    stored = store.look(name)
    if stored.run is None:
        raise StoreError(str(stored.broken))
    return stored.run


def _unknown(kind: str, name: str, names: Sequence[str], store: RunStore) -> StoreError:
    """Return the error for a name that does not exist, with the nearest name."""
    command = shlex.join(["lengthgen", "runs", "--out", str(store.root.parent)])
    hint = nearest(name, names, listed=f"`{command}` lists all stored runs") if names else "none is stored"
    return StoreError(f"no {kind} '{name}' in {store.root}: {hint}")


def _row(store: RunStore, stored: Stored) -> dict[str, Any]:
    """Return one run as a row of the answer."""
    run = stored.run
    row: dict[str, Any] = {
        "name": stored.name,
        "state": "broken" if run is None else "finished" if stored.done is None else "unfinished",
        "reason": stored.broken,
        "task": run and run.task.name,
        "format": run and run.task.format,
        "encoding": run and run.encoding,
        "epochs": None if run is None else run.training.epochs if stored.done is None else stored.done,
        "of_epochs": run and run.training.epochs,
    }
    if run is not None and stored.done is None:
        exact, environment = store.final_exact_match(run), store.environment(run)
        row |= {
            "worst_in_training": min((exact[scale] for scale in exact if scale in run.train), default=None),
            "worst_beyond": min((exact[scale] for scale in exact if scale not in run.train), default=None),
            "seconds": _number(environment, "seconds"),
            "peak_memory_mib": _number(environment, "peak_memory_mib"),
        }
    return row


def _number(environment: Mapping[str, Any], key: str) -> float | None:
    """Return a number of the run's environment; None if it is missing."""
    value = environment.get(key)
    return value if type(value) in (int, float) else None
