"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import biases
from lengthgen.theory.relation import absolute, relative


def _without_threshold(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return biases.fire_psi(distance, rate=rate) / biases.fire_psi(query_position, rate=rate)


def _with_the_smaller(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return biases.fire_psi(distance, rate=rate) / biases.fire_psi(sp.Min(query_position, threshold), rate=rate)


WRONG: list[tuple[Any, ...]] = [
    ("biases.fire_psi", lambda distance, *, rate: rate * distance, "fire-1", r"e\^psi\(x\) = c x \+ 1"),
    ("biases.fire_psi", lambda distance, *, rate: sp.log(rate * distance + 2), "fire-1", r"e\^psi\(x\) = c x \+ 1"),
    ("biases.fire_fraction", _with_the_smaller, "fire-1", r"the input is 1\.\d+"),
    (
        "biases.fire_fraction",
        _without_threshold,
        "fire-2",
        r"L = 3, D = 1: the input is .*, so not relative up to j = 3",
    ),
    ("biases.fire_relation", lambda threshold: relative(), "fire-2", r"label 1 has the inputs"),
    ("biases.fire_relation", lambda threshold: absolute(), "fire-2", r"L = 1: the relation has 36 labels"),
    (
        "biases.fire_distance",
        lambda part, *, threshold, rate: sp.exp(part * biases.fire_psi(threshold, rate=rate)) / rate,
        "fire-3",
        "f of the input: -1.000 is not 0",
    ),
    ("biases.fire_distance", lambda part, *, threshold, rate: part * threshold, "fire-4", "the input at D = 1"),
    ("biases.FIRE_HIDDEN", 31, "fire-3-width", "the network has 31 units, not 32"),
]
