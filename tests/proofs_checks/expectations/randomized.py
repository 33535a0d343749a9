"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from itertools import product
from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "rpe-1": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "rpe-2": (Verdict.VERIFIED, Strength.GENERAL),
    "rpe-3": (Verdict.VERIFIED, Strength.GENERAL),
    "rpe-4": (Verdict.VERIFIED, Strength.GENERAL),
    "rpe-5": (Verdict.VERIFIED, Strength.GENERAL),
    "rpe-6": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "rpe-1": {
        "drawn with replacement": r"n = 2, M = 2: \(0, 0\) is drawn",
        "not sorted": r"n = 2, M = 2: \(1, 0\) is drawn",
    },
    "rpe-2": {
        "1/M": r"n = 2, M = 2: position 0 is used with probability 1",
        "as with replacement": r"n = 2, M = 2: position 0 is used with probability 1",
    },
    "rpe-3": {
        "k M/n": r"n = 2, M = 3: tokens 0, 1 are 4/3 apart, not 3/2",
        "token k at (k + 1) M/n - 1": r"n = 1, M = 2: token 0 is at 1/2 on average, not at 1",
    },
    "rpe-4": {
        "one token more": r"M = 1, training on 1: 2 distinct positions need position 1, of probability 0 in training",
        "twice the range": r"M = 1, training on 1: 2 distinct positions need position 1, of probability 0 in training",
    },
    "rpe-5": {
        "one law of gaps at all lengths": r"M = 3: .* with probability 2/3 at n = 2, 1 at N = 3; mean gaps 4/3, 1",
        "one law from length 3 on": r"M = 4: .* with probability 3/4 at n = 3, 1 at N = 4; mean gaps 5/4, 1",
    },
    "rpe-6": {
        "one row more is released": r"M = 6 rows: offsets -1 and \+0 read rows 5 and 6",
        "2M rows are released": r"M = 6 rows: offsets \+1 and \+5 read rows 7 and 11",
        "one row fewer is enough": r"M = 6, 11 rows: offsets \+4 and \+5 read row 10",
    },
}


FIGURES = {
    "rpe-2": (r"M = 9, n = 4: 0.4444",),
    "rpe-3": (r"\(n \+ 1\) mean step = M \+ 1",),
    "rpe-6": (r"M rows: offsets -1, 0, 1, .. read row M - 1",),
}


def _with_replacement(*, length: int, longest: int) -> list[tuple[int, ...]]:
    return [tuple(sorted(drawn)) for drawn in product(range(longest), repeat=length)]


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.randomized.draws", _with_replacement, "rpe-1", r"\d"),
    ("theory.encodings.randomized.draws", _with_replacement, "rpe-2", r"\d"),
    ("theory.encodings.randomized.draws", _with_replacement, "rpe-3", r"\d"),
    ("theory.encodings.randomized.draws", _with_replacement, "rpe-5", r"\d"),
    (
        "theory.encodings.randomized.coverage",
        lambda *, length, longest: (length - 1) / sp.sympify(longest),
        "rpe-2",
        r"\d",
    ),
    (
        "theory.encodings.randomized.coverage",
        lambda *, length, longest: (length - 1) / sp.sympify(longest),
        "rpe-4",
        r"\d",
    ),
    (
        "theory.encodings.randomized.expected_gap",
        lambda *, length, longest: sp.sympify(longest) / (length + 1),
        "rpe-3",
        r"\d",
    ),
    (
        "theory.encodings.randomized.expected_gap",
        lambda *, length, longest: sp.sympify(longest) / (length + 1),
        "rpe-5",
        r"\d",
    ),
    (
        "theory.encodings.randomized.expected_position",
        lambda rank, *, length, longest: rank * sp.Rational(1) * (longest + 1) / (length + 1),
        "rpe-3",
        r"\d",
    ),
    (
        "theory.encodings.randomized.gap_probability",
        lambda gap, *, length, longest: sp.Rational(1, longest),
        "rpe-5",
        r"\d",
    ),
    ("theory.encodings.randomized.row", lambda offset, *, longest, rows: offset + longest, "rpe-6", r"\d"),
    (
        "theory.encodings.randomized.row",
        lambda offset, *, longest, rows: sp.Min(offset + longest, rows - 2),
        "rpe-6",
        r"\d",
    ),
]
