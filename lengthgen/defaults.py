"""Encodings of commands that are called without any."""

IDEAL = {"aligned": "ipe", "unaligned": "ipe-sh", "filled": "ipe-sh"}
"""Ideal encoding of a format: if operands move with the scale, it needs a scale hint."""


def usual_encodings(format: str) -> str:
    """Return the encodings of a command that is called without --encoding."""
    return f"{IDEAL.get(format, 'ipe')},rpe,ape,nope"
