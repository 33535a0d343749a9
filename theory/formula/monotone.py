"""Signs and directions of real expressions in one variable s >= 0, read off their form or off Sturm sequences.

Whatever is returned holds for every real s >= 0; None says only that it is not seen.
"""

from typing import Any

import sympy as sp

from theory.equality import Answer, sign, zero
from theory.formula import exact

S = sp.Symbol("s", integer=True, nonnegative=True)
"""The variable of a progression: 0, 1, 2, ..."""

Expression = Any


def constant_sign(expression: Expression) -> int | None:
    """-1, 0 or 1 where the expression has that sign throughout."""
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
    """1 or -1 where the expression strictly increases or decreases throughout, 0 where it is constant."""
    if S not in expression.free_symbols:
        return 0
    polynomial = as_polynomial(expression)
    if polynomial is not None:
        slope = polynomial.diff()
        return None if slope.count_roots(0, None) else int(sp.sign(slope.eval(0)))
    if expression.is_Add:
        return _together(direction(part) for part in expression.args)
    if expression.is_Mul:
        constant, rest = expression.as_independent(S, as_Add=False)
        if constant != 1:
            way, towards = constant_sign(constant), direction(rest)
            return None if way is None or towards is None else way * towards
        return _of_product(expression.args)
    if expression.is_Pow:
        return _of_power(*expression.args)
    if isinstance(expression, sp.exp | sp.log):
        return direction(expression.args[0])
    return None


def as_polynomial(expression: Expression) -> sp.Poly | None:
    """The expression as a polynomial in s with rational coefficients, if it is one."""
    if not expression.is_polynomial(S):
        return None
    polynomial = sp.Poly(expression, S)
    return polynomial if all(coefficient.is_Rational for coefficient in polynomial.all_coeffs()) else None


def _positive(expression: Expression) -> bool:
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


def _together(directions: Any) -> int | None:
    """Of a sum: all that are not constant go one way."""
    found = {one for one in directions if one != 0}
    return None if None in found or len(found) > 1 else (found.pop() if found else 0)


def _of_product(factors: Any) -> int | None:
    signs = [constant_sign(factor) for factor in factors]
    if None in signs or 0 in signs:
        return None
    # |f| of a factor moves as f does times its sign; the product's sign turns it back.
    whole = 1
    moves = []
    for factor, its_sign in zip(factors, signs, strict=True):
        whole *= its_sign or 0
        towards = direction(factor)
        moves.append(None if towards is None else towards * (its_sign or 0))
    together = _together(moves)
    return None if together is None else whole * together


def _of_power(base: Expression, exponent: Expression) -> int | None:
    if S not in base.free_symbols:  # c**e(s)
        above_one = constant_sign(base - 1)
        if constant_sign(base) != 1 or not above_one:
            return None
        towards = direction(exponent)
        return None if towards is None else towards * above_one
    if S not in exponent.free_symbols and constant_sign(base) == 1:  # b(s)**r
        towards, way = direction(base), constant_sign(exponent)
        return None if towards is None or way is None else towards * way
    return None
