"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import fire
from lengthgen.theory.relation import absolute, relative


def _without_threshold(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return fire.psi(distance, rate=rate) / fire.psi(query_position, rate=rate)


def _with_the_smaller(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return fire.psi(distance, rate=rate) / fire.psi(sp.Min(query_position, threshold), rate=rate)


WRONG: list[tuple[Any, ...]] = [
    ("fire.psi", lambda distance, *, rate: rate * distance, "fire-1", r"e\^psi\(x\) = c x \+ 1"),
    ("fire.psi", lambda distance, *, rate: sp.log(rate * distance + 2), "fire-1", r"e\^psi\(x\) = c x \+ 1"),
    ("fire.fraction", _with_the_smaller, "fire-1", r"the input is 1\.\d+"),
    ("fire.fraction", _without_threshold, "fire-2", r"L = 3, D = 1: the input is .*, so not relative up to j = 3"),
    ("fire.relation", lambda threshold: relative(), "fire-2", r"label 1 has the inputs"),
    ("fire.relation", lambda threshold: absolute(), "fire-2", r"L = 1: the relation has 36 labels"),
    (
        "fire.recovered_distance",
        lambda part, *, threshold, rate: sp.exp(part * fire.psi(threshold, rate=rate)) / rate,
        "fire-3",
        "f of the input: -1.000 is not 0",
    ),
    ("fire.recovered_distance", lambda part, *, threshold, rate: part * threshold, "fire-4", "the input at D = 1"),
    ("fire.HIDDEN", 31, "fire-3-width", "the network has 31 units, not 32"),
]
