"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp


def _steeper(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    return -2 * slope * (query_position - key_position)


def _quadratic(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    return -slope * (query_position - key_position) ** 2


def _of_both(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    return -slope * (query_position + key_position)


def _evenly(heads: int) -> tuple[sp.Expr, ...]:
    return tuple(sp.Integer(2) ** sp.Rational(-8 * head, heads) for head in range(1, heads + 1))


WRONG: list[tuple[Any, ...]] = [
    ("biases.alibi_slopes", _evenly, "alibi-1", r"head 1 of 3 has the slope"),
    ("biases.alibi_slopes", lambda heads: _evenly(heads)[:-1], "alibi-1", "1 heads have 0 slopes, not 1"),
    ("biases._geometric_slopes", lambda heads: _evenly(heads)[::-1], "alibi-1", "head 1 of 2 has the slope 1/256"),
    ("biases.alibi_bias", _of_both, "alibi-3", r"b\(j \+ s, i \+ s\)"),
    ("biases.alibi_bias", _steeper, "alibi-3", r"b\(i \+ D, i\) = -m D"),
    ("biases.alibi_bias", _quadratic, "alibi-2", "weight of the key"),
    ("biases.alibi_bias", _steeper, "alibi-4", "the largest mass at distance 1 and more is 1/5, not 1/3"),
    ("biases.alibi_bias", _steeper, "alibi-5", r"step: S\(a, b \+ 1\)"),
    ("biases.alibi_bias", _steeper, "alibi-6", "slope 1/2, distance 13: the weight .* is below 1/1000"),
    ("biases.alibi_bias", _quadratic, "alibi-7", "T = 4: the matrix of -b/m has rank 3, not 4"),
]
