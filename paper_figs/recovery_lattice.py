"""Figure of the lattice of exact recoveries: which encoding contains which other as a special case.

Crossed edges are recoveries that may seem to hold and are proved impossible.
"""

import pathlib
from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import mean
from typing import Any

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.path import Path

from paper_figs import saving
from paper_figs.declaration import Entry
from paper_figs.saving import Drawing
from paper_figs.small_panels import page
from paper_figs.sources import Sources
from paper_figs.style import PAGE_WIDTH, Dashes, context

LINES: Mapping[str, tuple[str, Dashes, str]] = {
    # kind: colour, dashes, text of the legend
    "exact": ("#000000", "-", "contains, exactly"),
    "some": ("#3A6EA5", (0, (6, 1.2)), "at some of its parameters"),
    "limit": ("#00696B", (0, (4, 1.5)), "in a limit"),
    "within": ("#7A3E9D", (0, (4, 1.2, 1, 1.2)), "up to the trained length"),
    "function": ("#B0568F", (0, (1, 1.6, 3, 1.6)), "the same, by some function, not the network"),
    "complex": ("#806000", (0, (1, 1.2)), "with complex parameters"),
    "impossible": ("#C04000", (0, (2, 1.5)), "does not contain"),
}
"""Colour, dashes and legend of each kind of edge."""

# Inches: height of a row, width and height of a box, margin, legend.
_ROW, _WIDTH, _HEIGHT, _MARGIN, _LEGEND = 0.27, 1.5, 0.19, 0.1, 0.45
_PASSAGE = 0.4
"""Height of the gap between two boxes through which an edge passes a column, as a share of a row."""
_SWEEPS = 8  # times that columns are sorted by the mean height of neighbours

Point = tuple[float, float]
Node = str | tuple[str, str, int]
"""Encoding, or passage of an edge through a column: (container, special, number of the column)."""
Passages = dict[tuple[str, str], tuple[tuple[str, str, int], ...]]
"""Edge -> its passages, from the container to the special encoding."""


def drawing(graph: nx.MultiDiGraph) -> Drawing:
    """Draw the lattice of proofs_checks/lattice.py; the table has one row for each edge.

    A special encoding stands to the right of the encodings that contain it. An edge between columns that are not
    neighbours passes the columns between them through gaps, not behind boxes. Encodings without an edge are left out.
    """
    return Drawing(shown=_draw(graph), rows=_rows(graph), caption=_caption(graph))


def _draw(graph: nx.MultiDiGraph) -> Figure:
    connected = graph.subgraph([name for name in graph if graph.degree(name)])
    columns, passages = _columns(connected)
    tallest = max(sum(_share(name) for name in names) for names in columns)
    height = tallest * _ROW + 2 * _MARGIN + _LEGEND
    column_step = (PAGE_WIDTH - 2 * _MARGIN - _WIDTH) / max(len(columns) - 1, 1)
    place_of: dict[Node, Point] = {
        name: (PAGE_WIDTH - _MARGIN - _WIDTH / 2 - column * column_step, _LEGEND + _MARGIN + tallest * _ROW * share)
        for column, names in enumerate(columns)
        for name, share in _heights(names).items()
    }
    centre_of = {name: place_of[name] for name in connected}
    with context():
        figure, axes = page(PAGE_WIDTH, height, top=height)
        for container, special, kind in sorted(connected.edges(data="kind")):
            _draw_edge(
                axes,
                centre_of[container],
                centre_of[special],
                kind,
                through=[place_of[passage] for passage in passages.get((container, special), ())],
                shift=connected.number_of_edges(container, special) > 1 and kind == "impossible",
            )
        for name, (x, y) in centre_of.items():
            corner = x - _WIDTH / 2, y - _HEIGHT / 2
            axes.add_patch(Rectangle(corner, _WIDTH, _HEIGHT, facecolor="white", edgecolor="#444444", linewidth=0.6))
            axes.text(x, y, graph.nodes[name]["title"], ha="center", va="center", fontsize=7)
        used = [kind for kind in LINES if kind in {kind for *_, kind in connected.edges(data="kind")}]
        axes.legend(
            handles=[Line2D([], [], color=LINES[kind][0], linestyle=LINES[kind][1], linewidth=0.9) for kind in used],
            labels=[LINES[kind][2] for kind in used],
            loc="lower center", ncols=(len(used) + 1) // 2, frameon=False, fontsize=7,
        )  # fmt: skip
    return figure


def _draw_edge(axes: Axes, start: Point, end: Point, kind: str, *, through: Sequence[Point], shift: bool) -> None:
    """Draw an arrow from the right side of one box to the left side of another, or within a column.

    `through` are the middles of the gaps in the columns that it passes.
    """
    colour, dashes, _ = LINES[kind]
    down = -0.05 if shift else 0.0
    beside = start[0] == end[0]
    # There is no room to the right of the last column.
    side = -_WIDTH / 2 if beside and start[0] + _WIDTH > PAGE_WIDTH else _WIDTH / 2
    tail = start[0] + side, start[1] + down
    head = (end[0] + side, end[1]) if beside else (end[0] - _WIDTH / 2, end[1] + down)
    bend = (0.5 if (end[1] > start[1]) == (side > 0) else -0.5) if beside else 0.0
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 6, "shrinkA": 0, "shrinkB": 0}
    style |= {"color": colour, "linestyle": dashes, "linewidth": 0.7}
    if through:
        sides = [(x + aside * _WIDTH / 2, y + down) for x, y in through for aside in (-1, 1)]
        axes.add_patch(FancyArrowPatch(path=Path([tail, *sides, head]), **style))
        head = sides[0]
    else:
        axes.add_patch(FancyArrowPatch(tail, head, connectionstyle=f"arc3,rad={bend}", **style))
    if kind == "impossible":
        # A third of the way, where the arrows to one box are still apart; in the middle of a bent arrow.
        share = 0.5 if beside else 0.3
        x = tail[0] + share * (head[0] - tail[0]) + bend * (head[1] - tail[1]) / 2
        y = tail[1] + share * (head[1] - tail[1])
        axes.plot(x, y, marker="x", markersize=4.5, markeredgewidth=1.2, color=colour)


def _share(name: Node) -> float:
    """Height of a box with the space around it, or of a passage, in rows."""
    return 1.0 if isinstance(name, str) else _PASSAGE


def _heights(names: Sequence[Node]) -> dict[Node, float]:
    """Middle of each box and passage of a column, as a share of its height from below."""
    ends = list(accumulate(map(_share, names)))
    return {name: (end - _share(name) / 2) / ends[-1] for name, end in zip(names, ends, strict=True)}


def _columns(graph: nx.MultiDiGraph) -> tuple[list[list[Node]], Passages]:
    """Sort encodings into columns, from right to left and bottom to top; each contains only ones in earlier columns.

    Also returns the passages of each edge through the columns between its ends, which stand among the encodings there.
    """
    contains = nx.DiGraph(
        (container, special)
        for container, special, kind in graph.edges(data="kind")
        if kind not in ("complex", "impossible")
    )
    contains.add_nodes_from(graph)
    # Encodings that contain each other are a single point of the order.
    order = nx.condensation(contains)
    level: dict[int, int] = {}
    for group in reversed(list(nx.topological_sort(order))):
        level[group] = 1 + max((level[below] for below in order.successors(group)), default=-1)
    columns: list[list[Node]] = [[] for _ in range(1 + max(level.values()))]
    column_of = {name: level[order.graph["mapping"][name]] for name in sorted(graph)}
    for name, column in column_of.items():
        columns[column].append(name)
    passages: Passages = {}
    neighbours = nx.Graph()
    for container, special in sorted(set(graph.edges())):
        between = range(column_of[container] - 1, column_of[special], -1)
        passages[container, special] = tuple((container, special, column) for column in between)
        for passage in passages[container, special]:
            columns[passage[2]].append(passage)
        nx.add_path(neighbours, [container, *passages[container, special], special])
    y = {name: height for names in columns for name, height in _heights(names).items()}
    for _ in range(_SWEEPS):
        for names in columns:
            names.sort(key=lambda name: mean([y[other] for other in neighbours[name]]))
            y |= _heights(names)
    return columns, passages


def _rows(graph: nx.MultiDiGraph) -> list[dict[str, object]]:
    return [
        {"contains": container, "contained": special, **data}
        for container, special, data in sorted(graph.edges(data=True), key=str)
    ]


def _caption(graph: nx.MultiDiGraph) -> str:
    kinds = [kind for *_, kind in graph.edges(data="kind")]
    impossible = kinds.count("impossible")
    return (
        f"Exact recoveries: {len(kinds) - impossible} arrows lead from an encoding to a special case of it, each "
        "decided from the formulas, and compared in torch where parameters can be set so; "
        f"{impossible} crossed ones do not exist, each by a proof."
    )


def write(graph: nx.MultiDiGraph, folder: pathlib.Path) -> list[str]:
    """Draw the lattice, write its files into the folder, and return their paths."""
    return [str(path) for path in saving.write(drawing(graph), folder, "recovery-lattice")]


def _catalogue_figure(_: Sources) -> Drawing:
    # Imported here because it imports every claim, which a list of figures does not need.
    from proofs_checks.lattice import lattice

    return drawing(lattice())


FIGURES = (
    Entry(
        place=380,
        name="recovery-lattice",
        title="Lattice of recoveries: which encoding contains which",
        make=_catalogue_figure,
        least_width=PAGE_WIDTH,
    ),
)
