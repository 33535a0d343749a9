"""Signs of the elements of lengthgen.theory.zero.ring at all pairs 1 <= i <= j <= n, as far as they are proved.

Here "known" always means: proved for every pair. A sign may hold although it is not known.
"""

from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product as every
from math import comb, inf
from operator import mul
from typing import Any

import flint

from lengthgen.theory.zero.ring import (
    DISTANCE,
    ONE,
    POSITIONS,
    Base,
    Element,
    Frozen,
    Key,
    frozen,
    is_truth,
    names,
    scaled,
)

Shifted = tuple[int, int, int]
"""Powers of u = i - 1, v = j - i and t = n - j, which are >= 0."""

_BITS = 128
_HIGHEST = 8
"""Largest degree of a polynomial in the positions that is expanded."""


def is_positive(element: Element) -> bool:
    """True if the element is known to be positive at every pair."""
    bound, exceeds = _lower_bound(frozen(element))
    return bound > 0 or (bound == 0 and exceeds)


def is_nonnegative(element: Element) -> bool:
    """True if the element is known to be >= 0 at every pair."""
    return _lower_bound(frozen(element))[0] >= 0


def is_negative(element: Element) -> bool:
    """True if the element is known to be negative at every pair."""
    return is_positive(scaled(element, -1))


def nonnegative_base(base: Base) -> bool:
    """True if a base is known to be >= 0."""
    match base:
        case ("name", which):
            return which in POSITIONS or which == DISTANCE
        case ("prime", _) | ("pi",) | ("e",) | ("abs", _):
            return True
        case ("symbol", symbol):
            return bool(symbol.is_nonnegative)
        case ("sum", summed):
            return is_nonnegative(dict(summed))
        case ("log", ("prime", _) | ("pi",)):
            return True
        case ("log", ("name", which)):
            return which in POSITIONS
    return is_truth(base)


def nonnegative_power(generator: Any, exponent: Fraction) -> bool:
    """True if a power in an element is known to be >= 0; a root is, wherever it has a value."""
    base, inner = generator
    even = inner == ONE and exponent.denominator == 1 and exponent % 2 == 0
    return even or nonnegative_base(base) or exponent.denominator != 1


def positive_base(base: Base) -> bool:
    """True if a base is known to be positive."""
    match base:
        case ("name", which):
            return which in POSITIONS
        case ("prime", _) | ("pi",) | ("e",) | ("log", ("prime", _) | ("pi",)):
            return True
        case ("symbol", symbol):
            return bool(symbol.is_positive)
        case ("sum", summed):
            return is_positive(dict(summed))
    return False


@lru_cache(maxsize=65_536)
def _lower_bound(element: Frozen) -> tuple[Fraction | float, bool]:
    """Lower bound of an element over all pairs, and True if every value exceeds it."""
    polynomial: dict[Shifted, list[Any]] = {}
    bound: Fraction | float = 0
    exceeds = False
    for (product, wave), weight in element:
        powers, rest = _position_powers(product)
        number = None if powers is None else _constant((rest, None))
        if powers is None or number is None:
            if wave is not None or weight < 0 or not all(nonnegative_power(*powered) for powered in product):
                return -inf, False
            exceeds |= all(positive_base(base) for (base, _), _ in product)
            continue
        if wave is not None:
            if any(powers):
                return -inf, False
            bound -= _bound_of_sum([(abs(weight), abs(number))], upper=True)
            exceeds |= _never_extreme(*wave)
            continue
        for shifted, times in _in_shifted_powers(powers):
            polynomial.setdefault(shifted, []).append((weight * times, number))
    for shifted, parts in polynomial.items():
        minimum = _bound_of_sum(parts, upper=False)
        if not any(shifted):
            bound += minimum
        elif minimum < 0:
            return -inf, False
    return bound, exceeds


def is_rational_at_pairs(element: Frozen) -> bool:
    """True if the element is known to be a rational number at every pair: a polynomial in positions."""
    return all(
        wave is None and all(_is_position(base, inner, exponent) for (base, inner), exponent in product)
        for (product, wave), _ in element
    )


def _never_extreme(kind: str, angle: Frozen) -> bool:
    """True if a wave is never 1 or -1: since pi is irrational, the sine of a rational number is not."""
    if not is_rational_at_pairs(angle):
        return False
    return kind == "sin" or is_positive(dict(angle)) or is_negative(dict(angle))


def _is_position(base: Base, inner: Key, exponent: Fraction) -> bool:
    """True if a power is a positive integer power of a position or the distance."""
    is_name = base[0] == "name" and base[1] in (*POSITIONS, DISTANCE)
    return is_name and inner == ONE and exponent > 0 and exponent.denominator == 1


def _position_powers(product: Any) -> tuple[tuple[int, int, int, int] | None, Any]:
    """Powers of i, j, n and j - i in a power product, and the rest; no powers if positions occur in the rest too."""
    powers, rest = [0, 0, 0, 0], set()
    for (base, inner), exponent in product:
        if _is_position(base, inner, exponent):
            powers[(*POSITIONS, DISTANCE).index(base[1])] = int(exponent)
        else:
            rest.add(((base, inner), exponent))
    i, j, n, distance = powers
    readable = sum(powers) <= _HIGHEST and not names(frozenset(rest))
    return ((i, j, n, distance) if readable else None), frozenset(rest)


def _in_shifted_powers(powers: tuple[int, int, int, int]) -> list[tuple[Shifted, int]]:
    """Expansion of (1 + u)**i (1 + u + v)**j (1 + u + v + t)**n v**distance in powers of u, v, t."""
    i, j, n, distance = powers
    terms = []
    for a, b, c, d, e, f in every(*(range(exponent + 1) for exponent in (i, j, j, n, n, n))):
        if b + c <= j and d + e + f <= n:
            times = comb(i, a) * comb(j, b) * comb(j - b, c) * comb(n, d) * comb(n - d, e) * comb(n - d - e, f)
            terms.append(((a + b + d, c + e + distance, f), times))
    return terms


def _bound_of_sum(parts: list[tuple[Fraction, Any]], *, upper: bool) -> Fraction | float:
    """Lower or upper bound of a sum of multiples of fractions and balls."""
    if all(isinstance(number, Fraction) for _, number in parts):
        return sum((weight * number for weight, number in parts), Fraction(0))
    with flint.ctx.workprec(_BITS):
        ball = sum(
            (_arb(weight) * (_arb(number) if isinstance(number, Fraction) else number) for weight, number in parts),
            _arb(0),
        )
        end = (ball.upper if upper else ball.lower)()
    if not end.is_finite():
        return inf if upper else -inf
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _arb(number: Fraction | int) -> Any:
    """Ball of a rational number."""
    return flint.arb(flint.fmpq(*Fraction(number).as_integer_ratio()))


def _constant(key: Key) -> Any:
    """Value of a term without names: a Fraction or a ball; None if it is not known."""
    if key == ONE:
        return Fraction(1)
    with flint.ctx.workprec(_BITS):
        return _ball_of_key(key)


def _ball(element: Frozen) -> Any:
    """Ball of an element without names; None if it is not known."""
    parts = []
    for key, weight in element:
        value = _ball_of_key(key)
        if value is None:
            return None
        parts.append(value * _arb(weight))
    return sum(parts, _arb(0))


def _ball_of_key(key: Key) -> Any:
    """Ball of a term without names; None if it is not known."""
    product, wave = key
    factors = [_ball_of_generator(base, inner, exponent) for (base, inner), exponent in product]
    if wave is not None:
        angle = _ball(wave[1])
        factors.append(None if angle is None else angle.sin() if wave[0] == "sin" else angle.cos())
    return None if any(factor is None for factor in factors) else reduce(mul, factors, flint.arb(1))


def _ball_of_generator(base: Base, inner: Key, exponent: Fraction) -> Any:
    """Ball of a power of a generator; None if it is not known."""
    value, power = _ball_of_base(base), _ball_of_key(inner)
    if value is None or power is None:
        return None
    if inner == ONE and exponent.denominator == 1:
        return value ** int(exponent)
    return value ** (power * _arb(exponent))


def _ball_of_base(base: Base) -> Any:
    """Ball of a base without names; None if it is not known."""
    match base:
        case ("prime", number):
            return flint.arb(number)
        case ("pi",):
            return flint.arb.pi()
        case ("e",):
            return flint.arb.const_e()
        case ("log", inside):
            value = _ball_of_base(inside)
            return None if value is None else value.log()
        case ("sum" | "abs" as kind, inside):
            value = _ball(inside)
            return value if value is None or kind == "sum" else abs(value)
    return None
