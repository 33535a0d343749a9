"""A finite set that holds every value of a formula, at every pair and scale, where one can be seen.

Each part of the formula is given bounds, the denominator of its values, and their set where that is finite: by `%`,
comparisons, min and max, floors, gcd, and choices between such.  The set may hold more than occurs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf, lcm
from typing import Any

from theory.formula import exact
from theory.formula.linear import Form, decided, linear, linear_bounds, slopes
from theory.formula.structure import settled
from theory.formula.syntax import Comparison, FormulaError, Name, Node, Operation

MOST = 4096
"""Values of a set that is still written out."""

Value = Any


@dataclass(frozen=True, kw_only=True)
class Range:
    """What is known of a part's values.

    Attributes:
        low: at most every value; -inf where unknown.
        high: at least every value.
        denominator: every value is a whole multiple of 1/denominator; None where unknown.
        values: a finite set that holds them all; None where unknown.
    """

    low: Fraction | float = -inf
    high: Fraction | float = inf
    denominator: int | None = None
    values: frozenset[Value] | None = None


def finite_range(node: Node, parameters: Iterable[str] = ()) -> frozenset[Value] | None:
    """A finite set that holds every value of the tree at pairs i <= j <= n; None where none is seen."""
    at: dict[str, Value] = {}
    if names := list(parameters):
        import sympy as sp

        at = {name: sp.Symbol(name, real=True) for name in names}
    return _range(settled(node), at).values


def _range(node: Node, at: dict[str, Value]) -> Range:
    form = linear(node)
    if form is not None:
        return _of_form(node, form)
    match node:
        case Name(name="pi"):
            return _of_set({exact.evaluate(node, at)})
        case Name(name=name):
            return _of_set({at[name]})
        case Comparison(sides=sides, tests=tests):
            if len(sides) == 2:
                difference = _range(Operation("-", sides), at)
                found = decided(tests[0], difference.low, difference.high)
                if found is not None:
                    return _of_set({int(found)})
            return _of_set({0, 1})
        case Operation(name="and" | "or"):
            return _of_set({0, 1})
        case Operation(name="if", operands=(condition, then, otherwise)):
            tested = _range(condition, at).values
            branches = [then] if tested and 0 not in tested else [then, otherwise]
            return _union([_range(branch, at) for branch in branches])
        case Operation(name="/", operands=(above, below)) if linear(above) and linear(below):
            return _ratio(above, below)
        case Operation(name="//", operands=(above, below)) if linear(above) and not _is_constant(below):
            return _written_out(_floor(_ratio(above, below)))
        case Operation(name=name, operands=parts):
            return _operation(name, [_range(part, at) for part in parts])
    raise AssertionError(node)


def _is_constant(node: Node) -> bool:
    form = linear(node)
    return form is not None and not any(form[:3])


def _operation(name: str, parts: list[Range]) -> Range:
    sets = [part.values for part in parts]
    size = 1
    for one in sets:
        size *= len(one) if one is not None else MOST + 1
    if size <= MOST:
        return _of_set(_images(name, [one for one in sets if one is not None]))
    if name in _BY_BOUNDS:
        return _written_out(_BY_BOUNDS[name](*parts))
    return Range()


def _images(name: str, sets: list[frozenset[Value]]) -> set[Value]:
    found = set()
    for operands in product(*sets):
        try:
            found.add(exact.apply(name, list(operands)))
        except FormulaError:
            continue  # where this comes up the formula has no value at all
    return found


def _of_form(node: Node, form: Form) -> Range:
    if not any(form[:3]):
        return _of_set({exact.plain(form[3])})
    low, high = linear_bounds(node)
    return Range(low=low, high=high, denominator=lcm(*(part.denominator for part in form)))


def _ratio(above: Node, below: Node) -> Range:
    """Bounds of a quotient of linear forms: it lies between the ratios of their slopes."""
    top, bottom = linear(above), linear(below)
    if top is None or bottom is None:
        return Range()
    pairs = list(zip(slopes(top), slopes(bottom), strict=True))
    if slopes(bottom)[0] <= 0 or any(divisor < 0 for _, divisor in pairs):
        return Range()
    ratios = [number / divisor for number, divisor in pairs if divisor]
    loose = [number for number, divisor in pairs if not divisor]
    return Range(
        low=min(ratios) if all(number >= 0 for number in loose) else -inf,
        high=max(ratios) if all(number <= 0 for number in loose) else inf,
    )


def _of_set(values: Iterable[Value]) -> Range:
    found = frozenset(values)
    numbers = [Fraction(value) for value in found if isinstance(value, int | Fraction)]
    if len(numbers) < len(found) or not numbers:
        return Range(values=found)
    denominator = lcm(*(number.denominator for number in numbers))
    return Range(low=min(numbers), high=max(numbers), denominator=denominator, values=found)


def _written_out(known: Range) -> Range:
    """With the set of its values, where bounds and denominator leave few."""
    if known.denominator is None or known.values is not None or known.low == -inf or known.high == inf:
        return known
    first, last = known.low * known.denominator, known.high * known.denominator
    if last - first > MOST:
        return known
    whole = range(int(-(-first // 1)), int(last // 1) + 1)
    return _of_set(exact.plain(Fraction(one, known.denominator)) for one in whole)


def _union(ranges: list[Range]) -> Range:
    sets = [one.values for one in ranges]
    together = frozenset().union(*(one for one in sets if one is not None))
    return Range(
        low=min(one.low for one in ranges),
        high=max(one.high for one in ranges),
        denominator=_common(*ranges),
        values=together if None not in sets and len(together) <= MOST else None,
    )


def _common(*ranges: Range) -> int | None:
    known = [one.denominator for one in ranges if one.denominator is not None]
    return lcm(*known) if len(known) == len(ranges) else None


def _add(first: Range, second: Range) -> Range:
    return Range(
        low=_sum(first.low, second.low), high=_sum(first.high, second.high), denominator=_common(first, second)
    )


def _sum(first: Fraction | float, second: Fraction | float) -> Fraction | float:
    """Of two bounds on one side; a large fraction cannot be added to an infinite float."""
    return next((bound for bound in (first, second) if bound in (-inf, inf)), None) or first + second


def _negate(one: Range) -> Range:
    return Range(low=-one.high, high=-one.low, denominator=one.denominator)


def _multiply(first: Range, second: Range) -> Range:
    if any(bound in (-inf, inf) for bound in (first.low, first.high, second.low, second.high)):
        low = Fraction(0) if first.low >= 0 and second.low >= 0 else -inf
        high: Fraction | float = inf
    else:
        ends = [a * b for a in (first.low, first.high) for b in (second.low, second.high)]
        low, high = min(ends), max(ends)
    if first.denominator is None or second.denominator is None:
        return Range(low=low, high=high)
    return Range(low=low, high=high, denominator=first.denominator * second.denominator)


def _remainder(first: Range, second: Range) -> Range:
    """Modulo a number m > 0 a value lies in 0 <= value < m."""
    if second.values is None or len(second.values) != 1 or second.low <= 0 or second.low == -inf:
        return Range()
    denominator = _common(first, second)
    return Range(
        low=Fraction(0),
        high=second.low - (Fraction(1, denominator) if denominator else 0),
        denominator=denominator,
    )


def _floor(one: Range) -> Range:
    low = one.low if one.low == -inf else Fraction(one.low // 1)
    high = one.high if one.high == inf else Fraction(one.high // 1)
    return Range(low=low, high=high, denominator=1)


def _floor_divide(first: Range, second: Range) -> Range:
    if second.values is None or len(second.values) != 1 or second.low <= 0 or second.low == -inf:
        return Range(denominator=1)
    low, high = (bound if bound in (-inf, inf) else bound / second.low for bound in (first.low, first.high))
    return _floor(Range(low=low, high=high))


def _absolute(one: Range) -> Range:
    low = max(0, one.low, -one.high)
    return Range(low=low, high=max(-one.low, one.high), denominator=one.denominator)


def _least(*parts: Range) -> Range:
    return Range(
        low=min(part.low for part in parts),
        high=min(part.high for part in parts),
        denominator=_common(*parts),
    )


def _largest(*parts: Range) -> Range:
    return _negate(_least(*map(_negate, parts)))


def _power(base: Range, exponent: Range) -> Range:
    if base.values is not None and base.values <= {-1, 0, 1} and exponent.denominator == 1:
        return _of_set(base.values | {1})
    if exponent.denominator != 1 or exponent.low < 0:
        return Range()
    within = base.low >= 0 and base.high <= 1
    return Range(
        low=Fraction(0) if base.low >= 0 else -inf,
        high=Fraction(1) if within else inf,
        denominator=1 if base.denominator == 1 else None,
    )


def _gcd(first: Range, second: Range) -> Range:
    """gcd(x, c) divides c where c is not zero."""
    for one in (first, second):
        if (
            one.values is not None
            and one.denominator == 1
            and 0 not in one.values
            and max(map(abs, one.values)) <= MOST
        ):
            most = max(map(abs, one.values))
            return _of_set(d for d in range(1, int(most) + 1) if any(value % d == 0 for value in one.values))
    return Range(low=Fraction(0), denominator=1)


_BY_BOUNDS: dict[str, Any] = {
    "+": _add,
    "-": lambda first, second: _add(first, _negate(second)),
    "*": _multiply,
    "//": _floor_divide,
    "%": _remainder,
    "**": _power,
    "neg": _negate,
    "pos": lambda one: one,
    "not": lambda one: _of_set({0, 1}),
    "min": _least,
    "max": _largest,
    "abs": _absolute,
    "floor": _floor,
    "ceil": lambda one: _negate(_floor(_negate(one))),
    "gcd": _gcd,
}
