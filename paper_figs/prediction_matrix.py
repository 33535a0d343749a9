"""Figure of predictions against observations: a matrix with a row for each task and a column for each encoding.

The left half of a cell is the prediction, the right half the result of the runs. Dark means that the cell generalizes,
white that it does not. A cell with a single shade is a prediction that was right.
"""

from collections.abc import Sequence
from math import radians, sin

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from lengthgen.empirical.trial.conjecture import FEWEST
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import page
from lengthgen.paper_figs.style import SMALLEST_TEXT, context, glossary, looks
from lengthgen.paper_figs.trial_cells import (
    Setting,
    StoredCell,
    Trial,
    gid_of,
    judging_rule,
    key_of,
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


def drawing(trial: Trial, protocol: Setting, width: float) -> Drawing:
    """Draw the matrix; the counts at its margins are over cells with both a prediction and an observation."""
    cells = main_cells(trial)
    return Drawing(
        shown=_draw(cells, width, main_rule(trial)), rows=_rows(cells), caption=_caption(trial, cells, protocol.name)
    )


def agreement(cells: Sequence[StoredCell]) -> tuple[int, int]:
    """Number of cells whose prediction was observed, and number of cells with both prediction and observation."""
    decided = [cell for cell in cells if None not in (cell["predicted"], cell["observed"])]
    return sum(cell["predicted"] == cell["observed"] for cell in decided), len(decided)


def _rows(cells: Sequence[StoredCell]) -> list[dict[str, object]]:
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


def _draw(cells: list[StoredCell], width: float, rule: str) -> Figure:
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


def _caption(trial: Trial, cells: Sequence[StoredCell], protocol: str) -> str:
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
        f"prediction: {counts['no_prediction']}. {as_predicted}As predicted by the conjecture read literally, without "
        f"coverage: {literal['table']['yes_yes'] + literal['table']['no_no']}. "
        f"{glossary(dict.fromkeys(cell['encoding'] for cell in cells))}"
    )


FIGURES = (
    trial_figure("predicted", "predicted against observed, by task and encoding", drawing, place=540, least_width=5.5),
)
