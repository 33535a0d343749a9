"""Wrong formulas of graph ALiBi that the claims refute."""

from typing import Any

import sympy as sp


def _rising(slope: sp.Expr, *, hops: sp.Expr) -> sp.Expr:
    return slope * hops


def _squared(slope: sp.Expr, *, hops: sp.Expr) -> sp.Expr:
    return -slope * hops**2


WRONG: list[tuple[Any, ...]] = [
    ("biases.graph_alibi_bias", _rising, "graph-alibi-2-path", "bias, key before the query"),
    ("biases.graph_alibi_bias", _squared, "graph-alibi-2-path", "bias, key before the query"),
    ("biases.graph_alibi_bias", _rising, "graph-alibi-6", "weight at r hops"),
    ("biases.graph_alibi_bias", _squared, "graph-alibi-6", "weight at r hops"),
    ("biases.graph_alibi_bias", _squared, "graph-alibi-6-trees", "weight of the sphere"),
    ("biases.graph_alibi_bias", _rising, "graph-alibi-7", "difference of these sums"),
]
