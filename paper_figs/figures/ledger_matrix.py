"""Figures of the ledger of claims: papers by strength and verdict, and which encoding contains which as a special case.

A paper has a row of its own if one of its claims is refuted or corrected. All others share a row, because rows of small
counts of verified claims say nothing. In the matrix of recoveries, crosses are those that may seem to hold and are
proved impossible.
"""

import pathlib
from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, Literal

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from lengthgen.paper_figs import saving
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.panels import legend_below, page
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.paper_figs.style import SMALLEST_TEXT, WIDTHS, context

STRENGTHS = ("formal", "general", "bounded", "exhaustive", "interval", "numeric", "statistical", "none")
VERDICTS = {
    # verdict: fill colour, text colour, hatch
    "verified": ("#FFFFFF", "black", ""),
    "corrected": ("#BFD3E6", "black", ""),
    "refuted": ("#2B4C6F", "white", ""),
    "unsettled": ("#FFFFFF", "black", "////"),
}
_LINE, _NAMES, _ABOVE, _LEGEND = 0.21, 2.5, 0.25, 0.3
_CHARACTERS = 54
"""Largest number of characters of a line of a paper's name; a name has at most two lines."""
FINDINGS = ("corrected", "refuted")
"""Verdicts that give a paper a row of its own."""


def ledger_drawing(claims: Sequence[Mapping[str, Any]], *, width: float) -> Drawing:
    """Draw the matrix, `width` inches wide; a claim that reaches no strength counts in the column `none`."""
    counts = Counter((_paper_key(claim), claim["strength"] or "none", claim["verdict"]) for claim in claims)
    papers = list(dict.fromkeys(_paper_key(claim) for claim in claims))
    rows: list[dict[str, object]] = [
        {"paper": name, "arxiv": arxiv, "strength": strength, "verdict": verdict, "claims": count}
        for ((name, arxiv), strength, verdict), count in sorted(counts.items())
    ]
    of_verdict = Counter(claim["verdict"] for claim in claims)
    of_strength = Counter(claim["strength"] or "none" for claim in claims)
    caption = (
        f"{count_text(len(claims), 'claim')} of {count_text(len(papers), 'paper')}, by the strength that their check "
        "reaches (from a proof for "
        "every dimension, left, to statistics of runs) and verdict: "
        f"{', '.join(f'{of_verdict[verdict]} {verdict}' for verdict in VERDICTS if of_verdict[verdict])}. "
        "Corrected: the printed statement fails and ours holds. A paper with such a claim has a row of its own. By "
        "strength: "
        f"{', '.join(f'{of_strength[strength]} {strength}' for strength in STRENGTHS if of_strength[strength])}."
    )
    return Drawing(shown=_draw_ledger(counts, papers, width), rows=rows, caption=caption)


def _paper_key(claim: Mapping[str, Any]) -> tuple[str, str]:
    return claim["source"]["paper"], claim["source"]["arxiv"]


def _paper_name(paper: tuple[str, str]) -> str:
    """Return the name of a paper with its number, in one or two lines of nearly equal length."""
    name = f"{paper[0]} ({paper[1]})" if paper[1] else paper[0]
    if len(name) <= _CHARACTERS:
        return name
    return "\n".join(wrap(name, max(len(name) // 2 + 8, _CHARACTERS)))


def _draw_ledger(
    counts: Counter[tuple[tuple[str, str], str, str]], papers: Sequence[tuple[str, str]], width: float
) -> Figure:
    own_rows = [
        paper
        for paper in papers
        if any(counts[paper, strength, verdict] for strength in STRENGTHS for verdict in FINDINGS)
    ]
    others = [paper for paper in papers if paper not in own_rows]
    lines = [(_paper_name(paper), [paper]) for paper in own_rows]
    lines += (
        [(f"{len(others)} other papers and pages" if own_rows else f"{len(others)} papers", others)] if others else []
    )
    height = _ABOVE + _LINE * len(lines) + _LEGEND
    step = (width - _NAMES - 0.1) / len(STRENGTHS)
    with context():
        figure, axes = page(width, height, left=_NAMES, top=_ABOVE)
        for column, strength in enumerate(STRENGTHS):
            axes.text((column + 0.5) * step, 0.06, strength, ha="center", va="bottom", fontsize=7)
        for line, (name, in_row) in enumerate(lines):
            axes.text(
                -0.06, -(line + 0.5) * _LINE, name, ha="right", va="center", fontsize=SMALLEST_TEXT, linespacing=0.9,
                parse_math=False,
            )  # fmt: skip
            for column, strength in enumerate(STRENGTHS):
                verdict_counts = {
                    verdict: sum(counts[paper, strength, verdict] for paper in in_row) for verdict in VERDICTS
                }
                _draw_cell(
                    axes,
                    {verdict: count for verdict, count in verdict_counts.items() if count},
                    column * step,
                    -(line + 1) * _LINE,
                    step,
                )
        handles = [
            Patch(facecolor=ground, edgecolor="0.4", hatch=hatch, linewidth=0.4, label=verdict)
            for verdict, (ground, _, hatch) in VERDICTS.items()
        ]
        legend_below(figure, handles)
    return figure


def _draw_cell(axes: Axes, verdict_counts: Mapping[str, int], left: float, bottom: float, step: float) -> None:
    axes.add_patch(Rectangle((left, bottom), step, _LINE, facecolor="none", edgecolor="0.85", linewidth=0.4))
    for place, (verdict, count) in enumerate(verdict_counts.items()):
        fill_colour, text, hatch = VERDICTS[verdict]
        part = (step - 0.04) / max(len(verdict_counts), 2)
        at = left + 0.02 + place * part
        axes.add_patch(
            Rectangle((at, bottom + 0.015), part, _LINE - 0.03, facecolor=fill_colour, edgecolor="0.4", hatch=hatch,
                      linewidth=0.4, zorder=2)
        )  # fmt: skip
        axes.text(
            at + part / 2, bottom + _LINE / 2, str(count), ha="center", va="center_baseline", fontsize=SMALLEST_TEXT,
            color=text, zorder=3, gid=f"count:{verdict}",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4} if hatch else None,
        )  # fmt: skip


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
_ROW, _WIDEST, _RECOVERY_LEGEND, _MARGIN, _CHARACTER = 0.14, 0.26, 0.13, 0.06, 0.042
_APART = 0.22
"""Distance of two marks in one cell from its middle, as a share of its width."""


def recovery_drawing(graph: nx.MultiDiGraph, *, width: float) -> Drawing:
    """Draw the graph of proofs_checks/recovery_graph.py; the table has one row for each edge.

    Each row is an encoding that contains others or does not, each column one that is contained or is not.
    """
    return Drawing(shown=_draw_recovery(graph, width), rows=_recovery_rows(graph), caption=_recovery_caption(graph))


def _draw_recovery(graph: nx.MultiDiGraph, width: float) -> Figure:
    title = dict(graph.nodes(data="title"))
    special = [name for name, _ in Counter(sorted(of for _, of in graph.edges())).most_common()]
    general = sorted({by for by, _ in graph.edges()}, key=lambda by: ([_order(graph, by, of) for of in special], by))
    names, above = (_MARGIN + _CHARACTER * max(len(title[name]) for name in of_axis) for of_axis in (general, special))
    cell = min(_WIDEST, (width - names - _MARGIN) / len(special))
    used = [kind for kind in MARKS if kind in {kind for *_, kind in graph.edges(data="kind")}]
    body, right = _ROW * len(general), cell * len(special)
    below = _RECOVERY_LEGEND * -(-len(used) // 2) + 2 * _MARGIN
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


def _recovery_rows(graph: nx.MultiDiGraph) -> list[dict[str, object]]:
    return [
        {"contains": container, "contained": special, **data}
        for container, special, data in sorted(graph.edges(data=True), key=str)
    ]


def _recovery_caption(graph: nx.MultiDiGraph) -> str:
    kinds = [kind for *_, kind in graph.edges(data="kind")]
    impossible = kinds.count("impossible")
    return (
        f"Exact recoveries: {len(kinds) - impossible} marks say that the encoding of the row has that of the column as "
        "a special case, each decided from the formulas, and compared in torch where parameters can be set so; "
        f"{impossible} crosses say that it does not, each by a proof. Where a cell is empty, nothing is claimed."
    )


def write_recoveries(graph: nx.MultiDiGraph, folder: pathlib.Path) -> list[str]:
    """Draw the matrix, write its files into the folder, and return their paths."""
    return [
        str(path) for path in saving.write(recovery_drawing(graph, width=WIDTHS["column"]), folder, "recovery-lattice")
    ]


def _recoveries_figure(sources: Sources) -> Drawing:
    # Imported here because it imports every claim, which a list of figures does not need.
    from lengthgen.proofs_checks.recovery_graph import lattice

    return recovery_drawing(lattice(), width=sources.width)


FIGURES = (
    Entry(
        place=390,
        name="ledger",
        title="Claims by paper, strength and verdict",
        make=lambda sources: ledger_drawing(sources.ledger(), width=sources.width),
        needs=Needs(ledger=True),
        least_width=5.5,
    ),
    Entry(
        place=380,
        name="recovery-lattice",
        title="Recoveries: which encoding contains which",
        make=_recoveries_figure,
    ),
)
