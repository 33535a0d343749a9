"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import yarn

EXPECTED = {
    "yarn-1": (Verdict.VERIFIED, Strength.GENERAL),
    "yarn-2": (Verdict.VERIFIED, Strength.GENERAL),
    "yarn-3": (Verdict.VERIFIED, Strength.INTERVAL),
    "yarn-4": (Verdict.VERIFIED, Strength.GENERAL),
    "yarn-5": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "yarn-1": {
        "gamma = 0 planes unchanged": r"gamma = 0, entry 1: 16.0000 != 4.00000",
        "few turns kept": r"r = .*, t = -1: gamma is 1, not 0",
        "late planes kept": r"l = .*, t = -1: gamma is 0, not 1",
    },
    "yarn-2": {
        "without 2 pi": r"d = 128, L = 4096: plane c\(1\) turns 0.1592 times",
        "counting every coordinate": r"d = 128, L = 4096: plane c\(1\) turns 0.001534 times",
    },
    "yarn-3": {
        "beta = 16": r"l = 34: gamma is 0\.259 by turns, 0\.571 by index, 0\.312 apart",
        "the code's ramp one plane late": r"l = 30: gamma is 0\.248 by turns, 0\.654 by index, 0\.406",
        "the square of the code's ramp": r"l = 28: gamma is 0\.342 by turns, 0\.479 by index, 0\.138 apart",
    },
    "yarn-4": {
        "by the factor itself": r"score at i = j = 0, entry 1: .* != .* at S = \d",
        "by 1 / t squared": r"score at i = j = 0, entry 1: .* != .* at S = \d",
        "without the 1": r"the factor .*1.10000 != 0.100000 at S = 1",
    },
    "yarn-5": {
        "0.1 ln (e s) + 1": r"the factor at s = 1, entry 1: 1\.10000 != 1\.00000 at every point",
        "without the 1": r"the factor at s = 1, entry 1: 0 != 1\.00000 at every point",
    },
}


FIGURES = {
    "yarn-2": (r"d = 128, .*c\(32\) = 20\.94, c\(1\) = 45\.03, the code ramp falls from 20 to 46",),
    "yarn-3": (r"l = 30: gamma is 0\.248 by turns, 0\.615 by index, 0\.367 apart",),
}


RIGHT_RAMP, RIGHT_RANGE = yarn.ramp, yarn.index_range


def _without_refusal(*sizes: Any, **law: Any) -> tuple[sp.Expr, sp.Expr]:
    try:
        return RIGHT_RANGE(*sizes, **law)
    except ValueError:
        return sp.Integer(0), sp.Integer(0)


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.yarn.turns", lambda frequency, *, trained_length: trained_length * frequency, "yarn-2", r"\d"),
    (
        "theory.encodings.yarn.turns",
        lambda frequency, *, trained_length: trained_length * frequency / 6,
        "yarn-3",
        r"\d",
    ),
    (
        "theory.encodings.yarn.ramp",
        lambda turns, *, alpha, beta: sp.Max(0, sp.Min(1, (turns - alpha) / beta)),
        "yarn-1",
        r"\d",
    ),
    (
        "theory.encodings.yarn.ramp",
        lambda turns, *, alpha, beta: RIGHT_RAMP(turns, alpha=0, beta=beta),
        "yarn-3",
        r"\d",
    ),
    (
        "theory.encodings.yarn.plane_with",
        lambda turns, *, head_dim, base, trained_length: trained_length / turns,
        "yarn-2",
        r"\d",
    ),
    ("theory.encodings.yarn.index_range", lambda *sizes, **law: (sp.Integer(0), sp.Integer(46)), "yarn-2", r"\d"),
    ("theory.encodings.yarn.index_range", _without_refusal, "yarn-2", r"\d"),
    (
        "theory.encodings.yarn.index_ramp",
        lambda plane, *, first, last: sp.Max(0, sp.Min(1, (plane - first) / (last - first))),
        "yarn-1",
        r"\d",
    ),
    ("theory.encodings.yarn.index_ramp", lambda plane, *, first, last: sp.Integer(1), "yarn-3", r"\d"),
    (
        "theory.encodings.yarn.frequency",
        lambda frequency, *, kept, scale: kept * frequency / scale + (1 - kept) * frequency,
        "yarn-1",
        r"\d",
    ),
    (
        "theory.encodings.yarn.frequency",
        lambda frequency, *, kept, scale: frequency / scale + kept * frequency,
        "yarn-5",
        r"\d",
    ),
    ("theory.encodings.yarn.magnitude", lambda scale: sp.log(scale) + 1, "yarn-4", r"\d"),
    ("theory.encodings.yarn.magnitude", lambda scale: sp.log(scale) / 10 + 2, "yarn-5", r"\d"),
]
