"""`lengthgen runs`, `evaluate` and `relation`: stored runs, listed, removed, tested again, and what they learned."""

import json
import random
import shlex
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from math import inf
from pathlib import Path
from time import monotonic, time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from lengthgen.circuits.roles import IRRELEVANT, role_labels
from lengthgen.empirical.experiment.protocol import SCALE, TEST_SAMPLES
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.digests import file_digest, versions
from lengthgen.infrastructure.errors import LengthgenError, in_any_case, nearest
from lengthgen.infrastructure.files import FullDisk, read_sealed_bytes, seal, user_cache, write_sealed_bytes
from lengthgen.paper_figs.names import short_task_names
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import columns, filled, titled
from lengthgen.terminal.options import Device, Json, Out, TestScales
from lengthgen.terminal.preconditions import require_training
from lengthgen.terminal.progress import Progress
from lengthgen.terminal.typed import parse_scales

if TYPE_CHECKING:
    from lengthgen.empirical.experiment.run import Run
    from lengthgen.empirical.experiment.store import RunStore, Stored, StoreError


def evaluate(
    run: Annotated[str, typer.Argument(help="Name of a finished run, as listed by `lengthgen runs`.")],
    test: TestScales = "1-20",
    samples: Annotated[
        int, typer.Option(min=TEST_SAMPLES.least, max=TEST_SAMPLES.most, help="Test samples at each scale.")
    ] = 1000,
    free_running: Annotated[
        bool, typer.Option("--free-running", help="Also generate freely, from the prompts alone.")
    ] = False,
    out: Out = Path("out"),
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Test a finished run at any scales, also far beyond those at which it was tested during training."""
    scales, backend = parse_scales(test, largest=SCALE.most), Backend(device)
    require_training()
    backend.require()
    answer = evaluation_answer(run, scales, samples=samples, free_running=free_running, out=out, device=device)
    show(answer, evaluation_table(answer), as_json, fails=answer["disagreements"])


def relation(
    run: Annotated[
        str, typer.Argument(help="Name of a finished run of lbpe or lbpe-sh, as listed by `lengthgen runs`.")
    ],
    test: TestScales = "1-20",
    out: Out = Path("out"),
    as_json: Json = False,
) -> None:
    """Compare the relation that a run learned with the ideal one, pair by pair."""
    scales = parse_scales(test, largest=SCALE.most)
    require_training()
    answer = relation_answer(run, scales, out=out)
    show(answer, relation_table(answer), as_json)


def runs(
    task: Annotated[str | None, typer.Option(help="List only runs of this task.")] = None,
    encoding: Annotated[str | None, typer.Option(help="List only runs of this encoding.")] = None,
    state: Annotated[
        str | None, typer.Option(help="List only runs in this state: finished, unfinished or broken.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(help="Remove this run, finished or not; may be given several times.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Test the weights of the listed runs again, and compare with their metrics.")
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="With --check: test only so many, drawn anew each time.", show_default="all"),
    ] = None,
    out: Out = Path("out"),
    as_json: Json = False,
) -> None:
    """List, filter, remove and check stored runs.

    The exit code is 0 only if no listed run is broken, and with --check if all tested weights do as stored.
    """
    if sample is not None and not check:
        raise typer.BadParameter("--sample goes with --check")
    if check:
        require_training()
    if remove:
        remove_runs(out, remove)
    answer = runs_answer(out, task=task, encoding=encoding, state=state)
    if check:
        finished = [row["name"] for row in answer["runs"] if row["state"] == "finished"]
        answer["check"] = check_answer(store_in(out), finished, sample=sample)
    show(answer, runs_table(answer), as_json, fails=answer["broken"] or (check and answer["check"]["differ"]))


OUTCOMES = {True: "generalizes", False: "does not generalize", None: "does not fit its training scales"}
"""Outcome of a run in words."""
SETTLING = 2.0
"""Seconds after a change in which the clock of a file system may give the next one the same time."""
MOST_SHOWN = 1_000
"""Largest number of runs in a printed table: the layout of more would take seconds, and nobody reads them."""
STATES = ("finished", "unfinished", "broken")
"""States of a stored run."""


def store_in(out: Path) -> "RunStore":
    """Return the store of the runs in OUT/runs, for commands that only read it.

    Raises:
        StoreError: `out` is no folder, as after a typing error; a folder without runs is an empty store.
    """
    from lengthgen.empirical.experiment.store import RunStore, StoreError

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

    All files of a finished run are checked when it is listed first, and again once one of them has changed.

    Raises:
        StoreError: the state does not exist, or `out` is no folder.
    """
    from lengthgen.empirical.experiment.store import StoreError

    state = None if state is None else in_any_case(state, STATES)
    if state is not None and state not in STATES:
        raise StoreError(f"unknown state '{state}': {nearest(state, STATES)}")
    store = store_in(out)
    rows = [*_finished_rows(store), *(_row(store, stored) for stored in store.unfinished())]
    # A task is meant with and without its file.
    matching = [
        row
        for row in rows
        if (names is None or row["name"] in names)
        and (task is None or task.casefold() in ((name := (row["task"] or "").casefold()), name.rpartition(":")[2]))
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


def remove_runs(out: Path, names: Sequence[str]) -> None:
    """Remove finished runs and unfinished trainings by name.

    Raises:
        StoreError: a run does not exist, or is trained together with others: then none is removed. Or another process
            trains it, or it cannot be removed. Or `out` is no folder.
    """
    from lengthgen.empirical.experiment.store import StoreError, removal

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


def stored_run(store: "RunStore", name: str) -> "Run":
    """Return the finished run of this name.

    Raises:
        StoreError: there is none, or it is broken.
    """
    from lengthgen.empirical.experiment.store import StoreError

    finished = store.finished_names()
    if name not in finished:
        raise _unknown("finished run", name, finished, store)
    stored = store.look(name)
    if stored.run is None:
        raise StoreError(str(stored.broken))
    return stored.run


def _unknown(kind: str, name: str, names: Sequence[str], store: "RunStore") -> "StoreError":
    """Return the error for a name that does not exist, with the nearest name."""
    from lengthgen.empirical.experiment.store import StoreError

    command = shlex.join(["lengthgen", "runs", "--out", str(store.root.parent)])
    hint = nearest(name, names, listed=f"`{command}` lists all stored runs") if names else "none is stored"
    return StoreError(f"no {kind} '{name}' in {store.root}: {hint}")


def _finished_rows(store: "RunStore") -> list[dict[str, Any]]:
    """Return the rows of all finished runs.

    Those of whole runs are kept in the user's cache, and a run of which no file has changed since is not read again.
    """
    from lengthgen.empirical.experiment.environment import experiment_code

    root = str(store.root.resolve())
    key = [root, experiment_code(), file_digest(Path(__file__)), versions()]
    path = user_cache("listings") / f"{seal(root)[:16]}.sealed"
    before = _kept_rows(path, key)
    names = store.finished_names()
    rows, kept, settled = [], {}, time() - SETTLING
    for name, change in zip(names, store.last_changes(names), strict=True):
        mark, changed_at = change or (None, inf)
        entry = before.get(name)
        if entry is None or entry[0] != mark:
            entry = [mark, _row(store, store.look(name))]
        rows.append(entry[1])
        if entry[1]["state"] == "finished" and changed_at < settled:
            kept[name] = entry
    if kept != before:
        with suppress(FullDisk, OSError):  # then the next listing takes longer
            write_sealed_bytes(path, json.dumps([key, kept]).encode())
    return rows


def _kept_rows(path: Path, key: list[Any]) -> dict[str, Any]:
    """Return what `_finished_rows` kept under this key: for each name what `last_changes` said, and the row."""
    try:
        kept_key, kept = json.loads(read_sealed_bytes(path, largest=1 << 30))
    except (OSError, LengthgenError, ValueError, TypeError):  # none, damaged, or of another form
        return {}
    return kept if kept_key == key else {}


def _row(store: "RunStore", stored: "Stored") -> dict[str, Any]:
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
        measured = {key: environment.get(key) for key in ("seconds", "peak_memory_mib")}
        row |= {
            "worst_in_training": min((exact[scale] for scale in exact if scale in run.train), default=None),
            "worst_beyond": min((exact[scale] for scale in exact if scale not in run.train), default=None),
            **{key: value if type(value) in (int, float) else None for key, value in measured.items()},
        }
    return row


def evaluation_answer(
    name: str, scales: Sequence[int], *, samples: int, free_running: bool, out: Path, device: str
) -> dict[str, Any]:
    """Return exact match and token accuracy at each scale.

    With `free_running` also those of generation from prompts alone.

    Raises:
        StoreError: the run does not exist or is broken, or `out` is no folder.
        ScaleError: as for `lengthgen.empirical.experiment.evaluation.load_trained`.
    """
    from lengthgen.empirical.experiment.evaluation import test

    store = store_in(out)
    run = stored_run(store, name)
    results = test(run, store, scales, samples=samples, running=free_running, device=device)
    return {
        "run": run.id,
        "samples": samples,
        "scales": {str(scale): row for scale, row in results.items()},
        "disagreements": sum(row.get("disagreements", 0) for row in results.values()),
    }


def check_answer(store: "RunStore", names: Sequence[str], *, sample: int | None) -> dict[str, Any]:
    """Test the weights of finished runs again, on the test data of their training, and compare with their metrics.

    With `sample` so many runs are drawn, anew each time, so that nobody knows them before.

    Returns:
        JSON: the number of runs that were tested, "differ" with the reason by name of each run whose weights say
        otherwise or cannot be tested, and the mean seconds of a run.
    """
    from lengthgen.empirical.experiment.evaluation import disagreement

    drawn = random.SystemRandom().sample(names, min(sample, len(names))) if sample else names
    runs = [stored_run(store, name) for name in drawn]
    progress, differ, started = Progress("tested again", len(runs), "runs"), {}, monotonic()
    for run in sorted(runs, key=lambda run: (str(run.task), run.id)):  # the analysis of a task is made once
        try:
            why = disagreement(run, store, device="cpu")
        except LengthgenError as error:
            why = str(error)
        if why:
            differ[run.id] = why
        progress.step(run.id)
    return {
        "tested": len(runs),
        "differ": differ,
        "seconds_each": round((monotonic() - started) / len(runs), 2) if runs else None,
    }


def relation_answer(name: str, scales: Sequence[int], *, out: Path) -> dict[str, Any]:
    """Return the number of pairs whose learned label means the ideal role, at the queries of `open_queries`.

    Raises:
        StoreError: the run does not exist or is broken, or `out` is no folder.
        LearnedRelationError: the run's encoding learns no relation.
        ScaleError: as for `lengthgen.empirical.experiment.evaluation.load_trained`.
    """
    from lengthgen.empirical.experiment.evaluation import learned_relation

    store = store_in(out)
    run = stored_run(store, name)
    setup, _, comparison = learned_relation(run, store, scales)
    names = {IRRELEVANT: "irrelevant"} | {
        label: ", ".join(f"operator {operator + 1} slot {slot}" for operator, slot in sorted(role))
        for role, label in role_labels(setup.analysis.circuit).items()
    }
    return {
        "run": run.id,
        "train": list(run.train),
        "roles": {str(label): names[label] for label in comparison.pairs},
        "meaning": {str(learned): ideal for learned, ideal in comparison.meaning.items()},
        "scales": {
            str(scale): {str(label): {"agreeing": count[0], "pairs": count[1]} for label, count in counts.items()}
            for scale, counts in comparison.scales.items()
        },
        **{
            key: {str(label): count for label, count in getattr(comparison, key).items()}
            for key in ("agreeing", "pairs")
        },
        "disagreements": [asdict(pair) for pair in comparison.disagreements],
    }


def runs_table(answer: Mapping[str, Any]) -> Group:
    """Return the stored runs: state, epochs, and worst exact match in training and beyond; broken runs are below.

    Of more than MOST_SHOWN runs the first are in the table. If no run matches the filters, the tasks and encodings of
    those that are stored.
    """
    if not answer["runs"]:
        lines = [f"none of {answer['stored']['runs']} runs matches" if answer["stored"]["runs"] else "no runs"]
        for kind in ("task", "encoding"):
            if counts := answer["stored"][kind]:
                shown = short_task_names(counts)
                names = ", ".join(f"{shown[name]} ({count})" for name, count in sorted(counts.items()))
                lines.append(f"stored runs by {kind}: {names}")
        return Group(*map(Text, lines))
    table = columns("run", "state", "epochs", "worst in training", "worst beyond", "seconds", "peak MiB")
    table.columns[0].overflow = "fold"  # a name is never cut, since other commands take it as an argument
    for row in answer["runs"][:MOST_SHOWN]:
        if row["state"] == "broken":
            table.add_row(Text(row["name"]), "broken")
            continue
        cells = [row["state"], f"{row['epochs']}/{row['of_epochs']}"]
        if row["state"] == "finished":
            formats = {"worst_in_training": ".3f", "worst_beyond": ".3f", "seconds": ".0f", "peak_memory_mib": ""}
            cells += ["-" if row[key] is None else format(row[key], form) for key, form in formats.items()]
        table.add_row(Text(row["name"]), *cells)
    broken = [f"{row['name']}: {row['reason']}" for row in answer["runs"] if row["state"] == "broken"]
    title = "1 run" if len(answer["runs"]) == 1 else f"{len(answer['runs'])} runs"
    more = len(answer["runs"]) - MOST_SHOWN
    notes = [f"and {more:,} more: choose by --task, --encoding or --state, or see --json"] if more > 0 else []
    return titled(title, table, *notes, *broken, *_checked(answer))


def _checked(answer: Mapping[str, Any]) -> list[str]:
    """Return a line for each run whose weights do not do as its metrics say, and how many were tested, if any were."""
    if "check" not in answer:
        return []
    check = answer["check"]
    differ = [f"{name}: {why}" for name, why in check["differ"].items()]
    if not check["tested"]:
        return ["no run was tested again: none is finished and whole"]
    agree = check["tested"] - len(differ)
    return [
        *differ,
        f"{agree} of {check['tested']} runs that were tested again do as stored, {check['seconds_each']:g} s each",
    ]


def evaluation_table(answer: Mapping[str, Any]) -> Group:
    """Return the exact match of one run by scale."""
    running = any("free_running" in row for row in answer["scales"].values())
    formats = {"exact_match": ".3f", "token_accuracy": ".3f"}
    formats |= {"free_running": ".3f", "disagreements": ""} if running else {}
    headings = ["scale", "exact match", "token accuracy", "free running", "disagree"][: 1 + len(formats)]
    rows = (
        [scale, *(format(row[key], form) for key, form in formats.items())] for scale, row in answer["scales"].items()
    )
    return titled(f"{answer['run']}, {answer['samples']} samples a scale", filled(headings, rows))


def relation_table(answer: Mapping[str, Any]) -> Group:
    """Return, by scale and role, the number of pairs whose learned label means the role.

    The first pairs that disagree are below.
    """
    table = columns("scale", *answer["roles"].values())
    for scale, counts in answer["scales"].items():
        of_role = (counts.get(label) for label in answer["roles"])
        trained = " (trained)" if int(scale) in answer["train"] else ""
        table.add_row(
            scale + trained, *(f"{count['agreeing']}/{count['pairs']}" if count else "-" for count in of_role)
        )
    table.add_row("all", *(f"{answer['agreeing'][label]}/{answer['pairs'][label]}" for label in answer["roles"]))
    notes = [
        f"scale {pair['scale']}, key {pair['key']}, query {pair['query']}: {answer['roles'][str(pair['ideal'])]}; "
        f"learned label {pair['learned']} means {answer['roles'][str(pair['means'])]}"
        for pair in answer["disagreements"]
    ]
    return titled(f"{answer['run']}: pairs whose learned label means their role", table, *notes)
