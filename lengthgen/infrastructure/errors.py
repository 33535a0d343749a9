"""Base class of all errors that the user of a command can correct, and the hint for an unknown name."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

LONGEST = 4_000
"""Largest number of characters of a message that is printed."""
LONGEST_COMPARED = 100
"""Largest number of characters of an unknown name that are compared.

The time to compare grows with the square of the length.
"""
_UNWRITABLE = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\\ud800-\\udfff\\ufffe\\uffff]")
"""Characters that XML cannot hold, or only discouraged; lone surrogates are no UTF-8 either."""
NEAREST, FEW = 3, 6
"""Largest number of names in the hint for an unknown name, and of names that are listed in full."""


class LengthgenError(ValueError):
    """Bad input, or a stored file that does not fit; the message says in one line what, where and how to correct it."""

    def __str__(self) -> str:
        """Message as `one_line` prints it, whatever names and texts of the user it contains."""
        return one_line(super().__str__())


def in_words(error: Exception) -> str:
    """Message of an error; one of the operating system reads "PATH cannot be used: Permission denied"."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename2 or error.filename} cannot be used: {error.strerror}"
    return str(error)


def one_line(text: str, *, longest: int = LONGEST) -> str:
    """Text on one line that is safe to print: control characters are escaped, and a text that is too long is cut."""
    line = "".join(map(_printable, text[:longest]))
    return line if len(text) <= longest else f"{line}... ({len(text):,} characters in all)"


def _printable(character: str) -> str:
    escaped = " " if character.isspace() else character.encode("unicode_escape").decode()
    return character if character.isprintable() else escaped


def writable(text: str) -> str:
    """Text that any file can hold: control characters but those of white space, and lone surrogates, are escaped."""
    return _UNWRITABLE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def nearest(name: str, valid_names: Iterable[str], *, listed: str = "") -> str:
    """Hint for an unknown name: "did you mean A, B or C?", with at most three names; case is ignored.

    If no valid name is close, the hint has all of them if they are few, else how many there are, the three nearest, and
    where all are listed (`listed`).
    """
    all_names = list(dict.fromkeys(valid_names))
    names = {valid.casefold(): valid for valid in all_names}
    compared = name[:LONGEST_COMPARED].casefold()
    close = [names[match] for match in get_close_matches(compared, names, n=NEAREST)]
    if close:
        return f"did you mean {_either(close)}?"
    ending = f"; {listed}" if listed else ""
    if len(all_names) <= FEW:
        return f"choose {_either(all_names)}{ending}"
    some = [names[match] for match in get_close_matches(compared, names, n=NEAREST, cutoff=0.0)]
    return f"there are {len(all_names)}, such as {', '.join(some)}{ending}"


def in_any_case(name: str, valid_names: Iterable[str]) -> str:
    """Name as it is registered, for a name that differs from it in case only; any other name unchanged."""
    names = list(valid_names)
    return name if name in names else next((valid for valid in names if valid.casefold() == name.casefold()), name)


def _either(names: Sequence[str]) -> str:
    """Names as an enumeration with "or" before the last one."""
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
