"""What all tables have in common."""

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text


def columns(*headings: str) -> Table:
    return Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)


def titled(title: str, table: Table, *notes: str) -> Group:
    """A title that may be wider than its table, the table, and what is to be said about it."""
    return Group(Text(title, style="bold"), table, *(Text(note) for note in notes))


def said(answer: bool | None) -> str:
    return {True: "yes", False: "no", None: "-"}[answer]


def share(share: Mapping[str, Any]) -> str:
    return f"{share['successes']}/{share['trials']}  {share['low']:.2f}-{share['high']:.2f}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
