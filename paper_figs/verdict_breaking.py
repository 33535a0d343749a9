"""Figures of breaking scales over all cells: predicted by a rule against observed, a bubble for each pair."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.style import context
from lengthgen.paper_figs.verdict_evidence import SWAPPED_ARGUMENTS, Judgement, evidence, verdict_entry

RULES, SWAPPED_RULES = ("coverage", "distractors"), ("distractors", "distractors-with-token")
"""Two rules that predict a breaking scale, side by side: on random tasks, and where arguments are swapped."""
_LEFT, _BETWEEN, _RIGHT, _BELOW, _ABOVE = 0.45, 0.4, 0.08, 0.42, 0.55
"""Inches: space around and between the two square panels."""
_COLOUR = "#004488"
_LEAST = 1.2
"""Points: least diameter of a bubble; half a point, which one of 1,400 cells has by its area, is not seen in print."""


def drawing(
    judgement: Judgement, preregistration: Preregistration, width: float, *, rules: Sequence[str] = RULES
) -> Drawing:
    """Draw predicted against observed breaking scales of the cells where the rule and most fitting runs break.

    Args:
        judgement: judgement of the preregistration.
        preregistration: the preregistration.
        width: in inches.
        rules: two rules that predict a breaking scale.
    """
    breaking = {rule: judgement["breaking"][rule] for rule in rules}
    rows: list[dict[str, object]] = [
        {"rule": rule, "predicted": predicted, "observed": observed, "cells": count}
        for rule, of_rule in breaking.items()
        for predicted, observed, count in of_rule["counts"]
    ]
    empty_rows: list[dict[str, object]] = [{"rule": "no cell breaks where a rule says so"}]
    trains = any(predicted <= preregistration.train[1] for of in breaking.values() for predicted, *_ in of["counts"])
    shaded = "Shaded: scales of training, at which a cell that fits cannot break. " if trains else ""
    caption = (
        "Predicted and observed breaking scale, over all cells that break in most fitting runs and that the rule "
        "predicts to break; observed is the median over the runs that fit, where one that never fails is infinite. "
        f"The area of a bubble is the number of cells, but none is narrower than {_LEAST:g} points; the line marks "
        f"equal scales. {shaded}{' '.join(_summary(rule, of) for rule, of in breaking.items())} "
        f"A scale is solved from {preregistration.testing.threshold:.0%} exact match on. "
        f"{evidence(judgement, preregistration)}"
    )
    return Drawing(shown=_draw(breaking, preregistration, width), rows=rows or empty_rows, caption=caption)


def _summary(rule: str, of_rule: Mapping[str, Any]) -> str:
    """Return the counts of a rule as a sentence; those after the first scale beyond training, apart."""
    exact, late = of_rule["exact"], of_rule["later_than_first"]["exact"]
    if not of_rule["cells"]:
        return f"{rule.capitalize()}: no such cell."
    return (
        f"{rule.capitalize()}: {count_text(of_rule['cells'], 'cell')}, {exact['successes']:,} break exactly there "
        f"(95 % interval {exact['low']:.0%} to {exact['high']:.0%}), {of_rule['within_one']:,} within one scale; of "
        f"the {late['trials']:,} predicted after the first scale beyond training, {late['successes']:,} exactly."
    )


def _draw(breaking: Mapping[str, Mapping[str, Any]], preregistration: Preregistration, width: float) -> Figure:
    predicted = [scale for of_rule in breaking.values() for scale, *_ in of_rule["counts"]]
    trained = preregistration.train[1]
    scales = [scale for scale in preregistration.test_scales if scale >= min([trained + 1, *predicted])]
    side = (width - _LEFT - _BETWEEN - _RIGHT) / 2
    height = side + _BELOW + _ABOVE
    most = max((count for of_rule in breaking.values() for *_, count in of_rule["counts"]), default=1)
    # The largest bubble is a little wider than the space between two scales.
    diameter = 1.3 * 72 * side / (len(scales) + 1) / sqrt(most)
    with context():
        figure = Figure(figsize=(width, height))
        for place, (rule, of_rule) in enumerate(breaking.items()):
            left = _LEFT + place * (side + _BETWEEN)
            axes = figure.add_axes((left / width, _BELOW / height, side / width, side / height))
            axes.set_gid(f"breaking:{rule}")
            _draw_rule(axes, of_rule["counts"], scales, diameter)
            if scales[0] <= trained:
                axes.axvspan(scales[0] - 1, trained + 0.5, color="0.92", linewidth=0, zorder=0, gid="training")
            exact = of_rule["exact"]
            axes.set_title(f"{rule}: {exact['successes']:,} of {exact['trials']:,} cells exact", pad=3)
            axes.set_xlabel("predicted to break at scale", labelpad=2)
            if place == 0:
                axes.set_ylabel("breaks at scale (median)", labelpad=2)
        handles = [
            Line2D([], [], linestyle="none", marker="o", color=_COLOUR, alpha=0.7, markeredgewidth=0,
                   markersize=_width(diameter, count), label=f"{count:,} {'cell' if count == 1 else 'cells'}")
            for count in sorted({1, max(1, most // 4), most})
        ]  # fmt: skip
        figure.legend(
            handles=handles, loc="upper center", ncols=len(handles), frameon=False, fontsize=7, handlelength=1.6,
            borderpad=1.0,
        )  # fmt: skip
    return figure


def _width(diameter: float, count: int) -> float:
    """Diameter of the bubble of so many cells, in points; `diameter` is that of one by its area."""
    return max(_LEAST, diameter * sqrt(count))


def _draw_rule(axes: Axes, counts: list[list[int]], scales: list[int], diameter: float) -> None:
    """Draw the bubbles of one rule; `diameter` is that of one cell by its area, in points."""
    ends = (scales[0] - 1, scales[-1] + 1)
    axes.plot(ends, ends, color="0.6", linewidth=0.6, zorder=1)
    axes.scatter(
        [predicted for predicted, *_ in counts],
        [observed for _, observed, _ in counts],
        s=[_width(diameter, count) ** 2 for *_, count in counts],
        color=_COLOUR, alpha=0.7, linewidths=0, zorder=2, gid="cells",
    )  # fmt: skip
    axes.set(xlim=ends, ylim=ends, xticks=scales[::2], yticks=scales[::2])


FIGURES = (
    verdict_entry("verdict-breaking", "Random tasks: predicted and observed breaking scale", drawing, place=410),
    verdict_entry(
        "verdict-swapped",
        "Swapped arguments: predicted and observed breaking scale",
        partial(drawing, rules=SWAPPED_RULES),
        place=416,
        verdict=SWAPPED_ARGUMENTS,
    ),
)
