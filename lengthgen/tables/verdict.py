"""Verdicts on rules of prediction as tables for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import (
    Screen,
    columns,
    cut_to_screen,
    e_value_text,
    more,
    percent,
    rounded,
    share_text,
    titled,
)

JUDGING = "judgement"
"""Part of the tasks that decides, in an answer."""


def verdict_screen(answer: Mapping[str, Any]) -> Screen:
    """Return which rules say better than which on the tasks kept for judgement, and the scores of all rules."""
    pairs = [pair for pair in answer["pairs"] if pair["part"] == JUDGING]
    scored = {name: parts[JUDGING]["brier"] for name, parts in answer["rules"].items()}
    scores = sorted((score, name) for name, score in scored.items() if score is not None)
    ranking = ", ".join(f"{name} {rounded(score, '.3f')}" for score, name in scores)
    exact = [
        f"{name} {percent(of_rule['exact']['successes'] / of_rule['exact']['trials'])}"
        for name, of_rule in answer["breaking"].items()
        if of_rule["exact"]["trials"]
    ]
    notes = [
        "e-values: for the first rule : for the second; e-BH over all of them decides which says better",
        *([f"Brier score: {ranking}"] if scores else []),
        *([f"first failures at the expected scale: {', '.join(exact)}"] if exact else []),
        "these rules are rivals of the forecast, which was made later: `lengthgen forecast` scores both",
        *_gaps(answer),
    ]

    def form(shown: int) -> Group:
        table = columns("rule", "against", "tasks won", "e-values", "says better")
        for pair in pairs[:shown]:
            table.add_row(
                pair["first"],
                pair["second"],
                f"{pair['wins_first']} : {pair['wins_second']}",
                _e_values(pair),
                pair["better"],
            )
        return titled(_head(answer), table, *more(len(pairs), shown), *notes)

    return cut_to_screen(len(pairs), form)


def verdict_table(answer: Mapping[str, Any]) -> Group:
    """Return the evidence for every pair of rules, the score of every rule, and what cells say."""
    pairs = columns("part", "rule", "against", "tasks", "cells", "wins", "e-values", "better")
    for pair in answer["pairs"]:
        pairs.add_row(
            pair["part"],
            pair["first"],
            pair["second"],
            str(pair["tasks"]),
            str(pair["cells"]),
            f"{pair['wins_first']}:{pair['wins_second']}",
            _e_values(pair),
            pair["better"],
        )
    rules = columns("rule", "right yes", "wrong yes", "right no", "wrong no", "abstains", "Brier score")
    for name, parts in answer["rules"].items():
        score = parts[JUDGING]
        numbers = (str(score[key]) for key in ("right_yes", "wrong_yes", "right_no", "wrong_no", "abstains"))
        rules.add_row(name, *numbers, rounded(score["brier"], ".3f"))
    cells = columns("share of runs that generalize", "yes", "no", "undecided", "by e-BH")
    for name, counts in answer["decided"].items():
        cells.add_row(name.replace("_", " "), *(str(counts[key]) for key in ("yes", "no", "undecided", "by_e_bh")))
    breaking = columns("rule", "cells that break", "exact scale  95 %", "within one", "later scales, exact  95 %")
    for name, of_rule in answer["breaking"].items():
        breaking.add_row(
            name,
            str(of_rule["cells"]),
            share_text(of_rule["exact"]),
            str(of_rule["within_one"]),
            share_text(of_rule["later_than_first"]["exact"]),
        )
    null = answer["null_rate"]
    return Group(
        titled(
            _head(answer), pairs, "e-values: for the first rule : for the second; 20 decides alone, e-BH over each part"
        ),
        titled("Rules on the half kept for judgement, cells with a majority", rules),
        titled("Cells decided", cells),
        titled("Predicted and observed first failures", breaking),
        Text(
            "labels permuted by task: "
            + ("no cell" if null is None else f"{percent(null['rate'])} of {null['simulations']:,} decide anything")
        ),
        *map(Text, _gaps(answer)),
        Text(f"frozen answers: {answer['frozen']}"),
        Text(f"preregistration: {answer['preregistration']}"),
    )


def _head(answer: Mapping[str, Any]) -> str:
    """Return the question of the preregistration, and how much of it has been trained."""
    return (
        f"{answer['title']}: {answer['runs']:,} runs of {answer['seen']:,} of {answer['cells']:,} cells, "
        f"{answer['counting']:,} with enough fitting runs"
    )


def _e_values(pair: Mapping[str, Any]) -> str:
    """Return the e-values for the first and for the second rule of a pair."""
    return f"{e_value_text(pair['against_second'])} : {e_value_text(pair['against_first'])}"


def _gaps(answer: Mapping[str, Any]) -> list[str]:
    """Return a line on runs that are missing between others, if there are any."""
    return [f"{answer['gaps']} cells lack runs before their last one: were some removed?"] if answer["gaps"] else []


def gate_table(answer: Mapping[str, Any]) -> Group:
    """Return the simulated power of every question."""
    table = columns("if true", "against", "cells that differ", "power", "verdict")
    for pair in answer["pairs"]:
        table.add_row(pair["true"], pair["against"], str(pair["cells"]), percent(pair["power"]), pair["verdict"])
    return titled(
        f"Power before the first run, {answer['cells']:,} cells",
        table,
        f"frozen answers: {answer['frozen']}; publish this hash before the first run",
    )


def rerun_table(answer: Mapping[str, Any]) -> Group:
    """Return how many runs agree with what is stored, and how likely forged ones were met."""
    table = columns("same as stored", "runs", "of")
    for name, count in answer["same"].items():
        table.add_row(name.replace("_", " "), str(count), str(answer["cells"]))
    differ = [f"{each['cell']}: stored {each['stored']}, again {each['again']}" for each in answer["differ"]]
    again = titled(f"Cells trained again, seed {answer['seed']}", table, *differ)
    if not answer["forged"]:
        return again
    forged = columns("decided", "fewest forged runs", "drawn", "from", "chance to meet one")
    for question in answer["forged"]:
        forged.add_row(
            f"{question['better']}, not {question['worse']}",
            *(str(question[key]) for key in ("fewest", "drawn", "among")),
            percent(question["chance"]),
        )
    says = (
        "Whoever changed runs to decide a question changed at least so many of them; --deciding draws the runs that "
        "decide, and more runs meet more"
    )
    return Group(again, titled("If runs were forged", forged, says))
