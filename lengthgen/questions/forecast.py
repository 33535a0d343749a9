"""`lengthgen forecast`: how good forecasts are, as tables for people and as a page of Markdown."""

from collections.abc import Iterator, Mapping, Sequence
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
    """Return the scores of the forecast and of baselines, with the best theory, on each part."""
    parts = answer["parts"]
    return titled(
        "How good forecasts are: mean squared error of the stated probability, 0 is best [F]",
        filled(SCORES, score_rows(parts)),
        "of cells that no fit saw: the other half of new and random tasks, languages and swapped arguments; the named "
        "tasks of fig2 and fig4; results that others published, answered by small copies",
        "noise: what the true share of each cell would score; rate: by encoding and format; SRC: the same with its bit",
        f"fitted on {answer['fitted']['runs']:,} runs of {answer['fitted']['tasks']:,} tasks; recorded cells "
        f"{answer['version']}",
        "--details: all rivals, calibration, breaking scales, what each feature adds, and where forecasts are wrong",
    )


SCORES = ("tasks", "of", "noise", "forecast", "rate", "SRC", "always-no", "best theory")
"""Headings of the scores."""
BASELINES = ("noise", "forecast", "rate by encoding and format", "the same with SRC's bit", "always-no")
"""Entries of a part that stand in columns of their own."""


def score_rows(parts: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the Brier scores on each part."""
    from lengthgen.circuits.forecast.scores import SAME_RUNS

    for name, part in parts.items():
        brier: Mapping[str, float] = part["brier"]
        theories = [rival for rival in brier if rival not in (*BASELINES, SAME_RUNS)]
        best = min(theories, key=lambda rival: brier[rival])
        count = f"{part[part['unit'] + 's']:,} {part['unit']}s, {part['tasks']:,} tasks"
        yield name, count, *(f"{brier[each]:.3f}" for each in BASELINES), f"{brier[best]:.3f} {best}"


def rivals_table(parts: Mapping[str, Any]) -> Group:
    """Return the scores of each rival on the parts of all encodings, the best one on the first part first."""
    brier = {name: part["brier"] for name, part in of_all_encodings(parts).items()}
    rivals: Mapping[str, float] = next(iter(brier.values()))
    in_order = sorted(rivals, key=lambda rival: rivals[rival])
    rows = ([rival, *(f"{of_part[rival]:.3f}" for of_part in brier.values())] for rival in in_order)
    return titled("All rivals", filled(["Brier score", *brier], rows))


def of_all_encodings(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that are not those of one kind of encodings."""
    from lengthgen.circuits.forecast.rates import KINDS

    return {name: part for name, part in parts.items() if not name.endswith(KINDS)}


def details_table(answer: Mapping[str, Any], counted: "Table") -> Group:
    """Return all scores, the counts of the forecast, its calibration, breaking scales, and where it is most wrong."""
    parts = answer["parts"]
    return Group(
        rivals_table(parts),
        titled("What is counted", filled(COUNTS, count_rows(counted))),
        titled("Calibration", filled(CALIBRATION, calibration_rows(parts))),
        titled("Where failing runs fail first, if the forecast says it", filled(BREAKING, breaking_rows(parts))),
        titled("New tasks by encoding", filled(BY_ENCODING, encoding_rows(answer))),
        titled("Brier scores without a feature", filled(("tasks", *answer["without"]), without_rows(answer))),
        titled("Named tasks on which the forecast errs most", filled(WORST, worst_rows(answer))),
    )


GOAL = 0.05
"""Largest difference between forecast and seen share that was aimed at."""
COUNTS = ("what training shows", "labels", "start", "operands", "bits", "tasks", "runs", "generalize", "share")
"""Headings of the counts."""
CALIBRATION = ("of", "forecast from", "tasks", "runs", "said", "seen")
"""Headings of the calibration."""
BY_ENCODING = ("tasks", "runs", "said", "seen", "Brier", "rate's Brier", "log", "rate's log")
"""Headings of the scores by kind of new tasks and by encoding."""
BREAKING = ("tasks", "failing runs", "at the scale", "within one", "right after training")
"""Headings of the breaking scales."""
WORST = ("task", "operands", "encoding", "said", "seen", "generalize")
"""Headings of the cells where forecasts are wrong."""


def count_rows(counted: "Table") -> Iterator[tuple[str, ...]]:
    """Yield the finest rows of the table, by what training shows; shares are smoothed."""
    from lengthgen.circuits.forecast.features import Shown
    from lengthgen.circuits.forecast.table import FEATURES

    order = {shown.name: place for place, shown in enumerate(Shown)}
    for key in sorted((key for key in counted.rows if len(key) == len(FEATURES)), key=lambda key: (order[key[0]], key)):
        row = counted.rows[key]
        share = f"{counted.share_of(key):.3f}"
        yield Shown[key[0]].value, *key[1:], str(row.tasks), str(row.counted.runs), str(row.counted.generalize), share


def calibration_rows(parts: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the tenths of the calibration on each part."""
    for name, part in parts.items():
        for tenth in part["calibration"]:
            shares = (f"{tenth[key]:.3f}" for key in ("forecast", "observed"))
            yield name, f"{tenth['low']:.1f}", str(tenth["tasks"]), f"{tenth['runs']:,}", *shares


def breaking_rows(parts: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield how often failing runs break where the forecast says, and right after training."""
    for name, part in of_all_encodings(parts).items():
        counts = part["breaking"]
        if runs := counts["runs"]:
            yield name, f"{runs:,}", *(f"{counts[key] / runs:.0%}" for key in ("exact", "within_one", "next"))


def encoding_rows(answer: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield what is said and seen of new tasks, with Brier and logarithmic scores, by their kind and by encoding."""
    from lengthgen.circuits.forecast.scores import GOALS

    for name, part in {**{kind: answer["parts"][kind] for kind in GOALS}, **answer["encodings"]}.items():
        scores = (part[score][rival] for score in ("brier", "log") for rival in BASELINES[1:3])
        yield (
            name,
            f"{part['runs']:,}",
            *(f"{part[key]:.2f}" for key in ("said", "seen")),
            *(f"{x:.3f}" for x in scores),
        )


def without_rows(answer: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the Brier scores on each part of forecasts that do not know one feature."""
    for part in of_all_encodings(answer["parts"]):
        yield part, *(f"{scores[part]:.3f}" for scores in answer["without"].values())


def worst_rows(answer: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the named cells with the largest errors."""
    for cell in answer["worst"]:
        seen = f"{cell['generalize'] / cell['runs']:.2f}"
        counted = f"{cell['generalize']} of {cell['runs']}"
        yield cell["task"], cell["operands"], cell["encoding"], f"{cell['forecast']:.2f}", seen, counted


def forecast_page(answer: Mapping[str, Any], counted: "Table") -> str:
    """Return docs/forecast.md: what a forecast is, how good it is, where it is wrong, and how it is made."""
    from lengthgen.circuits.forecast.copies import LARGEST, TRAINED
    from lengthgen.circuits.forecast.features import MANY_BITS
    from lengthgen.circuits.forecast.table import PRIOR

    parts = answer["parts"]
    return (
        "\n\n".join(
            [
                "# The forecast",
                "`lengthgen predict` forecasts which share of the runs that fit their training scales generalizes. "
                "The rules say yes or no; the forecast counts what recorded runs did where the rules gave the same "
                "answers, for the same kind of labels and start of their tables, the same operands, and few or many "
                "bits an output. All of it is ours [F]. Its design was chosen after all these runs were seen but one "
                "half of the [new tasks](results/new-tasks/README.md), which nobody had looked at before they judged "
                "it. `lengthgen forecast --format markdown` writes this page from the recorded "
                f"cells that ship with the package (`circuits/forecast/cells.csv`, hash {answer['version']}); "
                "`--details` prints all that it counts.",
                "## How good it is",
                f"It counts {answer['fitted']['runs']:,} runs of {answer['fitted']['tasks']:,} tasks, one half by the "
                "hash of their names. It is judged on the other half of the new and of the random tasks; on the named "
                "tasks of fig2 and fig4, which it never counts; and on results that others published, which small "
                "copies answer. The score is the mean squared error of the stated probability (Brier score; 0 is "
                "best). A rule's yes stands for 0.9 and its no for 0.1. Noise is what the true share of each cell "
                "would score.",
                markdown_table(SCORES, score_rows(parts)),
                _judged(parts),
                "Rate: of runs by encoding and format; SRC: the same with its bit. Without one feature:",
                markdown_table(("tasks", *answer["without"]), without_rows(answer)),
                "New tasks by kind and encoding; log is the mean of minus the natural logarithm of the probability of "
                "what was seen:",
                markdown_table(BY_ENCODING, encoding_rows(answer)),
                "Of the failing runs for which it says where, so many fail first at that scale, within one, and right "
                "after training:",
                markdown_table(BREAKING, breaking_rows(parts)),
                "![Reliability: seen share of runs that generalize against the forecast, in tenths](results/forecast/"
                "forecast-reliability.png)",
                _missed(answer),
                _on_published(parts),
                "## Where it is wrong",
                "The named tasks on which it errs most, before runs of the same cell are looked at:",
                markdown_table(WORST, worst_rows(answer)),
                "It knows neither the optimiser nor the size of the model or the filler; of starts of label tables it "
                "knows N(0, 1) and, for ape, rpe and ipe, N(0, 0.02^2). All of these decide some cells. It counts "
                "tasks trained on scales 1-5 and tested to 20 alone; elsewhere it assumes that the same answers of the "
                f"rules mean the same share. A question that tests beyond scale {LARGEST} is answered by a copy, "
                f"trained on scales 1-{TRAINED} and tested at the same ratio: what changes at a length between the two "
                f"is not seen. {_uncounted(counted)}",
                "## How it is made",
                "The share of a row is smoothed from coarse to fine: all runs, then what training shows, then labels, "
                "the start of their tables, operands, and the bits that an output holds (many: more than "
                f"{MANY_BITS}): the entropy of the token at a step, over the prompts of the largest test scale, each "
                f"counted once, averaged over the steps. Each coarser share stands for {PRIOR} runs in the next one, "
                "unless that has the same runs. The share of a single cell follows a beta distribution about that of "
                "its row, of concentration "
                f"{counted.concentrations[-1]:.2g} (the most likely one), updated by the runs of this cell, or of one "
                "with the same sequences, that are on record, whatever their training. The interval holds 95 % of it, "
                "and the stated share. It also counts each task of the row as one look at the share of the row: few "
                f"tasks give a wide one. {_within(parts)} "
                "Where most runs should fail, the breaking scale is the median of such runs on record, or of "
                "comparable ones counted from the scale that a rule names.",
                "Where no counted cell has all five features, a coarser row answers, about which cells vary more "
                f"(concentration {_listed([f'{each:.2g}' for each in counted.concentrations[-2::-1]])}, fitted "
                "likewise); how many are missing is the **distance** of the forecast. At 5 nothing is shared: the "
                "forecast is out of its depth, says so, names no breaking scale, and its interval is almost all.",
            ]
        )
        + "\n"
    )


def _uncounted(counted: "Table") -> str:
    """Return a sentence on what training shows of the test in no counted cell; empty if there is nothing."""
    from lengthgen.circuits.forecast.features import Shown

    absent = [shown.value for shown in Shown if (shown.name,) not in counted.rows]
    where = ", or ".join(absent)
    return f"It is out of its depth where {where}, as no counted cell is like that." if absent else ""


def _listed(texts: Sequence[str]) -> str:
    """Return texts as a list in words."""
    *first, last = texts
    return f"{', '.join(first)} and {last}"


def _on_published(parts: Mapping[str, Any]) -> str:
    """Return what the forecast is worth on results of others."""
    texts = [
        f"{name}, {far['runs']} runs: {far['forecast']:.2f} is said and {far['observed']:.2f} seen"
        for name, part in parts.items()
        if name.startswith("published")
        for far in part["out_of_depth"]
    ]
    beyond = f" Where it is out of its depth it says the share of all runs ({'; '.join(texts)})." if texts else ""
    return (
        "**On published results it is not calibrated.** Those models are larger and trained otherwise, and many of the "
        "tasks have no circuit, since attention can average over all keys, or copy the query's own token."
        f"{beyond} Rates of published runs do better: `lengthgen court`."
    )


def _within(parts: Mapping[str, Any]) -> str:
    """Return how many cells of each part have a count that their interval allows."""
    from lengthgen.circuits.forecast.scores import NEW, RANDOM_TASKS

    published = (name for name in parts if name.startswith("published"))
    texts = [f"{parts[name]['within']:.0%} of {name}" for name in (NEW, RANDOM_TASKS, *published)]
    return f"It allows what was seen in {_listed(texts)}."


def _judged(parts: Mapping[str, Any]) -> str:
    """Return whether the forecast meets its goals on each kind of new tasks."""
    from lengthgen.circuits.forecast.scores import GOALS, SAME_RUNS

    texts, same = [], []
    for name, goal in GOALS.items():
        score, rate = (parts[name]["brier"][rival] for rival in ("forecast", "rate by encoding and format"))
        met = "met" if score <= goal else f"missed by {score - goal:.3f}"
        same.append(f"{parts[name]['brier'][SAME_RUNS]:.3f} ({score / parts[name]['brier'][SAME_RUNS]:.2f})")
        half = "met" if score <= rate / 2 else "missed"
        texts.append(
            f"{name}: at most {goal:g}, {met}; at most half of the rate's, {half} with {score / rate:.3f} of it"
        )
    return (
        f"Goals on new tasks, set before the first was trained: {'. '.join(texts)}. This rate is of random tasks "
        "alone. Of all runs that the forecast counts, starts of tables told apart, the rate scores "
        f"{_listed(same)}; in brackets, the forecast's share of it."
    )


def _missed(answer: Mapping[str, Any]) -> str:
    """Return in which tenths with enough runs the forecast misses its goal for calibration."""
    from lengthgen.circuits.forecast.scores import NEW, RANDOM_TASKS

    texts = []
    for name in (NEW, RANDOM_TASKS):
        enough = [tenth for tenth in answer["parts"][name]["calibration"] if tenth["runs"] >= answer["fewest"]]
        missed = [tenth for tenth in enough if abs(tenth["forecast"] - tenth["observed"]) > GOAL]
        named = "; ".join(
            f"from {tenth['low']:.1f} ({tenth['tasks']} tasks) {tenth['forecast']:.2f} is said and "
            f"{tenth['observed']:.2f} seen"
            for tenth in missed
        )
        met = f"On {name} it is met in {len(enough) - len(missed)} of {len(enough)}"
        texts.append(f"{met} ({named})" if missed else met)
    return (
        f"The goal, set before, was a difference of at most {GOAL} in every tenth with {answer['fewest']} runs or "
        f"more. {'. '.join(texts)}."
    )
