"""Learned relations (Figure 5): for each query and key the three strongest labels, beside the ideal ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from circuits.roles import ideal_relation
from empirical.runs.run import Run
from empirical.runs.store import RunStore
from paper_figs.declaration import Entry
from paper_figs.saving import Drawing
from paper_figs.small_panels import matrix
from paper_figs.sources import Needs, Sources
from paper_figs.style import PAGE_WIDTH, SMALLEST_TEXT, context, look
from theory.relation import NO_LABEL, Labels

if TYPE_CHECKING:  # it needs torch, which figures are listed without
    from empirical.encodings.learned_relation import Weights

RANKS = 3
SCALE = 11
"""The first scale beyond the training of fig4."""
_NAMES = ("largest weight", "second", "third")
# Light throughout, so that black digits stay legible; lightness falls steadily.
_SHADES = LinearSegmentedColormap.from_list("weights", ["#FFFFFF", "#86AED0"])
# Inches: key names, between matrices, above and below one, the note at the foot.
_KEYS, _GAP, _ABOVE, _BELOW, _FOOT = 0.55, 0.09, 0.2, 0.3, 0.22
_SIDE = (PAGE_WIDTH - _KEYS - _GAP * (RANKS + 1)) / (RANKS + 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """A relation as one run learned it, at one scale; label matrices are keys by queries, NO_LABEL after the query.

    Attributes:
        task, encoding, seed, train: of the run.
        scale: that is shown.
        queries: that compute a step which their own token does not decide, 1-based.
        ideal: int64 [length, length].
        labels, weights: [length, length, RANKS], the largest weight first.
        meaning: learned label -> the ideal one that it has most often at these queries.
        agreeing, pairs: at these queries, pairs whose strongest label means the ideal one, and all.
    """

    task: str
    encoding: str
    seed: int
    train: tuple[int, ...]
    scale: int
    queries: tuple[int, ...]
    ideal: Labels
    labels: Labels
    weights: "Weights"
    meaning: dict[int, int]
    agreeing: int
    pairs: int


def learned(run: Run, store: RunStore, scale: int, task: str) -> Learned:
    """Reads a finished run of lbpe or lbpe-sh.

    Raises:
        StoreError: the run is not finished, or broken.
    """
    import torch

    from empirical.encodings.lbpe import LBPE
    from empirical.encodings.learned_relation import compare, open_queries, strongest_labels
    from empirical.training.testing import load_trained

    setting, model = load_trained(run, store, [scale], "cpu")
    [encoding] = model.encoding.each()
    assert isinstance(encoding, LBPE)
    positions = torch.arange(setting.analysis.traces[scale - 1].length - 1)
    with torch.inference_mode():
        weights_JIK = encoding.label_weights(positions, positions, torch.tensor(scale)).numpy()
    queries = open_queries(setting.analysis)[scale]
    relation = ideal_relation(setting.analysis.circuit, scale_hint=True)
    found = compare({scale: weights_JIK}, relation, queries={scale: queries})
    labels, weights = strongest_labels(weights_JIK, RANKS)
    return Learned(
        task=task,
        encoding=run.encoding,
        seed=run.seed,
        train=run.train,
        scale=scale,
        queries=queries,
        ideal=relation.labels(len(positions), scale),
        labels=labels.transpose(1, 0, 2),
        weights=weights.transpose(1, 0, 2),
        meaning=dict(found.meaning),
        agreeing=sum(found.agreeing.values()),
        pairs=sum(found.pairs.values()),
    )


def drawing(shown: Sequence[Learned]) -> Drawing:
    """The figure: a line for each run, the ideal relation and then the labels by rank; always of page width."""
    return Drawing(shown=_draw(shown), rows=_rows(shown), caption=_caption(shown))


def _rows(shown: Sequence[Learned]) -> list[dict[str, object]]:
    """One row a pair."""
    return [
        {
            "task": one.task,
            "encoding": one.encoding,
            "seed": one.seed,
            "scale": one.scale,
            "key": key,
            "query": query,
            "open_query": query in one.queries,
            "ideal": int(one.ideal[key - 1, query - 1]),
            **{
                name: value
                for rank in range(RANKS)
                for name, value in (
                    (f"label_{rank + 1}", int(one.labels[key - 1, query - 1, rank])),
                    (f"weight_{rank + 1}", float(one.weights[key - 1, query - 1, rank])),
                )
            },
        }
        for one in shown
        for query in range(1, len(one.ideal) + 1)
        for key in range(1, query + 1)
    ]


def _caption(shown: Sequence[Learned]) -> str:
    first = shown[0]
    told = []
    for one in shown:
        means = ", ".join(f"{label} for {ideal}" for label, ideal in sorted(one.meaning.items()))
        told.append(f"{one.task}: {one.agreeing} of {one.pairs} (learned label for ideal: {means})")
    beyond = "beyond training" if first.scale > max(first.train) else "of training"
    return (
        f"What {look(first.encoding).label} learned at scale {first.scale}, {beyond} (scales {min(first.train)}-"
        f"{max(first.train)}): key i (row), query j (column). Left: the ideal relation, label 0 where a key is "
        f"irrelevant. Then the {RANKS} labels of largest weight, numbered as in the model; the shade is the weight, "
        f"from 0 (white) to 1. The run of seed {first.seed}, the first. Framed: the queries that compute a step "
        "that the query's own token does not decide; at all others the circuit says nothing of the labels. There the "
        "strongest label means the ideal one (each learned label taken for the ideal label that it has most often) at "
        f"so many pairs: {'; '.join(told)}."
    )


def _draw(shown: Sequence[Learned]) -> Figure:
    line = _ABOVE + _SIDE + _BELOW
    height = line * len(shown) + _FOOT
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, height))
        for row, one in enumerate(shown):
            for column in range(RANKS + 1):
                left, bottom = _KEYS + column * (_SIDE + _GAP), height - line * (row + 1) + _BELOW
                axes = figure.add_axes((left / PAGE_WIDTH, bottom / height, _SIDE / PAGE_WIDTH, _SIDE / height))
                rank = column - 1
                axes.set_gid(f"{one.task}:{'ideal' if rank < 0 else rank + 1}")
                axes.set_title("ideal" if rank < 0 else _NAMES[rank], pad=3)
                if rank < 0:
                    shade = (one.ideal > 0).astype(float)
                    _matrix(axes, one, one.ideal, shade)
                    axes.set_ylabel("key i", labelpad=1)
                    axes.annotate(
                        one.task, (0, 0.5), xycoords="axes fraction", xytext=(-30, 0), textcoords="offset points",
                        rotation=90, ha="center", va="center", fontweight="bold",
                    )  # fmt: skip
                else:
                    _matrix(axes, one, one.labels[..., rank], one.weights[..., rank])
                    axes.set_yticklabels([])
                axes.set_xlabel("query j", labelpad=0)
        figure.text(
            0.5, 0.07 / height, "digits: labels;  shade: weight;  framed: queries that need the relation",
            ha="center", va="center", fontsize=7,
        )  # fmt: skip
    return figure


def _matrix(axes: Axes, one: Learned, labels: Labels, shades: "Weights") -> None:
    hidden = np.tri(len(labels), k=-1, dtype=bool)
    matrix(axes, np.ma.array(shades, mask=hidden), _SHADES, 0, 1, gid="weights", labelsize=6.0)
    for key, query in (np.argwhere((labels != NO_LABEL) & ~hidden) + 1).tolist():
        at_work = query in one.queries
        axes.text(
            query, key, str(labels[key - 1, query - 1]), ha="center", va="center_baseline", fontsize=SMALLEST_TEXT,
            fontweight="bold" if at_work else "normal", zorder=4,
        )  # fmt: skip
    for query in one.queries:
        axes.add_patch(
            Rectangle(
                (query - 0.5, 0.5), 1, query, facecolor="none", edgecolor="black", linewidth=1.0, zorder=5,
                clip_on=False, gid="open",
            )
        )  # fmt: skip
    ticks = range(1, len(labels) + 1)
    axes.set(xticks=ticks, yticks=ticks)


def _first_runs(sources: Sources, *, encoding: str) -> Drawing:
    """The first run of each task."""
    runs_of = {at: runs for at, runs in sources.of_size("fig4").items() if at.encoding == encoding}
    return drawing([learned(runs[0], sources.store, SCALE, at.task.title) for at, runs in runs_of.items()])


FIGURES = tuple(
    Entry(
        place=140,
        name=name,
        title=f"Relations learned by {encoding} beside the ideal ones",
        make=partial(_first_runs, encoding=encoding),
        needs=Needs(protocols=("fig4",)),
        least_width=PAGE_WIDTH,
    )
    for name, encoding in (("figure5", "lbpe"), ("figure5-scale-hint", "lbpe-sh"))
)
