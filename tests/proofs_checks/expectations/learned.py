"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from dataclasses import replace
from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import learned

EXPECTED = {
    "ape-1": (Verdict.VERIFIED, Strength.GENERAL),
    "ape-2": (Verdict.VERIFIED, Strength.GENERAL),
    "ape-3": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "ape-1": {
        "rows beyond the training length move": r"sequences of 1: .* has slope 0 in P\[1, 0\]",
        "the last trained row stays": r"sequences of 1: .* has slope 18 in P\[0, 0\]",
    },
    "ape-2": {
        "a random table": r"random table .*: scores at \(1, 0\) and \(2, 1\), entry 1: 47.0+ != 28.0+",
        "equal steps between rows": r"linear table .*: scores at \(1, 0\) and \(2, 1\), entry 1: 47.0+ != 110.0+",
        "no table at all": r"constant table .*: the score at distance 1 is .* \+ 13 everywhere",
    },
    "ape-3": {
        "beyond the table": r"a table of 1 rows has none for position 1, code \[0.841471, 0.540302\]",
        "at twice the rows": r"a table of 1 rows has none for position 1, code \[0.841471, 0.540302\]",
    },
}


FIGURES = {
    "ape-1": (r"every row: a gradient iff r < n",),
    "ape-2": (r"tables of 4 rows decided: constant, random, linear",),
    "ape-3": (r"it has a row for p < L and no other",),
}


WRONG: list[tuple[str, Any, str, str]] = [
    (
        "theory.encodings.learned.code",
        lambda position: sp.Matrix([learned.TABLE[position + 1, c] for c in (0, 1)]),
        "ape-1",
        r"\d",
    ),
    (
        "theory.encodings.learned.code",
        lambda position: sp.Matrix([learned.TABLE[0, c] for c in (0, 1)]),
        "ape-1",
        r"\d",
    ),
    (
        "theory.encodings.learned.ENCODING",
        replace(learned.ENCODING, embed=lambda position: sp.zeros(2, 1)),
        "ape-2",
        r"\d",
    ),
    (
        "theory.encodings.learned.ENCODING",
        replace(learned.ENCODING, embed=lambda position: sp.Matrix([learned.TABLE[position, c] for c in (1, 0)])),
        "ape-3",
        r"\d",
    ),
    ("theory.encodings.learned.ENCODING", replace(learned.ENCODING, limit=learned.ROWS - 1), "ape-3", r"\d"),
]
