"""How many operators each encoding induces, by scale: a panel for each task, a curve for each encoding."""

from collections.abc import Mapping, Sequence
from math import inf, isinf

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from circuits.encodings import HintNeeded, parse_encoding, relation_of
from circuits.induced import induced_complexity
from circuits.prediction import Analysis, analyse
from circuits.tasks import parse_task
from paper_figs.declaration import Entry
from paper_figs.saving import Drawing
from paper_figs.small_panels import finish, grid
from paper_figs.style import context, glossary, line_style, look

LARGEST = 8
TASKS = ("copy", "shift", "parity", "addition[base=2]", "multiplication[base=4]", "division[base=4]")
"""The six tasks, with so few digits that every prompt of several scales is looked at."""
SHOWN = ("ipe", "rpe", "ape", "nope")

Curve = Mapping[int, float]


def courses() -> dict[str, dict[str, Curve]]:
    """Task -> encoding -> scale -> induced complexity; the ideal one with scale hint where none without exists."""
    found: dict[str, dict[str, Curve]] = {}
    for task in map(parse_task, TASKS):
        analysis = analyse(task.plain(), "aligned", LARGEST)
        found[task.title] = dict(_course(analysis, encoding) for encoding in SHOWN)
    return found


def _course(analysis: Analysis, encoding: str) -> tuple[str, Curve]:
    try:
        relation = relation_of(parse_encoding(encoding), analysis.circuit)
    except HintNeeded:
        return _course(analysis, "ipe-sh")
    return encoding, induced_complexity(analysis.circuit, relation, analysis.traces).complexity


def drawing(found: Mapping[str, Mapping[str, Curve]], *, width: float) -> Drawing:
    """The figure."""
    rows: list[dict[str, object]] = [
        {"task": task, "format": "aligned", "encoding": encoding, "scale": scale, "operators": value}
        for task, curves in found.items()
        for encoding, curve in curves.items()
        for scale, value in curve.items()
    ]
    used = list(dict.fromkeys(encoding for curves in found.values() for encoding in curves))
    told = [
        f"{task}: " + ", ".join(f"{look(name).label} {_number(curve[LARGEST])}" for name, curve in curves.items())
        for task, curves in found.items()
    ]
    caption = (
        f"Operators that an encoding induces on the circuit of each task up to scale n [F], operands padded to scale "
        f"{LARGEST}; infinite where its labels cannot tell the arguments of some step from other keys. The conjecture "
        f"asks for a constant. {glossary(used)} At scale {LARGEST}: {'; '.join(told)}."
    )
    return Drawing(shown=_draw(found, used, width), rows=rows, caption=caption)


def _number(value: float) -> str:
    return "∞" if value == inf else f"{value:g}"


def _draw(found: Mapping[str, Mapping[str, Curve]], used: Sequence[str], width: float) -> Figure:
    highest = max(v for curves in found.values() for curve in curves.values() for v in curve.values() if not isinf(v))
    infinite = 1.18 * highest
    with context():
        figure, panels = grid(len(found), width=width, narrowest=1.6, height=1.35, sharex=True, sharey=True)
        for place, (axes, (task, curves)) in enumerate(zip(panels, found.items(), strict=True)):
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
        finish(figure, [Line2D([], [], **line_style(look(one)), label=look(one).label) for one in used])
    return figure


FIGURES = (
    Entry(
        place=350,
        name="induced-complexity",
        title="Operators induced by each encoding, six tasks",
        make=lambda sources: drawing(courses(), width=sources.width),
    ),
)
