"""Formulas rewritten in the ring of theory.ring, to see which positions they really look at."""

from fractions import Fraction

from theory import ring_functions as functions
from theory.formula import exact
from theory.formula.canonical import BY_DISTANCE, Places, element_of
from theory.formula.domain import total
from theory.formula.syntax import FormulaError, Node, may_be_irrational
from theory.ring import DISTANCE, POSITIONS, Element, Ring, TooLong, constant, frozen, plus
from theory.ring import names as names_in

_CORNERS = 3
"""So many k are tried."""


def looked_at(node: Node, known: frozenset[str]) -> frozenset[str] | None:
    """Nothing, {"d"} (for j - i), {"i"} or {"j"}, where the tree is proved to depend on that alone; None where not.

    Only what says more than `known`, what the tree is already known to depend on, is looked for.
    """
    element = element_of(node)
    if element is None:
        return None
    left = _positions(element)
    if not left or _is_zero(element):
        found: frozenset[str] | None = frozenset()
    elif len(known) == 1:
        found = None
    elif len(left) == 1:
        found = left
    else:
        by_distance = element_of(node, BY_DISTANCE)
        found = frozenset("d") if by_distance is not None and _positions(by_distance) == {DISTANCE} else None
    # Rewriting cancels, so that a division by zero somewhere would be lost.
    return found if found is not None and total(node) else None


def _positions(element: Element) -> frozenset[str]:
    return names_in(frozen(element)) & {*POSITIONS, DISTANCE}


def _is_zero(element: Element) -> bool:
    try:
        return functions.is_zero(Ring(), element)
    except TooLong:
        return False


def separates(node: Node, name: str) -> bool:
    """Whether the tree is proved to be a product (name "*") or sum ("+") of functions of i alone and of j alone.

    It is where A(i, j) A(k, k) = A(i, k) A(k, j) and A(k, k) is not zero, or A(i, j) + A(1, 1) = A(i, 1) + A(1, j):
    whatever the right side means beyond i <= k <= j, it is made of a function of i and one of j.
    """
    if not _may_separate(node, name):
        return False
    for k in range(1, _CORNERS + 1):
        at = frozen(constant(k))
        places: tuple[Places, ...] = ((), (("j", at),), (("i", at),), (("i", at), ("j", at)))
        found = [element_of(node, place) for place in places]
        if any(element is None for element in found):
            return False
        here, row, column, corner = (element for element in found if element is not None)
        if name == "+" or functions.never_zero(corner):
            try:
                gap = _gap(Ring(), name, here, row, column, corner)
                return functions.is_zero(Ring(), gap) and total(node)
            except TooLong:
                return False
    return False


def _may_separate(node: Node, name: str) -> bool:
    """Whether two keys and two queries do not tell already that a rational tree is no product, or sum."""
    if may_be_irrational(node):
        return True
    try:
        a, b, c, d = (exact.evaluate(node, {"i": i, "j": j}) for i, j in ((1, 3), (2, 4), (1, 4), (2, 3)))
    except (FormulaError, KeyError):  # no value there, or a parameter
        return True
    if not all(isinstance(value, int | Fraction) for value in (a, b, c, d)):  # a root
        return True
    return bool(a * b == c * d if name == "*" else a + b == c + d)


def _gap(ring: Ring, name: str, here: Element, row: Element, column: Element, corner: Element) -> Element:
    if name == "*":
        return plus(ring.times(here, corner), ring.times(row, column), -1)
    return plus(plus(here, corner), plus(row, column), -1)
