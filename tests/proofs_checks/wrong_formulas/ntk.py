"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import rotary


def _keys_turned_back(position: sp.Expr) -> tuple[sp.Matrix, sp.Matrix]:
    turn = rotary.rotation(position * rotary.FREQUENCY)
    return turn, turn.T


WRONG: list[tuple[Any, ...]] = [
    ("rotary.ntk_base", lambda base, *, head_dim, scale: base * scale, "ntk-1"),
    ("rotary.ntk_share", lambda plane, *, head_dim: 2 * plane / head_dim, "ntk-1 ntk-2"),
    ("rotary.ntk_factor", lambda share, *, scale: scale**share, "ntk-1 ntk-2"),
    ("rotary.ntk_frequencies", lambda head_dim, base, *, scale: rotary.frequencies(head_dim, base * scale), "ntk-1"),
    ("rotary.dynamic_ntk_scale", lambda length, *, trained_length, growth: length / trained_length, "dntk-1"),
    (
        "rotary.dynamic_ntk_scale",
        lambda length, *, trained_length, growth: sp.Max(1, growth * length / trained_length),
        "dntk-1",
    ),
    ("rotary._ntk_actions", _keys_turned_back, "ntk-1 dntk-1 dntk-2"),
]
