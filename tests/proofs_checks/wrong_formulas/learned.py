"""Wrong formulas that the claims refute."""

from dataclasses import replace
from typing import Any

import sympy as sp

from lengthgen.theory.encodings import learned

WRONG: list[tuple[Any, ...]] = [
    ("learned.code", lambda position: sp.Matrix([learned.TABLE[position + 1, c] for c in (0, 1)]), "ape-1"),
    ("learned.code", lambda position: sp.Matrix([learned.TABLE[0, c] for c in (0, 1)]), "ape-1"),
    ("learned.ENCODING", replace(learned.ENCODING, embed=lambda position: sp.zeros(2, 1)), "ape-2"),
    (
        "learned.ENCODING",
        replace(learned.ENCODING, embed=lambda position: sp.Matrix([learned.TABLE[position, c] for c in (1, 0)])),
        "ape-3",
    ),
    ("learned.ENCODING", replace(learned.ENCODING, limit=learned.ROWS - 1), "ape-3"),
]
