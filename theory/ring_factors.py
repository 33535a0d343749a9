"""Factors of elements of the ring: content, primitive part, and factors of integer polynomials, by FLINT."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import floor, gcd, lcm
from typing import Any

import flint

from lengthgen.theory.ring import (
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
from lengthgen.theory.ring_signs import (
    is_nonnegative,
)

_MOST_FACTORED = 60
"""Largest number of terms of a polynomial that is factored."""
_HIGHEST_FACTORED = 12
"""Largest degree of a polynomial that is factored."""
_MOST_ROUNDS = 8
"""Largest number of rounds in which an element is multiplied with its divisors."""
_LARGEST_NUMBER = 2**64
"""Larger integers are not factored into primes."""


@dataclass(frozen=True, kw_only=True)
class Factors:
    """Factored form of an element.

    Attributes:
        number: a rational number.
        powers: ((base, key), exponent) of generators.
        parts: irreducible elements with multiplicities; a part whose sign is known to be constant is positive.
    """

    number: Fraction
    powers: tuple[tuple[tuple[Base, Key], Fraction], ...]
    parts: tuple[tuple[Frozen, int], ...]


@lru_cache(maxsize=4096)
def primes(number: Fraction) -> tuple[tuple[int, int], ...]:
    """Prime powers of a positive rational number; an integer that is too large counts as one prime."""
    exponents: dict[int, int] = {}
    for integer, sign in ((number.numerator, 1), (number.denominator, -1)):
        factors = [(integer, 1)] if integer > _LARGEST_NUMBER else flint.fmpz(integer).factor() if integer > 1 else []
        for prime, multiplicity in factors:
            exponents[int(prime)] = exponents.get(int(prime), 0) + sign * int(multiplicity)
    return tuple((prime, multiplicity) for prime, multiplicity in exponents.items() if multiplicity)


def content(element: Element) -> Fraction:
    """Positive number by which division makes the coefficients coprime integers."""
    return Fraction(
        gcd(*(weight.numerator for weight in element.values())),
        lcm(*(weight.denominator for weight in element.values())),
    )


def primitive(element: Element) -> Element:
    """Multiple with coprime integer coefficients, the first of them positive."""
    sign = 1 if not element or _has_positive_lead(element) else -1
    return scaled(element, sign / content(element)) if element else element


def factored(element: Element) -> Factors:
    """Factors of an element that is not zero; raises `TooLong` if it turns out to be zero."""
    numerator, divisors = without_divisors(Ring(), element)
    if not numerator:
        raise TooLong  # the element is zero after all
    factors = _factored(frozen(numerator))
    powers = dict(factors.powers)
    for base, times in divisors.items():
        powers[base, ONE] = powers.get((base, ONE), Fraction(0)) - times
    return replace(factors, powers=tuple((generator, times) for generator, times in powers.items() if times))


@lru_cache(maxsize=16_384)
def _factored(element: Frozen) -> Factors:
    """Factors of an element without divisors."""
    terms = dict(element)
    common = dict(next(iter(terms))[0])
    for product, _ in terms:
        exponents = dict(product)
        common = {power: min(times, exponents[power]) for power, times in common.items() if power in exponents}
    powers = tuple(common.items())
    number = content(terms)
    rest = {_without(key, common): weight / number for key, weight in terms.items()}
    if len(rest) == 1 and ONE in rest:
        return Factors(number=number * rest[ONE], powers=powers, parts=())
    parts = []
    sign, polynomial_factors = _polynomial_factors(rest)
    number *= sign
    for part, multiplicity in polynomial_factors:
        sign = 1 if is_nonnegative(part) or (not is_nonnegative(scaled(part, -1)) and _has_positive_lead(part)) else -1
        number *= sign**multiplicity
        parts.append((frozen(scaled(part, sign)), multiplicity))
    return Factors(number=number, powers=powers, parts=tuple(parts))


def _has_positive_lead(part: Element) -> bool:
    """True if the first coefficient is positive."""
    return part[min(part, key=spelled)] > 0


def _without(key: Key, common: dict[Any, Fraction]) -> Key:
    """Key of a term divided by a common power product."""
    product, wave = key
    quotient = ((generator, times - common.get(generator, 0)) for generator, times in product)
    return frozenset((generator, times) for generator, times in quotient if times), wave


def _polynomial_factors(element: Element) -> tuple[int, list[tuple[Element, int]]]:
    """Number and irreducible factors of a polynomial with integer coefficients; any other element is its own factor."""
    generators = sorted({generator for product, _ in element for generator, _ in product}, key=spelled)
    products = [dict(product) for product, _ in element]
    plain = all(wave is None for _, wave in element) and all(
        sum(product.values()) <= _HIGHEST_FACTORED
        and all(times > 0 and times.denominator == 1 for times in product.values())
        for product in products
    )
    if not plain or len(element) > _MOST_FACTORED or any(base == MINUS for base, _ in generators):
        return 1, [(element, 1)]
    context = flint.fmpz_mpoly_ctx.get([f"x{index}" for index in range(len(generators))], "lex")
    terms = {
        tuple(int(product.get(generator, 0)) for generator in generators): int(weight)
        for product, weight in zip(products, element.values(), strict=True)
    }
    number, factors = context.from_dict(terms).factor()
    return int(number), [(_from_polynomial(factor, generators), int(multiplicity)) for factor, multiplicity in factors]


def _from_polynomial(polynomial: Any, generators: list[Any]) -> Element:
    """Element of a FLINT polynomial."""
    terms = {}
    for powers, weight in polynomial.to_dict().items():
        product = (
            (generator, Fraction(int(times))) for generator, times in zip(generators, powers, strict=True) if times
        )
        terms[frozenset(product), None] = Fraction(int(weight))
    return terms


def without_divisors(ring: Ring, element: Element) -> tuple[Element, dict[Base, int]]:
    """Element multiplied by all its divisors (sums with negative exponent, not zero), and these with multiplicities."""
    multiplied: dict[Base, int] = {}
    for _ in range(_MOST_ROUNDS):
        needed: dict[Base, int] = {}
        for product, _ in element:
            for (base, inner), exponent in product:
                if base[0] == "sum" and inner == ONE and exponent < 0:
                    needed[base] = max(needed.get(base, 0), -floor(exponent))
        if not needed:
            return element, multiplied
        total: Element = ZERO
        for (product, wave), weight in element.items():
            rest = dict(product)
            cleared = [
                ring.generator(base, rest.pop((base, ONE), Fraction(0)) + times) for base, times in needed.items()
            ]
            total = plus(total, ring.product([{(frozenset(rest.items()), wave): weight}, *cleared]))
        element = total
        for base, times in needed.items():
            multiplied[base] = multiplied.get(base, 0) + times
    raise TooLong
