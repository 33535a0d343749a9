"""Windows of text: contexts for training and test, and contexts with a key to be recalled at their end.

Shapes: B windows, L bytes of a window.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIGITS = 5
"""Number of digits of a key."""
_STATEMENT, _QUESTION = b"\n# key ", b"\n# key "
STATEMENT = len(_STATEMENT) + DIGITS + 1
"""Number of bytes of the line that states the key, line feeds included."""
QUESTION = len(_QUESTION) + DIGITS
"""Number of bytes at the end of a window that ask for the key and give it."""

Windows = NDArray[np.uint8]
"""Windows, uint8 [B, L]."""


def windows(text: NDArray[np.uint8], count: int, length: int, counter: Sequence[int]) -> Windows:
    """Draw windows of a text, uint8 [count, length], determined by a counter."""
    rng = np.random.default_rng(list(counter))
    starts = rng.integers(0, len(text) - length + 1, count)
    drawn: Windows = text[starts[:, None] + np.arange(length)]
    return drawn


def ending_together(text: NDArray[np.uint8], count: int, length: int, longest: int) -> Windows:
    """Return windows at even distances that end where those of the longest length end, uint8 [count, length].

    Windows of different lengths thus have the same last bytes, after contexts of different lengths.
    """
    ends = np.linspace(longest, len(text), count).astype(np.int64)
    ending: Windows = text[ends[:, None] - length + np.arange(length)]
    return ending


def with_keys(plain: Windows, counter: Sequence[int]) -> Windows:
    """Return the windows, each with a key stated at a random place and asked for at the end, in place of its bytes.

    The last DIGITS bytes are the key. Shorter windows than QUESTION + STATEMENT are returned unchanged.
    """
    count, length = plain.shape
    last_start = length - QUESTION - STATEMENT
    if last_start < 0:
        return plain
    rng = np.random.default_rng(list(counter))
    keys = rng.integers(0, 10, (count, DIGITS)).astype(np.uint8) + ord("0")
    starts = rng.integers(0, last_start + 1, count)
    changed = plain.copy()
    rows, places = np.arange(count)[:, None], starts[:, None]
    digits = np.arange(DIGITS)
    changed[rows, places + np.arange(len(_STATEMENT))] = np.frombuffer(_STATEMENT, dtype=np.uint8)
    changed[rows, places + len(_STATEMENT) + digits] = keys
    changed[np.arange(count), starts + STATEMENT - 1] = ord("\n")
    changed[:, length - QUESTION : length - DIGITS] = np.frombuffer(_QUESTION, dtype=np.uint8)
    changed[:, length - DIGITS :] = keys
    return changed
