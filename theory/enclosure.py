"""Balls that hold the value of an expression (ball arithmetic, F. Johansson's Arb), to any precision."""

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
"""At point k a parameter stands between _POINTS[k] and one above, where its name puts it."""
_LARGEST_ROOT = 2**32
"""Above this a root is not a machine word, and computed as any power."""
POINTS = range(len(_POINTS))


def enclose(
    expression: sp.Expr, point: int = 0, *, bits: int, given: Mapping[sp.Symbol, int] = MappingProxyType({})
) -> Any | None:
    """A ball that holds the value at one of the fixed parameter points; None where no finite one is found.

    A parameter stands at the same number in every expression, so that balls of different ones can be compared; symbols
    in `given` stand at theirs.
    """
    at = {symbol: _POINTS[point] + _place(str(symbol)) for symbol in expression.free_symbols} | dict(given)
    with flint.ctx.workprec(bits):
        ball = _ball(expression, {symbol: flint.fmpq(*value.as_integer_ratio()) for symbol, value in at.items()})
    return ball if ball.is_finite() else None


def whole_part(ball: Any, *, bits: int) -> int | None:
    """The largest integer not above any number in the ball, if they have it in common."""
    with flint.ctx.workprec(bits):
        whole = ball.floor().unique_fmpz()
    return None if whole is None else int(whole)


def _place(name: str) -> Fraction:
    """A number in 0..1."""
    return Fraction(2 * crc32(name.encode()) + 1, 2**33)


def _ball(expression: sp.Expr, at: dict[sp.Symbol, Any]) -> Any:
    if expression.is_Rational:
        return flint.arb(flint.fmpq(int(expression.p), int(expression.q)))
    if expression.is_Symbol:
        return flint.arb(at[expression])
    if expression is sp.pi:
        return flint.arb.pi()
    if expression is sp.E:
        return flint.arb.const_e()
    parts = [_ball(part, at) for part in expression.args]
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
