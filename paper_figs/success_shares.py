"""Figure of P(fit), P(generalizes | fit) and P(generalizes) of every cell: shares of runs with exact intervals."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from empirical.runs.protocol import Protocol
from paper_figs.saving import Drawing
from paper_figs.style import SMALLEST_TEXT, context, glossary, line_style, looks
from paper_figs.trial_cells import (
    StoredCell,
    Trial,
    gid_of,
    judging_rule,
    key_of,
    main_cells,
    run_counts,
    task_names,
    trial_figure,
)

SHARES = {"fit": "fit", "generalizes_given_fit": "generalize | fit", "generalizes": "generalize"}
PARTS = ("successes", "trials", "low", "high")
# Inches: height of a line, space above, below and between tasks, width of the names and of the counts.
_LINE, _ABOVE, _BELOW, _BETWEEN, _NAMES, _COUNTS = 0.135, 0.22, 0.34, 0.05, 1.55, 0.3


def drawing(trial: Trial, protocol: Protocol, width: float) -> Drawing:
    """Draw a line for each cell and a panel for each of the three shares, `width` inches wide in all."""
    cells = main_cells(trial)
    rows: list[dict[str, object]] = [
        {**key_of(cell), **{f"{name}_{part}": cell[name][part] for name in SHARES for part in PARTS}} for cell in cells
    ]
    return Drawing(shown=_draw(cells, width), rows=rows, caption=_caption(trial, cells, protocol.name))


def _draw(cells: list[StoredCell], width: float) -> Figure:
    look_of = looks(dict.fromkeys(cell["encoding"] for cell in cells))
    names_of = task_names(cells)
    tasks = list(dict.fromkeys(names_of))
    height = _ABOVE + _LINE * len(cells) + _BETWEEN * len(tasks) + _BELOW
    names = min(_NAMES, 0.42 * width)
    panel = (width - names) / len(SHARES)
    with context():
        figure = Figure(figsize=(width, height))
        groups = [tasks.index(name) for name in names_of]
        places = [_LINE * (line + 0.5) + _BETWEEN * (group + 0.5) for line, group in enumerate(groups)]
        body = _LINE * len(cells) + _BETWEEN * len(tasks)
        for column, (name, title) in enumerate(SHARES.items()):
            axes = figure.add_axes(
                ((names + column * panel) / width, _BELOW / height, (panel - _COUNTS) / width, body / height), gid=name
            )
            axes.set_title(title, pad=3)
            axes.set(xlim=(-0.04, 1.04), ylim=(body, 0), xticks=[0, 0.5, 1], yticks=[])
            axes.spines["left"].set_visible(False)
            axes.set_xlabel("share of runs", labelpad=1)
            for group in range(1, len(tasks)):
                axes.axhline(
                    places[groups.index(group)] - (_LINE + _BETWEEN) / 2, color="0.85", linewidth=0.5, zorder=0
                )
            for place, cell in zip(places, cells, strict=True):
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
                if not column:
                    axes.annotate(
                        look.label, (-0.04, place), xytext=(-3, 0), textcoords="offset points", ha="right", va="center",
                        fontsize=SMALLEST_TEXT, annotation_clip=False,
                    )  # fmt: skip
        for task in tasks:
            places_of_task = [place for place, name in zip(places, names_of, strict=True) if name == task]
            figure.text(
                0.06 / width, 1 - (_ABOVE + sum(places_of_task) / len(places_of_task)) / height,
                task.replace(", ", ",\n"), va="center", fontsize=7, fontweight="bold", linespacing=0.95,
            )  # fmt: skip
    return figure


def _caption(trial: Trial, cells: Sequence[StoredCell], protocol: str) -> str:
    runs = sorted({cell["fit"]["trials"] for cell in cells})
    totals = {name: sum(cell[name]["successes"] for cell in cells) for name in ("fit", "generalizes")}
    run_count = sum(cell["fit"]["trials"] for cell in cells)
    return (
        f"Shares of the {' or '.join(map(str, runs))} runs (seeds) of each cell, protocol {protocol}: "
        f"{judging_rule(trial)}. Fit: all training scales solved; generalize: all scales. Bars are exact "
        f"(Clopper-Pearson) intervals of {trial['confidence']:.0%}; without a fitting run the second share is "
        f"undefined. Of all {run_count} runs {totals['fit']} fit and {totals['generalizes']} generalize. "
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
