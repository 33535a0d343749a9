"""Figure of an attention pattern: its entries, its level sets, and the result of learning under each encoding.

Each panel is a matrix of numbers or labels. Colour is never the only mark: a cell that is learned wrong has a cross, a
number below zero has its sign, and training has an outline.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import writable
from lengthgen.paper_figs import saving
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.figures.pattern_study import Study, study
from lengthgen.paper_figs.names import hashed_name
from lengthgen.paper_figs.panels import axes_at, matrix
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Sources
from lengthgen.paper_figs.style import DIVERGING, PAGE_WIDTH, SMALLEST_TEXT, context, shades
from lengthgen.theory.pattern import Pattern, Value, from_formula
from lengthgen.theory.relation import Labels
from lengthgen.theory.zero.equality import is_rational

SIDE = 1.59
"""Side of every matrix, in inches."""

_ROOM, _ROOM_OF_LABELS = 0.96, 0.9
"""Share of the width of a cell that its text may take: numbers, and labels."""
_HEIGHT = 0.55
"""Share of the height of a cell that the font size may take; a cross must fit above the text."""
_BELOW_CROSS = 0.07
"""Distance of a text below the centre of its cell, as a share of the cell."""

Stroke = tuple[tuple[float, float], tuple[float, float]]
"""Start and end (x, y) of a line relative to the centre of a cell, as shares of the cell; y points down."""

_CROSS: tuple[Stroke, ...] = (((-0.3, -0.3), (0.3, 0.3)), ((-0.3, 0.3), (0.3, -0.3)))
_CORNER_CROSS: tuple[Stroke, ...] = (((0.24, -0.44), (0.44, -0.24)), ((0.24, -0.24), (0.44, -0.44)))
_DASH: tuple[Stroke, ...] = (((-0.25, 0.4), (0.25, 0.4)),)


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """Content of one matrix, for the cells that `Study.is_drawn` selects, in their order.

    Attributes:
        name: name of the panel in tables.
        title: first line of the title.
        subtitle: second line of the title.
        labels: label of each cell, int64 [cells].
        numbers: number of each cell, float64 [cells]; None if labels are shown.
        texts: text of each cell; None if one of them does not fit.
        wrong: True for a cell that is learned wrong, bool [cells].
    """

    name: str
    title: str
    subtitle: str
    labels: Labels
    numbers: NDArray[np.float64] | None
    texts: Sequence[str] | None
    wrong: NDArray[np.bool_]


def number_texts(study: Study) -> Mapping[Value, str] | None:
    """Return the text of each number of the study, or None if one of them does not fit its cell.

    An entry of the pattern is written exactly if that fits; otherwise a number is rounded to two digits. Call it inside
    `lengthgen.paper_figs.style.context`, which sets the font.
    """
    texts: dict[Value, str] = {}
    entries = set(study.entries)
    for value in [
        *study.entries,
        *(value for learned_pattern in study.learned for value in learned_pattern.outcome.parameters),
    ]:
        candidates = [_exact(value), _rounded(float(value))] if value in entries else [_rounded(float(value))]
        text = texts.get(value) or next(
            (candidate for candidate in candidates if _fits(candidate, study.test, _ROOM)), None
        )
        if text is None:
            return None
        texts[value] = text
    return texts


def label_texts(labels: Labels, size: int) -> list[str] | None:
    """Return the text of each label, or None if one of them does not fit a cell of a matrix with `size` rows."""
    texts = [str(label) for label in labels.tolist()]
    return texts if all(_fits(text, size, _ROOM_OF_LABELS) for text in set(texts)) else None


def _exact(value: Value) -> str:
    return str(value) if is_rational(value) else f"${sp.latex(value, fold_short_frac=True)}$"


def _rounded(number: float) -> str:
    text = f"{number:.0f}" if abs(number) >= 100 else f"{number:.2g}"
    return text.replace("0.", ".", 1) if abs(number) < 1 else text


def _fits(text: str, size: int, room: float) -> bool:
    points = _text_size(size)
    return points <= _HEIGHT * _cell_side(size) and width(text, points) <= room * _cell_side(size)


def width(text: str, points: float) -> float:
    """Width of a text in points at font size `points`; infinite for an expression that mathtext cannot set."""
    try:
        return float(np.ptp(TextPath((0, 0), text, size=points, prop=FontProperties()).vertices[:, 0]))
    except ValueError:
        return float("inf")


def training_line(study: Study) -> dict[str, Any]:
    """Line style of the outline of training; dashed if training met the positions but none of the cells drawn."""
    smaller_only = study.pattern.scale_hint and study.train < study.test
    return {"color": "black", "linewidth": 1.0, "linestyle": (0, (2.5, 1.2)) if smaller_only else "-"}


def draw_panel(axes: Axes, panel: Panel, study: Study, *, bound: float) -> None:
    """Draw a panel; the colours of numbers span -bound to bound."""
    size = study.test
    keys, queries = study.cells.keys[study.is_drawn], study.cells.queries[study.is_drawn]
    colours: Colormap = DIVERGING
    if panel.numbers is None:
        # Label 0 means zero only in level sets; in other relations it is a label like any other.
        zero = [0] if panel.name in ("level sets", "ideal") else []
        used_labels = np.setdiff1d(panel.labels, zero)
        colours, low, high = shades(len(used_labels)), 0.0, float(max(1, len(used_labels)))
        values = np.where(np.isin(panel.labels, zero), 0, np.searchsorted(used_labels, panel.labels) + 1)
    else:
        values, low, high = panel.numbers, -bound, bound
    values_by_pair = np.ma.array(np.zeros((size, size)), mask=~np.triu(np.ones((size, size), dtype=bool)))
    values_by_pair[keys - 1, queries - 1] = values
    matrix(
        axes,
        values_by_pair,
        colours,
        low,
        high,
        gid="cells",
        frame="0.75",
        linewidth=min(0.3, 0.025 * _cell_side(size)),
    )
    for key, query, text in zip(keys.tolist(), queries.tolist(), panel.texts or [""] * len(keys), strict=True):
        if text:
            axes.text(
                query, key + _BELOW_CROSS, text, ha="center", va="center_baseline",
                fontsize=_text_size(size), zorder=6, gid="text",
            )  # fmt: skip
    if panel.texts is None and panel.numbers is not None:
        _draw_strokes(axes, keys, queries, panel.numbers < 0, _DASH, gid="negative")
    _draw_strokes(axes, keys, queries, panel.wrong, _CORNER_CROSS if panel.texts else _CROSS, gid="wrong")
    steps = np.repeat(np.arange(study.train + 1) + 0.5, 2)
    across, down = [*steps, steps[0]], [*steps[1:], steps[0], steps[0]]
    axes.plot(across, down, **training_line(study), zorder=5, clip_on=False, gid="training")
    ticks = range(1, size + 1) if size <= 12 else [1, *range(5, size + 1, 5)]
    axes.set(xticks=ticks, yticks=ticks)
    for title, weight, above in ((panel.title, "bold", 12.5), (panel.subtitle, "normal", 3.5)):
        axes.annotate(
            title, (0.5, 1), xycoords="axes fraction", xytext=(0, above), textcoords="offset points",
            ha="center", va="baseline", fontweight=weight, gid="title",
        )  # fmt: skip


def _draw_strokes(
    axes: Axes, keys: Labels, queries: Labels, where: NDArray[np.bool_], strokes: Sequence[Stroke], *, gid: str
) -> None:
    centres = np.stack([queries[where], keys[where]], axis=1)
    segments = (centres[:, None, None] + np.array(strokes)).reshape(-1, 2, 2)
    thickness = float(np.clip(0.05 * _cell_side(int(queries.max())), 0.3, 0.8))
    axes.add_collection(LineCollection(list(segments), colors="black", linewidths=thickness, zorder=7, gid=gid))


def _cell_side(size: int) -> float:
    """Side of a cell in points, for a matrix with `size` rows."""
    return 72 * SIDE / size


def _text_size(size: int) -> float:
    return min(8.0, max(SMALLEST_TEXT, 0.42 * _cell_side(size)))


PATTERNS = {
    "prefix-sum": "1",
    "window": "2 if i == j else 1 if j - i == 1 else 0",
    "decay": "0.5**(j-i)",
    "middle": "1 if i == ceil(n/2) else 0",
}
"""Patterns of the catalogue: the worked cases of Theorem 2, and one that needs a scale hint."""
TRAIN, TEST = 4, 8
"""Training scale and test scale of these figures."""

_COLUMNS = 4
# Inches: width of the key names, gap between matrices, space above and below a matrix, the legend.
_KEYS, _GAP, _ABOVE, _BELOW, _LEGEND = 0.34, 0.09, 0.34, 0.32, 0.3


def drawing(pattern: Pattern, *, train: int, test: int) -> Drawing:
    """Draw the pattern, its level sets, and the result of learning under each standard encoding.

    A family A(i, j, n) is shown at n = test. If entries are not numbers (vector tokens, free parameters), the panels
    show labels instead: those of the level sets and those of the relation of each encoding.

    The table has one row for each cell of each panel. `scale` is the first scale that has the cell, or for a family the
    scale shown. `label` is the label of the panel's relation. `entry` is the exact entry of the pattern. `number` is
    the value that sets the colour: the entry, or the learned value; it is empty if the label sets the colour.

    Training uses the scales 1..train; `test` is drawn, at most `lengthgen.paper_figs.figures.pattern_study.LARGEST`.

    Raises:
        PanelError: the test scale is too large to be read, or an entry is infinite.
        TrainTestScalesError: not 1 <= train <= test.
        PatternError: the pattern is not given up to the test scale.
        FormulaError: a formula has no value at some pair.
    """
    studied = study(pattern, train=train, test=test)
    with context():
        panels = _panels(studied)
    return Drawing(shown=_draw(studied, panels), rows=_rows(studied, panels), caption=_caption(studied, panels))


def _draw(studied: Study, panels: Sequence[Panel]) -> Figure:
    with context():
        row_height = _ABOVE + SIDE + _BELOW
        height = row_height * -(-len(panels) // _COLUMNS) + _LEGEND
        figure = Figure(figsize=(PAGE_WIDTH, height))
        low, high = _number_range(panels)
        for place, panel in enumerate(panels):
            row, column = divmod(place, _COLUMNS)
            left, bottom = _KEYS + column * (SIDE + _GAP), height - row_height * (row + 1) + _BELOW
            axes = axes_at(figure, left, bottom, SIDE, SIDE, gid=panel.name)
            draw_panel(axes, panel, studied, bound=max(-low, high) or 1.0)
            axes.set_xlabel("query j", labelpad=0)
            if column:
                axes.set_yticklabels([])
            else:
                axes.set_ylabel("key i", labelpad=1)
        _legend(figure, studied, panels)
    return figure


def _rows(studied: Study, panels: Sequence[Panel]) -> list[dict[str, object]]:
    cells, is_drawn = studied.cells, studied.is_drawn
    keys, queries = cells.keys[is_drawn].tolist(), cells.queries[is_drawn].tolist()
    scales = queries if cells.scales is None else cells.scales[is_drawn].tolist()
    entries = [
        _entry_text(studied.entries[level], studied.pattern.shape) for level in studied.levels[is_drawn].tolist()
    ]
    return [
        {
            "panel": panel.name,
            "key": keys[index],
            "query": queries[index],
            "scale": scales[index],
            "training": scales[index] <= studied.train,
            "label": int(panel.labels[index]),
            "entry": entries[index],
            "number": "" if panel.numbers is None else float(panel.numbers[index]),
            "wrong": bool(panel.wrong[index]),
        }
        for panel in panels
        for index in range(len(keys))
    ]


def _caption(studied: Study, panels: Sequence[Panel]) -> str:
    pattern, train, test = studied.pattern, studied.train, studied.test
    kind_of_pattern = "the family A(i, j, n)" if pattern.scale_hint else "the pattern A(i, j)"
    parts = [
        f"Length generalization of {kind_of_pattern} = {pattern.name}, key i (row), query j (column), at scale {test}."
    ]
    if pattern.scale_hint:
        parts.append(f"Shown are the cells of n = {test}; training meets all cells of n = 1..{train}.")
        if train < test:
            parts.append(f"Dashed: the positions 1..{train}, which training knows at smaller n only.")
    else:
        parts.append(f"Outlined: the cells of scales 1..{train}, which training meets.")
    parts.append(
        f"LRC is {studied.lrc_at(train)} at scale {train} and {studied.lrc_at(test)} at scale {test} [F]. Its level "
        "sets, numbered by first use and 0 where the entry is 0, are the ideal relation [F]."
    )
    if studied.without_numbers:
        parts.append(
            f"Its {studied.without_numbers}: the panels show labels in place of entries, those of the level sets and "
            "those of each encoding's relation."
        )
    parts.append(
        "Under an encoding, position-only linear attention has one parameter a label; trained from zero, by gradient "
        "descent or to least squares of least norm, it ends at the mean of the entries that training meets under the "
        "label, and at 0 where it meets none [F]. A cross marks each entry that is then wrong."
    )
    numbered = [panel for panel in panels if panel.numbers is not None]
    if any(panel.texts for panel in numbered):
        parts.append("Numbers are exact entries or rounded to two digits.")
    elif _number_range(numbered)[0] < 0:
        parts.append("A dash marks numbers below 0.")
    for learned in studied.learned:
        limits = learned.answer.limits
        other_limits = ""
        if limits is not None and len(limits) != 1:
            other_limits = f" (so do limits up to {limits[-1]})" if limits else f" (no limit below {train} does)"
        wrong = int(np.count_nonzero(learned.outcome.wrong[studied.is_drawn]))
        why = learned.answer.judgement.why
        parts.append(
            f"{_capitalized(learned.name)}: {learned.verdict}{other_limits}, {wrong} of the "
            f"{np.count_nonzero(studied.is_drawn)} entries shown are wrong. {_capitalized(why)}"
        )
    return " ".join(parts)


def write(pattern: Pattern, folder: Path, *, train: int, test: int) -> list[str]:
    """Draw the pattern and write its files with `saving.write`; return their paths. Raises as `drawing`.

    The file names contain the pattern and the scales, and a hash that tells patterns apart.
    """
    drawn = replace(pattern, name=writable(pattern.name))  # of a file, the name has its path
    name = f"{hashed_name('pattern', drawn.name, drawn.name)}-{train}-{test}"
    return [str(path) for path in saving.write(drawing(drawn, train=train, test=test), folder, name)]


def _panels(studied: Study) -> list[Panel]:
    levels = studied.levels[studied.is_drawn]
    right = np.zeros(len(levels), dtype=bool)
    lrc = f"LRC {studied.lrc_at(studied.train)} → {studied.lrc_at(studied.test)}"
    texts = None if studied.without_numbers else number_texts(studied)

    def panel(name: str, titles: tuple[str, str], labels: Labels, wrong: NDArray[np.bool_]) -> Panel:
        texts_shown = label_texts(labels, studied.test)
        return Panel(
            name=name, title=titles[0], subtitle=titles[1], labels=labels, numbers=None, texts=texts_shown, wrong=wrong
        )

    def numbered(plain: Panel, values: Sequence[Value], codes: Labels) -> Panel:
        """Return the panel with numbers in place of labels; codes [cells] is the index of each cell in `values`."""
        numbers = np.array([float(value) for value in values])[codes]
        texts_shown = None if texts is None else [texts[values[code]] for code in codes.tolist()]
        return replace(plain, numbers=numbers, texts=texts_shown)

    panels = [panel("level sets", ("level sets", lrc), levels, right)]
    if not studied.without_numbers:
        panels.insert(0, numbered(panel("pattern", _pattern_titles(studied), levels, right), studied.entries, levels))
    for learned in studied.learned:
        name, outcome = learned.answer.relation.name, learned.outcome
        name = "ideal" if name == "level-sets" else name
        plain = panel(
            name, (learned.name, learned.verdict), outcome.labels[studied.is_drawn], outcome.wrong[studied.is_drawn]
        )
        with_numbers = not studied.without_numbers
        panels.append(
            numbered(plain, outcome.parameters, outcome.class_of[studied.is_drawn]) if with_numbers else plain
        )
    return panels


def _pattern_titles(studied: Study) -> tuple[str, str]:
    name = studied.pattern.name.replace("$", r"\$")
    return (
        f"pattern A at n = {studied.test}" if studied.pattern.scale_hint else "pattern A",
        name if width(name, 8.0) <= 72 * SIDE else f"scales 1..{studied.test}",
    )


def _entry_text(entry: Value, shape: tuple[int, ...]) -> str:
    """Return an entry as text; a matrix as nested brackets, as users type it."""
    if not shape:
        return str(entry)
    lines = [", ".join(map(str, entry[at : at + shape[1]])) for at in range(0, len(entry), shape[1])]
    return f"[{', '.join(f'[{line}]' for line in lines)}]"


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]


def _number_range(panels: Sequence[Panel]) -> tuple[float, float]:
    """Smallest and largest number over all panels, with zero included."""
    numbers = np.concatenate([[0.0], *(panel.numbers for panel in panels if panel.numbers is not None)])
    return float(numbers.min()), float(numbers.max())


def _legend(figure: Figure, studied: Study, panels: Sequence[Panel]) -> None:
    across, down = figure.get_size_inches()
    line = training_line(studied)
    handles = [
        Line2D([], [], **line, label="met in training" if line["linestyle"] == "-" else "positions of training"),
        Line2D([], [], color="black", linestyle="none", marker="x", markersize=4, label="learned wrong"),
    ]
    low, high = _number_range(panels)
    if low < 0 and any(panel.texts is None for panel in panels if panel.numbers is not None):
        handles.append(Line2D([], [], color="black", linestyle="none", marker="_", markersize=4, label="below 0"))
    figure.legend(handles=handles, loc="lower right", ncols=len(handles), frameon=False, borderaxespad=0.1)
    if studied.without_numbers:
        figure.text(_KEYS / across, 0.12 / down, f"Labels are shown: {studied.without_numbers}.", va="center")
    if low == high:
        return
    bar = axes_at(figure, _KEYS, 0.19, SIDE, 0.09, gid="scale")
    bound = max(-low, high)
    figure.colorbar(ScalarMappable(Normalize(-bound, bound), DIVERGING), cax=bar, orientation="horizontal")
    bar.set_xlim(low, high)
    far_from_zero = [end for end in (low, high) if abs(end) > 0.15 * (high - low)]
    ticks = sorted({0.0, *far_from_zero})
    bar.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    bar.tick_params(length=2, pad=1, labelsize=6.5)
    figure.text((_KEYS + SIDE + 0.08) / across, 0.235 / down, "entry", va="center")


def _catalogue_figure(_: Sources, *, text: str) -> Drawing:
    return drawing(from_formula(text), train=TRAIN, test=TEST)


FIGURES = (
    *tuple(
        Entry(
            place=310,
            name=f"pattern-{name}",
            title=f"Pattern A = {text}: result of learning under each encoding",
            make=partial(_catalogue_figure, text=text),
            least_width=PAGE_WIDTH,
        )
        for name, text in PATTERNS.items()
    ),
)
