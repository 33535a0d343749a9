"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import rotary

EXPECTED = {
    "rope-1": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-2": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-3": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-4": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-5": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-6": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-7": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "rope-1": {
        "key turned backwards": r"R\(i\)\^T R\(i \+ D\) = R\(D\), entry 1: 0.84\d* != -0.65\d* at D = 4, i = 4",
        "offset reversed": r"entry 2: 0.756\d* != -0.756\d* at D = 4, i = 4",
        "unequal gains after rotation": r"entry 1: -1.40\d* != -0.65\d* at D = 4, i = 4",
    },
    "rope-2": {
        "with the scaling of xPos": r"\|R q\|\^2 = \|q\|\^2, entry 1: 9.84\d* != 10.0+ at n = 4",
        "with unequal gains": r"\|R q\|\^2 = \|q\|\^2, entry 1: 39.9\d* != 10.0+ at n = 4",
    },
    "rope-3": {
        "a tenth of the frequencies": r"d = 16, all ones: the scores at D = 0, 1, \.\. are 8\.00000, 7\.99445, 7\.977",
        "planes that do not turn": r"d = 16, all ones: the scores at D = 0, 1, \.\. are 8\.00000, 8\.00000, 8\.000",
        "the last difference left out": r"all ones, D = 0: the score 8.0+ is beyond the bound 0",
        "the last partial sum left out": r"h = \(5,\), angles .*: max \|step\| sum \|S\| is 5, the bound 0",
        "twice the bound is attained": r"h = \(5,\), angles .*: max \|step\| sum \|S\| is 5, the bound 10",
    },
    "rope-4": {
        "the key is the query": r"r = 1: the score is 0.540302 at D = r, 1.0+ at 0",
        "turned the other way": r"r = 1: the score is -0.416147 at D = r, 0.540302 at 0",
    },
    "rope-5": {
        "eight times the length": r"d = 128, L = 32768: 4 of 64 planes turn less than once, from plane 60 on",
        "a head of half the width": r"d = 64, L = 4096: 9 of 32 planes turn less than once, from plane 23 on, ",
        "without 2 pi": r"plane 46 has the period 4711.72",
        "one head twice as wide": r"plane 46 has the period 4711.72",
    },
    "rope-6": {
        "equal without permuting": r"d = 4: R_halves P = P R_interleaved, entry 1: 0 != 0.756\d*",
        "the inverse permutation": r"d = 6: R_halves P = P R_interleaved, entry 1: 0 != 0.756\d*",
    },
    "rope-7": {
        "unequal gains on the query": r"entry 1: -0.558\d* != -1.307\d* at D = 4, i = 4",
        "the same unequal gains on both": r"entry 1: -0.368\d* != -2.614\d* at D = 4, i = 4",
        "gains drawn at random": r"entry 1: -1.394\d* != -0.217\d* at D = 4, i = 4",
    },
}


FIGURES = {
    "rope-3": (
        r"all ones score 5.54310 at D = 3 and more at D = 4",
        r"k = R\(5\) q scores 6.13704 there and 8.00000 at D = 5",
    ),
    "rope-5": (r"18 of 64 planes turn less than once",),
    "rope-6": (r"entry by entry for d = 2, 4, .. 12",),
}


RIGHT_ROTATION, RIGHT_BOUND, RIGHT_COORDINATES = rotary.rotation, rotary.decay_bound, rotary.coordinates


def _backwards(angle: sp.Expr) -> sp.Matrix:
    return RIGHT_ROTATION(-angle)


def _stretched(angle: sp.Expr) -> sp.Matrix:
    return 2 * RIGHT_ROTATION(angle)


def _swapped(plane: sp.Expr, *, head_dim: sp.Expr, layout: rotary.Layout) -> tuple[sp.Expr, sp.Expr]:
    return RIGHT_COORDINATES(plane, head_dim=head_dim, layout=layout)[::-1]


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.rotary.rotation", _backwards, "rope-1", r"\d"),
    ("theory.encodings.rotary.rotation", _stretched, "rope-2", r"\d"),
    ("theory.encodings.rotary.rotation", _stretched, "rope-7", r"\d"),
    ("theory.encodings.rotary.score", lambda query, key, **at: query.dot(key), "rope-4", r"\d"),
    ("theory.encodings.rotary.score", lambda query, key, **at: query.dot(key), "rope-7", r"\d"),
    (
        "theory.encodings.rotary.partial_sum",
        lambda terms, count: sp.Sum(terms(sp.Symbol("l")), (sp.Symbol("l"), 0, count)),
        "rope-3",
        r"\d",
    ),
    (
        "theory.encodings.rotary.by_parts",
        lambda content, sums, planes: rotary.partial_sum(
            lambda plane: (content(plane + 1) - content(plane)) * sums(plane + 1), planes
        ),
        "rope-3",
        r"\d",
    ),
    ("theory.encodings.rotary.decay_bound", lambda content, angles: RIGHT_BOUND(content, angles) / 2, "rope-3", r"\d"),
    (
        "theory.encodings.rotary.decay_bound",
        lambda content, angles: RIGHT_BOUND(content[::-1], angles),
        "rope-3",
        r"\d",
    ),
    (
        "theory.encodings.rotary.decay_bound",
        lambda content, angles: RIGHT_BOUND(content, angles[::-1]),
        "rope-3",
        r"\d",
    ),
    (
        "theory.encodings.rotary.frequency",
        lambda plane, *, head_dim, base=10000: base ** (-plane / head_dim),
        "rope-5",
        r"\d",
    ),
    (
        "theory.encodings.rotary.period",
        lambda plane, *, head_dim, base=10000: 1 / rotary.frequency(plane, head_dim=head_dim),
        "rope-5",
        r"\d",
    ),
    (
        "theory.encodings.rotary.last_full_turn",
        lambda length, *, head_dim, base=10000: head_dim * sp.log(length) / (2 * sp.log(base)),
        "rope-5",
        r"\d",
    ),
    ("theory.encodings.rotary.coordinates", _swapped, "rope-6", r"\d"),
    ("theory.encodings.rotary.to_halves", lambda head_dim: tuple(reversed(range(head_dim))), "rope-6", r"\d"),
]
