"""Encodings of commands that are called without any."""


def ideal_encoding(format: str) -> str:
    """Return the ideal encoding of a format; operands that move with the scale need a scale hint."""
    return "ipe-sh" if format == "unaligned" else "ipe"


def usual_encodings(format: str) -> str:
    """Return the encodings of a command that is called without --encoding."""
    return f"{ideal_encoding(format)},rpe,ape,nope"
