"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import rotary

EXPECTED = {
    "ntk-1": (Verdict.VERIFIED, Strength.GENERAL),
    "ntk-2": (Verdict.VERIFIED, Strength.GENERAL),
    "dntk-1": (Verdict.VERIFIED, Strength.GENERAL),
    "dntk-2": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "ntk-1": {
        "base times s": r"d = 4: the listed frequencies, entry 2: -4\.00000 != -2\.00000 at S = 4",
        "exponent (d-2)/d": r"d = 4: the listed frequencies, entry 2: -4\.00000 != -1\.00000 at S = 4",
    },
    "ntk-2": {
        "as in position interpolation": r"ln of the first factor, entry 1: -4.00000 != 0 at S = 4",
        "fast planes slowed most": r"ln of the first factor, entry 1: -4.00000 != 0 at S = 4",
    },
    "dntk-1": {
        "alpha T / L": r"alpha = 4, L = 4, T = 4: the scale is 4$",
        "without the maximum": r"alpha = 4, L = 4, T = 1: the scale is -2$",
    },
    "dntk-2": {
        "keys cached as they arrived": r"key 3 scores 0.961, key 23 1.435; turned for n = 64 both score 0.83",
        "keys turned for half the length": r"distance 40: key 3 scores 0.8707, key 23 1.006",
    },
}


FIGURES = {
    "dntk-2": (
        r"keys 3 and 23 score 0\.83, and as turned on arrival 0\.961 and 1\.435",
        r"78 pairs of distance and length up to n = 12 have a label each",
    ),
}


def _keys_turned_back(position: sp.Expr) -> tuple[sp.Matrix, sp.Matrix]:
    turn = rotary.rotation(position * rotary.FREQUENCY)
    return turn, turn.T


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.ntk.scaled_base", lambda base, *, head_dim, scale: base * scale, "ntk-1", r"\d"),
    ("theory.encodings.ntk.share", lambda plane, *, head_dim: 2 * plane / head_dim, "ntk-1", r"\d"),
    ("theory.encodings.ntk.share", lambda plane, *, head_dim: 2 * plane / head_dim, "ntk-2", r"\d"),
    ("theory.encodings.ntk.factor", lambda share, *, scale: scale**share, "ntk-1", r"\d"),
    ("theory.encodings.ntk.factor", lambda share, *, scale: scale**share, "ntk-2", r"\d"),
    (
        "theory.encodings.ntk.frequencies",
        lambda head_dim, base, *, scale: rotary.frequencies(head_dim, base * scale),
        "ntk-1",
        r"\d",
    ),
    (
        "theory.encodings.ntk.dynamic_scale",
        lambda length, *, trained_length, growth: length / trained_length,
        "dntk-1",
        r"\d",
    ),
    (
        "theory.encodings.ntk.dynamic_scale",
        lambda length, *, trained_length, growth: sp.Max(1, growth * length / trained_length),
        "dntk-1",
        r"\d",
    ),
    ("theory.encodings.ntk._turned", _keys_turned_back, "ntk-1", r"\d"),
    ("theory.encodings.ntk._turned", _keys_turned_back, "dntk-1", r"\d"),
    ("theory.encodings.ntk._turned", _keys_turned_back, "dntk-2", r"\d"),
]
