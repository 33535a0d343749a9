"""Figure and table of the court: which theory predicts which published result."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from lengthgen.empirical.studies.court.stored import SCORES, scores
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.panels import legend_below, page
from lengthgen.paper_figs.saving import Drawing, Printed
from lengthgen.paper_figs.sources import Sources
from lengthgen.paper_figs.style import SMALLEST_TEXT, context

LOOKS = {
    # outcome of an answer: fill colour, hatch
    "right yes": ("#9FC5E8", ""),
    "right no": ("#DCE9F5", ""),
    "wrong yes": ("#7A1F1F", ""),
    "wrong no": ("#D98880", ""),
    "abstains": ("#FFFFFF", ""),
    "tie": ("#FFFFFF", "////"),
}
"""Answers that are right are light, answers that are wrong are dark, so that they differ without colour."""
_LINE, _NAMES, _RIGHT, _ABOVE, _LEGEND = 0.17, 1.35, 1.15, 0.42, 0.32


def answer_kind(cell: Mapping[str, Any], theory: str) -> str:
    """Return the kind of a theory's answer to a cell with a fitting run, one of LOOKS."""
    probability, fit, generalizes = cell["guesses"][theory]["probability"], cell["fit"], cell["generalizes"]
    if probability is None or probability == 0.5:
        return "abstains"
    if 2 * generalizes == fit:
        return "tie"
    says = probability > 0.5
    return f"{'right' if says == (2 * generalizes > fit) else 'wrong'} {'yes' if says else 'no'}"


def drawing(answer: Mapping[str, Any], *, width: float) -> Drawing:
    """Draw theories by cells, `width` inches wide.

    Args:
        answer: judgement of `lengthgen court`.
        width: width of the figure, in inches.
    """
    cells = [cell for cell in answer["cells"] if cell["fit"]]
    cells.sort(key=lambda cell: (_order(answer, cell["evidence"]), cell["task"], cell["encoding"]))
    theories = answer["theories"]
    rows: list[dict[str, object]] = [
        {"theory": name, "cell": cell["name"], "answer": answer_kind(cell, name)} for name in theories for cell in cells
    ]
    supported, refuted = (
        [row["title"] for row in theories.values() if row["verdict"] == verdict] for verdict in ("supported", "refuted")
    )
    base = answer["references"]["base-rate"]["brier"]
    caption = (
        f"Theories (rows) by {count_text(len(cells), answer['evidence'] + ' cell')} with a fitting run (columns, by "
        "data set, task, "
        f"encoding); left out, as none fits: {len(answer['did_not_fit'])}. A length is solved from "
        f"{answer['threshold']:.0%} on. At the right: mean Brier score, abstentions scored as 1/2 (0.25), and the "
        f"verdict against the base rate of other tasks ({base:.3f}) on the cells that the theory answers, by a "
        f"bootstrap over tasks. Supported: {'; '.join(supported) or 'none'}. Refuted: {'; '.join(refuted) or 'none'}. "
        "The results were known when the theories were written down as programs [F]."
    )
    return Drawing(shown=_draw(answer, cells, width), rows=rows, caption=caption)


def _order(answer: Mapping[str, Any], evidence: str) -> int:
    """Place of a data set in the answer."""
    return list(dict.fromkeys(cell["evidence"] for cell in answer["cells"])).index(evidence)


def _draw(answer: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], width: float) -> Figure:
    theories = answer["theories"]
    step = (width - _NAMES - _RIGHT) / max(1, len(cells))
    with context():
        figure, axes = page(width, _ABOVE + _LINE * len(theories) + _LEGEND, left=_NAMES, top=_ABOVE)
        for line, (name, row) in enumerate(theories.items()):
            middle = -(line + 0.5) * _LINE
            axes.text(-0.06, middle, row["title"], ha="right", va="center_baseline", fontsize=SMALLEST_TEXT)
            for column, cell in enumerate(cells):
                colour, hatch = LOOKS[answer_kind(cell, name)]
                axes.add_patch(
                    Rectangle((column * step, -(line + 0.92) * _LINE), step, 0.84 * _LINE, facecolor=colour,
                              edgecolor="0.6" if hatch else colour, hatch=hatch, linewidth=0.1)
                )  # fmt: skip
            score = f"{row['brier']:.3f}  {row['verdict']}" if "brier" in row else row["verdict"]
            axes.text(
                len(cells) * step + 0.06, middle, score, ha="left", va="center_baseline", fontsize=SMALLEST_TEXT,
                gid=f"score:{name}",
            )  # fmt: skip
        _draw_data_sets(axes, cells, step, -len(theories) * _LINE)
        handles = [
            Patch(facecolor=colour, edgecolor="0.5", hatch=hatch, linewidth=0.4, label=kind)
            for kind, (colour, hatch) in LOOKS.items()
        ]
        legend_below(figure, handles)
    return figure


def _draw_data_sets(axes: Axes, cells: Sequence[Mapping[str, Any]], step: float, bottom: float) -> None:
    """Write the names of the data sets above their columns, in two lines in turn, with a line before each."""
    names = [cell["evidence"] for cell in cells]
    for place, name in enumerate(dict.fromkeys(names)):
        first = names.index(name) * step
        axes.plot([first, first], [0.3, bottom], color="0.4", linewidth=0.5)
        axes.text(first + 0.03, 0.06 + 0.14 * (place % 2), name, ha="left", va="bottom", fontsize=SMALLEST_TEXT)


def table(answer: Mapping[str, Any]) -> Drawing:
    """Table of scores: a line for each theory and base rate."""
    rows: list[dict[str, object]] = []
    lines = []
    for name, row in {**answer["theories"], **answer["references"]}.items():
        against = row.get("against_base")
        change = f"{against['value']:+.3f} ({against['low']:+.3f} to {against['high']:+.3f})" if against else "-"
        right = row.get("right_yes", 0) + row.get("right_no", 0)
        values = {
            "theory": row.get("title", name),
            "answered": row["answered"],
            "right": right,
            "wrong yes": row.get("wrong_yes", 0),
            "wrong no": row.get("wrong_no", 0),
            "Brier": row.get("brier"),
            "log": row.get("log"),
            "to base rate": change,
            "verdict": row["verdict"],
        }
        rows.append(values)
        lines.append([f"{value:.3f}" if isinstance(value, float) else str(value) for value in values.values()])
    judged = sum(cell["fit"] > 0 for cell in answer["cells"])
    caption = (
        f"Theories of length generalization scored by {count_text(judged, answer['evidence'] + ' cell')}: answers, "
        "mean Brier and log "
        "score with abstentions as 1/2, the difference of Brier scores to the base rate of other tasks on answered "
        "cells with a 95 % interval over tasks, and the verdict [F]."
    )
    return Drawing(shown=Printed(headings=[*rows[0]], lines=lines, columns="lrrrrrrll"), rows=rows, caption=caption)


def _figure(sources: Sources) -> Drawing:
    return drawing(scores(sources), width=sources.width)


def _table(sources: Sources) -> Drawing:
    return table(scores(sources))


FIGURES = (
    Entry(
        place=395,
        name="theories-by-results",
        title="Theories by published results",
        make=_figure,
        needs=SCORES,
        least_width=5.5,
    ),
    Entry(place=396, name="table-theories", title="Scores of theories", make=_table, needs=SCORES),
)
