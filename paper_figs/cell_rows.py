"""Layout of figures with a row for each cell of a trial: encodings as names, gathered by task and format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengthgen.paper_figs.saving import Undrawable
from lengthgen.paper_figs.style import SMALLEST_TEXT, TALLEST, Look
from lengthgen.paper_figs.trial_cells import StoredCell, task_names

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
