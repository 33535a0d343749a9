"""Tables of runs for the screen."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


def runs_table(answer: Mapping[str, Any]) -> RenderableType:
    """Stored runs: state, epochs, and exact match at its worst in training and beyond; below it what is broken."""
    table = Table(title=f"{len(answer['runs'])} runs")
    for heading in ("run", "state", "epochs", "worst in training", "worst beyond", "seconds", "peak MiB"):
        table.add_column(heading, justify="left" if heading in ("run", "state") else "right", overflow="fold")
    for row in answer["runs"]:
        if row["state"] == "broken":
            table.add_row(row["name"], "broken")
            continue
        cells = [row["name"], row["state"], f"{row['epochs']}/{row['of_epochs']}"]
        if row["state"] == "finished":
            cells += [f"{row['worst_in_training']:.3f}", f"{row['worst_beyond']:.3f}", f"{row['seconds']:.0f}"]
            cells.append(str(row["peak_memory_mib"]))
        table.add_row(*cells)
    broken = [Text(f"{row['name']}: {row['reason']}") for row in answer["runs"] if row["state"] == "broken"]
    return Group(table, *broken)


def evaluation_table(answer: Mapping[str, Any]) -> Table:
    """Exact match by scale of one run."""
    table = Table(title=f"{answer['run']}, {answer['samples']} samples a scale")
    running = any("free_running" in row for row in answer["scales"].values())
    for heading in ("scale", "exact match", "token accuracy", *(["free running", "disagree"] if running else [])):
        table.add_column(heading, justify="right")
    for scale, row in answer["scales"].items():
        cells = [scale, f"{row['exact_match']:.3f}", f"{row['token_accuracy']:.3f}"]
        table.add_row(*cells, *([f"{row['free_running']:.3f}", str(row["disagreements"])] if running else []))
    return table


def relation_table(answer: Mapping[str, Any]) -> RenderableType:
    """By scale and role, at how many pairs the learned label means the role; below it the first that do not."""
    table = Table(title=f"{answer['run']}: pairs whose learned label means their role")
    table.add_column("scale", justify="right")
    for role in answer["roles"].values():
        table.add_column(role, justify="right")
    for scale, counts in answer["scales"].items():
        of_role = (counts.get(label) for label in answer["roles"])
        trained = " (trained)" if int(scale) in answer["train"] else ""
        table.add_row(scale + trained, *(f"{one['agreeing']}/{one['pairs']}" if one else "-" for one in of_role))
    totals = (f"{answer['agreeing'][label]}/{answer['pairs'][label]}" for label in answer["roles"])
    table.add_row("all", *totals)
    lines = [
        f"scale {one['scale']}, key {one['key']}, query {one['query']}: {_role(answer, one['ideal'])}; "
        f"learned label {one['learned']} means {_role(answer, one['means'])}"
        for one in answer["disagreements"]
    ]
    return Group(table, *(Text(line) for line in lines))


def _role(answer: Mapping[str, Any], label: int) -> str:
    return answer["roles"].get(str(label), "nothing")
