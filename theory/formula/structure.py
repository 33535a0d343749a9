"""Structure of a formula: a function of the key alone, the query alone, the distance j - i, or a more general one.

Every structure that is reported is proved. Linear forms are compared by their coefficients. Another formula does not
depend on a position if it keeps its value when the position moves by 1, and depends on j - i if it does when i and j
move together. That, and that it is a product or a sum of a function of i and one of j, are identities of expressions
(`lengthgen.theory.formula.canonical`).
"""

from collections.abc import Collection
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from lengthgen.theory.formula import Formula, exact
from lengthgen.theory.formula.canonical import (
    KEY,
    POSITIONS,
    QUERY,
    SCALE,
    expression_of,
    never_zero,
    surely_nonzero,
    vanishes,
)
from lengthgen.theory.formula.definedness import defined_everywhere
from lengthgen.theory.formula.linear import Form, linear, simplify_choices
from lengthgen.theory.formula.syntax import ComparisonChain, FormulaError, Node, Operation, children, may_be_irrational

_PAIRS = tuple({"i": i, "j": j, "n": n} for i, j, n in ((1, 2, 4), (1, 4, 5), (2, 3, 5), (3, 5, 6)))
"""Pairs at which values may show at once that a tree depends on a position; the key is below the query."""
_CORNERS = 3
"""Number of reference positions k that are tried."""


class Structure(StrEnum):
    """Dependence of an entry on its pair; each value is a description in words."""

    CONSTANT = "the same at every pair"
    TOEPLITZ = "a function of the distance j - i (Toeplitz)"
    KEY = "a function of the key i alone"
    QUERY = "a function of the query j alone"
    PRODUCT = "separable: a function of i times a function of j"
    SUM = "separable: a function of i plus a function of j"
    GENERAL = "a function of i and j"
    SCALE = "a function of i, j and the scale n"


_SINGLE = {frozenset("i"): Structure.KEY, frozenset("j"): Structure.QUERY, frozenset("d"): Structure.TOEPLITZ}


def structure(formula: Formula) -> Structure:
    """Most special structure that is proved for the formula."""
    if "n" in formula.variables:
        return Structure.SCALE
    nodes = [simplify_choices(node) for node in formula.nodes]
    variables = frozenset().union(*map(dependence, nodes))
    if not variables:
        return Structure.CONSTANT
    if variables in _SINGLE:
        return _SINGLE[variables]
    if not formula.shape:
        for name, separable in (("*", Structure.PRODUCT), ("+", Structure.SUM)):
            if _separates(nodes[0], name):
                return separable
    return Structure.GENERAL


@lru_cache(maxsize=4096)
def dependence(node: Node) -> frozenset[str]:
    """Set of variables that the value is proved to be a function of; empty for a constant.

    The elements are among "i", "j", "n", "d" = j - i, "n - i" and "n - j".
    """
    form = linear(node)
    if form is not None:
        return _dependence_of_form(form)
    if isinstance(node, ComparisonChain):
        parts = [Operation("-", pair) for pair in zip(node.sides, node.sides[1:], strict=False)]
        return frozenset().union(*map(_dependence_of_difference, parts))
    variables = frozenset().union(*map(dependence, children(node)))
    rewritten = _proved_dependence(node, variables) if variables else None
    return variables if rewritten is None else rewritten


def _dependence_of_form(form: Form) -> frozenset[str]:
    """Variables that a linear form depends on."""
    key, query, scale, _ = form
    if key + query + scale == 0:
        if not any((key, query, scale)):
            return frozenset()
        if 0 in (key, query, scale):
            return frozenset({"d" if not scale else "n - j" if not key else "n - i"})
    return frozenset(name for name, weight in zip("ijn", (key, query, scale), strict=True) if weight)


def _dependence_of_difference(node: Operation) -> frozenset[str]:
    """Variables that a comparison of two sides depends on."""
    return dependence(node) if linear(node) else frozenset().union(*map(dependence, node.operands))


def _proved_dependence(node: Node, candidates: frozenset[str]) -> frozenset[str] | None:
    """Variables that the tree is proved to depend on: none, {"d"} (j - i), {"i"} or {"j"}; None if not proved.

    Args:
        node: the tree.
        candidates: variables that the tree is already known to depend on; only a smaller set is searched for.
    """
    if all(_changes(node, moved) for moved in ("i", "j", "ij")):
        return None
    expression = expression_of(node)
    if expression is None:
        return None
    variables: str | None = None
    if vanishes(expression) or all(_unchanged(node, expression, position) for position in POSITIONS):
        variables = ""
    elif len(candidates) > 1 and SCALE not in expression.free_symbols:
        moves = {"i": (QUERY,), "j": (KEY,), "d": (KEY, QUERY)}
        variables = next((name for name, moved in moves.items() if _unchanged(node, expression, *moved)), None)
    # Rewriting cancels terms and could hide a division by zero, so the tree must have a value at every pair.
    return frozenset(variables) if variables is not None and defined_everywhere(node) else None


def _unchanged(node: Node, expression: sp.Expr, *moved: sp.Symbol) -> bool:
    """True if the tree, which is this expression, is proved to keep its value when these positions move by 1."""
    if not expression.free_symbols.intersection(moved):
        return True
    change = expression.xreplace({position: position + 1 for position in moved}) - expression
    if _changes(node, [position.name for position in moved]) or surely_nonzero(change):
        return False
    after = expression_of(node, tuple((position.name, position + 1) for position in moved))
    return after is not None and vanishes(after - expression)


def _changes(node: Node, moved: Collection[str]) -> bool:
    """True if values at some pairs show that the tree does not keep its value when these positions move by 1."""
    return any(_value(node, at) != _value(node, {name: at[name] + (name in moved) for name in at}) for at in _PAIRS)


def _value(node: Node, at: dict[str, int]) -> Any:
    """Value at a pair, if it is rational and has no parameters; None for any other, about which nothing is said."""
    try:
        value = None if may_be_irrational(node) else exact.evaluate(node, at)
    except (FormulaError, KeyError):
        return None
    return value if isinstance(value, int | Fraction) else None


def _separates(node: Node, name: str) -> bool:
    """True if the tree is proved to be a product (or sum) of functions of i alone and of j alone."""
    names = (name, {"*": "/", "+": "-"}[name], "neg", "pos")
    return all(
        _depends_on_one_side(part) or _separates_as_a_whole(part, name) for part in _flatten(node, names)
    ) or _separates_as_a_whole(node, name)


def _flatten(node: Node, names: tuple[str, ...]) -> list[Node]:
    """Operands below nested operations with one of these names."""
    if isinstance(node, Operation) and node.name in names:
        return [part for operand in node.operands for part in _flatten(operand, names)]
    return [node]


def _depends_on_one_side(node: Node) -> bool:
    """True if the tree is proved to depend on i alone, on j alone, or on neither."""
    return dependence(node) in (frozenset(), frozenset("i"), frozenset("j"))


def _separates_as_a_whole(node: Node, name: str) -> bool:
    """True if the tree is proved to be a product (name "*") or sum ("+") of a function of i and a function of j.

    It is a product if A(i, j) A(k, k) = A(i, k) A(k, j) and A(k, k) is not zero; it is a sum if
    A(i, j) + A(1, 1) = A(i, 1) + A(1, j). The right side consists of a function of i and one of j, whatever it means
    outside i <= k <= j.
    """
    if not _may_separate(node, name):
        return False
    for k in map(sp.Integer, range(1, _CORNERS + 1)):
        places = ((), (("j", k),), (("i", k),), (("i", k), ("j", k)))
        parts: list[Any] = [expression_of(node, place) for place in places]
        if None in parts:
            return False
        here, row, column, corner = parts
        if name == "+" or never_zero(corner):
            gap = here * corner - row * column if name == "*" else here + corner - row - column
            return vanishes(gap) and defined_everywhere(node)
    return False


def _may_separate(node: Node, name: str) -> bool:
    """False if two keys and two queries already show that a rational tree is no product, or no sum."""
    a, b, c, d = (_value(node, {"i": i, "j": j}) for i, j in ((1, 3), (2, 4), (1, 4), (2, 3)))
    return None in (a, b, c, d) or bool(a * b == c * d if name == "*" else a + b == c + d)
