"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from theory.encodings import rotary


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
    ("theory.encodings.ntk._actions", _keys_turned_back, "ntk-1", r"\d"),
    ("theory.encodings.ntk._actions", _keys_turned_back, "dntk-1", r"\d"),
    ("theory.encodings.ntk._actions", _keys_turned_back, "dntk-2", r"\d"),
]
