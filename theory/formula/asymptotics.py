"""Behaviour of expressions at large values of a variable: limits, signs and directions, from their form.

Limits come from leading terms: no search is needed. An expression has the leading term
c e^(a v) v^p (log v)^q (log log v)^r if it divided by this term goes to 1. Products and powers multiply leading terms,
in a sum the fastest term leads unless it cancels, and the logarithm of a term is led by that of its fastest factor.
Wherever a sign that decides is not known, there is no answer. Symbols are finite.

Signs and directions are those of expressions in s = 0, 1, 2, ..., from their form or from Sturm sequences. Each holds
for every real s >= 0; None means only that no result was found.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import sympy as sp

from lengthgen.theory.formula import exact
from lengthgen.theory.zero.equality import Answer, sign, zero

Expression = Any

S = sp.Symbol("s", integer=True, nonnegative=True)
"""Variable of a progression: 0, 1, 2, ..."""

Growth = tuple[sp.Expr, ...]
"""The exponents a, p, q and r, of which the first that is not 0 decides."""
_ZERO, _ONE = sp.S.Zero, sp.S.One
_CONSTANT: Growth = (_ZERO, _ZERO, _ZERO, _ZERO)
_LINEAR: Growth = (_ZERO, _ONE, _ZERO, _ZERO)
_LOGARITHMIC: Growth = (_ZERO, _ZERO, _ONE, _ZERO)
_DOUBLY_LOGARITHMIC: Growth = (_ZERO, _ZERO, _ZERO, _ONE)


class LeadingTerm(NamedTuple):
    """Leading term: a factor that is not 0, and its growth."""

    factor: sp.Expr
    growth: Growth


def limit(expression: sp.Expr, variable: sp.Symbol) -> sp.Expr | None:
    """Limit as the variable goes to infinity: finite or an infinity; None if it is not found."""
    if variable not in expression.free_symbols:
        return expression
    leading = leading_term(expression, variable)
    order = leading and _order(leading.growth)
    if leading is None or order is None:
        return None
    if order <= 0:
        return leading.factor if order == 0 else _ZERO
    side = sign(leading.factor)
    return side and side * sp.oo


def searched_limit(expression: sp.Expr, variable: sp.Symbol) -> sp.Expr | None:
    """Limit as the variable goes to infinity, by sympy's search; None if it finds none."""
    try:
        end = sp.limit(expression, variable, sp.oo)
    except (NotImplementedError, ValueError, TypeError, RecursionError):
        return None
    return None if end.has(sp.Limit, sp.AccumBounds, sp.nan) or variable in end.free_symbols else end


def leading_term(expression: sp.Expr, variable: sp.Symbol) -> LeadingTerm | None:
    """Leading term of an expression as the variable goes to infinity; None if it is not found."""
    if variable not in expression.free_symbols:
        return LeadingTerm(expression, _CONSTANT) if _is_nonzero(expression) and expression.is_finite else None
    if expression == variable:
        return LeadingTerm(_ONE, _LINEAR)
    if expression.is_Add:
        return _of_sum(expression.args, variable)
    if expression.is_Mul:
        return _of_product(leading_term(part, variable) for part in expression.args)
    if isinstance(expression, sp.log):
        return _of_logarithm(expression.args[0], variable)
    if not isinstance(expression, sp.Pow | sp.exp):
        return None
    base, exponent = expression.as_base_exp()
    if variable in base.free_symbols:
        return _of_power(leading_term(base, variable), exponent, variable)
    return _of_exponential(base, sp.expand(exponent), variable)


def _is_nonzero(constant: sp.Expr) -> bool:
    return constant.is_zero is False if constant.free_symbols else bool(sign(constant))


def _order(growth: Growth) -> int | None:
    """Sign of the first exponent that is not 0: 1 for a term that grows, 0 for a constant; None if it is not known."""
    return next((order for order in map(sign, growth) if order != 0), 0)


def _of_sum(terms: Iterable[sp.Expr], variable: sp.Symbol) -> LeadingTerm | None:
    bounded, others = [], []
    for term in terms:
        if _is_bounded(term, variable):
            bounded.append(term)
        else:
            others.append(leading_term(term, variable))
    fastest = _fastest(others) if others else None
    if fastest is None or not bounded or _order(fastest.growth) == 1:
        return fastest  # beside a term that grows, bounded ones may be anything
    of_bounded = leading_term(sp.Add(*bounded), variable)
    return of_bounded and _fastest([fastest, of_bounded])


def _is_bounded(expression: sp.Expr, variable: sp.Symbol) -> bool:
    """True for constants, sines and cosines of what is real, and their products and positive integer powers."""
    if variable not in expression.free_symbols:
        return True
    if isinstance(expression, sp.sin | sp.cos):
        return bool(expression.args[0].is_real)
    if expression.is_Pow:
        return bool(expression.exp.is_Integer and expression.exp > 0) and _is_bounded(expression.base, variable)
    return bool(expression.is_Mul) and all(_is_bounded(part, variable) for part in expression.args)


def _fastest(terms: Iterable[LeadingTerm | None]) -> LeadingTerm | None:
    """Leading term of a sum of terms."""
    first, *others = terms
    if first is None:
        return None
    factor, growth = first
    for other in others:
        if other is None:
            return None
        order = _order(tuple(theirs - own for theirs, own in zip(other.growth, growth, strict=True)))
        if order is None:
            return None
        if order >= 0:
            factor, growth = (factor + other.factor if order == 0 else other.factor), other.growth
    return LeadingTerm(factor, growth) if _is_nonzero(factor) else None


def _of_product(terms: Iterable[LeadingTerm | None]) -> LeadingTerm | None:
    product = LeadingTerm(_ONE, _CONSTANT)
    for term in terms:
        if term is None:
            return None
        growth = tuple(own + other for own, other in zip(product.growth, term.growth, strict=True))
        product = LeadingTerm(product.factor * term.factor, growth)
    return product


def _of_power(base: LeadingTerm | None, exponent: sp.Expr, variable: sp.Symbol) -> LeadingTerm | None:
    if base is None or variable in exponent.free_symbols or not exponent.is_real:
        return None
    if not (exponent.is_integer or sign(base.factor) == 1):
        return None
    return LeadingTerm(base.factor**exponent, tuple(exponent * own for own in base.growth))


def _of_exponential(base: sp.Expr, exponent: sp.Expr, variable: sp.Symbol) -> LeadingTerm | None:
    slope = exponent.coeff(variable)
    rest = exponent - slope * variable
    rate = slope * sp.log(base)
    end = limit(exponent, variable)
    if end is not None and end.is_finite and sp.log(base).is_real:
        return LeadingTerm(base**end, _CONSTANT)
    if variable in slope.free_symbols | rest.free_symbols or not rate.is_real:
        return None
    return LeadingTerm(base**rest, (rate, _ZERO, _ZERO, _ZERO))


def _of_logarithm(expression: sp.Expr, variable: sp.Symbol) -> LeadingTerm | None:
    argument = leading_term(expression, variable)
    if argument == (_ONE, _CONSTANT):
        return leading_term(sp.expand(expression - 1), variable)  # log(x) / (x - 1) goes to 1 as x does
    if argument is None or sign(argument.factor) != 1:
        return None
    for exponent, growth in zip(argument.growth, (_LINEAR, _LOGARITHMIC, _DOUBLY_LOGARITHMIC, None), strict=True):
        if sign(exponent) != 0:
            return LeadingTerm(exponent, growth) if growth and _is_nonzero(exponent) else None
    logarithm = sp.log(argument.factor)
    return LeadingTerm(logarithm, _CONSTANT) if _is_nonzero(logarithm) else None


def constant_sign(expression: Expression) -> int | None:
    """-1, 0 or 1 if the expression has that sign for all s; None if that is not found."""
    if S not in expression.free_symbols:
        return 0 if zero(expression) is Answer.YES else sign(exact.plain(expression))
    polynomial = as_polynomial(expression)
    if polynomial is not None:
        return None if polynomial.count_roots(0, None) else int(sp.sign(polynomial.eval(0)))
    for factor in (1, -1):
        if _positive(sp.expand(factor * expression)):
            return factor
    return None


def direction(expression: Expression) -> int | None:
    """1 or -1 if the expression is strictly increasing or decreasing, 0 if it is constant; None if not found."""
    if S not in expression.free_symbols:
        return 0
    polynomial = as_polynomial(expression)
    if polynomial is not None:
        slope = polynomial.diff()
        return None if slope.count_roots(0, None) else int(sp.sign(slope.eval(0)))
    if expression.is_Add:
        return _common_direction(direction(part) for part in expression.args)
    if expression.is_Mul:
        constant, rest = expression.as_independent(S, as_Add=False)
        if constant != 1:
            sign_of_constant, trend = constant_sign(constant), direction(rest)
            return None if sign_of_constant is None or trend is None else sign_of_constant * trend
        return _direction_of_product(expression.args)
    if expression.is_Pow:
        return _direction_of_power(*expression.args)
    if isinstance(expression, sp.exp | sp.log):
        return direction(expression.args[0])
    return None


def as_polynomial(expression: Expression) -> sp.Poly | None:
    """Polynomial in s with rational coefficients that the expression is; None if it is none."""
    if not expression.is_polynomial(S):
        return None
    polynomial = sp.Poly(expression, S)
    return polynomial if all(coefficient.is_Rational for coefficient in polynomial.all_coeffs()) else None


def _positive(expression: Expression) -> bool:
    """True if the expression is recognised as positive for all s."""
    if S not in expression.free_symbols:
        return sign(exact.plain(expression)) == 1
    polynomial = as_polynomial(expression)
    if polynomial is not None:
        return bool(polynomial.eval(0) > 0) and not polynomial.count_roots(0, None)
    if expression.is_Add or expression.is_Mul:
        return all(map(_positive, expression.args))
    if expression.is_Pow:
        return _positive(expression.base)
    if isinstance(expression, sp.log):
        return _positive(sp.expand(expression.args[0] - 1))
    return isinstance(expression, sp.exp)


def _common_direction(directions: Any) -> int | None:
    """Direction of a sum: that of all its non-constant terms, if it is the same."""
    distinct = {towards for towards in directions if towards != 0}
    return None if None in distinct or len(distinct) > 1 else (distinct.pop() if distinct else 0)


def _direction_of_product(factors: Any) -> int | None:
    """Direction of a product whose factors have constant signs."""
    signs = [constant_sign(factor) for factor in factors]
    if None in signs or 0 in signs:
        return None
    # |f| of a factor f changes in the direction of f times its sign; the sign of the product restores the sign.
    product_sign = 1
    directions = []
    for factor, factor_sign in zip(factors, signs, strict=True):
        product_sign *= factor_sign or 0
        trend = direction(factor)
        directions.append(None if trend is None else trend * (factor_sign or 0))
    common = _common_direction(directions)
    return None if common is None else product_sign * common


def _direction_of_power(base: Expression, exponent: Expression) -> int | None:
    """Direction of c**e(s) or b(s)**r."""
    if S not in base.free_symbols:  # c**e(s)
        above_one = constant_sign(base - 1)
        if constant_sign(base) != 1 or not above_one:
            return None
        trend = direction(exponent)
        return None if trend is None else trend * above_one
    if S not in exponent.free_symbols and constant_sign(base) == 1:  # b(s)**r
        trend, exponent_sign = direction(base), constant_sign(exponent)
        return None if trend is None or exponent_sign is None else trend * exponent_sign
    return None
