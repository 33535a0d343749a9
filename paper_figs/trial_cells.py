"""Judged cells of a trial (empirical/trial/trial.py), and rows of cells gathered by task, for its figures.

A trial is the content of a conjecture.json: for each cell (task, format, encoding) the prediction, the runs and the
verdict. Here are the cells of the main model size in order, their short names, the declaration of a figure that every
protocol has, and the layout of a figure with a row for each cell.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Protocol

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengthgen.paper_figs.declaration import Family, each_protocol
from lengthgen.paper_figs.names import short_task_names
from lengthgen.paper_figs.saving import Drawing, Undrawable
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.paper_figs.style import SMALLEST_TEXT, TALLEST, Look, look

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


# Inches: height of a row, space between tasks, and the widths of the names of tasks and of encodings.
_LINE, _BETWEEN = 0.12, 0.05
_TASKS, _ENCODINGS = 1.15, 0.95
_TASK_CHARACTERS = 20
_BOLD, _PLAIN = 0.045, 0.04
"""Inches: width of a character of a task and of an encoding."""


@dataclass(frozen=True, kw_only=True)
class CellRows:
    """Rows of cells, those of one task and format together.

    Attributes:
        cells: the cells in the order of the rows.
        tasks: name of the task of each row.
        width: width of the figure, in inches.
    """

    cells: tuple[StoredCell, ...]
    tasks: tuple[str, ...]
    width: float

    @classmethod
    def of(cls, cells: Sequence[StoredCell], width: float, *, around: float) -> "CellRows":
        """Gather the cells by task; `around` is the height of everything above and below the rows, in inches.

        Raises:
            Undrawable: the rows do not fit a page.
        """
        order = list(dict.fromkeys(task_names(cells)))
        pairs = sorted(zip(task_names(cells), cells, strict=True), key=lambda pair: order.index(pair[0]))
        rows = cls(cells=tuple(cell for _, cell in pairs), tasks=tuple(task for task, _ in pairs), width=width)
        if rows.height + around > TALLEST:
            raise Undrawable(
                f"{len(cells)} cells do not fit a page: choose some of them with --trial, and --task or --encoding"
            )
        return rows

    @property
    def names(self) -> float:
        """Width of the names beside the rows, in inches."""
        return min(_TASKS + _ENCODINGS, 0.42 * self.width)

    @property
    def height(self) -> float:
        """Height of all rows, in inches."""
        return _LINE * len(self.cells) + _BETWEEN * len(set(self.tasks))

    @property
    def places(self) -> list[float]:
        """Distance of the middle of each row from the top, in inches."""
        order = list(dict.fromkeys(self.tasks))
        return [_LINE * (line + 0.5) + _BETWEEN * (order.index(task) + 0.5) for line, task in enumerate(self.tasks)]

    def prepare(self, axes: Axes) -> None:
        """Set the y axis in inches from the top, without ticks, and draw a faint line between two tasks."""
        axes.set(ylim=(max(self.height, _LINE), 0), yticks=[])
        axes.spines["left"].set_visible(False)
        for above, below, place in zip(self.tasks, self.tasks[1:], self.places[1:], strict=False):
            if above != below:
                axes.axhline(place - (_LINE + _BETWEEN) / 2, color="0.85", linewidth=0.5, zorder=0)

    def write_names(self, figure: Figure, look_of: Mapping[str, Look], *, top: float) -> None:
        """Write the names of tasks and encodings left of the rows, which begin `top` inches below the upper edge."""
        height = figure.get_figheight()

        def write(text: str, x: float, place: float, **style: Any) -> None:
            figure.text(
                x / self.width, 1 - (top + place) / height, text, va="center_baseline", parse_math=False, **style
            )

        longest = max((len(look_of[cell["encoding"]].label) for cell in self.cells), default=0)
        characters = max(8, int((self.names - 0.16 - _PLAIN * longest) / _BOLD))
        for cell, place in zip(self.cells, self.places, strict=True):
            write(look_of[cell["encoding"]].label, self.names - 0.08, place, ha="right", fontsize=SMALLEST_TEXT)
        for task in dict.fromkeys(self.tasks):
            places = [place for place, name in zip(self.places, self.tasks, strict=True) if name == task]
            name, comma, form = task.partition(", ")
            parts = [f"{name},", form] if comma and len(places) > 1 and len(task) > _TASK_CHARACTERS else [task]
            lines = parts if max(map(len, parts)) <= characters else wrap(task, characters)
            most = len(places) + 1  # a line is lower than a row
            shown = lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][: characters - 3]}..."]
            write("\n".join(shown), 0.04, sum(places) / len(places), fontsize=7, fontweight="bold", linespacing=0.95)
