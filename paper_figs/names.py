"""Names of figures: every file system takes them, LaTeX finds the files, and a label may hold them."""

import hashlib
import re

LONGEST = 100
"""Characters of a name that is kept as it is."""


def file_name(text: str) -> str:
    """The text, if it is short and has only ASCII letters, digits, "-" and "_"; else what of it has, and its hash.

    Different texts have different names, and a name is its own.
    """
    if len(text) <= LONGEST and re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z_-]*", text):
        return text
    kept = re.sub(r"[^0-9A-Za-z_]+", "-", text)[:60].strip("-_")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{kept}-{digest}".strip("-")
