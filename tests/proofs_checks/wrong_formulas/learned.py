"""Wrong formulas that the claims refute."""

from dataclasses import replace
from typing import Any

import sympy as sp

from lengthgen.theory.encodings import absolute

WRONG: list[tuple[Any, ...]] = [
    ("absolute.table_code", lambda position: sp.Matrix([absolute.TABLE[position + 1, c] for c in (0, 1)]), "ape-1"),
    ("absolute.table_code", lambda position: sp.Matrix([absolute.TABLE[0, c] for c in (0, 1)]), "ape-1"),
    ("absolute.LEARNED", replace(absolute.LEARNED, embed=lambda position: sp.zeros(2, 1)), "ape-2"),
    (
        "absolute.LEARNED",
        replace(absolute.LEARNED, embed=lambda position: sp.Matrix([absolute.TABLE[position, c] for c in (1, 0)])),
        "ape-3",
    ),
    ("absolute.LEARNED", replace(absolute.LEARNED, limit=absolute.TABLE_ROWS - 1), "ape-3"),
]
