"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import seqpe

RIGHT_COUNT = seqpe.encoder_count


WRONG: list[tuple[Any, ...]] = [
    ("seqpe.last_digit", lambda position: sp.Mod(position, 9), "seqpe-1"),
    ("seqpe.other_digits", lambda position: sp.floor(position / 9), "seqpe-1"),
    (
        "biases.alibi_bias",
        lambda slope, *, query_position, key_position: slope * (query_position - key_position),
        "seqpe-7",
    ),
]
