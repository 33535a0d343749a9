"""Figures of the verdict on cells: breaking scales, the effect of the format, and where models generalize."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from lengthgen.empirical.studies.verdict.preregistration import Preregistration
from lengthgen.empirical.studies.verdict.rule_figures import Judgement, evidence, verdict_entry
from lengthgen.empirical.studies.verdict.stored import RANDOM_LANGUAGES, SWAPPED_ARGUMENTS
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.panels import axes_at, columns_of, finish, fix_layout, grid, shade, trained_patch
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.style import SMALLEST_TEXT, context, looks

BREAKING_RULES, SWAPPED_RULES = ("coverage", "distractors"), ("distractors", "distractors-with-token")
"""Two rules that predict a breaking scale, side by side: on random tasks, and where arguments are swapped."""
_LEFT, _BETWEEN, _RIGHT, _BELOW, _ABOVE = 0.45, 0.4, 0.08, 0.42, 0.55
"""Inches: space around and between the two square panels."""
_COLOUR = "#004488"
_LEAST = 1.2
"""Points: least diameter of a bubble; half a point, which one of 1,400 cells has by its area, is not seen in print."""


def breaking_drawing(
    judgement: Judgement, preregistration: Preregistration, width: float, *, rules: Sequence[str] = BREAKING_RULES
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
    return Drawing(shown=_draw_breaking(breaking, preregistration, width), rows=rows or empty_rows, caption=caption)


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


def _draw_breaking(breaking: Mapping[str, Mapping[str, Any]], preregistration: Preregistration, width: float) -> Figure:
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
        for number, (rule, of_rule) in enumerate(breaking.items()):
            left = _LEFT + number * (side + _BETWEEN)
            axes = axes_at(figure, left, _BELOW, side, side, gid=f"breaking:{rule}")
            _draw_rule(axes, of_rule["counts"], scales, diameter)
            if scales[0] <= trained:
                shade(axes, scales[0] - 0.5, trained)
            exact = of_rule["exact"]
            axes.set_title(f"{rule}: {exact['successes']:,} of {exact['trials']:,} cells exact", pad=3)
            axes.set_xlabel("predicted to break at scale", labelpad=2)
            if not number:
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


_LINES: Mapping[str, Mapping[str, Any]] = {
    "aligned": {"color": "#B0651A", "linestyle": (0, (4, 1.5)), "linewidth": 1.3},
    "filled": {"color": "#004488", "linestyle": "-", "linewidth": 1.3},
}
"""Line of each format; filled is darker and solid, so that both differ without colour."""


def formats_drawing(judgement: Judgement, preregistration: Preregistration, width: float) -> Drawing:
    """Draw a panel for each encoding: mean exact match by scale, a line for each format."""
    scales = preregistration.test_scales
    formats = {
        encoding: {form: judgement["formats"].get(encoding, {}).get(form, _NO_RUNS) for form in _LINES}
        for encoding in preregistration.encodings
    }
    rows: list[dict[str, object]] = [
        {"encoding": encoding, "format": form, "runs": of_format["runs"], "scale": scale, "exact_match": value}
        for encoding, of_encoding in formats.items()
        for form, of_format in of_encoding.items()
        for scale, value in zip(scales, of_format["exact_match"], strict=bool(of_format["runs"]))
    ]
    empty_rows: list[dict[str, object]] = [{"encoding": "no run fits"}]
    runs = sum(of_format["runs"] for of_encoding in formats.values() for of_format in of_encoding.values())
    caption = (
        f"Effect of the format: mean exact match by scale of {count_text(runs, 'fitting run')} of random circuits "
        "whose SRC stays "
        "the same beyond training, with operands padded (aligned) and filled with random tokens (filled), by encoding; "
        "below each panel's name the number of runs, aligned and filled. Training scales are shaded. Scales that were "
        "not tested, after failed ones, count as 0. The runs of both formats are of the same tasks, but not every run "
        f"fits. {evidence(judgement, preregistration)}"
    )
    return Drawing(shown=_draw_formats(formats, preregistration, width), rows=rows or empty_rows, caption=caption)


_NO_RUNS: Mapping[str, Any] = {"runs": 0, "exact_match": []}


def _draw_formats(
    formats: Mapping[str, Mapping[str, Mapping[str, Any]]], preregistration: Preregistration, width: float
) -> Figure:
    labels = {encoding: its.label for encoding, its in looks(formats).items()}
    with context():
        figure, panels = grid(len(formats), width=width, narrowest=1.3, height=1.35, sharex=True, sharey=True)
        columns = columns_of(panels)
        for place, (axes, (encoding, of_encoding)) in enumerate(zip(panels, formats.items(), strict=True)):
            axes.set_gid(f"formats:{encoding}")
            counts = ", ".join(f"{of_format['runs']:,}" for of_format in of_encoding.values())
            axes.set_title(f"{labels[encoding]}  ({counts})", fontsize=SMALLEST_TEXT + 1, pad=3)
            _draw_encoding(axes, of_encoding, preregistration)
            if place % columns == 0:
                axes.set_ylabel("exact match", labelpad=2)
            if place + columns >= len(formats):
                axes.set_xlabel("scale", labelpad=1)
        handles = [
            *(Line2D([], [], **style, label=form) for form, style in _LINES.items()),
            trained_patch(),
        ]
        finish(figure, handles)
    return figure


def _draw_encoding(axes: Axes, of_encoding: Mapping[str, Mapping[str, Any]], preregistration: Preregistration) -> None:
    """Draw the lines of one encoding; a format without a fitting run has none."""
    first, last = preregistration.train
    shade(axes, first, last)
    for form, of_format in of_encoding.items():
        if of_format["runs"]:
            axes.plot(preregistration.test_scales, of_format["exact_match"], **_LINES[form], gid=form, clip_on=False)
    if not any(of_format["runs"] for of_format in of_encoding.values()):
        axes.text(0.5, 0.5, "no run fits", transform=axes.transAxes, ha="center", fontsize=SMALLEST_TEXT)
    end = preregistration.test[1]
    axes.set(xlim=(first - 0.5, end + 0.5), ylim=(0, 1), yticks=(0, 0.5, 1))
    axes.set_xticks([first, *range(5, end + 1, 5)])


STRATA_RULES = ("coverage", "distractors", "own-token")
"""Rules whose answers stand beside what was observed, if the preregistration has them."""
_OBSERVED = "observed"
_SHADES = LinearSegmentedColormap.from_list("shares", ["#FFFFFF", "#86AED0"])
_LINE, _NARROWEST = 0.165, 2.0
"""Inches: height of a line of cells, and least width of a panel."""


def strata_drawing(judgement: Judgement, preregistration: Preregistration, width: float) -> Drawing:
    """Draw a panel of what was observed, and one for each rule: strata in lines, encodings in columns."""
    groups = judgement["strata"]
    rules = [rule for rule in STRATA_RULES if rule in preregistration.rules]
    rows: list[dict[str, object]] = [
        {key: group[key] for key in ("stratum", "encoding", "cells", "generalize")}
        | {f"{rule} says yes": group["yes"][rule] for rule in rules}
        for group in groups
    ]
    caption = (
        "Where models generalize: of the cells that count, the share in percent of which most fitting runs generalize, "
        "by source of the task with the profile of its SRC beyond training, and by encoding; beside it the share to "
        f"which a rule says yes ({', '.join(rules)}). A rule is right if its panel looks like the first one. Where no "
        f"cell counts there is a cross. {evidence(judgement, preregistration)}"
    )
    empty_rows: list[dict[str, object]] = [{"stratum": "no cell counts"}]
    return Drawing(shown=_draw_strata(groups, rules, preregistration, width), rows=rows or empty_rows, caption=caption)


def _draw_strata(
    groups: Sequence[Mapping[str, Any]], rules: Sequence[str], preregistration: Preregistration, width: float
) -> Figure:
    strata = sorted({group["stratum"] for group in groups})
    labels = {encoding: its.label for encoding, its in looks(preregistration.encodings).items()}
    panels = (_OBSERVED, *rules)
    with context():
        height = _LINE * max(1, len(strata)) + 0.75
        figure, all_axes = grid(len(panels), width=width, narrowest=_NARROWEST, height=height, sharey=True)
        columns = columns_of(all_axes)
        for place, (axes, name) in enumerate(zip(all_axes, panels, strict=True)):
            axes.set_gid(f"strata:{name}")
            axes.set_title(name if name == _OBSERVED else f"{name} says yes", fontsize=SMALLEST_TEXT + 1, pad=3)
            _draw_panel(axes, _shares(groups, strata, preregistration.encodings, name))
            axes.set_xticks(np.arange(len(labels)) + 0.5, [*labels.values()], rotation=90, fontsize=SMALLEST_TEXT)
            axes.set_yticks(np.arange(len(strata)) + 0.5, strata, fontsize=SMALLEST_TEXT)
            axes.tick_params(length=0, pad=2, labelleft=place % columns == 0)
        fix_layout(figure)
    return figure


def _shares(
    groups: Sequence[Mapping[str, Any]], strata: Sequence[str], encodings: Sequence[str], name: str
) -> NDArray[np.float64]:
    """Return the shares of a panel [strata, encodings]; NaN where no cell counts."""
    shares = np.full((len(strata), len(encodings)), np.nan)
    for group in groups:
        count = group["generalize"] if name == _OBSERVED else group["yes"][name]
        shares[strata.index(group["stratum"]), encodings.index(group["encoding"])] = count / group["cells"]
    return shares


def _draw_panel(axes: Axes, shares: NDArray[np.float64]) -> None:
    lines, columns = shares.shape
    if shares.size:
        axes.pcolormesh(shares, cmap=_SHADES, vmin=0, vmax=1, edgecolors="0.85", linewidth=0.4, gid="shares")
    for line in range(lines):
        for column in range(columns):
            text = "×" if np.isnan(shares[line, column]) else f"{100 * shares[line, column]:.0f}"
            axes.text(column + 0.5, line + 0.5, text, ha="center", va="center_baseline", fontsize=SMALLEST_TEXT,
                      gid=f"{line}:{column}")  # fmt: skip
    axes.set(xlim=(0, columns), ylim=(max(1, lines), 0))
    axes.spines[:].set_visible(False)


FIGURES = (
    verdict_entry(
        "verdict-breaking", "Random tasks: predicted and observed breaking scale", breaking_drawing, place=410
    ),
    verdict_entry(
        "verdict-swapped",
        "Swapped arguments: predicted and observed breaking scale",
        partial(breaking_drawing, rules=SWAPPED_RULES),
        place=416,
        verdict=SWAPPED_ARGUMENTS,
    ),
    verdict_entry("verdict-formats", "Random tasks: effect of the format", formats_drawing, place=412),
    verdict_entry("verdict-strata", "Random tasks: where models generalize", strata_drawing, place=414),
    verdict_entry(
        "verdict-languages",
        "Random languages: where models generalize",
        strata_drawing,
        place=415,
        verdict=RANDOM_LANGUAGES,
    ),
)
