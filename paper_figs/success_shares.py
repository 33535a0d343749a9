"""Figure of P(fit), P(generalizes | fit) and P(generalizes) of every cell: shares of runs with exact intervals."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from lengthgen.paper_figs.cell_rows import CellRows
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.style import SMALLEST_TEXT, context, glossary, line_style, looks
from lengthgen.paper_figs.trial_cells import (
    Setting,
    StoredCell,
    Trial,
    gid_of,
    judging_rule,
    key_of,
    main_cells,
    run_counts,
    trial_figure,
)

SHARES = {"fit": "fit", "generalizes_given_fit": "generalize | fit", "generalizes": "generalize"}
PARTS = ("successes", "trials", "low", "high")
# Inches: space above and below the rows, and the width of the counts beside a panel.
_ABOVE, _BELOW, _COUNTS = 0.22, 0.34, 0.3


def drawing(trial: Trial, protocol: Setting, width: float) -> Drawing:
    """Draw a row for each cell and a panel for each of the three shares, `width` inches wide in all.

    Raises:
        Undrawable: the rows do not fit a page.
    """
    cells = main_cells(trial)
    rows: list[dict[str, object]] = [
        {**key_of(cell), **{f"{name}_{part}": cell[name][part] for name in SHARES for part in PARTS}} for cell in cells
    ]
    return Drawing(shown=_draw(cells, width), rows=rows, caption=_caption(trial, cells, protocol.name))


def _draw(cells: Sequence[StoredCell], width: float) -> Figure:
    look_of = looks(dict.fromkeys(cell["encoding"] for cell in cells))
    rows = CellRows.of(cells, width, around=_ABOVE + _BELOW)
    height = _ABOVE + rows.height + _BELOW
    panel = (width - rows.names) / len(SHARES)
    with context():
        figure = Figure(figsize=(width, height))
        for column, (name, title) in enumerate(SHARES.items()):
            axes = figure.add_axes(
                ((rows.names + column * panel) / width, _BELOW / height, (panel - _COUNTS) / width,
                 rows.height / height), gid=name,
            )  # fmt: skip
            axes.set_title(title, pad=3)
            rows.prepare(axes)
            axes.set(xlim=(-0.04, 1.04), xticks=[0, 0.5, 1])
            axes.set_xlabel("share of runs", labelpad=1)
            for place, cell in zip(rows.places, rows.cells, strict=True):
                share, look = cell[name], look_of[cell["encoding"]]
                gid = gid_of(cell)
                if share["trials"]:
                    axes.hlines(
                        [place], share["low"], share["high"], color=look.colour, linewidth=0.9, gid=f"bar:{gid}"
                    )
                    mark = line_style(look) | {"linestyle": "none", "markersize": 3.4, "markeredgewidth": 0.7}
                    axes.plot([share["successes"] / share["trials"]], [place], **mark, zorder=3, gid=f"mark:{gid}",
                              clip_on=False)  # fmt: skip
                axes.annotate(
                    run_counts(share), (1.04, place), xycoords="data", xytext=(3, 0), textcoords="offset points",
                    va="center", fontsize=SMALLEST_TEXT, annotation_clip=False,
                )  # fmt: skip
        rows.write_names(figure, look_of, top=_ABOVE)
    return figure


def _caption(trial: Trial, cells: Sequence[StoredCell], protocol: str) -> str:
    *fewer, most = sorted({cell["fit"]["trials"] for cell in cells})
    runs = " or ".join([*map(str, fewer), count_text(most, "run")])
    totals = {name: sum(cell[name]["successes"] for cell in cells) for name in ("fit", "generalizes")}
    run_count = sum(cell["fit"]["trials"] for cell in cells)
    return (
        f"Shares of the {runs} of each cell, protocol {protocol}: "
        f"{judging_rule(trial)}. Fit: all training scales solved; generalize: all scales. Bars are exact "
        f"(Clopper-Pearson) intervals of {trial['confidence']:.0%}; without a fitting run the second share is "
        f"undefined. Runs in all: {run_count}; that fit: {totals['fit']}; that generalize: {totals['generalizes']}. "
        f"{glossary(dict.fromkeys(cell['encoding'] for cell in cells))}"
    )


FIGURES = (
    trial_figure(
        "success",
        "P(fit), P(generalizes | fit), P(generalizes) by counts of seeds",
        drawing,
        place=550,
        least_width=5.5,
    ),
)
