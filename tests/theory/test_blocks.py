"""Formulas of whole numbers and fractions are evaluated in blocks of int64, with the values of exact arithmetic.

Otherwise a formula would be right but slow, which no other test would notice.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from lengthgen.theory.formula import blocks, exact, syntax

CELLS = [(i, j, n) for n in (1, 2, 5) for j in range(1, n + 1) for i in range(1, j + 1)]
FORMULAS = (
    "i == 1 and j == 2",
    "i == 1 or j - i > 1 or n == 5",
    "not (i == 1 or j == 2) and n > 1",
    "1 if i == j and j == n else 0",
    "j - i if j > i else 1/2",
    "1 if 1 < i <= j < n else 2",
    "min(i, j, n - j) + max(1/i, 1/2)",
    "(j - i) * (n + 1) / (i + 1)",
    "(3*j - n) // (i + 1) + (j - 3*n) % (i + 1)",
    "floor((j - n) / 2) + ceil(i / 3) + abs(i - n)",
    "(i - n)**3 + i**0",
    "gcd(i, j + n)",
)


def rows() -> dict[str, np.ndarray]:
    return {
        name: np.array(column, dtype=np.int64) for name, column in zip("ijn", zip(*CELLS, strict=True), strict=True)
    }


@pytest.mark.parametrize("text", FORMULAS)
def test_blocks_hold_the_values_of_exact_arithmetic(text: str) -> None:
    [[node]] = syntax.read(text)
    block = blocks.evaluate(node, rows())
    values, codes = block.distinct()
    expected = [exact.evaluate(node, dict(zip("ijn", cell, strict=True))) for cell in CELLS]
    assert [Fraction(values[code]) for code in codes] == [Fraction(value) for value in expected]


def test_every_operation_of_whole_numbers_is_among_the_formulas() -> None:
    met: set[str] = set()
    waiting = list(itertools.chain.from_iterable(itertools.chain.from_iterable(map(syntax.read, FORMULAS))))
    while waiting:
        node = waiting.pop()
        met.add(getattr(node, "name", ""))
        waiting += syntax.children(node)
    assert {*blocks._OPERATIONS, "if", "and", "or"} - met <= {"pos", "neg"}
