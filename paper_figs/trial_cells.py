"""The judged cells of a trial (empirical/trial/trial.py) as its figures show them: in one order, under short names."""

from collections.abc import Callable, Mapping
from typing import Any

from empirical.runs.protocol import Protocol
from paper_figs.declaration import Family, each_protocol
from paper_figs.saving import Drawing
from paper_figs.sources import Sources
from paper_figs.style import look

Trial = Mapping[str, Any]
Judged = Mapping[str, Any]
TrialDrawing = Callable[[Trial, Protocol, float], Drawing]
"""The drawing of (trial, its protocol, width in inches)."""


def trial_figure(kind: str, title: str, drawing: TrialDrawing, *, place: int, least_width: float = 0.0) -> Family:
    """A figure of the trial of every protocol. Arguments as `paper_figs.declaration.each_protocol`."""

    def make(sources: Sources, *, protocol: str) -> Drawing:
        return drawing(sources.trial(protocol), sources.protocol(protocol), sources.width)

    return each_protocol(kind, title, make, place=place, trial=True, least_width=least_width)


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
