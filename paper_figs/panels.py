"""Layout of figures: a grid of small panels with a legend, a page measured in inches, a matrix of cells."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from lengthgen.paper_figs.style import SMALLEST_TEXT, TRAINED

MaskedArray = np.ma.MaskedArray[Any, Any]


def shape(count: int, *, width: float, narrowest: float) -> tuple[int, int]:
    """Return (lines, columns) for `count` panels: as few lines as the width allows, of equal length if possible."""
    lines = ceil(count / min(count, max(1, int(width / narrowest))))
    return lines, ceil(count / lines)


def grid(count: int, *, width: float, narrowest: float, height: float, **shared: Any) -> tuple[Figure, list[Axes]]:
    """Make a figure with `count` panels, in lines of equal length if possible.

    Call it inside `lengthgen.paper_figs.style.context`.

    The figure is `width` inches wide, a panel at least `narrowest` wide and `height` high; `shared` are keyword
    arguments of `Figure.subplots`, such as sharex.
    """
    lines, columns = shape(count, width=width, narrowest=narrowest)
    figure = Figure(figsize=(width, lines * height + 0.35), layout="constrained")
    axes = [*figure.subplots(lines, columns, squeeze=False, **shared).flat]
    for empty in axes[count:]:
        empty.remove()
    for above in axes[max(0, count - columns) : count]:
        above.tick_params(labelbottom=True)
    return figure, axes[:count]


def columns_of(panels: Sequence[Axes]) -> int:
    """Number of panels in a full line of a `grid`."""
    spec = panels[0].get_gridspec()
    assert spec is not None
    return spec.ncols


def page(width: float, height: float, *, left: float = 0.0, top: float) -> tuple[Figure, Axes]:
    """Make a figure and axes in inches without frame; (0, 0) lies `left` from the left and `top` from the top edge."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-left, width - left), ylim=(top - height, top))
    axes.set_axis_off()
    return figure, axes


def axes_at(figure: Figure, left: float, bottom: float, width: float, height: float, **options: Any) -> Axes:
    """Add axes to a figure, their place in inches from its lower left corner; `options` as of `Figure.add_axes`."""
    across, down = figure.get_size_inches()
    return figure.add_axes((left / across, bottom / down, width / across, height / down), **options)


def shade(axes: Axes, first: float, last: float, *, gid: str = "training") -> None:
    """Shade what training showed: scales or tokens from `first` to `last`."""
    axes.axvspan(first - 0.5, last + 0.5, color=TRAINED, linewidth=0, zorder=0, gid=gid)


def trained_patch(label: str = "training scales") -> Patch:
    """Handle of a legend for what `shade` draws."""
    return Patch(facecolor=TRAINED, label=label)


def draw_cell(axes: Axes, line: int, column: int, text: str, *, size: tuple[float, float], fill: Any, gid: str) -> None:
    """Draw a cell of a table on a `page`, `size` (width, height) in inches, with a fill colour and a small text."""
    width, height = size
    corner = (column * width, -(line + 1) * height)
    axes.add_patch(Rectangle(corner, width, height, facecolor=fill, edgecolor="0.85", linewidth=0.4))
    middle = ((column + 0.5) * width, -(line + 0.5) * height)
    axes.text(*middle, text, ha="center", va="center_baseline", fontsize=SMALLEST_TEXT, gid=gid)


def legend_below(figure: Figure, handles: Sequence[Artist]) -> None:
    """Put the legend at the lower edge of a `page`, on one line."""
    figure.legend(handles=handles, loc="lower center", ncols=len(handles), frameon=False, fontsize=7, borderpad=0.1)


def matrix(
    axes: Axes, shown: MaskedArray, colours: Colormap, low: float, high: float, *, gid: str,
    frame: str = "0.8", linewidth: float = 0.3, labelsize: float = 6.5,
) -> None:  # fmt: skip
    """Draw a square matrix, rows keys and columns queries, coloured from low to high; masked cells have no frame."""
    edges = np.arange(len(shown) + 1) + 0.5
    mesh = axes.pcolormesh(edges, edges, shown, cmap=colours, vmin=low, vmax=high, gid=gid)
    mesh.set(edgecolors=["none" if hidden else frame for hidden in np.ma.getmaskarray(shown).flat], linewidth=linewidth)
    axes.set(xlim=edges[[0, -1]], ylim=edges[[-1, 0]], aspect="equal")
    axes.tick_params(length=0, pad=1.5, labelsize=labelsize)
    axes.spines[:].set_visible(False)


def set_ticks(axes: Axes) -> None:
    """Put round ticks on both axes, integers on the x axis, and none beyond their limits."""
    for axis, limits, integer in ((axes.xaxis, axes.get_xlim(), True), (axes.yaxis, axes.get_ylim(), False)):
        values = MaxNLocator(nbins=6, integer=integer, steps=[1, 2, 5, 10]).tick_values(*limits)
        axis.set_ticks([float(value) for value in values if limits[0] <= value <= limits[1]])


def finish(
    figure: Figure, handles: Sequence[Artist], *, line: float = 0.0, fontsize: float = 7, handlelength: float = 2.6
) -> None:
    """Put the legend above the panels, in as few lines as the width allows, and fix the layout.

    The figure, with constrained layout, grows by `line` inches for each line of the legend; 0 if it already has room
    for it.
    """
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(
            handles=handles, loc="outside upper center", ncols=columns, frameon=False, fontsize=fontsize,
            handlelength=handlelength,
        )  # fmt: skip
        if legend.get_window_extent().width <= figure.bbox.width or columns == 1:
            break
        legend.remove()
    if line:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + line * ceil(len(handles) / columns))
    fix_layout(figure)


def fix_layout(figure: Figure) -> None:
    """Lay out a figure with constrained layout once: all file formats show the same, and none has to find it again."""
    layout = figure.get_layout_engine()
    assert layout is not None
    layout.execute(figure)
    figure.set_layout_engine(None)
