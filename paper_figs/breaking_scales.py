"""Figure of breaking scales: the first scale that the runs of each cell fail, beside the predicted one.

A cell is one task, format and encoding of a judged protocol.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from empirical.runs.protocol import Protocol
from paper_figs.saving import Drawing
from paper_figs.style import SMALLEST_TEXT, context, glossary, line_style, looks
from paper_figs.trial_cells import (
    StoredCell,
    Trial,
    gid_of,
    judging_rule,
    key_of,
    label_of,
    main_cells,
    task_names,
    trial_figure,
)

_HEIGHT, _NAMES, _LEFT, _ABOVE = 2.0, 1.05, 0.55, 0.3
"""Inches: height of the axes, and the space below, left of and above them."""
_WIDEST = 0.3
"""Inches: largest width of the column of a cell."""


def drawing(trial: Trial, protocol: Protocol, width: float) -> Drawing:
    """Draw the cells of the trial that have a prediction and at least one run that fits its training scales."""
    cells = [cell for cell in main_cells(trial) if cell["breaking"]]
    rows: list[dict[str, object]] = [
        {
            **key_of(cell),
            "predicted": cell["breaking"]["predicted"] or "never",
            "observed": cell["breaking"]["observed"] or "never",
            "first": (cell["breaking"]["range"] or ["never"])[0],
            "last": (cell["breaking"]["range"] or ["never"])[-1],
            "fitting": cell["fit"]["successes"],
            "as_predicted": cell["breaking"]["exact"]["successes"],
        }
        for cell in cells
    ]
    empty_rows: list[dict[str, object]] = [{"task": "none has a prediction and a fitting run"}]
    return Drawing(
        shown=_draw(cells, train=protocol.train, last=protocol.test[-1], width=width),
        rows=rows or empty_rows,
        caption=_caption(trial, cells, protocol.name),
    )


def _draw(cells: Sequence[StoredCell], *, train: Sequence[int], last: int, width: float) -> Figure:
    """Draw a column for each cell, ordered by prediction; `never` is a place above all scales."""
    never = last + max(2, round(0.12 * last))
    look_of = looks(dict.fromkeys(cell["encoding"] for cell in cells))
    ordered = sorted(cells, key=lambda cell: cell["breaking"]["predicted"] or never)
    axes_width = min(width - _LEFT - 0.08, _WIDEST * max(len(cells), 1))
    left = max(_LEFT, (width - axes_width) / 2)  # centred, so that few cells stand below the legend
    height = _HEIGHT + _NAMES + _ABOVE
    with context():
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((left / width, _NAMES / height, axes_width / width, _HEIGHT / height))
        axes.axhspan(never - 1, never + 1, color="0.92", linewidth=0, zorder=0)
        axes.axhspan(min(train) - 0.5, max(train) + 0.5, color="0.92", linewidth=0, zorder=0, gid="training")
        for place, cell in enumerate(ordered):
            look, breaking = look_of[cell["encoding"]], cell["breaking"]
            gid = gid_of(cell)
            failures = [run["first_failure"] or never for run in cell["outcomes"] if run["fits"]]
            predicted = breaking["predicted"] or never
            axes.hlines([predicted], place - 0.42, place + 0.42, color="black", linewidth=1.6, zorder=2,
                        gid=f"predicted:{gid}")  # fmt: skip
            axes.vlines([place], min(failures), max(failures), color=look.colour, linewidth=0.8, zorder=1,
                        gid=f"range:{gid}")  # fmt: skip
            mark = line_style(look) | {"linestyle": "none", "markersize": 4.0, "markeredgewidth": 0.7}
            axes.plot([place], [breaking["observed"] or never], **mark, zorder=3, gid=f"observed:{gid}")
        axes.set_xticks(range(len(ordered)), task_names(ordered), rotation=90, fontsize=SMALLEST_TEXT)
        axes.tick_params(axis="x", length=0, pad=2)
        axes.set_yticks([1, *range(5, last + 1, 5), never], ["1", *map(str, range(5, last + 1, 5)), "never"])
        axes.set(xlim=(-0.6, max(len(ordered), 1) - 0.4), ylim=(0, never + 1))
        axes.set_ylabel("breaks at scale")
        handles = [
            Line2D([], [], color="black", linewidth=1.6, label="predicted"),
            *(
                Line2D([], [], **line_style(look) | {"linestyle": "none"}, label=look.label)
                for look in look_of.values()
            ),
            Patch(facecolor="0.92", label="training scales; never"),
        ]
        figure.legend(
            handles=handles, loc="upper center", ncols=len(handles) if width > 5 else 4, frameon=False, fontsize=7,
            handlelength=1.2, columnspacing=1.0, borderpad=0.1,
        )  # fmt: skip
    return figure


def _caption(trial: Trial, cells: Sequence[StoredCell], protocol: str) -> str:
    summary = trial["breaking"]
    encodings = list(dict.fromkeys(cell["encoding"] for cell in cells))
    not_as_predicted = [
        f"{cell['task'].rpartition(':')[2]}, {cell['format']}, {label_of(cell)} (predicted "
        f"{cell['breaking']['predicted'] or 'never'}, median {cell['breaking']['observed'] or 'never'})"
        for cell in cells
        if cell["breaking"]["predicted"] != cell["breaking"]["observed"]
    ]
    return (
        f"Scales at which runs break, observed and predicted, of protocol {protocol}: {judging_rule(trial)}. Each "
        "column is a cell. The dash is the predicted scale; the mark is the median, over the runs that fit training, "
        "of the first scale that a run does not solve; the line reaches from the smallest to the largest of these. Of "
        f"{summary['cells']} cells predicted to break, {summary['as_predicted']} break exactly at the predicted scale, "
        f"{summary['earlier']} earlier, {summary['later']} later and {summary['never']} never. Cells that differ from "
        f"the prediction: {'; '.join(not_as_predicted) or 'none'}. {glossary(encodings) if encodings else ''}"
    ).strip()


FIGURES = (trial_figure("breaking", "breaking scale, predicted against observed", drawing, place=560),)
