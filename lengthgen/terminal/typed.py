"""Values as users type them: scales, budgets of time, errors of an entry, paths."""

import itertools
import re
from fractions import Fraction
from pathlib import Path

import typer

from lengthgen.infrastructure.errors import LengthgenError

MAX_SCALE = 10_000
"""Largest scale of SRC; patterns and models have their own limits."""


class ScalesError(LengthgenError):
    """Error of a text that gives no valid scales; one line."""


def parse_scales(text: str, *, largest: int = MAX_SCALE) -> list[int]:
    """Return the scales of a comma-separated list of numbers and ranges.

    Raises:
        ScalesError: the text is empty, not ascending, below 1, above the largest scale, or has parts that are no
            numbers.
    """
    scales: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r" *([0-9]{1,9}) *(?:- *([0-9]{1,9}) *)?", part)
        if not match:
            raise ScalesError(f"scales '{text:.60}': '{part:.60}' is neither a number nor a range like 1-20")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last <= largest:
            raise ScalesError(f"scales '{text:.60}': '{part.strip()}' must ascend within 1..{largest}")
        scales += range(first, last + 1)
    if any(later <= earlier for earlier, later in itertools.pairwise(scales)):
        raise ScalesError(f"scales '{text:.60}' must ascend")
    return scales


UNITS = {"s": 1, "m": 60, "h": 3600}
MOST = 30 * 24 * 3600
"""Largest budget in seconds: 30 days."""


class BudgetError(LengthgenError):
    """Budget that cannot be used; the message says what a budget looks like."""


def parse_budget(text: str) -> float:
    """Return a budget in seconds; `text` is a number and a unit: 90s, 30m, 2h, 1.5h.

    Raises:
        BudgetError: it is something else, no time at all, or longer than MOST.
    """
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smh])", text, flags=re.ASCII)
    seconds = float(match[1]) * UNITS[match[2]] if match else 0.0
    if not 0 < seconds <= MOST:
        raise BudgetError(f"budget '{text:.40}': write a number and a unit, such as 90s, 30m or 2h, of at most 30 days")
    return seconds


def nonempty_path(text: str | Path) -> Path:
    """Return the path that a text names. Refuse the empty text, which pathlib takes for the current folder."""
    if not str(text):
        raise typer.BadParameter("the path is empty: name a file or a folder")
    return Path(text)


def error_bound(text: str | Fraction) -> Fraction:
    """Return the exact number that a text such as 0.01, 1e-2 or 1/100 names. Refuse negative and endless numbers."""
    if isinstance(text, Fraction) or re.fullmatch(r"\d{1,30}(/0*[1-9]\d{0,29}|(\.\d{1,30})?(e[+-]?\d{1,2})?)", text):
        return Fraction(text)
    raise typer.BadParameter(f"'{text:.60}' is no error of an entry: give a number such as 0.01 or 1/100")
