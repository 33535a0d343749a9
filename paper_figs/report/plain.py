"""Plain values of the page's data: short, and with nothing that a page could take for its own markup."""

import json
import math
from collections.abc import Iterable
from typing import Any

from theory.system.errors import LONGEST, one_line

DIGITS = 6
"""Significant digits of every number on the page."""


def rounded(value: float | None) -> float | None:
    """A number as the page shows it; None for none, and for what is no number."""
    if value is None or not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def json_text(content: Any) -> str:
    """Compact JSON for a script element: no character in it can end the element or begin a comment."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def text(value: str) -> str:
    """A text of a file as the page shows it: on one line, and at most LONGEST characters of it."""
    return one_line(value, longest=LONGEST)


def texts(values: Iterable[str]) -> list[str]:
    """Texts of a file as the page shows them."""
    return [text(one) for one in values]
