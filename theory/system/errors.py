"""The base of every error that the user of a command can mend."""

LONGEST = 4_000
"""Characters of a message that are shown."""


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
