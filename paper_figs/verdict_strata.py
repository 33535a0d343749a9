"""Figure of where models generalize: share of cells by source of the task and encoding, beside what rules say."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import columns_of, fix_layout, grid
from lengthgen.paper_figs.style import SMALLEST_TEXT, context, looks
from lengthgen.paper_figs.verdict_evidence import RANDOM_LANGUAGES, Judgement, evidence, verdict_entry

RULES = ("coverage", "distractors", "own-token")
"""Rules whose answers stand beside what was observed, if the preregistration has them."""
_OBSERVED = "observed"
_SHADES = LinearSegmentedColormap.from_list("shares", ["#FFFFFF", "#86AED0"])
_LINE, _NARROWEST = 0.165, 2.0
"""Inches: height of a line of cells, and least width of a panel."""


def drawing(judgement: Judgement, preregistration: Preregistration, width: float) -> Drawing:
    """Draw a panel of what was observed, and one for each rule: strata in lines, encodings in columns."""
    groups = judgement["strata"]
    rules = [rule for rule in RULES if rule in preregistration.rules]
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
    return Drawing(shown=_draw(groups, rules, preregistration, width), rows=rows or empty_rows, caption=caption)


def _draw(
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
    verdict_entry("verdict-strata", "Random tasks: where models generalize", drawing, place=414),
    verdict_entry(
        "verdict-languages", "Random languages: where models generalize", drawing, place=415, verdict=RANDOM_LANGUAGES
    ),
)
