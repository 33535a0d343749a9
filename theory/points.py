"""Points at which a symbolic law is evaluated: values for positions, parameters, families and functions.

Everything is drawn from names and fixed seeds, so that the same question meets the same point each time.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from random import Random

import sympy as sp
from sympy.core.function import AppliedUndef

_FARTHEST = 40
"""Position up to which points are spread."""


def spread(expression: sp.Expr, *, count: int) -> Iterator[dict[sp.Symbol, sp.Expr]]:
    """Points for the symbols of an expression: integers small at first, then up to 40, the rest in its domain."""
    draw = Random(0)
    free = parameters(expression)
    small = product((1, 2), repeat=2)
    for trial in range(count):
        first, second = next(small, (draw.randint(0, _FARTHEST), draw.randint(0, _FARTHEST)))
        yield {symbol: _drawn(symbol, draw, first if trial % 2 else second) for symbol in free}


def at(expression: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The value at a point, with values for families and functions."""
    return with_members(expression.subs(point).doit())


def example(expression: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
    """One value in its domain for each symbol of an expression, between 0 and 1 if it is no integer."""
    return {symbol: _example(symbol) for symbol in parameters(expression)}


def parameters(expression: sp.Expr) -> list[sp.Symbol]:
    """The symbols of an expression that stand for numbers, in order; families are none."""
    families = {base.label for base in expression.atoms(sp.IndexedBase)}
    return sorted(expression.free_symbols - families - expression.atoms(sp.Indexed), key=str)


def constant_content(expression: sp.Expr) -> sp.Expr:
    """Every member of an indexed family as one symbol: the same at every position."""
    families = {
        one: sp.Symbol(str(one.base.label), **one.base.label.assumptions0) for one in expression.atoms(sp.Indexed)
    }
    return expression.xreplace(families).doit()


def with_members(expression: sp.Expr) -> sp.Expr:
    """The expression with a value for each function and each member of a family that occurs in it.

    A member's value follows from its name; a function is smooth in what is not a whole number.
    """
    functions = {one: _smooth(one) for one in expression.atoms(AppliedUndef)}
    there = expression.xreplace(functions)
    return there.xreplace({one: _member(one) for one in there.atoms(sp.Indexed)})


def _member(one: sp.Basic) -> sp.Expr:
    draw = Random(str(one))
    value = sp.Rational(draw.randint(1, 9), draw.randint(2, 7))
    return -value if one.is_negative else value


def _smooth(one: AppliedUndef) -> sp.Expr:
    if all(argument.is_integer for argument in one.args):
        return _member(one)
    return sp.cos(sp.Add(*one.args) + _member(one.func(0)))


def _drawn(symbol: sp.Symbol, draw: Random, position: int) -> sp.Expr:
    if symbol.is_integer:
        return sp.Integer(position + draw.randint(0, 2) + (1 if symbol.is_positive else 0))
    value = sp.Rational(draw.randint(1, 7), draw.randint(2, 5))
    return -value if symbol.is_negative or (not symbol.is_nonnegative and draw.random() < 0.5) else value


def _example(symbol: sp.Symbol) -> sp.Expr:
    if symbol.is_integer:
        return sp.Integer(64)
    value = sp.Rational(Random(str(symbol)).randint(2, 9), 11)
    return -value if symbol.is_negative else value
