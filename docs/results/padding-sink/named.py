"""Do runs of named tasks miss padding where operands are long? Lines of four tables.

PYTHONPATH=. python docs/results/padding-sink/named.py, at the root of the project, prints them from named.parquet. The
runs were asked by this file at revision 096b51a, as those of random tasks (docs/results/verdict/counts.py).
"""

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.judge import Estimand
from lengthgen.empirical.experiment.protocol import load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.tables import read_rows
from lengthgen.empirical.trial.frozen import stored_runs
from lengthgen.empirical.trial.record import read_record

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
COUNTS = runpy.run_path(str(RECORD.parent / "verdict" / "counts.py"))
"""What is changed in samples, and what solving them means."""


def planned(out: Path | None = None) -> list[Run]:
    """Return the runs whose seeds derive from what was frozen in a folder; without one, in the record."""
    return [
        run
        for name, profile in ASKED.items()
        for runs in stored_runs(load_protocol(str(RECORD / f"{name}.toml"), profile), out or RECORD).values()
        for run in runs
    ]


def change_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each task and change: runs that solve it, and the mean share of right samples."""
    return [f"| {task} {line}" for task, own in _by_task(rows).items() for line in COUNTS["change_lines"](own)]


def predicted_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each task and prediction: runs that solve only the first, only the second, and the e-value."""
    lines = []
    for task, own in _by_task(rows).items():
        for first, second in PREDICTED:
            solved = [(COUNTS["solves"](row, first), COUNTS["solves"](row, second)) for row in own]
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
        failing = [row for row in own if COUNTS["SHORT"] < row["first_failure"] <= COUNTS["LONG"]]
        for kind, some in (("none", False), ("some", True)):
            of_kind = [row for row in failing if (row["wrong_in_training"] > 0) == some]
            repaired = [sum(COUNTS["solves"](row, change) for row in of_kind) for change in ("long, PADs added", EACH)]
            scales = ", ".join(str(scale) for scale in sorted(row["first_failure"] for row in of_kind))
            lines.append(f"| {task} | {kind} | {len(of_kind)} | {repaired[0]} | {repaired[1]} | {scales} |")
    return lines


def wide_lines() -> list[str]:
    """Return a line for each task of the wide protocol: runs that fit and solve the scales, e-value, failing scales."""
    lines = []
    for cell in read_record(RECORD / WIDE).judged():
        failures = cell.outcome.failures
        solved = sum(failure is None or failure > COUNTS["LONG"] for failure in failures)
        e_value = Estimand.MAJORITY.evidence(solved, len(failures)).above
        scales = ", ".join(str(scale) for scale in sorted(filter(None, failures)))
        lines.append(f"| {cell.key.task} | {solved} of {len(failures)} | {e_value:.3g} | {scales} |")
    return lines


def _by_task(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {task: [row for row in rows if row["task"] == task] for task in sorted({row["task"] for row in rows})}


if __name__ == "__main__":
    stored = read_rows(STORED)
    for table in (change_lines(stored), predicted_lines(stored), cause_lines(stored), wide_lines()):
        print("\n".join([*table, ""]))
