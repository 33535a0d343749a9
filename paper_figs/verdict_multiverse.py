"""Figure of all verdicts: share of right cells, rules by universes (threshold and number of fitting runs)."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import page
from lengthgen.paper_figs.style import DIVERGING, SMALLEST_TEXT, context
from lengthgen.paper_figs.verdict_evidence import Judgement, evidence, verdict_entry

_LINE, _NAMES, _ABOVE, _BELOW = 0.17, 1.3, 0.4, 0.25
"""Inches: height of a line, and the space left of, above and below the cells."""


def drawing(judgement: Judgement, preregistration: Preregistration, width: float) -> Drawing:
    """Draw the share of right cells of each rule in each universe, rules ordered by the preregistered universe."""
    universes = judgement["multiverse"]
    [registered] = [universe for universe in universes if _is_registered(universe, preregistration)]
    rules = sorted(preregistration.rules, key=lambda rule: -(registered["right"][rule] or 0))
    rows: list[dict[str, object]] = [
        {
            "rule": rule,
            "threshold": universe["threshold"],
            "fitting": universe["fitting"],
            "cells": universe["cells"],
            "right": universe["right"][rule],
        }
        for rule in rules
        for universe in universes
    ]
    caption = (
        "All verdicts: share of cells on which a rule is right, in percent, under each choice of the exact match from "
        "which on a scale is solved and of the number of fitting runs that a cell must have. A cell has the outcome of "
        "most of its fitting runs; ties are left out, and an abstention is half right. Scales after "
        f"{preregistration.testing.failures} failed ones in a row at {preregistration.testing.threshold:.0%} were not "
        "tested, and count as unsolved in every column. White is one half; brown is "
        f"right more often, blue less often. The frame is the preregistered choice "
        f"({preregistration.testing.threshold:.0%}, {preregistration.stopping.fitting}), by which rules are ordered; "
        f"the last line is the number of cells. {evidence(judgement, preregistration)}"
    )
    return Drawing(shown=_draw(universes, rules, preregistration, width), rows=rows, caption=caption)


def _is_registered(universe: Mapping[str, Any], preregistration: Preregistration) -> bool:
    """True for the universe with the threshold and the number of fitting runs that were preregistered."""
    chosen = (preregistration.testing.threshold, preregistration.stopping.fitting)
    return (universe["threshold"], universe["fitting"]) == chosen


def _draw(
    universes: Sequence[Mapping[str, Any]], rules: Sequence[str], preregistration: Preregistration, width: float
) -> Figure:
    step = (width - _NAMES - 0.05) / len(universes)
    bottom = -len(rules) * _LINE
    thresholds = [universe["threshold"] for universe in universes]
    colour = Normalize(0, 1)
    with context():
        figure, axes = page(width, _ABOVE + _LINE * len(rules) + _BELOW, left=_NAMES, top=_ABOVE)

        def write(x: float, y: float, text: str, **style: Any) -> None:
            plain: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": SMALLEST_TEXT}
            axes.text(x, y, text, **(plain | style))

        for threshold in dict.fromkeys(thresholds):
            first, count = thresholds.index(threshold), thresholds.count(threshold)
            write((first + count / 2) * step, 0.28, f"solved from {threshold:.0%}", fontsize=7)
        write(-0.06, 0.1, "fitting runs, at least", ha="right")
        write(-0.06, bottom - 0.12, "cells", ha="right")
        for line, rule in enumerate(rules):
            write(-0.06, -(line + 0.5) * _LINE, rule, ha="right")
        for column, universe in enumerate(universes):
            middle = (column + 0.5) * step
            write(middle, 0.1, str(universe["fitting"]))
            write(middle, bottom - 0.12, f"{universe['cells']:,}", gid=f"cells:{column}")
            for line, rule in enumerate(rules):
                right = universe["right"][rule]
                fill = "white" if right is None else DIVERGING(colour(right))
                axes.add_patch(
                    Rectangle((column * step, -(line + 1) * _LINE), step, _LINE, facecolor=fill, edgecolor="0.85",
                              linewidth=0.4)
                )  # fmt: skip
                number = "-" if right is None else f"{100 * right:.0f}"
                write(middle, -(line + 0.5) * _LINE, number, gid=f"{rule}:{column}")
            if _is_registered(universe, preregistration):
                axes.add_patch(
                    Rectangle((column * step, bottom), step, -bottom, fill=False, edgecolor="black", zorder=3,
                              gid="registered")
                )  # fmt: skip
    return figure


FIGURES = (verdict_entry("verdict-multiverse", "Random tasks: all verdicts", drawing, place=413),)
