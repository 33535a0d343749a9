"""Figure of rules against evidence: running e-values of every preregistered pair of rules, over the cells seen."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log, log10
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lengthgen.empirical.verdict.population import HALVES
from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import columns_of, fix_layout, grid
from lengthgen.paper_figs.style import SMALLEST_TEXT, context
from lengthgen.paper_figs.verdict_evidence import Judgement, evidence, verdict_entry

LOWEST, HIGHEST = -2, 8
"""Powers of ten between which the axis lies; below and above, nothing is decided that is not decided here."""
_LINES = (("#004488", "-"), ("#B0651A", (0, (4, 1.5))))
"""Colour and line for the first rule of a pair and for the second."""


def drawing(judgement: Judgement, preregistration: Preregistration, width: float) -> Drawing:
    """Draw a panel for each pair, with an e-value for either rule, on the half of the tasks that judges."""
    pairs = [pair for pair in judgement["pairs"] if pair["part"] == HALVES[1]]
    rows: list[dict[str, object]] = [
        {
            "first": pair["first"],
            "second": pair["second"],
            "cells": cells,
            "log10_for_first": against_second / log(10),
            "log10_for_second": against_first / log(10),
        }
        for pair in pairs
        for cells, against_first, against_second in pair["trajectory"]
    ]
    decides = 1 / preregistration.stopping.alpha
    better = [f"{pair['better']} against {_other(pair)}" for pair in pairs if pair["better"] != "undecided"]
    caption = (
        "Evidence for one rule against another as cells are seen, tasks in the order of a hash, on the half of the "
        "tasks that is kept for judgement. Each panel is a preregistered pair: the e-value for the first rule (solid: "
        "against the hypothesis that the second does at least as well) and for the second (dashed), with the final "
        f"values. Only cells on which the rules differ count. The line is at {decides:g}, where an e-value decides "
        f"alone. The axis ends at {10.0**LOWEST:g} and at most at 1e{HIGHEST}; lines go on beyond. By e-BH over all "
        "pairs, better are: "
        f"{', '.join(better) or 'none'}. {evidence(judgement, preregistration)}"
    )
    return Drawing(shown=_draw(pairs, decides, width), rows=rows, caption=caption)


def _other(pair: Mapping[str, Any]) -> str:
    """Return the rule of a decided pair that is worse."""
    return str(pair["second"] if pair["better"] == pair["first"] else pair["first"])


def _draw(pairs: Sequence[Mapping[str, Any]], decides: float, width: float) -> Figure:
    largest = max(max(point[1:]) for pair in pairs for point in pair["trajectory"]) / log(10)
    top = min(HIGHEST, max(2, ceil(largest)))
    with context():
        figure, panels = grid(len(pairs), width=width, narrowest=1.35, height=1.55, sharey=True)
        columns = columns_of(panels)
        for place, (axes, pair) in enumerate(zip(panels, pairs, strict=True)):
            axes.set_gid(f"pair:{pair['first']}:{pair['second']}")
            _draw_pair(axes, pair, decides)
            axes.set_ylim(LOWEST, top)
            axes.set_yticks(range(LOWEST, top + 1, 2), [f"$10^{{{power}}}$" for power in range(LOWEST, top + 1, 2)])
            if place % columns == 0:
                axes.set_ylabel("e-value", labelpad=2)
            if place + columns >= len(pairs):
                axes.set_xlabel("cells seen", labelpad=1)
        fix_layout(figure)
    return figure


def _draw_pair(axes: Axes, pair: Mapping[str, Any], decides: float) -> None:
    """Draw both e-values of a pair, each named above the panel with its final value."""
    points = pair["trajectory"]
    cells = [point[0] for point in points]
    axes.axhline(log10(decides), color="0.5", linewidth=0.6, linestyle=(0, (1, 1.5)), gid="decides")
    axes.text(0.03, log10(decides), f"{decides:g}", transform=axes.get_yaxis_transform(), ha="left", va="bottom",
              fontsize=SMALLEST_TEXT, color="0.35")  # fmt: skip
    # The e-value against the second rule is the evidence for the first.
    for rule, place, (colour, dashes) in zip((pair["first"], pair["second"]), (2, 1), _LINES, strict=True):
        values = [point[place] / log(10) for point in points]
        axes.plot(cells, values, color=colour, linestyle=dashes, linewidth=1.1, label=f"{rule}  {_written(values[-1])}",
                  gid=f"for:{rule}")  # fmt: skip
    if not pair["cells"]:
        axes.text(0.5, 0.25, "no cell differs", transform=axes.transAxes, ha="center", fontsize=SMALLEST_TEXT)
    end = max(1, cells[-1])
    axes.set_xlim(0, end)
    axes.set_xticks([tick for tick in MaxNLocator(nbins=3, integer=True).tick_values(0, end) if 0 <= tick <= end])
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.05, 0.98), frameon=False, fontsize=SMALLEST_TEXT, handlelength=1.6,
        handletextpad=0.4, borderpad=0, borderaxespad=0, labelspacing=0.15, labelcolor="linecolor",
    )  # fmt: skip


def _written(power: float) -> str:
    """Return 10 ** power with two digits: 0.031, 240, or as 4.7 times a power of ten."""
    digits, exponent = f"{10 ** (power % 1):.1f}", floor(power)
    if digits == "10.0":
        digits, exponent = "1.0", exponent + 1
    if 2 <= exponent < 4:
        return f"{10**power:.0f}"
    return f"{10**power:.2g}" if -3 <= exponent < 2 else rf"${digits}\cdot10^{{{exponent}}}$"


FIGURES = (verdict_entry("verdict-rules", "Random tasks: rules against evidence", drawing, place=411),)
