"""Figure of the exact recoveries: which encoding contains which other as a special case, as a matrix.

Crosses are recoveries that may seem to hold and are proved impossible.
"""

import pathlib
from collections import Counter
from collections.abc import Mapping
from typing import Literal

import networkx as nx
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.paper_figs import saving
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import page
from lengthgen.paper_figs.sources import Sources
from lengthgen.paper_figs.style import SMALLEST_TEXT, WIDTHS, context

MARKS: Mapping[str, tuple[str, Literal["full", "none", "left"], str, str]] = {
    # kind: marker, fill, colour, text of the legend
    "exact": ("o", "full", "#000000", "contains, exactly"),
    "some": ("o", "left", "#3A6EA5", "at some of its parameters"),
    "limit": ("o", "none", "#00696B", "in a limit"),
    "within": ("^", "full", "#7A3E9D", "up to the trained length"),
    "function": ("D", "none", "#B0568F", "by some function, not the network"),
    "complex": ("s", "none", "#806000", "with complex parameters"),
    "impossible": ("x", "full", "#C04000", "does not contain"),
}
"""Look and legend of each kind of edge."""

# Inches: height of a row, widest column, a line of the legend, margin; a character of a name.
_ROW, _WIDEST, _LEGEND, _MARGIN, _CHARACTER = 0.14, 0.26, 0.13, 0.06, 0.042
_APART = 0.22
"""Distance of two marks in one cell from its middle, as a share of its width."""


def drawing(graph: nx.MultiDiGraph, *, width: float) -> Drawing:
    """Draw the graph of proofs_checks/recovery_graph.py; the table has one row for each edge.

    Each row is an encoding that contains others or does not, each column one that is contained or is not.

    Args:
        graph: the graph.
        width: largest width of the figure, in inches.
    """
    return Drawing(shown=_draw(graph, width), rows=_rows(graph), caption=_caption(graph))


def _draw(graph: nx.MultiDiGraph, width: float) -> Figure:
    title = dict(graph.nodes(data="title"))
    special = [name for name, _ in Counter(sorted(of for _, of in graph.edges())).most_common()]
    general = sorted({by for by, _ in graph.edges()}, key=lambda by: ([_order(graph, by, of) for of in special], by))
    names, above = (_MARGIN + _CHARACTER * max(len(title[name]) for name in of_axis) for of_axis in (general, special))
    cell = min(_WIDEST, (width - names - _MARGIN) / len(special))
    used = [kind for kind in MARKS if kind in {kind for *_, kind in graph.edges(data="kind")}]
    body, right = _ROW * len(general), cell * len(special)
    below = _LEGEND * -(-len(used) // 2) + 2 * _MARGIN
    with context():
        figure, axes = page(names + right + _MARGIN, above + body + below, left=names, top=body + above)
        axes.text(-0.04, body + 0.04, "the row contains\nthe column", ha="right", va="bottom", fontsize=SMALLEST_TEXT,
                  fontstyle="italic")  # fmt: skip
        for row, by in enumerate(general):
            y = body - _ROW * (row + 0.5)
            axes.plot([0, right], [y, y], color="0.88", linewidth=0.5, zorder=0)
            axes.text(-0.04, y, title[by], ha="right", va="center_baseline", fontsize=SMALLEST_TEXT, gid="general")
        for column, of in enumerate(special):
            x = cell * (column + 0.5)
            axes.plot([x, x], [0, body], color="0.88", linewidth=0.5, zorder=0)
            axes.text(x, body + 0.04, title[of], ha="center", va="bottom", rotation=90, fontsize=SMALLEST_TEXT,
                      gid="special")  # fmt: skip
        for by, of in sorted(set(graph.edges())):
            kinds = sorted((edge["kind"] for edge in graph[by][of].values()), key=[*MARKS].index)
            for place, kind in enumerate(kinds):
                shift = cell * _APART * (2 * place - (len(kinds) - 1))
                x, y = cell * (special.index(of) + 0.5) + shift, body - _ROW * (general.index(by) + 0.5)
                axes.add_line(_mark(kind, [x], [y], gid=f"{kind}:{by}:{of}"))
        axes.legend(
            handles=[_mark(kind, [], []) for kind in used], labels=[MARKS[kind][3] for kind in used],
            loc="lower left", bbox_to_anchor=(0, 0), ncols=2, frameon=False, fontsize=SMALLEST_TEXT, handlelength=1.0,
            columnspacing=1.0, borderaxespad=0.2, labelspacing=0.3,
        )  # fmt: skip
    return figure


def _order(graph: nx.MultiDiGraph, by: str, of: str) -> int:
    """Sort key of a cell: encodings that contain the same ones stand together, those that do not contain them later."""
    if not graph.has_edge(by, of):
        return 2
    return int(all(edge["kind"] == "impossible" for edge in graph[by][of].values()))


def _mark(kind: str, x: list[float], y: list[float], gid: str | None = None) -> Line2D:
    marker, fill, colour, _ = MARKS[kind]
    return Line2D(
        x, y, linestyle="none", marker=marker, fillstyle=fill, color=colour, markersize=4.2, markeredgewidth=0.9,
        markerfacecoloralt="white", gid=gid,
    )  # fmt: skip


def _rows(graph: nx.MultiDiGraph) -> list[dict[str, object]]:
    return [
        {"contains": container, "contained": special, **data}
        for container, special, data in sorted(graph.edges(data=True), key=str)
    ]


def _caption(graph: nx.MultiDiGraph) -> str:
    kinds = [kind for *_, kind in graph.edges(data="kind")]
    impossible = kinds.count("impossible")
    return (
        f"Exact recoveries: {len(kinds) - impossible} marks say that the encoding of the row has that of the column as "
        "a special case, each decided from the formulas, and compared in torch where parameters can be set so; "
        f"{impossible} crosses say that it does not, each by a proof. Where a cell is empty, nothing is claimed."
    )


def write(graph: nx.MultiDiGraph, folder: pathlib.Path) -> list[str]:
    """Draw the matrix, write its files into the folder, and return their paths."""
    return [str(path) for path in saving.write(drawing(graph, width=WIDTHS["column"]), folder, "recovery-lattice")]


def _catalogue_figure(sources: Sources) -> Drawing:
    # Imported here because it imports every claim, which a list of figures does not need.
    from lengthgen.proofs_checks.recovery_graph import lattice

    return drawing(lattice(), width=sources.width)


FIGURES = (
    Entry(
        place=380,
        name="recovery-lattice",
        title="Recoveries: which encoding contains which",
        make=_catalogue_figure,
    ),
)
