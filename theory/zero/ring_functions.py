"""Functions of the elements of lengthgen.theory.zero.ring, by their factors, and the elements of real expressions.

An element is factored into its content, powers of generators, and irreducible parts, by FLINT. Powers, exponentials,
logarithms, absolute values and comparisons work on these factors. Each result equals the operation wherever that has a
value: a radicand is assumed to be non-negative, the argument of a logarithm positive, and a divisor non-zero. With
these functions a real sympy expression is read as an element.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import floor as floor_of
from math import gcd, lcm
from typing import Any

import flint
import sympy as sp

from lengthgen.theory.zero.enclosure import enclose
from lengthgen.theory.zero.ring import (
    DISTANCE,
    MINUS,
    ONE,
    PI,
    POSITIONS,
    ZERO,
    Base,
    E,
    Element,
    Frozen,
    Key,
    Ring,
    TooLong,
    as_constant,
    constant,
    frozen,
    is_whole,
    of_base,
    plus,
    scaled,
    spelled,
    term_parity,
)
from lengthgen.theory.zero.ring_signs import (
    is_negative,
    is_nonnegative,
    is_positive,
    is_rational_at_pairs,
    nonnegative_base,
    nonnegative_power,
    positive_base,
)

_MOST_FACTORED = 60
"""Largest number of terms of a polynomial that is factored."""
_HIGHEST_FACTORED = 12
"""Largest degree of a polynomial that is factored."""
_MOST_ROUNDS = 8
"""Largest number of rounds in which an element is multiplied with its divisors."""
_LARGEST_NUMBER = 2**64
"""Larger integers are not factored into primes."""

_MOST_STEPS = 400
"""Largest number of products of two terms for one value; a pattern may have many hundreds of values."""
_BITS = 64


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
                    needed[base] = max(needed.get(base, 0), -floor_of(exponent))
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


@lru_cache(maxsize=4096)
def _primes(number: Fraction) -> tuple[tuple[int, int], ...]:
    """Prime powers of a positive rational number; an integer that is too large counts as one prime."""
    exponents: dict[int, int] = {}
    for integer, sign in ((number.numerator, 1), (number.denominator, -1)):
        factors = [(integer, 1)] if integer > _LARGEST_NUMBER else flint.fmpz(integer).factor() if integer > 1 else []
        for prime, multiplicity in factors:
            exponents[int(prime)] = exponents.get(int(prime), 0) + sign * int(multiplicity)
    return tuple((prime, multiplicity) for prime, multiplicity in exponents.items() if multiplicity)


def called(which: str, *operands: Element) -> Element:
    """Element of a function about which only its operands are known."""
    return of_base(("call", which, *map(frozen, operands)))


def power(ring: Ring, base: Element, exponent: Element) -> Element:
    """Element base ** exponent."""
    times = as_constant(exponent)
    if times is not None and times.denominator == 1:
        return ring.whole_power(base, int(times)) if times >= 0 else _inverse_power(ring, base, int(times))
    if not base:
        return ZERO if times is not None and times > 0 else called("**", base, exponent)
    factors = factored(base)
    result = (
        _fractional_power(ring, factors, times) if times is not None else _power_of_factors(ring, factors, exponent)
    )
    return called("**", base, exponent) if result is None else result


def inverse(ring: Ring, element: Element) -> Element:
    """Element 1 / element."""
    return _inverse_power(ring, element, -1)


def _inverse_power(ring: Ring, base: Element, times: int) -> Element:
    """Power with a negative integer exponent."""
    if not base:
        return called("**", base, constant(times))
    factors = factored(base)
    powers = [ring.generator(power_base, exponent * times, inner) for (power_base, inner), exponent in factors.powers]
    parts = [ring.generator(("sum", part), Fraction(multiplicity * times)) for part, multiplicity in factors.parts]
    return scaled(ring.product([*powers, *parts]), factors.number**times)


def _fractional_power(ring: Ring, factors: Factors, times: Fraction) -> Element | None:
    """Fractional power of a non-negative element; None if it cannot be split into factors."""
    powers = [_number_power(ring, abs(factors.number), constant(times))]
    for (base, inner), exponent in factors.powers:
        size = _absolute_base_of_power(base, inner, exponent)
        if size is None:
            return None
        powers.append(ring.generator(size, exponent * times, inner))
    parts = _nonnegative_parts(ring, factors)
    return (
        None
        if parts is None
        else ring.product([*powers, *(ring.generator(base, multiplicity * times) for base, multiplicity in parts)])
    )


def _power_of_factors(ring: Ring, factors: Factors, exponent: Element) -> Element | None:
    """Power whose exponent is not a number; None if it cannot be split into factors."""
    sign = constant(1) if factors.number > 0 else _parity(exponent)
    if sign is None:
        return None
    is_integer = all(is_whole(key) and weight.denominator == 1 for key, weight in exponent.items())
    powers = [sign, _number_power(ring, abs(factors.number), exponent)]
    for (base, inner), times in factors.powers:
        factor_exponent = ring.times({inner: times}, exponent)
        if base == MINUS:
            sign_power = _parity(factor_exponent)
            if sign_power is None:
                return None
            powers.append(sign_power)
        else:
            size = base if is_integer and inner == ONE else _absolute_base_of_power(base, inner, times)
            if size is None:
                return None
            powers.append(_power_of_base(ring, size, factor_exponent))
    for part, multiplicity in factors.parts:
        if _absolute_base(part)[0] != "sum":
            return None
        powers.append(_power_of_base(ring, ("sum", part), scaled(exponent, multiplicity)))
    return ring.product(powers)


def _nonnegative_parts(ring: Ring, factors: Factors) -> list[tuple[Base, int]] | None:
    """Bases, with multiplicities, of the parts of a non-negative element; None if the element is minus their product.

    What is left of the parts without a known sign is one sum, which is non-negative as the element is.
    """
    signed = constant(1 if factors.number > 0 else -1)
    bases = []
    for part, multiplicity in factors.parts:
        base = _absolute_base(part)
        even = multiplicity if base[0] == "sum" else multiplicity - multiplicity % 2
        if even:
            bases.append((base, even))
        if even < multiplicity:
            signed = ring.times(signed, dict(part))
    if as_constant(signed) == -1:
        return None
    return bases if as_constant(signed) == 1 else [*bases, (("sum", frozen(signed)), 1)]


def _number_power(ring: Ring, number: Fraction, exponent: Element) -> Element:
    """Power of a positive rational number."""
    result = constant(1)
    for prime, multiplicity in _primes(number):
        result = ring.times(result, _power_of_base(ring, ("prime", prime), scaled(exponent, multiplicity)))
    return result


def _power_of_base(ring: Ring, base: Base, exponent: Element) -> Element:
    """Element base ** exponent for a base, whose form is not checked."""
    result = constant(1)
    for (product, wave), weight in exponent.items():
        term_base, rest = base, product
        if base == E:
            logarithm = next(
                (factor for factor in product if factor[0][0][0] == "log" and factor[0][1] == ONE and factor[1] == 1),
                None,
            )
            if logarithm is not None:  # e**(w log b) = b**w
                term_base, rest = logarithm[0][0][1], product - {logarithm}
        result = ring.times(result, ring.generator(term_base, weight, (rest, wave)))
    return result


def exponential(ring: Ring, element: Element) -> Element:
    """Element e ** element."""
    return _power_of_base(ring, E, element)


def logarithm(ring: Ring, element: Element) -> Element:
    """Natural logarithm of an element."""
    if not element:
        return called("log", element)
    factors = factored(element)
    result: Element = ZERO
    for prime, multiplicity in _primes(abs(factors.number)):
        result = plus(result, of_base(("log", ("prime", prime))), multiplicity)
    for (base, inner), exponent in factors.powers:
        size = _absolute_base_of_power(base, inner, exponent)
        if size is None:
            return called("log", element)
        result = plus(result, ring.times({inner: exponent}, constant(1) if base == E else of_base(("log", size))))
    parts = _nonnegative_parts(ring, factors)
    if parts is None:
        return called("log", element)
    for base, multiplicity in parts:
        result = plus(result, of_base(("log", base)), multiplicity)
    return result


def absolute(ring: Ring, element: Element) -> Element:
    """Absolute value of an element."""
    if is_nonnegative(element):
        return element
    if is_nonnegative(scaled(element, -1)):
        return scaled(element, -1)
    factors = factored(element)
    result = [constant(abs(factors.number))]
    unknown_sign: dict[Base, list[Element]] = {}
    for (base, inner), exponent in factors.powers:
        generator_power = ring.generator(base, exponent, inner)
        if base == MINUS:
            continue
        if nonnegative_power((base, inner), exponent):
            result.append(generator_power)
        else:
            unknown_sign.setdefault(base, []).append(generator_power)
    # Powers of one base stay in one absolute value: 0**(j - i) can have a value where 0**-i has none.
    result += [of_base(("abs", frozen(ring.product(powers)))) for powers in unknown_sign.values()]
    for part, multiplicity in factors.parts:
        result.append(
            ring.generator(_absolute_base(part) if multiplicity % 2 else ("sum", part), Fraction(multiplicity))
        )
    return ring.product(result)


def _absolute_base(part: Frozen) -> Base:
    """Base of the absolute value of a part; the part itself if it is known to be non-negative."""
    return ("sum" if is_nonnegative(dict(part)) else "abs", part)


def _absolute_base_of_power(base: Base, inner: Key, exponent: Fraction) -> Base | None:
    """Base, or its absolute value, of a power that is non-negative, so that any power may be taken of it; else None."""
    if nonnegative_base(base) or exponent.denominator != 1:
        return base
    return ("abs", frozen(of_base(base))) if inner == ONE and exponent % 2 == 0 else None


def _parity(element: Element) -> Element | None:
    """Element (-1) ** element; None if that exponent is not known to be an integer."""
    factors = []
    for key, weight in element.items():
        if not is_whole(key) or weight.denominator != 1:
            return None
        if weight % 2:
            factors.append(term_parity(key))
    return Ring().product(factors)


def floor(element: Element) -> Element:
    """Floor of an element; integer terms are taken out of it."""
    integer_part: Element = ZERO
    for key, weight in element.items():
        if is_whole(key):
            integer_part = plus(integer_part, {key: Fraction(1)}, floor_of(weight))
    rest = plus(element, integer_part, -1)
    return integer_part if as_constant(rest) is not None else plus(integer_part, called("floor", rest))


def compared(test: str, difference: Element) -> Element:
    """Element that is 1 where `difference test 0` holds, else 0."""
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


def is_zero(element: Element) -> bool:
    """True if the element is zero wherever it has a value; False if that is not proved."""
    try:
        return not without_divisors(Ring(), element)[0]
    except TooLong:
        return False


def never_zero(element: Element) -> bool:
    """True if the element is known to be non-zero at every pair where it has a value."""
    if not element:
        return False
    if is_positive(element) or is_negative(element):
        return True
    factors = factored(element)
    return all(_nonzero_power(*powered) for powered in factors.powers) and all(
        _nonzero(part) for part, _ in factors.parts
    )


def _nonzero_power(generator: Any, exponent: Fraction) -> bool:
    """True if a power of a generator is known to be non-zero at every pair."""
    base, _ = generator
    if exponent < 0 or base == MINUS or positive_base(base):
        return True
    if base[0] == "sum":
        return never_zero(dict(base[1]))
    return _is_parameter(base)  # a parameter is an indeterminate, so not identically zero


def _nonzero(part: Frozen) -> bool:
    """True if a sum, or a wave, is known to be non-zero at every pair."""
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
            powered
            for powered in product
            if not is_rational_at_pairs(frozenset({((frozenset({powered}), None), weight)}))
        )
        if wave is not None or not all(_independent(*powered) for powered in rest):
            return False
        coefficients.setdefault(rest, {})[product - rest, None] = weight
    return any(is_positive(coefficient) or is_negative(coefficient) for coefficient in coefficients.values())


def _independent(generator: Any, exponent: Fraction) -> bool:
    """True if products of such powers are linearly independent: roots of primes, powers of pi and of parameters."""
    base, inner = generator
    if inner != ONE:
        return False
    return base[0] == "prime" or (exponent.denominator == 1 and (base[0] == "pi" or _is_parameter(base)))


def _is_parameter(base: Base) -> bool:
    """True if the base is a parameter: a name or symbol that is not a position or the distance."""
    return base[0] in ("name", "symbol") and base[1] not in (*POSITIONS, DISTANCE)


def element_of_value(value: Any) -> Element | None:
    """Element that a real expression equals; None if that takes too many steps."""
    try:
        return _read(Ring(left=_MOST_STEPS), value)
    except TooLong:
        return None


def _read(ring: Ring, value: Any) -> Element:
    """Element of an expression; a part that the ring does not know becomes a symbol."""
    if value.is_Rational:
        return constant(Fraction(int(value.p), int(value.q)))
    if value.is_Float:
        return _float(value)
    if value is sp.pi:
        return of_base(PI)
    if value is sp.E:
        return of_base(E)
    if value.is_Add:
        total: Element = constant(0)
        for part in value.args:
            total = plus(total, _read(ring, part))
        return total
    if value.is_Mul:
        return ring.product(_read(ring, part) for part in value.args)
    if value.is_Pow:
        base = _read(ring, value.base)
        if value.exp.is_Integer or _is_positive(value.base, base):
            return power(ring, base, _read(ring, value.exp))
    if isinstance(value, sp.exp):
        return exponential(ring, _read(ring, value.args[0]))
    if isinstance(value, sp.log):
        argument = _read(ring, value.args[0])
        if _is_positive(value.args[0], argument):
            return logarithm(ring, argument)
    if isinstance(value, sp.sin | sp.cos):
        return ring.wave("sin" if isinstance(value, sp.sin) else "cos", _read(ring, value.args[0]))
    if isinstance(value, sp.Abs):
        return absolute(ring, _read(ring, value.args[0]))
    return of_base(("symbol", value))


def _float(value: sp.Float) -> Element:
    """Element of a floating-point number: a symbol about which only the sign is known.

    The symbol has the number's text as its name, since Python cannot compare a sympy Float with the Fraction of the
    same hash.
    """
    if value.is_zero:
        return constant(0)
    sign = {"positive": True} if value.is_positive else {"negative": True}
    return of_base(("symbol", sp.Symbol(sp.srepr(value), **sign)))


def _is_positive(value: Any, element: Element) -> bool:
    """True if the expression, or its element, is known to be positive."""
    if value.free_symbols:
        return is_positive(element) or bool(value.is_positive)
    ball = enclose(value, bits=_BITS)
    return ball is not None and bool(ball > 0)
