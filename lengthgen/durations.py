"""Durations on the command line: 90s, 30m, 2h."""

import re

from theory.system.errors import LengthgenError

SECONDS = {"s": 1, "m": 60, "h": 3600}
"""Seconds of each unit."""


class DurationError(LengthgenError):
    """A text names no duration; the message says so in one line."""


def parse_duration(text: str) -> float:
    """Return the seconds of a duration such as 90s, 30m or 2h.

    Raises:
        DurationError: the text has another form, or names no time.
    """
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smh])", text)
    seconds = float(match[1]) * SECONDS[match[2]] if match else 0.0
    if not seconds:
        raise DurationError(f"'{text:.40}' is no duration: write a number with s, m or h, such as 90s, 30m or 2h")
    return seconds
