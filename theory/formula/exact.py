"""Exact value of a formula at one pair: an int, a Fraction, or a real sympy expression if it is irrational.

The size of every number is bounded before the number is computed.  A choice that depends on a free parameter, or on an
equality that cannot be decided, raises an error: no outcome is guessed.
"""

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy as sp

from lengthgen.theory.formula.syntax import (
    MAX_BITS,
    ComparisonChain,
    FormulaError,
    Name,
    Node,
    NoValue,
    Number,
    Operation,
    bounded,
)
from lengthgen.theory.zero import equality
from lengthgen.theory.zero.enclosure import enclose
from lengthgen.theory.zero.equality import Answer, to_sympy

MAX_ROOT_BITS = 512
"""Largest size in bits of a number whose root is taken: sympy tries to factor it."""
_SIZE_BITS = 64
"""Precision in bits for estimating the size of a number."""
_LONGEST_IN_MESSAGE = 60
"""Largest number of characters of a value in a message."""

_RATIONAL_TYPES = (int, Fraction)
"""Types of a rational value; `int | Fraction` would be made anew at each node and pair."""
Value = Any
"""An int, a Fraction, or a sympy expression."""
Point = Mapping[str, Value]


def evaluate(node: Node, at: Point) -> Value:
    """Value of the tree at one point.

    Args:
        node: the tree.
        at: values of i, j, n and the parameters.

    Raises:
        FormulaError: the formula has no real value there, the value is too large, or a choice depends on a
            parameter.
    """
    match node:
        case Number(value=value):
            return value
        case Name(name="pi"):
            return sp.pi
        case Name(name=name):
            return at[name]
        case ComparisonChain(tests=tests, sides=sides):
            left = evaluate(sides[0], at)
            for test, side in zip(tests, sides[1:], strict=True):
                right = evaluate(side, at)
                if not COMPARISONS[test](compare(left, right)):
                    return 0
                left = right
            return 1
        case Operation(name="if", operands=(condition, then, otherwise)):
            return evaluate(then if holds(evaluate(condition, at)) else otherwise, at)
        case Operation(name="and", operands=parts):
            return int(all(holds(evaluate(part, at)) for part in parts))
        case Operation(name="or", operands=parts):
            return int(any(holds(evaluate(part, at)) for part in parts))
        case Operation(name=name, operands=parts):
            return apply(name, [evaluate(part, at) for part in parts])
    raise AssertionError(node)


def apply(name: str, operands: list[Value]) -> Value:
    """Result of an operation on values.

    Raises:
        FormulaError: the operation has no real value, or the value is too large.
    """
    try:
        for operand in operands:
            if not isinstance(operand, _RATIONAL_TYPES):
                return plain(_IRRATIONAL[name](*operands))
        return plain(RATIONAL[name](*operands))
    except ZeroDivisionError:
        raise NoValue("division by zero") from None
    except FormulaError:
        raise
    except ValueError:  # sympy simplifies products of roots once more, see `_real_power`
        raise FormulaError("a product of roots comes up that cannot be simplified") from None


def holds(value: Value) -> bool:
    """True if a condition holds, that is, if its value is not zero.

    Raises:
        FormulaError: that cannot be decided.
    """
    is_zero = _is_zero(value)
    if not is_zero and getattr(value, "free_symbols", None) and value.is_zero is not False:
        raise FormulaError(f"whether {_shorten(value)} is zero depends on a parameter")
    return not is_zero


def compare(first: Value, second: Value) -> int:
    """-1, 0 or 1 if the first value is less than, equal to or greater than the second.

    Raises:
        FormulaError: that cannot be decided.
    """
    if isinstance(first, _RATIONAL_TYPES) and isinstance(second, _RATIONAL_TYPES):
        return (first > second) - (first < second)
    return _sign(apply("-", [first, second]))


def plain(value: Value) -> Value:
    """Value in its simplest type: an int or a Fraction if it is rational.

    Raises:
        FormulaError: the value is not real, or too large.
    """
    if isinstance(value, int):
        return bounded(value)
    if isinstance(value, Fraction):
        bounded(value.numerator), bounded(value.denominator)
        return int(value) if value.denominator == 1 else value
    if value.is_Rational:
        return plain(Fraction(int(value.p), int(value.q)))
    if value.has(sp.I):
        raise NoValue(f"the complex value {_shorten(value)} comes up")
    if value.has(sp.nan, sp.oo, -sp.oo, sp.zoo):
        raise NoValue(f"the value {_shorten(value)} comes up, which is not a number")
    for part in value.atoms(sp.Rational, sp.Pow):
        if part.is_Rational:
            bounded(int(part.p)), bounded(int(part.q))
        else:
            _check_root(part.base, part.exp)
    return value


COMPARISONS: dict[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
}


def _power(base: Value, exponent: Value) -> Value:
    """Power of rational numbers."""
    if base == 0 and exponent < 0:
        raise ZeroDivisionError
    if base in (0, 1, -1) and isinstance(exponent, int):
        return int(base) if exponent % 2 or (base == 0 and exponent) else 1
    exact = Fraction(base)
    bits = max(exact.numerator.bit_length(), exact.denominator.bit_length())
    # A number of b bits is at least 2**(b - 1), so its power has at least (b - 1) * exponent bits.
    if (bits - 1) * abs(exponent) > MAX_BITS:
        raise FormulaError(f"a power with exponent {_shorten(exponent)} would have more than {MAX_BITS} bits")
    if isinstance(exponent, int):
        return Fraction(exact**exponent)
    _check_root(to_sympy(base), to_sympy(exponent))
    return _real_power(to_sympy(base), to_sympy(exponent))


def _check_root(base: Value, exponent: Value) -> None:
    """Raise `FormulaError` if sympy would try to factor a large number."""
    if base.is_Rational and not exponent.is_Integer:
        bits = max(int(base.p).bit_length(), int(base.q).bit_length())
        if bits > MAX_ROOT_BITS:
            raise FormulaError(f"a root of a number of {bits} bits comes up; at most {MAX_ROOT_BITS} bits are allowed")


def _real_power(base: Value, exponent: Value) -> Value:
    """Power of sympy expressions, if it is real."""
    if exponent.is_Integer:
        if abs(exponent) > MAX_BITS:
            raise FormulaError(f"a power with exponent {_shorten(exponent)} is too large")
        if exponent < 0 and _is_zero(plain(base)):
            raise ZeroDivisionError
        if abs(exponent) > 1:
            _check_size(base, lambda ball: 0 if ball.contains(0) else abs(ball).log() * int(exponent))
        return base**exponent
    if _sign_if_defined(base, lambda: f"({_shorten(base)})**({_shorten(exponent)}) is not real") == 0:
        if _sign(plain(exponent)) < 0:
            raise ZeroDivisionError
        return sp.Integer(0)
    _check_size(exponent * sp.log(base), lambda ball: ball)
    try:
        return base**exponent
    except ValueError:  # sympy 1.14 rejects factors that it found itself and that are not prime
        return sp.Pow(base, exponent, evaluate=False)


def _exponential(value: Value) -> Value:
    """Exponential of a value; its size is checked first."""
    _check_size(to_sympy(value), lambda ball: ball)
    return sp.exp(to_sympy(value))


def _check_size(value: Value, logarithm: Callable[[Any], Any]) -> None:
    """Raise `FormulaError` if a number, or its inverse, has more than MAX_BITS bits.

    `logarithm` takes the ball of the value to that of the number's natural logarithm. Without this check, sympy would
    not finish on towers of exponentials, and is slow on the logarithm of an absolute value.
    """
    ball = None if value.free_symbols else enclose(value, bits=_SIZE_BITS)
    if ball is not None and abs(logarithm(ball)) > MAX_BITS:
        raise FormulaError(f"a number of more than {MAX_BITS} bits comes up")


def _gcd(first: Value, second: Value) -> int:
    if not (isinstance(first, int) and isinstance(second, int)):
        raise NoValue(f"gcd takes whole numbers, not {_shorten(first)} and {_shorten(second)}")
    return math.gcd(first, second)


def _floor(value: Value) -> int:
    """Floor of a value that may be irrational."""
    integer = equality.floor(value)
    if integer is None:
        raise FormulaError(f"the floor of {_shorten(value)} depends on a parameter or cannot be decided")
    return integer


def _floor_divide(first: Value, second: Value) -> Value:
    return _floor(apply("/", [first, second]))


def _remainder(first: Value, second: Value) -> Value:
    return apply("-", [first, apply("*", [second, _floor_divide(first, second)])])


def _quotient(first: Value, second: Value) -> Value:
    """Quotient of values of which at least one is irrational."""
    if _is_zero(second):
        raise ZeroDivisionError
    return to_sympy(first) / to_sympy(second)


def _extreme(side: int) -> Callable[..., Value]:
    """Minimum (side -1) or maximum (side 1), the first of equal values."""
    return lambda *values: reduce(lambda best, value: value if compare(value, best) == side else best, values)


def _square_root(value: Value) -> Value:
    half = Fraction(1, 2)
    return _power(value, half) if isinstance(value, int | Fraction) else _real_power(value, to_sympy(half))


def _logarithm(value: Value) -> Value:
    if _sign_if_defined(to_sympy(value), lambda: f"log({_shorten(value)}) is not real") == 0:
        raise NoValue("log(0) comes up, which is not a number")
    return sp.log(to_sympy(value))


RATIONAL: dict[str, Callable[..., Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda first, second: Fraction(first) / Fraction(second),
    "//": operator.floordiv,
    "%": operator.mod,
    "**": _power,
    "neg": operator.neg,
    "pos": operator.pos,
    "not": lambda value: int(not value),
    "min": min,
    "max": max,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "gcd": _gcd,
    "sqrt": _square_root,
    "exp": _exponential,
    "log": _logarithm,
    "sin": lambda value: sp.sin(to_sympy(value)),
    "cos": lambda value: sp.cos(to_sympy(value)),
}
"""Operations on ints and Fractions."""

_IRRATIONAL: dict[str, Callable[..., Value]] = {
    **RATIONAL,
    "+": lambda first, second: to_sympy(first) + to_sympy(second),
    "-": lambda first, second: to_sympy(first) - to_sympy(second),
    "*": lambda first, second: to_sympy(first) * to_sympy(second),
    "/": _quotient,
    "//": _floor_divide,
    "%": _remainder,
    "**": lambda base, exponent: _real_power(to_sympy(base), to_sympy(exponent)),
    "not": lambda value: int(not holds(value)),
    "min": _extreme(-1),
    "max": _extreme(1),
    "abs": sp.Abs,
    "floor": _floor,
    "ceil": lambda value: -_floor(-value),
}


def _is_zero(value: Value) -> bool:
    """True if the value is zero.

    Raises:
        FormulaError: that cannot be decided.
    """
    if isinstance(value, int | Fraction):
        return value == 0
    answer = equality.zero(value)
    if answer is Answer.UNDECIDED:
        raise FormulaError(f"whether {_shorten(value)} is zero cannot be decided")
    return answer is Answer.YES


def _sign(value: Value) -> int:
    """Sign of a real value, -1, 0 or 1.

    Raises:
        FormulaError: the sign depends on a parameter or cannot be decided.
    """
    value_sign = equality.sign(value)
    if value_sign is None:
        raise FormulaError(f"the sign of {_shorten(value)} depends on a parameter or cannot be decided")
    return value_sign


def _sign_if_defined(value: Value, message: Callable[[], str]) -> int:
    """Sign, 0 or 1, of a value that must not be negative; raises `NoValue` if it is negative."""
    if value.free_symbols and value.is_nonnegative:  # for instance the square of a parameter
        return 0 if value.is_zero else 1
    value_sign = _sign(plain(value))
    if value_sign < 0:
        raise NoValue(message())
    return value_sign


def _shorten(value: Value) -> str:
    """Text of a value for a message, cut if it is long."""
    text = str(value)
    return text if len(text) <= _LONGEST_IN_MESSAGE else f"{text[: _LONGEST_IN_MESSAGE - 3]}..."
