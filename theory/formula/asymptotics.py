"""Limits of exp-log expressions in s as s grows, from their leading terms c e^(a s) s^p (log s)^q.

Each rule takes one step per node of the expression; the limit stays unknown if leading terms cancel.
"""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from theory.equality import sign
from theory.formula.exact import plain
from theory.formula.monotone import Expression, S


@dataclass(frozen=True, kw_only=True)
class LeadingTerm:
    """Leading term factor e^(rate s) s^power (log s)^logs of an expression; the factor is not zero."""

    factor: Expression
    rate: Expression
    power: Any = 0
    logs: Any = 0


def limit(expression: Expression) -> Expression | None:
    """Limit as s grows, a number or an infinity; None if it is not found."""
    if S not in expression.free_symbols:
        return expression
    term = leading_term(expression)
    if term is None:
        return None
    growth = _compare_growth(term, LeadingTerm(factor=sp.Integer(1), rate=sp.Integer(0)))
    if growth is None:
        return None
    if not growth:
        return term.factor
    return sp.Integer(0) if growth < 0 else sp.oo * _sign(term.factor)


def leading_term(expression: Expression) -> LeadingTerm | None:
    """Leading term of an expression; None if it is not found."""
    if S not in expression.free_symbols:
        return LeadingTerm(factor=expression, rate=sp.Integer(0)) if _sign(expression) else None
    if expression == S:
        return LeadingTerm(factor=sp.Integer(1), rate=sp.Integer(0), power=1)
    if expression.is_Add:
        return _leading_term_of_sum(expression)
    if expression.is_Mul:
        return _leading_term_of_product(expression)
    if expression.is_Pow:
        return _leading_term_of_power(*expression.args)
    if isinstance(expression, sp.exp):
        return _leading_term_of_power(sp.E, expression.args[0])
    if isinstance(expression, sp.log):
        return _leading_term_of_logarithm(expression.args[0])
    return None


def _sign(number: Expression) -> int | None:
    """Sign of a number; None if it contains symbols or cannot be decided."""
    return None if number.free_symbols else sign(plain(number))


def _compare_growth(term: LeadingTerm, other: LeadingTerm) -> int | None:
    """1, 0 or -1 if the first term grows faster, equally fast or slower; None if undecided."""
    for first, last in ((term.rate, other.rate), (term.power, other.power), (term.logs, other.logs)):
        difference = _sign(sp.sympify(first) - sp.sympify(last))
        if difference != 0:
            return difference
    return 0


def _is_bounded(expression: Expression) -> bool:
    """True if the expression is made of numbers, sines and cosines by products and positive integer powers."""
    if S not in expression.free_symbols or isinstance(expression, sp.sin | sp.cos):
        return True
    if expression.is_Pow:
        return bool(expression.exp.is_Integer and expression.exp > 0) and _is_bounded(expression.base)
    return bool(expression.is_Mul) and all(map(_is_bounded, expression.args))


def _leading_term_of_sum(expression: Expression) -> LeadingTerm | None:
    waves = [part for part in expression.args if S in part.free_symbols and _is_bounded(part)]
    if waves:  # bounded parts do not matter if the rest is unbounded
        rest = leading_term(expression - sp.Add(*waves))
        constant = LeadingTerm(factor=sp.Integer(1), rate=sp.Integer(0))
        return rest if rest is not None and _compare_growth(rest, constant) == 1 else None
    dominant: list[LeadingTerm] = []
    for part in map(leading_term, expression.args):
        order = 1 if part is not None and not dominant else None if part is None else _compare_growth(part, dominant[0])
        if part is None or order is None:
            return None
        if order >= 0:
            dominant = [part] if order else [*dominant, part]
    total = sp.Add(*(part.factor for part in dominant))
    return (
        LeadingTerm(factor=total, rate=dominant[0].rate, power=dominant[0].power, logs=dominant[0].logs)
        if _sign(total)
        else None
    )


def _leading_term_of_product(expression: Expression) -> LeadingTerm | None:
    factor, rate, power, logs = sp.Integer(1), sp.Integer(0), sp.Integer(0), sp.Integer(0)
    for part in expression.args:
        term = leading_term(part)
        if term is None:
            return None
        factor, rate, power, logs = (
            factor * term.factor,
            rate + term.rate,
            power + term.power,
            logs + term.logs,
        )
    return LeadingTerm(factor=factor, rate=rate, power=power, logs=logs)


def _leading_term_of_power(base: Expression, exponent: Expression) -> LeadingTerm | None:
    if S not in base.free_symbols:
        if _sign(base) != 1:
            return None
        slope = exponent.coeff(S, 1)
        rest = sp.expand(exponent - slope * S)
        if S in rest.free_symbols or S in slope.free_symbols:
            return None
        return LeadingTerm(factor=base**rest, rate=slope * sp.log(base))
    term = leading_term(base)
    if term is None or not exponent.is_Rational or (not exponent.is_Integer and _sign(term.factor) != 1):
        return None
    return LeadingTerm(
        factor=term.factor**exponent,
        rate=term.rate * exponent,
        power=term.power * exponent,
        logs=term.logs * exponent,
    )


def _leading_term_of_logarithm(argument: Expression) -> LeadingTerm | None:
    term = leading_term(argument)
    if term is None or _sign(term.factor) != 1:
        return None
    rate_sign = _sign(term.rate)
    if rate_sign is None:
        return None
    if rate_sign:
        return LeadingTerm(factor=term.rate, rate=sp.Integer(0), power=1)
    if term.power:
        return LeadingTerm(factor=sp.sympify(term.power), rate=sp.Integer(0), logs=1)
    bounded = not term.logs and _sign(term.factor - 1)
    return LeadingTerm(factor=sp.log(term.factor), rate=sp.Integer(0)) if bounded else None
