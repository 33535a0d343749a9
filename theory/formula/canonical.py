"""Formulas as elements of the ring in ring.py: identities cancel, so the element shows which positions matter."""

from fractions import Fraction
from functools import lru_cache, reduce

from lengthgen.theory.formula.syntax import ComparisonChain, Name, Node, Number, Operation
from lengthgen.theory.zero import ring_functions
from lengthgen.theory.zero.ring import (
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

Substitution = tuple[tuple[str, Frozen], ...]
"""Elements that replace variables; variables that are not listed stand for themselves."""

BY_DISTANCE: Substitution = (("j", frozen(plus(name("i"), name(DISTANCE)))),)
"""Substitution j = i + distance."""


@lru_cache(maxsize=16_384)
def element_of(node: Node, at: Substitution = ()) -> Element | None:
    """Ring element that equals the tree wherever the tree has a value; None if that takes too many steps."""
    try:
        return _to_element(node, at)
    except TooLong:
        return None


def _require_element(node: Node, at: Substitution) -> Element:
    """Ring element of a subtree; raises `TooLong` if that takes too many steps."""
    element = element_of(node, at)
    if element is None:
        raise TooLong
    return element


def _to_element(node: Node, at: Substitution) -> Element:
    """Ring element of a tree; raises `TooLong` if that takes too many steps."""
    match node:
        case Number(value=value):
            return constant(value)
        case Name(name="pi"):
            return of_base(PI)
        case Name(name=variable):
            substitute = dict(at).get(variable)
            return name(variable) if substitute is None else dict(substitute)
        case ComparisonChain(tests=tests, sides=sides):
            pairs = zip(tests, sides, sides[1:], strict=False)
            return _and_or(
                "and",
                [
                    ring_functions.compared(test, plus(_require_element(left, at), _require_element(right, at), -1))
                    for test, left, right in pairs
                ],
            )
        case Operation(name="and" | "or" as operation, operands=operands):
            return _and_or(operation, [_truth(_require_element(part, at)) for part in operands])
        case Operation(name="not", operands=(operand,)):
            return plus(constant(1), _truth(_require_element(operand, at)), -1)
        case Operation(name="if", operands=(condition, then, otherwise)):
            holds = as_constant(_truth(_require_element(condition, at)))
            if holds is not None:
                return _require_element(then if holds else otherwise, at)
            chosen, other = _require_element(then, at), _require_element(otherwise, at)
            return (
                chosen
                if chosen == other
                else ring_functions.called("if", _truth(_require_element(condition, at)), chosen, other)
            )
        case Operation(name="abs", operands=(Operation(name="*" | "/" as operation, operands=operands),)):
            return _operation(Ring(), operation, [_require_element(Operation("abs", (part,)), at) for part in operands])
        case Operation(name="sqrt", operands=(Operation(name="**", operands=(operand, Number(value=times))),)) if (
            times % 2 == 0
        ):
            # Taking the absolute value first avoids multiplying out products of sines and cosines.
            size = _require_element(Operation("abs", (operand,)), at)
            return ring_functions.power(Ring(), size, constant(Fraction(times, 2)))
        case Operation(name=operation, operands=operands):
            return _operation(Ring(), operation, [_require_element(part, at) for part in operands])
    raise AssertionError(node)


def _truth(element: Element) -> Element:
    """1 if the element is not zero, else 0."""
    return ring_functions.compared("!=", element)


def _and_or(operation: str, truths: list[Element]) -> Element:
    """`and` or `or` of elements that are 0 or 1; decided ones are dropped or decide the result."""
    deciding = 0 if operation == "and" else 1
    if any(as_constant(truth) == deciding for truth in truths):
        return constant(deciding)
    undecided = [truth for truth in truths if as_constant(truth) is None]
    if len(undecided) > 1:
        return ring_functions.called(operation, *undecided)
    return undecided[0] if undecided else constant(1 - deciding)


def _operation(ring: Ring, operation: str, operands: list[Element]) -> Element:
    """Ring element of an operation on ring elements."""
    first, last = operands[0], operands[-1]
    match operation:
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
            return ring_functions.floor(_quotient(ring, first, last))
        case "%":
            return plus(first, ring.times(last, ring_functions.floor(_quotient(ring, first, last))), -1)
        case "**":
            return ring_functions.power(ring, first, last)
        case "sqrt":
            return ring_functions.power(ring, first, constant(_HALF))
        case "exp":
            return ring_functions.exponential(ring, first)
        case "log":
            return ring_functions.logarithm(ring, first)
        case "sin" | "cos":
            return ring.wave(operation, first)
        case "abs":
            return ring_functions.absolute(ring, first)
        case "floor":
            return ring_functions.floor(first)
        case "ceil":
            return scaled(ring_functions.floor(scaled(first, -1)), -1)
        case "min" | "max":
            sign = 1 if operation == "max" else -1
            return reduce(lambda first, second: _extreme(ring, first, second, sign), operands)
        case "gcd":
            return ring_functions.called("gcd", *sorted(operands, key=lambda operand: spelled(frozen(operand))))
    raise AssertionError(operation)


def _quotient(ring: Ring, numerator: Element, denominator: Element) -> Element:
    return ring.times(numerator, ring_functions.inverse(ring, denominator))


def _extreme(ring: Ring, first: Element, second: Element, sign: int) -> Element:
    """Maximum (sign 1) or minimum (sign -1) as (a + b +- |a - b|) / 2."""
    gap = ring_functions.absolute(ring, plus(first, second, -1))
    return scaled(plus(plus(first, second), gap, sign), _HALF)
