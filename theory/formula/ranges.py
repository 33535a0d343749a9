"""A finite set that contains every value of a formula, at every pair and scale, if such a set can be derived.

Each part of the formula gets bounds, a common denominator of its values, and a finite set of its values if one is
known: from `%`, comparisons, min and max, floors, gcd, and choices between such parts.  The set may contain values
that never occur. Needed for `1 if 3*i < j else 0` and `2*i // j`, whose values have no common period.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import inf, isqrt, lcm
from typing import Any

import sympy as sp

from lengthgen.theory.formula import exact
from lengthgen.theory.formula.linear import Form, decided, linear, linear_bounds, simplify_choices, slopes
from lengthgen.theory.formula.syntax import ComparisonChain, FormulaError, Name, Node, NoValue, Operation
from lengthgen.theory.zero.equality import floor, sign

MOST = 4096
"""Largest number of values in a set that is listed explicitly."""

Value = Any


@dataclass(frozen=True, kw_only=True)
class ValueRange:
    """Known facts about the values of a part of a formula.

    Attributes:
        low: lower bound of all values; -inf if unknown.
        high: upper bound of all values; inf if unknown.
        denominator: every value is an integer multiple of 1/denominator; None if unknown.
        values: finite set that contains all values; None if unknown.
    """

    low: Fraction | float = -inf
    high: Fraction | float = inf
    denominator: int | None = None
    values: frozenset[Value] | None = None


def finite_range(node: Node, parameters: Iterable[str] = ()) -> frozenset[Value] | None:
    """Finite set that contains every value of the tree at pairs i <= j <= n; None if none is derived."""
    at: dict[str, Value] = {name: sp.Symbol(name, real=True) for name in parameters}
    return _range_of(simplify_choices(node), at).values


def bounds(node: Node) -> tuple[Fraction | float, Fraction | float]:
    """Bounds of every value of a tree without parameters at pairs i <= j <= n; infinite where none is derived."""
    value_range = _range_of(simplify_choices(node), {})
    return value_range.low, value_range.high


def _range_of(node: Node, at: dict[str, Value]) -> ValueRange:
    """Range of the values of a tree; `at` gives the symbols of the parameters."""
    form = linear(node)
    if form is not None:
        return _range_of_form(node, form)
    match node:
        case Name(name="pi"):
            return _range_of_set({exact.evaluate(node, at)})
        case Name(name=name):
            return _range_of_set({at[name]})
        case ComparisonChain(sides=sides, tests=tests):
            if len(sides) == 2:
                difference = _range_of(Operation("-", sides), at)
                outcome = decided(tests[0], difference.low, difference.high)
                if outcome is not None:
                    return _range_of_set({int(outcome)})
            return _range_of_set({0, 1})
        case Operation(name="and" | "or"):
            return _range_of_set({0, 1})
        case Operation(name="if", operands=(condition, then, otherwise)):
            condition_values = _range_of(condition, at).values
            holds = bool(condition_values) and all(sign(value) for value in condition_values or ())
            branches = [then] if holds else [then, otherwise]
            return _union([_range_of(branch, at) for branch in branches])
        case Operation(name="/" | "//" | "%" as name, operands=(first, last)) if first == last:
            return _range_of_set({int(name != "%")})
        case Operation(name="/", operands=(dividend, divisor)) if linear(dividend) and linear(divisor):
            return _ratio(dividend, divisor)
        case Operation(name="//", operands=(dividend, divisor)) if linear(dividend) and not _is_constant(divisor):
            return _with_values(_floor(_ratio(dividend, divisor)))
        case Operation(name=name, operands=parts):
            return _operation(name, [_range_of(part, at) for part in parts])
    raise AssertionError(node)


def _is_constant(node: Node) -> bool:
    """True if the tree is a rational constant."""
    form = linear(node)
    return form is not None and not any(form[:3])


def _operation(name: str, parts: list[ValueRange]) -> ValueRange:
    """Range of an operation, from the value sets of its operands if these are small, else from their bounds."""
    sets = [part.values for part in parts]
    size = 1
    for values in sets:
        size *= len(values) if values is not None else MOST + 1
    results = _all_results(name, [values for values in sets if values is not None]) if size <= MOST else None
    by_bounds = _BY_BOUNDS[name](*parts) if name in _BY_BOUNDS else ValueRange()
    if results is None:
        return _with_values(by_bounds)
    by_set = _range_of_set(results)
    return by_set if by_set.high < inf else replace(by_set, low=by_bounds.low, high=by_bounds.high)


def _all_results(name: str, sets: list[frozenset[Value]]) -> set[Value] | None:
    """Results of an operation for all combinations of operand values; None if one of them cannot be computed."""
    results = set()
    for operands in product(*sets):
        try:
            results.add(exact.apply(name, list(operands)))
        except NoValue:
            continue
        except FormulaError:
            return None
    return results


def _range_of_form(node: Node, form: Form) -> ValueRange:
    """Range of a linear form."""
    if not any(form[:3]):
        return _range_of_set({exact.plain(form[3])})
    low, high = linear_bounds(node)
    return ValueRange(low=low, high=high, denominator=lcm(*(part.denominator for part in form)))


def _ratio(dividend: Node, divisor: Node) -> ValueRange:
    """Bounds of a quotient of linear forms: it lies between the ratios of their slopes."""
    dividend_form, divisor_form = linear(dividend), linear(divisor)
    if dividend_form is None or divisor_form is None:
        return ValueRange()
    slope_pairs = list(zip(slopes(dividend_form), slopes(divisor_form), strict=True))
    if slopes(divisor_form)[0] <= 0 or any(bottom < 0 for _, bottom in slope_pairs):
        return ValueRange()
    ratios = [top / bottom for top, bottom in slope_pairs if bottom]
    undivided = [top for top, bottom in slope_pairs if not bottom]
    return ValueRange(
        low=min(ratios) if all(top >= 0 for top in undivided) else -inf,
        high=max(ratios) if all(top <= 0 for top in undivided) else inf,
    )


def _range_of_set(values: Iterable[Value]) -> ValueRange:
    """Range of a finite set of values."""
    value_set = frozenset(values)
    numbers = [Fraction(value) for value in value_set if isinstance(value, int | Fraction)]
    if not value_set:
        return ValueRange(values=value_set)
    if len(numbers) < len(value_set):
        floors = [floor(value) for value in value_set]
        below = [number for number in floors if number is not None]
        if len(below) < len(floors):
            return ValueRange(values=value_set)
        return ValueRange(low=Fraction(min(below)), high=Fraction(max(below) + 1), values=value_set)
    denominator = lcm(*(number.denominator for number in numbers))
    return ValueRange(low=min(numbers), high=max(numbers), denominator=denominator, values=value_set)


def _with_values(range_: ValueRange) -> ValueRange:
    """Range with its set of values added, if bounds and denominator leave at most MOST values."""
    if range_.denominator is None or range_.values is not None or range_.low == -inf or range_.high == inf:
        return range_
    first, last = range_.low * range_.denominator, range_.high * range_.denominator
    if last - first > MOST:
        return range_
    numerators = range(int(-(-first // 1)), int(last // 1) + 1)
    return _range_of_set(exact.plain(Fraction(numerator, range_.denominator)) for numerator in numerators)


def _union(ranges: list[ValueRange]) -> ValueRange:
    """Smallest range that contains all the given ranges."""
    sets = [part.values for part in ranges]
    union = frozenset().union(*(values for values in sets if values is not None))
    return ValueRange(
        low=min(part.low for part in ranges),
        high=max(part.high for part in ranges),
        denominator=_common_denominator(*ranges),
        values=union if None not in sets and len(union) <= MOST else None,
    )


def _common_denominator(*ranges: ValueRange) -> int | None:
    """Common denominator of several ranges; None if one of them is unknown."""
    denominators = [range_.denominator for range_ in ranges if range_.denominator is not None]
    return lcm(*denominators) if len(denominators) == len(ranges) else None


def _add(first: ValueRange, second: ValueRange) -> ValueRange:
    return ValueRange(
        low=_sum_of_bounds(first.low, second.low),
        high=_sum_of_bounds(first.high, second.high),
        denominator=_common_denominator(first, second),
    )


def _sum_of_bounds(first: Fraction | float, second: Fraction | float) -> Fraction | float:
    """Sum of two lower or two upper bounds; a large fraction cannot be added to an infinite float."""
    return next((bound for bound in (first, second) if bound in (-inf, inf)), None) or first + second


def _negate(operand: ValueRange) -> ValueRange:
    return ValueRange(low=-operand.high, high=-operand.low, denominator=operand.denominator)


def _multiply(first: ValueRange, second: ValueRange) -> ValueRange:
    if any(bound in (-inf, inf) for bound in (first.low, first.high, second.low, second.high)):
        low = Fraction(0) if first.low >= 0 and second.low >= 0 else -inf
        high: Fraction | float = inf
    else:
        products = [a * b for a in (first.low, first.high) for b in (second.low, second.high)]
        low, high = min(products), max(products)
    if first.denominator is None or second.denominator is None:
        return ValueRange(low=low, high=high)
    return ValueRange(low=low, high=high, denominator=first.denominator * second.denominator)


def _divide(first: ValueRange, second: ValueRange) -> ValueRange:
    """Range of a quotient by a positive divisor."""
    if second.low <= 0:
        return ValueRange()
    reciprocal = ValueRange(low=Fraction(0) if second.high == inf else 1 / second.high, high=1 / second.low)
    return replace(_multiply(first, reciprocal), denominator=None)


def _remainder(first: ValueRange, second: ValueRange) -> ValueRange:
    """Range of the remainder modulo m > 0: 0 <= value < m, and value <= first if first >= 0."""
    if second.low <= 0:
        return ValueRange()
    denominator = _common_denominator(first, second)
    below = second.high if second.high == inf else second.high - (Fraction(1, denominator) if denominator else 0)
    high = min(below, first.high) if first.low >= 0 else below
    return ValueRange(low=Fraction(0), high=high, denominator=denominator)


def _floor(operand: ValueRange) -> ValueRange:
    low = operand.low if operand.low == -inf else Fraction(operand.low // 1)
    high = operand.high if operand.high == inf else Fraction(operand.high // 1)
    return ValueRange(low=low, high=high, denominator=1)


def _floor_divide(first: ValueRange, second: ValueRange) -> ValueRange:
    return replace(_floor(_divide(first, second)), denominator=1)


def _absolute(operand: ValueRange) -> ValueRange:
    low = max(0, operand.low, -operand.high)
    return ValueRange(low=low, high=max(-operand.low, operand.high), denominator=operand.denominator)


def _minimum(*parts: ValueRange) -> ValueRange:
    lowest = min(parts, key=lambda part: part.high)
    if all(part is lowest or part.low >= lowest.high for part in parts):
        return lowest
    return ValueRange(
        low=min(part.low for part in parts),
        high=min(part.high for part in parts),
        denominator=_common_denominator(*parts),
    )


def _maximum(*parts: ValueRange) -> ValueRange:
    return _negate(_minimum(*map(_negate, parts)))


def _power(base: ValueRange, exponent: ValueRange) -> ValueRange:
    if base.values is not None and base.values <= {-1, 0, 1} and exponent.denominator == 1:
        return _range_of_set(base.values | {1})
    if base.low >= 1 and exponent.high <= 0:
        return ValueRange(low=Fraction(0), high=Fraction(1))
    if exponent.denominator != 1 or exponent.low < 0:
        return ValueRange()
    in_unit_interval = base.low >= 0 and base.high <= 1
    return ValueRange(
        low=Fraction(0) if base.low >= 0 else -inf,
        high=Fraction(1) if in_unit_interval else inf,
        denominator=1 if base.denominator == 1 else None,
    )


def _gcd(first: ValueRange, second: ValueRange) -> ValueRange:
    """Range of a gcd: gcd(x, c) divides c if c is not zero."""
    for operand in (first, second):
        if (
            operand.values is not None
            and operand.denominator == 1
            and 0 not in operand.values
            and max(map(abs, operand.values)) <= MOST
        ):
            largest = max(map(abs, operand.values))
            return _range_of_set(
                divisor
                for divisor in range(1, int(largest) + 1)
                if any(value % divisor == 0 for value in operand.values)
            )
    return ValueRange(low=Fraction(0), denominator=1)


def _square_root(operand: ValueRange) -> ValueRange:
    if operand.low < 0:
        return ValueRange()
    high = inf if operand.high == inf else Fraction(isqrt(int(operand.high)) + 1)
    return ValueRange(low=Fraction(isqrt(int(operand.low))), high=high)


_BY_BOUNDS: dict[str, Any] = {
    "+": _add,
    "-": lambda first, second: _add(first, _negate(second)),
    "*": _multiply,
    "/": _divide,
    "//": _floor_divide,
    "%": _remainder,
    "**": _power,
    "neg": _negate,
    "pos": lambda operand: operand,
    "not": lambda operand: _range_of_set({0, 1}),
    "min": _minimum,
    "max": _maximum,
    "abs": _absolute,
    "floor": _floor,
    "ceil": lambda operand: _negate(_floor(_negate(operand))),
    "gcd": _gcd,
    "sqrt": _square_root,
    "sin": lambda operand: ValueRange(low=Fraction(-1), high=Fraction(1)),
    "cos": lambda operand: ValueRange(low=Fraction(-1), high=Fraction(1)),
    "exp": lambda operand: ValueRange(low=Fraction(0), high=Fraction(1) if operand.high <= 0 else inf),
}
