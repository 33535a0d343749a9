"""Sample points for symbolic laws: values for positions, parameters, families and functions.

All values follow from names and fixed seeds, so that the same question is tested value_at the same points each time.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from random import Random

import sympy as sp
from sympy.core.function import AppliedUndef

_FARTHEST = 40
"""Largest position of a sample point."""


def sample_points(expression: sp.Expr, *, count: int) -> Iterator[dict[sp.Symbol, sp.Expr]]:
    """Yield points for the symbols of an expression: small integers first, then up to 40; others in their domain."""
    generator = Random(0)
    symbols = parameters(expression)
    small = product((1, 2), repeat=2)
    for trial in range(count):
        first, second = next(small, (generator.randint(0, _FARTHEST), generator.randint(0, _FARTHEST)))
        yield {symbol: _random_value(symbol, generator, first if trial % 2 else second) for symbol in symbols}


def value_at(expression: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Value at a point, with values for families and functions."""
    return with_members(expression.xreplace(point).doit())


def example(expression: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
    """Example value for each symbol of an expression, in its domain, and between 0 and 1 if it is not an integer."""
    return {symbol: _example(symbol) for symbol in parameters(expression)}


def parameters(expression: sp.Expr) -> list[sp.Symbol]:
    """Symbols of an expression that stand for numbers, in order, without the families."""
    families = {base.label for base in expression.atoms(sp.IndexedBase)}
    return sorted(expression.free_symbols - families - expression.atoms(sp.Indexed), key=str)


def constant_content(expression: sp.Expr) -> sp.Expr:
    """Expression with every indexed family replaced by one symbol: the same value at every position."""
    families = {
        entry: sp.Symbol(str(entry.base.label), **entry.base.label.assumptions0)
        for entry in expression.atoms(sp.Indexed)
    }
    return expression.xreplace(families).doit()


def with_members(expression: sp.Expr) -> sp.Expr:
    """Expression with a value for each function and each entry of a family in it.

    The value of an entry follows from its name. A function of arguments that are not integers is smooth.
    """
    functions = {application: _function_value(application) for application in expression.atoms(AppliedUndef)}
    without_functions = expression.xreplace(functions)
    return without_functions.xreplace({entry: _value_from_name(entry) for entry in without_functions.atoms(sp.Indexed)})


def _value_from_name(symbol: sp.Basic) -> sp.Expr:
    """Rational value that follows from the name of a symbol."""
    generator = Random(str(symbol))
    value = sp.Rational(generator.randint(1, 9), generator.randint(2, 7))
    return -value if symbol.is_negative else value


def _function_value(application: AppliedUndef) -> sp.Expr:
    """Value of an undefined function: smooth in its arguments unless all are integers."""
    if all(argument.is_integer for argument in application.args):
        return _value_from_name(application)
    return sp.cos(sp.Add(*application.args) + _value_from_name(application.func(0)))


def _random_value(symbol: sp.Symbol, generator: Random, position: int) -> sp.Expr:
    """Random value of a symbol; an integer symbol is near `position`."""
    if symbol.is_integer:
        return sp.Integer(position + generator.randint(0, 2) + (1 if symbol.is_positive else 0))
    value = sp.Rational(generator.randint(1, 7), generator.randint(2, 5))
    return -value if symbol.is_negative or (not symbol.is_nonnegative and generator.random() < 0.5) else value


def _example(symbol: sp.Symbol) -> sp.Expr:
    """Example value of one symbol."""
    if symbol.is_integer:
        return sp.Integer(64)
    value = sp.Rational(Random(str(symbol)).randint(2, 9), 11)
    return -value if symbol.is_negative else value
