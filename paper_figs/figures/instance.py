"""A task at one scale as figures show it: names of tokens, arguments of a marked step, a small circuit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.patheffects import withStroke

from lengthgen.circuits.analysis import Analysis
from lengthgen.circuits.encoding_spec import parse_encoding, relation_of
from lengthgen.circuits.induced import induced_complexity
from lengthgen.circuits.task import UNDEFINED, Task
from lengthgen.paper_figs.style import slot_look
from lengthgen.theory.relation import Labels, Relation


def operand_names(task: Task, scale: int) -> dict[int, tuple[str, int]]:
    """Map from each position of an operand to the letter of the operand and the place in it, from 1.

    The letter is x if there is one operand; else they are a, b, ...
    """
    operands = [segment for segment in task.segments(scale) if segment.operand]
    letters = ["x"] if len(operands) == 1 else [chr(ord("a") + index) for index in range(len(operands))]
    return {
        position: (letter, place)
        for operand, letter in zip(operands, letters, strict=True)
        for place, position in enumerate(range(operand.first, operand.last + 1), start=1)
    }


@dataclass(frozen=True, kw_only=True)
class Instance:
    """Task in one format at one scale; everything is read from the analysis.

    Attributes:
        analysis: analysis of the task, at least up to `scale`.
        scale: scale of the instance.
        step: step whose arguments are marked, counted from 1.

    Raises:
        ValueError: the scale was not analysed, or it has no such step.
    """

    analysis: Analysis
    scale: int
    step: int

    def __post_init__(self) -> None:
        largest = len(self.analysis.traces)
        if not 1 <= self.scale <= largest:
            raise ValueError(f"scale {self.scale} was not analysed: choose one of 1..{largest}")
        steps = len(self.analysis.circuit.wirings[self.scale])
        if not 1 <= self.step <= steps:
            raise ValueError(f"scale {self.scale} has the steps 1..{steps}, not {self.step}")

    @property
    def position(self) -> int:
        """Position of the token of the marked step. The query that computes it is one position earlier."""
        return self.analysis.circuit.wirings[self.scale][self.step - 1].position

    @property
    def queries(self) -> frozenset[int]:
        """Query positions at which a step is computed."""
        return frozenset(wiring.position - 1 for wiring in self.analysis.circuit.wirings[self.scale])

    @property
    def graph(self) -> nx.MultiDiGraph:
        """Graph of the circuit at this scale."""
        return self.analysis.circuit.graph(self.scale)

    def names(self) -> list[str]:
        """Name of the token at each position.

        A token that is the same in every prompt has its symbol as name. Other prompt tokens are x1, x2, ..., or
        a1, a2, ..., b1, b2, ... if there are several operands. Computed tokens are y1, y2, ...
        """
        trace = self.analysis.traces[self.scale - 1]
        occurring = [np.unique(row[row != UNDEFINED]) for row in trace.tokens]
        names = [self.analysis.task.alphabet[tokens[0]] if len(tokens) == 1 else "" for tokens in occurring]
        computed = {position: ("y", step) for step, position in enumerate(trace.steps, start=1)}
        for position, (letter, place) in (operand_names(self.analysis.task, self.scale) | computed).items():
            names[position - 1] = names[position - 1] or f"{letter}{place}"
        return names

    def arguments(self) -> dict[int, tuple[int, ...]]:
        """Map from key position to the slots that it fills at the marked step, if the operator depends on them."""
        roles = self.analysis.circuit.roles(self.scale)
        query = self.position - 1
        return {key: tuple(slot for _, slot in sorted(role)) for (key, at), role in roles.items() if at == query}

    def relevant(self) -> frozenset[tuple[int, int]]:
        """Pairs (key, query) of all arguments of all steps."""
        return frozenset(self.analysis.circuit.roles(self.scale))

    def relation(self, encoding: str) -> Relation:
        """Position relation of an encoding. Raises the errors of `lengthgen.circuits.encoding_spec.relation_of`."""
        return relation_of(parse_encoding(encoding), self.analysis.circuit)

    def labels(self, encoding: str) -> Labels:
        """Label matrix of an encoding: int64 [length, length], rows keys, columns queries. Raises as `relation`."""
        return self.relation(encoding).labels(self.analysis.traces[self.scale - 1].length, self.scale)

    def operators(self, encoding: str) -> float:
        """Number of operators that the encoding induces up to this scale; infinite if it cannot select some step.

        Raises as `relation`.
        """
        traces = self.analysis.traces[: self.scale]
        induced = induced_complexity(self.analysis.circuit, self.relation(encoding), traces)
        return induced.complexity[self.scale]


_PROMPT, _STEPS, _NAMES = 1.0, 0.3, 0.0
"""Heights (y) of the prompt tokens, of the operators of the steps, and of the tokens that the steps compute."""

_FAINT = "0.6"


def draw_circuit(
    axes: Axes, graph: nx.MultiDiGraph, names: Sequence[str], *, marked: int, arguments: Mapping[int, Sequence[int]]
) -> None:
    """Draw the graph of a circuit (`Circuit.graph`).

    A step is a box with its operator, and the token that it computes is written below. Each edge has the line style of
    its slot. At the marked step, the edges also have the colour of their slot, and the arguments carry its mark.

    Args:
        axes: the axes to draw into; their frame is removed.
        graph: graph of the circuit at one scale.
        names: token names of positions 1, 2, ...
        marked: position of the step whose arguments are marked.
        arguments: arguments of that step as a map from position to slots, without slots that its operator ignores.
    """
    places = _places(graph)
    for node, (x, y) in places.items():
        step = graph.nodes[node]["kind"] == "step"
        _write(axes, x, _NAMES if step else y, names[node - 1])
        if step:
            fill_colour, width = ("0.9", 1.2) if node == marked else ("white", 0.6)
            box = {"boxstyle": "round,pad=0.25", "facecolor": fill_colour, "edgecolor": "black", "linewidth": width}
            _write(axes, x, y, f"u{graph.nodes[node]['operator'] + 1}", bbox=box)
    for argument, node, slot in graph.edges(data="slot"):
        highlighted = node == marked and slot in arguments.get(argument, ())
        _draw_edge(axes, places, argument, node, slot, highlighted=highlighted)
        if highlighted:
            x, y = places[argument]
            _mark(axes, x, _NAMES if y == _STEPS else y, slot, size=13.0, gid=f"circuit-mark:{slot}:{argument}")
    axes.set(xlim=(-0.09, 1.09), ylim=(-0.2, 1.2), xticks=[], yticks=[])
    axes.set_axis_off()


def _mark(axes: Axes, x: float, y: float, slot: int, *, size: float, gid: str) -> None:
    """Draw the mark of an argument slot at (x, y), `size` points wide, with a white rim so that it stands out."""
    style = slot_look(slot)
    plain: dict[str, Any] = {"marker": style.marker, "markersize": size, "fillstyle": "none", "linestyle": "none"}
    axes.plot(x, y, color="white", markeredgewidth=2.0, zorder=4, clip_on=False, **plain)
    axes.plot(x, y, color=style.colour, markeredgewidth=1.2, zorder=5, gid=gid, clip_on=False, **plain)


def _places(graph: nx.MultiDiGraph) -> dict[int, tuple[float, float]]:
    """Return (x, y) of each prompt token and step: two rows of equal width, in the order of the sequence."""
    rows = {
        height: sorted(node for node, node_kind in graph.nodes(data="kind") if node_kind == kind)
        for kind, height in (("prompt", _PROMPT), ("step", _STEPS))
    }
    return {
        node: (index / (len(row) - 1) if len(row) > 1 else 0.5, height)
        for height, row in rows.items()
        for index, node in enumerate(row)
    }


def _draw_edge(
    axes: Axes, places: Mapping[int, tuple[float, float]], argument: int, node: int, slot: int, *, highlighted: bool
) -> None:
    style = slot_look(slot)
    same_row = places[argument][1] == places[node][1]
    # A straight edge between steps that are not neighbours would run through the boxes between them.
    bend = -0.35 if same_row and node - argument > 1 else 0.0
    axes.add_patch(
        FancyArrowPatch(
            places[argument], places[node], arrowstyle="-|>,head_length=2.2,head_width=1.3",
            connectionstyle=f"arc3,rad={bend}", linestyle=style.line, linewidth=1.3 if highlighted else 0.8,
            color=style.colour if highlighted else _FAINT, shrinkA=8.0, shrinkB=8.0, zorder=2 if highlighted else 1,
            gid=f"edge:{argument}:{node}:{slot}",
        )
    )  # fmt: skip


def _write(axes: Axes, x: float, y: float, text: str, *, bbox: Mapping[str, object] | None = None) -> None:
    """Write a text, centred; a name without a box is drawn above the marks around it."""
    rim = [withStroke(linewidth=2.2, foreground="white")]  # so that no mark runs through the name that it surrounds
    text_style: dict[str, Any] = {"bbox": dict(bbox), "zorder": 3} if bbox else {"zorder": 6, "path_effects": rim}
    axes.text(x, y, text, ha="center", va="center", fontsize=8, parse_math=False, **text_style)
