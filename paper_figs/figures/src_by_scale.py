"""Operators by scale: table of SRC of every built-in task, and figure of those that each encoding induces on a circuit.

The induced complexity of an encoding on a circuit is the number of unit operators that a model needs if it tells pairs
of positions apart only by the labels of the encoding [F].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isinf

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import HintNeeded, parse_encoding, relation_of
from lengthgen.circuits.induced import induced_complexity
from lengthgen.circuits.questions.right_outputs import choice_src
from lengthgen.circuits.search.sat import SolverFailed
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.tasks import TASKS, TaskSpec, parse_task
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.panels import finish, grid
from lengthgen.paper_figs.saving import Drawing, Printed
from lengthgen.paper_figs.style import context, glossary, line_style, look

LARGEST = 6
"""Largest scale at which SRC is computed."""
HARD = ("addition-high-first", "multiplication-nn", "unaligned-addition")
"""Tasks whose search grows too fast: they use base 2 and scales up to 4."""
HARD_BASE, HARD_LARGEST = 2, 4


@dataclass(frozen=True, kw_only=True)
class Complexity:
    """SRC of one task by scale, in the unaligned format.

    Attributes:
        name: title of the task, with its base if that is not the default.
        arity: least arity that determines every step of the first half of the scales.
        bounds: map from scale to (lower, upper) bound.
        status: status as in `lengthgen.circuits.src.SRCResult`.
    """

    name: str
    arity: int
    bounds: dict[int, tuple[float, float]]
    status: str

    @property
    def course(self) -> str:
        """Trend of SRC over the scales, in words: constant, grows, infinite from a scale, or not decided."""
        if not all(low == high for low, high in self.bounds.values()):
            return "not decided"
        values = {scale: low for scale, (low, _) in self.bounds.items()}
        infinite = [scale for scale, value in values.items() if isinf(value)]
        if infinite:
            return f"infinite from {infinite[0]}"
        last = max(values)
        since = min(scale for scale in values if all(values[later] == values[last] for later in range(scale, last + 1)))
        if since == 1:
            return "constant"
        return "grows" if since == last else f"constant from {since}"


@lru_cache(maxsize=1)
def complexities() -> tuple[Complexity, ...]:
    """Compute SRC of all built-in tasks, in their order."""
    return tuple(_complexity(task) for task in TASKS)


def _complexity(task: str) -> Complexity:
    hard = task in HARD
    largest = HARD_LARGEST if hard else LARGEST
    spec = TaskSpec(name=task, base=HARD_BASE if hard else None)
    loaded, name = spec.plain(), spec.title
    traces = traces_up_to(loaded, largest)
    # If later scales need a larger arity than the first half, no fixed arity is enough.
    arity = minimal_arity(traces[: (len(traces) + 1) // 2])
    assert arity is not None, "tasks of the project begin with steps of few arguments"
    if loaded.right is not None:
        result = choice_src(loaded, largest, arity)
    else:
        result = src(loaded, traces, arity, largest=largest)
    if result.failed:
        raise SolverFailed(f"task '{name}': {result.stopped}")
    return Complexity(name=name, arity=arity, bounds=dict(result.bounds), status=result.status)


def src_table(results: Sequence[Complexity]) -> Drawing:
    """Make a table with a line for each course of SRC, and the tasks that have it."""
    tasks_of: dict[str, list[str]] = {}
    for result in results:
        values = " ".join(map(_bounds_text, result.bounds.values()))
        sampled = "*" if result.status == "sampled" else ""
        tasks_of.setdefault(values, []).append(f"{result.name}{sampled} ({result.arity})")
    lines = [(values, ", ".join(tasks)) for values, tasks in sorted(tasks_of.items(), key=_by_size)]
    headings = (f"n = 1 to {LARGEST}", "tasks (arity)")
    return Drawing(
        shown=Printed(headings=headings, lines=lines, columns="lp{5.6cm}"),
        rows=_src_rows(results),
        caption=_src_caption(results),
    )


def _by_size(line: tuple[str, list[str]]) -> tuple[int, str]:
    """Sort key of a line: those of most tasks first."""
    values, tasks = line
    return -len(tasks), values


def _status(result: Complexity, scale: int) -> str:
    low, high = result.bounds[scale]
    if isinf(low):
        return "infinite"
    if low != high:
        return "bounds"
    return "sampled" if result.status == "sampled" else "exact"


def _bounds_text(bounds: tuple[float, float]) -> str:
    return "..".join("∞" if bound == inf else f"{bound:g}" for bound in dict.fromkeys(bounds))


def _src_rows(results: Sequence[Complexity]) -> list[dict[str, object]]:
    return [
        {
            "task": result.name,
            "arity": result.arity,
            "scale": scale,
            "lower": low,
            "upper": high,
            "status": _status(result, scale),
            "course": result.course,
        }
        for result in results
        for scale, (low, high) in result.bounds.items()
    ]


def _src_caption(results: Sequence[Complexity]) -> str:
    constant = sum(result.course == "constant" for result in results)
    sampled = any(result.status == "sampled" for result in results)
    return (
        f"SRC of {len(results)} tasks by scale [F], unaligned: the fewest unit operators of any circuit that is right "
        "at all scales up to n, at the least arity that determines every step of the first half of the scales shown; "
        "infinite where a later step needs more arguments. A line has the values at n = 1, 2, ..., and the tasks with "
        f"these values, each with that arity; {constant} have the same value at all scales."
        + (" Marked *: exact on a sample of prompts, which is a lower bound." if sampled else "")
    )


INDUCED_LARGEST = 8
INDUCED_TASKS = ("copy", "shift", "parity", "addition[base=2]", "multiplication[base=4]", "division[base=4]")
"""Tasks of the figure, with few digits, so that every prompt of several scales is checked."""
SHOWN = ("ipe", "rpe", "ape", "nope")

Curve = Mapping[int, float]


def induced_curves() -> dict[str, dict[str, Curve]]:
    """Return task -> encoding -> scale -> induced complexity; IPE-SH replaces IPE if a task needs a scale hint."""
    curves_of: dict[str, dict[str, Curve]] = {}
    for task in map(parse_task, INDUCED_TASKS):
        analysis = analyse(task.plain(), "aligned", INDUCED_LARGEST)
        curves_of[task.title] = dict(_induced_curve(analysis, encoding) for encoding in SHOWN)
    return curves_of


def _induced_curve(analysis: Analysis, encoding: str) -> tuple[str, Curve]:
    try:
        relation = relation_of(parse_encoding(encoding), analysis.circuit)
    except HintNeeded:
        return _induced_curve(analysis, "ipe-sh")
    return encoding, induced_complexity(analysis.circuit, relation, analysis.traces).complexity


def induced_drawing(curves_of: Mapping[str, Mapping[str, Curve]], *, width: float) -> Drawing:
    """Draw the figure from the result of `induced_curves`, `width` inches wide."""
    rows: list[dict[str, object]] = [
        {"task": task, "format": "aligned", "encoding": encoding, "scale": scale, "operators": value}
        for task, curves in curves_of.items()
        for encoding, curve in curves.items()
        for scale, value in curve.items()
    ]
    encodings = list(dict.fromkeys(encoding for curves in curves_of.values() for encoding in curves))
    last_values = [
        f"{task}: "
        + ", ".join(f"{look(name).label} {_number(curve[INDUCED_LARGEST])}" for name, curve in curves.items())
        for task, curves in curves_of.items()
    ]
    caption = (
        f"Number of operators that an encoding induces on the circuit of each task up to scale n [F], with operands "
        f"padded to scale {INDUCED_LARGEST}; infinite where its labels cannot tell the arguments of some step from "
        f"other keys. Our reading of the conjecture asks for a constant. {glossary(encodings)} "
        f"At scale {INDUCED_LARGEST}: {'; '.join(last_values)}."
    )
    return Drawing(shown=_draw_induced(curves_of, encodings, width), rows=rows, caption=caption)


def _number(value: float) -> str:
    return "∞" if value == inf else f"{value:g}"


def _draw_induced(curves_of: Mapping[str, Mapping[str, Curve]], encodings: Sequence[str], width: float) -> Figure:
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
            axes.set(
                xlim=(0.6, INDUCED_LARGEST + 0.4), ylim=(0, infinite * 1.08), xticks=range(2, INDUCED_LARGEST + 1, 2)
            )
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
        place=230, name="table-src", title="SRC of all tasks by scale (table)", make=lambda _: src_table(complexities())
    ),
    Entry(
        place=350,
        name="induced-complexity",
        title="Operators induced by each encoding, six tasks",
        make=lambda sources: induced_drawing(induced_curves(), width=sources.width),
    ),
)
