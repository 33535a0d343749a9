"""Stored runs: listed, filtered, removed."""

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from empirical.runs.run import Run
from empirical.runs.store import RunStore, Stored, StoreError
from theory.system.errors import nearest

STATES = ("finished", "unfinished", "broken")


def runs_answer(
    out: Path,
    *,
    names: Container[str] | None = None,
    task: str | None = None,
    encoding: str | None = None,
    state: str | None = None,
) -> dict[str, Any]:
    """What lies in OUT/runs, all of it or what fits: each run's state, and what it reached when it is finished.

    A number that is not known (a run's environment lacks it, or no scale is of that kind) is None.

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
    """Removes finished runs and unfinished trainings by name.

    Raises:
        StoreError: no such run, or it is trained together with others: none is removed then. Or another process trains
            it, or it cannot be removed.
    """
    store = RunStore(out / "runs")
    known = store.removable()
    together = {run.id: store.state_path(runs).parent.name for runs, _ in store.notes() for run in runs}
    for name in names:
        if name in together and name not in known:
            raise StoreError(f"{name} is trained together with others: remove them all by --remove {together[name]}")
        if name not in known:
            raise _unknown("run", name, known, store)
    for name in names:
        store.remove(name)


def stored_run(store: RunStore, name: str) -> Run:
    """The finished run of this name.

    Raises:
        StoreError: there is none, or it is broken.
    """
    known = store.finished_names()
    if name not in known:
        raise _unknown("finished run", name, known, store)
    found = store.look(name)
    if found.run is None:
        raise StoreError(str(found.broken))
    return found.run


def _unknown(kind: str, name: str, known: Sequence[str], store: RunStore) -> StoreError:
    hint = nearest(name, known, otherwise="`lengthgen runs` lists all that are there")
    return StoreError(f"no {kind} '{name}' in {store.root}: {hint}")


def _row(store: RunStore, one: Stored) -> dict[str, Any]:
    run = one.run
    row: dict[str, Any] = {
        "name": one.name,
        "state": "broken" if run is None else "finished" if one.done is None else "unfinished",
        "reason": one.broken,
        "task": run and run.task.name,
        "format": run and run.task.format,
        "encoding": run and run.encoding,
        "epochs": None if run is None else run.training.epochs if one.done is None else one.done,
        "of_epochs": run and run.training.epochs,
    }
    if run is not None and one.done is None:
        exact, environment = store.final_exact_match(run), store.environment(run)
        row |= {
            "worst_in_training": min((exact[scale] for scale in exact if scale in run.train), default=None),
            "worst_beyond": min((exact[scale] for scale in exact if scale not in run.train), default=None),
            "seconds": _number(environment, "seconds"),
            "peak_memory_mib": _number(environment, "peak_memory_mib"),
        }
    return row


def _number(environment: Mapping[str, Any], key: str) -> float | None:
    value = environment.get(key)
    return value if type(value) in (int, float) else None
