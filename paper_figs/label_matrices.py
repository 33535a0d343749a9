"""Figure 1: what each encoding calls every pair of positions, the arguments of one step marked, and the circuit.

All of it is read from the analysis of a task: tokens from its traces, labels from its relations, marks and edges
from its circuit, and above each matrix the number of operators that the encoding induces on that circuit.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from circuits.prediction import ENCODINGS, Analysis
from paper_figs import circuit_sketch
from paper_figs.instance import Instance
from paper_figs.style import PAGE_WIDTH, SMALLEST_TEXT, context, look, slot_look
from theory.relation import NO_LABEL

LONGEST = 11
"""Positions: beyond that, a label no longer fits its cell in print."""

# Light throughout, so that black digits stay legible on the largest label; lightness falls steadily.
_SHADES = LinearSegmentedColormap.from_list("labels", ["#FFFFFF", "#86AED0"])

# Inches: the circuit, key names, between matrices; above a matrix, below it; the legend.
_CIRCUIT, _KEYS, _GAP = 1.6, 0.42, 0.07
_ABOVE, _BELOW, _LEGEND = 0.24, 0.3, 0.26
_LARGEST = 1.5


def draw(
    analyses: Mapping[str, Analysis], *, scale: int, encodings: Sequence[str] = ENCODINGS, step: int = 2
) -> Figure:
    """The figure: a row for each format, the circuit and then a label matrix for each encoding.

    Args:
        analyses: format -> analysis of one task. Analyse up to a scale little above `scale`: padding is drawn too.
        scale: of the instance.
        encodings: names from circuits.prediction.ENCODINGS, in the order of the columns.
        step: the step whose arguments are marked, counted from 1.

    Raises:
        ValueError: nothing to draw, a scale or step that does not exist, or an instance too long to be read.
    """
    instances = _instances(analyses, scale, encodings, step)
    side = min(_LARGEST, (PAGE_WIDTH - _CIRCUIT - _KEYS - _GAP * len(encodings)) / len(encodings))
    row = _ABOVE + side + _BELOW
    height = row * len(instances) + _LEGEND
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, height))

        def place(left: float, bottom: float, width: float) -> Axes:
            return figure.add_axes((left / PAGE_WIDTH, bottom / height, width / PAGE_WIDTH, side / height))

        for index, (panel, instance) in enumerate(instances.items()):
            bottom = height - row * (index + 1) + _BELOW
            beside = place(0.06, bottom, _CIRCUIT)
            beside.set_title(f"{panel}, scale {scale}", fontweight="bold", loc="left", pad=3)
            circuit_sketch.draw(
                beside, instance.graph, instance.names(), marked=instance.position, arguments=instance.arguments()
            )
            for column, encoding in enumerate(encodings):
                axes = place(_CIRCUIT + _KEYS + column * (side + _GAP), bottom, side)
                axes.set_gid(f"{panel}:{encoding}")
                _matrix(axes, instance, encoding, cell=72 * side / len(instance.names()), key_names=column == 0)
        _legend(figure, instances, step)
    return figure


def rows(
    analyses: Mapping[str, Analysis], *, scale: int, encodings: Sequence[str] = ENCODINGS, step: int = 2
) -> list[dict[str, object]]:
    """What the figure shows, one row a cell; `slots` is filled where the cell is marked. Raises as `draw` does."""
    found: list[dict[str, object]] = []
    for panel, instance in _instances(analyses, scale, encodings, step).items():
        names = instance.names()
        arguments = instance.arguments()
        for encoding in encodings:
            labels = instance.labels(encoding)
            for key, query in (np.argwhere(labels != NO_LABEL) + 1).tolist():
                slots = arguments.get(key, ()) if query == instance.position - 1 else ()
                found.append(
                    {
                        "format": panel,
                        "encoding": encoding,
                        "scale": scale,
                        "key": key,
                        "query": query,
                        "key_token": names[key - 1],
                        "query_token": names[query - 1],
                        "label": int(labels[key - 1, query - 1]),
                        "slots": " ".join(map(str, slots)),
                    }
                )
    return found


def caption(
    analyses: Mapping[str, Analysis], *, scale: int, encodings: Sequence[str] = ENCODINGS, step: int = 2
) -> str:
    """The caption, with the numbers that the figure shows. Raises as `draw` does."""
    instances = _instances(analyses, scale, encodings, step)
    name = next(iter(instances.values())).analysis.task.name.partition("-aligned-")[0]
    parts = [
        f"The circuit of '{name}' at scale {scale} (a box holds a step's unit operator, an arrow brings an argument), "
        "and the labels of key i (row) for query j (column) under each encoding.",
        "A step is computed at the query before its token; queries that compute nothing at this scale are in grey.",
        "Bold labels belong to arguments of a step. Shades run from label 0 to a matrix's largest.",
        f"Above each matrix: the operators that the encoding induces on the circuit up to scale {scale} "
        "(∞: its labels cannot tell the arguments of some step from other keys).",
    ]
    if any(one.analysis.relation(encoding).scale_hint for one in instances.values() for encoding in encodings):
        parts.append("'With n': the label depends on the scale n as well (scale hint).")
    for panel, instance in instances.items():
        names = instance.names()
        arguments = sorted((slots, key) for key, slots in instance.arguments().items())
        marked = " and ".join(f"{names[key - 1]} (slot {_numbers(slots)})" for slots, key in arguments)
        told = []
        for encoding in encodings:
            labels = instance.labels(encoding)
            pair = ", ".join(str(labels[key - 1, instance.position - 2]) for _, key in arguments)
            told.append(f"{_title(instance, encoding)} {pair} ({_count(instance.operators(encoding))})")
        target = names[instance.position - 1]
        what = f"{marked} are marked, from which {target} is computed;" if marked else f"{target} is always the same;"
        parts.append(f"{panel.capitalize()}: {what} labels {'; '.join(told)}.")
    return " ".join(parts)


def _instances(
    analyses: Mapping[str, Analysis], scale: int, encodings: Sequence[str], step: int
) -> dict[str, Instance]:
    if not analyses or not encodings:
        raise ValueError("nothing to draw: give at least one analysis and one encoding")
    instances = {panel: Instance(analysis=analysis, scale=scale, step=step) for panel, analysis in analyses.items()}
    for panel, instance in instances.items():
        length = len(instance.names())
        if length > LONGEST:
            raise ValueError(
                f"scale {scale} has {length} positions in the {panel} format, and {LONGEST} can be read in print: "
                "take a smaller scale, or analyse up to a smaller one"
            )
    return instances


def _matrix(axes: Axes, instance: Instance, encoding: str, *, cell: float, key_names: bool) -> None:
    """`cell` is the width of a cell in points."""
    labels = instance.labels(encoding)
    positions = np.arange(1, len(labels) + 1)
    shown = np.ma.masked_equal(labels, NO_LABEL)
    edges = np.arange(len(labels) + 1) + 0.5
    mesh = axes.pcolormesh(edges, edges, shown, cmap=_SHADES, vmin=0, vmax=max(1, int(labels.max())), gid="labels")
    mesh.set(edgecolors=["0.8" if label != NO_LABEL else "none" for label in labels.flat], linewidth=0.3)
    axes.set(xlim=edges[[0, -1]], ylim=edges[[-1, 0]], aspect="equal")
    relevant = instance.relevant()
    for key, query in (np.argwhere(labels != NO_LABEL) + 1).tolist():
        weight = "bold" if (key, query) in relevant else "normal"
        axes.text(
            query, key, str(labels[key - 1, query - 1]), ha="center", va="center_baseline",
            fontsize=SMALLEST_TEXT, fontweight=weight, zorder=6,
        )  # fmt: skip
    for key, slots in instance.arguments().items():
        for slot in slots:
            circuit_sketch.mark(axes, instance.position - 1, key, slot, size=1.12 * cell, gid=f"mark:{slot}")
    names = [name.replace("$", r"\$") for name in instance.names()]
    axes.set_xticks(positions, names)
    axes.set_yticks(positions, names if key_names else [])
    axes.tick_params(length=0, pad=1.5, labelsize=6.5)
    axes.spines[:].set_visible(False)
    for tick in axes.get_yticklabels():
        tick.set_verticalalignment("center")  # else the pad's low stroke would seem to name the row below
    for position, tick in zip(positions.tolist(), axes.get_xticklabels(), strict=True):
        tick.set_color("black" if position in instance.queries else "0.6")
    axes.set_xlabel("query j", labelpad=0)
    if key_names:
        axes.set_ylabel("key i", labelpad=1)
    axes.set_title(f"{_title(instance, encoding)}: {_count(instance.operators(encoding))}", pad=3)


def _title(instance: Instance, encoding: str) -> str:
    hint = instance.analysis.relation(encoding).scale_hint
    return f"{look(encoding).label}{' with n' if hint else ''}"


def _count(operators: float) -> str:
    number = "∞" if math.isinf(operators) else f"{operators:g}"
    return f"{number} operator{'' if operators == 1 else 's'}"


def _numbers(slots: Sequence[int]) -> str:
    return " and ".join(map(str, slots))


def _legend(figure: Figure, instances: Mapping[str, Instance], step: int) -> None:
    first = next(iter(instances.values()))
    target = first.names()[first.position - 1]
    slots = sorted({slot for one in instances.values() for its in one.arguments().values() for slot in its})
    handles = [
        Line2D(
            [], [], color=slot_look(slot).colour, linestyle=slot_look(slot).line, marker=slot_look(slot).marker,
            markersize=8, fillstyle="none", label=f"slot {slot} of step {step}, which gives {target}",
        )
        for slot in slots
    ]  # fmt: skip
    if handles:  # a step whose operator is constant has no argument to mark
        figure.legend(handles=handles, loc="lower center", ncols=len(handles), frameon=False, handlelength=3.6)
