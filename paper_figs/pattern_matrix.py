"""One panel of a pattern: a matrix of numbers or labels, training outlined, and a cross where it is learned wrong."""

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

from paper_figs.pattern_study import Study
from paper_figs.small_panels import matrix
from paper_figs.style import DIVERGING, SMALLEST_TEXT, shades
from theory.equality import is_rational
from theory.pattern import Value
from theory.relation import Labels

SIDE = 1.59
"""Inches: of every matrix."""

_ROOM, _ROOM_OF_LABELS = 0.96, 0.9
"""Share of a cell's width that its text may take."""
_HEIGHT = 0.55
"""Share of a cell's height that the font size may take: a cross must stand above the text."""
_BELOW_CROSS = 0.07
"""How far below the centre of its cell a text stands, as a share of the cell."""

Stroke = tuple[tuple[float, float], tuple[float, float]]
"""From and to, as shares of a cell, from its centre to the right and down."""

_CROSS: tuple[Stroke, ...] = (((-0.3, -0.3), (0.3, 0.3)), ((-0.3, 0.3), (0.3, -0.3)))
_CORNER_CROSS: tuple[Stroke, ...] = (((0.24, -0.44), (0.44, -0.24)), ((0.24, -0.24), (0.44, -0.44)))
_DASH: tuple[Stroke, ...] = (((-0.25, 0.4), (0.25, 0.4)),)


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """Content of one matrix, cell by cell as `Study.shown` lists them.

    Attributes:
        name: in tables.
        title: its first line.
        subtitle: its second.
        labels: int64 [cells].
        numbers: float64 [cells]; None where labels are shown.
        texts: of all cells; None where not all of them fit.
        wrong: bool [cells].
    """

    name: str
    title: str
    subtitle: str
    labels: Labels
    numbers: NDArray[np.float64] | None
    texts: Sequence[str] | None
    wrong: NDArray[np.bool_]


def written(found: Study) -> Mapping[Value, str] | None:
    """The text of every number, an entry of the pattern exactly if that fits, else two digits; None if one has none.

    Call it in `paper_figs.style.context`.
    """
    texts: dict[Value, str] = {}
    entries = set(found.entries)
    for value in [*found.entries, *(value for learned in found.learned for value in learned.outcome.parameters)]:
        ways = [_exact(value), _rounded(float(value))] if value in entries else [_rounded(float(value))]
        text = texts.get(value) or next((way for way in ways if _fits(way, found.test, _ROOM)), None)
        if text is None:
            return None
        texts[value] = text
    return texts


def written_labels(labels: Labels, size: int) -> list[str] | None:
    """The text of every label, or None as `written`; most are equally long, so that they need room between them."""
    texts = [str(label) for label in labels.tolist()]
    return texts if all(_fits(text, size, _ROOM_OF_LABELS) for text in set(texts)) else None


def _exact(value: Value) -> str:
    return str(value) if is_rational(value) else f"${sp.latex(value, fold_short_frac=True)}$"


def _rounded(number: float) -> str:
    text = f"{number:.0f}" if abs(number) >= 100 else f"{number:.2g}"
    return text.replace("0.", ".", 1) if abs(number) < 1 else text


def _fits(text: str, size: int, room: float) -> bool:
    points = _text_size(size)
    return points <= _HEIGHT * _cell(size) and width(text, points) <= room * _cell(size)


def width(text: str, points: float) -> float:
    """The width of a text in points; infinite for an expression that mathtext cannot set."""
    try:
        return float(np.ptp(TextPath((0, 0), text, size=points, prop=FontProperties()).vertices[:, 0]))
    except ValueError:
        return float("inf")


def training_line(found: Study) -> dict[str, Any]:
    """How training is outlined: dashed where it has met the positions, but none of the cells that are drawn."""
    smaller_only = found.pattern.scale_hint and found.train < found.test
    return {"color": "black", "linewidth": 1.0, "linestyle": (0, (2.5, 1.2)) if smaller_only else "-"}


def draw_panel(axes: Axes, panel: Panel, found: Study, *, bound: float) -> None:
    """Draws a panel; numbers are coloured from -bound to bound."""
    size = found.test
    keys, queries = found.cells.keys[found.shown], found.cells.queries[found.shown]
    colours: Colormap = DIVERGING
    if panel.numbers is None:
        # Only the level sets know a zero; the label 0 of a relation is one like the others.
        zero = [0] if panel.name in ("level sets", "ideal") else []
        met = np.setdiff1d(panel.labels, zero)
        colours, low, high = shades(len(met)), 0.0, float(max(1, len(met)))
        values = np.where(np.isin(panel.labels, zero), 0, np.searchsorted(met, panel.labels) + 1)
    else:
        values, low, high = panel.numbers, -bound, bound
    shown = np.ma.array(np.zeros((size, size)), mask=~np.triu(np.ones((size, size), dtype=bool)))
    shown[keys - 1, queries - 1] = values
    matrix(axes, shown, colours, low, high, gid="cells", frame="0.75", linewidth=min(0.3, 0.025 * _cell(size)))
    for key, query, text in zip(keys.tolist(), queries.tolist(), panel.texts or [""] * len(keys), strict=True):
        if text:
            axes.text(
                query, key + _BELOW_CROSS, text, ha="center", va="center_baseline",
                fontsize=_text_size(size), zorder=6, gid="text",
            )  # fmt: skip
    if panel.texts is None and panel.numbers is not None:
        _strokes(axes, keys, queries, panel.numbers < 0, _DASH, gid="negative")
    _strokes(axes, keys, queries, panel.wrong, _CORNER_CROSS if panel.texts else _CROSS, gid="wrong")
    steps = np.repeat(np.arange(found.train + 1) + 0.5, 2)
    across, down = [*steps, steps[0]], [*steps[1:], steps[0], steps[0]]
    axes.plot(across, down, **training_line(found), zorder=5, clip_on=False, gid="training")
    ticks = range(1, size + 1) if size <= 12 else [1, *range(5, size + 1, 5)]
    axes.set(xticks=ticks, yticks=ticks)
    for title, weight, above in ((panel.title, "bold", 12.5), (panel.subtitle, "normal", 3.5)):
        axes.annotate(
            title, (0.5, 1), xycoords="axes fraction", xytext=(0, above), textcoords="offset points",
            ha="center", va="baseline", fontweight=weight, gid="title",
        )  # fmt: skip


def _strokes(
    axes: Axes, keys: Labels, queries: Labels, where: NDArray[np.bool_], strokes: Sequence[Stroke], *, gid: str
) -> None:
    centres = np.stack([queries[where], keys[where]], axis=1)
    segments = (centres[:, None, None] + np.array(strokes)).reshape(-1, 2, 2)
    thickness = float(np.clip(0.05 * _cell(int(queries.max())), 0.3, 0.8))
    axes.add_collection(LineCollection(list(segments), colors="black", linewidths=thickness, zorder=7, gid=gid))


def _cell(size: int) -> float:
    """The side of a cell in points."""
    return 72 * SIDE / size


def _text_size(size: int) -> float:
    return min(8.0, max(SMALLEST_TEXT, 0.42 * _cell(size)))
