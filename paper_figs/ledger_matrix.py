"""Figure of the ledger of claims: a matrix of papers by strength, with the number of claims of each verdict.

A paper has a row of its own if one of its claims is refuted or corrected. All others share a row, because rows of small
counts of verified claims say nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import page
from lengthgen.paper_figs.sources import Needs
from lengthgen.paper_figs.style import SMALLEST_TEXT, context

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


def drawing(claims: Sequence[Mapping[str, Any]], *, width: float) -> Drawing:
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
    return Drawing(shown=_draw(counts, papers, width), rows=rows, caption=caption)


def _paper_key(claim: Mapping[str, Any]) -> tuple[str, str]:
    return claim["source"]["paper"], claim["source"]["arxiv"]


def _paper_name(paper: tuple[str, str]) -> str:
    """Return the name of a paper with its number, in one or two lines of nearly equal length."""
    name = f"{paper[0]} ({paper[1]})" if paper[1] else paper[0]
    if len(name) <= _CHARACTERS:
        return name
    return "\n".join(wrap(name, max(len(name) // 2 + 8, _CHARACTERS)))


def _draw(counts: Counter[tuple[tuple[str, str], str, str]], papers: Sequence[tuple[str, str]], width: float) -> Figure:
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
        figure.legend(handles=handles, loc="lower center", ncols=len(handles), frameon=False, fontsize=7, borderpad=0.1)
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


FIGURES = (
    Entry(
        place=390,
        name="ledger",
        title="Claims by paper, strength and verdict",
        make=lambda sources: drawing(sources.ledger(), width=sources.width),
        needs=Needs(ledger=True),
        least_width=5.5,
    ),
)
