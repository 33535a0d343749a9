"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import fox

EXPECTED = {
    "fox-1": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-2": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-3": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-4": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-5": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-6": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-7": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-8": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-9": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-10": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-11": (Verdict.VERIFIED, Strength.NUMERIC),
    "fox-12": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-13": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}

COUNTEREXAMPLES = {
    "fox-1": {
        "gate of the key included": r"base: exp\(D_ii\) = F_ii, entry 1: 1.00000 != 54.5982 at log_f\[i\] = 4",
        "gates one step early": r"step: .*: 2980.96 != 148.413 at D = 4, log_f\[j \+ 1\] = 4",
        "gates added, not multiplied": r"base: exp\(D_ii\) = F_ii, entry 1: 1.00000 != 0",
    },
    "fox-2": {
        "f = m": r"step: .*: 1.00000 != 0.367879 at i = 4, j = 4, m = 1",
        "f = e^m": r"step: .*: 2.71828 != 0.367879 at i = 4, j = 4, m = 1",
        "f = 1 - m": r"step: .*: 0 != 0.367879 at i = 4, j = 4, m = 1",
    },
    "fox-3": {
        "0, exactly NoPE": r"e\^-z = 1/4: -log f exceeds the bound by 0\.22314",
        "at most e^-2z": r"e\^-z = 1/4: -log f exceeds the bound by 0.16064",
        "at most e^-z / 2": r"e\^-z = 1/4: -log f exceeds the bound by 0.098144",
    },
    "fox-4": {
        "gate applied after the write": r"base t = i: .*: 16.0000 != 4.00000 at f = 4, w = 4",
        "write weighed by 1 - f": r"base t = i: .*: -12.0000 != 4.00000 at f = 4, w = 4",
        "state not gated": r"step: F_i,t\+1 w, entry 1: 4.00000 != 218.393",
    },
    "fox-5": {
        "the other sign": r"D_i,j\+1 - D_ij = 1 where the gate passed is e\^-1",
        "the gate of the query left out": r"D_ii: the path from a position to itself has -1 terms",
        "gate of the key included": r"D_ii = 0, entry 1: 4.00000 != 0 at log_f\[i\] = 4",
    },
    "fox-6": {
        "Cable(W, b) = FoX(W, b)": r"exp\(-softplus\(z\)\) = sigma\(-z\), entry 1: 0.982014 != 0.0179862 at z = 4",
        "I - psi E for I + psi E": r"= q.k \+ c_j - c_i, entry 1: -1.00000 != 3.00000 at c = 1, c_i = 1, c_j = 3",
        "links transposed": r"= q.k \+ c_j - c_i, entry 1: 1.00000 != 3.00000 at c = 1, c_i = 1, c_j = 3",
    },
    "fox-7": {
        "a token between them taken out": r"base: D_i,i\+1, entry 1: 0 != 4.00000 at log_f\[i \+ 1\] = 4",
        "two tokens named away": r"base: D_i,i\+1, entry 1: 5.00000 != 1.00000 at log_f\[i \+ 1\] = 1, log_f\[i\] = 4",
        "gates stay where they were": r"base: D_i,i\+1, entry 1: 3.00000 != 1.00000 at .*log_f\[i\] = 3",
    },
    "fox-8": {
        "sigmoid attention": r"what is kept, entry 1: 0.731059 != 0.500000 at S_i = 4, c_i = 4, c_j = 1",
        "the key's part dropped": r"what is kept, entry 1: 0.982014 != 0.500000 at .*c_i = 1, c_j = 3, c_k = 5",
        "+c_i": r"what is kept, entry 1: 0.982014 != 0.0179862 at .*c_i = 1, c_j = 3, c_k = 5",
    },
    "fox-9": {
        "without 2U": r"T = 64, U = 3, eps = 0.00674: .* D = -9.1589 .* loses 0.728 of its mass",
        "U for 2U": r"T = 64, U = 3, eps = 0.00674: .* D = -12.159 .* loses 0.118 of its mass",
        "without log T": r"T = 64, U = 3, eps = 0.00674: .* D = -11.000 .* loses 0.298 of its mass",
    },
    "fox-10": {
        "b = log T": r"with r = 1/T, entry 1: 0.200000 != 0.0183156 at r = 4",
        "b = log T - 1/(2T)": r"with r = 1/T, entry 1: 0.0327266 != 0.0183156 at r = 4",
        "b = log(e^(1/T) - 1)": r"with r = 1/T, entry 1: 0.981684 != 0.0183156 at r = 4",
    },
    "fox-11": {
        "float32 prefix over the whole sequence": r"T = 65536, 1 gates: 0 for -0.001001, off by 0.001, more than 6e-11",
        "float32 prefix accurate to 0.1": r"T = 65536, 200 gates: 0 for -0.2001, off by 0.2, more than 0.1",
        "bfloat16 prefix of 4096 gates accurate to 0.01": r"2000 gates: 0 for -2.001, off by 2, more than 0.01",
    },
    "fox-12": {
        "not positive there": r"the next key's bias, entry 1: 4.00000 != -4.00000 at p = 4",
        "zero there": r"the next key's bias, entry 1: 4.00000 != 0 at p = 4",
    },
    "fox-13": {
        "the separator is hidden too": r"word 01000000: F = 1 for key 0 and query 1",
        "the separator sees what is before it": r"word 00000000: F = 0 for key 0 and query 1",
        "one gate for all tokens": r"word 01000000: F = 0 for key 0 and query 1",
    },
}


FIGURES = {
    "fox-3": (r"-log sigma\(20\) = 2.06115e-9; float32 rounds sigma\(20\) to 1.0",),
    "fox-9": (r"U = 3, eps = e\^-5 = 0.006738: loses 0.006589",),
    "fox-10": (r"T = 10: b - log T = -0.0504166, -1/\(2T\) = -0.05",),
    "fox-11": (
        r"running sum at the end: -1.501e\+05",
        r"200 gates, D = -0.2001: off by .e-08, allowed 2e-06; by 0 from a float64 prefix",
    ),
    "fox-13": (r"all 256 words of 8 gates, all 36 pairs",),
}


STEP = sp.Symbol("l", integer=True)


def _with_the_key(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(fox.LOG_GATES[STEP], (STEP, key, query))


def _gates_with_the_key(*, key: sp.Expr, query: sp.Expr) -> sp.Product:
    return sp.Product(sp.exp(fox.LOG_GATES[STEP]), (STEP, key, query))


def _up_to_the_query(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return sp.Sum(fox.LOG_GATES[STEP], (STEP, key + 1, query - 1))


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.fox.log_gate", lambda logit: -sp.log(1 + sp.exp(logit)), "fox-3", r"\d"),
    ("theory.encodings.fox.log_gate", lambda logit: -sp.log(1 + sp.exp(logit)), "fox-6", r"\d"),
    ("theory.encodings.fox.log_gate", lambda logit: -sp.log(2 + sp.exp(-logit)), "fox-10", r"\d"),
    ("theory.encodings.fox.path_bias", _with_the_key, "fox-2", r"\d"),
    ("theory.encodings.fox.path_bias", _with_the_key, "fox-7", r"\d"),
    ("theory.encodings.fox.path_bias", _with_the_key, "fox-8", r"\d"),
    ("theory.encodings.fox.path_bias", _with_the_key, "fox-11", r"\d"),
    ("theory.encodings.fox.path_bias", _up_to_the_query, "fox-12", r"\d"),
    ("theory.encodings.fox.path_gate", _gates_with_the_key, "fox-4", r"\d"),
    ("theory.encodings.fox.path_gate", _gates_with_the_key, "fox-13", r"\d"),
    (
        "theory.encodings.fox.constant_bias",
        lambda gate, *, query_position, key_position: gate * (key_position - query_position),
        "fox-2",
        r"\d",
    ),
    ("theory.encodings.fox.timescale_logit", lambda timescale: -sp.log(sp.exp(1 / timescale) + 1), "fox-10", r"\d"),
    ("theory.encodings.fox.timescales", lambda heads, *, shortest, longest: (shortest,) * heads, "fox-10", r"\d"),
    (
        "theory.encodings.fox.timescales",
        lambda heads, *, shortest, longest: tuple(range(2, 2 + heads)),
        "fox-10",
        r"\d",
    ),
    ("theory.encodings.fox.recurrent_state", lambda state, *, gate, written: gate * (state + written), "fox-4", r"\d"),
    ("theory.encodings.fox.link", lambda *, log_gate: sp.Matrix([[1, 0], [log_gate, 1]]), "fox-6", r"\d"),
    ("theory.encodings.fox.cable_log_gate", lambda logit: -sp.log(1 + sp.exp(-logit)), "fox-6", r"\d"),
    (
        "theory.encodings.fox.pruning_threshold",
        lambda *, bound, keys, mass: -(bound + sp.log(keys)) + sp.log(mass),
        "fox-9",
        r"\d",
    ),
    ("theory.encodings.fox.pruning_threshold", lambda *, bound, keys, mass: -2 * bound + sp.log(mass), "fox-9", r"\d"),
]
