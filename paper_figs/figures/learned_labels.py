"""Figure 5: learned position relations beside the ideal one.

For each query and key, the figure shows the label of largest weight that a trained LBPE model gives; its table has the
three labels of largest weight.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from lengthgen.circuits.roles import ideal_relation
from lengthgen.empirical.experiment.protocol import Cell
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.tables import read_rows, write_rows
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.infrastructure.shapes import (
    COUNT,
    TEXT,
    Shape,
    WrongShape,
    list_of,
    made_into,
    read_stored,
    record,
    row,
)
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.panels import axes_at, matrix
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import RELATIONS, Needs, Sources
from lengthgen.paper_figs.style import SMALLEST_TEXT, context, look, shades
from lengthgen.theory.relation import NO_LABEL, Labels

if TYPE_CHECKING:  # the module needs torch, which a list of figures must not import
    from lengthgen.empirical.encodings.learned_relation import Weights

RANKS = 3
PROTOCOL = "fig4"
_DIGITS = 4
"""Decimal places of stored weights."""
_LABELS = 8
"""Number of colours; a model with more labels repeats them."""
_WRONG = "#C04000"
# Inches: names of the keys, gap between matrices, space above and below a matrix, the note at the foot, the largest
# matrix; and the width from which on tasks stand side by side.
_KEYS, _GAP, _ABOVE, _BELOW, _FOOT, _LARGEST, _WIDE = 0.42, 0.1, 0.2, 0.28, 0.36, 2.0, 5.0


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
    from lengthgen.empirical.encodings.learned_relation import open_queries, strongest_labels
    from lengthgen.empirical.experiment.evaluation import learned_relation

    setup, weights_of, comparison = learned_relation(run, store, [scale])
    queries = open_queries(setup.analysis)[scale]
    ideal = ideal_relation(setup.analysis.circuit, scale_hint=True).labels(len(weights_of[scale]), scale)
    labels, weights = strongest_labels(weights_of[scale], RANKS)
    return LearnedRelation(
        task=task,
        encoding=run.encoding,
        seed=run.seed,
        train=run.train,
        scale=scale,
        queries=queries,
        ideal=ideal,
        labels=labels.transpose(1, 0, 2),
        weights=weights.transpose(1, 0, 2),
        meaning=dict(comparison.meaning),
        agreeing=sum(comparison.agreeing.values()),
        pairs=sum(comparison.pairs.values()),
    )


def write_relations(path: Path, relations: Sequence[LearnedRelation]) -> None:
    """Store relations as sealed JSON: a line of text for each key, by rank; weights with four decimal places."""
    content = [
        asdict(relation)
        | {
            "ideal": _lines(relation.ideal),
            "labels": [_lines(relation.labels[..., rank]) for rank in range(RANKS)],
            "weights": [_lines(relation.weights[..., rank]) for rank in range(RANKS)],
            "meaning": [*relation.meaning.items()],
        }
        for relation in relations
    ]
    write_sealed_json(path, {"relations": content})


def read_relations(path: Path) -> list[LearnedRelation]:
    """Read stored relations.

    Raises:
        DamagedFile: the file has changed since it was written.
        OSError: it cannot be read.
    """
    content = read_stored(path, record(relations=list_of(_RELATION)), "relations", f"git checkout {path}")
    return [_relation(stored) for stored in content["relations"]]


Agreement = Mapping[int, Mapping[int, tuple[int, int]]]
"""Scale -> ideal label -> (pairs at the open queries whose learned label means it, such pairs in all)."""
AGREEMENT = "agreement.parquet"
"""File of a record with the agreement of every run that learned its labels, as `tools/record.py` writes it."""


def write_agreement(path: Path, runs: Sequence[Run], store: RunStore) -> None:
    """Store the agreement of finished runs of lbpe and lbpe-sh at all their test scales: a row per scale and label.

    Raises:
        StoreError: a run is not finished, or broken.
        OSError: the file cannot be written.
    """
    from lengthgen.empirical.experiment.evaluation import learned_relation

    rows = [
        {"run": run.id, "scale": scale, "label": label, "right": right, "pairs": pairs}
        for run in runs
        for scale, by_label in learned_relation(run, store, run.test)[2].scales.items()
        for label, (right, pairs) in by_label.items()
    ]
    write_rows(path, rows)


def read_agreement(path: Path) -> dict[str, Agreement]:
    """Read run -> agreement from a file of `write_agreement`.

    Raises:
        TableError: the file is missing, or has changed since it was written.
    """
    agreements: dict[str, dict[int, dict[int, tuple[int, int]]]] = {}
    for each in read_rows(path):
        by_scale = agreements.setdefault(each["run"], {})
        by_scale.setdefault(each["scale"], {})[each["label"]] = each["right"], each["pairs"]
    return dict(agreements)


def _lines(values: "Labels | Weights") -> list[str]:
    """Return a matrix as a text for each row."""
    return [" ".join(f"{round(float(value), _DIGITS):g}" for value in row) for row in values]


def _matrix(lines: Sequence[str], kind: type) -> NDArray[Any]:
    return np.array([line.split() for line in lines], dtype=kind)


def _matrix_of(kind: type) -> Shape:
    """Shape of the lines of a square matrix of numbers."""

    def check(value: Any, where: str) -> None:
        list_of(TEXT)(value, where)
        try:
            matrix = _matrix(value, kind)
        except (ValueError, OverflowError) as error:
            raise WrongShape(f"{where} is no matrix of numbers") from error
        if matrix.shape != (len(value), len(value)):
            raise WrongShape(f"{where} is no square matrix")

    return check


_RELATION = made_into(
    LearnedRelation,
    **dict.fromkeys(("task", "encoding"), TEXT),
    **dict.fromkeys(("seed", "scale", "agreeing", "pairs"), COUNT),
    **dict.fromkeys(("train", "queries"), list_of(COUNT)),
    ideal=_matrix_of(np.int64),
    labels=row(*[_matrix_of(np.int64)] * RANKS),
    weights=row(*[_matrix_of(np.float32)] * RANKS),
    meaning=list_of(row(COUNT, COUNT)),
)


def _relation(stored: Mapping[str, Any]) -> LearnedRelation:
    return LearnedRelation(
        **dict(stored)
        | {
            "train": tuple(stored["train"]),
            "queries": tuple(stored["queries"]),
            "meaning": dict(stored["meaning"]),
            "ideal": _matrix(stored["ideal"], np.int64),
            "labels": np.stack([_matrix(lines, np.int64) for lines in stored["labels"]], axis=-1),
            "weights": np.stack([_matrix(lines, np.float32) for lines in stored["weights"]], axis=-1),
        }
    )


def drawing(relations: Sequence[LearnedRelation], *, width: float) -> Drawing:
    """Draw the ideal and the learned relation of each run, `width` inches wide."""
    return Drawing(shown=_draw(relations, width), rows=_rows(relations), caption=_caption(relations))


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
        f"{max(first.train)}): key i (row), query j (column). Ideal: the ideal relation, label 0 where a key is "
        "irrelevant. Learned: the label of largest weight, numbered as in the model, one colour for each label; the "
        f"CSV file has the {RANKS} labels of largest weight. The run shown is the first one of each task. "
        "Framed: open queries, which compute a step that their own token does not decide; at other queries the circuit "
        "leaves the labels open. A learned label is read as the ideal label that it has most often; a box around a "
        "pair "
        "marks one that is then not the ideal one. Pairs at the open queries with the ideal label: "
        f"{'; '.join(agreements)}."
    )


def _draw(relations: Sequence[LearnedRelation], width: float) -> Figure:
    """Draw a matrix of the ideal labels and one of the learned ones for each run: side by side, or below each other."""
    wide = width > _WIDE
    across, down = (len(relations), 2) if wide else (2, len(relations))
    side = min(_LARGEST, (width - _KEYS) / across - _GAP)
    line = _ABOVE + side + _BELOW
    height = line * down + _FOOT
    with context():
        figure = Figure(figsize=(width, height))
        for place, relation in enumerate(relations):
            for part, name in enumerate(("ideal", "learned")):
                column, row = (place, part) if wide else (part, place)
                left, bottom = _KEYS + column * (side + _GAP), height - line * (row + 1) + _BELOW
                axes = axes_at(figure, left, bottom, side, side, gid=f"{relation.task}:{name}")
                axes.set_title(f"{relation.task}, {name}", pad=3)
                _draw_matrix(axes, relation, relation.labels[..., 0] if part else relation.ideal, learned=bool(part))
                axes.set_xlabel("query j", labelpad=0)
                if column:
                    axes.set_yticklabels([])
                else:
                    axes.set_ylabel("key i", labelpad=1)
        figure.text(
            0.5, 0.15 / height,
            "digits and colours: labels\nframe: a query that needs the relation; box: not the ideal label",
            ha="center", va="center", fontsize=7,
        )  # fmt: skip
    return figure


def _draw_matrix(axes: Axes, relation: LearnedRelation, labels: Labels, *, learned: bool) -> None:
    """Draw the labels of all pairs, each in its colour; label 0 of the ideal relation is white."""
    after_query = np.tri(len(labels), k=-1, dtype=bool)
    colours = np.ma.array(labels % _LABELS + learned, mask=after_query)
    matrix(axes, colours, shades(_LABELS), 0, _LABELS, gid="labels", labelsize=SMALLEST_TEXT)
    for key, query in (np.argwhere((labels != NO_LABEL) & ~after_query) + 1).tolist():
        is_open, label = query in relation.queries, int(labels[key - 1, query - 1])
        axes.text(
            query, key, str(label), ha="center", va="center_baseline", fontsize=SMALLEST_TEXT,
            fontweight="bold" if is_open else "normal", zorder=4,
        )  # fmt: skip
        if learned and is_open and relation.meaning.get(label) != relation.ideal[key - 1, query - 1]:
            box = (query - 0.42, key - 0.42), 0.84, 0.84
            axes.add_patch(Rectangle(*box, facecolor="none", edgecolor=_WRONG, linewidth=1.0, zorder=6, gid="wrong"))
    for query in relation.queries:
        frame = (query - 0.5, 0.5), 1, query
        axes.add_patch(
            Rectangle(*frame, facecolor="none", edgecolor="black", linewidth=1.0, zorder=5, clip_on=False, gid="open")
        )
    ticks = range(1, len(labels) + 1)
    axes.set(xticks=ticks, yticks=ticks)


def first_relations(first_runs: Mapping[Cell, Run], store: RunStore) -> list[LearnedRelation]:
    """Read what the first run of each cell with learned labels learned, at the first scale beyond training.

    Raises:
        StoreError: a run is not finished, or broken.
    """
    return [read_learned_relation(run, store, max(run.train) + 1, cell.task.title) for cell, run in first_runs.items()]


def _figure5(sources: Sources, *, encoding: str) -> Drawing:
    """Draw the first run of each task of protocol fig4, from the runs or from their record."""
    record = sources.record(PROTOCOL)
    if record:
        relations = [each for each in read_relations(record / RELATIONS) if each.encoding == encoding]
    else:
        firsts = {cell: runs[0] for cell, runs in sources.runs_of_size(PROTOCOL).items() if cell.encoding == encoding}
        relations = first_relations(firsts, sources.store)
    return drawing(relations, width=sources.width)


ENCODINGS = ("lbpe", "lbpe-sh")
"""Encodings that learn their labels."""


FIGURES = (
    *tuple(
        Entry(
            place=140,
            name=name,
            title=f"Relations learned by {encoding} beside the ideal ones",
            make=partial(_figure5, encoding=encoding),
            needs=Needs(protocols=(PROTOCOL,), record=(RELATIONS,)),
        )
        for name, encoding in zip(("figure5", "figure5-scale-hint"), ENCODINGS, strict=True)
    ),
)
