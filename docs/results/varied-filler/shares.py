"""Do more runs generalize if filler looks like the text of long samples? Lines of the table in README.md.

At the root of the project, PYTHONPATH=. python docs/results/varied-filler/shares.py.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parent
FIG2 = RECORD.parent / "quick-until-decided" / "fig2"
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


if __name__ == "__main__":
    print("\n".join(named_lines()))
