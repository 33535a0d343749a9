"""Histograms of positions that PRISM gives to tokens beyond the trained length."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.prism_runs import (
    KINDS,
    PROTOCOL,
    TokenPositions,
    read_positions,
    runs_by_sharpening,
    trained_tokens,
)
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import fix_layout, set_ticks
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.paper_figs.style import PAGE_WIDTH, context

_LEAST = 1e-3
"""Least mass that is drawn."""
_PANEL = 2.3
_ABOVE = 0.25


def drawing(read: Mapping[str, Sequence[TokenPositions]], trained: Mapping[str, int], train: Sequence[int]) -> Drawing:
    """Draw a line of panels for each task and a panel for each run: position by token, with the trained range framed.

    Args:
        read: positions of the runs to show, by title of the task; all tasks have as many.
        trained: number of tokens read at the largest training scale, by title of the task.
        train: the training scales.
    """
    first = next(iter(read.values()))[0]
    return Drawing(
        shown=_draw(read, trained),
        rows=[
            {
                "task": task,
                "encoding": positions.run.encoding,
                "seed": positions.run.seed,
                "scale": positions.scale,
                "token": token,
                "symbol": positions.symbols[token],
                "trained": token < trained[task],
                "position": place,
                "mass": float(mass),
            }
            for task, shown in read.items()
            for positions in shown
            for token, histogram in enumerate(positions.histograms)
            for place, mass in enumerate(histogram)
            if mass >= _LEAST
        ],
        caption=f"Histograms of positions of the tokens of one test sample of scale {first.scale}, trained on scales "
        f"{train[0]}-{train[-1]}: column t holds the histogram of token t, both counted from 0, shaded by mass "
        f"from {_LEAST:g} on, on a logarithmic scale. Framed: the tokens that training showed, "
        f"{'; '.join(f'{task} {number}' for task, number in trained.items())}, and as many positions. Dotted: end "
        f"of the prompt. The run shown is the first one (seed {first.run.seed}) of each cell.",
    )


def _draw(read: Mapping[str, Sequence[TokenPositions]], trained: Mapping[str, int]) -> Figure:
    columns = len(next(iter(read.values())))
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, len(read) * _PANEL + _ABOVE), layout="constrained")
        grid = figure.subplots(len(read), columns, squeeze=False)
        for row, (task, shown) in enumerate(read.items()):
            most = max(_largest(positions) for positions in shown)
            for axes, positions in zip(grid[row], shown, strict=True):
                mesh = _draw_panel(axes, positions, trained[task], most)
                axes.set_title(f"{task}, {_arm(positions)}", fontweight="bold")
                if row == len(read) - 1:
                    axes.set_xlabel("token t")
            grid[row, 0].set_ylabel("position k")
        figure.colorbar(mesh, ax=grid, label="mass of position k in the histogram of token t", shrink=0.7, pad=0.01)
        fix_layout(figure)
    return figure


def _draw_panel(axes: Axes, positions: TokenPositions, trained: int, most: int) -> QuadMesh:
    shown = np.ma.masked_less(positions.histograms[:, : most + 1].T, _LEAST)
    edges = [np.arange(size + 1) - 0.5 for size in reversed(shown.shape)]
    axes.set_gid(f"histograms:{positions.run.task.title}:{_arm(positions)}")
    mesh = axes.pcolormesh(*edges, shown, cmap="Blues", norm=LogNorm(_LEAST, 1), gid="masses", rasterized=True)
    axes.add_patch(
        Rectangle(
            (-0.5, -0.5), trained, min(trained, most) + 1, facecolor="none", edgecolor="black", linewidth=0.8,
            gid="trained",
        )
    )  # fmt: skip
    end = positions.kinds.index(KINDS[2]) - 0.5
    axes.axvline(end, color="0.3", linewidth=0.7, linestyle=(0, (1, 2)), gid="prompt")
    axes.set(xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]])
    set_ticks(axes)
    return mesh


def _largest(positions: TokenPositions) -> int:
    """Largest position with a mass that is drawn."""
    return int(np.flatnonzero((positions.histograms >= _LEAST).any(axis=0))[-1])


def _arm(positions: TokenPositions) -> str:
    """Sharpening of a run in words."""
    return "without sharpening" if "sharpening=none" in positions.run.encoding else "sharpened"


def _first_runs(sources: Sources, *, protocol: str) -> Drawing:
    """Draw the first run of each cell at the largest test scale."""
    loaded = sources.protocol(protocol)
    read = {
        task: [read_positions(runs[0], sources.store, loaded.test[-1]) for runs in arms.values()]
        for task, arms in runs_by_sharpening(sources, protocol).items()
    }
    return drawing(read, trained_tokens(sources, protocol), loaded.train)


FIGURES = (
    Entry(
        place=160,
        name="prism-histograms",
        title="Histograms of positions of PRISM beyond training",
        make=partial(_first_runs, protocol=PROTOCOL),
        needs=Needs(protocols=(PROTOCOL,), record=()),
        least_width=PAGE_WIDTH,
    ),
)
