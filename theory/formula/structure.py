"""Which positions a formula looks at: a function of the key alone, the query alone, the distance j - i, or more.

What is recognised is proved: linear forms are compared by their coefficients, and all else is rewritten with j = i + d,
after which i must be gone.
"""

from enum import StrEnum
from functools import lru_cache

from theory.formula import Formula
from theory.formula.linear import Form, decided, linear, linear_bounds
from theory.formula.rewriting import looked_at, separates
from theory.formula.syntax import Comparison, Node, Number, Operation, children


class Structure(StrEnum):
    """How the entry of a pair depends on it; the value says it in words."""

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
    """The most special structure that is proved."""
    if "n" in formula.variables:
        return Structure.SCALE
    nodes = [settled(node) for node in formula.nodes]
    found = frozenset().union(*map(dependence, nodes))
    if not found:
        return Structure.CONSTANT
    if found in _SINGLE:
        return _SINGLE[found]
    if not formula.shape:
        for name, separable in (("*", Structure.PRODUCT), ("+", Structure.SUM)):
            if _separates(nodes[0], name):
                return separable
    return Structure.GENERAL


@lru_cache(maxsize=4096)
def dependence(node: Node) -> frozenset[str]:
    """What the value is proved to be a function of; empty for a constant.

    Some of "i", "j", "n", "d" = j - i, "n - i" and "n - j".
    """
    form = linear(node)
    if form is not None:
        return _of_form(form)
    if isinstance(node, Comparison):
        parts = [Operation("-", pair) for pair in zip(node.sides, node.sides[1:], strict=False)]
        return frozenset().union(*map(_of_difference, parts))
    found = frozenset().union(*map(dependence, children(node)))
    if found:
        rewritten = looked_at(node, found)
        return found if rewritten is None else rewritten
    return found


@lru_cache(maxsize=4096)
def settled(node: Node) -> Node:
    """The tree without those choices between linear forms that come out the same at every pair, as max(i, j) = j."""
    match node:
        case Comparison(tests=(test,), sides=sides):
            left, right = map(settled, sides)
            low, high = linear_bounds(Operation("-", (left, right)))
            found = decided(test, low, high)
            return Comparison((test,), (left, right)) if found is None else Number(int(found))
        case Comparison(tests=tests, sides=sides):
            return Comparison(tests, tuple(map(settled, sides)))
        case Operation(name="if", operands=(condition, then, otherwise)):
            tested = settled(condition)
            if isinstance(tested, Number):
                return settled(then if tested.value else otherwise)
            return Operation("if", (tested, settled(then), settled(otherwise)))
        case Operation(name="abs", operands=(inside,)):
            inner = settled(inside)
            low, high = linear_bounds(inner)
            return inner if low >= 0 else Operation("neg", (inner,)) if high <= 0 else Operation("abs", (inner,))
        case Operation(name="min" | "max" as name, operands=parts):
            kept: list[Node] = []
            for part in map(settled, parts):
                kept = _extreme(name, kept, part)
            return kept[0] if len(kept) == 1 else Operation(name, tuple(kept))
        case Operation(name=name, operands=parts):
            return Operation(name, tuple(map(settled, parts)))
    return node


def _extreme(name: str, kept: list[Node], part: Node) -> list[Node]:
    """The candidates for min or max with one more, without those that another always beats."""
    for one in kept:
        low, high = linear_bounds(Operation("-", (part, one)))
        if (low >= 0 and name == "min") or (high <= 0 and name == "max"):
            return kept
    beaten = []
    for one in kept:
        low, high = linear_bounds(Operation("-", (part, one)))
        if (high <= 0 and name == "min") or (low >= 0 and name == "max"):
            beaten.append(one)
    return [one for one in kept if one not in beaten] + [part]


def _of_form(form: Form) -> frozenset[str]:
    key, query, scale, _ = form
    if key + query + scale == 0:
        if not any((key, query, scale)):
            return frozenset()
        if 0 in (key, query, scale):
            return frozenset({"d" if not scale else "n - j" if not key else "n - i"})
    return frozenset(name for name, weight in zip("ijn", (key, query, scale), strict=True) if weight)


def _of_difference(node: Operation) -> frozenset[str]:
    return dependence(node) if linear(node) else frozenset().union(*map(dependence, node.operands))


def _separates(node: Node, name: str) -> bool:
    """Whether the tree is a product (or sum) of functions of i alone and of j alone."""
    names = (name, {"*": "/", "+": "-"}[name], "neg", "pos")
    return all(_one_sided(part) or separates(part, name) for part in _parts(node, names)) or separates(node, name)


def _parts(node: Node, names: tuple[str, ...]) -> list[Node]:
    """The operands below operations of these names, however deep they are nested."""
    if isinstance(node, Operation) and node.name in names:
        return [part for operand in node.operands for part in _parts(operand, names)]
    return [node]


def _one_sided(node: Node) -> bool:
    return dependence(node) in (frozenset(), frozenset("i"), frozenset("j"))
