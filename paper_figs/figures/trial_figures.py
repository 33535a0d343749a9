"""Figures and table of a trial: predictions beside observations, shares of runs, breaking scales, disagreements.

In the matrix of predictions, the left half of a cell is the prediction, the right half the result of the runs. Dark
means that the cell generalizes, white that it does not; a cell with a single shade is a prediction that was right.
"""

from collections.abc import Sequence
from math import ceil, inf, radians, sin

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from lengthgen.empirical.trial.conjecture import FEWEST
from lengthgen.paper_figs.names import count_text, short_task_names
from lengthgen.paper_figs.panels import axes_at, page, shade, trained_patch
from lengthgen.paper_figs.saving import Drawing, Printed
from lengthgen.paper_figs.style import SMALLEST_TEXT, TRAINED, context, glossary, looks, mark_style
from lengthgen.paper_figs.trial_cells import (
    CellRows,
    Setting,
    StoredCell,
    Trial,
    gid_of,
    judging_rule,
    key_of,
    label_of,
    main_cells,
    main_rule,
    predicted_text,
    predicting_rule,
    run_counts,
    task_names,
    trial_figure,
    yes_no,
)

_DARK, _PALE, _UNKNOWN = "#5B7FA6", "#FFFFFF", "0.88"
# Inches: width of the task names, height of a row, space above, space below with the legend, largest cell width, and
# width of a character of a heading.
_NAMES, _LINE, _ABOVE, _LEGEND, _WIDEST, _CHARACTER = 1.45, 0.2, 0.42, 0.42, 0.8, 0.052
_TURN = 35
"""Degrees by which headings are turned that are wider than their columns."""
_COUNTS = 0.42
"""Inches: width of the margin with the count of each row."""

# Inches, where each cell has a row: space below the rows; space above shares, and width of the counts beside them;
# space above breaking scales, and a line of their legend.
_BELOW, _ABOVE_SHARES, _SHARE_COUNTS, _ABOVE_SCALES, _SCALES_LEGEND = 0.34, 0.22, 0.3, 0.06, 0.2


def predicted_drawing(trial: Trial, protocol: Setting, width: float) -> Drawing:
    """Draw the matrix; the counts at its margins are over cells with both a prediction and an observation."""
    cells = main_cells(trial)
    return Drawing(
        shown=_draw_predicted(cells, width, main_rule(trial)),
        rows=_predicted_rows(cells),
        caption=_predicted_caption(trial, cells, protocol.name),
    )


def agreement(cells: Sequence[StoredCell]) -> tuple[int, int]:
    """Number of cells whose prediction was observed, and number of cells with both prediction and observation."""
    decided = [cell for cell in cells if None not in (cell["predicted"], cell["observed"])]
    return sum(cell["predicted"] == cell["observed"] for cell in decided), len(decided)


def _predicted_rows(cells: Sequence[StoredCell]) -> list[dict[str, object]]:
    return [
        {
            **key_of(cell),
            **{key: yes_no(cell[key]) for key in ("predicted", "literal", "observed")},
            "runs": cell["fit"]["trials"],
            "fit": cell["fit"]["successes"],
            "generalize": cell["generalizes_given_fit"]["successes"],
            "verdict": cell["verdict"],
        }
        for cell in cells
    ]


def _draw_predicted(cells: list[StoredCell], width: float, rule: str) -> Figure:
    by_task: dict[str, list[StoredCell]] = {}
    for cell, task in zip(cells, task_names(cells), strict=True):
        by_task.setdefault(task, []).append(cell)
    encodings = list(dict.fromkeys(cell["encoding"] for cell in cells))
    labels = {encoding: look.label.replace(" (", "\n(") for encoding, look in looks(encodings).items()}
    step = min(_WIDEST, (width - _NAMES - _COUNTS) / len(encodings))
    longest = _CHARACTER * max(len(line) for label in labels.values() for line in label.split("\n"))
    is_turned = longest > step
    above = max(_ABOVE, 0.2 + longest * sin(radians(_TURN))) if is_turned else _ABOVE
    height = above + _LINE * (len(by_task) + 1) + _LEGEND
    total_width = _NAMES + step * len(encodings) + _COUNTS
    with context():
        figure, axes = page(width, height, top=above)

        def write_heading(x: float, text: str) -> None:
            axes.text(
                x, 0.06, text, ha="left" if is_turned else "center", va="bottom", rotation=_TURN if is_turned else 0,
                rotation_mode="anchor", fontsize=7, linespacing=0.95,
            )  # fmt: skip

        left = (width - total_width) / 2
        axes.set_xlim(-left - _NAMES, width - left - _NAMES)
        for column, encoding in enumerate(encodings):
            write_heading((column + 0.5) * step, labels[encoding])
            cells_of_it = [cell for cell in cells if cell["encoding"] == encoding]
            _write_count(axes, (column + 0.5) * step, -len(by_task) - 0.5, cells_of_it, f"column:{encoding}")
        for line, (task, cells_of_it) in enumerate(by_task.items()):
            axes.text(-0.06, -(line + 0.5) * _LINE, task, ha="right", va="center_baseline", fontsize=7)
            for cell in cells_of_it:
                _draw_cell(axes, cell, encodings.index(cell["encoding"]) * step, -(line + 1) * _LINE, step, rule)
            _write_count(axes, len(encodings) * step + _COUNTS / 2, -line - 0.5, cells_of_it, f"row:{task}")
        if not is_turned:  # else the last heading needs the space
            write_heading(len(encodings) * step + _COUNTS / 2, "as\npredicted")
        axes.text(-0.06, -(len(by_task) + 0.5) * _LINE, "as predicted", ha="right", va="center_baseline", fontsize=7)
        _legend(figure)
    return figure


def _draw_cell(axes: Axes, cell: StoredCell, left: float, bottom: float, step: float, rule: str) -> None:
    gid = gid_of(cell)
    right = run_counts(cell["generalizes_given_fit"]) if cell["fit"]["successes"] else "not learnt"
    halves = (("predicted", predicted_text(cell, rule), cell["predicted"]), ("observed", right, cell["observed"]))
    for place, (part, text, answer) in enumerate(halves):
        fill_colour = {True: _DARK, False: _PALE, None: _UNKNOWN}[answer]
        half_left = left + step * place / 2
        axes.add_patch(
            Rectangle((half_left, bottom), step / 2, _LINE, facecolor=fill_colour, edgecolor="0.6", linewidth=0.3,
                      gid=f"{part}:{gid}")
        )  # fmt: skip
        axes.text(
            half_left + step / 4, bottom + _LINE / 2, "" if text == "not learnt" and step < 0.75 else text, ha="center",
            va="center_baseline", fontsize=SMALLEST_TEXT, color="white" if answer else "black", gid=f"{part}:{gid}",
        )  # fmt: skip
    is_wrong = None not in (cell["predicted"], cell["observed"]) and cell["predicted"] != cell["observed"]
    axes.add_patch(
        Rectangle((left, bottom), step, _LINE, facecolor="none", edgecolor="black", linewidth=1.4 if is_wrong else 0.5,
                  zorder=4 if is_wrong else 3, gid=f"{'wrong' if is_wrong else 'cell'}:{gid}")
    )  # fmt: skip


def _write_count(axes: Axes, x: float, line: float, cells: Sequence[StoredCell], gid: str) -> None:
    agreed, decided = agreement(cells)
    text = f"{agreed}/{decided}" if decided else "-"
    axes.text(x, line * _LINE, text, ha="center", va="center_baseline", fontsize=7, gid=gid)


def _legend(figure: Figure) -> None:
    unknown = f"no prediction, under {FEWEST} fitting runs, or a tie"
    meaning_of = {_DARK: "generalizes", _PALE: "does not", _UNKNOWN: unknown}
    handles = [
        Patch(facecolor=colour, edgecolor="0.6", linewidth=0.3, label=label) for colour, label in meaning_of.items()
    ]
    handles.append(Patch(facecolor="none", edgecolor="black", linewidth=1.4, label="not as predicted"))
    columns = 4 if figure.get_figwidth() > 5 else 2
    figure.legend(
        handles=handles, loc="lower center", ncols=columns, frameon=False, fontsize=7, handlelength=1.4, borderpad=0.1,
        columnspacing=1.2,
    )  # fmt: skip


def _predicted_caption(trial: Trial, cells: Sequence[StoredCell], protocol: str) -> str:
    rule = trial["rules"][main_rule(trial)]
    counts = rule["table"]
    literal = trial["rules"]["literal"]
    agreed, decided = agreement(cells)
    permuted = ", ".join(f"by {name} p = {test['p']:.3g}" for name, test in rule["permutation"].items())
    tests = (
        "" if rule["fisher_p"] is None else f"; Fisher's exact test p = {rule['fisher_p']:.3g}, permutations {permuted}"
    )
    as_predicted = (
        f"As predicted: {agreed} of {decided} cells with both a prediction and an outcome, "
        f"{agreed / decided:.0%}{tests}. "
        if decided
        else "No cell has both a prediction and an outcome. "
    )
    return (
        f"Predicted against observed, protocol {protocol}: {judging_rule(trial)}. Left half: prediction of the cell, "
        f"{predicting_rule(trial)}; right half: runs that solve every scale, out of the runs that fit their "
        "training scales (dark if most do). At the margins: cells as predicted. Of the cells predicted to "
        f"generalize {counts['yes_yes']} do and {counts['yes_no']} do not, of those predicted not to "
        f"{counts['no_yes']} do and {counts['no_no']} do not; with under {FEWEST} fitting runs or a tie: "
        f"{counts['not_observed']}; without a "
        f"prediction: {counts['no_prediction']}. {as_predicted}As predicted by our literal reading of the conjecture, "
        f"without coverage: {literal['table']['yes_yes'] + literal['table']['no_no']}. "
        f"{glossary(dict.fromkeys(cell['encoding'] for cell in cells), trained=True)}"
    )


SHARES = {"fit": "fit", "generalizes_given_fit": "generalize | fit", "generalizes": "generalize"}
PARTS = ("successes", "trials", "low", "high")


def success_drawing(trial: Trial, protocol: Setting, width: float) -> Drawing:
    """Draw a row for each cell and a panel for each of the three shares, `width` inches wide in all.

    Raises:
        Undrawable: the rows do not fit a page.
    """
    cells = main_cells(trial)
    rows: list[dict[str, object]] = [
        {**key_of(cell), **{f"{name}_{part}": cell[name][part] for name in SHARES for part in PARTS}} for cell in cells
    ]
    return Drawing(shown=_draw_success(cells, width), rows=rows, caption=_success_caption(trial, cells, protocol.name))


def _draw_success(cells: Sequence[StoredCell], width: float) -> Figure:
    look_of = looks(dict.fromkeys(cell["encoding"] for cell in cells))
    rows = CellRows.of(cells, width, around=_ABOVE_SHARES + _BELOW)
    height = _ABOVE_SHARES + rows.height + _BELOW
    panel = (width - rows.names) / len(SHARES)
    with context():
        figure = Figure(figsize=(width, height))
        for column, (name, title) in enumerate(SHARES.items()):
            left = rows.names + column * panel
            axes = axes_at(figure, left, _BELOW, panel - _SHARE_COUNTS, rows.height, gid=name)
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
                    at = share["successes"] / share["trials"]
                    axes.plot([at], [place], **mark_style(look), zorder=3, gid=f"mark:{gid}", clip_on=False)
                axes.annotate(
                    run_counts(share), (1.04, place), xycoords="data", xytext=(3, 0), textcoords="offset points",
                    va="center", fontsize=SMALLEST_TEXT, annotation_clip=False,
                )  # fmt: skip
        rows.write_names(figure, look_of, top=_ABOVE_SHARES)
    return figure


def _success_caption(trial: Trial, cells: Sequence[StoredCell], protocol: str) -> str:
    *fewer, most = sorted({cell["fit"]["trials"] for cell in cells})
    runs = " or ".join([*map(str, fewer), count_text(most, "run")])
    totals = {name: sum(cell[name]["successes"] for cell in cells) for name in ("fit", "generalizes")}
    run_count = sum(cell["fit"]["trials"] for cell in cells)
    return (
        f"Shares of the {runs} of each cell, protocol {protocol}: "
        f"{judging_rule(trial)}. Fit: all training scales solved; generalize: all scales. Bars are exact "
        f"(Clopper-Pearson) intervals of {trial['confidence']:.0%}; without a fitting run the second share is "
        f"undefined. Runs in all: {run_count}; that fit: {totals['fit']}; that generalize: {totals['generalizes']}. "
        f"{glossary(dict.fromkeys(cell['encoding'] for cell in cells), trained=True)}"
    )


def breaking_drawing(trial: Trial, protocol: Setting, width: float) -> Drawing:
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
        shown=_draw_breaking(cells, train=protocol.train, last=protocol.test[-1], width=width),
        rows=rows or empty_rows,
        caption=_breaking_caption(trial, cells, protocol.name),
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


def _draw_breaking(cells: Sequence[StoredCell], *, train: Sequence[int], last: int, width: float) -> Figure:
    """Draw a row for each cell; `never` is a place beyond all scales."""
    wide = width > 5
    never = last + max(2, round((0.12 if wide else 0.2) * last))
    look_of = looks(dict.fromkeys(cell["encoding"] for cell in cells))
    above = _ABOVE_SCALES + _SCALES_LEGEND * (1 if wide else 2)
    rows = CellRows.of(cells, width, around=above + _BELOW)
    body = max(rows.height, 0.3)
    height = above + body + _BELOW
    with context():
        figure = Figure(figsize=(width, height))
        axes = axes_at(figure, rows.names, _BELOW, width - rows.names - 0.12, body, gid="breaking")
        rows.prepare(axes)
        axes.axvspan(never - 1, never + 1, color=TRAINED, linewidth=0, zorder=0)
        shade(axes, min(train), max(train))
        for place, cell in zip(rows.places, rows.cells, strict=True):
            look, breaking = look_of[cell["encoding"]], cell["breaking"]
            gid = gid_of(cell)
            failures = [failure or never for failure in _failures(cell)]
            predicted = breaking["predicted"] or never
            axes.plot([predicted], [place], color="black", marker="|", markersize=8, markeredgewidth=1.6, zorder=2,
                      linestyle="none", gid=f"predicted:{gid}")  # fmt: skip
            axes.hlines([place], min(failures), max(failures), color=look.colour, linewidth=0.9, zorder=1,
                        gid=f"range:{gid}")  # fmt: skip
            observed = breaking["observed"] or never
            axes.plot([observed], [place], **mark_style(look), zorder=3, gid=f"observed:{gid}")
        marked = _marked(last)
        axes.set_xticks([*marked, never], [*map(str, marked), "never"])
        axes.set(xlim=(0, never + 1))
        axes.set_xlabel("breaks at scale", labelpad=1)
        rows.write_names(figure, look_of, top=above)
        handles = [
            Line2D([], [], color="black", marker="|", markersize=8, markeredgewidth=1.6, linestyle="none",
                   label="predicted"),
            Line2D([], [], color="0.3", marker="o", markersize=3.4, linewidth=0.9, label="median and range of runs"),
            trained_patch("training scales; never"),
        ]  # fmt: skip
        figure.legend(
            handles=handles, loc="upper center", ncols=3 if wide else 2, frameon=False, fontsize=7,
            handlelength=1.8, columnspacing=1.4, borderpad=0.1,
        )  # fmt: skip
    return figure


def _breaking_caption(trial: Trial, cells: Sequence[StoredCell], protocol: str) -> str:
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
        f"the prediction: {'; '.join(not_as_predicted) or 'none'}. "
        f"{glossary(encodings, trained=True) if encodings else ''}"
    ).strip()


HEADINGS = ("task", "format", "encoding", "predicted", "literal", "generalize | fit", "verdict", "e against", "finding")


def disagreements_drawing(trial: Trial, protocol: str) -> Drawing:
    """Table of the cells that disagree with their prediction or with the literal rule."""
    shown = {main_rule(trial), "literal"}
    disagreeing = [cell for cell in main_cells(trial) if shown & {*cell["disagrees_with"]}]
    rows: list[dict[str, object]] = [
        {
            **key_of(cell),
            **{key: yes_no(cell[key]) for key in ("predicted", "literal")},
            "generalize": cell["generalizes_given_fit"]["successes"],
            "fit": cell["generalizes_given_fit"]["trials"],
            "verdict": cell["verdict"],
            "e_against": cell["e_against"],
            "disagrees_with": " ".join(cell["disagrees_with"]),
            "findings": "; ".join(f"{finding['kind']}: {finding['says']}" for finding in cell["diagnosis"]),
        }
        for cell in disagreeing
    ]
    names = short_task_names(cell["task"] for cell in main_cells(trial))
    lines = [
        (
            names[cell["task"]],
            cell["format"],
            label_of(cell),
            predicted_text(cell, main_rule(trial)),
            yes_no(cell["literal"]),
            run_counts(cell["generalizes_given_fit"]),
            cell["verdict"],
            "-" if cell["e_against"] is None else f"{cell['e_against']:.3g}",
            "; ".join(finding["kind"] for finding in cell["diagnosis"]) or "-",
        )
        for cell in disagreeing
    ]
    cell_count = len(main_cells(trial))
    caption = (
        f"Cells of protocol {protocol} that disagree with their prediction or with the literal rule: "
        f"{len(disagreeing)} of {cell_count}; "
        f"{judging_rule(trial)}. "
        f"Predicted: {predicting_rule(trial)}; literal: by equal complexity alone [F]. Generalize | fit: runs "
        "that solve every scale, out of the runs that fit. e against: e-value against "
        "the prediction; 20 or more decides a cell alone, and e-BH decides cells together. The CSV file has the "
        "findings in full."
    )
    empty_rows: list[dict[str, object]] = [{"task": "none"}]
    empty_lines = [("none", *[""] * (len(HEADINGS) - 1))]
    return Drawing(
        shown=Printed(headings=HEADINGS, lines=lines or empty_lines, columns="lllllllrp{3.2cm}"),
        rows=rows or empty_rows,
        caption=caption,
    )


FIGURES = (
    trial_figure(
        "predicted", "predicted against observed, by task and encoding", predicted_drawing, place=540, least_width=5.5
    ),
    trial_figure(
        "success",
        "P(fit), P(generalizes | fit), P(generalizes) by counts of seeds",
        success_drawing,
        place=550,
        least_width=5.5,
    ),
    trial_figure("breaking", "breaking scale, predicted against observed", breaking_drawing, place=560),
    trial_figure(
        "disagreements",
        "cells that do not do as predicted (table)",
        lambda trial, protocol, _: disagreements_drawing(trial, protocol.name),
        place=570,
    ),
)
