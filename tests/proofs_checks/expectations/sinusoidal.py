"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from dataclasses import replace
from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import rotary, sinusoidal

EXPECTED = {
    "sin-1": (Verdict.VERIFIED, Strength.GENERAL),
    "sin-2": (Verdict.VERIFIED, Strength.GENERAL),
    "sin-3": (Verdict.VERIFIED, Strength.GENERAL),
    "sin-4": (Verdict.VERIFIED, Strength.GENERAL),
    "sin-5": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "sin-1": {
        "M_k transposed": r"M_k PE\(p\) = PE\(p \+ k\), entry 1: 0.53\d* != 0.91\d* at k = 4",
        "cosine first with the same M_k": r"entry 1: 0.84\d* != 0.40\d* at k = 4",
        "twice the shift": r"entry 1: -0.99\d* != 0.91\d* at k = 4",
    },
    "sin-2": {
        "half the frequencies": r"width 16: by distance the product is 8\.00000 at 0, 7\.86372 at 1, 7\.48517",
        "it tells the direction": r"-0.957\d* != -1.245\d* at D = 4",
        "sum of sines": r"-0.957\d* != -0.287\d* at D = 4",
    },
    "sin-3": {
        "squared norm D": r"sum over D/2 planes, entry 1: 2.0+ != 4.0+ at D = 4",
        "sines alone, whose norm varies": r"entry 1: 0.082\d* != 1.0+ at omega = 4, p = 4",
    },
    "sin-4": {
        "real positions": r"width 2: positions 0 and 2\*pi share a code",
        "base 100": r"width 4 repeats after 20\*pi, not 200\*pi",
        "all frequencies in 2 pi Q": r"width 2: positions 0 and 3 share a code",
    },
    "sin-5": {
        "relative for every W": r"W = \[\[1, 0\], \[0, 1\]\]: logits .*: 31.18\d* != 36.00\d* at D = 4, i = 4, s = 1",
        "relative for W = I": r"W = \[\[1, 0\], \[0, 1\]\]: logits .*: 31.18\d* != 36.00\d* at D = 4, i = 4, s = 1",
        "not even for W = 0": r"W = \[\[0, 0\], \[0, 0\]\]: the logit is 0 at every shift",
    },
}


FIGURES = {
    "sin-2": (r"5.54310 at 3, 5.55968 at 4: it is not monotone",),
    "sin-4": (
        r"width 4: real positions 200\*pi apart share a code",
        r"width 16: the codes of all real positions differ",
    ),
}


RIGHT = sinusoidal.code


def _slower_cosine(position: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    return sp.Matrix([sp.sin(position * frequency), sp.cos(position * frequency / 2)])


def _twice(position: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    return 2 * RIGHT(position, frequency=frequency)


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.sinusoidal.code", _slower_cosine, "sin-1", r"\d"),
    ("theory.encodings.sinusoidal.code", _twice, "sin-2", r"\d"),
    ("theory.encodings.sinusoidal.code", _twice, "sin-3", r"\d"),
    ("theory.encodings.sinusoidal.code", _slower_cosine, "sin-4", r"\d"),
    (
        "theory.encodings.sinusoidal.shift",
        lambda offset, *, frequency: rotary.rotation(offset * frequency),
        "sin-1",
        r"\d",
    ),
    ("theory.encodings.sinusoidal.shift", lambda offset, *, frequency: sp.eye(2), "sin-1", r"\d"),
    (
        "theory.encodings.rotary.frequency",
        lambda plane, *, head_dim, base=10000: 2 * sp.pi / (plane + 1),
        "sin-4",
        r"\d",
    ),
    ("theory.encodings.rotary.frequency", lambda plane, *, head_dim, base=10000: sp.Rational(1, 2), "sin-2", r"\d"),
    (
        "theory.encodings.sinusoidal.ENCODING",
        replace(sinusoidal.ENCODING, embed=lambda position: sp.Matrix([1, 1])),
        "sin-5",
        r"\d",
    ),
]
