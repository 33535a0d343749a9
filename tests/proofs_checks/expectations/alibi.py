"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "alibi-1": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "alibi-2": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-3": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-4": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-5": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-6": (Verdict.VERIFIED, Strength.INTERVAL),
    "alibi-7": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-7-window": (Verdict.VERIFIED, Strength.BOUNDED),
}

COUNTEREXAMPLES = {
    "alibi-1": {
        "start 2^-8, ratio 2": r"head 1 of 2 has the slope 1/16 = 0.06250, not 1/256",
        "one geometric sequence for every H": r"head 1 of 3 has the slope 1/16 = 0.06250, not .* = 0.1575",
        "divided by sqrt(64) (errata F21)": r"head 1 of 1 has the slope 1/256 = 0.003906, not 1/2048",
        "from h = 0": r"head 1 of 1 has the slope 1/256 = 0.003906, not 1",
    },
    "alibi-2": {
        "for a sigmoid of each logit (errata F25)": r"entry 1: 0.952574 != 0.999089 at i = 4, j = 4, m = 1, s = 3",
        "key bias of the other sign": r"entry 1: 0.997527 != 0.500000",
        "key bias of twice the slope": r"entry 1: 0.997527 != 0.999877",
    },
    "alibi-3": {
        "-m i j / T": r"b\(j \+ s, i \+ s\) = b\(j, i\), entry 1: -39.0000 != -10.6667",
        "the key alone, as a score": r"b\(j \+ s, i \+ s\) = b\(j, i\), entry 1: 20.0000 != 16.0000",
        "growing with distance": r"b\(i \+ D, i\) = -m D, entry 1: 16.0000 != -16.0000",
    },
    "alibi-4": {
        "without e^(2C)": r"C = log\(2\), W = 1, T = 2: the largest mass at distance 1 and more is 2/3, not 1/3",
        "e^C for e^(2C)": r"C = log\(2\), W = 1, T = 2: the largest mass at distance 1 and more is 2/3, not 1/2",
        "no mass at all, a hard window": r"C = 0, W = 1, T = 2: the largest mass .* is 1/3, not 0",
        "max |v| for 2 max |v|": r"all far values V, all near ones -V.*: 6.40000 != 3.20000",
    },
    "alibi-5": {
        "for NoPE": r"C = 0, W = 1, T = 8: up to 0.8750 of the attention is beyond the window, more than 0.5000",
        "for ALiBi's bias bounded from distance 3 on": r"T = 8: up to 0.5789 .*, more than 0.5000",
        "without e^(2C)": r"C = log\(2\), W = 1, T = 8: up to 0.7987 .*, more than 0.5000",
    },
    "alibi-6": {
        "slopes from h = 0": r"slope 1: the weight falls to 1/1000 at distance 6.90775, not 13.8",
        "slopes divided by sqrt(64) (errata F21)": r"slope 1/16: .* at distance 110.524, not 13.8",
        "to 1/100": r"slope 1/2: the weight falls to 1/100 at distance 9.21034, not 13.8",
    },
    "alibi-7": {
        "two more dimensions are enough": r"T = 3: .* has rank 3, not 2: \[\[0, 1, 2\], \[1, 0, 1\], \[2, 1, 0\]\]",
        "one more than the causal form needs": r"T = 4: the matrix of -b/m has rank 4, not 3",
        "full rank in the causal form": r"T = 3: .* has rank 2, not 3: \[\[0, -1, -2\], \[1, 0, -1\], \[2, 1, 0\]\]",
    },
    "alibi-7-window": {
        "in no dimension": r"T = 3: .* one nilpotent block of size 5, .* w = \(0, 0, 7/3, 0, -4\) gives \|n\|",
        "size T": r"T = 3: the polynomial .* has degree 4, so size 5 is needed and enough, not 3",
        "size 2T - 2": r"T = 3: the polynomial .* has degree 4, so size 5 is needed and enough, not 4",
    },
}


FIGURES = {
    "alibi-1": [r"8 heads: 1/2, 1/4, 1/8, 1/16, 1/32, 1/64, 1/128, 1/256", "for 1 to 64 heads"],
    "alibi-6": [r"slope 1/2: 13.8 tokens", r"slope 1/4: 27.6 tokens", r"slope 1/256: 1768.4 tokens"],
    "alibi-7": [r"det = \(-m\)\^T \(-1\)\^\(T-1\) \(T-1\) 2\^\(T-2\)", r"T = 3: 4 \(-m\)\^3"],
    "alibi-7-window": [r"T = 3: size 5, w = \(0, 0, 7/3, 0, -4\)", r"-n\*\*4/6 \+ 7\*n\*\*2/6", "T = 8: size 15"],
}


def _steeper(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    return -2 * slope * (query_position - key_position)


def _quadratic(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    return -slope * (query_position - key_position) ** 2


def _of_both(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    return -slope * (query_position + key_position)


def _evenly(heads: int) -> tuple[sp.Expr, ...]:
    return tuple(sp.Integer(2) ** sp.Rational(-8 * head, heads) for head in range(1, heads + 1))


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.alibi.slopes", _evenly, "alibi-1", r"head 1 of 3 has the slope"),
    ("theory.encodings.alibi.slopes", lambda heads: _evenly(heads)[:-1], "alibi-1", "1 heads have 0 slopes, not 1"),
    (
        "theory.encodings.alibi._geometric_slopes",
        lambda heads: _evenly(heads)[::-1],
        "alibi-1",
        "head 1 of 2 has the slope 1/256",
    ),
    ("theory.encodings.alibi.bias", _of_both, "alibi-3", r"b\(j \+ s, i \+ s\)"),
    ("theory.encodings.alibi.bias", _steeper, "alibi-3", r"b\(i \+ D, i\) = -m D"),
    ("theory.encodings.alibi.bias", _quadratic, "alibi-2", "weight of the key"),
    ("theory.encodings.alibi.bias", _steeper, "alibi-4", "the largest mass at distance 1 and more is 1/5, not 1/3"),
    ("theory.encodings.alibi.bias", _steeper, "alibi-5", r"step: S\(a, b \+ 1\)"),
    ("theory.encodings.alibi.bias", _steeper, "alibi-6", "slope 1/2, distance 13: the weight .* is below 1/1000"),
    ("theory.encodings.alibi.bias", _quadratic, "alibi-7", "T = 4: the matrix of -b/m has rank 3, not 4"),
]
