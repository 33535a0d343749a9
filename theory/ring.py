"""Sums of products of powers, exponentials, logarithms and waves, written so that identities cancel by themselves.

An element is a sum of terms: a rational number times a power product times, perhaps, one sine or cosine.  Products of
waves become sums of waves (the addition theorems), exponentials and powers of one base are added in the exponent, logs
of products and absolute values of products are taken apart, and min and max are written with an absolute value.  Every
rewriting is an identity of real numbers wherever the expression has a value, so an element without terms is zero there.
An element with terms may be zero all the same: nothing is said of it.

Positions are whole numbers of at least 1, the distance j - i of at least 0; other names are any real number.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, floor
from typing import Any

Key = tuple[frozenset[tuple[Any, Fraction]], Any]
"""Of a term: its power product, {(generator, exponent), ...}, and its wave, ("sin" or "cos", angle) or None.

A generator (base, key) stands for base ** (the term of that key); the angle is a frozen element.
"""
Element = Mapping[Key, Fraction]
"""Term to coefficient, which is not zero."""
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
"""Terms of one element."""
MOST_STEPS = 2_500
"""Products of two terms for one question."""
MOST_BITS = 4_096
"""Of a coefficient."""
_PLAIN = frozenset({"name", "symbol", "pi", "e", "log"})
"""Bases whose powers are never rewritten."""
_TRUTH = frozenset({"<", "<=", "==", "!=", "and", "or", "not"})


class TooLong(Exception):
    """The question takes more steps than are allowed."""


def _bits(number: Fraction) -> int:
    """Bits of a number beyond the first."""
    return max(number.numerator.bit_length(), number.denominator.bit_length()) - 1


def constant(value: int | Fraction) -> Element:
    """A rational number."""
    return {ONE: Fraction(value)} if value else ZERO


def of_base(base: Base, exponent: int | Fraction = 1) -> Element:
    """A power of one base that needs no rewriting."""
    return {(frozenset({((base, ONE), Fraction(exponent))}), None): Fraction(1)}


def name(which: str) -> Element:
    """A position, the distance, or a parameter."""
    return of_base(("name", which))


def as_constant(element: Element) -> Fraction | None:
    """The rational number that the element is; None where it is not one."""
    if not element:
        return Fraction(0)
    return element[ONE] if len(element) == 1 and ONE in element else None


def plus(first: Element, second: Element, weight: int | Fraction = 1) -> Element:
    """first + weight * second."""
    found = dict(first)
    for key, coefficient in second.items():
        total = found.get(key, Fraction(0)) + weight * coefficient
        if total:
            found[key] = total
        else:
            found.pop(key, None)
    if len(found) > MOST_TERMS:
        raise TooLong
    return found


def scaled(element: Element, weight: int | Fraction) -> Element:
    """weight * element."""
    return {key: weight * coefficient for key, coefficient in element.items()} if weight else ZERO


def frozen(element: Element) -> Frozen:
    """The element as something that can be looked up."""
    return frozenset(element.items())


@lru_cache(maxsize=65_536)
def spelled(part: Any) -> str:
    """A text that is the same for equal parts, by which they are put in order."""
    if isinstance(part, frozenset):
        return "{" + ",".join(sorted(map(spelled, part))) + "}"
    if isinstance(part, tuple):
        return "(" + ",".join(map(spelled, part)) + ")"
    return str(part)


@lru_cache(maxsize=65_536)
def names(part: Any) -> frozenset[str]:
    """The positions and parameters that occur in an element, frozen, or in a part of one."""
    if isinstance(part, tuple) and len(part) == 2 and part[0] == "name":
        return frozenset({part[1]})
    if isinstance(part, tuple | frozenset):
        return frozenset().union(*map(names, part))
    return frozenset()


def is_whole(key: Key) -> bool:
    """Whether the term's values are seen to be whole numbers."""
    product, wave = key
    return wave is None and all(
        inner == ONE and exponent > 0 and exponent.denominator == 1 and _whole_base(base)
        for (base, inner), exponent in product
    )


def is_monomial(key: Key) -> bool:
    """Whether the term is a product of positions."""
    product, wave = key
    return wave is None and all(
        base[0] == "name" and base[1] in POSITIONS and inner == ONE and exponent > 0 and exponent.denominator == 1
        for (base, inner), exponent in product
    )


def _whole_base(base: Base) -> bool:
    match base:
        case ("name", which):
            return which in POSITIONS or which == DISTANCE
        case ("call", called, *_):
            return called in _TRUTH or called in ("floor", "gcd")
    return False


def is_truth(base: Base) -> bool:
    """Whether a base is only ever 0 or 1."""
    return base[0] == "call" and base[1] in _TRUTH


@dataclass
class Ring:
    """Multiplication, with a count of what it may still take.

    Attributes:
        left: products of two terms that are still allowed; `TooLong` is raised beyond.
    """

    left: int = MOST_STEPS

    def spend(self, steps: int = 1) -> None:
        """Counts steps down."""
        self.left -= steps
        if self.left < 0:
            raise TooLong

    def product(self, elements: Iterable[Element]) -> Element:
        """The product of all."""
        found = constant(1)
        for element in elements:
            found = self.times(found, element)
        return found

    def times(self, first: Element, second: Element) -> Element:
        """The product of two."""
        if not first or not second:
            return ZERO
        if len(second) == 1 and ONE in second:
            return scaled(first, second[ONE])
        if len(first) == 1 and ONE in first:
            return scaled(second, first[ONE])
        self.spend(len(first) * len(second))
        found: dict[Key, Fraction] = {}
        for one, a in first.items():
            for other, b in second.items():
                weight = a * b
                for key, times in self._terms(one, other).items():
                    added = weight if times == 1 else weight * times
                    before = found.get(key)
                    total = added if before is None else before + added
                    if total:
                        found[key] = total
                    else:
                        del found[key]
            if len(found) > MOST_TERMS:
                raise TooLong
        if max(map(_bits, found.values()), default=0) > MOST_BITS:
            raise TooLong
        return found

    def whole_power(self, element: Element, times: int) -> Element:
        """A power with an exponent of at least 0, multiplied out."""
        if len(element) > 1 and comb(min(times, MOST_TERMS) + len(element) - 1, len(element) - 1) > MOST_TERMS:
            raise TooLong
        if max(map(_bits, element.values()), default=0) * times > MOST_BITS:
            raise TooLong
        found = constant(1)
        square = element
        while times:
            if times & 1:
                found = self.times(found, square)
            times >>= 1
            if times:
                square = self.times(square, square)
        return found

    def generator(self, base: Base, exponent: Fraction, inner: Key = ONE) -> Element:
        """base ** (exponent * the term of a key)."""
        left, factor, element = self._reduced((base, inner), exponent)
        product = frozenset({((base, inner), left)}) if left else frozenset()
        found: Element = {(product, None): factor}
        return found if element is None else self.times(found, element)

    def _terms(self, one: Key, other: Key) -> Element:
        """The product of two terms."""
        if ONE in (one, other):
            return {other if one == ONE else one: Fraction(1)}
        exponents = dict(one[0])
        weight, expanded = Fraction(1), []
        for generator, exponent in other[0]:
            before = exponents.pop(generator, None)
            total = exponent if before is None else before + exponent
            if generator[0][0] not in _PLAIN:
                total, factor, element = self._reduced(generator, total)
                weight *= factor
                if element is not None:
                    expanded.append(element)
            if total:
                exponents[generator] = total
        bare = frozenset(exponents.items())
        if one[1] is None or other[1] is None:
            found: Element = {(bare, one[1] or other[1]): weight}
        else:
            found = self.times({(bare, None): weight}, self._wave_product(one[1], other[1]))
        for element in expanded:
            found = self.times(found, element)
        return found

    def _reduced(self, generator: Any, exponent: Fraction) -> tuple[Fraction, Fraction, Element | None]:
        """What is left of an exponent, a rational factor, and an element to multiply with."""
        base, inner = generator
        if base == MINUS:
            return exponent % 2, Fraction(1), None
        if inner != ONE:
            return exponent, Fraction(1), None
        whole = floor(exponent)
        if base[0] == "prime" and whole:
            if abs(whole) * int(base[1]).bit_length() > MOST_BITS:
                raise TooLong
            return exponent - whole, Fraction(base[1]) ** whole, None
        if base[0] == "sum" and whole > 0:
            return exponent - whole, Fraction(1), self.whole_power(dict(base[1]), whole)
        if base[0] == "abs" and whole > 1:
            whole -= whole % 2
            return exponent - whole, Fraction(1), self.whole_power(dict(base[1]), whole)
        if is_truth(base) and exponent > 1:
            return Fraction(1), Fraction(1), None
        return exponent, Fraction(1), None

    def _wave_product(self, one: Any, other: Any) -> Element:
        (kind, angle), (second, turned) = one, other
        difference, total = (plus(dict(angle), dict(turned), sign) for sign in (-1, 1))
        # cos cos and sin sin give cosines, sin cos and cos sin give sines.
        result = "cos" if kind == second else "sin"
        if kind == second == "sin":
            weights = Fraction(1, 2), Fraction(-1, 2)
        elif kind == "cos" and second == "sin":
            weights = Fraction(-1, 2), Fraction(1, 2)
        else:
            weights = Fraction(1, 2), Fraction(1, 2)
        return plus(scaled(self.wave(result, difference), weights[0]), scaled(self.wave(result, total), weights[1]))

    def wave(self, kind: str, angle: Element) -> Element:
        """The sine or cosine ("sin" or "cos") of an element."""
        self.spend(len(angle))
        if kind == "cos" and len(angle) == 1:
            ((key, weight),) = angle.items()
            angle = _without_absolute_value(key, weight) or angle
        signs, left = _without_turns(dict(angle))
        lead = min((key for key in left if key != _PI_KEY), key=spelled, default=None)
        if lead is not None and left[lead] < 0:
            more, left = _without_turns({key: -weight for key, weight in left.items()})
            signs = [*signs, *more]
            if kind == "sin":
                signs.append(ONE)
        turn = left.pop(_PI_KEY, Fraction(0))
        sign = self.product(map(term_parity, signs))
        if abs(turn) == Fraction(1, 2):
            # cos(x + pi/2) = -sin(x), sin(x + pi/2) = cos(x)
            weight = Fraction(-1 if (kind == "cos") == (turn > 0) else 1)
            return scaled(self.times(sign, _plain_wave("sin" if kind == "cos" else "cos", left)), weight)
        if not turn:
            return self.times(sign, _plain_wave(kind, left))
        if abs(turn) not in _RADICALS:
            if not left and turn < 0:
                turn, sign = -turn, scaled(sign, -1 if kind == "sin" else 1)
            return self.times(sign, _plain_wave(kind, left | {_PI_KEY: turn}))
        cosine, sine = _RADICALS[abs(turn)]
        if turn < 0:
            sine = scaled(sine, -1)
        same = self.times(cosine, _plain_wave(kind, left))
        if kind == "cos":
            return self.times(sign, plus(same, self.times(sine, _plain_wave("sin", left)), -1))
        return self.times(sign, plus(same, self.times(sine, _plain_wave("cos", left))))


def _root(base: int, weight: Fraction) -> Element:
    return scaled(of_base(("prime", base), Fraction(1, 2)), weight)


def _both(weight: int) -> Element:
    """(sqrt 6 + weight sqrt 2) / 4."""
    six = {
        (frozenset({((("prime", 2), ONE), Fraction(1, 2)), ((("prime", 3), ONE), Fraction(1, 2))}), None): Fraction(
            1, 4
        )
    }
    return plus(six, _root(2, Fraction(1, 4)), weight)


_PI_KEY: Key = (frozenset({((PI, ONE), Fraction(1))}), None)
_RADICALS: dict[Fraction, tuple[Element, Element]] = {
    Fraction(1, 12): (_both(1), _both(-1)),
    Fraction(1, 6): (_root(3, Fraction(1, 2)), constant(Fraction(1, 2))),
    Fraction(1, 4): (_root(2, Fraction(1, 2)), _root(2, Fraction(1, 2))),
    Fraction(1, 3): (constant(Fraction(1, 2)), _root(3, Fraction(1, 2))),
    Fraction(5, 12): (_both(-1), _both(1)),
}
"""Cosine and sine of these multiples of pi."""


def _plain_wave(kind: str, angle: Element) -> Element:
    if not angle:
        return constant(1) if kind == "cos" else ZERO
    return {(frozenset(), (kind, frozen(angle))): Fraction(1)}


def _without_absolute_value(key: Key, weight: Fraction) -> Element | None:
    """cos |x| = cos x."""
    product, wave = key
    if wave is None and len(product) == 1:
        (((base, inner), exponent),) = product
        if base[0] == "abs" and inner == ONE and exponent == 1:
            return scaled(dict(base[1]), weight)
    return None


def _without_turns(angle: dict[Key, Fraction]) -> tuple[list[Key], dict[Key, Fraction]]:
    """The angle with multiples w of pi times whole terms in -1/2 < w <= 1/2, and the terms t of the signs (-1)**t."""
    signs, left = [], {}
    for key, weight in angle.items():
        whole = whole_turn(key)
        if whole is None:
            left[key] = weight
            continue
        turns = ceil(weight - Fraction(1, 2))
        if turns % 2:
            signs.append(whole)
        if weight != turns:
            left[key] = weight - turns
    return signs, left


def whole_turn(key: Key) -> Key | None:
    """What pi is multiplied with in a term pi * whole number; None for other terms."""
    product, wave = key
    if wave is None and ((PI, ONE), Fraction(1)) in product:
        rest: Key = (product - {((PI, ONE), Fraction(1))}, None)
        return rest if is_whole(rest) else None
    return None


def term_parity(key: Key) -> Element:
    """(-1) ** (a whole term)."""
    if key == ONE:
        return constant(-1)
    bare: Key = (frozenset((generator, Fraction(1)) for generator, _ in key[0]), None)
    return {(frozenset({((MINUS, bare), Fraction(1))}), None): Fraction(1)}
