"""Safe names of figures: valid as file names on every file system, in LaTeX, and in LaTeX labels.  Counts in words."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from zlib import crc32

from lengthgen.infrastructure.errors import writable

LONGEST = 100
"""Largest number of characters of a name that is not shortened."""


def file_name(text: str) -> str:
    """Return a safe file name for a text.

    A short text of ASCII letters, digits, "-" and "_" is returned unchanged. Any other text becomes its safe
    characters followed by a hash. Different texts have different names, and `file_name(file_name(x)) == file_name(x)`.
    """
    if len(text) <= LONGEST and re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z_-]*", text):
        return text
    readable = re.sub(r"[^0-9A-Za-z_]+", "-", text)[:60].strip("-_")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{readable}-{digest}".strip("-")


def hashed_name(kind: str, shown: str, whole: str) -> str:
    """Return KIND-TEXT-HASH, a safe file name: the readable start of a text, and a hash of what tells it apart."""
    readable = re.sub(r"[^0-9A-Za-z]+", "-", shown)[:40].strip("-")
    return f"{kind}-{readable}-{crc32(writable(whole).encode()):08x}"


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 run" or "1,000 runs"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short_task_names(tasks: Iterable[str]) -> dict[str, str]:
    """Map from each task to its name without the file that defines it, or with the file if two tasks share the name."""
    return distinct_names({task: task.rpartition(":")[2] for task in tasks})


def distinct_names(short: Mapping[str, str]) -> dict[str, str]:
    """Map from each full name to its short one, or to itself if several full names have the same short one."""
    counts = Counter(short.values())
    return {name: its if counts[its] == 1 else name for name, its in short.items()}
