"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import rotary

RIGHT_SLOPES = rotary.swat_slopes


def _all_rising(heads: int, kind: rotary.SwatSlopes = "balanced") -> tuple[sp.Expr, ...]:
    return tuple(abs(slope) for slope in RIGHT_SLOPES(heads, kind))


def _thirds(heads: int, kind: rotary.SwatSlopes = "balanced") -> tuple[sp.Expr, ...]:
    return tuple(sp.sign(slope) * sp.Integer(3) ** sp.log(abs(slope), 2) for slope in RIGHT_SLOPES(heads, kind))


WRONG: list[tuple[Any, ...]] = [
    ("rotary.swat_weight", sp.exp, "swat-5 swat-6 swat-7 swat-9"),
    ("rotary.swat_weight", lambda logit: 1 / (1 + sp.exp(logit)), "swat-6 swat-9"),
    ("rotary.swat_weight", lambda logit: sp.exp(logit) / (5 + sp.exp(logit)), "swat-1 swat-7"),
    ("rotary.swat_weight", lambda logit: 1 / (1 + sp.exp(-logit / 2)), "swat-5 swat-6"),
    ("rotary.swat_slopes", _all_rising, "swat-7 swat-10"),
    ("rotary.swat_slopes", _thirds, "swat-10"),
    ("rotary.swat_receptive_field", lambda *, window, layers: window**layers, "swat-2"),
    ("rotary.swat_receptive_field", lambda *, window, layers: window * layers, "swat-2"),
]
