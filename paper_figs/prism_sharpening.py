"""Ablation of PRISM's sharpening: exact match by scale, and entropy of the histograms by token."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.prism_runs import PROTOCOL, SAMPLES, TokenPositions, over_runs, read_all, trained_tokens
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import finish, set_ticks
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.paper_figs.style import PAGE_WIDTH, context, slot_look
from lengthgen.theory.encodings.prism import EXPONENTS

_LOOKS = {arm: slot_look(number) for number, arm in enumerate(EXPONENTS, start=1)}
_APART = 0.16
"""Half the distance between the marks of the two ways at one place, so that equal values do not hide each other."""
_TRAINED = "0.92"
_PANEL = 1.75
_LEGEND = 0.17

Arms = Mapping[str, Sequence[TokenPositions]]
Scores = Mapping[str, Mapping[int, Sequence[float]]]
"""Option `sharpening` -> scale -> exact match of each run."""


def drawing(
    read: Mapping[str, Arms], scores: Mapping[str, Scores], trained: Mapping[str, int], train: Sequence[int]
) -> Drawing:
    """Draw a column for each task: exact match by scale above, entropy of the histograms by token below.

    Args:
        read: positions of the runs at one scale, by title of the task and option `sharpening`.
        scores: exact match of the runs, by title of the task.
        trained: number of tokens read at the largest training scale, by title of the task.
        train: the training scales.
    """
    arms = next(iter(read.values()))
    last = next(iter(arms.values()))
    rows: list[dict[str, object]] = []
    for task, by_arm in read.items():
        for arm, runs in by_arm.items():
            cell = {"task": task, "sharpening": arm}
            for scale, values in scores[task][arm].items():
                rows += [
                    cell | {"seed": positions.run.seed, "measure": "exact match", "at": scale, "value": value}
                    for positions, value in zip(runs, values, strict=True)
                ]
            for positions in runs:
                rows += [
                    cell | {"seed": positions.run.seed, "measure": "entropy, bits", "at": token, "value": float(value)}
                    for token, value in enumerate(positions.histogram_entropy)
                ]
    return Drawing(
        shown=_draw(read, scores, trained, train),
        rows=rows,
        caption="PRISM with learned sharpening (gamma = 1 + softplus(r)) and without (gamma = 1), "
        f"{count_text(len(last), 'run')} each, trained on scales {train[0]}-{train[-1]}. Above: exact match by scale "
        "at the last "
        "checkpoint, a faint line for each run and a marked line for their median. Below: entropy of the histogram of "
        f"token t at scale {last[0].scale}, mean over {SAMPLES} test samples, a faint line for each run and a "
        "marked line for their mean. Marks of one place stand side by side. Shaded: scales of training, and tokens "
        "that training showed.",
    )


def _draw(
    read: Mapping[str, Arms], scores: Mapping[str, Scores], trained: Mapping[str, int], train: Sequence[int]
) -> Figure:
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, 2 * _PANEL + 0.3), layout="constrained")
        grid = figure.subplots(2, len(read), squeeze=False, sharey="row")
        for (above, below), (task, by_arm) in zip(grid.T, read.items(), strict=True):
            above.set_title(task, fontweight="bold")
            above.set_gid(f"exact match:{task}")
            below.set_gid(f"entropy:{task}")
            above.axvspan(train[0] - 0.5, train[-1] + 0.5, color=_TRAINED, linewidth=0, zorder=0, gid="training")
            below.axvspan(-0.5, trained[task] - 0.5, color=_TRAINED, linewidth=0, zorder=0, gid="training")
            for arm, runs in by_arm.items():
                scales = [*scores[task][arm]]
                by_run = [*zip(*scores[task][arm].values(), strict=True)]
                medians = [median(values) for values in scores[task][arm].values()]
                _draw_runs(above, scales, by_run, medians, arm)
                by_token = [positions.histogram_entropy.tolist() for positions in runs]
                means = over_runs(runs, "histogram_entropy").tolist()
                _draw_runs(below, range(len(means)), by_token, means, arm)
            above.set(xlabel="scale n", xlim=(scales[0] - 0.6, scales[-1] + 0.6), ylim=(-0.04, 1.04))
            below.set(xlabel="token t", xlim=(-0.6, len(means) - 0.4), ylim=(-0.04, None))
        for axes in grid.flat:
            set_ticks(axes)
        grid[0, 0].set_ylabel("exact match")
        grid[1, 0].set_ylabel("entropy, bits")
        handles: list[Artist] = [
            *(Line2D([], [], **_style(arm), label=f"sharpening {arm}") for arm in _LOOKS),
            Patch(facecolor=_TRAINED, label="in training"),
        ]
        finish(figure, handles, line=_LEGEND, fontsize=8, handlelength=2)
    return figure


def _draw_runs(
    axes: Axes, places: Sequence[int], by_run: Sequence[Sequence[float]], middle: Sequence[float], arm: str
) -> None:
    shift = _APART if arm == "none" else -_APART
    shifted, style = [place + shift for place in places], _style(arm)
    for values in by_run:
        axes.plot(shifted, values, **style | {"marker": "", "linewidth": 0.5}, alpha=0.5, zorder=2, gid=f"run:{arm}")
    axes.plot(shifted, middle, **style, zorder=3, gid=f"middle:{arm}")


def _style(arm: str) -> dict[str, Any]:
    """Keyword arguments of `Axes.plot` for the marked line of one way of sharpening."""
    its = _LOOKS[arm]
    return {
        "color": its.colour, "linestyle": its.line, "linewidth": 0.9, "marker": its.marker, "markersize": 2.8,
        "fillstyle": "none" if arm == "none" else "full",
    }  # fmt: skip


def _both_arms(sources: Sources, *, protocol: str) -> Drawing:
    """Draw all runs of PRISM."""
    loaded = sources.protocol(protocol)
    read = read_all(sources, protocol, loaded.test[-1])
    scores = {
        task: {
            arm: {
                scale: [sources.store.final_exact_match(positions.run)[scale] for positions in runs]
                for scale in loaded.test
            }
            for arm, runs in arms.items()
        }
        for task, arms in read.items()
    }
    return drawing(read, scores, trained_tokens(sources, protocol), loaded.train)


FIGURES = (
    Entry(
        place=162,
        name="prism-sharpening",
        title="PRISM with and without sharpening",
        make=partial(_both_arms, protocol=PROTOCOL),
        needs=Needs(protocols=(PROTOCOL,), record=()),
        least_width=PAGE_WIDTH,
    ),
)
