"""Label matrices of encodings beside the circuit of a task: Figure 1 (Parity), and each task of a protocol.

A label matrix shows the label that an encoding gives to each pair (key, query); the arguments of one step are marked.
Everything is read from the analysis of a task: tokens from its traces, labels from its relations, marks and edges from
its circuit. Above each matrix stands the number of operators that the encoding induces on that circuit.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import wrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from lengthgen.circuits.analysis import Analysis, SearchStopped, analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.encoding_spec import HintNeeded, NoRelation, parse_encoding
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TaskSpec, load
from lengthgen.circuits.trace import trace
from lengthgen.empirical.experiment.protocol import Protocol
from lengthgen.infrastructure.neighbours import own_files
from lengthgen.infrastructure.userfile import split_file
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.figures.instance import Instance, draw_circuit
from lengthgen.paper_figs.panels import axes_at, matrix
from lengthgen.paper_figs.saving import Drawing, Undrawable
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.paper_figs.style import MOST_SLOTS, PAGE_WIDTH, SMALLEST_TEXT, context, glossary, looks, slot_look
from lengthgen.theory.relation import NO_LABEL

LONGEST = 11
"""Largest number of positions at which names and labels of two characters fit their cells in print."""

_CHARACTERS = 2
_ROOMY = 8
"""Largest number of positions whose names do not touch at the usual font size."""
_COLUMNS = 4
_LINES = 2
"""Largest number of rows of matrices for one format, so that two formats fit a page."""

# All shades are light, so that black digits stay legible; lightness falls steadily with the label.
_SHADES = LinearSegmentedColormap.from_list("labels", ["#FFFFFF", "#86AED0"])

# Inches: width of the circuit and of the key names, gap between matrices; space above a heading, height of its lines,
# space below a matrix; the legend.
_CIRCUIT, _KEYS, _GAP = 1.6, 0.42, 0.07
_ABOVE, _HEADING, _BELOW, _LEGEND = 0.11, 0.13, 0.3, 0.38
_SIDE = (PAGE_WIDTH - _CIRCUIT - _KEYS - _GAP * _COLUMNS) / _COLUMNS
_HEADING_CHARACTERS = 24


def too_long(positions: int, scale: int) -> str | None:
    """Reason why an instance of so many positions would not be legible in print, or None if it would be."""
    if positions <= LONGEST:
        return None
    return f"scale {scale} has {positions} positions, and {LONGEST} can be read in print"


def unfit(analysis: Analysis, *, scale: int, encodings: Sequence[str], step: int = 2) -> str | None:
    """Reason why these matrices of one format would not be legible in print, or None if they would be.

    Raises:
        EncodingError: one of the encodings does not exist.
        RelationError: a relation leaves a pair without a label.
    """
    try:
        instance = Instance(analysis=analysis, scale=scale, step=step)
    except ValueError as error:
        return str(error)
    names = instance.names()
    if reason := too_long(len(names), scale):
        return reason
    if longer := [name for name in names if len(name) > _CHARACTERS]:
        return f"symbol '{longer[0]}' has more than the {_CHARACTERS} characters that fit a cell"
    slots = max((slot for *_, slot in instance.graph.edges(data="slot")), default=0)
    if slots > MOST_SLOTS:
        return f"its steps read up to {slots} tokens, and {MOST_SLOTS} can be told apart"
    if len(encodings) > _COLUMNS * _LINES:
        return f"{len(encodings)} encodings are more than the {_COLUMNS * _LINES} that fit a page"
    for encoding in encodings:
        if parse_encoding(encoding).record.learns_labels:
            return f"'{encoding}' finds its labels in training"
        try:
            largest = int(instance.labels(encoding).max())
        except (HintNeeded, NoRelation) as error:
            return f"'{encoding}' has no relation: {error}"
        if len(str(largest)) > _CHARACTERS:
            return f"'{encoding}' has the label {largest}, of more than the {_CHARACTERS} characters that fit a cell"
    return None


def drawing(
    analyses: Mapping[str, Analysis], *, scale: int, encodings: Mapping[str, Sequence[str]], step: int = 2
) -> Drawing:
    """Draw for each format the circuit and then a label matrix for each encoding, four in a line.

    The table has one row for each cell of each matrix; its column `slots` is filled for the marked cells.

    Analyses and encodings, in the order of the matrices, are by format. Analyse only a little beyond `scale`: padding
    is drawn. The arguments of `step`, counted from 1, are marked.

    Raises:
        ValueError: there is nothing to draw, or `unfit` gives a reason for a format.
        EncodingError, RelationError: as `unfit`.
        StyleError: as `lengthgen.paper_figs.style.looks`.
    """
    instances = _instances(analyses, scale, encodings, step)
    return Drawing(
        shown=_draw(instances, encodings), rows=_rows(instances, encodings), caption=_caption(instances, encodings)
    )


def _draw(instances: Mapping[str, Instance], encodings: Mapping[str, Sequence[str]]) -> Figure:
    lines = list(_matrix_lines(encodings))
    labels = {encoding: look.label for encoding, look in looks(_all_encodings(encodings)).items()}
    headings = {
        (panel, encoding): _heading(labels[encoding], _count_text(instance.operators(encoding)))
        for panel, instance in instances.items()
        for encoding in encodings[panel]
    }
    heights = [
        _ABOVE + _HEADING * max(len(headings[panel, encoding]) for encoding in line_encodings) + _SIDE + _BELOW
        for panel, _, line_encodings in lines
    ]
    height = sum(heights) + _LEGEND
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, height))
        for index, (panel, first, line_encodings) in enumerate(lines):
            instance, bottom = instances[panel], height - sum(heights[: index + 1]) + _BELOW
            if first:
                circuit_axes = axes_at(figure, 0.06, bottom, _CIRCUIT, _SIDE)
                circuit_axes.set_title(f"{panel}, scale {instance.scale}", fontweight="bold", loc="left", pad=3)
                draw_circuit(
                    circuit_axes,
                    instance.graph,
                    instance.names(),
                    marked=instance.position,
                    arguments=instance.arguments(),
                )
            for column, encoding in enumerate(line_encodings):
                left = _CIRCUIT + _KEYS + column * (_SIDE + _GAP)
                axes = axes_at(figure, left, bottom, _SIDE, _SIDE, gid=f"{panel}:{encoding}")
                axes.set_title("\n".join(headings[panel, encoding]), pad=3, linespacing=1.0)
                _draw_matrix(axes, instance, encoding, key_names=column == 0)
        _legend(figure, instances)
    return figure


def _rows(instances: Mapping[str, Instance], encodings: Mapping[str, Sequence[str]]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for panel, instance in instances.items():
        names = instance.names()
        arguments = instance.arguments()
        for encoding in encodings[panel]:
            labels = instance.labels(encoding)
            for key, query in (np.argwhere(labels != NO_LABEL) + 1).tolist():
                slots = arguments.get(key, ()) if query == instance.position - 1 else ()
                rows.append(
                    {
                        "format": panel,
                        "encoding": encoding,
                        "scale": instance.scale,
                        "key": key,
                        "query": query,
                        "key_token": names[key - 1],
                        "query_token": names[query - 1],
                        "label": int(labels[key - 1, query - 1]),
                        "slots": " ".join(map(str, slots)),
                    }
                )
    return rows


def _caption(instances: Mapping[str, Instance], encodings: Mapping[str, Sequence[str]]) -> str:
    first = next(iter(instances.values()))
    name, analysed = first.analysis.task.name, len(first.analysis.traces)
    look_of = looks(_all_encodings(encodings))
    hinted = {
        look_of[encoding].label
        for panel, instance in instances.items()
        for encoding in encodings[panel]
        if instance.relation(encoding).scale_hint
    }
    parts = [
        f"The circuit of '{name}' at scale {first.scale}, found for scales 1 to {analysed} (a box shows the "
        "unit operator of a step, an arrow brings an argument), and the labels of key i (row) for query j (column) "
        "under each encoding.",
        "Framed cells are the arguments of the marked step, in the colour and line of their slots.",
        "A step is computed at the query before its token; queries that compute nothing at this scale are in grey.",
        "Bold labels belong to arguments of a step. Shades run from label 0 to a matrix's largest.",
        f"Above each matrix: the operators that the encoding induces on the circuit up to scale {first.scale} "
        "(∞: its labels cannot tell the arguments of some step from other keys).",
        glossary(_all_encodings(encodings)),
    ]
    if hinted:
        parts.append(f"Labels that depend on the scale as well: {', '.join(sorted(hinted))}.")
    for panel, instance in instances.items():
        names = instance.names()
        arguments = sorted((slots, key) for key, slots in instance.arguments().items())
        marked = " and ".join(f"{names[key - 1]} (slot {_numbers(slots)})" for slots, key in arguments)
        labels_of_arguments = []
        for encoding in encodings[panel]:
            labels = instance.labels(encoding)
            pair = ", ".join(str(labels[key - 1, instance.position - 2]) for _, key in arguments)
            labels_of_arguments.append(
                f"{look_of[encoding].label}{pair and f' {pair}'} ({_count_text(instance.operators(encoding))})"
            )
        target = names[instance.position - 1]
        how = {"aligned": "padded", "filled": "filled"}.get(panel)
        padded = f" (operands {how} up to scale {len(instance.analysis.traces)})" if how else ""
        marked_step = (
            f"{marked} {'are' if len(arguments) > 1 else 'is'} marked, from which {target} is computed;"
            if marked
            else f"{target} is always the same;"
        )
        parts.append(f"{panel.capitalize()}{padded}: {marked_step} labels {'; '.join(labels_of_arguments)}.")
    return " ".join(parts)


def _instances(
    analyses: Mapping[str, Analysis], scale: int, encodings: Mapping[str, Sequence[str]], step: int
) -> dict[str, Instance]:
    if not analyses or analyses.keys() != encodings.keys() or not all(encodings.values()):
        raise ValueError("nothing to draw: give each format its analysis and at least one encoding")
    for panel, analysis in analyses.items():
        if reason := unfit(analysis, scale=scale, encodings=encodings[panel], step=step):
            raise ValueError(f"{panel} format: {reason}")
    return {panel: Instance(analysis=analysis, scale=scale, step=step) for panel, analysis in analyses.items()}


def _matrix_lines(encodings: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, bool, Sequence[str]]]:
    """Yield the lines of matrices as (format, True for the first line of the format, encodings)."""
    for panel, names in encodings.items():
        for start in range(0, len(names), _COLUMNS):
            yield panel, start == 0, names[start : start + _COLUMNS]


def _all_encodings(encodings: Mapping[str, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(encoding for names in encodings.values() for encoding in names))


def _draw_matrix(axes: Axes, instance: Instance, encoding: str, *, key_names: bool) -> None:
    labels = instance.labels(encoding)
    positions = np.arange(1, len(labels) + 1)
    matrix(axes, np.ma.masked_equal(labels, NO_LABEL), _SHADES, 0, max(1, int(labels.max())), gid="labels")
    relevant = instance.relevant()
    for key, query in (np.argwhere(labels != NO_LABEL) + 1).tolist():
        weight = "bold" if (key, query) in relevant else "normal"
        axes.text(
            query, key, str(labels[key - 1, query - 1]), ha="center", va="center_baseline",
            fontsize=SMALLEST_TEXT, fontweight=weight, zorder=6,
        )  # fmt: skip
    for key, slots in instance.arguments().items():
        for slot in slots:
            _frame_cell(axes, instance.position - 1, key, slot, first=slot == slots[0])
    names = [name.replace("$", r"\$") for name in instance.names()]
    axes.set_xticks(positions, names, fontsize=SMALLEST_TEXT if len(names) > _ROOMY else None)
    axes.set_yticks(positions, names if key_names else [])
    for tick in axes.get_yticklabels():
        # With another alignment the low stroke of a padding symbol would seem to belong to the row below.
        tick.set_verticalalignment("center")
    for position, tick in zip(positions.tolist(), axes.get_xticklabels(), strict=True):
        tick.set_color("black" if position in instance.queries else "0.6")
    axes.set_xlabel("query j", labelpad=0)
    if key_names:
        axes.set_ylabel("key i", labelpad=1)


def _frame_cell(axes: Axes, query: int, key: int, slot: int, *, first: bool) -> None:
    """Frame the cell of an argument in the colour and line of its slot; frames of further slots lie inside the first.

    A frame, unlike the mark beside the token, hides neither the label of its cell nor those around it.
    """
    style, inset = slot_look(slot), 0.0 if first else 0.14
    line = style.line if style.line == "-" else (0, tuple(0.5 * part for part in style.line[1]))
    axes.add_patch(
        Rectangle(
            (query - 0.5 + inset, key - 0.5 + inset), 1 - 2 * inset, 1 - 2 * inset, facecolor="none",
            edgecolor=style.colour, linestyle=line, linewidth=1.5, zorder=5, clip_on=False, gid=f"mark:{slot}",
        )
    )  # fmt: skip


def _heading(label: str, count: str) -> list[str]:
    """Split the heading of a matrix into lines that are not wider than the matrix."""
    one_line = f"{label}: {count}"
    if len(one_line) <= _HEADING_CHARACTERS:
        return [one_line]
    return [*wrap(label, _HEADING_CHARACTERS, break_on_hyphens=False), count]


def _count_text(operators: float) -> str:
    number = "∞" if math.isinf(operators) else f"{operators:g}"
    return f"{number} operator{'' if operators == 1 else 's'}"


def _numbers(slots: Sequence[int]) -> str:
    return " and ".join(map(str, slots))


def _legend(figure: Figure, instances: Mapping[str, Instance]) -> None:
    first = next(iter(instances.values()))
    target = first.names()[first.position - 1]
    kinds = {operator for its in instances.values() for _, operator in its.graph.nodes(data="operator")} - {None}
    operators = ", ".join(f"u{number + 1}" for number in sorted(kinds))
    step = f"{operators}: unit operator{'s' if len(kinds) > 1 else ''}. Step {first.step}, which gives {target}, reads"
    slots = sorted(
        {slot for instance in instances.values() for filled in instance.arguments().values() for slot in filled}
    )
    handles = [
        Line2D([], [], color=look.colour, linestyle=look.line, marker=look.marker, markersize=8, fillstyle="none")
        for look in map(slot_look, slots)
    ]
    if handles:  # a step whose operator is constant has no argument to mark
        figure.legend(
            handles=handles, labels=[f"slot {slot}" for slot in slots], title=step, title_fontsize=8,
            loc="lower center", ncols=len(handles), frameon=False, handlelength=3.6, borderpad=0.1,
        )  # fmt: skip


SCALES = (3, 2)
"""Scales in order of preference; the first one that is legible in print is drawn."""
STEPS = 600_000_000
"""Budget of counted steps (`lengthgen.circuits.clock`) for the search of each circuit."""
ENCODINGS = {"aligned": ("ipe", "rpe", "ape", "nope"), "unaligned": ("ipe-sh", "rpe", "ape", "nope")}
"""Encodings of Figure 1 by format."""


def parity(_: Sources, *, scale: int, step: int) -> Drawing:
    """Draw Figure 1 at one scale, with the arguments of one step marked."""
    analyses = {form: analyse(load("parity"), form, SCALES[0] + 1) for form in ENCODINGS}
    return drawing(analyses, scale=scale, encodings=ENCODINGS, step=step)


def labels(_: Sources, *, tasks: Sequence[tuple[TaskSpec, Sequence[str]]]) -> Drawing:
    """Draw the label matrices of a task in all formats that are legible, at the first scale of SCALES with one.

    Raises:
        Undrawable: no format is legible at any scale, or the search for a circuit takes more than `STEPS`.
    """
    reasons: dict[str, str] = {}
    for scale in SCALES:
        fitting: dict[str, Analysis] = {}
        reasons_of_scale: dict[str, str] = {}
        for task, encodings in tasks:
            analysis = _legible_analysis(task, scale, encodings)
            if isinstance(analysis, str):
                reasons_of_scale[task.format] = analysis
            else:
                fitting[task.format] = analysis
        if fitting:
            drawn_encodings = {task.format: encodings for task, encodings in tasks if task.format in fitting}
            step = _marked_step(next(iter(fitting.values())), scale)
            return drawing(fitting, scale=scale, encodings=drawn_encodings, step=step)
        reasons = reasons_of_scale
    raise Undrawable("; ".join(f"{form}: {reason}" for form, reason in reasons.items()))


def _legible_analysis(task: TaskSpec, scale: int, encodings: Sequence[str]) -> Analysis | str:
    """Return the analysis of a task, or the reason why its matrices would not be legible. Raises as `labels`."""
    try:
        # Checked first: the search for a circuit takes longest for the tasks that are too long.
        if reason := too_long(trace(task.laid_out(scale + 1), scale).length, scale):
            return reason
        analysis = analyse(task.plain(), task.format, scale + 1, clock=Clock(steps=STEPS))
        step = _marked_step(analysis, scale)
        return unfit(analysis, scale=scale, encodings=encodings, step=step) or analysis
    except SearchStopped as error:
        raise Undrawable(f"{task.format}: {error}") from None
    except TaskError as error:
        return str(error)


def _marked_step(analysis: Analysis, scale: int) -> int:
    """Step to mark: the second one, or the first one if the second is the last, which only ends the output."""
    return 2 if len(analysis.traces[scale - 1].steps) > 2 else 1


_SHOWN_BEFORE = ("fig1",)
"""Protocols whose only task is that of Figure 1."""


def _protocol_figures(protocol_name: str, protocol: Protocol) -> list[Entry]:
    """Declare one figure for each task of a protocol, unless Figure 1 shows it already."""
    if protocol_name in _SHOWN_BEFORE:
        return []
    by_task: dict[TaskSpec, dict[TaskSpec, list[str]]] = {}
    for cell in protocol.cells:
        in_formats = by_task.setdefault(replace(cell.task, format="unaligned"), {})
        in_formats.setdefault(cell.task, []).append(cell.encoding)
    entries = []
    for name, (task, in_formats) in zip(_file_names(list(by_task)), by_task.items(), strict=True):
        encodings = [each for names in in_formats.values() for each in names]
        entries.append(
            Entry(
                place=510,
                name=f"labels-{protocol.name}-{name}",
                title=f"{protocol.name}: circuit, and labels of each encoding, of {name}",
                make=partial(labels, tasks=tuple(in_formats.items())),
                needs=Needs(files=_user_files([task.name, *encodings])),
                least_width=PAGE_WIDTH,
            )
        )
    return entries


def _user_files(specs: Sequence[str]) -> tuple[Path, ...]:
    """Return the user's Python files that some of the tasks and encodings depend on."""
    paths = {Path(file_and_name[0]) for spec in specs if (file_and_name := split_file(spec))}
    return tuple(dict.fromkeys(file for path in sorted(paths) for file in own_files(path)))


def _file_names(tasks: Sequence[TaskSpec]) -> list[str]:
    """Return names of tasks for file names; the user's file is part of a name only if two tasks would be equal."""
    counts = Counter(task.short_name for task in tasks)
    return [task.identifier(with_file=counts[task.short_name] > 1) for task in tasks]


FIGURES = (
    *(
        Entry(
            place=100,
            name=name,
            title=f"Parity: circuit, and labels of each encoding at scale {scale}, step {step} marked",
            make=partial(parity, scale=scale, step=step),
            least_width=PAGE_WIDTH,
        )
        for name, scale, step in (("figure1", 3, 2), ("figure1-next-step", 3, 3), ("figure1-smaller-scale", 2, 2))
    ),
    _protocol_figures,
)
