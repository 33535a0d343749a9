"""Random formulas as nested tuples, printed as text and evaluated by definition; shares no code with theory.formula.

A tree is a leaf ("i",), ("j",), ("number", text, value) or (symbol, child, ...). Every operand is parenthesised, so
the text says nothing about precedence: that is tested by hand-written cases.
"""

import math
from fractions import Fraction
from typing import Any

Tree = tuple[Any, ...]

INFIX = ("+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "and", "or")
PREFIX = ("neg", "not")
CALLS = {"min": 2, "max": 2, "abs": 1, "floor": 1, "gcd": 2}


class NoValue(Exception):
    """The formula has no rational value there."""


def text(tree: Tree) -> str:
    match tree:
        case ("i",) | ("j",):
            return str(tree[0])
        case ("number", written, _):
            return str(written)
        case ("neg", child):
            return f"-({text(child)})"
        case ("not", child):
            return f"not ({text(child)})"
        case ("if", condition, then, otherwise):
            return f"({text(then)}) if ({text(condition)}) else ({text(otherwise)})"
        case (name, *children) if name in CALLS:
            return f"{name}({', '.join(text(child) for child in children)})"
        case (name, left, right):
            return f"({text(left)}) {name} ({text(right)})"
    raise AssertionError(tree)


def value(tree: Tree, i: int, j: int) -> Fraction:
    """The value by the definition of each operation, everything a Fraction."""
    match tree:
        case ("i",):
            return Fraction(i)
        case ("j",):
            return Fraction(j)
        case ("number", _, number):
            return Fraction(number)
        case ("if", condition, then, otherwise):
            return value(then if value(condition, i, j) else otherwise, i, j)
        case ("and", left, right):
            return Fraction(value(left, i, j) != 0 and value(right, i, j) != 0)
        case ("or", left, right):
            return Fraction(value(left, i, j) != 0 or value(right, i, j) != 0)
    name, *children = tree
    return _apply(name, [value(child, i, j) for child in children])


def _apply(name: str, operands: list[Fraction]) -> Fraction:
    a, b = operands[0], operands[-1]
    if name in ("/", "//", "%") and b == 0:
        raise NoValue
    if name == "gcd" and (a.denominator != 1 or b.denominator != 1):
        raise NoValue
    if name == "**":
        return _power(a, b)
    results = {
        "neg": lambda: -a,
        "not": lambda: a == 0,
        "abs": lambda: a if a > 0 else -a,
        "floor": lambda: _floor(a),
        "min": lambda: a if a < b else b,
        "max": lambda: a if a > b else b,
        "gcd": lambda: math.gcd(a.numerator, b.numerator),
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "/": lambda: Fraction(a.numerator * b.denominator, a.denominator * b.numerator),
        "//": lambda: _floor(a / b),
        "%": lambda: a - b * _floor(a / b),
        "<": lambda: a < b,
        "<=": lambda: a <= b,
        ">": lambda: a > b,
        ">=": lambda: a >= b,
        "==": lambda: a == b,
        "!=": lambda: a != b,
    }
    return Fraction(results[name]())


def _floor(number: Fraction) -> int:
    return number.numerator // number.denominator


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or (base == 0 and exponent < 0):
        raise NoValue
    # Exponents beyond this stand for "too large": the caller sees to it that only 0, 1 and -1 get them.
    result = Fraction(1)
    for _ in range(abs(exponent.numerator)):
        result *= base
    return result if exponent >= 0 else 1 / result
