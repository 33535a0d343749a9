"""Safe names of figures: valid as file names on every file system, in LaTeX, and in LaTeX labels."""

import hashlib
import re

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
