"""Value of an element of theory/zero/ring.py at one pair, by 60 digits; it shares the form of the data and no code."""

import math
from collections.abc import Mapping
from random import Random
from typing import Any

import mpmath

from tests.oracles.formulas import DIGITS

Point = Mapping[str, int]


class NoValue(Exception):
    """A part that is asked for has no real value there."""


def value(element: Any, at: Point) -> Any:
    """Value of an element, the sum of its terms; a mapping, or pairs of key and coefficient."""
    pairs = element.items() if isinstance(element, Mapping) else element
    with mpmath.workdps(2 * DIGITS):
        total = mpmath.mpf(0)
        for key, weight in pairs:
            total += mpmath.mpf(weight.numerator) / weight.denominator * _key(key, at)
        return total


def _key(key: Any, at: Point) -> Any:
    product, wave = key
    product_value = mpmath.mpf(1)
    exponents: dict[Any, Any] = {}  # of one base together: 0**(j - i) has a value where 0**-i has none
    for (base, inner), exponent in product:
        more = mpmath.mpf(exponent.numerator) / exponent.denominator * _key(inner, at)
        exponents[base] = exponents.get(base, 0) + more
    for base, exponent in exponents.items():
        product_value *= _power(_base(base, at), exponent)
    if wave is not None:
        product_value *= getattr(mpmath, wave[0])(value(wave[1], at))
    return product_value


def _power(base: Any, exponent: Any) -> Any:
    nearest = mpmath.nint(exponent)
    if abs(exponent - nearest) < mpmath.mpf(10) ** -DIGITS:
        if base == 0 and nearest < 0:
            raise NoValue
        return base ** int(nearest)
    if base < 0:
        if abs(base) > mpmath.mpf(10) ** -DIGITS:
            raise NoValue
        base = mpmath.mpf(0)
    return base**exponent


def _base(base: Any, at: Point) -> Any:
    match base:
        case ("name", "j - i"):
            return mpmath.mpf(at["j"] - at["i"])
        case ("name", which):
            return mpmath.mpf(at[which])
        case ("prime", number):
            return mpmath.mpf(number)
        case ("pi",):
            return +mpmath.pi
        case ("e",):
            return +mpmath.e
        case ("minus",):
            return mpmath.mpf(-1)
        case ("sum", inside):
            return value(inside, at)
        case ("abs", inside):
            return abs(value(inside, at))
        case ("log", inside):
            number = _base(inside, at)
            if number <= 0:
                raise NoValue
            return mpmath.log(number)
        case ("call", which, *operands):
            return mpmath.mpf(_call(which, operands, at))
    raise AssertionError(base)


def _call(which: str, operands: list[Any], at: Point) -> Any:
    def number(place: int) -> Any:
        return value(operands[place], at)

    match which:
        case "floor":
            nearest = mpmath.nint(number(0))
            return nearest if abs(number(0) - nearest) < mpmath.mpf(10) ** (-DIGITS // 2) else mpmath.floor(number(0))
        case "<":
            return number(0) < -(mpmath.mpf(10) ** (-DIGITS // 2))
        case "==":
            return abs(number(0)) < mpmath.mpf(10) ** (-DIGITS // 2)
        case "and":
            return all(value(operand, at) != 0 for operand in operands)
        case "or":
            return any(value(operand, at) != 0 for operand in operands)
        case "if":
            return number(1) if number(0) != 0 else number(2)
        case "gcd":
            return math.gcd(*(int(mpmath.nint(number(place))) for place in range(2)))
        case "**":
            return _power(number(0), number(1))
        case "log":
            if number(0) <= 0:
                raise NoValue
            return mpmath.log(number(0))
    raise AssertionError(which)


def random_real_text(draw: Random, depth: int, names: str = "ij") -> str:
    """A formula with irrational functions, identities among them."""
    if depth == 0:
        forms = [
            "({0}+{1})",
            "({0}-{1})",
            "2*{0}",
            "{0}/2",
            "{0}*{1}",
            "pi*{0}/3",
            "({0}*sqrt(2)-{1})",
            "pi*({0}+{1})/4",
        ]
        leaves = ["1", "2", "pi", "0.5", "3", "sqrt(2)", *names, *names]
        name, other = draw.choice(names), draw.choice(names)
        return draw.choice([draw.choice(forms).format(name, other), draw.choice(leaves)])

    def part() -> str:
        return random_real_text(draw, depth - 1, names)

    kind = draw.random()
    if kind < 0.28:
        return f"({part()} {draw.choice('+-*')} {part()})"
    if kind < 0.46:
        return f"{draw.choice(['sin', 'cos'])}({part()})"
    if kind < 0.52:
        return f"exp({draw.choice(['', '-'])}{random_real_text(draw, 0, names)})"
    if kind < 0.57:
        return f"log(abs({part()}) + {draw.choice(['1', '2'])})"
    if kind < 0.63:
        return f"sqrt(abs({part()}))"
    if kind < 0.7:
        return f"abs({part()})"
    if kind < 0.75:
        return f"({part()})**{draw.choice(['2', '3', '(-1)', '0.5', '4'])}"
    if kind < 0.8:
        return f"({part()} / {part()})"
    if kind < 0.84:
        return f"{draw.choice(['floor', 'ceil'])}({part()})"
    if kind < 0.88:
        return f"({part()} % {draw.choice(['2', '3', '1.5', 'pi'])})"
    if kind < 0.91:
        return f"({part()} if {part()} {draw.choice(['<', '<=', '==', '!='])} {part()} else {part()})"
    if kind < 0.95:
        return f"{draw.choice(['min', 'max'])}({part()}, {part()})"
    return _identity(draw, part())


def _identity(draw: Random, inner: str) -> str:
    angle = random_real_text(draw, 0)
    return (
        "("
        + draw.choice(
            [
                f"sin({angle})**2 + cos({angle})**2*1 + 0*{inner}",
                f"cos({angle} - {inner}) - cos({angle})*cos({inner}) - sin({angle})*sin({inner})",
                f"sin(2*{angle}) - 2*sin({angle})*cos({angle}) + {inner}",
                f"exp({angle} + sin({inner}))/exp({angle})",
                f"sqrt(({inner})**2)",
                f"abs({angle} - {inner}) - abs({inner} - {angle})",
            ]
        )
        + ")"
    )
