"""Formulas of Presburger arithmetic in the integer arithmetic of z3, which says if anything else can happen."""

import ast
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm
from typing import Any

import pytest

z3 = pytest.importorskip("z3")

Quotient = tuple[Any, int]
"""An integer term, and a positive integer by which it is divided."""


def pair(*, family: bool) -> tuple[dict[str, Any], list[Any]]:
    """Positions i <= j <= n as unknown integers, and the conditions on them; n is j unless it is a family."""
    unknown = {name: z3.Int(name) for name in "ijn"}
    i, j, n = unknown.values()
    return unknown, [i >= 1, i <= j, j <= n if family else j == n]


def has_other_values(written: str, values: Iterable[Fraction], *, family: bool) -> bool:
    """True if the formula has a value at some pair that is none of the given ones; raises if that is not decided."""
    unknown, conditions = pair(family=family)
    term, divisor = in_integers(written, unknown)
    numerators = [value * divisor for value in values]
    return _possible([*conditions, *(term != int(each) for each in numerators if each.denominator == 1)])


def leaves_line(written: str, at: Mapping[str, tuple[int, int]], base: Fraction, slope: Fraction) -> bool:
    """True if the formula is not base + s slope at some s >= 0, with each position its start and step times s."""
    s = z3.Int("s")
    term, divisor = in_integers(written, {name: start + step * s for name, (start, step) in at.items()})
    common = lcm(base.denominator, slope.denominator)
    return _possible([s >= 0, term * common != divisor * (int(base * common) + int(slope * common) * s)])


def _possible(conditions: list[Any]) -> bool:
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    answer = solver.check(*conditions)
    assert answer != z3.unknown, conditions
    return bool(answer == z3.sat)


def in_integers(written: str, at: Mapping[str, Any]) -> Quotient:
    """Value of a formula as a quotient; the positions are integer terms."""
    return _quotient(ast.parse(written.strip(), mode="eval").body, at)


def _quotient(tree: ast.expr, at: Mapping[str, Any]) -> Quotient:
    match tree:
        case ast.Constant(value=value):
            number = Fraction(value)
            return z3.IntVal(number.numerator), number.denominator
        case ast.Name(id=name):
            return at[name], 1
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            term, divisor = _quotient(operand, at)
            return -term, divisor
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            (first, one_divisor), (last, other_divisor) = (_quotient(side, at) for side in (left, right))
            return first * last, one_divisor * other_divisor
        case ast.BinOp(left=left, op=ast.Div() | ast.FloorDiv() | ast.Mod() as operation, right=right):
            number = Fraction(eval(compile(ast.Expression(right), "divisor", "eval"), {"__builtins__": {}}))
            return _divided(operation, _quotient(left, at), number)
        case ast.IfExp(test=ast.Compare(left=left, ops=[test], comparators=[right]), body=then, orelse=otherwise):
            first, last, _ = _over_one(left, right, at)
            outcomes = {ast.Lt: first < last, ast.LtE: first <= last, ast.Eq: first == last, ast.NotEq: first != last}
            first, last, divisor = _over_one(then, otherwise, at)
            return z3.If(outcomes[type(test)], first, last), divisor
        case ast.Call(func=ast.Name(id="abs"), args=[operand]):
            term, divisor = _quotient(operand, at)
            return z3.If(term < 0, -term, term), divisor
        case ast.Call(func=ast.Name(id=name), args=[left, right]):
            first, last, divisor = _over_one(left, right, at)
            return z3.If(first < last if name == "min" else first > last, first, last), divisor
        case ast.BinOp(left=left, op=operation, right=right):
            first, last, divisor = _over_one(left, right, at)
            return first + last if isinstance(operation, ast.Add) else first - last, divisor
    raise AssertionError(ast.dump(tree))


def _over_one(left: ast.expr, right: ast.expr, at: Mapping[str, Any]) -> tuple[Any, Any, int]:
    (first, one_divisor), (last, other_divisor) = (_quotient(side, at) for side in (left, right))
    common = lcm(one_divisor, other_divisor)
    return first * (common // one_divisor), last * (common // other_divisor), common


def _divided(operation: ast.operator, dividend: Quotient, number: Fraction) -> Quotient:
    term, divisor = dividend
    above, below = term * number.denominator, divisor * number.numerator
    if below < 0:
        above, below = -above, -below
    if isinstance(operation, ast.Div):
        return above, below
    floor = above / below  # of integers, by a positive one: rounded down
    if isinstance(operation, ast.FloorDiv):
        return floor, 1
    common = lcm(divisor, number.denominator)
    return term * (common // divisor) - floor * int(number * common), common
