"""Published results as a table for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import columns, titled, yes_no


def published_table(answer: Mapping[str, Any]) -> Group:
    """Return a row for each cell: the accuracy of every run at the largest trained and at the largest tested length.

    Tasks that are not expressible as a task of ours are below with the reason.
    """
    table = columns("evidence", "task", "encoding", "train", "test", "runs", "trained", "tested", "expressible")
    for cell in answer["cells"]:
        table.add_row(
            cell["evidence"],
            Text(cell["task"]),
            cell["encoding"],
            str(cell["train"]),
            str(cell["test"]),
            str(len(cell["runs"])),
            _shares(cell, cell["train"]),
            _shares(cell, cell["test"]),
            yes_no(cell["expressible"]),
        )
    tasks_by_reason: dict[str, dict[str, None]] = {}
    for cell in answer["cells"]:
        if not cell["expressible"]:
            tasks_by_reason.setdefault(cell["why_not"], {})[cell["task"]] = None
    return titled(
        f"{len(answer['cells'])} published cells",
        table,
        "trained, tested: accuracy of each run at the largest length that was measured up to train, and up to test",
        *(f"{name}: {source['title']}, arXiv {source['arxiv']}" for name, source in answer["sources"].items()),
        *(f"not expressible: {', '.join(tasks)}: {why}" for why, tasks in tasks_by_reason.items()),
        f"{sum(bool(cell['remark']) for cell in answer['cells'])} cells have a remark on a trap; --json shows it",
        f"{len(answer['unusable'])} measured runs are not used; --json lists them with the reason",
    )


def _shares(cell: Mapping[str, Any], longest: int) -> str:
    """Return the accuracy of every run of a cell at its largest length up to `longest`; a dash if it has none."""
    shares = []
    for run in cell["runs"]:
        lengths = [int(length) for length in run["accuracy"] if int(length) <= longest]
        shares.append(f"{run['accuracy'][str(max(lengths))]:.2f}" if lengths else "-")
    return " ".join(shares)
