"""Factors of elements of the ring: content, primitive part, and polynomials over the integers, by FLINT."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import floor, gcd, lcm
from typing import Any

import flint

from theory.ring import (
    MINUS,
    ONE,
    ZERO,
    Base,
    Element,
    Frozen,
    Key,
    Ring,
    TooLong,
    frozen,
    plus,
    scaled,
    spelled,
)
from theory.ring_signs import (
    is_nonnegative,
)

_MOST_FACTORED = 60
"""Terms of a polynomial that is factored."""
_HIGHEST_FACTORED = 12
_MOST_ROUNDS = 8
"""How often an element is multiplied with the divisors in it."""
_LARGEST_NUMBER = 2**64
"""Above this a whole number is not taken apart into primes."""


@dataclass(frozen=True, kw_only=True)
class Factors:
    """An element as a product.

    Attributes:
        number: a rational number.
        powers: ((base, key), exponent) of generators.
        parts: elements that are no product, and how often; of one sign where that is seen, then positive.
    """

    number: Fraction
    powers: tuple[tuple[tuple[Base, Key], Fraction], ...]
    parts: tuple[tuple[Frozen, int], ...]


@lru_cache(maxsize=4096)
def primes(number: Fraction) -> tuple[tuple[int, int], ...]:
    """A positive rational number as powers of primes; of a large whole number as itself."""
    found: dict[int, int] = {}
    for whole, sign in ((number.numerator, 1), (number.denominator, -1)):
        factors = [(whole, 1)] if whole > _LARGEST_NUMBER else flint.fmpz(whole).factor() if whole > 1 else []
        for prime, many in factors:
            found[int(prime)] = found.get(int(prime), 0) + sign * int(many)
    return tuple((prime, many) for prime, many in found.items() if many)


def content(element: Element) -> Fraction:
    """The positive number by which the coefficients become whole numbers without a common factor."""
    return Fraction(
        gcd(*(weight.numerator for weight in element.values())),
        lcm(*(weight.denominator for weight in element.values())),
    )


def primitive(element: Element) -> Element:
    """The multiple with whole coefficients without a common factor, of which the first is positive."""
    sign = 1 if not element or _leads_above(element) else -1
    return scaled(element, sign / content(element)) if element else element


def factored(element: Element) -> Factors:
    """An element that is not zero, as a product."""
    whole, divisors = without_divisors(Ring(), element)
    if not whole:
        raise TooLong  # zero in disguise
    found = _factored(frozen(whole))
    powers = dict(found.powers)
    for base, times in divisors.items():
        powers[base, ONE] = powers.get((base, ONE), Fraction(0)) - times
    return replace(found, powers=tuple((one, times) for one, times in powers.items() if times))


@lru_cache(maxsize=16_384)
def _factored(element: Frozen) -> Factors:
    terms = dict(element)
    common = dict(next(iter(terms))[0])
    for product, _ in terms:
        here = dict(product)
        common = {one: min(times, here[one]) for one, times in common.items() if one in here}
    powers = tuple(common.items())
    number = content(terms)
    rest = {_without(key, common): weight / number for key, weight in terms.items()}
    if len(rest) == 1 and ONE in rest:
        return Factors(number=number * rest[ONE], powers=powers, parts=())
    parts = []
    sign, found = _polynomial_factors(rest)
    number *= sign
    for part, many in found:
        sign = 1 if is_nonnegative(part) or (not is_nonnegative(scaled(part, -1)) and _leads_above(part)) else -1
        number *= sign**many
        parts.append((frozen(scaled(part, sign)), many))
    return Factors(number=number, powers=powers, parts=tuple(parts))


def _leads_above(part: Element) -> bool:
    return part[min(part, key=spelled)] > 0


def _without(key: Key, common: dict[Any, Fraction]) -> Key:
    product, wave = key
    left = ((one, times - common.get(one, 0)) for one, times in product)
    return frozenset((one, times) for one, times in left if times), wave


def _polynomial_factors(element: Element) -> tuple[int, list[tuple[Element, int]]]:
    """A number and the irreducible factors of a polynomial with whole coefficients; of anything else itself."""
    generators = sorted({one for product, _ in element for one, _ in product}, key=spelled)
    products = [dict(product) for product, _ in element]
    plain = all(wave is None for _, wave in element) and all(
        sum(product.values()) <= _HIGHEST_FACTORED
        and all(times > 0 and times.denominator == 1 for times in product.values())
        for product in products
    )
    if not plain or len(element) > _MOST_FACTORED or any(base == MINUS for base, _ in generators):
        return 1, [(element, 1)]
    context = flint.fmpz_mpoly_ctx.get([f"x{place}" for place in range(len(generators))], "lex")
    terms = {
        tuple(int(product.get(one, 0)) for one in generators): int(weight)
        for product, weight in zip(products, element.values(), strict=True)
    }
    number, factors = context.from_dict(terms).factor()
    return int(number), [(_from_polynomial(factor, generators), int(many)) for factor, many in factors]


def _from_polynomial(polynomial: Any, generators: list[Any]) -> Element:
    found = {}
    for powers, weight in polynomial.to_dict().items():
        product = ((one, Fraction(int(times))) for one, times in zip(generators, powers, strict=True) if times)
        found[frozenset(product), None] = Fraction(int(weight))
    return found


def without_divisors(ring: Ring, element: Element) -> tuple[Element, dict[Base, int]]:
    """The element multiplied with all that it is divided by, which is not zero; and with what, and how often."""
    multiplied: dict[Base, int] = {}
    for _ in range(_MOST_ROUNDS):
        lowest: dict[Base, int] = {}
        for product, _ in element:
            for (base, inner), exponent in product:
                if base[0] == "sum" and inner == ONE and exponent < 0:
                    lowest[base] = max(lowest.get(base, 0), -floor(exponent))
        if not lowest:
            return element, multiplied
        total: Element = ZERO
        for (product, wave), weight in element.items():
            rest = dict(product)
            more = [ring.generator(base, rest.pop((base, ONE), Fraction(0)) + times) for base, times in lowest.items()]
            total = plus(total, ring.product([{(frozenset(rest.items()), wave): weight}, *more]))
        element = total
        for base, times in lowest.items():
            multiplied[base] = multiplied.get(base, 0) + times
    raise TooLong
