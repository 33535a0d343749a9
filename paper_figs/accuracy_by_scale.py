"""Figure of accuracy by scale for one task: every seed, and the share of seeds that solve each scale.

Success is bimodal over seeds, so a mean with a standard deviation would describe no run at all. The upper row shows
the exact match of every run (seed) and the median. The lower row shows the share of seeds that solve a scale; the
table has its exact (Clopper-Pearson) 95% interval, which depends on the count alone and is not drawn at each scale. A
scale is solved if its exact match is at or above a threshold that was fixed before training.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, sqrt
from statistics import median
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, MaxNLocator

from lengthgen.paper_figs.cells import LEVEL, CellScores, common_scales, interval, seed_columns
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import finish
from lengthgen.paper_figs.sources import Needs, Sources, model_sizes
from lengthgen.paper_figs.style import PAGE_WIDTH, Look, context, glossary, line_style, looks

_CURVES = 6
"""Largest number of curves in one panel; the marks of more curves could not be told apart."""

# Inches: height of the two panels of a format if there is one pair, and if pairs are stacked; a line of the legend.
_ALONE, _STACKED, _LEGEND = 4.0, 2.9, 0.17
_TRAINED = "0.92"
_THRESHOLD: dict[str, Any] = {"color": "0.3", "linewidth": 0.7, "linestyle": (0, (1, 2))}


def drawing(cells: Sequence[CellScores], *, train: Sequence[int], threshold: float, task: str, model: str) -> Drawing:
    """Draw one column of panels for each format: exact match above, share of seeds that solve a scale below.

    If a format has more than six encodings, further panels below show the rest. The table has one row for each format,
    encoding and scale.

    Args:
        cells: at most one for each format and encoding, all with the same scales and number of seeds.
        train: the training scales, which are shaded.
        threshold: least exact match at which a scale counts as solved.
        task: name of the task, for the title.
        model: size of the models, in words.

    Raises:
        ValueError: the cells cannot be compared (`cells.common_scales`).
        EncodingError: a cell's encoding is not an encoding.
        StyleError: one figure cannot show so many similar encodings.
    """
    common_scales(cells, train=train, threshold=threshold)
    return Drawing(
        shown=_draw(cells, train, threshold, task),
        rows=[_table_row(cell, scale, train, threshold) for cell in cells for scale in cell.scales],
        caption=_caption(cells, train, threshold, task, model),
    )


def _draw(cells: Sequence[CellScores], train: Sequence[int], threshold: float, task: str) -> Figure:
    scales = cells[0].scales
    look_of = looks(cell.encoding for cell in cells)
    columns = {panel: _panel_groups([cell for cell in cells if cell.format == panel]) for panel in _format_names(cells)}
    most = max(map(len, columns.values()))
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, most * (_ALONE if most == 1 else _STACKED)), layout="constrained")
        grid = figure.subplots(2 * most, len(columns), sharex=True, sharey=True, squeeze=False)
        for column, (panel, groups) in enumerate(columns.items()):
            for index, group in enumerate(groups):
                above, below = grid[2 * index : 2 * index + 2, column]
                part = f" ({index + 1} of {len(groups)})" if len(groups) > 1 else ""
                above.set_title(f"{task}, {panel}{part}", fontweight="bold")
                for axes, kind in ((above, "exact match"), (below, "solved")):
                    axes.set_gid(f"{kind}:{panel}:{index}")
                    _prepare_axes(axes, scales, train)
                above.axhline(threshold, **_THRESHOLD, gid="threshold")
                for place, cell in enumerate(group):
                    shift = _mark_spacing(scales, len(group), len(columns)) * (place - (len(group) - 1) / 2)
                    _draw_runs(above, cell, look_of[cell.encoding], shift)
                    _draw_shares(below, cell, look_of[cell.encoding], shift, threshold)
            below.set_xlabel("scale n")
            below.tick_params(labelbottom=True)
            for axes in grid[2 * len(groups) :, column]:
                axes.remove()
        for index in range(most):
            grid[2 * index, 0].set_ylabel("exact match")
            grid[2 * index + 1, 0].set_ylabel(f"share of {cells[0].seeds} seeds\nwith exact match ≥ {threshold:g}")
        handles: list[Artist] = [
            *(Line2D([], [], **line_style(look), label=look.label) for look in look_of.values()),
            Line2D([], [], **_THRESHOLD, label=f"threshold {threshold:g}"),
            Patch(facecolor=_TRAINED, label="training scales"),
        ]
        finish(figure, handles, line=_LEGEND, fontsize=8, handlelength=2)
    return figure


def _table_row(cell: CellScores, scale: int, train: Sequence[int], threshold: float) -> dict[str, object]:
    solved = cell.solved([scale], threshold)
    low, high = interval(solved, cell.seeds)
    return {
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
        **seed_columns(cell.exact_match[scale]),
    }


def _caption(cells: Sequence[CellScores], train: Sequence[int], threshold: float, task: str, model: str) -> str:
    look_of = looks(cell.encoding for cell in cells)
    scales, seeds = cells[0].scales, cells[0].seeds
    intervals = "; ".join(
        f"{count} of {seeds}, {low:.2f} to {high:.2f}"
        for count in range(seeds + 1)
        for low, high in [interval(count, seeds)]
    )
    parts = [
        f"Accuracy on '{task}' by scale, {scales[0]} to {scales[-1]}, at the last checkpoint, "
        f"{count_text(seeds, 'run')} "
        f"for each curve; models of {model}; training scales shaded. Above: exact match, a faint line for each run "
        f"and a marked line for their median. Below: share of runs whose exact match is at least {threshold:g}. "
        f"Clopper-Pearson {LEVEL:.0%} intervals of a share, by count: {intervals}. "
        f"Marks of one scale stand side by side. {glossary(look_of)} Number of runs that solve every training scale, "
        "and every scale:"
    ]
    for panel in _format_names(cells):
        counts = [
            f"{look_of[cell.encoding].label} {cell.solved(train, threshold)} and {cell.solved(scales, threshold)}"
            for cell in cells
            if cell.format == panel
        ]
        parts.append(f"{panel} {', '.join(counts)};")
    return " ".join(parts).removesuffix(";") + f" (of {seeds})."


def _format_names(cells: Sequence[CellScores]) -> list[str]:
    return list(dict.fromkeys(cell.format for cell in cells))


def _panel_groups(cells: Sequence[CellScores]) -> list[Sequence[CellScores]]:
    """Split the cells into as few groups of at most six as possible, of nearly equal size."""
    size = ceil(len(cells) / ceil(len(cells) / _CURVES))
    return [cells[start : start + size] for start in range(0, len(cells), size)]


def _mark_spacing(scales: Sequence[int], curves: int, columns: int) -> float:
    """Distance between the marks of neighbouring curves on the scale axis, so that equal values do not hide each other.

    It is about the printed width of a mark, and small enough to keep the marks of two scales apart.
    """
    spacing = min((later - earlier for earlier, later in pairwise(scales)), default=1)
    return min(0.8 * spacing / curves, 0.009 * columns * max(scales[-1] - scales[0], 1))


def _prepare_axes(axes: Axes, scales: Sequence[int], train: Sequence[int]) -> None:
    for first, last in _consecutive_ranges(train):
        axes.axvspan(first - 0.5, last + 0.5, color=_TRAINED, linewidth=0, zorder=0, gid="training")
    axes.set(xlim=(scales[0] - 0.6, scales[-1] + 0.6), ylim=(-0.04, 1.04), yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_locator(
        FixedLocator(scales) if len(scales) <= 10 else MaxNLocator(integer=True, steps=[1, 2, 5, 10])
    )


def _draw_runs(axes: Axes, cell: CellScores, look: Look, shift: float) -> None:
    places = [scale + shift for scale in cell.scales]
    for seed in range(cell.seeds):
        exact_match = [cell.exact_match[scale][seed] for scale in cell.scales]
        faint_style: dict[str, Any] = {
            "color": look.colour,
            "linestyle": look.line,
            "alpha": min(0.45, 1 / sqrt(cell.seeds)),
        }
        axes.plot(places, exact_match, **faint_style, linewidth=0.6, zorder=2, gid=f"seed:{cell.encoding}")
    medians = [median(cell.exact_match[scale]) for scale in cell.scales]
    axes.plot(places, medians, **line_style(look), zorder=3, gid=f"median:{cell.encoding}")


def _draw_shares(axes: Axes, cell: CellScores, look: Look, shift: float, threshold: float) -> None:
    places = [scale + shift for scale in cell.scales]
    solved = [cell.solved([scale], threshold) for scale in cell.scales]
    shares = [count / cell.seeds for count in solved]
    axes.plot(places, shares, **line_style(look), zorder=3, gid=f"share:{cell.encoding}")


def _consecutive_ranges(scales: Sequence[int]) -> list[tuple[int, int]]:
    """Ranges of consecutive scales, as (first, last)."""
    all_scales = set(scales)
    firsts = sorted(scale for scale in all_scales if scale - 1 not in all_scales)
    lasts = sorted(scale for scale in all_scales if scale + 1 not in all_scales)
    return list(zip(firsts, lasts, strict=True))


def _parity_figure(sources: Sources) -> Drawing:
    protocol, model = sources.protocol("fig1"), model_sizes(sources.models("fig1")[0])
    [(task, cells)] = sources.cells("fig1").items()
    return drawing(cells, train=protocol.train, threshold=protocol.profile.evaluation.threshold, task=task, model=model)


FIGURES = (
    Entry(
        place=150,
        name="parity-seeds",
        title="Accuracy on Parity by scale, all runs",
        make=_parity_figure,
        needs=Needs(protocols=("fig1",)),
        least_width=PAGE_WIDTH,
    ),
)
