"""Scales as they are typed on the command line: `4,8`, `1-20`, `1-5,8`."""

import itertools
import re

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
