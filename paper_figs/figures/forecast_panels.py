"""Pictures of the forecast: the labels that the steps of a task read beside its forecast, and how reliable it is.

Left in the picture of a task: the first steps of the circuit at a small scale, and below each step the labels of its
arguments, shaded where an operator that served a step before meets new ones. Right: the forecast share of runs that
generalize with its interval, and the share of the runs on record.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.encoding_spec import EncodingError, parse_encoding, parse_encodings, relation_of
from lengthgen.circuits.forecast.ask import forecasts
from lengthgen.circuits.forecast.scores import NEW, RANDOM_TASKS, scores
from lengthgen.circuits.prediction_record import Forecast, Prediction
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.paper_figs import saving
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.figures.instance import Instance, draw_circuit
from lengthgen.paper_figs.names import file_name
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Sources
from lengthgen.paper_figs.style import MOST_SLOTS, PAGE_WIDTH, SMALLEST_TEXT, context, glossary, looks
from lengthgen.theory.relation import RelationError

SCALE = 4
"""Largest scale of the circuit that is drawn."""
STEPS = 6
"""Largest number of steps that are drawn."""
PROMPT = 9
"""Largest number of prompt tokens that are drawn."""
ROWS = 9
"""Largest number of encodings, so that the picture is at most 3.2 inches high."""

_NAME, _NAME_SIZE = 5, 15
"""Largest numbers of characters of a token, and of the label of an encoding."""
_CHARACTER = 0.053
"""Width of a character in inches at the smallest font size."""
_NEW, _UNCLEAR = "#F2C9A5", "0.85"
"""Colours of labels that are new to an operator, and of labels by which arguments cannot be told apart."""

# Inches: rows; circuit above them, axis below; names of encodings, operators, gap, numbers of recorded runs.
_ROW, _ABOVE, _BELOW = 0.2, 1.02, 0.36
_NAMES, _OPERATORS, _GAP, _RECORD = 0.86, 0.74, 0.2, 0.68
_LEFT = 4.0
"""Right end of the cells of labels in inches."""


def panels_drawing(
    analysis: Analysis, predictions: Mapping[str, Prediction], *, train: Sequence[int], test: Sequence[int]
) -> Drawing:
    """Draw circuit, labels and forecasts of a task, one row for each encoding. It is as wide as a page.

    The analysis is up to the largest scale; predictions are by text of the encoding, each with its forecast.

    Raises:
        LengthgenError: there are more encodings than fit the picture.
        EncodingError, StyleError: as `lengthgen.paper_figs.style.looks`.
    """
    if len(predictions) > ROWS:
        raise LengthgenError(f"{len(predictions)} encodings are more than the {ROWS} that fit a picture: name fewer")
    forecasts_of = {name: its.forecast for name, its in predictions.items() if its.forecast}
    shown = _shown(analysis, predictions)
    return Drawing(
        shown=_draw_panels(shown, predictions, forecasts_of),
        rows=[_row(shown, its, forecasts_of[name]) for name, its in predictions.items()],
        caption=_caption(analysis, shown, predictions, train, test),
    )


def write(
    analysis: Analysis,
    predictions: Mapping[str, Prediction],
    folder: Path,
    *,
    train: Sequence[int],
    test: Sequence[int],
) -> list[str]:
    """Draw the picture of a task, and return the paths of the files written. Raises as `drawing`, and OSError."""
    drawn = panels_drawing(analysis, predictions, train=train, test=test)
    name = file_name(f"forecast-{analysis.task.name}-{analysis.format}")
    return [str(path) for path in saving.write(drawn, folder, name)]


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """Part of a circuit that is drawn, with the labels that its steps read.

    Attributes:
        scale: scale of the circuit.
        graph: graph of the steps and of all that they read.
        names: name of the token at each position.
        steps: positions of the steps.
        every: number of steps of this scale.
        labels: text of the encoding -> for each step the labels of its arguments, which are numbered in the order in
            which steps read them; None without a relation.
    """

    scale: int
    graph: nx.MultiDiGraph
    names: Sequence[str]
    steps: Sequence[int]
    every: int
    labels: Mapping[str, Sequence[tuple[int, ...]] | None]

    def operator(self, step: int) -> int:
        """Index of the operator of a step."""
        return int(self.graph.nodes[step]["operator"])

    def is_new(self, encoding: str, at: int) -> bool:
        """Return whether the operator of the step at index `at` served steps before, and none with the same labels."""
        labels = self.labels[encoding]
        assert labels is not None
        operators = [self.operator(step) for step in self.steps[: at + 1]]
        before = [labels[index] for index in range(at) if operators[index] == operators[at]]
        return bool(before) and labels[at] not in before


def _shown(analysis: Analysis, encodings: Mapping[str, Prediction]) -> _Shown | str:
    """Return the first steps of the circuit that fit, at the largest scale up to SCALE, or why none is drawn."""
    if analysis.result is None or analysis.result.circuit is None:
        return "no bounded number of arguments determines every step"
    circuit = analysis.circuit
    scale = min(SCALE, len(analysis.traces))
    reads = _reads(circuit, scale)
    most = max((max(slots, default=0) for slots in reads.values()), default=0)
    if most > MOST_SLOTS:
        return f"steps have up to {most} arguments, and {MOST_SLOTS} can be told apart"
    if not reads:
        return f"no step at scale {scale}"
    labels = {encoding: _labels(analysis, encoding, scale, reads) for encoding in encodings}
    count = min(STEPS, len(reads))
    while count > 1 and not _fits(reads, labels, count):
        count -= 1
    steps = [*reads][:count]
    graph = circuit.graph(scale)
    kept = nx.MultiDiGraph()
    arguments = {key for step in steps for key in reads[step].values()}
    kept.add_nodes_from((node, graph.nodes[node]) for node in sorted({*steps, *arguments}))
    kept.add_edges_from((key, step, {"slot": slot}) for step in steps for slot, key in reads[step].items())
    names = [_cut(name, _NAME) for name in Instance(analysis=analysis, scale=scale, step=1).names()]
    return _Shown(
        scale=scale,
        graph=kept,
        names=names,
        steps=steps,
        every=len(reads),
        labels={encoding: its and its[:count] for encoding, its in labels.items()},
    )


def _reads(circuit: Circuit, scale: int) -> dict[int, dict[int, int]]:
    """Map from the position of each step to its arguments, slot -> key, without slots that its operator ignores."""
    reads: dict[int, dict[int, int]] = {wiring.position: {} for wiring in circuit.wirings[scale]}
    for (key, query), role in circuit.roles(scale).items():
        reads[query + 1] |= {slot: key for _, slot in role}
    return {step: dict(sorted(slots.items())) for step, slots in reads.items()}


def _labels(
    analysis: Analysis, encoding: str, scale: int, reads: Mapping[int, Mapping[int, int]]
) -> list[tuple[int, ...]] | None:
    """Return the labels of the arguments of each step, numbered from 1 in the order in which steps read them.

    Arguments are in the order of slots, and each counts once. None if the encoding has no relation, or finds it in
    training.
    """
    spec = parse_encoding(encoding)
    if spec.record.learns_labels:
        return None
    try:
        relation = relation_of(spec, analysis.circuit)
        labels = relation.labels(analysis.traces[scale - 1].length, scale)
    except (EncodingError, RelationError):
        return None
    numbers: dict[int, int] = {}
    return [
        tuple(
            numbers.setdefault(int(labels[key - 1, step - 2]), len(numbers) + 1)
            for key in dict.fromkeys(slots.values())
        )
        for step, slots in reads.items()
    ]


def _fits(
    reads: Mapping[int, Mapping[int, int]], labels: Mapping[str, Sequence[tuple[int, ...]] | None], count: int
) -> bool:
    """Return whether the first steps have few enough prompt tokens, and labels that fit their cells."""
    prompt = {key for step in [*reads][:count] for key in reads[step].values() if key not in reads}
    room = (_LEFT - _OPERATORS - _NAMES) / count / _CHARACTER
    return len(prompt) <= PROMPT and all(len(_text(cell)) < room for its in labels.values() for cell in its or ())


def _cut(text: str, longest: int) -> str:
    """Return a text, cut if it is longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _text(labels: Sequence[int]) -> str:
    """Return the labels of a step as text."""
    return ",".join(map(str, labels)) or "none"


def _draw_panels(
    shown: _Shown | str, predictions: Mapping[str, Prediction], forecasts_of: Mapping[str, Forecast]
) -> Figure:
    count = len(predictions)
    height = _ABOVE + _ROW * count + _BELOW
    width = PAGE_WIDTH
    with context():
        figure = Figure(figsize=(width, height))
        bottom, tall = _BELOW / height, _ROW * count / height
        cells = figure.add_axes((0, bottom, _LEFT / width, tall))
        cells.set(xlim=(0, _LEFT), ylim=(count, 0))
        cells.set_axis_off()
        _draw_names(cells, predictions)
        if isinstance(shown, _Shown):
            _draw_labels(figure, cells, shown, predictions, height)
        else:
            cells.text((_NAMES + _LEFT) / 2, -0.3, f"({shown})", ha="center", va="center", fontsize=7)
        left = _LEFT + _GAP
        axes = figure.add_axes((left / width, bottom, (width - left - _RECORD) / width, tall))
        _draw_forecasts(axes, predictions, forecasts_of)
        figure.legend(
            handles=[
                Line2D([], [], color="black", marker="o", markersize=4, linewidth=1.2, label="forecast, 95% interval"),
                Line2D([], [], color="black", marker="D", markersize=5, fillstyle="none", linestyle="none",
                       label="runs on record"),
                Patch(facecolor=_NEW, label="labels new to their operator"),
                Patch(facecolor=_UNCLEAR, label="arguments that share a label"),
            ],
            loc="upper left", bbox_to_anchor=(left / width - 0.01, 1.0), frameon=False, fontsize=7, handlelength=2.2,
            labelspacing=0.35,
        )  # fmt: skip
    return figure


def _draw_names(axes: Axes, predictions: Mapping[str, Prediction]) -> None:
    for row, look in enumerate(looks(predictions).values()):
        axes.text(0.06, row + 0.5, _cut(look.label, _NAME_SIZE), va="center", fontsize=7, color=look.colour)


def _draw_labels(
    figure: Figure, axes: Axes, shown: _Shown, predictions: Mapping[str, Prediction], height: float
) -> None:
    """Draw the circuit above, and below each step the labels that it reads, with the number of operators at the end."""
    pitch = (_LEFT - _OPERATORS - _NAMES) / len(shown.steps)
    middles = [_NAMES + (at + 0.5) * pitch for at in range(len(shown.steps))]
    span = middles[-1] - middles[0] or pitch
    start = middles[0] if len(middles) > 1 else middles[0] - span / 2
    left, right = start - 0.09 * span, start + 1.09 * span
    sketch = figure.add_axes(
        (left / PAGE_WIDTH, (height - _ABOVE + 0.02) / height, (right - left) / PAGE_WIDTH, (_ABOVE - 0.04) / height)
    )
    sketch.set_gid("circuit")
    marked = shown.steps[min(1, len(shown.steps) - 1)]
    arguments: dict[int, list[int]] = {}
    for key, _, slot in shown.graph.in_edges(marked, data="slot"):
        arguments.setdefault(key, []).append(slot)
    draw_circuit(sketch, shown.graph, shown.names, marked=marked, arguments=arguments)
    axes.text(0.06, -0.3, f"scale {shown.scale}", va="center", fontsize=SMALLEST_TEXT, color="0.35")
    axes.text(_LEFT - _OPERATORS / 2, -0.3, "operators", ha="center", va="center", fontsize=SMALLEST_TEXT, color="0.35")
    for row, (encoding, prediction) in enumerate(predictions.items()):
        for at, middle in enumerate(middles):
            its = shown.labels[encoding]
            if its is not None:
                unclear = len({*its[at]}) < len(its[at])
                colour = _UNCLEAR if unclear else _NEW if shown.is_new(encoding, at) else "white"
                axes.add_patch(
                    Rectangle((middle - pitch / 2, row), pitch, 1, facecolor=colour, edgecolor="white", linewidth=1.5)
                )
            axes.text(
                middle, row + 0.5, "-" if its is None else _text(its[at]), ha="center", va="center",
                fontsize=SMALLEST_TEXT + 0.5, gid=f"labels:{encoding}:{at}",
            )  # fmt: skip
        axes.text(
            _LEFT - _OPERATORS / 2, row + 0.5, _operators(prediction), ha="center", va="center",
            fontsize=SMALLEST_TEXT + 0.5, gid=f"operators:{encoding}",
        )  # fmt: skip


def _operators(prediction: Prediction) -> str:
    """Return the numbers of operators over the training scales and over all scales as text."""
    numbers = prediction.complexity_train, prediction.complexity_test
    if None in numbers:
        return "-"
    first, last = ("∞" if math.isinf(number or 0) else f"{number:g}" for number in numbers)
    return first if first == last else f"{first} → {last}"


def _draw_forecasts(axes: Axes, predictions: Mapping[str, Prediction], forecasts_of: Mapping[str, Forecast]) -> None:
    for row, (encoding, look) in enumerate(looks(predictions).items()):
        its = forecasts_of[encoding]
        y = row + 0.5
        axes.plot([its.low, its.high], [y, y], color=look.colour, linewidth=1.6, solid_capstyle="butt", zorder=2,
                  clip_on=False, gid=f"interval:{encoding}")  # fmt: skip
        axes.plot(its.share, y, color=look.colour, marker="o", markersize=4.5, zorder=3, clip_on=False,
                  gid=f"share:{encoding}")  # fmt: skip
        recorded = its.recorded
        if recorded.runs:
            axes.plot(
                recorded.generalize / recorded.runs, y, color="black", marker="D", markersize=6, fillstyle="none",
                markeredgewidth=0.9, linestyle="none", zorder=4, clip_on=False, gid=f"recorded:{encoding}",
            )  # fmt: skip
        axes.text(1.06, y, _record(its), va="center", fontsize=SMALLEST_TEXT + 0.5)
    axes.text(1.06, -0.3, "on record", va="center", fontsize=SMALLEST_TEXT, color="0.35")
    axes.set(xlim=(0, 1), ylim=(len(predictions), 0), yticks=[])
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    axes.set_xlabel("share of fitting runs that generalize", labelpad=1)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    axes.set_gid("forecast")


def _record(forecast: Forecast) -> str:
    """Return the recorded runs of a cell as text."""
    recorded = forecast.recorded
    return f"{recorded.generalize} of {recorded.runs}" if recorded.runs else "-"


def _row(shown: _Shown | str, prediction: Prediction, forecast: Forecast) -> dict[str, object]:
    drawn = shown if isinstance(shown, _Shown) else None
    labels = drawn.labels[prediction.encoding] if drawn else None
    return {
        "encoding": prediction.encoding,
        "scale": drawn.scale if drawn else "",
        "labels": "; ".join(map(_text, labels or ())),
        "operators": _operators(prediction),
        "share": forecast.share,
        "low": forecast.low,
        "high": forecast.high,
        "breaks_at": forecast.breaks_at or "",
        "generalize": forecast.recorded.generalize,
        "runs": forecast.recorded.runs,
        "why": forecast.why,
    }


def _caption(
    analysis: Analysis,
    shown: _Shown | str,
    predictions: Mapping[str, Prediction],
    train: Sequence[int],
    test: Sequence[int],
) -> str:
    parts = []
    if isinstance(shown, _Shown):
        steps = (
            "all steps" if len(shown.steps) == shown.every else f"the first {len(shown.steps)} of {shown.every} steps"
        )
        parts.append(
            f"Left: {steps} of '{analysis.task.name}' ({analysis.format}) at scale {shown.scale} (a box shows the unit "
            "operator of a step, an arrow brings an argument; tokens that these steps do not read are left out), and "
            "below each step the labels of its arguments under each encoding, numbered in the order in which steps "
            "read them (-: found in training, or unknown). Orange: labels that are new to an operator of a step "
            "before. Grey: two arguments share a label. Operators: how many the labels need over the training scales "
            "→ over all scales (∞: labels do not tell arguments from other keys)."
        )
    else:
        parts.append(f"The circuit of '{analysis.task.name}' is not drawn: {shown}.")
    parts.append(
        f"Right: forecast share of the runs that solve all scales {test[0]}-{test[-1]}, of those that fit their "
        f"training scales {train[0]}-{train[-1]}, with its 95% interval (dot and bar), and the share of the runs on "
        f"record (diamond, numbers) [F]. {glossary(predictions, trained=True)}"
    )
    return " ".join(parts)


def _parity_forecast(_: Sources) -> Drawing:
    train, test = range(1, 6), range(1, 21)
    task = TaskSpec(name="parity", format="aligned")
    analysis = analyse(task.plain(), task.format, test[-1])
    predictions = forecasts(analysis, parse_encodings("ipe,rpe,ape,nope"), train, test, task=task)
    return panels_drawing(analysis, predictions, train=train, test=test)


def reliability_drawing(answer: Mapping[str, Any], *, width: float) -> Drawing:
    """Draw the tenths of the forecast on new and on random tasks, with the number of runs of each.

    `answer` is that of `lengthgen.circuits.forecast.scores.scores`; `width` is in inches.
    """
    parts = {name: answer["parts"][name] for name in (NEW, RANDOM_TASKS)}
    counts = "; ".join(
        f"{name}: {part['runs']:,} fitting runs of {part['cells']:,} cells, Brier score a run "
        + ", ".join(f"{rival} {part['brier'][rival]:.3f}" for rival in ("forecast", "coverage", "distractors", "noise"))
        for name, part in parts.items()
    )
    caption = (
        "Reliability of the forecast on tasks that it does not count: share of runs that generalized against the mean "
        "forecast, in tenths of the forecast. On the diagonal what is said is seen. Numbers are runs; dots are "
        f"small where there are fewer than {answer['fewest']}. {counts}. Recorded cells {answer['version']} [F]."
    )
    tenths = {name: part["calibration"] for name, part in parts.items()}
    rows = [{"tasks": name, **tenth} for name, of_part in tenths.items() for tenth in of_part]
    return Drawing(shown=_draw_reliability(tenths, width, answer["fewest"]), rows=rows, caption=caption)


def _draw_reliability(tenths: Mapping[str, list[Mapping[str, Any]]], width: float, fewest: int) -> Figure:
    with context():
        figure = Figure(figsize=(width, 2.4), layout="constrained")
        for axes, (name, of_part) in zip(figure.subplots(1, len(tenths), sharey=True), tenths.items(), strict=True):
            axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, zorder=1)
            forecast, observed = ([tenth[key] for tenth in of_part] for key in ("forecast", "observed"))
            axes.plot(forecast, observed, color="#004488", linewidth=1.2, zorder=2, gid=f"reliability:{name}")
            axes.scatter(
                forecast,
                observed,
                [18 if tenth["runs"] >= fewest else 5 for tenth in of_part],
                color="#004488",
                zorder=3,
            )
            for tenth in of_part:
                axes.annotate(
                    f"{tenth['runs']:,}",
                    (tenth["forecast"], tenth["observed"]),
                    xytext=(4, -9),
                    textcoords="offset points",
                    fontsize=6.5,
                )
            axes.set(xlim=(-0.05, 1.15), ylim=(-0.1, 1.06), xlabel="forecast share", title=name)
        figure.axes[0].set_ylabel("seen share")
    return figure


FIGURES = (
    Entry(
        place=330,
        name="forecast-parity",
        title="Parity: labels that its steps read, and the forecast for each encoding",
        make=_parity_forecast,
        least_width=PAGE_WIDTH,
    ),
    Entry(
        place=330,
        name="forecast-reliability",
        title="Reliability of the forecast on tasks that it does not count",
        make=lambda sources: reliability_drawing(scores(), width=sources.width),
        least_width=PAGE_WIDTH,
    ),
)
