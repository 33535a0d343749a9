"""Figure of a circuit in layers: the prompt on top, then each step at its depth, with arrows for the arguments."""

import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import networkx as nx
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch, Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.tasks import load
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.paper_figs import saving
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.figures.instance import operand_names
from lengthgen.paper_figs.names import count_text, file_name
from lengthgen.paper_figs.panels import page
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Sources
from lengthgen.paper_figs.style import PAGE_WIDTH, SMALLEST_TEXT, context, shades, slot_look

TASKS = {"parity": 4, "addition": 3, "multiplication": 3}
"""Map from the tasks that have a figure in the catalogue to the scale at which their circuit is drawn."""
COLUMNS = 14
"""Largest number of prompt positions, and of steps, that fits the width of a page."""
LAYERS = 10
"""Largest number of layers of steps that fits the height of a page."""
SYMBOL = 5
"""Largest number of characters of a symbol that fits a box."""

# Inches: names of the layers, margins, a line of the legend, distance of an edge from boxes; the width of a box, its
# compartments from top to bottom, and the space below the prompt and between layers.
_LAYER_NAMES, _MARGIN, _LEGEND, _CLEAR = 0.55, 0.1, 0.2, 0.035
_WIDTH, _SLOTS, _OPERATOR, _TOKEN, _BELOW_PROMPT, _BETWEEN = 0.36, 0.11, 0.15, 0.18, 0.6, 0.45
_WIDEST_COLUMN = 0.8
_LEGEND_COLUMNS = 8


def drawing(circuit: Circuit, scale: int, prompt: Sequence[str] | None = None) -> Drawing:
    """Draw the circuit of one scale in layers.

    The table has one row for each slot of each step. An arrow is drawn only for an `essential` slot: one that the
    operator depends on.

    Given the symbols of a prompt, boxes and table show the tokens that the circuit computes from it; else the table has
    none.

    Raises:
        CircuitError, TaskError: the circuit does not run on the prompt.
        ValueError: the circuit has no such scale, or the drawing does not fit a page.
    """
    diagram = _diagram(circuit, scale, prompt)
    return Drawing(
        shown=_draw(circuit, scale, diagram),
        rows=_rows(scale, diagram),
        caption=_caption(circuit, scale, diagram, example=prompt is not None),
    )


def write(circuit: Circuit, folder: pathlib.Path, scales: Sequence[int]) -> list[str]:
    """Draw the circuit at the largest of the scales that fits a page, and return the paths of the files written.

    Raises:
        LengthgenError: no scale fits a page.
    """
    reason: ValueError | None = None
    for scale in reversed(scales):
        try:
            drawn = drawing(circuit, scale)
        except ValueError as error:
            reason = error
            continue
        name = file_name(f"circuit-{circuit.task.name}-{scale}")
        return [str(path) for path in saving.write(drawn, folder, name)]
    raise LengthgenError(f"no circuit of scales {scales[0]} to {scales[-1]} can be drawn: {reason}")


@dataclass(frozen=True, kw_only=True)
class _Diagram:
    """Layout of a circuit: the places of all boxes in inches, with y = 0 at the top of the prompt and negative below.

    Attributes:
        graph: graph of the circuit.
        names: map from position to the text of its token in the box.
        essential: map from operator to the slots that are drawn, counted from 1.
        corners: map from position to (left, top) of its box.
        tops: top of the boxes of each layer; the prompt is layer 0.
    """

    graph: nx.MultiDiGraph
    names: Mapping[int, str]
    essential: Mapping[int, tuple[int, ...]]
    corners: Mapping[int, tuple[float, float]]
    tops: tuple[float, ...]

    @property
    def height(self) -> float:
        return _box_height("step") - self.tops[-1]

    def edges(self) -> list[tuple[int, int, int]]:
        """Edges that are drawn, as (argument, step, slot)."""
        return [
            (argument, step, slot)
            for argument, step, slot in self.graph.edges(data="slot")
            if slot in self.essential[self.graph.nodes[step]["operator"]]
        ]

    def inlet(self, step: int, slot: int) -> tuple[float, float]:
        """End point (x, y) of the arrow of a slot, on the upper side of the box of its step."""
        slots = self.essential[self.graph.nodes[step]["operator"]]
        left, top = self.corners[step]
        return left + _WIDTH * (slots.index(slot) + 0.5) / len(slots), top

    def outlet(self, argument: int, step: int, slot: int) -> tuple[float, float]:
        """Start point (x, y) of the arrow of a slot, on the lower side of its argument, ordered by where arrows end."""
        leaving = [edge for edge in self.edges() if edge[0] == argument]
        leaving.sort(key=lambda edge: self.inlet(*edge[1:]))
        left, top = self.corners[argument]
        share = (leaving.index((argument, step, slot)) + 0.5) / len(leaving)
        return left + _WIDTH * (0.15 + 0.7 * share), top - _box_height(self.graph.nodes[argument]["kind"])


def _box_height(kind: str) -> float:
    return _TOKEN if kind == "prompt" else _SLOTS + _OPERATOR + _TOKEN


def _diagram(circuit: Circuit, scale: int, prompt: Sequence[str] | None) -> _Diagram:
    if scale not in circuit.wirings:
        raise ValueError(f"the circuit has no scale {scale}: choose one of {', '.join(map(str, circuit.wirings))}")
    graph = circuit.graph(scale, prompt)
    essential = {
        operator: tuple(slot + 1 for slot in circuit.essential_slots(operator))
        for operator in {wiring.operator for wiring in circuit.wirings[scale]}
    }
    depths = dict.fromkeys(graph, 0)
    for wiring in circuit.wirings[scale]:
        argument_depths = [depths[wiring.arguments[slot - 1]] for slot in essential[wiring.operator]]
        depths[wiring.position] = 1 + max(argument_depths, default=0)
    layers = max(depths.values())
    kinds = nx.get_node_attributes(graph, "kind")
    sides = {kind: sorted(node for node in graph if kinds[node] == kind) for kind in ("prompt", "step")}
    columns = max(map(len, sides.values()))
    if columns > COLUMNS or layers > LAYERS:
        raise ValueError(
            f"scale {scale} has {len(sides['prompt'])} prompt tokens and {len(sides['step'])} steps in {layers} "
            f"layers; {COLUMNS} of each in {LAYERS} layers fit a page: take a smaller scale"
        )
    pitch = min(_WIDEST_COLUMN, (PAGE_WIDTH - _LAYER_NAMES - 2 * _MARGIN) / columns)
    middle = (PAGE_WIDTH + _LAYER_NAMES) / 2
    tops = [0.0, *(-_TOKEN - _BELOW_PROMPT - layer * (_box_height("step") + _BETWEEN) for layer in range(layers))]
    corners = {
        node: (middle + (index - (len(side) - 1) / 2) * pitch - _WIDTH / 2, tops[depths[node]])
        for side in sides.values()
        for index, node in enumerate(side)
    }
    if any(len(symbol) > SYMBOL for symbol in circuit.task.alphabet):
        raise ValueError(f"a symbol of '{circuit.task.name}' is longer than the {SYMBOL} characters that fit a box")
    tokens = {node: _without_math(token) for node, token in graph.nodes(data="token", default="")}
    names = _names(circuit, scale) if prompt is None else tokens
    return _Diagram(graph=graph, names=names, essential=essential, corners=corners, tops=tuple(tops))


def _draw(circuit: Circuit, scale: int, diagram: _Diagram) -> Figure:
    used = sorted({wiring.operator for wiring in circuit.wirings[scale]})
    slots = sorted({slot for _, _, slot in diagram.edges()})
    legend = _LEGEND * (-(-len(used) // _LEGEND_COLUMNS) + bool(slots))
    height = diagram.height + legend + 2 * _MARGIN
    colours = shades(len(circuit.operators))
    with context():
        figure, axes = page(PAGE_WIDTH, height, top=_MARGIN)
        for layer, top in enumerate(diagram.tops):
            middle = top - (_box_height("step" if layer else "prompt") / 2)
            axes.text(_MARGIN, middle, f"depth {layer}" if layer else "prompt", va="center", color="0.35")
        for node in diagram.graph:
            _draw_box(axes, diagram, node, colours)
        for edge in diagram.edges():
            _draw_arrow(axes, diagram, *edge)
        _add_legend(figure, [Patch(facecolor=colours(operator + 1), edgecolor="black", linewidth=0.6,
                             label=f"operator u{operator + 1}") for operator in used],
              bottom=_MARGIN + (_LEGEND if slots else 0))  # fmt: skip
        _add_legend(figure, [Line2D([], [], color=slot_look(slot).colour, linestyle=slot_look(slot).line,
                              label=f"slot {slot}") for slot in slots], bottom=_MARGIN)  # fmt: skip
    return figure


def _rows(scale: int, diagram: _Diagram) -> list[dict[str, object]]:
    drawn = set(diagram.edges())
    nodes = diagram.graph.nodes
    return [
        {
            "scale": scale,
            "argument": argument,
            "argument_kind": nodes[argument]["kind"],
            "argument_token": nodes[argument].get("token", ""),
            "step": step,
            "step_token": nodes[step].get("token", ""),
            "slot": slot,
            "essential": (argument, step, slot) in drawn,
            "operator": f"u{nodes[step]['operator'] + 1}",
        }
        for argument, step, slot in sorted(diagram.graph.edges(data="slot"), key=lambda edge: (edge[1], edge[2]))
    ]


def _caption(circuit: Circuit, scale: int, diagram: _Diagram, *, example: bool) -> str:
    wirings = circuit.wirings[scale]
    operators = len({wiring.operator for wiring in wirings})
    parts = [
        f"The circuit of '{circuit.task.name}' at scale {scale}: {count_text(len(wirings), 'step')}, "
        f"{count_text(operators, 'unit operator')} of arity {circuit.arity}, depth {len(diagram.tops) - 1}.",
        "Above: the prompt. Below: the steps from left to right in the order in which they are generated. The depth of "
        "a step is one more than that of the deepest step that it reads.",
        "A box shows the slots that its operator depends on, the operator, and the token that it computes; an arrow "
        "brings a token to the slot at its head.",
    ]
    if not example:
        parts.append(
            "A token that differs between prompts is written x_i, or a_i, b_i, ... if there are several operands, with "
            "its place i in the operand; y_t is the token of step t."
        )
    else:
        tokens: dict[str, list[str]] = {"prompt": [], "step": []}
        for _, node in diagram.graph.nodes(data=True):
            tokens[node["kind"]].append(node["token"])
        parts.append(f"Shown is the prompt {' '.join(tokens['prompt'])}, which gives {' '.join(tokens['step'])}.")
    if diagram.graph.number_of_edges() > len(diagram.edges()):
        parts.append("Slots on which the operator's token does not depend are left out.")
    return " ".join(parts)


def _names(circuit: Circuit, scale: int) -> dict[int, str]:
    """Return position -> name: the symbol if the task allows only one there, else that of `operand_names`; y_t."""
    task = circuit.task
    names = {position: f"${letter}_{{{place}}}$" for position, (letter, place) in operand_names(task, scale).items()}
    for position, allowed in task.given(scale).items():
        if len(allowed) == 1:
            names[position] = _without_math(task.alphabet[allowed[0]])
    for step, wiring in enumerate(circuit.wirings[scale], start=1):
        names[wiring.position] = f"$y_{{{step}}}$"
    return names


def _without_math(symbol: str) -> str:
    """Escape a symbol so that matplotlib does not read it as mathematics."""
    return symbol.replace("$", r"\$")


def _draw_box(axes: Axes, diagram: _Diagram, node: int, colours: ListedColormap) -> None:
    """Draw one box: slots and operator, shaded by operator, above the token of a step; only the token in the prompt."""
    left, top = diagram.corners[node]
    attributes = diagram.graph.nodes[node]
    bottom = top - _box_height(attributes["kind"])
    middle = left + _WIDTH / 2
    if attributes["kind"] == "step":
        shaded_part = Rectangle(
            (left, bottom + _TOKEN),
            _WIDTH,
            top - bottom - _TOKEN,
            facecolor=colours(attributes["operator"] + 1),
            linewidth=0,
        )
        axes.add_patch(shaded_part)
        axes.plot([left, left + _WIDTH], [bottom + _TOKEN] * 2, color="black", linewidth=0.4, zorder=3)
        _text(axes, middle, top - _SLOTS - _OPERATOR / 2, f"u{attributes['operator'] + 1}", gid=f"operator:{node}")
        for slot in diagram.essential[attributes["operator"]]:
            x, _ = diagram.inlet(node, slot)
            _text(axes, x, top - 0.55 * _SLOTS, str(slot), size=SMALLEST_TEXT, gid=f"slot:{node}:{slot}")
    axes.add_patch(
        Rectangle(
            (left, bottom), _WIDTH, top - bottom, facecolor="none", edgecolor="black", linewidth=0.7, zorder=3,
            gid=f"box:{node}",
        )
    )  # fmt: skip
    _text(axes, middle, bottom + _TOKEN / 2, diagram.names[node], gid=f"token:{node}")


def _draw_arrow(axes: Axes, diagram: _Diagram, argument: int, step: int, slot: int) -> None:
    style = slot_look(slot)
    axes.add_patch(
        PathPatch(
            _route(diagram, argument, step, slot), facecolor="none", edgecolor=style.colour, linestyle=style.line,
            linewidth=0.9, zorder=2, gid=f"edge:{argument}:{step}:{slot}",
        )
    )  # fmt: skip
    # The head is drawn as a separate mark: a dashed arrow would have a dashed head.
    x, y = diagram.inlet(step, slot)
    axes.plot(x, y + 0.03, marker="v", markersize=3.6, markeredgewidth=0, color=style.colour, zorder=2)


def _route(diagram: _Diagram, argument: int, step: int, slot: int) -> Path:
    """Choose the curve that meets other boxes least; the straightest one if several are equal."""
    start, end = diagram.outlet(argument, step, slot), diagram.inlet(step, slot)
    others = [node for node in diagram.graph if node not in (argument, step)]
    boxes = np.array([(*diagram.corners[node], _box_height(diagram.graph.nodes[node]["kind"])) for node in others])
    routes = list(_routes(start, end))
    met = [_points_inside(_points(route), boxes) for route in routes]
    return Path(routes[int(np.argmin(met))], [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])


def _routes(start: tuple[float, float], end: tuple[float, float]) -> Iterator[list[tuple[float, float]]]:
    """Yield control points of cubic Bezier curves that leave and arrive vertically, the straightest first."""
    fall = start[1] - end[1]
    for aside in (0.0, -0.4, 0.4, -0.8, 0.8, -1.2, 1.2):
        for leave, arrive in ((0.5, 0.5), (0.3, 0.7), (0.7, 0.3), (0.15, 0.85), (0.85, 0.15)):
            yield [start, (start[0] + aside, start[1] - leave * fall), (end[0] + aside, end[1] + arrive * fall), end]


def _points(route: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    """Return 60 points on a cubic Bezier curve, float64 [60, 2]."""
    parameter = np.linspace(0, 1, 60)[:, None]
    weights = np.concatenate(
        [(1 - parameter) ** 3, 3 * parameter * (1 - parameter) ** 2, 3 * parameter**2 * (1 - parameter), parameter**3],
        axis=1,
    )
    points: NDArray[np.float64] = weights @ np.array(route)
    return points


def _points_inside(points: NDArray[np.float64], boxes: NDArray[np.float64]) -> int:
    """Count the points [n, 2] that lie in or close to a box; boxes is [m, 3] with rows (left, top, height)."""
    x, y = points[:, :1], points[:, 1:]
    left, top, height = boxes.T
    aside = (x > left - _CLEAR) & (x < left + _WIDTH + _CLEAR)
    return int((aside & (y < top + _CLEAR) & (y > top - height - _CLEAR)).sum())


def _text(axes: Axes, x: float, y: float, text: str, *, gid: str, size: float = 8.0) -> None:
    axes.text(x, y, text, ha="center", va="center_baseline", fontsize=size, zorder=4, gid=gid)


def _add_legend(figure: Figure, handles: Sequence[Artist], *, bottom: float) -> None:
    """Add one part of the legend, `bottom` inches above the lower edge of the page."""
    if handles:
        figure.legend(
            handles=handles, loc="lower center", ncols=min(len(handles), _LEGEND_COLUMNS), frameon=False,
            bbox_to_anchor=(0.5, bottom / figure.get_figheight()), borderaxespad=0, borderpad=0, handlelength=3.0,
        )  # fmt: skip


def _task_figure(_: Sources, *, task: str) -> Drawing:
    scale = TASKS[task]
    return drawing(analyse(load(task), "unaligned", scale).circuit, scale)


FIGURES = (
    *tuple(
        Entry(
            place=340,
            name=f"circuit-{task}",
            title=f"The circuit of {task} at scale {scale}",
            make=partial(_task_figure, task=task),
            least_width=PAGE_WIDTH,
        )
        for task, scale in TASKS.items()
    ),
)
