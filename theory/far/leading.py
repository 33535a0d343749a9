"""Leading terms of formulas as the distance D of a key goes to infinity: the limits that need no search.

A formula f has the leading term c e^(a D) D^p (log D)^q (log log D)^r if it divided by this term goes to 1.  Products
and powers multiply leading terms, in a sum the fastest term leads unless it cancels, and the logarithm of a term is
led by that of its fastest factor.  Wherever a sign that decides is not known, there is no answer.  Symbols are finite.
"""

from collections.abc import Iterable
from typing import NamedTuple

import sympy as sp

DISTANCE = sp.Symbol("D", integer=True, positive=True)
"""Distance of the key."""

Growth = tuple[sp.Expr, ...]
"""The exponents a, p, q and r, of which the first that is not 0 decides."""
_ZERO, _ONE = sp.S.Zero, sp.S.One
_CONSTANT: Growth = (_ZERO, _ZERO, _ZERO, _ZERO)
_LINEAR: Growth = (_ZERO, _ONE, _ZERO, _ZERO)
_LOGARITHMIC: Growth = (_ZERO, _ZERO, _ONE, _ZERO)
_DOUBLY_LOGARITHMIC: Growth = (_ZERO, _ZERO, _ZERO, _ONE)


class Leading(NamedTuple):
    """Leading term: a factor that is not 0, and its growth."""

    factor: sp.Expr
    growth: Growth


def limit_by_leading_term(expression: sp.Expr) -> sp.Expr | None:
    """Limit at infinite distance; None if the leading term or its sign is not found."""
    leading = leading_term(expression)
    order = leading and _sign(leading.growth)
    if leading is None or order is None:
        return None
    if order <= 0:
        return leading.factor if order == 0 else _ZERO
    return sp.oo if leading.factor.is_positive else -sp.oo if leading.factor.is_negative else None


def leading_term(expression: sp.Expr) -> Leading | None:
    """Leading term of an expression; None if it is not found."""
    if DISTANCE not in expression.free_symbols:
        return Leading(expression, _CONSTANT) if expression.is_zero is False and expression.is_finite else None
    if expression == DISTANCE:
        return Leading(_ONE, _LINEAR)
    if expression.is_Add:
        return _of_sum(*expression.as_independent(DISTANCE))
    if expression.is_Mul:
        return _of_product(map(leading_term, expression.args))
    if isinstance(expression, sp.exp):
        return _of_exponential(expression.args[0])
    if isinstance(expression, sp.log):
        return _of_logarithm(leading_term(expression.args[0]))
    return _of_power(leading_term(expression.base), expression.exp) if expression.is_Pow else None


def _sign(growth: Growth) -> int | None:
    """Sign of the first exponent that is not 0: 1 for a term that grows, 0 for a constant; None if it is not known."""
    for exponent in growth:
        if not exponent.is_zero:
            return 1 if exponent.is_positive else -1 if exponent.is_negative else None
    return 0


def _of_sum(constant: sp.Expr, changing: sp.Expr) -> Leading | None:
    terms = [leading_term(part) for part in sp.Add.make_args(changing)]
    fastest = None if None in terms else _fastest([term for term in terms if term])
    if fastest is None or not constant or _sign(fastest.growth) == 1:
        return fastest  # a constant beside a term that grows may be anything
    of_constant = leading_term(constant)
    return of_constant and _fastest([fastest, of_constant])


def _fastest(terms: Iterable[Leading]) -> Leading | None:
    """Leading term of a sum of terms."""
    (factor, growth), *others = terms
    for other in others:
        order = _sign(tuple(theirs - own for theirs, own in zip(other.growth, growth, strict=True)))
        if order is None:
            return None
        if order >= 0:
            factor, growth = (factor + other.factor if order == 0 else other.factor), other.growth
    return Leading(factor, growth) if factor.is_zero is False else None


def _of_product(terms: Iterable[Leading | None]) -> Leading | None:
    product = Leading(_ONE, _CONSTANT)
    for term in terms:
        if term is None:
            return None
        growth = tuple(own + other for own, other in zip(product.growth, term.growth, strict=True))
        product = Leading(product.factor * term.factor, growth)
    return product


def _of_power(base: Leading | None, exponent: sp.Expr) -> Leading | None:
    if base is None or DISTANCE in exponent.free_symbols or not exponent.is_real:
        return None
    if not (exponent.is_integer or base.factor.is_positive):
        return None
    return Leading(base.factor**exponent, tuple(exponent * own for own in base.growth))


def _of_exponential(argument: sp.Expr) -> Leading | None:
    argument = sp.expand(argument)
    rate = argument.coeff(DISTANCE)
    rest = argument - rate * DISTANCE
    if DISTANCE in rest.free_symbols | rate.free_symbols or not (rate.is_real and rest.is_real):
        return None
    return Leading(sp.exp(rest), (rate, _ZERO, _ZERO, _ZERO))


def _of_logarithm(argument: Leading | None) -> Leading | None:
    if argument is None or not argument.factor.is_positive:
        return None
    for exponent, growth in zip(argument.growth, (_LINEAR, _LOGARITHMIC, _DOUBLY_LOGARITHMIC, None), strict=True):
        if not exponent.is_zero:
            return Leading(exponent, growth) if growth and exponent.is_zero is False else None
    logarithm = sp.log(argument.factor)
    return Leading(logarithm, _CONSTANT) if logarithm.is_zero is False else None
