"""The base of every error that the user of a command can mend."""


class LengthgenError(ValueError):
    """Bad input or a stored file that does not fit. The message is one line: what, where, how to mend it."""
