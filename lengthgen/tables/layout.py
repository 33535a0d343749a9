"""Layout shared by all tables."""

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text


def columns(*headings: str) -> Table:
    """Return an empty table with these column headings."""
    return Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)


def titled(title: str, table: Table, *notes: str) -> Group:
    """Return a title, which may be wider than its table, the table, and notes below it."""
    return Group(Text(title, style="bold"), table, *(Text(note) for note in notes))


def yes_no(answer: bool | None) -> str:
    """Return a truth value as yes, no or a dash."""
    return {True: "yes", False: "no", None: "-"}[answer]


def share_text(share: Mapping[str, Any]) -> str:
    """Return successes, trials and confidence interval of a share as text."""
    return f"{share['successes']}/{share['trials']}  {share['low']:.2f}-{share['high']:.2f}"


def percent(share: float | None) -> str:
    """Return a share in percent as text."""
    return "-" if share is None else f"{share:.0%}"
