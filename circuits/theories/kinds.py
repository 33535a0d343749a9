"""Kinds of position encodings that theories speak about, by the names of encodings."""

from lengthgen.theory.encodings.catalogue import called

NONE = frozenset({"nope"})
"""No position encoding."""
LEARNED_ABSOLUTE = frozenset({"ape", "offset-ape"})
"""Learned absolute codes, without and with random offsets in training; that papers mean both by one name is [F]."""
ABSOLUTE = LEARNED_ABSOLUTE | {"sinusoidal"}
"""Absolute codes, learned or sinusoidal."""
COUPLED = frozenset({"ipe", "ipe-sh"})
"""Codes that give positions with one role one label, as position coupling does ([F])."""


def encoding_name(text: str) -> str:
    """Return the name of the encoding that a text names, without options; a name that is not registered unchanged."""
    name = text.partition("[")[0].strip()
    encoding = called(name)
    return name if encoding is None else encoding.name
