"""Budgets of time, as `--budget` writes them."""

import re

from lengthgen.infrastructure.errors import LengthgenError

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
