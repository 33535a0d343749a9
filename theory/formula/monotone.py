"""Signs and monotonicity of real expressions in one variable s >= 0, from their form or from Sturm sequences.

Each result holds for every real s >= 0; None means only that no result was found.
"""

from typing import Any

import sympy as sp

from lengthgen.theory.equality import Answer, sign, zero
from lengthgen.theory.formula import exact

S = sp.Symbol("s", integer=True, nonnegative=True)
"""Variable of a progression: 0, 1, 2, ..."""

Expression = Any


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
