"""The claims on a formula's structure and range are true at every pair, for hundreds of formulas."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from random import Random
from typing import Any

import mpmath
import pytest

from lengthgen.theory.formula import FormulaError, exact, parse
from lengthgen.theory.formula.linear import linear_bounds, simplify_choices
from lengthgen.theory.formula.ranges import finite_range
from lengthgen.theory.formula.structure import Structure, structure
from lengthgen.theory.formula.syntax import Node
from tests.oracles.formulas import NoValue, Unsure, by_python, random_real_text, random_text
from tests.timing import at_once

SIZE = 12
Cell = tuple[int, ...]
PAIRS: list[Cell] = [(i, j) for j in range(1, SIZE + 1) for i in range(1, j + 1)]
TRIPLES: list[Cell] = [(i, j, n) for n in range(1, 9) for j in range(1, n + 1) for i in range(1, j + 1)]
FAR: list[Cell] = [(i, j) for j in (13, 14, 15) for i in range(1, j + 1)]

POSITION: dict[Structure, Callable[[Cell], int]] = {
    Structure.CONSTANT: lambda cell: 0,
    Structure.TOEPLITZ: lambda cell: cell[1] - cell[0],
    Structure.KEY: lambda cell: cell[0],
    Structure.QUERY: lambda cell: cell[1],
}


def _values(node: Node, cells: list[Cell]) -> dict[Cell, Any]:
    """Values of a node at cells, None where there is none."""
    values = {}
    for cell in cells:
        try:
            values[cell] = exact.evaluate(node, dict(zip("ijn", cell, strict=False)))
        except FormulaError:
            values[cell] = None
    return values


def _holds(claimed: Structure, values: dict[Cell, Any]) -> bool:
    if claimed in POSITION:
        of_position: dict[int, Any] = {}
        return all(of_position.setdefault(POSITION[claimed](cell), value) == value for cell, value in values.items())
    if claimed in (Structure.PRODUCT, Structure.SUM):
        for i, k in combinations(range(1, 7), 2):
            for j, m in combinations(range(k, SIZE + 1), 2):
                four = values[i, j], values[k, m], values[i, m], values[k, j]
                if None not in four:
                    a, b, c, d = four
                    if (a * b != c * d) if claimed is Structure.PRODUCT else (a + b != c + d):
                        return False
    return True


def test_structure_range_and_settling_of_random_formulas_are_true() -> None:
    seen: Counter[Any] = Counter()
    for depth, count in [(2, 260), (3, 120), (4, 60)]:
        draw = Random(depth)
        for _ in range(count):
            text = random_text(draw, depth, "ij")
            formula = parse(text)
            values = _values(formula.nodes[0], PAIRS)
            claimed = structure(formula)
            assert _holds(claimed, values), (text, claimed)
            assert _values(simplify_choices(formula.nodes[0]), PAIRS) == values, text
            possible = finite_range(formula.nodes[0])
            if possible is not None:
                far = _values(formula.nodes[0], FAR)
                assert {value for value in [*values.values(), *far.values()] if value is not None} <= possible, text
            seen[claimed] += 1
            seen["finite"] += possible is not None
    assert all(seen[claimed] > 2 for claimed in [*POSITION, Structure.PRODUCT, Structure.SUM, Structure.GENERAL])
    assert 170 < seen["finite"] < 340


def test_structure_of_random_irrational_formulas_is_true_by_60_digits() -> None:
    draw, seen = Random(5), Counter[Structure]()
    with mpmath.workdps(60):
        for _ in range(80):
            text = random_real_text(draw, draw.randint(1, 3))
            claimed = structure(parse(text))
            values: dict[Cell, Any] = {}
            for i, j in PAIRS[:28]:
                try:
                    value = by_python(text, {"i": i, "j": j}, real=True)
                except (NoValue, Unsure, OverflowError):
                    continue
                first = values.setdefault((POSITION[claimed]((i, j)),), value) if claimed in POSITION else value
                assert abs(first - value) <= mpmath.mpf(10) ** -30 * max(1, abs(value)), (text, claimed)
            seen[claimed] += 1
    assert min(seen[claimed] for claimed in POSITION) > 0


def test_ranges_and_settling_of_random_families_are_true() -> None:
    draw = Random(9)
    finite = 0
    for _ in range(150):
        text = random_text(draw, draw.randint(2, 4), "ijn")
        node = parse(text).nodes[0]
        values = _values(node, TRIPLES)
        assert _values(simplify_choices(node), TRIPLES) == values, text
        possible = finite_range(node)
        if possible is not None:
            finite += 1
            assert {value for value in values.values() if value is not None} <= possible, text
    assert finite > 50


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", Structure.CONSTANT),
        ("a", Structure.CONSTANT),
        ("i - i + pi", Structure.CONSTANT),
        ("i <= j", Structure.CONSTANT),
        ("min(i, j, j + 1) - i", Structure.CONSTANT),
        ("(i + j)**2 - i**2 - j**2 - 2*i*j", Structure.CONSTANT),
        ("exp(i - j) * exp(j) / exp(i)", Structure.CONSTANT),
        ("i**2 / i**2", Structure.CONSTANT),
        ("i * j / (j * i)", Structure.CONSTANT),
        ("j - i", Structure.TOEPLITZ),
        ("1 if j - i < 3 else a", Structure.TOEPLITZ),
        ("2*i < 2*j - 4", Structure.TOEPLITZ),
        ("abs(i - j)", Structure.TOEPLITZ),
        ("0.5**j * 2**i", Structure.TOEPLITZ),
        ("exp(i) / exp(j)", Structure.TOEPLITZ),
        ("j**2 + i**2 - 2*i*j", Structure.TOEPLITZ),
        ("a * (j - i) + d", Structure.TOEPLITZ),
        ("cos(pi * (i - j) / 4)", Structure.TOEPLITZ),
        ("max(i, j) - min(i, j)", Structure.TOEPLITZ),
        ("sqrt(j - i + 1)", Structure.TOEPLITZ),
        ("i", Structure.KEY),
        ("min(i, j)", Structure.KEY),
        ("max(i, i*sqrt(2) - j)", Structure.KEY),
        ("d * i", Structure.KEY),
        ("i * j / j", Structure.KEY),
        ("cos(pi * 2**(i == 7))", Structure.KEY),  # 2**0 is odd
        ("(-1)**(3**(i > 7) * j)", Structure.GENERAL),
        ("(-1)**(i**2 * j**3)", Structure.GENERAL),
        ("(-1)**(i**(j == 9))", Structure.GENERAL),
        ("j % 3", Structure.QUERY),
        ("(1 - i) * j + i * j", Structure.QUERY),
        ("i if i > j else j", Structure.QUERY),
        ("i * j", Structure.PRODUCT),
        ("(i - 1) * (j - 1)", Structure.PRODUCT),
        ("i*j - i - j + 1", Structure.PRODUCT),
        ("i / j", Structure.PRODUCT),
        ("2**(i + j)", Structure.PRODUCT),
        ("a * i * j + b * j", Structure.PRODUCT),
        ("1 / (i*j + j)", Structure.PRODUCT),
        ("i + j", Structure.SUM),
        ("log(i * j)", Structure.SUM),
        ("i**2 + j % 2", Structure.SUM),
        ("(i + j)**2 - 2*i*j", Structure.SUM),
        ("i*j + i", Structure.PRODUCT),
        ("i*j + i + j", Structure.GENERAL),
        ("2 - i*j", Structure.GENERAL),
        ("i**j", Structure.GENERAL),
        ("gcd(i, j)", Structure.GENERAL),
        ("(i*i - i*j) / (i - j)", Structure.GENERAL),  # no value at i = j
        ("(j - i) / (j - i)", Structure.TOEPLITZ),
        ("i + n - n", Structure.SCALE),
        ("[[j - i, 1], [i - j, 2]]", Structure.TOEPLITZ),
        ("[[i, j]]", Structure.GENERAL),
        ("[[i, 0], [0, i % 2]]", Structure.KEY),
        ("[[1, 2]]", Structure.CONSTANT),
    ],
)
def test_known_structures(text: str, expected: Structure) -> None:
    assert structure(parse(text, ["a", "b", "d"])) is expected


@pytest.mark.parametrize(
    "text",
    [
        "((i + j)**4000)**4000",
        "(i + j)**4000",
        "(i + j)**100 + (i - j)**100",
        "(i + 2*j)**64 * (i + j)**64 * (3*i - j)**64",
        "sqrt(i*j + 1)**200",
        "sqrt(10**1000 + i*j)",
        "(a + b + c + d + e + i + j)**12 - i",
        "*".join(f"(i + {k}*j)" for k in range(1, 90)),
        "1/" + "/".join(f"(i + {k}*j)" for k in range(1, 90)),
        "+".join(f"exp(i*{k}/j)" for k in range(1, 90)),
        "**".join(["(i + j)"] * 30),
        "abs(j**(10**6) - i**(10**6))",
        "cos(abs(j**(10**6)))",
        "(i // j) * (j >= 1e308 * a)",
        "not i and (1e400 % j)**(31 <= 1e308)",
    ],
)
def test_formulas_that_would_take_sympy_long_are_left_alone(text: str) -> None:
    """sympy would take minutes; the sum of 89 exponentials takes 0.9 s on an idle core, 1.1 s beside other tests."""
    with at_once(2):
        structure(parse(text, "abcde"))
        finite_range(parse(text, "abcde").nodes[0], "abcde")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", {7}),
        ("i % 3", {0, 1, 2}),
        ("(i + 0.5) % 2", {0.5, 1.5, 0, 1}),
        ("i < j", {0, 1}),
        ("min(j - i, 2)", {0, 1, 2}),
        ("max(0, 3 - i)", {0, 1, 2}),
        ("min(n - i, 1) + 1", {1, 2}),
        ("floor(i / j * 2)", {0, 1, 2}),
        ("2*i // j", {0, 1, 2}),
        ("floor(i / n)", {0, 1}),
        ("i // n", {0, 1}),
        ("gcd(i, 6)", {1, 2, 3, 6}),
        ("(-1)**i", {-1, 1}),
        ("0**i", {0, 1}),
        ("1**i", {1}),
        ("a if i < j else b", None),
        ("pi if i < j else 0", None),
        ("i", None),
        ("1 / i", None),
        ("0.5**i", None),
        ("i % 10000", None),
        ("i and j - 5", {0, 1}),
        ("not i", {0, 1}),
        ("1 if i <= j else i", {1}),
        ("(2**i) + 10**400", None),
        ("i*j + 1e400", None),
        ("(i*j) // 10**400", None),
        ("abs(i % 5 - 2)", {0, 1, 2}),
        ("ceil(i % 2 - 0.5)", {0, 1}),
    ],
)
def test_known_ranges(text: str, expected: set[Any] | None) -> None:
    result = finite_range(parse(text, "ab").nodes[0], "ab")
    if "a if" in text or "pi if" in text:
        assert result is not None and len(result) == 2
    else:
        assert (None if result is None else {*result}) == expected


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("i", 1, None),
        ("j - i", 0, None),
        ("i - j", None, 0),
        ("n - i - 1", -1, None),
        ("2*i - j", None, None),
        ("5", 5, 5),
    ],
)
def test_bounds_of_linear_forms(text: str, low: int | None, high: int | None) -> None:
    bounds = linear_bounds(parse(text).nodes[0])
    assert bounds == (float("-inf") if low is None else low, float("inf") if high is None else high)
