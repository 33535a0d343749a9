"""Panel of a pattern figure: a matrix of numbers or labels.

Training is outlined, and a cross marks each cell that is learned wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

from lengthgen.paper_figs.pattern_study import Study
from lengthgen.paper_figs.small_panels import matrix
from lengthgen.paper_figs.style import DIVERGING, SMALLEST_TEXT, shades
from lengthgen.theory.pattern import Value
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
