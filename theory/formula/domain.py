"""Where a formula has no value: by division by zero, a root or logarithm outside its domain, gcd of what is not whole.

Each such operation gives a condition, a formula of its own, that holds at the pairs where the operation is reached and
has no value.  Branches that are not taken do no harm: they are part of the condition.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from theory.formula.canonical import element_of
from theory.formula.inequalities import cases_of, last_position
from theory.formula.syntax import Comparison, Name, Node, Number, Operation
from theory.ring import as_constant

ZERO = Number(0)


def violations(node: Node, reached: tuple[Node, ...] = ()) -> Iterator[Node]:
    """Conditions of which one holds wherever the tree has no value, and at no other pair that is reached.

    Inner ones come first.  Where one of them holds, those that come later may have no value themselves.

    Args:
        node: the tree.
        reached: conditions under which it is evaluated.
    """
    match node:
        case Comparison(tests=tests, sides=sides):
            for place, side in enumerate(sides):
                before = (Comparison(tests[: place - 1], sides[:place]),) if place > 1 else ()
                yield from violations(side, (*reached, *before))
        case Operation(name="and" | "or" as name, operands=parts):
            for place, part in enumerate(parts):
                earlier = parts[:place] if name == "and" else tuple(_not(one) for one in parts[:place])
                yield from violations(part, (*reached, *earlier))
        case Operation(name="if", operands=(condition, then, otherwise)):
            yield from violations(condition, reached)
            yield from violations(then, (*reached, condition))
            yield from violations(otherwise, (*reached, _not(condition)))
        case Operation(operands=parts):
            for part in parts:
                yield from violations(part, reached)
            for wrong in _wrong(node):
                yield _and((*reached, wrong))


def _not(node: Node) -> Node:
    return Operation("not", (node,))


def _and(parts: tuple[Node, ...]) -> Node:
    return parts[0] if len(parts) == 1 else Operation("and", parts)


def _wrong(node: Operation) -> Iterator[Node]:
    """Conditions under which the operation itself has no value."""
    match node:
        case Operation(name="/" | "//" | "%", operands=(_, below)):
            yield from _zeros(below)
        case Operation(name="sqrt", operands=(inside,)):
            yield Comparison(("<",), (inside, ZERO))
        case Operation(name="log", operands=(inside,)):
            yield Comparison(("<=",), (inside, ZERO))
        case Operation(name="gcd", operands=parts):
            yield from (_fractional(part) for part in parts)
        case Operation(name="**", operands=(base, Number(value=times))):
            if times < 0:
                yield from _zeros(base)
            if Fraction(times).denominator != 1:
                yield Comparison(("<",), (base, ZERO))
        case Operation(name="**", operands=(base, exponent)):
            yield _and((Comparison(("<",), (exponent, ZERO)), Comparison(("==",), (base, ZERO))))
            yield _and((Comparison(("<",), (base, ZERO)), _fractional(exponent)))


def _fractional(node: Node) -> Node:
    return Comparison(("!=",), (Operation("%", (node, Number(1))), ZERO))


def _zeros(node: Node) -> Iterator[Node]:
    """Conditions of which one holds wherever the tree, which has a value, is zero."""
    match node:
        case Number(value=value) if value:
            return
        case Name(name="pi") | Operation(name="exp"):
            return
        case Operation(name="*", operands=parts):
            for part in parts:
                yield from _zeros(part)
        case (
            Operation(name="neg" | "pos" | "abs" | "sqrt", operands=(inside,))
            | Operation(name="/", operands=(inside, _))
        ):
            yield from _zeros(inside)
        case Operation(name="**", operands=(base, Number(value=times))) if times > 0:
            yield from _zeros(base)
        case _:
            yield Comparison(("==",), (node, ZERO))


@lru_cache(maxsize=4096)
def never(condition: Node, *, family: bool) -> bool:
    """Whether a condition is seen to hold at no pair: by its signs, or by elimination from linear inequalities."""
    element = element_of(condition)
    if element is not None and as_constant(element) == 0:
        return True
    return all(last_position(case, family=family) is None for case in cases_of(condition).cases)


def total(node: Node) -> bool:
    """Whether the tree is seen, without much effort, to have a value at every pair."""
    return all(never(condition, family=True) for condition in violations(node))
