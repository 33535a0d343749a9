"""Strata of random questions as a table for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import columns, share_text, titled, yes_no


def strata_table(answer: Mapping[str, Any]) -> Group:
    """Return a row for each stratum, and below it the names of its cells."""
    table = columns("says yes", "says no", "breaks at", "questions  95 %", "full", "questions a cell", "seconds a cell")
    for stratum in answer["strata"]:
        table.add_row(
            stratum["yes"],
            stratum["no"],
            "-" if stratum["breaks_at"] is None else str(stratum["breaks_at"]),
            share_text(stratum["share"]),
            yes_no(stratum["full"]),
            f"{stratum['questions_per_cell']:g}",
            f"{stratum['seconds_per_cell']:g}",
        )
    apart = ", ".join(f"{kind} {share['successes']}" for kind, share in answer["apart"].items())
    shown = titled(
        f"{answer['questions']} random questions, trained to {answer['train']} and tested to {answer['test']}, seed "
        f"{answer['seed']}",
        table,
        f"not in a stratum: {apart}",
        f"{answer['seconds_per_question']:g} CPU seconds a question; answers of the listed cells: {answer['frozen']}",
    )
    cells = [
        Text(f"{stratum['yes']} against {stratum['no']}: {cell['name']}")
        for stratum in answer["strata"]
        for cell in stratum["cells"]
    ]
    return Group(shown, *cells)
