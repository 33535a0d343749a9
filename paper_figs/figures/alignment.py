"""Figure 3: alignment of the operands against a scale hint.

A panel for each of a few scales shows, task by task, the exact match of every seed under both ideal encodings: IPE on
aligned data, and IPE with scale hint on unaligned data.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.figures.accuracy import median_columns, median_interval, median_text
from lengthgen.paper_figs.panels import finish
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.seed_scores import CellScores, common_scales, seed_columns
from lengthgen.paper_figs.sources import Needs, Sources, model_sizes
from lengthgen.paper_figs.style import TRAINED, Look, context, line_style, looks, starts_of_tables

SCALES = (5, 10, 15, 20)
"""Scales of Figure 3, one panel each."""
# Inches: least width of a panel; its height; width and height of panels that stand below each other.
_NARROWEST, _HEIGHT, _LONE, _FLAT = 1.5, 1.75, 1.9, 1.2
_APART, _SPREAD = 0.4, 0.1
"""Shares of the width of a task: distance between the two encodings, and half the width over which seeds spread."""

Tasks = Mapping[str, Sequence[CellScores]]
"""Map from the name of a task to its cells."""


def drawing(tasks: Tasks, *, scales: Sequence[int], train: Sequence[int], width: float, model: str) -> Drawing:
    """Draw a panel for each scale, with the runs of each format and encoding task by task.

    Each task has the same formats and encodings. `scales` are those of the panels, `width` is in inches, `model` in
    words.

    Raises:
        ValueError: the cells cannot be compared, or one of the scales has no values.
    """
    all_cells = [cell for cells in tasks.values() for cell in cells]
    for cells in tasks.values():
        measured = common_scales(cells, train=train, threshold=1.0, equal_seeds=False)
        if not set(scales) <= set(measured):
            raise ValueError(f"no values at scales {sorted(set(scales) - set(measured))}")
    look_of = looks(dict.fromkeys(cell.encoding for cell in all_cells))
    rows: list[dict[str, object]] = [
        {
            "scale": scale,
            "training_scale": scale in train,
            "task": task,
            "format": cell.format,
            "encoding": cell.encoding,
            **median_columns(cell.exact_match[scale]),
            **seed_columns(cell, scale, all_cells),
        }
        for scale in scales
        for task, cells in tasks.items()
        for cell in cells
    ]
    return Drawing(
        shown=_draw(tasks, look_of, scales, train, width),
        rows=rows,
        caption=_caption(tasks, look_of, scales, train, model),
    )


def _draw(
    tasks: Tasks, look_of: Mapping[str, Look], scales: Sequence[int], train: Sequence[int], width: float
) -> Figure:
    columns = len(scales) if width / len(scales) >= _NARROWEST else max(1, int(width / _LONE))
    lines = -(-len(scales) // columns)
    with context():
        figure = Figure(figsize=(width, lines * (_HEIGHT if columns > 1 else _FLAT)), layout="constrained")
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for axes, scale in zip(grid.flat, scales, strict=False):
            axes.set_gid(f"scale:{scale}")
            axes.set_title(f"scale {scale}" + (" (training)" if scale in train else ""), fontweight="bold", pad=3)
            if scale in train:
                axes.set_facecolor(TRAINED)
            for place, cells in enumerate(tasks.values()):
                for side, cell in enumerate(cells):
                    middle = place + _APART * (side - (len(cells) - 1) / 2)
                    _draw_runs(axes, cell, scale, look_of[cell.encoding], middle)
            axes.set(xlim=(-0.6, len(tasks) - 0.4), ylim=(-0.05, 1.05), yticks=[0, 0.25, 0.5, 0.75, 1])
            axes.set_xticks(range(len(tasks)), [task.replace(" (", "\n(") for task in tasks])
            axes.tick_params(axis="x", length=0, labelsize=6.5)
        for axes in [*grid.flat][len(scales) :]:
            axes.remove()
        for axes in grid[:, 0]:
            axes.set_ylabel("exact match")
        format_of = {cell.encoding: cell.format for cells in tasks.values() for cell in cells}
        handles = [
            Line2D(
                [],
                [],
                **line_style(look_of[encoding]) | {"linestyle": "none"},
                label=f"{look_of[encoding].label}, {format_name}",
            )
            for encoding, format_name in format_of.items()
        ]
        finish(figure, handles)
    return figure


def _draw_runs(axes: Axes, cell: CellScores, scale: int, look: Look, middle: float) -> None:
    """Draw a small mark for each seed, side by side, and their median as a wide dash with the bar of its interval."""
    values = cell.exact_match[scale]
    places = [middle + _SPREAD * (2 * (at + 0.5) / len(values) - 1) for at in range(len(values))]
    mark = line_style(look) | {"linestyle": "none", "markersize": 3.0, "markeredgewidth": 0.6}
    axes.plot(places, values, **mark, zorder=3, gid=f"seeds:{cell.encoding}", clip_on=False)
    low, high = median_interval(values)
    axes.vlines([middle], [low], [high], color=look.colour, linewidth=0.6, zorder=2, gid=f"interval:{cell.encoding}")
    axes.hlines(
        [median(values)], middle - 1.6 * _SPREAD, middle + 1.6 * _SPREAD, color=look.colour, linewidth=1.4, zorder=2,
        gid=f"median:{cell.encoding}",
    )  # fmt: skip


def _caption(tasks: Tasks, look_of: Mapping[str, Look], scales: Sequence[int], train: Sequence[int], model: str) -> str:
    all_cells = [cell for cells in tasks.values() for cell in cells]
    last, seeds = scales[-1], sorted({cell.seeds for cell in all_cells})
    medians = [
        f"{task}: "
        + ", ".join(f"{look_of[cell.encoding].label} {median(cell.exact_match[last]):.3f}" for cell in cells)
        for task, cells in tasks.items()
    ]
    return (
        f"The ideal encoding on operands padded to scale {max(all_cells[0].scales)} (IPE, aligned) against the ideal "
        f"encoding with scale hint on plain ones (IPE-SH, unaligned), at scales {', '.join(map(str, scales))}; trained "
        f"on scales {min(train)}-{max(train)} (grey), models of {model}, at the last checkpoint. A mark is a run. "
        f"{median_text('dash', seeds)}. Medians at scale {last}: {'; '.join(medians)}."
        f"{starts_of_tables(look_of)}"
    )


def _figure3(sources: Sources) -> Drawing:
    return drawing(
        sources.cells("fig3"),
        scales=SCALES,
        train=sources.protocol("fig3").train,
        width=sources.width,
        model=model_sizes(sources.models("fig3")[0]),
    )


FIGURES = (
    Entry(
        place=120,
        name="figure3",
        title="Alignment against a scale hint, at scales 5, 10, 15, 20",
        make=_figure3,
        needs=Needs(protocols=("fig3",)),
    ),
)
