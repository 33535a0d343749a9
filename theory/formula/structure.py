"""Structure of a formula: a function of the key alone, the query alone, the distance j - i, or a more general one.

Every structure that is reported is proved. Linear forms are compared by their coefficients. Other formulas are
rewritten in the ring of lengthgen.theory.zero.ring, as they are or with j = i + d, and depend on the positions that are
left. That a formula is a product or a sum of a function of i and one of j is an identity in the ring.
"""

from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from lengthgen.theory.formula import Formula, exact
from lengthgen.theory.formula.canonical import BY_DISTANCE, Substitution, element_of
from lengthgen.theory.formula.definedness import defined_everywhere
from lengthgen.theory.formula.linear import Form, decided, linear, linear_bounds
from lengthgen.theory.formula.syntax import (
    ComparisonChain,
    FormulaError,
    Node,
    Number,
    Operation,
    children,
    may_be_irrational,
)
from lengthgen.theory.zero import ring_functions
from lengthgen.theory.zero.ring import DISTANCE, POSITIONS, Element, Ring, TooLong, constant, frozen, plus
from lengthgen.theory.zero.ring import names as names_in

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
    element = element_of(node)
    if element is None:
        return None
    positions = _positions(element)
    if not positions or ring_functions.is_zero(element):
        variables: frozenset[str] | None = frozenset()
    elif len(candidates) == 1:
        variables = None
    elif len(positions) == 1:
        variables = positions
    else:
        by_distance = element_of(node, BY_DISTANCE)
        variables = frozenset("d") if by_distance is not None and _positions(by_distance) == {DISTANCE} else None
    # Rewriting cancels terms and could hide a division by zero, so the tree must have a value at every pair.
    return variables if variables is not None and defined_everywhere(node) else None


def _positions(element: Element) -> frozenset[str]:
    """Positions and distance that occur in an element."""
    return names_in(frozen(element)) & {*POSITIONS, DISTANCE}


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
    A(i, j) + A(1, 1) = A(i, 1) + A(1, j).  The right side consists of a function of i and one of j, whatever it means
    outside i <= k <= j.
    """
    if not _may_separate(node, name):
        return False
    for k in range(1, _CORNERS + 1):
        at = frozen(constant(k))
        substitutions: tuple[Substitution, ...] = ((), (("j", at),), (("i", at),), (("i", at), ("j", at)))
        elements = [element_of(node, substitution) for substitution in substitutions]
        if any(element is None for element in elements):
            return False
        here, row, column, corner = (element for element in elements if element is not None)
        if name == "+" or ring_functions.never_zero(corner):
            try:
                gap = _separation_gap(Ring(), name, here, row, column, corner)
            except TooLong:
                return False
            return ring_functions.is_zero(gap) and defined_everywhere(node)
    return False


def _may_separate(node: Node, name: str) -> bool:
    """False if two keys and two queries already show that a rational tree is no product, or no sum."""
    if may_be_irrational(node):
        return True
    try:
        a, b, c, d = (exact.evaluate(node, {"i": i, "j": j}) for i, j in ((1, 3), (2, 4), (1, 4), (2, 3)))
    except (FormulaError, KeyError):  # no value at one of the pairs, or a parameter occurs
        return True
    if not all(isinstance(value, int | Fraction) for value in (a, b, c, d)):  # an irrational value
        return True
    return bool(a * b == c * d if name == "*" else a + b == c + d)


def _separation_gap(ring: Ring, name: str, here: Element, row: Element, column: Element, corner: Element) -> Element:
    """Difference that is zero iff the tree separates at this reference position."""
    if name == "*":
        return plus(ring.times(here, corner), ring.times(row, column), -1)
    return plus(plus(here, corner), plus(row, column), -1)


@lru_cache(maxsize=4096)
def simplify_choices(node: Node) -> Node:
    """Tree without choices between linear forms whose outcome is the same at every pair: max(i, j) = j."""
    match node:
        case ComparisonChain(tests=(test,), sides=sides):
            left, right = map(simplify_choices, sides)
            low, high = linear_bounds(Operation("-", (left, right)))
            outcome = decided(test, low, high)
            return ComparisonChain((test,), (left, right)) if outcome is None else Number(int(outcome))
        case ComparisonChain(tests=tests, sides=sides):
            return ComparisonChain(tests, tuple(map(simplify_choices, sides)))
        case Operation(name="if", operands=(condition, then, otherwise)):
            simple_condition = simplify_choices(condition)
            if isinstance(simple_condition, Number):
                return simplify_choices(then if simple_condition.value else otherwise)
            return Operation("if", (simple_condition, simplify_choices(then), simplify_choices(otherwise)))
        case Operation(name="abs", operands=(operand,)):
            inner = simplify_choices(operand)
            low, high = linear_bounds(inner)
            return inner if low >= 0 else Operation("neg", (inner,)) if high <= 0 else Operation("abs", (inner,))
        case Operation(name="min" | "max" as name, operands=parts):
            candidates: list[Node] = []
            for part in map(simplify_choices, parts):
                candidates = _add_candidate(name, candidates, part)
            return candidates[0] if len(candidates) == 1 else Operation(name, tuple(candidates))
        case Operation(name=name, operands=parts):
            return Operation(name, tuple(map(simplify_choices, parts)))
    return node


def _add_candidate(name: str, candidates: list[Node], part: Node) -> list[Node]:
    """Candidates for min or max with one more added, without those that another candidate always beats."""
    for candidate in candidates:
        low, high = linear_bounds(Operation("-", (part, candidate)))
        if (low >= 0 and name == "min") or (high <= 0 and name == "max"):
            return candidates
    beaten = []
    for candidate in candidates:
        low, high = linear_bounds(Operation("-", (part, candidate)))
        if (high <= 0 and name == "min") or (low >= 0 and name == "max"):
            beaten.append(candidate)
    return [candidate for candidate in candidates if candidate not in beaten] + [part]
