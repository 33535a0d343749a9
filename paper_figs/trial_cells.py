"""The judged cells of a trial (empirical/trial/trial.py) as its figures show them: in one order, under short names."""

from collections.abc import Callable, Mapping, Sequence
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
    """The cells of the trial's main model size, in the order of the protocol."""
    return [cell for cell in trial["cells"] if cell["size"] == trial["main"]["size"]]


def task_names(cells: Sequence[Judged]) -> list[str]:
    """The task of each cell without its file, and with its format where the cells have several."""
    several = len({cell["format"] for cell in cells}) > 1
    return [cell["task"].rpartition(":")[2] + (f", {cell['format']}" if several else "") for cell in cells]


def key_of(cell: Judged) -> dict[str, object]:
    """The columns that say in tables which cell is meant."""
    return {key: cell[key] for key in ("task", "format", "encoding")}


def gid_of(cell: Judged) -> str:
    """The part of an artist's gid that says which cell it shows."""
    return f"{cell['task']}:{cell['format']}:{cell['encoding']}"


def label_of(cell: Judged) -> str:
    """The name of its encoding in figures."""
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
