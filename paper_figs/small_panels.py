"""Grounds of figures: a grid of small panels with one legend above, a page in inches, the cells of a matrix."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure

MaskedArray = np.ma.MaskedArray[Any, Any]


def shape(count: int, *, width: float, narrowest: float) -> tuple[int, int]:
    """(lines, columns) of so many panels: as few lines as the width allows, of equal length where possible."""
    lines = ceil(count / min(count, max(1, int(width / narrowest))))
    return lines, ceil(count / lines)


def grid(count: int, *, width: float, narrowest: float, height: float, **shared: Any) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels, in lines of equal length where possible; call it in `paper_figs.style.context`.

    Args:
        count: of panels.
        width: inches, of the figure.
        narrowest: inches, of a panel.
        height: inches, of a panel.
        shared: what `Figure.subplots` takes, such as sharex.
    """
    lines, columns = shape(count, width=width, narrowest=narrowest)
    figure = Figure(figsize=(width, lines * height + 0.35), layout="constrained")
    axes = [*figure.subplots(lines, columns, squeeze=False, **shared).flat]
    for empty in axes[count:]:
        empty.remove()
    for above in axes[max(0, count - columns) : count]:
        above.tick_params(labelbottom=True)
    return figure, axes[:count]


def page(width: float, height: float, *, left: float = 0.0, top: float) -> tuple[Figure, Axes]:
    """A figure and its axes, in inches and without frame; (0, 0) is `left` from the left and `top` from the top."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-left, width - left), ylim=(top - height, top))
    axes.set_axis_off()
    return figure, axes


def matrix(
    axes: Axes, shown: MaskedArray, colours: Colormap, low: float, high: float, *, gid: str,
    frame: str = "0.8", linewidth: float = 0.3, labelsize: float = 6.5,
) -> None:  # fmt: skip
    """A square matrix, rows keys and columns queries, coloured from low to high; what is masked has no frame."""
    edges = np.arange(len(shown) + 1) + 0.5
    mesh = axes.pcolormesh(edges, edges, shown, cmap=colours, vmin=low, vmax=high, gid=gid)
    mesh.set(edgecolors=["none" if hidden else frame for hidden in np.ma.getmaskarray(shown).flat], linewidth=linewidth)
    axes.set(xlim=edges[[0, -1]], ylim=edges[[-1, 0]], aspect="equal")
    axes.tick_params(length=0, pad=1.5, labelsize=labelsize)
    axes.spines[:].set_visible(False)


def finish(
    figure: Figure, handles: Sequence[Artist], *, line: float = 0.0, fontsize: float = 7, handlelength: float = 2.6
) -> None:
    """The legend above the panels, in as few lines as the width allows; then the layout is settled.

    Args:
        figure: of constrained layout; it grows by `line` inches for each line of the legend.
        handles: of the legend.
        line: 0 where the figure has room for the legend.
        fontsize: points.
        handlelength: in font sizes.
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
    # Settled once: all file formats then show the same figure, and none is drawn twice to find its layout.
    figure.draw_without_rendering()
    figure.set_layout_engine(None)
