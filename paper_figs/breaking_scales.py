"""Figure of breaking scales: the first scale that the runs of each cell fail, beside the predicted one.

A cell is one task, format and encoding of a judged protocol.
"""

from collections.abc import Sequence
from math import ceil, inf

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lengthgen.paper_figs.cell_rows import CellRows
from lengthgen.paper_figs.names import count_text, short_task_names
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.style import context, glossary, line_style, looks
from lengthgen.paper_figs.trial_cells import (
    Setting,
    StoredCell,
    Trial,
    gid_of,
    judging_rule,
    key_of,
    label_of,
    main_cells,
    trial_figure,
)

# Inches: space above the rows with a line of the legend, and below them.
_ABOVE, _LEGEND, _BELOW = 0.06, 0.2, 0.34


def drawing(trial: Trial, protocol: Setting, width: float) -> Drawing:
    """Draw the cells of the trial that have a prediction and at least one run that fits its training scales.

    Raises:
        Undrawable: the rows do not fit a page.
    """
    cells = [cell for cell in main_cells(trial) if cell["breaking"]]
    rows: list[dict[str, object]] = [
        {
            **key_of(cell),
            "predicted": _in_words(cell["breaking"]["predicted"]),
            "observed": _in_words(cell["breaking"]["observed"]),
            "first": _in_words(min(_failures(cell), key=_late)),
            "last": _in_words(max(_failures(cell), key=_late)),
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


def _failures(cell: StoredCell) -> list[float | None]:
    """First failures of the fitting runs of a cell; None for a run that solves every scale."""
    return [run["first_failure"] for run in cell["outcomes"] if run["fits"]]


def _late(scale: float | None) -> float:
    return inf if scale is None else scale


def _in_words(scale: float | None) -> str:
    return "never" if scale is None else f"{scale:g}"


def _marked(last: int) -> list[int]:
    """Scales with a tick: the first, the last, and round ones between, of which ten fit, or five of three digits."""
    step = 5 * ceil(last / (50 if last < 100 else 25))
    return sorted({1, *(scale for scale in range(step, last, step) if last - scale > step / 4), last})


def _draw(cells: Sequence[StoredCell], *, train: Sequence[int], last: int, width: float) -> Figure:
    """Draw a row for each cell; `never` is a place beyond all scales."""
    wide = width > 5
    never = last + max(2, round((0.12 if wide else 0.2) * last))
    look_of = looks(dict.fromkeys(cell["encoding"] for cell in cells))
    above = _ABOVE + _LEGEND * (1 if wide else 2)
    rows = CellRows.of(cells, width, around=above + _BELOW)
    body = max(rows.height, 0.3)
    height = above + body + _BELOW
    with context():
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes(
            (rows.names / width, _BELOW / height, (width - rows.names - 0.12) / width, body / height), gid="breaking"
        )
        rows.prepare(axes)
        axes.axvspan(never - 1, never + 1, color="0.92", linewidth=0, zorder=0)
        axes.axvspan(min(train) - 0.5, max(train) + 0.5, color="0.92", linewidth=0, zorder=0, gid="training")
        for place, cell in zip(rows.places, rows.cells, strict=True):
            look, breaking = look_of[cell["encoding"]], cell["breaking"]
            gid = gid_of(cell)
            failures = [failure or never for failure in _failures(cell)]
            predicted = breaking["predicted"] or never
            axes.plot([predicted], [place], color="black", marker="|", markersize=8, markeredgewidth=1.6, zorder=2,
                      linestyle="none", gid=f"predicted:{gid}")  # fmt: skip
            axes.hlines([place], min(failures), max(failures), color=look.colour, linewidth=0.9, zorder=1,
                        gid=f"range:{gid}")  # fmt: skip
            mark = line_style(look) | {"linestyle": "none", "markersize": 3.4, "markeredgewidth": 0.7}
            axes.plot([breaking["observed"] or never], [place], **mark, zorder=3, gid=f"observed:{gid}")
        marked = _marked(last)
        axes.set_xticks([*marked, never], [*map(str, marked), "never"])
        axes.set(xlim=(0, never + 1))
        axes.set_xlabel("breaks at scale", labelpad=1)
        rows.write_names(figure, look_of, top=above)
        handles = [
            Line2D([], [], color="black", marker="|", markersize=8, markeredgewidth=1.6, linestyle="none",
                   label="predicted"),
            Line2D([], [], color="0.3", marker="o", markersize=3.4, linewidth=0.9, label="median and range of runs"),
            Patch(facecolor="0.92", label="training scales; never"),
        ]  # fmt: skip
        figure.legend(
            handles=handles, loc="upper center", ncols=3 if wide else 2, frameon=False, fontsize=7,
            handlelength=1.8, columnspacing=1.4, borderpad=0.1,
        )  # fmt: skip
    return figure


def _caption(trial: Trial, cells: Sequence[StoredCell], protocol: str) -> str:
    summary = trial["breaking"]
    predicted = (
        f"Of {count_text(summary['cells'], 'cell')} predicted to break, at just that scale: "
        f"{summary['as_predicted']}, earlier: {summary['earlier']}, later: {summary['later']}, never: "
        f"{summary['never']}."
        if summary["cells"]
        else "No cell is predicted to break."
    )
    encodings = list(dict.fromkeys(cell["encoding"] for cell in cells))
    names = short_task_names(cell["task"] for cell in cells)
    not_as_predicted = [
        f"{names[cell['task']]}, {cell['format']}, {label_of(cell)} (predicted "
        f"{_in_words(cell['breaking']['predicted'])}, median {_in_words(cell['breaking']['observed'])})"
        for cell in cells
        if cell["breaking"]["predicted"] != cell["breaking"]["observed"]
    ]
    return (
        f"Scales at which runs break, observed and predicted, of protocol {protocol}: {judging_rule(trial)}. Each "
        "row is a cell. The stroke is the predicted scale; the mark is the median, over the runs that fit training, "
        "of the first scale that a run does not solve; the line reaches from the smallest to the largest of these. "
        f"{predicted} Cells that differ from "
        f"the prediction: {'; '.join(not_as_predicted) or 'none'}. {glossary(encodings) if encodings else ''}"
    ).strip()


FIGURES = (trial_figure("breaking", "breaking scale, predicted against observed", drawing, place=560),)
