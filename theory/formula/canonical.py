"""A formula as an element of theory.ring: identities cancel, and what is left shows which positions really matter."""

from fractions import Fraction
from functools import lru_cache, reduce

from theory import ring_functions as functions
from theory.formula.syntax import Comparison, Name, Node, Number, Operation
from theory.ring import (
    DISTANCE,
    PI,
    Element,
    Frozen,
    Ring,
    TooLong,
    as_constant,
    constant,
    frozen,
    name,
    of_base,
    plus,
    scaled,
    spelled,
)

_HALF = Fraction(1, 2)

Places = tuple[tuple[str, Frozen], ...]
"""What names stand for; those that are not listed stand for themselves."""

BY_DISTANCE: Places = (("j", frozen(plus(name("i"), name(DISTANCE)))),)
"""The query as the key and the distance."""


@lru_cache(maxsize=16_384)
def element_of(node: Node, at: Places = ()) -> Element | None:
    """The element that the tree equals wherever it has a value; None where that takes too many steps."""
    try:
        return _read(node, at)
    except TooLong:
        return None


def _part(node: Node, at: Places) -> Element:
    found = element_of(node, at)
    if found is None:
        raise TooLong
    return found


def _read(node: Node, at: Places) -> Element:
    match node:
        case Number(value=value):
            return constant(value)
        case Name(name="pi"):
            return of_base(PI)
        case Name(name=which):
            placed = dict(at).get(which)
            return name(which) if placed is None else dict(placed)
        case Comparison(tests=tests, sides=sides):
            pairs = zip(tests, sides, sides[1:], strict=False)
            return _junction(
                "and",
                [functions.compared(test, plus(_part(left, at), _part(right, at), -1)) for test, left, right in pairs],
            )
        case Operation(name="and" | "or" as which, operands=operands):
            return _junction(which, [_truth(_part(part, at)) for part in operands])
        case Operation(name="not", operands=(inside,)):
            return plus(constant(1), _truth(_part(inside, at)), -1)
        case Operation(name="if", operands=(condition, then, otherwise)):
            holds = as_constant(_truth(_part(condition, at)))
            if holds is not None:
                return _part(then if holds else otherwise, at)
            chosen, other = _part(then, at), _part(otherwise, at)
            return chosen if chosen == other else functions.called("if", _truth(_part(condition, at)), chosen, other)
        case Operation(name="abs", operands=(Operation(name="*" | "/" as which, operands=operands),)):
            return _operation(Ring(), which, [_part(Operation("abs", (part,)), at) for part in operands])
        case Operation(name="sqrt", operands=(Operation(name="**", operands=(inside, Number(value=times))),)) if (
            times % 2 == 0
        ):
            size = _part(Operation("abs", (inside,)), at)  # products of waves would be multiplied out
            return functions.power(Ring(), size, constant(Fraction(times, 2)))
        case Operation(name=which, operands=operands):
            return _operation(Ring(), which, [_part(part, at) for part in operands])
    raise AssertionError(node)


def _truth(element: Element) -> Element:
    """1 where the element is not zero, else 0."""
    return functions.compared("!=", element)


def _junction(which: str, truths: list[Element]) -> Element:
    """`and` or `or` of what is 0 or 1: those that are decided are left out, or decide."""
    deciding = 0 if which == "and" else 1
    if any(as_constant(truth) == deciding for truth in truths):
        return constant(deciding)
    left = [truth for truth in truths if as_constant(truth) is None]
    if len(left) > 1:
        return functions.called(which, *left)
    return left[0] if left else constant(1 - deciding)


def _operation(ring: Ring, which: str, operands: list[Element]) -> Element:
    first, last = operands[0], operands[-1]
    match which:
        case "+":
            return plus(first, last)
        case "-":
            return plus(first, last, -1)
        case "neg":
            return scaled(first, -1)
        case "pos":
            return first
        case "*":
            return ring.times(first, last)
        case "/":
            return _quotient(ring, first, last)
        case "//":
            return functions.floor(_quotient(ring, first, last))
        case "%":
            return plus(first, ring.times(last, functions.floor(_quotient(ring, first, last))), -1)
        case "**":
            return functions.power(ring, first, last)
        case "sqrt":
            return functions.power(ring, first, constant(_HALF))
        case "exp":
            return functions.exponential(ring, first)
        case "log":
            return functions.logarithm(ring, first)
        case "sin" | "cos":
            return ring.wave(which, first)
        case "abs":
            return functions.absolute(ring, first)
        case "floor":
            return functions.floor(first)
        case "ceil":
            return scaled(functions.floor(scaled(first, -1)), -1)
        case "min" | "max":
            sign = 1 if which == "max" else -1
            return reduce(lambda one, other: _extreme(ring, one, other, sign), operands)
        case "gcd":
            return functions.called("gcd", *sorted(operands, key=lambda one: spelled(frozen(one))))
    raise AssertionError(which)


def _quotient(ring: Ring, above: Element, below: Element) -> Element:
    return ring.times(above, functions.inverse(ring, below))


def _extreme(ring: Ring, one: Element, other: Element, sign: int) -> Element:
    """max (sign 1) and min (sign -1) as (a + b +- |a - b|) / 2."""
    gap = functions.absolute(ring, plus(one, other, -1))
    return scaled(plus(plus(one, other), gap, sign), _HALF)
