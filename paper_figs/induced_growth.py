"""Figure of induced complexity by scale: a panel for each task, a curve for each encoding.

The induced complexity of an encoding on a circuit is the number of unit operators that a model needs if it tells pairs
of positions apart only by the labels of the encoding [F].
"""

from collections.abc import Mapping, Sequence
from math import inf, isinf

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import HintNeeded, parse_encoding, relation_of
from lengthgen.circuits.induced import induced_complexity
from lengthgen.circuits.tasks import parse_task
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import finish, grid
from lengthgen.paper_figs.style import context, glossary, line_style, look

LARGEST = 8
TASKS = ("copy", "shift", "parity", "addition[base=2]", "multiplication[base=4]", "division[base=4]")
"""Tasks of the figure, with few digits, so that every prompt of several scales is checked."""
SHOWN = ("ipe", "rpe", "ape", "nope")

Curve = Mapping[int, float]


def induced_curves() -> dict[str, dict[str, Curve]]:
    """Return task -> encoding -> scale -> induced complexity; IPE-SH replaces IPE if a task needs a scale hint."""
    curves_of: dict[str, dict[str, Curve]] = {}
    for task in map(parse_task, TASKS):
        analysis = analyse(task.plain(), "aligned", LARGEST)
        curves_of[task.title] = dict(_induced_curve(analysis, encoding) for encoding in SHOWN)
    return curves_of


def _induced_curve(analysis: Analysis, encoding: str) -> tuple[str, Curve]:
    try:
        relation = relation_of(parse_encoding(encoding), analysis.circuit)
    except HintNeeded:
        return _induced_curve(analysis, "ipe-sh")
    return encoding, induced_complexity(analysis.circuit, relation, analysis.traces).complexity


def drawing(curves_of: Mapping[str, Mapping[str, Curve]], *, width: float) -> Drawing:
    """Draw the figure from the result of `induced_curves`, `width` inches wide."""
    rows: list[dict[str, object]] = [
        {"task": task, "format": "aligned", "encoding": encoding, "scale": scale, "operators": value}
        for task, curves in curves_of.items()
        for encoding, curve in curves.items()
        for scale, value in curve.items()
    ]
    encodings = list(dict.fromkeys(encoding for curves in curves_of.values() for encoding in curves))
    last_values = [
        f"{task}: " + ", ".join(f"{look(name).label} {_number(curve[LARGEST])}" for name, curve in curves.items())
        for task, curves in curves_of.items()
    ]
    caption = (
        f"Number of operators that an encoding induces on the circuit of each task up to scale n [F], with operands "
        f"padded to scale {LARGEST}; infinite where its labels cannot tell the arguments of some step from other keys. "
        f"The conjecture asks for a constant. {glossary(encodings)} At scale {LARGEST}: {'; '.join(last_values)}."
    )
    return Drawing(shown=_draw(curves_of, encodings, width), rows=rows, caption=caption)


def _number(value: float) -> str:
    return "∞" if value == inf else f"{value:g}"


def _draw(curves_of: Mapping[str, Mapping[str, Curve]], encodings: Sequence[str], width: float) -> Figure:
    highest = max(
        operators
        for curves in curves_of.values()
        for curve in curves.values()
        for operators in curve.values()
        if not isinf(operators)
    )
    infinite = 1.18 * highest
    with context():
        figure, panels = grid(len(curves_of), width=width, narrowest=1.6, height=1.35, sharex=True, sharey=True)
        for place, (axes, (task, curves)) in enumerate(zip(panels, curves_of.items(), strict=True)):
            axes.set_gid(task)
            axes.set_title(task, fontweight="bold", pad=3)
            axes.axhspan(0.5 * (highest + infinite), infinite * 1.08, color="0.94", linewidth=0, zorder=0)
            for at, (encoding, curve) in enumerate(curves.items()):
                values = [infinite if isinf(value) else value for value in curve.values()]
                style = line_style(look(encoding)) | {"markersize": 3.2}
                axes.plot([*curve], values, **style, markevery=(at % 4, 4), gid=f"course:{encoding}", clip_on=False)
            axes.set(xlim=(0.6, LARGEST + 0.4), ylim=(0, infinite * 1.08), xticks=range(2, LARGEST + 1, 2))
            axes.set_yticks([1, 5, 10, 15, infinite], ["1", "5", "10", "15", "∞"])
            axes.set_xlabel("scale n", labelpad=1)
            if not place:
                axes.set_ylabel("operators")
        finish(
            figure, [Line2D([], [], **line_style(look(encoding)), label=look(encoding).label) for encoding in encodings]
        )
    return figure


FIGURES = (
    Entry(
        place=350,
        name="induced-complexity",
        title="Operators induced by each encoding, six tasks",
        make=lambda sources: drawing(induced_curves(), width=sources.width),
    ),
)
