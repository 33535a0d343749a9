"""Patterns as formulas that a user types: A(i, j) with i the key and j the query, 1-based, i <= j.

The text is untrusted. Python's own parser turns it into a syntax tree, in which only the nodes below are known;
nothing of it is ever executed, and every operation works on exact rationals whose size is bounded.

Grammar: names i and j; whole and decimal numbers (0.5 is one half); + - * / // % **; comparisons, and, or, not
(1 when true, 0 when false); `a if condition else b`; min, max, abs, floor, gcd.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.errors import LengthgenError

Number = int | Fraction
Compute = Callable[[int, int], Number]

MAX_LENGTH = 2_000
"""Characters of a formula; far above any that a person writes, far below what the parser's stack bears."""
MAX_DEPTH = 100
MAX_BITS = 4_096
"""Size of any number that comes up: larger ones are refused before they are computed."""


class FormulaError(LengthgenError):
    """The formula cannot be read or has no value at some pair; the message is one line that says where."""


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A pattern A(i, j) given as a formula, evaluated exactly."""

    text: str
    compute: Compute

    def matrix(self, size: int) -> NDArray[Any]:
        """The pattern at scale `size`: object array [size, size] of ints and Fractions, zero below the diagonal.

        Raises:
            FormulaError: the formula has no value at some pair, or one too large.
        """
        entries = np.zeros((size, size), dtype=object)
        for query in range(1, size + 1):
            for key in range(1, query + 1):
                try:
                    entries[key - 1, query - 1] = self.compute(key, query)
                except FormulaError as error:
                    raise FormulaError(f"{error} at i={key}, j={query}") from None
        return entries


def parse(text: str) -> Formula:
    """Reads a formula.

    Raises:
        FormulaError: too long, not in the grammar of this module, or an unknown name.
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the formula has {len(text):,} characters; at most {MAX_LENGTH:,} are read")
    try:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error).split(";")[0]
        raise FormulaError(f"not a formula: {reason or 'too deeply nested'}") from None
    return Formula(text=text.strip(), compute=_compile(tree.body, text.strip(), 0))


def _bounded(value: Number) -> Number:
    """The value, whole numbers as ints; refused when it is larger than anyone needs."""
    if isinstance(value, Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
            raise FormulaError(f"a number of more than {MAX_BITS} bits comes up")
        return value.numerator if value.denominator == 1 else value
    if value.bit_length() > MAX_BITS:
        raise FormulaError(f"a number of more than {MAX_BITS} bits comes up")
    return int(value)


def _power(base: Number, exponent: Number) -> Number:
    if not isinstance(exponent, int):
        raise FormulaError(f"the exponent {exponent} is not a whole number, so the power is not rational")
    if base == 0 and exponent < 0:
        raise ZeroDivisionError
    if base in (0, 1, -1):
        return int(base) if exponent % 2 or (base == 0 and exponent) else 1
    exact = Fraction(base)
    bits = max(exact.numerator.bit_length(), exact.denominator.bit_length())
    # A number of b bits is at least 2**(b - 1), so its power has at least (b - 1) * exponent bits.
    if (bits - 1) * abs(exponent) > MAX_BITS:
        raise FormulaError(f"a power with exponent {exponent} would have more than {MAX_BITS} bits")
    return Fraction(exact**exponent)


def _gcd(first: Number, second: Number) -> Number:
    if not (isinstance(first, int) and isinstance(second, int)):
        raise FormulaError(f"gcd takes whole numbers, not {first} and {second}")
    return math.gcd(first, second)


def _divide(first: Number, second: Number) -> Number:
    return Fraction(first) / Fraction(second)


BINARY: dict[type[ast.operator], Callable[[Any, Any], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Number]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: lambda value: int(not value),
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
    "min": (min, 2, 20),
    "max": (max, 2, 20),
    "abs": (abs, 1, 1),
    "floor": (math.floor, 1, 1),
    "gcd": (_gcd, 2, 2),
}
"""Name to (function, fewest arguments, most arguments)."""


def _compile(node: ast.expr, text: str, depth: int) -> Compute:
    """The node as a function of (i, j). Knows every node of the grammar and refuses all others."""
    if depth > MAX_DEPTH:
        raise FormulaError(f"the formula is nested more than {MAX_DEPTH} deep")

    def inner(child: ast.expr) -> Compute:
        return _compile(child, text, depth + 1)

    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            literal = (ast.get_source_segment(text, node) or "").replace("_", "")
            number = _bounded(value) if isinstance(value, int) else _decimal(literal)
            return lambda i, j: number
        case ast.Name(id="i"):
            return lambda i, j: i
        case ast.Name(id="j"):
            return lambda i, j: j
        case ast.Name(id=name):
            raise FormulaError(f"unknown name '{name}': a formula knows i (key) and j (query)")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            return _guarded(BINARY[type(op)], inner(left), inner(right))
        case ast.BinOp(op=ast.BitXor()):
            raise FormulaError("'^' is not known here: write a power as **")
        case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            return _guarded(UNARY[type(op)], inner(operand))
        case ast.BoolOp(op=op, values=values):
            parts = [inner(value) for value in values]
            combine = all if isinstance(op, ast.And) else any
            return lambda i, j: int(combine(part(i, j) for part in parts))
        case ast.Compare(left=left, ops=ops, comparators=rights) if all(type(op) in COMPARISONS for op in ops):
            sides = [inner(side) for side in (left, *rights)]
            tests = [COMPARISONS[type(op)] for op in ops]
            return _chained(tests, sides)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            condition, then, otherwise = inner(test), inner(body), inner(orelse)
            return lambda i, j: then(i, j) if condition(i, j) else otherwise(i, j)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            function, fewest, most = FUNCTIONS[name]
            if not fewest <= len(arguments) <= most:
                takes = str(fewest) if fewest == most else f"{fewest} to {most}"
                raise FormulaError(f"{name} takes {takes} arguments, not {len(arguments)}")
            return _guarded(function, *(inner(argument) for argument in arguments))
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            raise FormulaError(f"{name} takes its arguments by place, not by name")
        case ast.Call(func=ast.Name(id=name)):
            raise FormulaError(f"unknown function '{name}': a formula knows {', '.join(FUNCTIONS)}")
    raise FormulaError(f"a formula cannot hold {_what(node)}")


def _guarded(function: Callable[..., Number], *operands: Compute) -> Compute:
    def compute(i: int, j: int) -> Number:
        try:
            return _bounded(function(*(operand(i, j) for operand in operands)))
        except ZeroDivisionError:
            raise FormulaError("division by zero") from None

    return compute


def _chained(tests: list[Callable[[Any, Any], bool]], sides: list[Compute]) -> Compute:
    """a < b < c: each side is computed once, and none after the first test that fails."""

    def compute(i: int, j: int) -> int:
        left = sides[0](i, j)
        for test, side in zip(tests, sides[1:], strict=True):
            right = side(i, j)
            if not test(left, right):
                return 0
            left = right
        return 1

    return compute


def _decimal(literal: str) -> Number:
    mantissa, _, exponent = literal.lower().partition("e")
    # Fraction("1e999999999") would be computed before its size could be refused.
    if exponent and abs(int(exponent)) > MAX_BITS // 4:
        raise FormulaError(f"a number of more than {MAX_BITS} bits comes up")
    return _bounded(Fraction(mantissa) * Fraction(10) ** int(exponent or 0))


def _what(node: ast.expr) -> str:
    names = {
        ast.Attribute: "attribute access",
        ast.Call: "a call of anything but its own functions",
        ast.Subscript: "an index",
        ast.Lambda: "a lambda",
        ast.Constant: f"the constant {getattr(node, 'value', None)!r:.40}",
    }
    return names.get(type(node), f"this ({type(node).__name__})")
