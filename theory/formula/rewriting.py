"""Positions that a formula really depends on, found by rewriting it in the ring of lengthgen.theory.ring."""

from fractions import Fraction

from lengthgen.theory import ring_functions as functions
from lengthgen.theory.formula import exact
from lengthgen.theory.formula.canonical import BY_DISTANCE, Substitution, element_of
from lengthgen.theory.formula.domain import defined_everywhere
from lengthgen.theory.formula.syntax import FormulaError, Node, may_be_irrational
from lengthgen.theory.ring import DISTANCE, POSITIONS, Element, Ring, TooLong, constant, frozen, plus
from lengthgen.theory.ring import names as names_in

_CORNERS = 3
"""Number of reference positions k that are tried."""


def proved_dependence(node: Node, candidates: frozenset[str]) -> frozenset[str] | None:
    """Variables that the tree is proved to depend on: none, {"d"} (j - i), {"i"} or {"j"}; None if not proved.

    Args:
        node: the tree.
        candidates: variables that the tree is already known to depend on; only a smaller set is searched for.
    """
    element = element_of(node)
    if element is None:
        return None
    positions = _positions(element)
    if not positions or _is_zero(element):
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


def _is_zero(element: Element) -> bool:
    """True if the element is proved to be zero."""
    try:
        return functions.is_zero(Ring(), element)
    except TooLong:
        return False


def separates(node: Node, name: str) -> bool:
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
        if name == "+" or functions.never_zero(corner):
            try:
                gap = _separation_gap(Ring(), name, here, row, column, corner)
                return functions.is_zero(Ring(), gap) and defined_everywhere(node)
            except TooLong:
                return False
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
