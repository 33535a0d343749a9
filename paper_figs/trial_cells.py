"""Judged cells of a trial (empirical/trial/trial.py), as the figures of trials need them.

A trial is the content of a conjecture.json: for each cell (task, format, encoding) the prediction, the runs and the
verdict. The helpers here give the cells of the main model size in order, their short names, and the declaration of a
figure that every protocol has.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from lengthgen.paper_figs.declaration import Family, each_protocol
from lengthgen.paper_figs.names import short_task_names
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.paper_figs.style import look

Trial = Mapping[str, Any]
"""Content of a conjecture.json."""
StoredCell = Mapping[str, Any]
"""Judged cell of a trial, as it is stored there."""


class Setting(Protocol):
    """Name and scales of a trial: a protocol, or what its file says."""

    @property
    def name(self) -> str:
        """Name of the folder of the trial."""

    @property
    def train(self) -> Sequence[int]:
        """Training scales, ascending."""

    @property
    def test(self) -> Sequence[int]:
        """Test scales, ascending."""


TrialDrawing = Callable[[Trial, Setting, float], Drawing]
"""Function that draws a trial: (trial, its name and scales, width in inches) -> drawing."""


def trial_figure(kind: str, title: str, drawing: TrialDrawing, *, place: int, least_width: float = 0.0) -> Family:
    """Declare a figure of the trial of every protocol. Arguments as in `each_protocol`."""

    def make(sources: Sources, *, protocol: str) -> Drawing:
        return drawing(sources.trial(protocol), sources.protocol(protocol), sources.width)

    return each_protocol(kind, title, make, place=place, needs=Needs(trial=True), least_width=least_width)


def main_cells(trial: Trial) -> list[StoredCell]:
    """Cells of the main model size of the trial, in the order of the protocol."""
    return [cell for cell in trial["cells"] if cell["size"] == trial["main"]["size"]]


def task_names(cells: Sequence[StoredCell]) -> list[str]:
    """Short name of the task of each cell; with its format if the cells have several formats."""
    several, names = len({cell["format"] for cell in cells}) > 1, short_task_names(cell["task"] for cell in cells)
    return [names[cell["task"]] + (f", {cell['format']}" if several else "") for cell in cells]


def key_of(cell: StoredCell) -> dict[str, object]:
    """Table columns that identify the cell: task, format and encoding."""
    return {key: cell[key] for key in ("task", "format", "encoding")}


def gid_of(cell: StoredCell) -> str:
    """Part of the gid of an artist that identifies the cell it shows."""
    return f"{cell['task']}:{cell['format']}:{cell['encoding']}"


def label_of(cell: StoredCell) -> str:
    """Label of the cell's encoding in figures."""
    return look(cell["encoding"]).label


def yes_no(answer: bool | None) -> str:
    """Return "yes", "no", or "-" for None."""
    return {True: "yes", False: "no", None: "-"}[answer]


def run_counts(share: Mapping[str, Any]) -> str:
    """Text "successes/trials" of a share of runs, such as "4/5"."""
    return f"{share['successes']}/{share['trials']}"


def main_rule(trial: Trial) -> str:
    """Rule by which a trial predicts; trials that were stored before there was a forecast predict by coverage."""
    rule: str = trial["main"].get("rule", "coverage")
    return rule


def predicting_rule(trial: Trial) -> str:
    """Clause of a caption that says by which rule cells were predicted."""
    by_rule = {
        "forecast": "by the forecast, the share of fitting runs that should generalize [F]",
        "coverage": "by equal complexity and coverage [F]",
    }
    return by_rule.get(main_rule(trial), f"by the rule {main_rule(trial)} [F]")


def predicted_text(cell: StoredCell, rule: str) -> str:
    """Prediction of a cell as text: the share that was forecast, or yes or no."""
    forecast = cell.get("forecast")
    return f"{forecast['share']:.2f}" if rule == "forecast" and forecast else yes_no(cell["predicted"])


def judging_rule(trial: Trial) -> str:
    """Clause of a caption that says how runs were judged: model size, checkpoint and threshold."""
    main = trial["main"]
    return (
        f"models {main['size']}, {main['checkpoint']} checkpoint, a scale is solved at {main['threshold']:g} or above"
    )
