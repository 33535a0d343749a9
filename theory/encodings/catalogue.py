"""Registry of the position encodings, by name and alias.

Encodings whose relation depends on the circuit of a task are registered in circuits/encodings.py.
"""

from theory.encodings import (
    alibi,
    fire,
    fox,
    grape,
    grape_additive,
    grape_commuting,
    grape_contextual,
    grape_gated,
    grape_path,
    hope,
    interpolation,
    kerple,
    learned,
    nope,
    ntk,
    randomized,
    relational,
    rotary,
    sinusoidal,
    t5,
    xpos,
    yarn,
)
from theory.encodings.encoding import Encoding, EncodingError
from theory.system.errors import LengthgenError, nearest


class UnknownEncoding(EncodingError):
    """The name belongs to no encoding."""


class DuplicateEncoding(LengthgenError):
    """The name or alias belongs to another encoding already."""


ENCODINGS: dict[str, Encoding] = {}
"""Registered encodings by name, in the order of registration."""
_BY_NAME: dict[str, Encoding] = {}
"""Registered encodings by name and alias, in lower case (casefolded)."""


def register(*encodings: Encoding) -> None:
    """Register encodings under their names and aliases; upper and lower case do not differ.

    Raises:
        DuplicateEncoding: a name or alias is taken.
    """
    for encoding in encodings:
        for name in (encoding.name, *encoding.aliases):
            if name.casefold() in _BY_NAME:
                owner = _BY_NAME[name.casefold()].name
                raise DuplicateEncoding(f"encoding '{encoding.name}': the name '{name}' already belongs to '{owner}'")
        ENCODINGS[encoding.name] = encoding
        _BY_NAME.update({name.casefold(): encoding for name in (encoding.name, *encoding.aliases)})


def called(name: str) -> Encoding | None:
    """Encoding with this name or alias, in any case; None if there is none."""
    return _BY_NAME.get(name.strip().casefold())


def named(name: str) -> Encoding:
    """Encoding with this name or alias, in any case.

    Raises:
        UnknownEncoding: there is none; the message suggests the closest names.
    """
    encoding = called(name)
    if encoding is None:
        choices = f"{', '.join(ENCODINGS)}; your own: path/to/file.py:object"
        hint = nearest(name.strip().casefold(), _BY_NAME, otherwise=f"known are {choices}")
        raise UnknownEncoding(f"unknown encoding '{name}': {hint}")
    return encoding


def with_formulas() -> tuple[Encoding, ...]:
    """Registered encodings that have formulas, in the order of registration."""
    return tuple(encoding for encoding in ENCODINGS.values() if not encoding.no_formula)


register(
    nope.ENCODING,
    sinusoidal.ENCODING,
    learned.ENCODING,
    relational.RPE,
    relational.CLIPPED,
    t5.ENCODING,
    t5.BIDIRECTIONAL,
    alibi.ENCODING,
    kerple.POWER,
    kerple.LOGARITHM,
    fire.ENCODING,
    rotary.ENCODING,
    xpos.ENCODING,
    interpolation.ENCODING,
    ntk.ENCODING,
    ntk.DYNAMIC,
    yarn.ENCODING,
    randomized.APE,
    randomized.RPE,
    randomized.ROPE,
    randomized.ALIBI,
    grape.ENCODING,
    grape_commuting.ENCODING,
    grape_commuting.THIN,
    grape_contextual.ENCODING,
    grape_additive.ENCODING,
    grape_gated.ENCODING,
    grape_path.ENCODING,
    fox.ENCODING,
    fox.BIAS_ONLY,
    fox.FIXED,
    hope.ENCODING,
)
