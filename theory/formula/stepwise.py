"""A formula at step s of a progression as one expression in s, as long as that holds at every s.

A choice whose outcome may change asks for a later start (`Later`), a floor or an alternating sign for every P-th
step (`Period`); what cannot be seen is `Unsettled`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb, lcm
from typing import Any

import sympy as sp

from theory.formula import exact
from theory.formula.asymptotics import limit
from theory.formula.monotone import Expression, S, as_polynomial, constant_sign, direction
from theory.formula.syntax import Comparison, Name, Node, Number, Operation

MOST_TERMS = 2_000
"""Of an expression that is multiplied out."""
MOST_INSIDE = 40
"""Of one that a function is taken of: sympy differentiates it again and again to learn its sign."""
_FUNCTIONS = frozenset({"sqrt", "log", "exp", "sin", "cos"})
_LATEST = 2**14
"""Steps up to which the sign of something monotone is looked for."""


class Unsettled(Exception):
    """Some choice cannot be settled."""


@dataclass
class Period(Exception):
    period: int


@dataclass
class Later(Exception):
    steps: int


class CutOff(sp.Dummy):  # type: ignore[misc]  # sympy has no types
    """What a floor cuts off at some s: a number in 0 <= u < 1 of which nothing else is known."""


def evaluate(node: Node, at: Mapping[str, Any]) -> Expression:
    match node:
        case Number(value=value):
            return sp.Rational(Fraction(value).numerator, Fraction(value).denominator)
        case Name(name="pi"):
            return sp.pi
        case Name(name=name):
            return sp.sympify(at[name])
        case Comparison(tests=tests, sides=sides):
            left = evaluate(sides[0], at)
            for test, side in zip(tests, sides[1:], strict=True):
                right = evaluate(side, at)
                if not exact.COMPARISONS[test](_sign(left - right)):
                    return sp.Integer(0)
                left = right
            return sp.Integer(1)
        case Operation(name="if", operands=(condition, then, otherwise)):
            return evaluate(then if _sign(evaluate(condition, at)) else otherwise, at)
        case Operation(name="and", operands=parts):
            return sp.Integer(all(_sign(evaluate(part, at)) for part in parts))
        case Operation(name="or", operands=parts):
            return sp.Integer(any(_sign(evaluate(part, at)) for part in parts))
        case Operation(name=name, operands=parts):
            return _apply(name, [evaluate(part, at) for part in parts])
    raise AssertionError(node)


def _apply(name: str, operands: list[Expression]) -> Expression:
    first, last = operands[0], operands[-1]
    if name in _FUNCTIONS and len(sp.Add.make_args(first)) > MOST_INSIDE:
        raise Unsettled
    match name:
        case "+":
            return sp.expand(first + last)
        case "-":
            return sp.expand(first - last)
        case "*":
            return _product(first, last)
        case "/":
            return _product(first, 1 / _nonzero(last))
        case "neg":
            return -first
        case "pos":
            return first
        case "not":
            return sp.Integer(_sign(first) == 0)
        case "abs":
            return first * _sign(first)
        case "min" | "max":
            best = first
            for one in operands[1:]:
                best = one if _sign(one - best) == (1 if name == "max" else -1) else best
            return best
        case "floor":
            return _floor(first)
        case "ceil":
            return -_floor(-first)
        case "//":
            return _floor(first / _nonzero(last))
        case "%":
            return sp.expand(first - _product(last, _floor(first / _nonzero(last))))
        case "**":
            return _power(first, last)
        case "gcd":
            return _gcd(first, last)
        case "sqrt":
            return _root(first, sp.Rational(1, 2)) if _sign(first) >= 0 else _refuse()
        case "log":
            return sp.log(first) if _sign(first) > 0 else _refuse()
        case "exp":
            return sp.exp(first)
        case "sin" | "cos":
            return _wave(getattr(sp, name), first)
    raise AssertionError(name)


def _product(first: Expression, last: Expression) -> Expression:
    if len(sp.Add.make_args(first)) * len(sp.Add.make_args(last)) > MOST_TERMS:
        raise Unsettled
    return sp.expand(first * last)


def _refuse() -> Expression:
    raise Unsettled


def _sign(expression: Expression) -> int:
    """The sign at every s, for real s >= 0 unless it is 0; else asks for a later start."""
    if expression.atoms(CutOff):
        raise Unsettled
    expression = sp.expand(expression)
    known = constant_sign(expression)
    if known is not None:
        return known
    polynomial = as_polynomial(expression)
    if polynomial is not None:
        raise Later(_past_the_roots(polynomial))
    towards = direction(expression)
    if not towards:
        raise Unsettled
    s = 0
    while s <= _LATEST:
        if _sign_at(expression, s) == towards:
            # Monotone, so it keeps this sign from here on.
            if s == 0:
                return towards
            raise Later(s)
        s = 2 * s or 1
    ends = limit(expression)
    if ends is not None and (ends in (0, -towards * sp.oo) or (ends.is_finite and _sign_of(ends) == -towards)):
        return -towards
    raise Unsettled


def _sign_of(number: Expression) -> int | None:
    return constant_sign(sp.sympify(exact.plain(number)))


def _sign_at(expression: Expression, s: int) -> int | None:
    return _sign_of(expression.subs(S, s))


def _past_the_roots(polynomial: sp.Poly) -> int:
    """The least s >= 1 from which on the polynomial has no real root."""
    above = 1
    while polynomial.count_roots(above, None):
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (above + below) // 2
        if polynomial.count_roots(middle, None):
            below = middle
        else:
            above = middle
    return above


def _nonzero(expression: Expression) -> Expression:
    if _sign(expression) == 0:
        raise Unsettled
    return expression


def _floor(expression: Expression) -> Expression:
    """Of a polynomial with rational coefficients: (p - p mod D) / D, D their denominator, where p mod D is constant."""
    expression = sp.expand(expression)
    if S not in expression.free_symbols:
        return sp.Integer(exact.apply("floor", [exact.plain(expression)]))
    polynomial = as_polynomial(expression)
    if polynomial is None:
        return expression - CutOff("u")
    denominator = lcm(*(int(coefficient.q) for coefficient in polynomial.all_coeffs()))
    whole = polynomial * denominator
    residue = int(whole.eval(0)) % denominator
    if any(int(coefficient) % denominator for coefficient in whole.all_coeffs()[:-1]):
        raise Period(denominator)
    return sp.expand((whole.as_expr() - residue) / denominator)


def _power(base: Expression, exponent: Expression) -> Expression:
    exponent = sp.expand(exponent)
    if S not in exponent.free_symbols:
        if exponent.is_Integer:
            _check_terms(base, exponent)
            return sp.expand((base if exponent >= 0 else _nonzero(base)) ** exponent)
        eventual_sign = _sign(base)
        if eventual_sign == 0 and exponent.is_positive:
            return sp.Integer(0)
        return _root(base, exponent) if eventual_sign > 0 else _refuse()
    if S not in base.free_symbols:
        its_sign = constant_sign(base)
        if its_sign == 0:
            return sp.Integer(_sign(exponent) == 0) if _sign(exponent) >= 0 else _refuse()
        if its_sign == -1:
            return _parity(exponent) * _power(-base, exponent)
        return base**exponent if its_sign == 1 else _refuse()
    _check_terms(base, exponent.as_coeff_Add()[0])  # sympy multiplies out b**(s + 3) to b**s * b**3
    return base**exponent if _sign(base) > 0 else _refuse()


def _check_terms(base: Expression, exponent: Expression) -> None:
    """Raises `Unsettled` where the power would have too many terms."""
    power, terms = abs(int(exponent)), len(sp.Add.make_args(base))
    if comb(min(power, MOST_TERMS) + terms - 1, power if power < terms else terms - 1) > MOST_TERMS:
        raise Unsettled


def _root(base: Expression, exponent: Expression) -> Expression:
    """base ** exponent, with a polynomial in factors, so that sqrt((s + 1)**2) is s + 1."""
    if len(sp.Add.make_args(base)) > MOST_INSIDE:
        raise Unsettled
    polynomial = as_polynomial(base)
    return (base if polynomial is None else sp.factor(base)) ** exponent


def _parity(exponent: Expression) -> int:
    polynomial = as_polynomial(exponent)
    if polynomial is None or not _is_whole(exponent):
        raise Unsettled
    if any(int(coefficient) % 2 for coefficient in polynomial.all_coeffs()[:-1]):
        raise Period(2)
    return -1 if int(polynomial.eval(0)) % 2 else 1


def _is_whole(expression: Expression) -> bool:
    """Whether it is a polynomial with whole coefficients."""
    polynomial = as_polynomial(expression)
    return polynomial is not None and all(coefficient.is_Integer for coefficient in polynomial.all_coeffs())


def _gcd(first: Expression, second: Expression) -> Expression:
    if first == second and _is_whole(first):
        return first * _sign(first)
    for one, other in ((first, second), (second, first)):
        if other.is_Integer and other != 0:
            polynomial = as_polynomial(one)
            if polynomial is None or not _is_whole(one):
                break
            if any(int(coefficient) % int(other) for coefficient in polynomial.all_coeffs()[:-1]):
                raise Period(abs(int(other)))
            return sp.Integer(sp.igcd(int(polynomial.eval(0)), int(other)))
    raise Unsettled


def _wave(function: Any, argument: Expression) -> Expression:
    """sin or cos of a linear form: with a rational multiple of pi for its slope it is periodic."""
    argument = sp.expand(argument)
    if S not in argument.free_symbols:
        return function(argument)
    slope = argument.coeff(S, 1)
    if S in (argument - slope * S).free_symbols or S in slope.free_symbols:
        raise Unsettled
    turns = slope / (2 * sp.pi)
    if turns.is_Rational:
        if turns.q > 1:
            raise Period(int(turns.q))
        return function(argument - slope * S)
    return function(argument)
