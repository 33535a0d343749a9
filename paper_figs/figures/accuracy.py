"""Figures of accuracy by scale: a panel per task and format (Figures 2 and 4), and every run of one task.

In a panel of many, a curve is the median over the seeds, and a bar is an exact interval for that median. The interval
uses only the order of the m values: the median of the distribution lies between the r-th smallest and the r-th largest
value with probability 1 - 2 P(Bin(m, 1/2) < r), whatever the distribution is. r is the largest rank with probability at
least 90%, or 1 if there is none.

Success is bimodal over seeds, so a mean with a standard deviation would describe no run at all. The figure of one task
shows the exact match of every run (seed) and the median, and below the share of seeds that solve a scale; the table has
its exact (Clopper-Pearson) 95% interval, which depends on the count alone and is not drawn at each scale.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import ceil, comb, sqrt
from statistics import median
from textwrap import wrap
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from lengthgen.empirical.experiment.judge import CONFIDENCE
from lengthgen.empirical.experiment.outcome import Checkpoint
from lengthgen.empirical.experiment.protocol import Protocol
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.panels import finish, shade, shape, trained_patch
from lengthgen.paper_figs.saving import Drawing, Undrawable
from lengthgen.paper_figs.seed_scores import CellScores, common_scales, interval, seed_columns
from lengthgen.paper_figs.sources import Needs, Sources, model_sizes
from lengthgen.paper_figs.style import PAGE_WIDTH, TALLEST, Look, context, glossary, line_style, looks

LEAST_LEVEL = 0.9
"""Least probability of the interval of a median, if the number of seeds allows it."""
CHECKPOINTS = {
    Checkpoint.LAST: "at the last checkpoint",
    Checkpoint.BEST_ON_TEST: "at the checkpoint with the best average over all scales, which selects on the test "
    "scales [P]",
}
# Inches: least width of a panel, its height, a line of the legend, space below and above all panels.
_NARROWEST, _HEIGHT, _LEGEND, _BELOW = 1.5, 1.45, 0.18, 0.15
_CHARACTER, _SCALE = 0.054, 0.35
"""Inches: width of a character of a title, and of the numbers left of the panels."""
_BAR_WIDTH = 0.55
"""Share of the space between two scales that the bars of all curves fill together."""

_VISIBLE_BAR = 0.08
"""Least length of a bar that the marks of its curve do not hide."""

_MOST_BARRED = 5
"""Largest number of curves of a panel whose bars stand at every scale; with more, at the marks of the curve only."""

Panels = Mapping[tuple[str, str], Sequence[CellScores]]
"""Map from (task, format) to the cells whose curves the panel shows."""


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Exact interval for the median of the distribution of the values, with the probability that `rank` gives."""
    place, _ = rank(len(values))
    ordered = sorted(values)
    return ordered[place - 1], ordered[-place]


def median_columns(values: Sequence[float]) -> dict[str, object]:
    """Table columns `median`, `low` and `high`: the median of the values and its interval."""
    low, high = median_interval(values)
    return {"median": median(values), "low": low, "high": high}


def rank(count: int) -> tuple[int, float]:
    """Rank r of the interval of the median of `count` values, and the probability that the interval holds it."""
    below = [sum(comb(count, k) for k in range(place)) / 2**count for place in range(max(1, (count + 1) // 2) + 1)]
    levels = [(place, 1 - 2 * below[place]) for place in range(1, len(below))]
    return max([level for level in levels if level[1] >= LEAST_LEVEL], default=levels[0])


def median_text(shown: str, counts: Sequence[int]) -> str:
    """Sentences of a caption on the median that a curve or a dash shows, and its bar, without the last stop.

    `counts` are the numbers of runs of the cells, ascending, each once.
    """
    if counts[-1] == 1:
        return f"A {shown} is one run (seed)"
    several = [rank(count) for count in counts if count > 1]
    places = sorted({place for place, _ in several})
    spread = (
        "the smallest to the largest value"
        if places == [1]
        else f"value {' or '.join(map(str, places))} from below to the same from above"
    )
    level = f"{'at least ' if len(several) > 1 else ''}{min(level for _, level in several):.1%}"
    runs = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    lone = "; one run has no bar" if counts[0] == 1 else ""
    return (
        f"A {shown} is the median of {runs} runs (seeds). A bar, from {spread}, holds the median of such runs with "
        f"probability {level}{lone}"
    )


def accuracy_drawing(
    tasks: Mapping[str, Sequence[CellScores]],
    *,
    train: Sequence[int],
    threshold: float,
    width: float,
    checkpoint: str,
    model: str,
) -> Drawing:
    """Draw a panel for each task and format, with a curve for each encoding; one table row per curve and scale.

    All cells of a task, in all its formats, have the same scales. Scales count as solved from `threshold` on; `width`
    is in inches; `checkpoint` and `model` are in words.

    Raises:
        ValueError: the cells cannot be compared (`seed_scores.common_scales`).
        StyleError: one figure cannot show so many similar encodings.
        Undrawable: the panels do not fit a page.
    """
    panels: dict[tuple[str, str], list[CellScores]] = {}
    for task, cells in tasks.items():
        for cell in cells:
            panels.setdefault((task, cell.format), []).append(cell)
    for cells in panels.values():
        common_scales(cells, train=train, threshold=threshold, equal_seeds=False)
    return Drawing(
        shown=_draw_panels(panels, train=train, threshold=threshold, width=width),
        rows=_rows(panels, train=train, threshold=threshold),
        caption=_panels_caption(panels, train=train, threshold=threshold, checkpoint=checkpoint, model=model),
    )


def _draw_panels(panels: Panels, *, train: Sequence[int], threshold: float, width: float) -> Figure:
    look_of = looks(dict.fromkeys(cell.encoding for cells in panels.values() for cell in cells))
    lines, columns = shape(len(panels), width=width, narrowest=_NARROWEST)
    if lines * _HEIGHT + _BELOW > TALLEST:
        raise Undrawable(
            f"{len(panels)} panels do not fit a page: choose some of them with --trial, and --task or --format"
        )
    characters = int((width - _SCALE) / columns / _CHARACTER)
    with context():
        figure = Figure(figsize=(width, lines * _HEIGHT + _BELOW), layout="constrained")
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        single_format = len({format_name for _, format_name in panels}) == 1
        for axes, ((task, format_name), cells) in zip(grid.flat, panels.items(), strict=False):
            axes.set_gid(f"accuracy:{task}:{format_name}")
            title = task if single_format else f"{task}, {format_name}"
            axes.set_title("\n".join(wrap(title, characters)), fontweight="bold", pad=3, linespacing=0.95)
            shade(axes, min(train), max(train))
            axes.axhline(threshold, color="0.3", linewidth=0.6, linestyle=(0, (1, 2)), gid="threshold", zorder=1)
            _set_axes(axes, cells[0].scales, yticks=[0, 0.5, 1], most_ticks=6)
            for place, cell in enumerate(cells):
                look = look_of[cell.encoding]
                shared_colour = sum(look_of[other.encoding].colour == look.colour for other in cells) > 1
                _draw_curve(axes, cell, look, place, len(cells), marked=shared_colour)
        for axes in [*grid.flat][len(panels) :]:
            axes.remove()
        for column in range(columns):
            last = [place for place in range(len(panels)) if place % columns == column][-1]
            axes = grid[last // columns, column]
            axes.set_xlabel("scale n", labelpad=1)
            axes.tick_params(labelbottom=True)
        for axes in grid[:, 0]:
            axes.set_ylabel("exact match", labelpad=2)
        handles: list[Artist] = [
            *(Line2D([], [], **line_style(look), label=look.label) for look in look_of.values()),
            trained_patch(),
        ]
        finish(figure, handles, line=_LEGEND, fontsize=8, handlelength=2.8)
    return figure


def _rows(panels: Panels, *, train: Sequence[int], threshold: float) -> list[dict[str, object]]:
    all_cells = [cell for cells in panels.values() for cell in cells]
    return [
        {
            "task": task,
            "format": format_name,
            "encoding": cell.encoding,
            "scale": scale,
            "training_scale": scale in train,
            "seeds": cell.seeds,
            **median_columns(cell.exact_match[scale]),
            "solved": cell.solved([scale], threshold),
            **seed_columns(cell, scale, all_cells),
        }
        for (task, format_name), cells in panels.items()
        for cell in cells
        for scale in cell.scales
    ]


def _panels_caption(panels: Panels, *, train: Sequence[int], threshold: float, checkpoint: str, model: str) -> str:
    cells_shown = [cell for cells in panels.values() for cell in cells]
    scales, counts = cells_shown[0].scales, sorted({cell.seeds for cell in cells_shown})
    crowded = any(len(cells) > _MOST_BARRED for cells in panels.values())
    few_bars = f"; in panels of more than {_MOST_BARRED} curves only marks have bars" if crowded else ""
    look_of = looks(dict.fromkeys(cell.encoding for cell in cells_shown))
    format_names = list(dict.fromkeys(format_name for _, format_name in panels))
    solved_counts = [
        f"{task}{'' if len(format_names) == 1 else f', {format_name}'}: "
        + ", ".join(
            f"{look_of[cell.encoding].label} {cell.solved(train, threshold)}/{cell.solved(scales, threshold)}"
            + (f" of {cell.seeds}" if len(counts) > 1 else "")
            for cell in cells
        )
        for (task, format_name), cells in panels.items()
    ]
    return (
        f"Exact match by scale, {scales[0]} to {scales[-1]}, {' and '.join(format_names)} format, {checkpoint}, models "
        f"of {model}. {median_text('curve', counts)}{few_bars}. Training scales ({min(train)}-{max(train)}) are "
        "shaded; "
        f"dotted line: threshold {threshold:g} at which a scale counts as solved. {glossary(look_of, trained=True)} "
        f"Number of runs that solve all training scales / all scales: {'; '.join(solved_counts)}."
    )


def _set_axes(axes: Axes, scales: Sequence[int], *, yticks: Sequence[float], most_ticks: int) -> None:
    """Set the limits of exact match by scale, with a tick for each scale if there are at most `most_ticks`."""
    axes.set(xlim=(scales[0] - 0.6, scales[-1] + 0.6), ylim=(-0.04, 1.04), yticks=yticks)
    axes.xaxis.set_major_locator(
        FixedLocator(scales) if len(scales) <= most_ticks else MaxNLocator(integer=True, steps=[1, 2, 5, 10])
    )


def _draw_curve(axes: Axes, cell: CellScores, look: Look, place: int, curves: int, *, marked: bool) -> None:
    """Draw one curve with its bars.

    The curves put their marks on different scales in turn, so that equal curves can still be told apart. If `marked`,
    which is set where two curves share a colour, each bar ends in the mark of its curve.
    """
    scales = cell.scales
    medians = [median(cell.exact_match[scale]) for scale in scales]
    style = line_style(look) | {"markersize": 3.0, "markeredgewidth": 0.7}
    period = min(curves, max(1, len(scales) // 3))
    turn = (place % period, period)
    axes.plot(scales, medians, **style, markevery=turn, zorder=3, gid=f"median:{cell.encoding}", clip_on=False)
    shift = _BAR_WIDTH * ((place + 0.5) / curves - 0.5)
    barred = scales if curves <= _MOST_BARRED else scales[turn[0] :: turn[1]]
    bars = [(scale + shift, *median_interval(cell.exact_match[scale])) for scale in barred]
    axes.vlines(
        *zip(*bars, strict=True),
        color=look.colour,
        linewidth=0.6,
        alpha=0.75,
        zorder=2,
        gid=f"interval:{cell.encoding}",
    )
    ends = [(at, end) for at, low, high in bars for end in (low, high) if high - low > _VISIBLE_BAR]
    if marked and ends:
        mark = style | {"linestyle": "none", "markersize": 2.2, "markeredgewidth": 0.5}
        axes.plot(*zip(*ends, strict=True), **mark, zorder=2, gid=f"ends:{cell.encoding}", clip_on=False)


def accuracy(sources: Sources, *, protocol: str, checkpoint: Checkpoint = Checkpoint.LAST, size: int = 0) -> Drawing:
    """Figure of all tasks and encodings of a protocol by scale; `size` is the index of the model size."""
    loaded, model = sources.protocol(protocol), sources.models(protocol)[size]
    return accuracy_drawing(
        sources.cells(protocol, checkpoint, model),
        train=loaded.train,
        threshold=loaded.profile.evaluation.threshold,
        width=sources.width,
        checkpoint=CHECKPOINTS[checkpoint],
        model=model_sizes(model),
    )


def _paper_figure(place: int, name: str, title: str, protocol: str, checkpoint: Checkpoint = Checkpoint.LAST) -> Entry:
    make = partial(accuracy, protocol=protocol, checkpoint=checkpoint)
    needs = Needs(protocols=(protocol,)) if checkpoint == Checkpoint.LAST else Needs(protocols=(protocol,), record=())
    return Entry(place=place, name=name, title=title, make=make, needs=needs)


def _protocol_figures(protocol_name: str, protocol: Protocol) -> Iterable[Entry]:
    """Yield one figure for each model size of the protocol, except those that are figures of the paper."""
    for size, model in enumerate(protocol.profile.models):
        if size or protocol_name not in _PAPER_PROTOCOLS:
            yield Entry(
                place=500,
                name=f"accuracy-{protocol.name}" + (f"-{model}" if size else ""),
                title=f"{protocol.name}: accuracy of all tasks by scale" + (f", models of {model}" if size else ""),
                make=partial(accuracy, protocol=protocol_name, size=size),
                needs=Needs(protocols=(protocol_name,)),
            )


_PAPER_PROTOCOLS = ("fig2", "fig4")


_CURVES = 6
"""Largest number of curves in one panel; the marks of more curves could not be told apart."""

# Inches: height of the two panels of a format if there is one pair, and if pairs are stacked; a line of the legend.
_ALONE, _STACKED, _SEEDS_LEGEND = 4.0, 2.9, 0.17
_THRESHOLD: dict[str, Any] = {"color": "0.3", "linewidth": 0.7, "linestyle": (0, (1, 2))}


def seeds_drawing(
    cells: Sequence[CellScores], *, train: Sequence[int], threshold: float, task: str, model: str
) -> Drawing:
    """Draw one column of panels for each format: exact match above, share of seeds that solve a scale below.

    If a format has more than six encodings, further panels below show the rest. The table has one row for each format,
    encoding and scale.

    The cells, at most one for each format and encoding, have the same scales and number of seeds. Scales count as
    solved from `threshold` on; `model` is in words.

    Raises:
        ValueError: the cells cannot be compared (`seed_scores.common_scales`).
        EncodingError: a cell's encoding is not an encoding.
        StyleError: one figure cannot show so many similar encodings.
    """
    common_scales(cells, train=train, threshold=threshold)
    return Drawing(
        shown=_draw_seeds(cells, train, threshold, task),
        rows=[_table_row(cell, scale, train, threshold) for cell in cells for scale in cell.scales],
        caption=_seeds_caption(cells, train, threshold, task, model),
    )


def _draw_seeds(cells: Sequence[CellScores], train: Sequence[int], threshold: float, task: str) -> Figure:
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
                    for first, last in _consecutive_ranges(train):
                        shade(axes, first, last)
                    _set_axes(axes, scales, yticks=[0, 0.25, 0.5, 0.75, 1], most_ticks=10)
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
            trained_patch(),
        ]
        finish(figure, handles, line=_SEEDS_LEGEND, fontsize=8, handlelength=2)
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
        **seed_columns(cell, scale, [cell]),
    }


def _seeds_caption(cells: Sequence[CellScores], train: Sequence[int], threshold: float, task: str, model: str) -> str:
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
        f"Clopper-Pearson {CONFIDENCE:.0%} intervals of a share, by count: {intervals}. "
        f"Marks of one scale stand side by side. {glossary(look_of, trained=True)} "
        "Number of runs that solve every training scale, and every scale:"
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
    return seeds_drawing(
        cells, train=protocol.train, threshold=protocol.profile.evaluation.threshold, task=task, model=model
    )


FIGURES = (
    _paper_figure(110, "figure2", "Accuracy of six tasks by scale, last checkpoint", "fig2"),
    _paper_figure(
        110,
        "figure2-best-on-test",
        "Accuracy of six tasks by scale, checkpoint selected on the test scales",
        "fig2",
        Checkpoint.BEST_ON_TEST,
    ),
    _paper_figure(130, "figure4", "Accuracy with a learned relation on three Select tasks", "fig4"),
    _protocol_figures,
    Entry(
        place=150,
        name="parity-seeds",
        title="Accuracy on Parity by scale, all runs",
        make=_parity_figure,
        needs=Needs(protocols=("fig1",)),
        least_width=PAGE_WIDTH,
    ),
)
