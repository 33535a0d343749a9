"""Ball arithmetic: intervals that contain the value of an expression, to any precision (F. Johansson's Arb)."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from operator import mul
from types import MappingProxyType
from typing import Any
from zlib import crc32

import flint
import sympy as sp

_POINTS = (Fraction(1), Fraction(-3, 2), Fraction(0))
"""Base values: at point k a parameter has a value in _POINTS[k] .. _POINTS[k] + 1; a hash of its name sets it."""
_LARGEST_ROOT = 2**32
"""Roots of a higher order do not fit a machine word; they are computed as general powers."""
POINTS = range(len(_POINTS))


def enclose(
    expression: sp.Expr, point: int = 0, *, bits: int, given: Mapping[sp.Symbol, int] = MappingProxyType({})
) -> Any | None:
    """Ball that contains the value at one of the fixed parameter points; None if no finite ball is found.

    A parameter has the same value in every expression, so balls of different expressions can be compared. Symbols in
    `given` take the values given there.
    """
    others = expression.free_symbols - given.keys()
    at = {symbol: _POINTS[point] + _fraction_of_name(str(symbol)) for symbol in others} | dict(given)
    with flint.ctx.workprec(bits):
        ball = _ball(expression, {symbol: flint.fmpq(*value.as_integer_ratio()) for symbol, value in at.items()})
    return ball if ball.is_finite() else None


def unique_floor(ball: Any, *, bits: int) -> int | None:
    """Floor that all numbers in the ball share; None if they have different floors."""
    with flint.ctx.workprec(bits):
        floor = ball.floor().unique_fmpz()
    return None if floor is None else int(floor)


def _fraction_of_name(name: str) -> Fraction:
    """Number in 0..1 that follows from the name by a hash."""
    return Fraction(2 * crc32(name.encode()) + 1, 2**33)


def _ball(expression: sp.Expr, values: dict[sp.Symbol, Any]) -> Any:
    """Ball of an expression at given values of its symbols, at the current precision."""
    if expression.is_Rational:
        return flint.arb(flint.fmpq(int(expression.p), int(expression.q)))
    if expression.is_Symbol:
        return flint.arb(values[expression])
    if expression is sp.pi:
        return flint.arb.pi()
    if expression is sp.E:
        return flint.arb.const_e()
    parts = [_ball(part, values) for part in expression.args]
    if expression.is_Add:
        return sum(parts[1:], parts[0])
    if expression.is_Mul:
        return reduce(mul, parts)
    if expression.is_Pow:
        exponent = expression.exp
        if exponent.is_Rational:
            if exponent.q == 1:
                return parts[0] ** int(exponent.p)
            if exponent.q < _LARGEST_ROOT:
                return parts[0].root(int(exponent.q)) ** int(exponent.p)
        return parts[0] ** parts[1]
    function = _FUNCTIONS.get(expression.func)
    return function(parts[0]) if function else flint.arb("nan")


_FUNCTIONS: dict[Any, Callable[[Any], Any]] = {
    sp.exp: lambda ball: ball.exp(),
    sp.log: lambda ball: ball.log(),
    sp.sin: lambda ball: ball.sin(),
    sp.cos: lambda ball: ball.cos(),
    sp.Abs: abs,
}
