"""Verdicts on rules of prediction as tables for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import columns, e_value_text, percent, rounded, share_text, titled


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
            f"{e_value_text(pair['against_second'])} : {e_value_text(pair['against_first'])}",
            pair["better"],
        )
    rules = columns("rule", "right yes", "wrong yes", "right no", "wrong no", "abstains", "Brier score")
    for name, parts in answer["rules"].items():
        score = parts["judgement"]
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
    lacking = f"{answer['gaps']} cells lack runs before their last one: were some removed?"
    gaps = [Text(lacking)] if answer["gaps"] else []
    head = (
        f"{answer['title']}: {answer['runs']:,} runs of {answer['seen']:,} of {answer['cells']:,} cells, "
        f"{answer['counting']:,} with enough fitting runs"
    )
    return Group(
        titled(head, pairs, "e-values: for the first rule : for the second; 20 decides alone, e-BH over each part"),
        titled("Rules on the half kept for judgement, cells with a majority", rules),
        titled("Cells decided", cells),
        titled("Predicted and observed first failures", breaking),
        Text(
            "labels permuted by task: "
            + ("no cell" if null is None else f"{percent(null['rate'])} of {null['simulations']:,} decide anything")
        ),
        *gaps,
        Text(f"frozen answers: {answer['frozen']}"),
        Text(f"preregistration: {answer['preregistration']}"),
    )


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
    """Return how many cells agree with what is stored."""
    table = columns("same as stored", "cells", "of")
    for name, count in answer["same"].items():
        table.add_row(name.replace("_", " "), str(count), str(answer["cells"]))
    differ = [f"{each['cell']}: stored {each['stored']}, again {each['again']}" for each in answer["differ"]]
    return titled(f"Cells trained again, seed {answer['seed']}", table, *differ)
