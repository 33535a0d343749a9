"""Accuracy by scale: exact match of every seed, and the share of seeds that solve a scale with its exact interval.

Success is bimodal over seeds, so a mean with a standard deviation would describe no run at all. The upper row shows
the runs themselves and their median; the lower row shows P(a seed solves the scale), solved being exact match at or
above a threshold fixed before training, with Clopper-Pearson 95% intervals.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, MaxNLocator

from paper_figs.cells import LEVEL, Cell, common_scales, interval
from paper_figs.style import PAGE_WIDTH, Look, context, look

__all__ = ["Cell", "caption", "draw", "rows"]

_HEIGHT = 4.2
_TRAINED = "0.92"


def draw(cells: Sequence[Cell], *, train: Sequence[int], threshold: float, task: str) -> Figure:
    """The figure: a column for each format, exact match above, the share of seeds that solve a scale below.

    Args:
        cells: at most one for each format and encoding, all with the same scales and number of seeds.
        train: the training scales, which are shaded.
        threshold: exact match from which on a scale counts as solved.
        task: name, for the heading.

    Raises:
        ValueError: cells that cannot be compared (`cells.common_scales`), or an encoding without a look.
    """
    scales = common_scales(cells, train=train, threshold=threshold)
    formats, encodings = _unique(cell.format for cell in cells), _unique(cell.encoding for cell in cells)
    dodge = _dodge(scales, len(encodings))
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, _HEIGHT), layout="constrained")
        grid = figure.subplots(2, len(formats), sharex=True, sharey=True, squeeze=False)
        for column, panel in enumerate(formats):
            above, below = grid[:, column]
            above.set_title(f"{task}, {panel}", fontweight="bold")
            below.set_xlabel("scale n")
            for axes, kind in ((above, "exact match"), (below, "solved")):
                axes.set_gid(f"{kind}:{panel}")
                _ground(axes, scales, train)
            above.axhline(threshold, color="0.3", linewidth=0.7, linestyle=(0, (1, 2)), gid="threshold")
            for cell in (cell for cell in cells if cell.format == panel):
                shift = dodge * (encodings.index(cell.encoding) - (len(encodings) - 1) / 2)
                _runs(above, cell, shift)
                _shares(below, cell, shift, threshold)
        grid[0, 0].set_ylabel("exact match")
        grid[1, 0].set_ylabel(f"share of {cells[0].seeds} seeds\nwith exact match ≥ {threshold:g}")
        handles = _handles(encodings, threshold)
        figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
        # The layout is settled here, once: both file formats then show the same figure.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def rows(cells: Sequence[Cell], *, train: Sequence[int], threshold: float) -> list[dict[str, object]]:
    """What the figure shows, one row for each format, encoding and scale. Raises as `draw` does."""
    found: list[dict[str, object]] = []
    scales = common_scales(cells, train=train, threshold=threshold)
    for cell in cells:
        for scale in scales:
            solved = cell.solved([scale], threshold)
            low, high = interval(solved, cell.seeds)
            found.append(
                {
                    "format": cell.format,
                    "encoding": cell.encoding,
                    "scale": scale,
                    "training_scale": scale in train,
                    "seeds": cell.seeds,
                    "median": median(cell.exact_match[scale]),
                    "threshold": threshold,
                    "solved": solved,
                    "share": solved / cell.seeds,
                    "low": low,
                    "high": high,
                    **{f"seed_{at}": value for at, value in enumerate(cell.exact_match[scale], start=1)},
                }
            )
    return found


def caption(cells: Sequence[Cell], *, train: Sequence[int], threshold: float, task: str) -> str:
    """The caption, with the numbers that the figure shows. Raises as `draw` does."""
    scales = common_scales(cells, train=train, threshold=threshold)
    seeds = cells[0].seeds
    low, high = interval(seeds, seeds)[0], interval(0, seeds)[1]
    parts = [
        f"Accuracy on '{task}' by scale, {scales[0]} to {scales[-1]}, at the last checkpoint of {seeds} runs (seeds) a "
        f"curve; training scales shaded. Above: exact match, every seed a faint line, their median the marked one. "
        f"Below: the share of seeds whose exact match is at least {threshold:g}, with Clopper-Pearson {LEVEL:.0%} "
        f"intervals ({seeds} of {seeds} seeds: at least {low:.2f}; none: at most {high:.2f}). Marks of one scale are "
        f"set side by side. Seeds that solve every training scale, and of these every scale:"
    ]
    for panel in _unique(cell.format for cell in cells):
        counts = [
            f"{look(cell.encoding).label} {cell.solved(train, threshold)} and {cell.solved(scales, threshold)}"
            for cell in cells
            if cell.format == panel
        ]
        parts.append(f"{panel} {', '.join(counts)};")
    return " ".join(parts).removesuffix(";") + f" (of {seeds})."


def _dodge(scales: Sequence[int], encodings: int) -> float:
    """How far apart the marks of neighbouring encodings stand, so that equal values do not hide each other.

    Nearly a mark's width in print, and never so much that the marks of two scales mingle.
    """
    spacing = min((later - earlier for earlier, later in pairwise(scales)), default=1)
    return min(0.8 * spacing / encodings, 0.011 * max(scales[-1] - scales[0], 1))


def _ground(axes: Axes, scales: Sequence[int], train: Sequence[int]) -> None:
    for first, last in _spans(train):
        axes.axvspan(first - 0.5, last + 0.5, color=_TRAINED, linewidth=0, zorder=0, gid="training")
    axes.set(xlim=(scales[0] - 0.6, scales[-1] + 0.6), ylim=(-0.04, 1.04), yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_locator(
        FixedLocator(scales) if len(scales) <= 10 else MaxNLocator(integer=True, steps=[1, 2, 5, 10])
    )


def _runs(axes: Axes, cell: Cell, shift: float) -> None:
    its = look(cell.encoding)
    places = [scale + shift for scale in cell.scales]
    for seed in range(cell.seeds):
        run = [cell.exact_match[scale][seed] for scale in cell.scales]
        axes.plot(
            places,
            run,
            color=its.colour,
            linestyle=its.line,
            linewidth=0.6,
            alpha=0.45,
            zorder=2,
            gid=f"seed:{cell.encoding}",
        )
    middle = [median(cell.exact_match[scale]) for scale in cell.scales]
    axes.plot(places, middle, **_line(its), zorder=3, gid=f"median:{cell.encoding}")


def _shares(axes: Axes, cell: Cell, shift: float, threshold: float) -> None:
    its = look(cell.encoding)
    places = [scale + shift for scale in cell.scales]
    solved = [cell.solved([scale], threshold) for scale in cell.scales]
    ends = [interval(count, cell.seeds) for count in solved]
    axes.vlines(
        places, *zip(*ends, strict=True), color=its.colour, linewidth=0.8, zorder=2, gid=f"interval:{cell.encoding}"
    )
    shares = [count / cell.seeds for count in solved]
    axes.plot(places, shares, **_line(its), zorder=3, gid=f"share:{cell.encoding}")


def _line(its: Look) -> dict[str, Any]:
    return {
        "color": its.colour,
        "linestyle": its.line,
        "linewidth": 1.0,
        "marker": its.marker,
        "markersize": 3.0,
        "markeredgewidth": 0.8,
        "markerfacecolor": its.colour if its.filled else "white",
    }


def _handles(encodings: Sequence[str], threshold: float) -> list[Artist]:
    return [
        *(Line2D([], [], **_line(look(encoding)), label=look(encoding).label) for encoding in encodings),
        Line2D([], [], color="0.3", linewidth=0.7, linestyle=(0, (1, 2)), label=f"threshold {threshold:g}"),
        Patch(facecolor=_TRAINED, label="training scales"),
    ]


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _spans(scales: Sequence[int]) -> list[tuple[int, int]]:
    """The runs of neighbouring scales, as (first, last)."""
    found: list[tuple[int, int]] = []
    for scale in sorted(set(scales)):
        if found and scale == found[-1][1] + 1:
            found[-1] = (found[-1][0], scale)
        else:
            found.append((scale, scale))
    return found
