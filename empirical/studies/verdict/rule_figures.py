"""Figures of the verdict on rules: running e-values of every preregistered pair, and all universes of judgement."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, log, log10
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from lengthgen.empirical.studies.verdict import WEAK
from lengthgen.empirical.studies.verdict.population import HALVES
from lengthgen.empirical.studies.verdict.preregistration import Preregistration
from lengthgen.empirical.studies.verdict.stored import (
    RANDOM_TASKS,
    judged,
    judgement_of,
)
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.panels import columns_of, draw_cell, fix_layout, grid, page
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Sources
from lengthgen.paper_figs.style import DIVERGING, SMALLEST_TEXT, context

Judgement = Mapping[str, Any]
"""Judgement of a preregistration, as `lengthgen.empirical.studies.verdict.judgement.judge` returns it."""
Draw = Callable[[Judgement, Preregistration, float], Drawing]
"""Function (judgement, its preregistration, width in inches) -> drawing."""
NARROWEST = 5.5
"""Least width in inches at which a figure of the verdict is legible."""


def verdict_entry(name: str, title: str, draw: Draw, *, place: int, verdict: str = RANDOM_TASKS) -> Entry:
    """Declare a figure that shows the judgement of a preregistration; other arguments as in `Entry`."""

    def make(sources: Sources) -> Drawing:
        preregistration, judgement = judged(sources, verdict)
        return draw(judgement, preregistration, sources.width)

    return Entry(place=place, name=name, title=title, make=make, needs=judgement_of(verdict), least_width=NARROWEST)


def evidence(judgement: Judgement, preregistration: Preregistration) -> str:
    """Return the end of a caption: cells and runs, when a cell counts, the hash of the frozen answers, the label."""
    return (
        f"Evidence: {count_text(judgement['runs'], 'run')} of {judgement['seen']:,} of "
        f"{count_text(judgement['cells'], 'cell')} (a random "
        f"task, a format and an encoding), of which {judgement['fitting_runs']:,} fit; cells with "
        f"the {count_text(preregistration.stopping.fitting, 'fitting run')} with which a cell counts: "
        f"{judgement['counting']:,}. {_sample(judgement)} The "
        f"answers of the rules were frozen before the first run: SHA-256 {judgement['frozen'][:12]}. Rules and tasks "
        "are our own [F]."
    )


def _sample(judgement: Judgement) -> str:
    """Return which cells are shown: those of a random sample of tasks, or for two rules those on which they differ."""
    return (
        f"All shares are over a random sample of {judgement['sample']['tasks']:,} tasks, whose cells all have their "
        "first runs; two rules are compared on the tasks whose cells on which they differ have them."
    )


LOWEST, HIGHEST = -2, 8
"""Powers of ten between which the axis lies; below and above, nothing is decided that is not decided here."""
_LINES = (("#004488", "-"), ("#B0651A", (0, (4, 1.5))))
"""Colour and line for the first rule of a pair and for the second."""


def rules_drawing(judgement: Judgement, preregistration: Preregistration, width: float) -> Drawing:
    """Draw a panel for each pair, with an e-value for either rule, on the half of the tasks that judges."""
    pairs = [pair for pair in judgement["pairs"] if pair["part"] == HALVES[1] and pair["second"] not in WEAK]
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
        "tasks that is kept for judgement. Each panel is a preregistered pair, without those whose second "
        f"rule always-no beats ({', '.join(sorted(WEAK))}): the e-value for the first rule (solid: "
        "against the hypothesis that the second does at least as well) and for the second (dashed), with the final "
        f"values. Only cells on which the rules differ count. The line is at {decides:g}, where an e-value decides "
        f"alone. The axis ends at {10.0**LOWEST:g} and at most at 1e{HIGHEST}; lines go on beyond. By e-BH over all "
        "pairs, better are: "
        f"{', '.join(better) or 'none'}. {evidence(judgement, preregistration)}"
    )
    return Drawing(shown=_draw_rules(pairs, decides, width), rows=rows, caption=caption)


def _other(pair: Mapping[str, Any]) -> str:
    """Return the rule of a decided pair that is worse."""
    return str(pair["second"] if pair["better"] == pair["first"] else pair["first"])


def _draw_rules(pairs: Sequence[Mapping[str, Any]], decides: float, width: float) -> Figure:
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


_LINE, _NAMES, _ABOVE, _BELOW = 0.17, 1.3, 0.4, 0.25
"""Inches: height of a line, and the space left of, above and below the cells."""


def multiverse_drawing(judgement: Judgement, preregistration: Preregistration, width: float) -> Drawing:
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
    return Drawing(shown=_draw_multiverse(universes, rules, preregistration, width), rows=rows, caption=caption)


def _is_registered(universe: Mapping[str, Any], preregistration: Preregistration) -> bool:
    """True for the universe with the threshold and the number of fitting runs that were preregistered."""
    chosen = (preregistration.testing.threshold, preregistration.stopping.fitting)
    return (universe["threshold"], universe["fitting"]) == chosen


def _draw_multiverse(
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
                number = "-" if right is None else f"{100 * right:.0f}"
                draw_cell(axes, line, column, number, size=(step, _LINE), fill=fill, gid=f"{rule}:{column}")
            if _is_registered(universe, preregistration):
                axes.add_patch(
                    Rectangle((column * step, bottom), step, -bottom, fill=False, edgecolor="black", zorder=3,
                              gid="registered")
                )  # fmt: skip
    return figure


FIGURES = (
    verdict_entry("verdict-rules", "Random tasks: rules against evidence", rules_drawing, place=411),
    verdict_entry("verdict-multiverse", "Random tasks: all verdicts", multiverse_drawing, place=413),
)
