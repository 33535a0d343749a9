"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import fire
from theory.relation import absolute, relative

EXPECTED = {
    "fire-1": (Verdict.VERIFIED, Strength.GENERAL),
    "fire-2": (Verdict.VERIFIED, Strength.GENERAL),
    "fire-3": (Verdict.VERIFIED, Strength.GENERAL),
    "fire-3-width": (Verdict.VERIFIED, Strength.BOUNDED),
    "fire-4": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "fire-1": {
        "divided by psi(L) alone": r"c = 1/10, L = 1/2, j = 2, D = 1: the input is 1.953",
        "positions counted from 0, as in the listing": r"c = 1/10, L = 1/2, j = 2, D = 1: the input is 1.000",
    },
    "fire-2": {
        "for every query": r"L = 1, D = 1: the input is 0.6309 at j = 2, 0.5000 at j = 3, so not relative up to j = 8",
        "up to L + 1": r"L = 2, D = 1: the input is 0.6309 at j = 2, 0.5000 at j = 3, so not relative up to j = 3",
        "up to L - 1": r"L = 3, D = 1: the input is 0.5000 at j = 2, 0.5000 at j = 3, so not only relative up to j = 2",
    },
    "fire-3": {
        "exact at j = L + 1": r"c = 1, L = 1, j = 2, D = 1, m = 1: f of the input: -0.5486 is not -1.000",
        "f linear": r"c = 1, L = 2, j = 2, D = 1, m = 1: f of the input: -1.262 is not -1.000",
        "without the 1 taken off": r"c = 1, L = 1, j = 1, D = 0, m = 1: f of the input: -1.000 is not 0",
    },
    "fire-3-width": {
        "n - 3 units, or 1": r"4 distances: the table \[0, 1, 0, 1\] forces 2 kinks, 1 units have less",
        "n - 2 units": r"2 distances, 0 units, any table, entry 2: 1.00000 != -11.0000",
        "the rule of 16 buckets": r"the buckets, \+1 and -1 in turn, force 22 kinks on 128 distances: not 45,",
        "buckets paired": r"the buckets, \+1 and -1 in turn, force 23 kinks on 128 distances: not 45,",
    },
    "fire-4": {
        "equal at equal distances": r"c = 1, L = 1/2, j = 2: the input at D = 1, .* 1.000: 0.6309 is not 1.710",
        "distances scaled by L/j": r"c = 1, L = 1/2, j = 2: the input at D = 1, .* 0.2500: 0.6309 is not 0.5503",
    },
}


FIGURES = {
    "fire-3": [r"c = 1, L = 1, j = 3, D = 2: -0.7320 for -2", r"T5: .*w\[Bucket\(D, 32, 128\)\]"],
    "fire-3-width": [r"force 45 kinks on 128 distances, the published network has 32 units; from 54 distances on"],
}


def _without_threshold(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return fire.psi(distance, rate=rate) / fire.psi(query_position, rate=rate)


def _with_the_smaller(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return fire.psi(distance, rate=rate) / fire.psi(sp.Min(query_position, threshold), rate=rate)


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.fire.psi", lambda distance, *, rate: rate * distance, "fire-1", r"e\^psi\(x\) = c x \+ 1"),
    (
        "theory.encodings.fire.psi",
        lambda distance, *, rate: sp.log(rate * distance + 2),
        "fire-1",
        r"e\^psi\(x\) = c x \+ 1",
    ),
    ("theory.encodings.fire.fraction", _with_the_smaller, "fire-1", r"the input is 1\.\d+"),
    (
        "theory.encodings.fire.fraction",
        _without_threshold,
        "fire-2",
        r"L = 3, D = 1: the input is .*, so not relative up to j = 3",
    ),
    ("theory.encodings.fire.relation", lambda threshold: relative(), "fire-2", r"label 1 has the inputs"),
    ("theory.encodings.fire.relation", lambda threshold: absolute(), "fire-2", r"L = 1: the relation has 36 labels"),
    (
        "theory.encodings.fire.recovered_distance",
        lambda part, *, threshold, rate: sp.exp(part * fire.psi(threshold, rate=rate)) / rate,
        "fire-3",
        "f of the input: -1.000 is not 0",
    ),
    (
        "theory.encodings.fire.recovered_distance",
        lambda part, *, threshold, rate: part * threshold,
        "fire-4",
        "the input at D = 1",
    ),
    ("theory.encodings.fire.HIDDEN", 31, "fire-3-width", "the network has 31 units, not 32"),
]
