"""Conversion of values to the data of the report page: rounded numbers, short texts, and safe JSON."""

import json
import math
from collections.abc import Iterable
from typing import Any

from lengthgen.infrastructure.errors import LONGEST, one_line

DIGITS = 6
"""Significant digits of every number on the page."""


def rounded(value: float | None) -> float | None:
    """Round a number to DIGITS significant digits; None for None, NaN and infinite values."""
    if value is None or not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def json_text(content: Any) -> str:
    """Return compact JSON for a script element; it has no character that could end the element or begin a comment."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def text(value: str) -> str:
    """Return a text as the page shows it: on one line, with at most LONGEST characters."""
    return one_line(value, longest=LONGEST)


def texts(values: Iterable[str]) -> list[str]:
    """Return texts as the page shows them; see `text`."""
    return [text(value) for value in values]


def task_name(words: str) -> str:
    """Return the name of a task as the page shows it: without the user's file that defines it."""
    return text(words.rpartition(":")[2])
