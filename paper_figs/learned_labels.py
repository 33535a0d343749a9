"""Figure 5: learned position relations beside the ideal one.

For each query and key, the figure shows the three labels of largest weight that a trained LBPE model gives.
"""

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

if TYPE_CHECKING:  # the module needs torch, which a list of figures must not import
    from empirical.encodings.learned_relation import Weights

RANKS = 3
SCALE = 11
"""Scale of the figure: the first one beyond the training scales of protocol fig4."""
_NAMES = ("largest weight", "second", "third")
# All shades are light, so that black digits stay legible; lightness falls steadily with the weight.
_SHADES = LinearSegmentedColormap.from_list("weights", ["#FFFFFF", "#86AED0"])
# Inches: width of the key names, gap between matrices, space above and below a matrix, the note at the foot.
_KEYS, _GAP, _ABOVE, _BELOW, _FOOT = 0.55, 0.09, 0.2, 0.3, 0.22
_SIDE = (PAGE_WIDTH - _KEYS - _GAP * (RANKS + 1)) / (RANKS + 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedRelation:
    """Relation that one run learned, at one scale.

    Label matrices have keys as rows and queries as columns, with NO_LABEL where the key is after the query.

    Attributes:
        task, encoding, seed, train: task, encoding, seed and training scales of the run.
        scale: scale that is shown.
        queries: open queries, counted from 1: they compute a step that their own token does not decide.
        ideal: labels of the ideal relation, int64 [length, length].
        labels, weights: labels and their weights, [length, length, RANKS], the largest weight first.
        meaning: map from learned label to the ideal label that it has most often at the open queries.
        agreeing: number of pairs at the open queries whose strongest label means the ideal one.
        pairs: number of all pairs at the open queries.
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


def read_learned_relation(run: Run, store: RunStore, scale: int, task: str) -> LearnedRelation:
    """Read the relation that a finished run of lbpe or lbpe-sh learned.

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
    ideal = ideal_relation(setting.analysis.circuit, scale_hint=True)
    comparison = compare({scale: weights_JIK}, ideal, queries={scale: queries})
    labels, weights = strongest_labels(weights_JIK, RANKS)
    return LearnedRelation(
        task=task,
        encoding=run.encoding,
        seed=run.seed,
        train=run.train,
        scale=scale,
        queries=queries,
        ideal=ideal.labels(len(positions), scale),
        labels=labels.transpose(1, 0, 2),
        weights=weights.transpose(1, 0, 2),
        meaning=dict(comparison.meaning),
        agreeing=sum(comparison.agreeing.values()),
        pairs=sum(comparison.pairs.values()),
    )


def drawing(relations: Sequence[LearnedRelation]) -> Drawing:
    """Draw a line for each run: the ideal relation, then the labels by rank. The figure has page width."""
    return Drawing(shown=_draw(relations), rows=_rows(relations), caption=_caption(relations))


def _rows(relations: Sequence[LearnedRelation]) -> list[dict[str, object]]:
    """Return one row for each pair of each run."""
    return [
        {
            "task": relation.task,
            "encoding": relation.encoding,
            "seed": relation.seed,
            "scale": relation.scale,
            "key": key,
            "query": query,
            "open_query": query in relation.queries,
            "ideal": int(relation.ideal[key - 1, query - 1]),
            **{
                name: value
                for rank in range(RANKS)
                for name, value in (
                    (f"label_{rank + 1}", int(relation.labels[key - 1, query - 1, rank])),
                    (f"weight_{rank + 1}", float(relation.weights[key - 1, query - 1, rank])),
                )
            },
        }
        for relation in relations
        for query in range(1, len(relation.ideal) + 1)
        for key in range(1, query + 1)
    ]


def _caption(relations: Sequence[LearnedRelation]) -> str:
    first = relations[0]
    agreements = []
    for relation in relations:
        means = ", ".join(f"{label} for {ideal}" for label, ideal in sorted(relation.meaning.items()))
        agreements.append(
            f"{relation.task}: {relation.agreeing} of {relation.pairs} (learned label for ideal: {means})"
        )
    beyond = "beyond training" if first.scale > max(first.train) else "of training"
    return (
        f"Labels that {look(first.encoding).label} learned at scale {first.scale}, {beyond} (scales {min(first.train)}-"
        f"{max(first.train)}): key i (row), query j (column). Left: the ideal relation, label 0 where a key is "
        f"irrelevant. Then the {RANKS} labels of largest weight, numbered as in the model; the shade is the weight, "
        f"from 0 (white) to 1. The run shown is the first one (seed {first.seed}). Framed: open queries, which compute "
        "a step that their own token does not decide; at other queries the circuit leaves the labels open. "
        "A learned label is read as the ideal label that it has most often. Pairs at the open queries whose "
        f"strongest label is then the ideal one: {'; '.join(agreements)}."
    )


def _draw(relations: Sequence[LearnedRelation]) -> Figure:
    line = _ABOVE + _SIDE + _BELOW
    height = line * len(relations) + _FOOT
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, height))
        for row, relation in enumerate(relations):
            for column in range(RANKS + 1):
                left, bottom = _KEYS + column * (_SIDE + _GAP), height - line * (row + 1) + _BELOW
                axes = figure.add_axes((left / PAGE_WIDTH, bottom / height, _SIDE / PAGE_WIDTH, _SIDE / height))
                rank = column - 1
                axes.set_gid(f"{relation.task}:{'ideal' if rank < 0 else rank + 1}")
                axes.set_title("ideal" if rank < 0 else _NAMES[rank], pad=3)
                if rank < 0:
                    shade = (relation.ideal > 0).astype(float)
                    _draw_matrix(axes, relation, relation.ideal, shade)
                    axes.set_ylabel("key i", labelpad=1)
                    axes.annotate(
                        relation.task, (0, 0.5), xycoords="axes fraction", xytext=(-30, 0), textcoords="offset points",
                        rotation=90, ha="center", va="center", fontweight="bold",
                    )  # fmt: skip
                else:
                    _draw_matrix(axes, relation, relation.labels[..., rank], relation.weights[..., rank])
                    axes.set_yticklabels([])
                axes.set_xlabel("query j", labelpad=0)
        figure.text(
            0.5, 0.07 / height, "digits: labels;  shade: weight;  framed: queries that need the relation",
            ha="center", va="center", fontsize=7,
        )  # fmt: skip
    return figure


def _draw_matrix(axes: Axes, relation: LearnedRelation, labels: Labels, shades: "Weights") -> None:
    after_query = np.tri(len(labels), k=-1, dtype=bool)
    matrix(axes, np.ma.array(shades, mask=after_query), _SHADES, 0, 1, gid="weights", labelsize=6.0)
    for key, query in (np.argwhere((labels != NO_LABEL) & ~after_query) + 1).tolist():
        is_open = query in relation.queries
        axes.text(
            query, key, str(labels[key - 1, query - 1]), ha="center", va="center_baseline", fontsize=SMALLEST_TEXT,
            fontweight="bold" if is_open else "normal", zorder=4,
        )  # fmt: skip
    for query in relation.queries:
        axes.add_patch(
            Rectangle(
                (query - 0.5, 0.5), 1, query, facecolor="none", edgecolor="black", linewidth=1.0, zorder=5,
                clip_on=False, gid="open",
            )
        )  # fmt: skip
    ticks = range(1, len(labels) + 1)
    axes.set(xticks=ticks, yticks=ticks)


def _first_run_of_each_task(sources: Sources, *, encoding: str) -> Drawing:
    """Draw the first run of each task of protocol fig4."""
    runs_of = {
        condition: runs for condition, runs in sources.runs_of_size("fig4").items() if condition.encoding == encoding
    }
    return drawing(
        [
            read_learned_relation(runs[0], sources.store, SCALE, condition.task.title)
            for condition, runs in runs_of.items()
        ]
    )


FIGURES = tuple(
    Entry(
        place=140,
        name=name,
        title=f"Relations learned by {encoding} beside the ideal ones",
        make=partial(_first_run_of_each_task, encoding=encoding),
        needs=Needs(protocols=("fig4",)),
        least_width=PAGE_WIDTH,
    )
    for name, encoding in (("figure5", "lbpe"), ("figure5-scale-hint", "lbpe-sh"))
)
