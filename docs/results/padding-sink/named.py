"""Do runs of named tasks miss padding where operands are long? Lines of two tables.

PYTHONPATH=. python docs/results/padding-sink/named.py OUT, at the root of the project: tests the finished runs of both
protocols beside this file in OUT on samples with padding added and left out (a few seconds a run), as
docs/results/verdict/sink.py does for random tasks, writes named.parquet, and prints the lines.
"""

import runpy
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from empirical.runs.protocol import load_protocol
from empirical.runs.run import Run
from empirical.runs.store import RunStore
from empirical.statistics.e_values import Estimand
from empirical.training.testing import load_trained
from empirical.trial.frozen import stored_runs
from empirical.verdict.tables import read_rows, write_rows

RECORD = Path(__file__).parent
STORED = RECORD / "named.parquet"
PROTOCOLS: Mapping[str, str] = {"base-four": "quick", "decimal": "paper"}
"""Protocol beside this file -> its profile."""
PREDICTED = (("long, PADs added", "long"), ("long, PADs added", "long, symbols added"))
"""Pairs of changes; predicted is that of the runs that solve only one of the two, most solve the first."""
SINK = runpy.run_path(str(RECORD.parent / "verdict" / "sink.py"))
"""What is changed in samples, and what solving them means."""


def planned(out: Path | None = None) -> list[Run]:
    """Return the runs whose seeds derive from what was frozen in a folder; without one, in the record."""
    return [
        run
        for name, profile in PROTOCOLS.items()
        for runs in stored_runs(load_protocol(str(RECORD / f"{name}.toml"), profile), out or RECORD).values()
        for run in runs
    ]


def asked(out: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each finished run: its name, its task, and the share of right samples after each change."""
    store = RunStore(out / "runs")
    for run in planned(out):
        if store.finished(run):
            setup, decoder = load_trained(run, store, run.test, "cpu")
            yield {"run": run.id, "task": run.task.words} | SINK["tested"](decoder, setup.geometry, setup)


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


def _by_task(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {task: [row for row in rows if row["task"] == task] for task in sorted({row["task"] for row in rows})}


if __name__ == "__main__":
    write_rows(STORED, list(asked(Path(sys.argv[1]))))
    print("\n".join([*change_lines(read_rows(STORED)), "", *predicted_lines(read_rows(STORED))]))
