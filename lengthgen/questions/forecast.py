"""`lengthgen forecast`: how good forecasts are, as tables for people and as a page of Markdown."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group

from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import filled, markdown_table, titled
from lengthgen.terminal.options import Json, PageLayout

if TYPE_CHECKING:
    from lengthgen.circuits.forecast.table import Table


def forecast(
    details: Annotated[
        bool, typer.Option("--details", help="Show also all counts, the calibration, and where forecasts are wrong.")
    ] = False,
    layout: Annotated[
        PageLayout, typer.Option("--format", help="Print format; `markdown` is the page docs/forecast.md.")
    ] = "table",
    as_json: Json = False,
) -> None:
    """Fit the forecast from the recorded cells, and score it beside its rivals on tasks that it did not count."""
    from lengthgen.circuits.forecast.scores import scores
    from lengthgen.circuits.forecast.table import fitted_table

    if layout == "markdown" and (as_json or details):
        raise typer.BadParameter("--format markdown is a page of its own: leave out --json and --details")
    answer, table = scores(), fitted_table()
    if layout == "markdown":
        print(forecast_page(answer, table), end="")
    else:
        show(answer, Group(scores_table(answer), *([details_table(answer, table)] if details else [])), as_json)


def scores_table(answer: Mapping[str, Any]) -> Group:
    """Return the score of the forecast and of each rival on each part, the best rival first."""
    parts = answer["parts"]
    judged = [tenth for tenth in answer["calibration"] if tenth["runs"] >= answer["fewest"]]
    furthest = max((abs(tenth["forecast"] - tenth["observed"]) for tenth in judged), default=0.0)
    counts = "; ".join(f"{name}: {part['runs']:,} runs of {part['cells']:,} cells" for name, part in parts.items())
    return titled(
        "How good forecasts are: mean squared error of the stated probability, 0 is best [F]",
        filled(["Brier score", *parts], _scores(parts)),
        counts,
        "random tasks, languages, swapped arguments: the half not counted, a run; fig2, fig4: named tasks, a cell",
        "noise: what the true share of each cell would score",
        f"calibration: in tenths with {answer['fewest']} runs or more, said and seen differ by at most {furthest:.3f}",
        f"fitted on {answer['fitted']['runs']:,} runs of {answer['fitted']['tasks']:,} random tasks, the other half of "
        f"them; recorded cells {answer['version']}",
        "--details: the whole table that forecasts count, the calibration, and where forecasts are wrong",
    )


def _scores(parts: Mapping[str, Any]) -> list[list[str]]:
    """Return the scores of each rival on all parts, the one with the best score on the first part first."""
    first: Mapping[str, float] = next(iter(parts.values()))["brier"]
    in_order = sorted(first, key=lambda rival: first[rival])
    return [[rival, *(f"{part['brier'][rival]:.3f}" for part in parts.values())] for rival in in_order]


def details_table(answer: Mapping[str, Any], counted: "Table") -> Group:
    """Return the counts of the forecast, its calibration, and the named cells where it is most wrong."""
    return Group(
        titled("What is counted", filled(COUNTS, count_rows(counted))),
        titled("Calibration on the other half of the random tasks", filled(CALIBRATION, calibration_rows(answer))),
        titled("Named tasks on which the forecast errs most", filled(WORST, worst_rows(answer))),
    )


GOAL = 0.05
"""Largest difference between forecast and seen share that was aimed at."""
COUNTS = ("what training shows", "labels", "operands", "tasks", "runs", "generalize", "share")
"""Headings of the counts."""
CALIBRATION = ("forecast from", "tasks", "runs", "said", "seen")
"""Headings of the calibration."""
WORST = ("task", "operands", "encoding", "said", "seen", "generalize")
"""Headings of the cells where forecasts are wrong."""


def count_rows(counted: "Table") -> Iterator[tuple[str, ...]]:
    """Yield the finest rows of the table, by what training shows; shares are smoothed."""
    from lengthgen.circuits.forecast.features import Shown

    order = {shown.name: place for place, shown in enumerate(Shown)}
    for key in sorted((key for key in counted.rows if len(key) == 3), key=lambda key: (order[key[0]], key)):
        row = counted.rows[key]
        share = f"{counted.share_of(key):.3f}"
        yield Shown[key[0]].value, *key[1:], str(row.tasks), str(row.counted.runs), str(row.counted.generalize), share


def calibration_rows(answer: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the tenths of the calibration."""
    for tenth in answer["calibration"]:
        shares = (f"{tenth[key]:.3f}" for key in ("forecast", "observed"))
        yield f"{tenth['low']:.1f}", str(tenth["tasks"]), f"{tenth['runs']:,}", *shares


def worst_rows(answer: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the named cells with the largest errors."""
    for cell in answer["worst"]:
        seen = f"{cell['generalize'] / cell['runs']:.2f}"
        counted = f"{cell['generalize']} of {cell['runs']}"
        yield cell["task"], cell["operands"], cell["encoding"], f"{cell['forecast']:.2f}", seen, counted


def forecast_page(answer: Mapping[str, Any], counted: "Table") -> str:
    """Return docs/forecast.md: what a forecast is, how good it is, where it is wrong, and how it is made."""
    from lengthgen.circuits.forecast.copies import LARGEST, TRAINED
    from lengthgen.circuits.forecast.table import PRIOR

    parts = answer["parts"]
    return (
        "\n\n".join(
            [
                "# The forecast",
                "`lengthgen predict` forecasts which share of the runs that fit their training scales generalizes. "
                "The rules say yes or no; the forecast counts what recorded runs did where the rules gave the same "
                "answers, for the same kind of labels and operands. All of it is ours [F]. **All runs that it counts "
                "start their label tables at N(0, 1):** it knows no other start. Its design was chosen after all these "
                "runs were seen; the half that judges tests its counts alone. `lengthgen forecast --format "
                "markdown` writes this page from the recorded cells that ship with the package "
                f"(`circuits/forecast/cells.csv`, hash {answer['version']}); `--details` prints all that it counts.",
                "## How good it is",
                f"It counts {answer['fitted']['runs']:,} runs of {answer['fitted']['tasks']:,} random tasks, one half "
                "by the hash of their names, and is judged on the other half and on the named tasks of fig2 and fig4, "
                "which it never counts. The score is the mean squared error of the stated probability (Brier score; 0 "
                "is best). A rule's yes stands for 0.9 and its no for 0.1. Noise is what the true share of each cell "
                "would score.",
                _best_rivals(parts),
                markdown_table(("", *(f"{name} (a {part['unit']})" for name, part in parts.items())), _scores(parts)),
                "![Reliability: seen share of runs that generalize against the forecast, in tenths](results/forecast/"
                "forecast-reliability.png)",
                _missed(answer),
                "## Where it is wrong",
                "The named tasks on which it errs most, before runs of the same cell are looked at:",
                markdown_table(WORST, worst_rows(answer)),
                "It knows neither the optimiser nor the size of the model, the start of the label tables, or the "
                "filler, and all of these decide some cells. It counts tasks trained on scales 1-5 and tested to 20 "
                "alone; elsewhere it assumes that the same answers of the rules mean the same share. A question that "
                f"tests beyond scale {LARGEST} is answered by a copy, trained on scales 1-{TRAINED} and tested at the "
                "same ratio: what changes at a length between the two is not seen. No recorded "
                "random task lacks a circuit, has labels that depend on content, or copies the query's own token in "
                "all steps but the first: there it says the share of all runs, with a wide interval.",
                "## How it is made",
                "The share of a row is smoothed from coarse to fine: all runs, then what training shows, then labels, "
                f"then operands; each coarser share stands for {PRIOR} runs in the next one. The share of a single "
                "cell follows a beta distribution about that of its row, of concentration "
                f"{counted.concentration:.2g} (the most likely one), updated by the runs of this cell, or of one with "
                "the same sequences, that are on record, whatever their training. The interval holds 95 % of it. Where "
                "most runs should fail, the breaking scale is the median of such runs on record, or of comparable ones "
                "counted from the scale that a rule names.",
            ]
        )
        + "\n"
    )


def _best_rivals(parts: Mapping[str, Any]) -> str:
    """Return for each part the score of the forecast beside that of its best rival."""
    texts = []
    for name, part in parts.items():
        rivals = {rival: score for rival, score in part["brier"].items() if rival not in ("forecast", "noise")}
        best = min(rivals, key=lambda rival: rivals[rival])
        texts.append(f"{name} {part['brier']['forecast']:.3f} against {rivals[best]:.3f} ({best})")
    return f"Beside its best rival of each part: {'; '.join(texts)}."


def _missed(answer: Mapping[str, Any]) -> str:
    """Return in which tenths with enough runs the forecast misses its goal for calibration."""
    enough = [tenth for tenth in answer["calibration"] if tenth["runs"] >= answer["fewest"]]
    missed = [tenth for tenth in enough if abs(tenth["forecast"] - tenth["observed"]) > GOAL]
    named = ", ".join(f"from {tenth['low']:.1f} ({tenth['tasks']} tasks)" for tenth in missed)
    goal = (
        f"The goal, set before, was a difference of at most {GOAL} in every tenth with {answer['fewest']} runs or more."
    )
    return f"{goal} On random tasks it is met in {len(enough) - len(missed)} of {len(enough)}" + (
        f", not in those {named}." if missed else "."
    )
