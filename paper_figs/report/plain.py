"""What the page's data are made of: plain values, short, and with nothing that a page could take for its own markup."""

import json
import math
from collections.abc import Mapping
from typing import Any

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


def texts(value: Any) -> list[str]:
    """A list of texts from a file that anybody may have written. Raises `TypeError` for what is no list."""
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {type(value).__name__}")
    return [str(one) for one in value]


def part(content: Any, key: str) -> Mapping[str, Any]:
    """The mapping under a key. Raises `KeyError` or `TypeError` where there is none."""
    found = content[key]
    if not isinstance(found, Mapping):
        raise TypeError(f"'{key}' is no mapping")
    return found
