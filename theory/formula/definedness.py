"""Pairs at which a formula has no value: division by zero, root or logarithm outside its domain, gcd of non-integers.

Each such operation gives a condition, itself a formula, that holds at the pairs where the operation is reached and has
no value.  The condition includes which branch is taken, so branches that are not taken do no harm.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from lengthgen.theory.formula.canonical import expression_of
from lengthgen.theory.formula.linear import bounds_of_last_position, cases_of
from lengthgen.theory.formula.ranges import finite_range
from lengthgen.theory.formula.syntax import VARIABLES, ComparisonChain, Name, Node, Number, Operation, names

ZERO = Number(0)


def violations(node: Node, reached: tuple[Node, ...] = ()) -> Iterator[Node]:
    """Conditions that cover the pairs without a value: at each such pair one holds, at other reached pairs none does.

    Inner operations come first.  If one condition holds at a pair, later conditions may have no value there.

    Args:
        node: the tree.
        reached: conditions under which the tree is evaluated.
    """
    match node:
        case ComparisonChain(tests=tests, sides=sides):
            for place, side in enumerate(sides):
                earlier_comparisons = (ComparisonChain(tests[: place - 1], sides[:place]),) if place > 1 else ()
                yield from violations(side, (*reached, *earlier_comparisons))
        case Operation(name="and" | "or" as name, operands=parts):
            for place, part in enumerate(parts):
                earlier = parts[:place] if name == "and" else tuple(_not(part) for part in parts[:place])
                yield from violations(part, (*reached, *earlier))
        case Operation(name="if", operands=(condition, then, otherwise)):
            yield from violations(condition, reached)
            yield from violations(then, (*reached, condition))
            yield from violations(otherwise, (*reached, _not(condition)))
        case Operation(operands=parts):
            for part in parts:
                yield from violations(part, reached)
            for undefined in _undefined_if(node):
                yield _and((*reached, undefined))


def _not(node: Node) -> Node:
    return Operation("not", (node,))


def _and(parts: tuple[Node, ...]) -> Node:
    return parts[0] if len(parts) == 1 else Operation("and", parts)


def _undefined_if(node: Operation) -> Iterator[Node]:
    """Conditions under which the operation itself has no value."""
    match node:
        case Operation(name="/" | "//" | "%", operands=(_, divisor)):
            yield from _zero_if(divisor)
        case Operation(name="sqrt", operands=(argument,)):
            yield ComparisonChain(("<",), (argument, ZERO))
        case Operation(name="log", operands=(argument,)):
            yield ComparisonChain(("<=",), (argument, ZERO))
        case Operation(name="gcd", operands=parts):
            yield from (_is_fractional(part) for part in parts)
        case Operation(name="**", operands=(base, Number(value=exponent))):
            if exponent < 0:
                yield from _zero_if(base)
            if Fraction(exponent).denominator != 1:
                yield ComparisonChain(("<",), (base, ZERO))
        case Operation(name="**", operands=(base, exponent)):
            yield _and((ComparisonChain(("<",), (exponent, ZERO)), ComparisonChain(("==",), (base, ZERO))))
            yield _and((ComparisonChain(("<",), (base, ZERO)), _is_fractional(exponent)))


def _is_fractional(node: Node) -> Node:
    """Condition that a value is not an integer."""
    return ComparisonChain(("!=",), (Operation("%", (node, Number(1))), ZERO))


def _zero_if(node: Node) -> Iterator[Node]:
    """Conditions that cover the zeros of a tree that has a value: at each zero at least one holds."""
    match node:
        case Number(value=value) if value:
            return
        case Name(name="pi") | Operation(name="exp"):
            return
        case Operation(name="*", operands=parts):
            for part in parts:
                yield from _zero_if(part)
        case (
            Operation(name="neg" | "pos" | "abs" | "sqrt", operands=(argument,))
            | Operation(name="/", operands=(argument, _))
        ):
            yield from _zero_if(argument)
        case Operation(name="**", operands=(base, Number(value=exponent))) if exponent > 0:
            yield from _zero_if(base)
        case _:
            yield ComparisonChain(("==",), (node, ZERO))


@lru_cache(maxsize=4096)
def never_holds(condition: Node, *, family: bool) -> bool:
    """True if a condition is proved to hold at no pair: by signs, by ranges, or by eliminating linear inequalities."""
    parameters = names(condition) - {*VARIABLES}
    if expression_of(condition) == 0 or finite_range(condition, parameters) == frozenset({0}):
        return True
    return all(bounds_of_last_position(case, family=family) is None for case in cases_of(condition).cases)


def defined_everywhere(node: Node) -> bool:
    """True if a quick proof shows that the tree has a value at every pair."""
    return all(never_holds(condition, family=True) for condition in violations(node))
