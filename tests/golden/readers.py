"""All that golden answers ask of the code: its entry points, gathered here so that a renamed module is renamed once."""

import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from lengthgen.circuits.prediction_record import RULES
from lengthgen.cli import main
from lengthgen.empirical.experiment import sweep
from lengthgen.empirical.experiment.protocol import Protocol, load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.studies.court.published.load import published_cells
from lengthgen.empirical.studies.court.trial import THRESHOLDS
from lengthgen.empirical.studies.modular_addition.conditions import load_profile as modular_profile
from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun
from lengthgen.empirical.studies.modular_addition.modular_run import outcomes as modular_outcomes
from lengthgen.empirical.studies.text.corpus import load_profile as text_profile
from lengthgen.empirical.studies.text.text_run import TextRun
from lengthgen.empirical.studies.verdict.frozen import load_frozen
from lengthgen.empirical.studies.verdict.preregistration import load_preregistration
from lengthgen.empirical.studies.verdict.runs import load_runs, run_of, seen_cells
from lengthgen.empirical.trial.conjecture import judge
from lengthgen.empirical.trial.frozen import frozen_cells, stored_runs
from lengthgen.empirical.trial.record import Record
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.proofs_checks import ledger
from tests.lengthgen.settled_here import settled_here
from tests.paper_figs import made_up
from tests.pool_here import pool_here

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PROTOCOLS = {"quick/until-decided/filled-addition-rpe": "filled-addition", "verdict/parity": "fig1"}
"""Record -> protocol, where the folder has another name."""
PAPER_SAMPLES = 1000
"""Test samples at each scale under the profile `paper`."""
Judged = dict[str, Any]
"""What is judged of a cell, in words and whole numbers."""


def call(arguments: list[str]) -> tuple[int, str, str]:
    """Return exit code, answer and messages of a command that runs in this process."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = None
    with (
        mock.patch.object(sys, "argv", ["lengthgen", *arguments]),
        mock.patch.object(ledger, "_run_in_parallel", settled_here),
        mock.patch.object(sweep, "pool", pool_here),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return code, out.getvalue(), err.getvalue()


def store_made_up_runs(folder: Path) -> None:
    """Store runs with made-up numbers, and their trial, as if they had been trained; `small` has no ideal ones."""
    made_up.sources(folder / "made")
    made_up.sources(folder / "small", made_up.PROTOCOL.replace('"ipe", ', ""))


def restore_results(out: Path) -> None:
    """Store the recorded language models and classifiers again as the results that their commands read."""
    recorded = json.loads((RESULTS / "text" / "answer.json").read_text())
    profile = text_profile(recorded["profile"])
    for name, tests in recorded["encodings"].items():
        if " under " not in name:
            run = TextRun(encoding=name, profile_name=recorded["profile"], profile=profile)
            under = {name: tests} | {
                other.removeprefix(f"{name} under "): its
                for other, its in recorded["encodings"].items()
                if other.startswith(f"{name} under ")
            }
            tested = {
                each: [{"length": int(length)} | its for length, its in of_each.items()]
                for each, of_each in under.items()
            }
            write_sealed_json(run.path(out), {**run.config, "tests": tested, "seconds": 1.0})
    for run, result in modular_results():
        path = run.path(out)
        write_sealed_json(path, result)
        write_sealed_json(path.with_suffix(".predictions.json"), {**run.config, **result["predictions"]})


def modular_results() -> Iterator[tuple[ModularRun, dict[str, Any]]]:
    """Yield every recorded run of modular addition with its result, as far as the answer of the command holds it."""
    recorded = json.loads((RESULTS / "modular-addition" / "answer.json").read_text())
    profile = modular_profile(recorded["profile"])
    for name, row in recorded["conditions"].items():
        condition, _, encoding = name.partition(" with ")
        run = ModularRun(
            condition_name=condition, profile_name=recorded["profile"], profile=profile, encoding=encoding or None
        )
        predictions = [
            {
                "evaluation": each["evaluation"],
                "why": each["why"],
                "holds": each["predicted"] == "holds",
                "holds_in_expression": each["predicted_in_expression"] == "holds",
                "unseen": 0,
                "unseen_in_expression": 0,
            }
            for each in row["evaluations"]
        ]
        measured = {key: row[key] for key in ("trained", "reference", "agreeing")}
        result = run.config | {
            "predictions": {key: row[key] for key in ("shift_invariant", "shift_invariant_why")}
            | {"evaluations": predictions},
            "predictions_sha256": row["predictions_sha256"],
            "losses_sha256": row["losses_sha256"],
            "measured": measured | {"accuracy": {each["evaluation"]: each["accuracy"] for each in row["evaluations"]}},
            "seconds": 1.0,
        }
        yield run, json.loads(json.dumps(result))


def modular_cells() -> dict[str, Judged]:
    """Return what is judged of every recorded evaluation of modular addition."""
    return {
        f"{run.name}/{each.evaluation}": {"predicted": each.predicted, "observed": each.observed, "agree": each.agree}
        for run, result in modular_results()
        for each in modular_outcomes(run, result)
    }


def text_paths(out: Path) -> dict[str, str]:
    """Return the name of the file of every recorded language model, without its hash, which the corpus changes."""
    recorded = json.loads((RESULTS / "text" / "answer.json").read_text())
    profile = text_profile(recorded["profile"])
    return {
        name: TextRun(encoding=name, profile_name=recorded["profile"], profile=profile)
        .path(out)
        .relative_to(out)
        .as_posix()
        .rpartition("-")[0]
        for name in recorded["encodings"]
        if " under " not in name
    }


def modular_paths(out: Path) -> dict[str, str]:
    """Return the name of the file of every recorded run of modular addition."""
    return {run.name: run.path(out).relative_to(out).as_posix() for run, _ in modular_results()}


def registered(name: str) -> tuple[list[tuple[str, int]], dict[str, Judged]]:
    """Return (name, seed) of every run of a preregistration, whose seeds are derived anew, and what is judged."""
    preregistration, folder = load_preregistration(name), RESULTS / "verdict" / name
    frozen = load_frozen(preregistration, folder)
    runs = load_runs(frozen, folder)
    cells = {
        each.cell.name: {"runs": each.runs, "fit": each.fit, "generalize": each.generalize, "breaks at": each.breaks_at}
        for each in seen_cells(frozen, runs)
    }
    by_name = {cell.name: cell for cell in frozen.cells}
    of_all = [run for of_cell in runs.values() for run in of_cell]
    return [(f"{run.cell} {run.index}", by_name[run.cell].seed(run.index)) for run in of_all], cells


def ids_of_registered(name: str, every: int) -> list[str]:
    """Return the ids of the first runs of every so many-th cell of a preregistration."""
    preregistration = load_preregistration(name)
    cells = load_frozen(preregistration, RESULTS / "verdict" / name).cells
    return [run_of(preregistration, cell, 0).id for cell in cells[::every]]


def protocol_of(record: Record) -> Protocol:
    """Return the protocol of a recorded trial, a file beside its folder or a built-in one, named as the folder."""
    name = PROTOCOLS.get(record.folder.relative_to(RESULTS).as_posix(), record.folder.name)
    own = [place / f"{name}.toml" for place in record.folder.parents[:2] if (place / f"{name}.toml").is_file()]
    profile = "paper" if record.runs[0].run.evaluation.samples == PAPER_SAMPLES else "quick"
    return replace(load_protocol(str(own[0]) if own else name, profile), name=record.folder.name)


def planned(record: Record, most: int) -> list[Run]:
    """Return the runs that the code plans for a recorded trial: of a frozen cell the first `most` ones."""
    protocol, out = protocol_of(record), record.folder.parent
    groups = stored_runs(protocol, out)
    frozen = frozen_cells(protocol, out, groups)
    return [run for key, runs in groups.items() for run in (frozen[key].runs(runs[0], most) if key in frozen else runs)]


def trial_cells(record: Record) -> dict[str, Judged]:
    """Judge the recorded outcomes of a trial by its recorded predictions: every rule at every mode and threshold."""
    evidence, main = record.evidence(), record.criteria
    judged: dict[str, Judged] = {}
    for rule in RULES:
        for threshold in (0.9, main.threshold):
            for each in judge(evidence, replace(main, threshold=threshold, rule=rule)):
                judged[f"{each.key} by {rule} at {threshold}"] = {
                    "predicted": each.predicted,
                    "breaks at": each.expected_break,
                    "fit": each.outcome.fit,
                    "generalize": each.outcome.generalize,
                    "first failures": [outcome.first_failure for outcome in each.outcomes],
                    "observed": each.observed,
                    "verdict": each.verdict,
                }
    return judged


def court_cells() -> Iterable[tuple[str, Judged]]:
    """Yield what is judged of every published cell at every threshold."""
    for cell in published_cells():
        for threshold in THRESHOLDS:
            outcome = cell.outcome(threshold)
            yield (
                f"{cell.name} at {threshold}",
                {
                    "fit": outcome.fit,
                    "generalize": outcome.generalize,
                    "breaks at": outcome.breaks_at,
                    "observed": outcome.observed if outcome.fit else None,
                },
            )
