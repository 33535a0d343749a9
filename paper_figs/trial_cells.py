"""The judged cells of a trial (empirical/trial/trial.py) as its figures show them: in one order, under short names."""

from collections.abc import Mapping
from typing import Any

from paper_figs.style import look

Trial = Mapping[str, Any]
Judged = Mapping[str, Any]


def main_cells(trial: Trial) -> list[Judged]:
    """Those of the trial's main model size, in the order of the protocol."""
    return [cell for cell in trial["cells"] if cell["size"] == trial["main"]["size"]]


def task_of(cell: Judged, *, formats: bool) -> str:
    """Its task without its file, and its format where the trial has several."""
    name = cell["task"].rpartition(":")[2]
    return f"{name}, {cell['format']}" if formats else name


def several_formats(cells: list[Judged]) -> bool:
    """Whether a task's name alone does not say which cells are meant."""
    return len({cell["format"] for cell in cells}) > 1


def label_of(cell: Judged) -> str:
    """What figures call its encoding."""
    return look(cell["encoding"]).label


def said(answer: bool | None) -> str:
    """Yes, no, or a dash."""
    return {True: "yes", False: "no", None: "-"}[answer]


def of_runs(share: Mapping[str, Any]) -> str:
    """4/5."""
    return f"{share['successes']}/{share['trials']}"


def judged_how(trial: Trial) -> str:
    """How the runs were read: one clause of a caption."""
    main = trial["main"]
    return f"models {main['size']}, {main['checkpoint']} checkpoint, a scale solved from {main['threshold']:g} on"
