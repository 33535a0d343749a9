"""Protocols, stored runs, and results of single runs, as tables for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.paper_figs.names import short_task_names
from lengthgen.tables.layout import columns, titled


def accuracy_table(answer: Mapping[str, Any]) -> Group:
    """Return the exact match of one run by scale."""
    table = columns("scale", "exact match")
    for scale, value in answer["accuracy"].items():
        table.add_row(scale, f"{value:.3f}")
    outcome = {True: "generalizes", False: "does not generalize", None: "does not fit its training scales"}
    ending = f"(threshold {answer['threshold']}); stored in {answer['folder']}"
    return titled(answer["run"], table, f"{outcome[answer['generalizes']]} {ending}")


def protocols_table(answer: Mapping[str, Any]) -> Group:
    """Return a row for each protocol: cells, scales, runs, title."""
    table = columns("protocol", "cells", "train", "test", "runs", "title")
    for each in answer["protocols"]:
        scales = ("-".join(map(str, each[part])) for part in ("train", "test"))
        table.add_row(each["protocol"], str(each["cells"]), *scales, str(each["runs"]), each["title"])
    return titled(
        f"Protocols, profile {answer['profile']}",
        table,
        "lengthgen conjecture PROTOCOL trains and judges one, lengthgen sweep PROTOCOL trains alone",
    )


def runs_table(answer: Mapping[str, Any]) -> Group:
    """Return the stored runs: state, epochs, and worst exact match in training and beyond; broken runs are below.

    If no run matches the filters, the tasks and encodings of those that are stored.
    """
    if not answer["runs"]:
        lines = [f"none of {answer['stored']['runs']} runs matches" if answer["stored"]["runs"] else "no runs"]
        for kind in ("task", "encoding"):
            if counts := answer["stored"][kind]:
                shown = short_task_names(counts)
                names = ", ".join(f"{shown[name]} ({count})" for name, count in sorted(counts.items()))
                lines.append(f"stored runs by {kind}: {names}")
        return Group(*map(Text, lines))
    table = columns("run", "state", "epochs", "worst in training", "worst beyond", "seconds", "peak MiB")
    table.columns[0].overflow = "fold"  # a name is never cut, since other commands take it as an argument
    for row in answer["runs"]:
        if row["state"] == "broken":
            table.add_row(Text(row["name"]), "broken")
            continue
        cells = [row["state"], f"{row['epochs']}/{row['of_epochs']}"]
        if row["state"] == "finished":
            formats = {"worst_in_training": ".3f", "worst_beyond": ".3f", "seconds": ".0f", "peak_memory_mib": ""}
            cells += ["-" if row[key] is None else format(row[key], form) for key, form in formats.items()]
        table.add_row(Text(row["name"]), *cells)
    broken = [f"{row['name']}: {row['reason']}" for row in answer["runs"] if row["state"] == "broken"]
    title = "1 run" if len(answer["runs"]) == 1 else f"{len(answer['runs'])} runs"
    return titled(title, table, *broken, *_checked(answer))


def _checked(answer: Mapping[str, Any]) -> list[str]:
    """Return a line for each run whose weights do not do as its metrics say, and how many were tested, if any were."""
    if "check" not in answer:
        return []
    check = answer["check"]
    differ = [f"{name}: {why}" for name, why in check["differ"].items()]
    if not check["tested"]:
        return ["no run was tested again: none is finished and whole"]
    agree = check["tested"] - len(differ)
    return [
        *differ,
        f"{agree} of {check['tested']} runs that were tested again do as stored, {check['seconds_each']:g} s each",
    ]


def evaluation_table(answer: Mapping[str, Any]) -> Group:
    """Return the exact match of one run by scale."""
    running = any("free_running" in row for row in answer["scales"].values())
    table = columns("scale", "exact match", "token accuracy", *(["free running", "disagree"] if running else []))
    for scale, row in answer["scales"].items():
        cells = [scale, f"{row['exact_match']:.3f}", f"{row['token_accuracy']:.3f}"]
        table.add_row(*cells, *([f"{row['free_running']:.3f}", str(row["disagreements"])] if running else []))
    return titled(f"{answer['run']}, {answer['samples']} samples a scale", table)


def relation_table(answer: Mapping[str, Any]) -> Group:
    """Return, by scale and role, the number of pairs whose learned label means the role.

    The first pairs that disagree are below.
    """
    table = columns("scale", *answer["roles"].values())
    for scale, counts in answer["scales"].items():
        of_role = (counts.get(label) for label in answer["roles"])
        trained = " (trained)" if int(scale) in answer["train"] else ""
        table.add_row(
            scale + trained, *(f"{count['agreeing']}/{count['pairs']}" if count else "-" for count in of_role)
        )
    table.add_row("all", *(f"{answer['agreeing'][label]}/{answer['pairs'][label]}" for label in answer["roles"]))
    notes = [
        f"scale {pair['scale']}, key {pair['key']}, query {pair['query']}: {answer['roles'][str(pair['ideal'])]}; "
        f"learned label {pair['learned']} means {answer['roles'][str(pair['means'])]}"
        for pair in answer["disagreements"]
    ]
    return titled(f"{answer['run']}: pairs whose learned label means their role", table, *notes)
