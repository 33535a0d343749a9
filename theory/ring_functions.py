"""Powers, exponentials, logarithms, absolute values and floors of the elements of theory.ring.

Each is the operation itself wherever that has a value: what stands under a root is taken not to be negative, what
stands in a logarithm to be positive, a divisor not to be zero.
"""

from fractions import Fraction
from math import floor as floor_of
from typing import Any

from theory.ring import (
    DISTANCE,
    MINUS,
    ONE,
    POSITIONS,
    ZERO,
    Base,
    E,
    Element,
    Frozen,
    Key,
    Ring,
    as_constant,
    constant,
    frozen,
    is_whole,
    of_base,
    plus,
    scaled,
    term_parity,
)
from theory.ring_factors import Factors, content, factored, primes, primitive, without_divisors
from theory.ring_signs import (
    is_negative,
    is_nonnegative,
    is_positive,
    is_rational_at_pairs,
    nonnegative_base,
    nonnegative_power,
    positive_base,
)


def called(which: str, *operands: Element) -> Element:
    """A function of which nothing is known but its operands."""
    return of_base(("call", which, *map(frozen, operands)))


def power(ring: Ring, base: Element, exponent: Element) -> Element:
    """base ** exponent."""
    times = as_constant(exponent)
    if times is not None and times.denominator == 1:
        return ring.whole_power(base, int(times)) if times >= 0 else _inverse_power(ring, base, int(times))
    if not base:
        return ZERO if times is not None and times > 0 else called("**", base, exponent)
    factors = factored(base)
    found = _root(ring, factors, times) if times is not None else _raised(ring, factors, exponent)
    return called("**", base, exponent) if found is None else found


def inverse(ring: Ring, element: Element) -> Element:
    """1 / element."""
    return _inverse_power(ring, element, -1)


def _inverse_power(ring: Ring, base: Element, times: int) -> Element:
    if not base:
        return called("**", base, constant(times))
    factors = factored(base)
    powers = [ring.generator(one, exponent * times, inner) for (one, inner), exponent in factors.powers]
    parts = [ring.generator(("sum", part), Fraction(many * times)) for part, many in factors.parts]
    return scaled(ring.product([*powers, *parts]), factors.number**times)


def _root(ring: Ring, factors: Factors, times: Fraction) -> Element | None:
    """A fractional power of what is not negative."""
    signed = constant(1 if factors.number > 0 else -1)
    found = [_number_power(ring, abs(factors.number), constant(times))]
    for (base, inner), exponent in factors.powers:
        size = _size_of_power(base, inner, exponent)
        if size is None:
            return None
        found.append(ring.generator(size, exponent * times, inner))
    for part, many in factors.parts:
        size, even = _size_of(part), many if _size_of(part)[0] == "sum" else many - many % 2
        if even:
            found.append(ring.generator(size, even * times))
        if even < many:
            signed = ring.times(signed, dict(part))
    if as_constant(signed) == -1:
        return None
    if as_constant(signed) != 1:
        found.append(ring.generator(("sum", frozen(signed)), times))
    return ring.product(found)


def _raised(ring: Ring, factors: Factors, exponent: Element) -> Element | None:
    """A power whose exponent is no number."""
    sign = constant(1) if factors.number > 0 else parity(exponent)
    if sign is None:
        return None
    whole = all(is_whole(key) and weight.denominator == 1 for key, weight in exponent.items())
    found = [sign, _number_power(ring, abs(factors.number), exponent)]
    for (base, inner), times in factors.powers:
        inside = ring.times({inner: times}, exponent)
        if base == MINUS:
            turned = parity(inside)
            if turned is None:
                return None
            found.append(turned)
        else:
            size = base if whole and inner == ONE else _size_of_power(base, inner, times)
            if size is None:
                return None
            found.append(raised(ring, size, inside))
    for part, many in factors.parts:
        if _size_of(part)[0] != "sum":
            return None
        found.append(raised(ring, ("sum", part), scaled(exponent, many)))
    return ring.product(found)


def raised(ring: Ring, base: Base, exponent: Element) -> Element:
    """base ** exponent for a base, of which nothing is asked."""
    found = constant(1)
    for (product, wave), weight in exponent.items():
        inside, left = base, product
        if base == E:
            logarithm = next(
                (one for one in product if one[0][0][0] == "log" and one[0][1] == ONE and one[1] == 1), None
            )
            if logarithm is not None:  # e**(w log b) = b**w
                inside, left = logarithm[0][0][1], product - {logarithm}
        found = ring.times(found, ring.generator(inside, weight, (left, wave)))
    return found


def exponential(ring: Ring, element: Element) -> Element:
    """e ** element."""
    return raised(ring, E, element)


def logarithm(ring: Ring, element: Element) -> Element:
    """The natural logarithm."""
    if not element:
        return called("log", element)
    factors = factored(element)
    signed = constant(1 if factors.number > 0 else -1)
    found: Element = ZERO
    for prime, many in primes(abs(factors.number)):
        found = plus(found, of_base(("log", ("prime", prime))), many)
    for (base, inner), exponent in factors.powers:
        size = _size_of_power(base, inner, exponent)
        if size is None:
            return called("log", element)
        found = plus(found, ring.times({inner: exponent}, constant(1) if base == E else of_base(("log", size))))
    for part, many in factors.parts:
        size, even = _size_of(part), many if _size_of(part)[0] == "sum" else many - many % 2
        if even:
            found = plus(found, of_base(("log", size)), even)
        if even < many:
            signed = ring.times(signed, dict(part))
    if as_constant(signed) == -1:
        return called("log", element)
    return found if as_constant(signed) == 1 else plus(found, of_base(("log", ("sum", frozen(signed)))))


def absolute(ring: Ring, element: Element) -> Element:
    """The absolute value."""
    if is_nonnegative(element):
        return element
    if is_nonnegative(scaled(element, -1)):
        return scaled(element, -1)
    factors = factored(element)
    found = [constant(abs(factors.number))]
    loose: dict[Base, list[Element]] = {}
    for (base, inner), exponent in factors.powers:
        one = ring.generator(base, exponent, inner)
        if base == MINUS:
            continue
        if nonnegative_power((base, inner), exponent):
            found.append(one)
        else:
            loose.setdefault(base, []).append(one)
    # Powers of one base stay together: 0**(j - i) has a value where 0**-i has none.
    found += [of_base(("abs", frozen(ring.product(powers)))) for powers in loose.values()]
    for part, many in factors.parts:
        found.append(ring.generator(_size_of(part) if many % 2 else ("sum", part), Fraction(many)))
    return ring.product(found)


def floor(element: Element) -> Element:
    """The largest whole number not above the element."""
    outside: Element = ZERO
    for key, weight in element.items():
        if is_whole(key):
            outside = plus(outside, {key: Fraction(1)}, floor_of(weight))
    rest = plus(element, outside, -1)
    return outside if as_constant(rest) is not None else plus(outside, called("floor", rest))


def compared(test: str, difference: Element) -> Element:
    """1 where `difference test 0` holds, else 0."""
    match test:
        case ">":
            return compared("<", scaled(difference, -1))
        case ">=" | "<=" | "!=":
            opposite = {">=": "<", "<=": ">", "!=": "=="}[test]
            return plus(constant(1), compared(opposite, difference), -1)
        case "<":
            if is_negative(difference):
                return constant(1)
            if is_nonnegative(difference):
                return ZERO
        case "==":
            if not difference:
                return constant(1)
            if never_zero(difference):
                return ZERO
            difference = primitive(difference)
    return called(test, scaled(difference, 1 / content(difference)))


def never_zero(element: Element) -> bool:
    """Whether the element is seen to be other than zero at every pair where it has a value."""
    if not element:
        return False
    if is_positive(element) or is_negative(element):
        return True
    factors = factored(element)
    return all(_nonzero_power(*one) for one in factors.powers) and all(_nonzero(part) for part, _ in factors.parts)


def _nonzero_power(generator: Any, exponent: Fraction) -> bool:
    base, _ = generator
    if exponent < 0 or base == MINUS or positive_base(base):
        return True
    if base[0] == "sum":
        return never_zero(dict(base[1]))
    return _is_parameter(base)  # it is not zero throughout


def _nonzero(part: Frozen) -> bool:
    """Whether a sum, or a wave, is seen to be other than zero at every pair."""
    if is_positive(dict(part)) or is_negative(dict(part)):
        return True
    if len(part) == 1:
        ((product, wave), _) = next(iter(part))
        if product or wave is None or not is_rational_at_pairs(wave[1]):
            return False
        # The zeros of both are multiples of pi / 2, which is irrational.
        return wave[0] == "cos" or never_zero(dict(wave[1]))
    coefficients: dict[Any, dict[Key, Fraction]] = {}
    for (product, wave), weight in part:
        rest = frozenset(
            one for one in product if not is_rational_at_pairs(frozenset({((frozenset({one}), None), weight)}))
        )
        if wave is not None or not all(_independent(*one) for one in rest):
            return False
        coefficients.setdefault(rest, {})[product - rest, None] = weight
    return any(is_positive(one) or is_negative(one) for one in coefficients.values())


def _independent(generator: Any, exponent: Fraction) -> bool:
    """Whether products of such powers are linearly independent: roots of primes, powers of pi and of parameters."""
    base, inner = generator
    if inner != ONE:
        return False
    return base[0] == "prime" or (exponent.denominator == 1 and (base[0] == "pi" or _is_parameter(base)))


def _is_parameter(base: Base) -> bool:
    return base[0] in ("name", "symbol") and base[1] not in (*POSITIONS, DISTANCE)


def is_zero(ring: Ring, element: Element) -> bool:
    """Whether the element is zero wherever it has a value; False where that is not seen."""
    return not without_divisors(ring, element)[0]


def _size_of(part: Frozen) -> Base:
    """The base of the absolute value of a part, which is positive wherever its sign is seen."""
    return ("sum" if is_nonnegative(dict(part)) else "abs", part)


def _size_of_power(base: Base, inner: Key, exponent: Fraction) -> Base | None:
    """The base, or its absolute value, of a power that is not negative: so it may be taken to any power itself."""
    if nonnegative_base(base) or exponent.denominator != 1:
        return base
    return ("abs", frozen(of_base(base))) if inner == ONE and exponent % 2 == 0 else None


def _number_power(ring: Ring, number: Fraction, exponent: Element) -> Element:
    """A power of a positive rational number."""
    found = constant(1)
    for prime, many in primes(number):
        found = ring.times(found, raised(ring, ("prime", prime), scaled(exponent, many)))
    return found


def parity(element: Element) -> Element | None:
    """(-1) ** element; None where that is not seen to be a whole number."""
    factors = []
    for key, weight in element.items():
        if not is_whole(key) or weight.denominator != 1:
            return None
        if weight % 2:
            factors.append(term_parity(key))
    return Ring().product(factors)
