"""Accuracy of many tasks by scale (Figures 2 and 4): a panel for each task and format, a curve for each encoding.

A curve is the median of the seeds; a bar the exact interval of that median, which rests on the order of the seeds
alone: of m values the median lies between the r-th smallest and the r-th largest with probability
1 - 2 P(Bin(m, 1/2) < r), whatever their distribution. r is the largest with at least 90%, or 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import comb
from statistics import median

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, MaxNLocator

from empirical.runs.protocol import Protocol
from empirical.trial.outcomes import Checkpoint
from paper_figs.cells import Cell, common_scales, seed_columns
from paper_figs.declaration import Entry
from paper_figs.saving import Drawing
from paper_figs.small_panels import finish, shape
from paper_figs.sources import Needs, Sources, model_sizes
from paper_figs.style import Look, context, glossary, line_style, looks

LEAST_LEVEL = 0.9
CHECKPOINTS = {
    Checkpoint.LAST: "at the last checkpoint",
    Checkpoint.BEST_ON_TEST: "at the checkpoint with the best average over all scales, which selects on the test "
    "scales [P]",
}
_TRAINED = "0.92"
# Inches: the least width of a panel, its height, a line of the legend, what is below and above all panels.
_NARROWEST, _HEIGHT, _LEGEND, _BELOW = 1.5, 1.45, 0.18, 0.15
_BAR_WIDTH = 0.55
"""Share of the space between two scales over which the bars of all curves are spread."""

_SEEN = 0.08
"""A bar longer than this is not hidden by the marks of its curve."""

Panels = Mapping[tuple[str, str], Sequence[Cell]]
"""(task, format) -> its curves."""


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The interval of the median of what the values are drawn from; its level is that of `rank`."""
    place, _ = rank(len(values))
    ordered = sorted(values)
    return ordered[place - 1], ordered[-place]


def median_columns(values: Sequence[float]) -> dict[str, object]:
    """The columns of a table on the median of some runs."""
    low, high = median_interval(values)
    return {"median": median(values), "low": low, "high": high}


def rank(count: int) -> tuple[int, float]:
    """r, and the level that the interval then has."""
    below = [sum(comb(count, k) for k in range(place)) / 2**count for place in range(max(1, (count + 1) // 2) + 1)]
    levels = [(place, 1 - 2 * below[place]) for place in range(1, len(below))]
    return max([one for one in levels if one[1] >= LEAST_LEVEL], default=levels[0])


def drawing(
    tasks: Mapping[str, Sequence[Cell]],
    *,
    train: Sequence[int],
    threshold: float,
    width: float,
    checkpoint: str,
    model: str,
) -> Drawing:
    """A panel for each task and format, a curve for each encoding; one row for each curve and scale.

    Args:
        tasks: name -> the cells of all its formats; all with the same scales.
        train: the training scales, which are shaded.
        threshold: exact match from which on a scale counts as solved.
        width: inches.
        checkpoint: which one, in words.
        model: how large, in words.

    Raises:
        ValueError: cells that cannot be compared (`cells.common_scales`).
        StyleError: encodings that one figure cannot tell apart.
    """
    panels: dict[tuple[str, str], list[Cell]] = {}
    for task, cells in tasks.items():
        for cell in cells:
            panels.setdefault((task, cell.format), []).append(cell)
    for cells in panels.values():
        common_scales(cells, train=train, threshold=threshold)
    return Drawing(
        shown=_draw(panels, train=train, threshold=threshold, width=width),
        rows=_rows(panels, train=train, threshold=threshold),
        caption=_caption(panels, train=train, threshold=threshold, checkpoint=checkpoint, model=model),
    )


def _draw(panels: Panels, *, train: Sequence[int], threshold: float, width: float) -> Figure:
    drawn = looks(dict.fromkeys(cell.encoding for cells in panels.values() for cell in cells))
    lines, columns = shape(len(panels), width=width, narrowest=_NARROWEST)
    with context():
        figure = Figure(figsize=(width, lines * _HEIGHT + _BELOW), layout="constrained")
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        one_format = len({form for _, form in panels}) == 1
        for axes, ((task, form), cells) in zip(grid.flat, panels.items(), strict=False):
            axes.set_gid(f"accuracy:{task}:{form}")
            axes.set_title(task if one_format else f"{task}, {form}", fontweight="bold", pad=3)
            _ground(axes, cells[0].scales, train, threshold)
            for place, cell in enumerate(cells):
                its = drawn[cell.encoding]
                alike = sum(drawn[other.encoding].colour == its.colour for other in cells) > 1
                _curve(axes, cell, its, place, len(cells), marked=alike)
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
            *(Line2D([], [], **line_style(its), label=its.label) for its in drawn.values()),
            Patch(facecolor=_TRAINED, label="training scales"),
        ]
        finish(figure, handles, line=_LEGEND, fontsize=8, handlelength=2.8)
    return figure


def _rows(panels: Panels, *, train: Sequence[int], threshold: float) -> list[dict[str, object]]:
    return [
        {
            "task": task,
            "format": form,
            "encoding": cell.encoding,
            "scale": scale,
            "training_scale": scale in train,
            "seeds": cell.seeds,
            **median_columns(cell.exact_match[scale]),
            "solved": cell.solved([scale], threshold),
            **seed_columns(cell.exact_match[scale]),
        }
        for (task, form), cells in panels.items()
        for cell in cells
        for scale in cell.scales
    ]


def _caption(panels: Panels, *, train: Sequence[int], threshold: float, checkpoint: str, model: str) -> str:
    every = [cell for cells in panels.values() for cell in cells]
    scales, seeds = every[0].scales, every[0].seeds
    place, level = rank(seeds)
    spread = "the least to the greatest" if place == 1 else f"number {place} from below to that from above"
    drawn = looks(dict.fromkeys(cell.encoding for cell in every))
    forms = list(dict.fromkeys(form for _, form in panels))
    told = [
        f"{task}{'' if len(forms) == 1 else f', {form}'}: "
        + ", ".join(
            f"{drawn[cell.encoding].label} {cell.solved(train, threshold)}/{cell.solved(scales, threshold)}"
            for cell in cells
        )
        for (task, form), cells in panels.items()
    ]
    return (
        f"Exact match by scale, {scales[0]} to {scales[-1]}, {' and '.join(forms)} format, {checkpoint}, models of "
        f"{model}. A curve is the median of {seeds} runs (seeds), a bar reaches from {spread} of them and holds the "
        f"median of all such runs with probability {level:.1%}. Training scales ({min(train)}-{max(train)}) are "
        f"shaded; dotted: {threshold:g}, from which on a scale counts as solved. {glossary(drawn)} Of these seeds, "
        f"those that solve all training scales / all scales: {'; '.join(told)}."
    )


def _ground(axes: Axes, scales: Sequence[int], train: Sequence[int], threshold: float) -> None:
    axes.axvspan(min(train) - 0.5, max(train) + 0.5, color=_TRAINED, linewidth=0, zorder=0, gid="training")
    axes.axhline(threshold, color="0.3", linewidth=0.6, linestyle=(0, (1, 2)), gid="threshold", zorder=1)
    axes.set(xlim=(scales[0] - 0.6, scales[-1] + 0.6), ylim=(-0.04, 1.04), yticks=[0, 0.5, 1])
    axes.xaxis.set_major_locator(
        FixedLocator(scales) if len(scales) <= 6 else MaxNLocator(integer=True, steps=[1, 2, 5, 10])
    )


def _curve(axes: Axes, cell: Cell, its: Look, place: int, curves: int, *, marked: bool) -> None:
    """Marks of the curves take turns from scale to scale, so that curves that coincide can still be told apart.

    A bar that has its colour in common with another ends in its curve's mark, if `marked`.
    """
    scales = cell.scales
    middle = [median(cell.exact_match[scale]) for scale in scales]
    style = line_style(its) | {"markersize": 3.0, "markeredgewidth": 0.7}
    every = min(curves, max(1, len(scales) // 3))
    turn = (place % every, every)
    axes.plot(scales, middle, **style, markevery=turn, zorder=3, gid=f"median:{cell.encoding}", clip_on=False)
    shift = _BAR_WIDTH * ((place + 0.5) / curves - 0.5)
    bars = [(scale + shift, *median_interval(cell.exact_match[scale])) for scale in scales]
    axes.vlines(
        *zip(*bars, strict=True), color=its.colour, linewidth=0.6, alpha=0.75, zorder=2, gid=f"interval:{cell.encoding}"
    )
    ends = [(at, end) for at, low, high in bars for end in (low, high) if high - low > _SEEN]
    if marked and ends:
        mark = style | {"linestyle": "none", "markersize": 2.2, "markeredgewidth": 0.5}
        axes.plot(*zip(*ends, strict=True), **mark, zorder=2, gid=f"ends:{cell.encoding}", clip_on=False)


def accuracy(sources: Sources, *, protocol: str, checkpoint: Checkpoint = Checkpoint.LAST, size: int = 0) -> Drawing:
    """Every task of a protocol by scale, all encodings; `size` counts the protocol's models."""
    known, model = sources.protocol(protocol), sources.models(protocol)[size]
    return drawing(
        sources.cells(protocol, checkpoint, model),
        train=known.train,
        threshold=known.profile.evaluation.threshold,
        width=sources.width,
        checkpoint=CHECKPOINTS[checkpoint],
        model=model_sizes(model),
    )


def _paper_figure(place: int, name: str, title: str, protocol: str, checkpoint: Checkpoint = Checkpoint.LAST) -> Entry:
    make = partial(accuracy, protocol=protocol, checkpoint=checkpoint)
    return Entry(place=place, name=name, title=title, make=make, needs=Needs(protocols=(protocol,)))


def _protocol_figures(named: str, protocol: Protocol) -> Iterable[Entry]:
    """One for each size of its models; those that are figures of the paper are left out."""
    for size, model in enumerate(protocol.profile.models):
        if size or named not in _PAPER_PROTOCOLS:
            yield Entry(
                place=500,
                name=f"accuracy-{protocol.name}" + (f"-{model}" if size else ""),
                title=f"{protocol.name}: every task by scale" + (f", models of {model}" if size else ""),
                make=partial(accuracy, protocol=named, size=size),
                needs=Needs(protocols=(named,)),
            )


_PAPER_PROTOCOLS = ("fig2", "fig4")
FIGURES = (
    _paper_figure(110, "figure2", "Six tasks by scale, last checkpoint", "fig2"),
    _paper_figure(
        110,
        "figure2-best-on-test",
        "Six tasks by scale, checkpoint selected on the test scales",
        "fig2",
        Checkpoint.BEST_ON_TEST,
    ),
    _paper_figure(130, "figure4", "A learned relation on three Select tasks", "fig4"),
    _protocol_figures,
)
