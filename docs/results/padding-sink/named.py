"""Do runs of named tasks miss padding where operands are long? Lines of four tables.

PYTHONPATH=. python docs/results/padding-sink/named.py OUT, at the root of the project: tests the finished runs of the
protocols in ASKED in OUT on samples with padding added and left out (a few seconds a run), as
docs/results/verdict/sink.py does for random tasks, writes named.parquet, and prints the lines.
"""

import runpy
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lengthgen.circuits.formats import PAD
from lengthgen.empirical.experiment.ensemble import Setup
from lengthgen.empirical.experiment.evaluation import load_trained, teacher_forced
from lengthgen.empirical.experiment.judge import Estimand
from lengthgen.empirical.experiment.protocol import load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.samples import TEST
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.trial.frozen import stored_runs
from lengthgen.empirical.verdict.tables import read_rows, write_rows
from lengthgen.infrastructure.files import read_sealed_json

RECORD = Path(__file__).parent
STORED = RECORD / "named.parquet"
ASKED: Mapping[str, str] = {"base-four": "quick", "decimal": "paper"}
"""Protocol beside this file -> its profile."""
WIDE = "wide"
"""Protocol whose operands are padded further than to the largest scale that counts."""
PREDICTED = (("long, PADs added", "long"), ("long, PADs added", "long, symbols added"))
"""Pairs of changes; predicted is that of the runs that solve only one of the two, most solve the first."""
EACH = "long, PADs added after each operand"
"""Change that came after the predictions."""
SINK = runpy.run_path(str(RECORD.parent / "verdict" / "sink.py"))
"""What is changed in samples, and what solving them means."""


def planned(out: Path | None = None) -> list[Run]:
    """Return the runs whose seeds derive from what was frozen in a folder; without one, in the record."""
    return [
        run
        for name, profile in ASKED.items()
        for runs in stored_runs(load_protocol(str(RECORD / f"{name}.toml"), profile), out or RECORD).values()
        for run in runs
    ]


def asked(out: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each finished run.

    It has the run's name and task, the share of right samples after each change, the first scale that is not solved
    (one more than the last one, if all are), and the mean share of wrong samples at the scales of training.
    """
    store = RunStore(out / "runs")
    for run in planned(out):
        if not store.finished(run):
            continue
        setup, decoder = load_trained(run, store, run.test, "cpu")
        shares = store.final_exact_match(run)
        failed = [scale for scale in sorted(shares) if shares[scale] < run.evaluation.threshold]
        yield {
            "run": run.id,
            "task": run.task.words,
            "first_failure": min([*failed, run.test[-1] + 1]),
            "wrong_in_training": 1 - float(np.mean([shares[scale] for scale in run.train])),
            EACH: padded_after_each(decoder, setup),
        } | SINK["tested"](decoder, setup.geometry, setup)


def padded_after_each(decoder: Decoder, setup: Setup) -> float:
    """Return the share of right samples of the largest scale that counts, with PADs added after each operand."""
    data = setup.examples([SINK["LONG"]], SINK["SAMPLES"], split=TEST, seed=0)
    is_pad = (data.tokens == setup.task.alphabet.index(PAD)).all(axis=0)
    ends = np.flatnonzero(is_pad & ~np.append(is_pad[1:], False))
    places = np.sort(np.append(np.arange(len(is_pad)), np.repeat(ends, SINK["ADDED"])))
    added = np.append(False, places[1:] == places[:-1])
    (right,) = teacher_forced(decoder, *SINK["rearranged"](setup.geometry, data, places, added))
    return float(right.all(axis=1).mean())


def change_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each task and change: runs that solve it, and the mean share of right samples."""
    return [f"| {task} {line}" for task, own in _by_task(rows).items() for line in SINK["change_lines"](own)]


def predicted_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each task and prediction: runs that solve only the first, only the second, and the e-value."""
    lines = []
    for task, own in _by_task(rows).items():
        for first, second in PREDICTED:
            solved = [(SINK["solves"](row, first), SINK["solves"](row, second)) for row in own]
            for_it, against = solved.count((True, False)), solved.count((False, True))
            e_value = Estimand.MAJORITY.evidence(for_it, for_it + against).above
            lines.append(f"| {task} | {first} | {second} | {for_it} | {against} | {e_value:.3g} |")
    return lines


def cause_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each task and kind of failing run, without and with a wrong sample at the scales of training.

    It has their number, how many solve long samples with PADs added, and their first failing scales.
    """
    lines = []
    for task, own in _by_task(rows).items():
        failing = [row for row in own if SINK["SHORT"] < row["first_failure"] <= SINK["LONG"]]
        for kind, some in (("none", False), ("some", True)):
            of_kind = [row for row in failing if (row["wrong_in_training"] > 0) == some]
            repaired = [sum(SINK["solves"](row, change) for row in of_kind) for change in ("long, PADs added", EACH)]
            scales = ", ".join(str(scale) for scale in sorted(row["first_failure"] for row in of_kind))
            lines.append(f"| {task} | {kind} | {len(of_kind)} | {repaired[0]} | {repaired[1]} | {scales} |")
    return lines


def wide_lines() -> list[str]:
    """Return a line for each task of the wide protocol: runs that fit and solve the scales, e-value, failing scales."""
    lines = []
    for cell in read_sealed_json(RECORD / WIDE / "conjecture.json")["cells"]:
        failures = [run["first_failure"] for run in cell["outcomes"] if run["fits"]]
        solved = sum(failure is None or failure > SINK["LONG"] for failure in failures)
        e_value = Estimand.MAJORITY.evidence(solved, len(failures)).above
        scales = ", ".join(str(scale) for scale in sorted(filter(None, failures)))
        lines.append(f"| {cell['task']} | {solved} of {len(failures)} | {e_value:.3g} | {scales} |")
    return lines


def _by_task(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {task: [row for row in rows if row["task"] == task] for task in sorted({row["task"] for row in rows})}


if __name__ == "__main__":
    write_rows(STORED, list(asked(Path(sys.argv[1]))))
    stored = read_rows(STORED)
    for table in (change_lines(stored), predicted_lines(stored), cause_lines(stored), wide_lines()):
        print("\n".join([*table, ""]))
