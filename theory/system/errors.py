"""Base class of all errors that the user of a command can correct, and the hint for an unknown name."""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 4_000
"""Largest number of characters of a message that is printed."""
LONGEST_COMPARED = 100
"""Largest number of characters of an unknown name that are compared.

The time to compare grows with the square of the length.
"""


class LengthgenError(ValueError):
    """Bad input, or a stored file that does not fit; the message says in one line what, where and how to correct it."""

    def __str__(self) -> str:
        """Message as `one_line` prints it, whatever names and texts of the user it contains."""
        return one_line(super().__str__())


def one_line(text: str, *, longest: int = LONGEST) -> str:
    """Text on one line that is safe to print: control characters are escaped, and a text that is too long is cut."""
    cut = text[:longest]
    line = "".join(
        character
        if character.isprintable()
        else " "
        if character.isspace()
        else character.encode("unicode_escape").decode()
        for character in cut
    )
    return line if len(text) <= longest else f"{line}... ({len(text):,} characters in all)"


def nearest(name: str, valid_names: Iterable[str], *, otherwise: str | None = None) -> str:
    """Hint for an unknown name: "did you mean A or B?".

    Args:
        name: the unknown name.
        valid_names: all names that would do.
        otherwise: the hint if no valid name is close; by default a list of all valid names.
    """
    names = list(valid_names)
    close = get_close_matches(name[:LONGEST_COMPARED], names)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"known are {', '.join(names)}" if otherwise is None else otherwise
