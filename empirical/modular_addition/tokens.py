"""Characters as tokens, as in the released script of arXiv 2601.04283: 80 tokens, of which 5 are no characters."""

import string

import numpy as np
from numpy.typing import NDArray

PAD, UNKNOWN, CLS, OPEN, CLOSE = range(5)
"""Padding, unknown character, readout, and the markers of an expression."""
CHARACTERS = string.ascii_lowercase + string.ascii_uppercase + string.digits + " .,?!+-=×÷()%"
"""Characters with a token of their own, in the order of their tokens, from 5 on.  [P]"""
SYMBOLS = 5 + len(CHARACTERS)
"""Number of tokens: 80.  [P]"""
MARKERS = {"<EXPR>": OPEN, "</EXPR>": CLOSE}
"""Markers before and after an expression."""

_TOKEN = {character: token for token, character in enumerate(CHARACTERS, 5)}


def encode(text: str, *, atomic: bool = False) -> NDArray[np.int64]:
    """Return the tokens of a text, int64.

    A marker is one token if `atomic` is true, as the paper describes; else its characters are read one by one, as the
    released script does, and `<`, `>` and `/` are unknown.
    """
    if atomic:
        for marker, token in MARKERS.items():
            if marker in text:
                before, _, after = text.partition(marker)
                return np.concatenate([encode(before, atomic=True), [token], encode(after, atomic=True)])
    return np.array([_TOKEN.get(character, UNKNOWN) for character in text], dtype=np.int64)


def name(token: int) -> str:
    """Return a token for people: its character in quotation marks, or its name."""
    return ("padding", "an unknown character", "CLS", *MARKERS)[token] if token < 5 else repr(CHARACTERS[token - 5])
