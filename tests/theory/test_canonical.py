"""Formulas keep their values as expressions, and what is called zero, of a sign or never zero is that at every pair."""

import math
from collections import Counter
from random import Random
from typing import Any

import mpmath
import pytest
import sympy as sp

from lengthgen.theory.formula import parse
from lengthgen.theory.formula.canonical import KEY, QUERY, expression_of, never_zero, signs, vanishes
from tests.oracles.formulas import NoValue, Unsure, by_python, random_real_text, random_text

PAIRS = [(i, j) for j in range(1, 7) for i in range(1, j + 1)]
SMALL = mpmath.mpf(10) ** -30


def _value(expression: Any, at: dict[str, int]) -> Any:
    """Value by 60 digits, with the choices and floors of the language."""
    if expression.is_Symbol:
        return mpmath.mpf(at[expression.name])
    if expression.is_number:
        return mpmath.mpf(sp.N(expression, 60))
    name = expression.func.__name__
    if name == "if":
        return _value(expression.args[1 if _value(expression.args[0], at) else 2], at)
    parts = [_value(part, at) for part in expression.args]
    match name:
        case "Add":
            return mpmath.fsum(parts)
        case "Mul":
            return mpmath.fprod(parts)
        case "Pow":
            base, exponent = (mpmath.nint(part) if abs(part - mpmath.nint(part)) < SMALL else part for part in parts)
            if (base == 0 and exponent < 0) or (base < 0 and exponent != mpmath.nint(exponent)):
                raise NoValue
            return base**exponent
        case "floor":
            nearest = mpmath.nint(parts[0])
            return nearest if abs(parts[0] - nearest) < SMALL else mpmath.floor(parts[0])
        case "<" | "==":
            return mpmath.mpf(parts[0] < -SMALL if name == "<" else abs(parts[0]) < SMALL)
        case "and" | "or":
            return mpmath.mpf((all if name == "and" else any)(parts))
        case "gcd":
            return mpmath.mpf(math.gcd(*(int(mpmath.nint(part)) for part in parts)))
    if name == "log" and parts[0] <= 0:
        raise NoValue
    return abs(parts[0]) if name == "Abs" else getattr(mpmath, name)(parts[0])


def test_random_formulas_keep_their_values_and_signs() -> None:
    draw, seen = Random(1), Counter[str]()
    texts = [random_real_text(draw, draw.randint(1, 3)) for _ in range(100)]
    texts += [random_text(draw, draw.randint(2, 4), "ij") for _ in range(100)]
    for text in texts:
        expression = expression_of(parse(text).nodes[0])
        if expression is None:
            seen["too long"] += 1
            continue
        possible, nonzero, zero = signs(expression), never_zero(expression), vanishes(expression)
        seen.update({"nonzero": nonzero, "zero": zero, "one sign": len(possible) == 1})
        for i, j in PAIRS[::2]:
            at = {"i": i, "j": j}
            with mpmath.workdps(60):
                try:
                    expected = by_python(text, at, real=True)
                    if abs(expected) > 10**20:
                        continue
                    assert abs(_value(expression, at) - expected) < SMALL * max(1, abs(expected)), (text, at)
                except (NoValue, Unsure, OverflowError):
                    continue
            sign = 0 if abs(expected) < SMALL else int(mpmath.sign(expected))
            assert sign in possible and not (nonzero and sign == 0) and not (zero and sign), (text, at)
            seen["values"] += 1
    assert seen["values"] > 1000 and min(seen["nonzero"], seen["zero"], seen["one sign"]) > 10 and seen["too long"] < 30


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 - 2/(i + j)", {0, 1}),
        ("1 - 3/(i + j)", {-1, 0, 1}),
        ("i*j - i*i", {0, 1}),
        ("2 + sin(i)", {1}),
        ("1 + sin(i*j)", {1}),
        ("1 - cos(j - i)", {0, 1}),
        ("1 - cos(2*i - j - 1)", {0, 1}),
        ("1 - cos(n - 2*j + i)", {0, 1}),
        ("1 - cos(i*sqrt(2) - j)", {1}),
        ("1 - cos(i*exp(2))", {0, 1}),
        ("i - i*sqrt(2) + j", {1}),
        ("j**10000", {1}),
        ("-exp(i)", {-1}),
        ("log(i)", {0, 1}),
        ("(-1)**i", {-1, 1}),
        ("(i - 5)**j", {-1, 0, 1}),
        ("(i - j)**2", {0, 1}),
        ("floor(i/2)", {0, 1}),
        ("sqrt(2) - 1", {1}),
    ],
)
def test_signs_that_are_known(text: str, expected: set[int]) -> None:
    assert signs(expression_of(parse(text).nodes[0])) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i*sqrt(2) - j", True),
        ("i*sqrt(2) - i", True),
        ("(i - j)*sqrt(2) + j - i", False),
        ("pi*i - j", True),
        ("sin(i)", True),
        ("sin(i*sqrt(2))", True),
        ("sin(i*2**sqrt(2))", False),
        ("sin(j - i)", False),
        ("cos(j - i)", True),
        ("a*i", True),
        ("a - i", True),
        ("i*i - 2*j", False),
        ("i*35211221762411**(1/3) - j*32771**(1/3)*32779**(2/3)", False),
    ],
)
def test_expressions_that_are_never_zero(text: str, expected: bool) -> None:
    assert never_zero(expression_of(parse(text, "a").nodes[0])) is expected


def test_identities_of_two_positions_vanish() -> None:
    assert vanishes(sp.cos(KEY - QUERY) - sp.cos(KEY) * sp.cos(QUERY) - sp.sin(KEY) * sp.sin(QUERY))
    assert not vanishes(sp.cos(KEY - QUERY) - sp.cos(KEY) * sp.cos(QUERY))
