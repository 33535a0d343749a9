"""Do more runs generalize if filler looks like the text of long samples? Lines of the tables in README.md.

At the root of the project, PYTHONPATH=. python docs/results/varied-filler/shares.py.
"""

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from empirical.statistics.e_values import Estimand

RECORD = Path(__file__).parent
FIG2 = RECORD.parent / "quick-until-decided" / "fig2"
RANDOM_ENCODINGS = ("rpe", "rope")
Cells = Mapping[tuple[str, str], Mapping[str, Any]]
"""Task and encoding -> cell of a trial."""


def filled_cells(folder: Path) -> Cells:
    """Return the cells with filled operands of a recorded trial."""
    trial = json.loads((folder / "conjecture.json").read_text(encoding="utf-8"))
    return {(cell["task"], cell["encoding"]): cell for cell in trial["cells"] if cell["format"] == "filled"}


def share(cell: Mapping[str, Any]) -> str:
    """Return how many of the fitting runs of a cell generalize."""
    counts = cell["generalizes_given_fit"]
    return f"{counts['successes']} of {counts['trials']}"


def named_lines() -> list[str]:
    """Return a line for each cell of a named task: its shares with the usual and with varied filler, and verdicts."""
    usual, varied = filled_cells(FIG2), filled_cells(RECORD / "mixed")
    return [
        f"| {task} | {encoding} | {share(usual[task, encoding])}, {usual[task, encoding]['verdict']} | {share(cell)}, "
        f"{cell['verdict']} |"
        for (task, encoding), cell in varied.items()
    ]


def random_lines() -> list[str]:
    """Return a line for each encoding of the random tasks: shares, tasks with the larger share for either, e-value."""
    usual, varied = (filled_cells(RECORD / f"random-{filler}") for filler in ("usual", "varied"))
    lines = []
    for encoding in RANDOM_ENCODINGS:
        tasks = [task for task, other in varied if other == encoding]
        counts = [[cells[task, encoding]["generalizes_given_fit"] for task in tasks] for cells in (usual, varied)]
        totals = [
            f"{sum(each['successes'] for each in cells)} of {sum(each['trials'] for each in cells)}" for cells in counts
        ]
        differences = [
            Fraction(new["successes"], new["trials"]) - Fraction(old["successes"], old["trials"])
            for old, new in zip(*counts, strict=True)
            if old["trials"] and new["trials"]
        ]
        larger, smaller = (sum(sign * difference > 0 for difference in differences) for sign in (1, -1))
        evidence = Estimand.MAJORITY.evidence(larger, larger + smaller).above
        lines.append(f"| {encoding} | {' | '.join(totals)} | {larger} | {smaller} | {evidence:.3g} |")
    return lines


if __name__ == "__main__":
    for table in (named_lines(), random_lines()):
        print("\n".join([*table, ""]))
