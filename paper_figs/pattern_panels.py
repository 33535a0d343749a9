"""A pattern, its level sets, and what a learner makes of it under each standard encoding, side by side.

Colour never stands alone: what is learned wrong carries a cross, a number below zero its sign, and training an outline.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from zlib import crc32

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from paper_figs import saving
from paper_figs.declaration import Entry
from paper_figs.pattern_matrix import SIDE, Panel, draw_panel, training_line, width, written, written_labels
from paper_figs.pattern_study import Study, study
from paper_figs.saving import Drawing
from paper_figs.sources import Sources
from paper_figs.style import DIVERGING, PAGE_WIDTH, context
from theory.pattern import Pattern, Value, from_formula
from theory.relation import Labels

PATTERNS = {
    "prefix-sum": "1",
    "window": "2 if i == j else 1 if j - i == 1 else 0",
    "decay": "0.5**(j-i)",
    "middle": "1 if i == ceil(n/2) else 0",
}
"""The worked cases of Theorem 2, and one that needs a scale hint."""
TRAIN, TEST = 4, 8
"""Scales of their figures."""

_COLUMNS = 4
# Inches: key names, between matrices, above and below a matrix, the legend.
_KEYS, _GAP, _ABOVE, _BELOW, _LEGEND = 0.34, 0.09, 0.34, 0.32, 0.3


def drawing(pattern: Pattern, *, train: int, test: int) -> Drawing:
    """The pattern, its level sets, and what is learned under each standard encoding.

    A family A(i, j, n) is shown at n = test. Where entries are no numbers (vector tokens, free parameters) the panels
    hold labels: of the level sets, and of each encoding's relation.

    One row a cell and panel: `scale` is the first at which the cell is met (of a family, the one shown), `label` that
    of the panel's relation, `entry` the pattern's, exactly, and `number` what the panel is coloured by: the entry, or
    what is learned; empty where that is the label.

    Args:
        pattern: any.
        train: training meets the scales 1..train.
        test: the scale that is drawn, at most `paper_figs.pattern_study.LARGEST`.

    Raises:
        PanelError: the test scale is too large to be read, or an entry is infinite.
        TrainTestScalesError: not 1 <= train <= test.
        PatternError: the pattern is not given up to the test scale.
        FormulaError: a formula without a value at some pair.
    """
    found = study(pattern, train=train, test=test)
    with context():
        panels = _panels(found)
    return Drawing(shown=_draw(found, panels), rows=_rows(found, panels), caption=_caption(found, panels))


def _draw(found: Study, panels: Sequence[Panel]) -> Figure:
    with context():
        row_height = _ABOVE + SIDE + _BELOW
        height = row_height * -(-len(panels) // _COLUMNS) + _LEGEND
        figure = Figure(figsize=(PAGE_WIDTH, height))
        low, high = _range(panels)
        for place, panel in enumerate(panels):
            row, column = divmod(place, _COLUMNS)
            left, bottom = _KEYS + column * (SIDE + _GAP), height - row_height * (row + 1) + _BELOW
            axes = figure.add_axes((left / PAGE_WIDTH, bottom / height, SIDE / PAGE_WIDTH, SIDE / height))
            axes.set_gid(panel.name)
            draw_panel(axes, panel, found, bound=max(-low, high) or 1.0)
            axes.set_xlabel("query j", labelpad=0)
            if column:
                axes.set_yticklabels([])
            else:
                axes.set_ylabel("key i", labelpad=1)
        _legend(figure, found, panels)
    return figure


def _rows(found: Study, panels: Sequence[Panel]) -> list[dict[str, object]]:
    cells, shown = found.cells, found.shown
    keys, queries = cells.keys[shown].tolist(), cells.queries[shown].tolist()
    scales = queries if cells.scales is None else cells.scales[shown].tolist()
    entries = [_plain(found.entries[level], found.pattern.shape) for level in found.levels[shown].tolist()]
    return [
        {
            "panel": panel.name,
            "key": keys[at],
            "query": queries[at],
            "scale": scales[at],
            "training": scales[at] <= found.train,
            "label": int(panel.labels[at]),
            "entry": entries[at],
            "number": "" if panel.numbers is None else float(panel.numbers[at]),
            "wrong": bool(panel.wrong[at]),
        }
        for panel in panels
        for at in range(len(keys))
    ]


def _caption(found: Study, panels: Sequence[Panel]) -> str:
    pattern, train, test = found.pattern, found.train, found.test
    made = "the family A(i, j, n)" if pattern.scale_hint else "the pattern A(i, j)"
    parts = [f"Length generalization of {made} = {pattern.name}, key i (row), query j (column), at scale {test}."]
    if pattern.scale_hint:
        parts.append(f"Shown are the cells of n = {test}; training meets all cells of n = 1..{train}.")
        if train < test:
            parts.append(f"Dashed: the positions 1..{train}, which training knows at smaller n only.")
    else:
        parts.append(f"Outlined: the cells of scales 1..{train}, which training meets.")
    parts.append(
        f"LRC is {found.lrc_at(train)} at scale {train} and {found.lrc_at(test)} at scale {test} [F]. Its level sets, "
        "numbered by first use and 0 where the entry is 0, are the ideal relation [F]."
    )
    if found.without_numbers:
        parts.append(
            f"Its {found.without_numbers}: the panels show labels in place of entries, those of the level sets and "
            "those of each encoding's relation."
        )
    parts.append(
        "Under an encoding, position-only linear attention has one parameter a label; trained from zero, by gradient "
        "descent or to least squares of least norm, it ends at the mean of the entries that training meets under the "
        "label, and at 0 where it meets none [F]. A cross marks what is then wrong."
    )
    numbered = [panel for panel in panels if panel.numbers is not None]
    if any(panel.texts for panel in numbered):
        parts.append("Numbers are exact entries or rounded to two digits.")
    elif _range(numbered)[0] < 0:
        parts.append("A dash marks numbers below 0.")
    for learned in found.learned:
        limits = learned.answer.limits
        others = ""
        if limits is not None and len(limits) != 1:
            others = f" (so do limits up to {limits[-1]})" if limits else f" (no limit below {train} does)"
        wrong = int(np.count_nonzero(learned.outcome.wrong[found.shown]))
        why = learned.answer.judgement.why
        parts.append(
            f"{_capital(learned.name)}: {learned.verdict}{others}, {wrong} of the {np.count_nonzero(found.shown)} "
            f"entries shown are wrong. {_capital(why)}"
        )
    return " ".join(parts)


def write(pattern: Pattern, folder: Path, *, train: int, test: int) -> list[str]:
    """`paper_figs.saving.write` for the drawing; returns the paths. Raises as `drawing` does.

    The files are named after the pattern and the scales, and those of another pattern differ in name.
    """
    readable = re.sub(r"[^0-9A-Za-z]+", "-", pattern.name)[:40].strip("-")
    name = f"pattern-{readable}-{crc32(pattern.name.encode()):08x}-{train}-{test}"
    return [str(path) for path in saving.write(drawing(pattern, train=train, test=test), folder, name)]


def _panels(found: Study) -> list[Panel]:
    levels = found.levels[found.shown]
    right = np.zeros(len(levels), dtype=bool)
    lrc = f"LRC {found.lrc_at(found.train)} → {found.lrc_at(found.test)}"
    texts = None if found.without_numbers else written(found)

    def panel(name: str, titles: tuple[str, str], labels: Labels, wrong: NDArray[np.bool_]) -> Panel:
        shown = written_labels(labels, found.test)
        return Panel(
            name=name, title=titles[0], subtitle=titles[1], labels=labels, numbers=None, texts=shown, wrong=wrong
        )

    def numbered(plain: Panel, values: Sequence[Value], codes: Labels) -> Panel:
        """The panel with numbers; `codes` says of each cell which of the values is its own."""
        numbers = np.array([float(value) for value in values])[codes]
        shown = None if texts is None else [texts[values[code]] for code in codes.tolist()]
        return replace(plain, numbers=numbers, texts=shown)

    panels = [panel("level sets", ("level sets", lrc), levels, right)]
    if not found.without_numbers:
        panels.insert(0, numbered(panel("pattern", _pattern_titles(found), levels, right), found.entries, levels))
    for one in found.learned:
        name, outcome = one.answer.relation.name, one.outcome
        name = "ideal" if name == "level-sets" else name
        plain = panel(name, (one.name, one.verdict), outcome.labels[found.shown], outcome.wrong[found.shown])
        with_numbers = not found.without_numbers
        panels.append(numbered(plain, outcome.parameters, outcome.class_of[found.shown]) if with_numbers else plain)
    return panels


def _pattern_titles(found: Study) -> tuple[str, str]:
    name = found.pattern.name.replace("$", r"\$")
    return (
        f"pattern A at n = {found.test}" if found.pattern.scale_hint else "pattern A",
        name if width(name, 8.0) <= 72 * SIDE else f"scales 1..{found.test}",
    )


def _plain(entry: Value, shape: tuple[int, ...]) -> str:
    """An entry in letters; a matrix as it is typed."""
    if not shape:
        return str(entry)
    lines = [", ".join(map(str, entry[at : at + shape[1]])) for at in range(0, len(entry), shape[1])]
    return f"[{', '.join(f'[{line}]' for line in lines)}]"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _range(panels: Sequence[Panel]) -> tuple[float, float]:
    """The least and the largest number of all panels, and of zero."""
    numbers = np.concatenate([[0.0], *(panel.numbers for panel in panels if panel.numbers is not None)])
    return float(numbers.min()), float(numbers.max())


def _legend(figure: Figure, found: Study, panels: Sequence[Panel]) -> None:
    across, down = figure.get_size_inches()
    line = training_line(found)
    handles = [
        Line2D([], [], **line, label="met in training" if line["linestyle"] == "-" else "positions of training"),
        Line2D([], [], color="black", linestyle="none", marker="x", markersize=4, label="learned wrong"),
    ]
    low, high = _range(panels)
    if low < 0 and any(panel.texts is None for panel in panels if panel.numbers is not None):
        handles.append(Line2D([], [], color="black", linestyle="none", marker="_", markersize=4, label="below 0"))
    figure.legend(handles=handles, loc="lower right", ncols=len(handles), frameon=False, borderaxespad=0.1)
    if found.without_numbers:
        figure.text(_KEYS / across, 0.12 / down, f"Labels are shown: {found.without_numbers}.", va="center")
    if low == high:
        return
    bar = figure.add_axes((_KEYS / across, 0.19 / down, SIDE / across, 0.09 / down), gid="scale")
    bound = max(-low, high)
    figure.colorbar(ScalarMappable(Normalize(-bound, bound), DIVERGING), cax=bar, orientation="horizontal")
    bar.set_xlim(low, high)
    far_from_zero = [end for end in (low, high) if abs(end) > 0.15 * (high - low)]
    ticks = sorted({0.0, *far_from_zero})
    bar.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    bar.tick_params(length=2, pad=1, labelsize=6.5)
    figure.text((_KEYS + SIDE + 0.08) / across, 0.235 / down, "entry", va="center")


def _worked(_: Sources, *, text: str) -> Drawing:
    return drawing(from_formula(text), train=TRAIN, test=TEST)


FIGURES = tuple(
    Entry(
        place=310,
        name=f"pattern-{name}",
        title=f"What each encoding's learner returns for A = {text}",
        make=partial(_worked, text=text),
        least_width=PAGE_WIDTH,
    )
    for name, text in PATTERNS.items()
)
