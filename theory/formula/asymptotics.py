"""Limits of exp-log expressions in s as s grows, read off their leading terms c e^(a s) s^p (log s)^q.

Each rule takes a step per node of the expression; where leading terms cancel, nothing is said.
"""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from theory.equality import sign
from theory.formula.exact import plain
from theory.formula.monotone import Expression, S


@dataclass(frozen=True, kw_only=True)
class Leading:
    """What an expression is asymptotic to: factor e^(rate s) s^power (log s)^logs, the factor not zero."""

    factor: Expression
    rate: Expression
    power: Any = 0
    logs: Any = 0


def limit(expression: Expression) -> Expression | None:
    """The limit as s grows, a number or an infinity; None where it is not seen."""
    if S not in expression.free_symbols:
        return expression
    found = leading(expression)
    if found is None:
        return None
    grows = _order(found, Leading(factor=sp.Integer(1), rate=sp.Integer(0)))
    if grows is None:
        return None
    if not grows:
        return found.factor
    return sp.Integer(0) if grows < 0 else sp.oo * _sign(found.factor)


def leading(expression: Expression) -> Leading | None:
    """The leading term; None where it is not seen."""
    if S not in expression.free_symbols:
        return Leading(factor=expression, rate=sp.Integer(0)) if _sign(expression) else None
    if expression == S:
        return Leading(factor=sp.Integer(1), rate=sp.Integer(0), power=1)
    if expression.is_Add:
        return _of_sum(expression)
    if expression.is_Mul:
        return _of_product(expression)
    if expression.is_Pow:
        return _of_power(*expression.args)
    if isinstance(expression, sp.exp):
        return _of_power(sp.E, expression.args[0])
    if isinstance(expression, sp.log):
        return _of_logarithm(expression.args[0])
    return None


def _sign(number: Expression) -> int | None:
    return None if number.free_symbols else sign(plain(number))


def _order(one: Leading, other: Leading) -> int | None:
    """1, 0 or -1 as the first grows faster, as fast or slower."""
    for first, last in ((one.rate, other.rate), (one.power, other.power), (one.logs, other.logs)):
        difference = _sign(sp.sympify(first) - sp.sympify(last))
        if difference != 0:
            return difference
    return 0


def _is_bounded(expression: Expression) -> bool:
    """Whether it is made of numbers, sines and cosines by products and whole powers."""
    if S not in expression.free_symbols or isinstance(expression, sp.sin | sp.cos):
        return True
    if expression.is_Pow:
        return bool(expression.exp.is_Integer and expression.exp > 0) and _is_bounded(expression.base)
    return bool(expression.is_Mul) and all(map(_is_bounded, expression.args))


def _of_sum(expression: Expression) -> Leading | None:
    waves = [part for part in expression.args if S in part.free_symbols and _is_bounded(part)]
    if waves:  # where the rest grows beyond all bounds, they do not matter
        rest = leading(expression - sp.Add(*waves))
        constant = Leading(factor=sp.Integer(1), rate=sp.Integer(0))
        return rest if rest is not None and _order(rest, constant) == 1 else None
    most: list[Leading] = []
    for part in map(leading, expression.args):
        order = 1 if part is not None and not most else None if part is None else _order(part, most[0])
        if part is None or order is None:
            return None
        if order >= 0:
            most = [part] if order else [*most, part]
    total = sp.Add(*(part.factor for part in most))
    return Leading(factor=total, rate=most[0].rate, power=most[0].power, logs=most[0].logs) if _sign(total) else None


def _of_product(expression: Expression) -> Leading | None:
    factor, rate, power, logs = sp.Integer(1), sp.Integer(0), sp.Integer(0), sp.Integer(0)
    for part in expression.args:
        found = leading(part)
        if found is None:
            return None
        factor, rate, power, logs = (
            factor * found.factor,
            rate + found.rate,
            power + found.power,
            logs + found.logs,
        )
    return Leading(factor=factor, rate=rate, power=power, logs=logs)


def _of_power(base: Expression, exponent: Expression) -> Leading | None:
    if S not in base.free_symbols:
        if _sign(base) != 1:
            return None
        slope = exponent.coeff(S, 1)
        rest = sp.expand(exponent - slope * S)
        if S in rest.free_symbols or S in slope.free_symbols:
            return None
        return Leading(factor=base**rest, rate=slope * sp.log(base))
    found = leading(base)
    if found is None or not exponent.is_Rational or (not exponent.is_Integer and _sign(found.factor) != 1):
        return None
    return Leading(
        factor=found.factor**exponent,
        rate=found.rate * exponent,
        power=found.power * exponent,
        logs=found.logs * exponent,
    )


def _of_logarithm(inside: Expression) -> Leading | None:
    found = leading(inside)
    if found is None or _sign(found.factor) != 1:
        return None
    fast = _sign(found.rate)
    if fast is None:
        return None
    if fast:
        return Leading(factor=found.rate, rate=sp.Integer(0), power=1)
    if found.power:
        return Leading(factor=sp.sympify(found.power), rate=sp.Integer(0), logs=1)
    bounded = not found.logs and _sign(found.factor - 1)
    return Leading(factor=sp.log(found.factor), rate=sp.Integer(0)) if bounded else None
