"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "kerple-1": (Verdict.VERIFIED, Strength.GENERAL),
    "kerple-2": (Verdict.VERIFIED, Strength.GENERAL),
    "kerple-3": (Verdict.VERIFIED, Strength.GENERAL),
    "kerple-4": (Verdict.VERIFIED, Strength.GENERAL),
    "kerple-5": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "kerple-1": {
        "of the squared distance": r"p = 2: x = \(-1, 0, 1\), c = \(1, -2, 1\) give c\^T K c = -24, and 100 times ",
        "of the root of the distance": r"p = 2: x = \(-1, 0, 1\), c = \(1, -2, 1\) give c\^T K c = 4, so larger expone",
        "growing with the distance": r"-K\(t\) = t\^p, written with t = e\^b, entry 1: -8\.88611e\+6 !=",
    },
    "kerple-2": {
        "+|x - y|^p": r"p = 2, a = 1/10, x = \(0, 1\), c = \(1, -1\): c\^T K c = -2\.000",
        "+log": r"p = 2, a = 1/10, x = \(0, 1\), c = \(1, -1\): c\^T K c = -0.1906",
        "of the squared distance": r"p = 2, a = 1/10, x = \(-1, 0, 1\), c = \(1, -2, 1\): c\^T K c = -1\.149",
    },
    "kerple-3": {
        "already with c = 0": r"x = \(0, 1\), p = 1, c = 0: K \+ c 1 1\^T is not positive definite",
        "with the c at which it is only semidefinite": r"x = \(0, 1\), p = 1, c = 1/2: K \+ c 1 1\^T is not",
        "for p = 2 too": r"x = \(0, 1, 2\), p = 2: the form is not positive .* \[\[2, 4\], \[4, 8\]\]",
    },
    "kerple-4": {
        "p = 2": r"-m D\^p = -m \(j - i\), D = j - i, entry 1: -64.0000 != -16.0000 at D = 4, m = 4",
        "r1 = 2m": r"-m D\^p = -m \(j - i\), D = j - i, entry 1: -32.0000 != -16.0000 at D = 4, m = 4",
    },
    "kerple-5": {
        "blocks of one length": r"r1 = 1: block k has 2\^k terms of at most 2\^\(-1 k\): finite sum",
        "blocks in the plane": r"r1 = 1: 2\^k terms of at least 2\^\(-1 \(k \+ 1\)\) each: the blocks do not eve",
        "the weight's root": r"r1 = 1: 2\^k terms of at least 2\^\(-1 \(k \+ 1\)\) each: the blocks do not eve",
    },
}


FIGURES = {
    "kerple-1": [r"c\^T K c = 8 - 2\*2\*\*p, negative for every p > 2"],
    "kerple-2": [r"c\^T K c = a \(8 - 2\*2\*\*p\) \+ O\(a\^2\)"],
    "kerple-3": [r"x = \(0, 1, 2, 3, 4, 5\), p = 1: g = 20, and .* with c = 91/36"],
    "kerple-5": [r"each block 2\*\*\(1 - r1\) times"],
}


def _rising(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return scale * distance**exponent


def _cubed(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return -scale * distance ** (2 * exponent)


def _log_of_distance(distance: sp.Expr, *, scale: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return -scale * sp.log(2 + rate * distance)


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.kerple.power", _rising, "kerple-1", r"-K\(t\) = t\^p"),
    ("theory.encodings.kerple.power", _cubed, "kerple-1", r"c\^T K c = -24"),
    ("theory.encodings.kerple.power", _rising, "kerple-3", r"x = \(0, 1\), p = 1: the form is not positive"),
    ("theory.encodings.kerple.power", _cubed, "kerple-4", "D = j - i, entry 1"),
    ("theory.encodings.kerple.logarithm", _log_of_distance, "kerple-2", r"e\^\(-K\) = 1 \+ s"),
    ("theory.encodings.kerple.logarithm", _log_of_distance, "kerple-5", r"weight\^\(-1/r1\)"),
    (
        "theory.encodings.kerple.logarithm",
        lambda distance, *, scale, rate: -(scale**2) * sp.log(1 + rate * distance),
        "kerple-5",
        "scale: r1 times the kernel of r1 = 1",
    ),
]
