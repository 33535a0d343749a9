"""Normal form for sums of products of powers, exponentials, logarithms and waves: identities cancel by themselves.

An element is a sum of terms: a rational number times a power product times, perhaps, one wave (sine or cosine).
Products of waves become sums of waves (addition theorems), exponents of one base are added, logs and absolute values of
products are split, and min and max are written with an absolute value. Every rewriting is an identity of real numbers
wherever the expression has a value, so an element without terms is zero there. An element with terms may still be zero;
nothing is claimed about it.

Positions are integers >= 1, the distance j - i is >= 0; other names are any real number.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, floor
from typing import Any

Key = tuple[frozenset[tuple[Any, Fraction]], Any]
"""Key of a term: its power product, {(generator, exponent), ...}, and its wave, ("sin" or "cos", angle) or None.

A generator (base, key) stands for base ** (the term of that key); the angle is a frozen element.
"""
Element = Mapping[Key, Fraction]
"""Element: coefficient of each term, not zero."""
Frozen = frozenset[tuple[Key, Fraction]]
Base = tuple[Any, ...]

ONE: Key = (frozenset(), None)
ZERO: Element = {}
POSITIONS = ("i", "j", "n")
DISTANCE = "j - i"
PI: Base = ("pi",)
E: Base = ("e",)
MINUS: Base = ("minus",)

MOST_TERMS = 50
"""Largest number of terms of one element."""
MOST_STEPS = 2_500
"""Largest number of products of two terms in one computation."""
MOST_BITS = 4_096
"""Largest number of bits of a coefficient."""
_PLAIN = frozenset({"name", "symbol", "pi", "e", "log"})
"""Bases whose powers are never rewritten."""
_TRUTH = frozenset({"<", "<=", "==", "!=", "and", "or", "not"})


class TooLong(Exception):
    """Raised if a computation takes more steps than are allowed."""


def _bits(number: Fraction) -> int:
    """Bits of a rational number beyond the first."""
    return max(number.numerator.bit_length(), number.denominator.bit_length()) - 1


def constant(value: int | Fraction) -> Element:
    """Element of a rational number."""
    return {ONE: Fraction(value)} if value else ZERO


def of_base(base: Base, exponent: int | Fraction = 1) -> Element:
    """Element of a power of one base that needs no rewriting."""
    return {(frozenset({((base, ONE), Fraction(exponent))}), None): Fraction(1)}


def name(which: str) -> Element:
    """Element of a position, the distance, or a parameter."""
    return of_base(("name", which))


def as_constant(element: Element) -> Fraction | None:
    """Rational number that the element is; None if it is not one."""
    if not element:
        return Fraction(0)
    return element[ONE] if len(element) == 1 and ONE in element else None


def plus(first: Element, second: Element, weight: int | Fraction = 1) -> Element:
    """Sum first + weight * second."""
    result = dict(first)
    for key, coefficient in second.items():
        total = result.get(key, Fraction(0)) + weight * coefficient
        if total:
            result[key] = total
        else:
            result.pop(key, None)
    if len(result) > MOST_TERMS:
        raise TooLong
    return result


def scaled(element: Element, weight: int | Fraction) -> Element:
    """Product weight * element."""
    return {key: weight * coefficient for key, coefficient in element.items()} if weight else ZERO


def frozen(element: Element) -> Frozen:
    """Hashable form of the element."""
    return frozenset(element.items())


@lru_cache(maxsize=65_536)
def spelled(part: Any) -> str:
    """Text that is the same for equal parts; used to sort them."""
    if isinstance(part, frozenset):
        return "{" + ",".join(sorted(map(spelled, part))) + "}"
    if isinstance(part, tuple):
        return "(" + ",".join(map(spelled, part)) + ")"
    return str(part)


@lru_cache(maxsize=65_536)
def names(part: Any) -> frozenset[str]:
    """Positions and parameters that occur in an element, frozen, or in a part of one."""
    if isinstance(part, tuple) and len(part) == 2 and part[0] == "name":
        return frozenset({part[1]})
    if isinstance(part, tuple | frozenset):
        return frozenset().union(*map(names, part))
    return frozenset()


def is_whole(key: Key) -> bool:
    """True if the term's values are known to be integers, by its form."""
    product, wave = key
    return wave is None and all(
        inner == ONE and exponent > 0 and exponent.denominator == 1 and _is_integer_base(base)
        for (base, inner), exponent in product
    )


def is_monomial(key: Key) -> bool:
    """True if the term is a product of positions."""
    product, wave = key
    return wave is None and all(
        base[0] == "name" and base[1] in POSITIONS and inner == ONE and exponent > 0 and exponent.denominator == 1
        for (base, inner), exponent in product
    )


def _is_integer_base(base: Base) -> bool:
    """True if the values of a base are known to be integers."""
    match base:
        case ("name", which):
            return which in POSITIONS or which == DISTANCE
        case ("call", called, *_):
            return called in _TRUTH or called in ("floor", "gcd")
    return False


def is_truth(base: Base) -> bool:
    """True if a base takes only the values 0 and 1."""
    return base[0] == "call" and base[1] in _TRUTH


@dataclass
class Ring:
    """Multiplication of elements, with a limit on the number of steps.

    Attributes:
        left: products of two terms that are still allowed; beyond them `TooLong` is raised.
    """

    left: int = MOST_STEPS

    def spend(self, steps: int = 1) -> None:
        """Count steps down."""
        self.left -= steps
        if self.left < 0:
            raise TooLong

    def product(self, elements: Iterable[Element]) -> Element:
        """Product of all elements."""
        result = constant(1)
        for element in elements:
            result = self.times(result, element)
        return result

    def times(self, first: Element, second: Element) -> Element:
        """Product of two elements."""
        if not first or not second:
            return ZERO
        if len(second) == 1 and ONE in second:
            return scaled(first, second[ONE])
        if len(first) == 1 and ONE in first:
            return scaled(second, first[ONE])
        self.spend(len(first) * len(second))
        terms: dict[Key, Fraction] = {}
        for first_key, a in first.items():
            for second_key, b in second.items():
                weight = a * b
                for key, times in self._terms(first_key, second_key).items():
                    added = weight if times == 1 else weight * times
                    old_weight = terms.get(key)
                    total = added if old_weight is None else old_weight + added
                    if total:
                        terms[key] = total
                    else:
                        del terms[key]
            if len(terms) > MOST_TERMS:
                raise TooLong
        if max(map(_bits, terms.values()), default=0) > MOST_BITS:
            raise TooLong
        return terms

    def whole_power(self, element: Element, times: int) -> Element:
        """Power with an integer exponent >= 0, multiplied out."""
        if len(element) > 1 and comb(min(times, MOST_TERMS) + len(element) - 1, len(element) - 1) > MOST_TERMS:
            raise TooLong
        if max(map(_bits, element.values()), default=0) * times > MOST_BITS:
            raise TooLong
        result = constant(1)
        square = element
        while times:
            if times & 1:
                result = self.times(result, square)
            times >>= 1
            if times:
                square = self.times(square, square)
        return result

    def generator(self, base: Base, exponent: Fraction, inner: Key = ONE) -> Element:
        """Element base ** (exponent * the term of a key)."""
        remaining, factor, element = self._reduced((base, inner), exponent)
        product = frozenset({((base, inner), remaining)}) if remaining else frozenset()
        result: Element = {(product, None): factor}
        return result if element is None else self.times(result, element)

    def _terms(self, first: Key, second: Key) -> Element:
        """Product of two terms."""
        if ONE in (first, second):
            return {second if first == ONE else first: Fraction(1)}
        exponents = dict(first[0])
        weight, expanded = Fraction(1), []
        for generator, exponent in second[0]:
            old_exponent = exponents.pop(generator, None)
            total = exponent if old_exponent is None else old_exponent + exponent
            if generator[0][0] not in _PLAIN:
                total, factor, element = self._reduced(generator, total)
                weight *= factor
                if element is not None:
                    expanded.append(element)
            if total:
                exponents[generator] = total
        product = frozenset(exponents.items())
        if first[1] is None or second[1] is None:
            result: Element = {(product, first[1] or second[1]): weight}
        else:
            result = self.times({(product, None): weight}, self._wave_product(first[1], second[1]))
        for element in expanded:
            result = self.times(result, element)
        return result

    def _reduced(self, generator: Any, exponent: Fraction) -> tuple[Fraction, Fraction, Element | None]:
        """Remaining exponent, rational factor, and element to multiply with (or None), from a power of a generator."""
        base, inner = generator
        if base == MINUS:
            return exponent % 2, Fraction(1), None
        if inner != ONE:
            return exponent, Fraction(1), None
        integer_part = floor(exponent)
        if base[0] == "prime" and integer_part:
            if abs(integer_part) * int(base[1]).bit_length() > MOST_BITS:
                raise TooLong
            return exponent - integer_part, Fraction(base[1]) ** integer_part, None
        if base[0] == "sum" and integer_part > 0:
            return exponent - integer_part, Fraction(1), self.whole_power(dict(base[1]), integer_part)
        if base[0] == "abs" and integer_part > 1:
            integer_part -= integer_part % 2
            return exponent - integer_part, Fraction(1), self.whole_power(dict(base[1]), integer_part)
        if is_truth(base) and exponent > 1:
            return Fraction(1), Fraction(1), None
        return exponent, Fraction(1), None

    def _wave_product(self, first: Any, second: Any) -> Element:
        (kind, angle), (second_kind, second_angle) = first, second
        difference, total = (plus(dict(angle), dict(second_angle), sign) for sign in (-1, 1))
        # cos cos and sin sin give cosines, sin cos and cos sin give sines.
        result = "cos" if kind == second_kind else "sin"
        if kind == second_kind == "sin":
            weights = Fraction(1, 2), Fraction(-1, 2)
        elif kind == "cos" and second_kind == "sin":
            weights = Fraction(-1, 2), Fraction(1, 2)
        else:
            weights = Fraction(1, 2), Fraction(1, 2)
        return plus(scaled(self.wave(result, difference), weights[0]), scaled(self.wave(result, total), weights[1]))

    def wave(self, kind: str, angle: Element) -> Element:
        """Sine or cosine ("sin" or "cos") of an element."""
        self.spend(len(angle))
        if kind == "cos" and len(angle) == 1:
            ((key, weight),) = angle.items()
            angle = _without_absolute_value(key, weight) or angle
        signs, rest = _without_turns(dict(angle))
        leading_key = min((key for key in rest if key != _PI_KEY), key=spelled, default=None)
        if leading_key is not None and rest[leading_key] < 0:
            more_signs, rest = _without_turns({key: -weight for key, weight in rest.items()})
            signs = [*signs, *more_signs]
            if kind == "sin":
                signs.append(ONE)
        pi_part = rest.pop(_PI_KEY, Fraction(0))
        sign = self.product(map(term_parity, signs))
        if abs(pi_part) == Fraction(1, 2):
            # cos(x + pi/2) = -sin(x), sin(x + pi/2) = cos(x)
            weight = Fraction(-1 if (kind == "cos") == (pi_part > 0) else 1)
            return scaled(self.times(sign, _plain_wave("sin" if kind == "cos" else "cos", rest)), weight)
        if not pi_part:
            return self.times(sign, _plain_wave(kind, rest))
        if abs(pi_part) not in _RADICALS:
            if not rest and pi_part < 0:
                pi_part, sign = -pi_part, scaled(sign, -1 if kind == "sin" else 1)
            return self.times(sign, _plain_wave(kind, rest | {_PI_KEY: pi_part}))
        cosine, sine = _RADICALS[abs(pi_part)]
        if pi_part < 0:
            sine = scaled(sine, -1)
        same = self.times(cosine, _plain_wave(kind, rest))
        if kind == "cos":
            return self.times(sign, plus(same, self.times(sine, _plain_wave("sin", rest)), -1))
        return self.times(sign, plus(same, self.times(sine, _plain_wave("cos", rest))))


def _multiple_of_sqrt(base: int, weight: Fraction) -> Element:
    return scaled(of_base(("prime", base), Fraction(1, 2)), weight)


def _sqrt6_and_sqrt2(weight: int) -> Element:
    """Element (sqrt 6 + weight sqrt 2) / 4."""
    six = {
        (frozenset({((("prime", 2), ONE), Fraction(1, 2)), ((("prime", 3), ONE), Fraction(1, 2))}), None): Fraction(
            1, 4
        )
    }
    return plus(six, _multiple_of_sqrt(2, Fraction(1, 4)), weight)


_PI_KEY: Key = (frozenset({((PI, ONE), Fraction(1))}), None)
_RADICALS: dict[Fraction, tuple[Element, Element]] = {
    Fraction(1, 12): (_sqrt6_and_sqrt2(1), _sqrt6_and_sqrt2(-1)),
    Fraction(1, 6): (_multiple_of_sqrt(3, Fraction(1, 2)), constant(Fraction(1, 2))),
    Fraction(1, 4): (_multiple_of_sqrt(2, Fraction(1, 2)), _multiple_of_sqrt(2, Fraction(1, 2))),
    Fraction(1, 3): (constant(Fraction(1, 2)), _multiple_of_sqrt(3, Fraction(1, 2))),
    Fraction(5, 12): (_sqrt6_and_sqrt2(-1), _sqrt6_and_sqrt2(1)),
}
"""Cosine and sine of these multiples of pi."""


def _plain_wave(kind: str, angle: Element) -> Element:
    if not angle:
        return constant(1) if kind == "cos" else ZERO
    return {(frozenset(), (kind, frozen(angle))): Fraction(1)}


def _without_absolute_value(key: Key, weight: Fraction) -> Element | None:
    """Angle without an absolute value, for cos |x| = cos x; None if the term is not an absolute value."""
    product, wave = key
    if wave is None and len(product) == 1:
        (((base, inner), exponent),) = product
        if base[0] == "abs" and inner == ONE and exponent == 1:
            return scaled(dict(base[1]), weight)
    return None


def _without_turns(angle: dict[Key, Fraction]) -> tuple[list[Key], dict[Key, Fraction]]:
    """Angle with multiples w of pi times integer terms in -1/2 < w <= 1/2, and the terms t of the signs (-1)**t."""
    signs, rest = [], {}
    for key, weight in angle.items():
        integer_term = whole_turn(key)
        if integer_term is None:
            rest[key] = weight
            continue
        turns = ceil(weight - Fraction(1, 2))
        if turns % 2:
            signs.append(integer_term)
        if weight != turns:
            rest[key] = weight - turns
    return signs, rest


def whole_turn(key: Key) -> Key | None:
    """Integer term with which pi is multiplied in a term pi * integer; None for other terms."""
    product, wave = key
    if wave is None and ((PI, ONE), Fraction(1)) in product:
        rest: Key = (product - {((PI, ONE), Fraction(1))}, None)
        return rest if is_whole(rest) else None
    return None


def term_parity(key: Key) -> Element:
    """Element (-1) ** (an integer term)."""
    if key == ONE:
        return constant(-1)
    product: Key = (frozenset((generator, Fraction(1)) for generator, _ in key[0]), None)
    return {(frozenset({((MINUS, product), Fraction(1))}), None): Fraction(1)}
