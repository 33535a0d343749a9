"""Every symbolic encoding by its name."""

from difflib import get_close_matches

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
    rotary,
    sinusoidal,
    t5,
    xpos,
    yarn,
)
from theory.encodings.encoding import Encoding
from theory.system.errors import LengthgenError


class UnknownEncoding(LengthgenError):
    """No encoding has this name."""


ENCODINGS: dict[str, Encoding] = {
    encoding.name: encoding
    for encoding in (
        nope.ENCODING,
        sinusoidal.ENCODING,
        learned.ENCODING,
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
        randomized.ENCODING,
        grape.ENCODING,
        grape_commuting.ENCODING,
        grape_contextual.ENCODING,
        grape_additive.ENCODING,
        grape_gated.ENCODING,
        grape_path.ENCODING,
        fox.ENCODING,
        fox.BIAS_ONLY,
        fox.FIXED,
        hope.ENCODING,
    )
}


def named(name: str) -> Encoding:
    """The encoding of this name.  Raises `UnknownEncoding` with the closest names."""
    if name not in ENCODINGS:
        close = get_close_matches(name, ENCODINGS)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(ENCODINGS)}"
        raise UnknownEncoding(f"no encoding is named {name!r}; {hint}")
    return ENCODINGS[name]
