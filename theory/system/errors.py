"""The base of every error that the user of a command can mend, and the hint for a name that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 4_000
"""Characters of a message that are shown."""
LONGEST_COMPARED = 100
"""Characters of an unknown name that are compared: the time to compare grows with the square of the length."""


class LengthgenError(ValueError):
    """Bad input or a stored file that does not fit. The message is one line: what, where, how to mend it."""

    def __str__(self) -> str:
        """The message as `one_line` shows it, whatever names and texts of the user's it repeats."""
        return one_line(super().__str__())


def one_line(text: str, *, longest: int = LONGEST) -> str:
    """The text on one line that is safe to print: control characters are escaped, and what is too long is cut."""
    cut = text[:longest]
    shown = "".join(
        one if one.isprintable() else " " if one.isspace() else one.encode("unicode_escape").decode() for one in cut
    )
    return shown if len(text) <= longest else f"{shown}... ({len(text):,} characters in all)"


def nearest(name: str, known: Iterable[str], *, otherwise: str | None = None) -> str:
    """Hint for an unknown name: "did you mean A or B?".

    Args:
        name: the unknown one.
        known: all names that it could have been.
        otherwise: the hint where none of these is close; all of them if left out.
    """
    names = list(known)
    close = get_close_matches(name[:LONGEST_COMPARED], names)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"known are {', '.join(names)}" if otherwise is None else otherwise
