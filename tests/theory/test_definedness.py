"""`definedness` agrees with brute force, and calls no formula defined everywhere that is not."""

import re
from collections import Counter
from random import Random

import pytest

from lengthgen.theory.formula import parse
from lengthgen.theory.formula.definedness import defined_everywhere
from lengthgen.theory.growth import definedness
from tests.oracles.formulas import NoValue, Unsure, by_python, random_real_text, random_text

Cell = tuple[int, ...]

# Formula, whether it has a value everywhere (None: not proved), and the first pair without one.
TABLE: list[tuple[str, bool | None, Cell | None]] = [
    ("i*j", True, None),
    ("1/(j - 50)", False, (1, 50)),
    ("i // (j - 45) + j", False, (1, 45)),
    ("j % (i - 60)", False, (60, 60)),
    ("1/(j - 4000)", False, (1, 4000)),
    ("1/(i + j - 101)", False, (50, 51)),
    ("1/(2*i - 3*j)", True, None),
    ("1/(2*i - 4*j + 1)", True, None),
    ("1/(i - j)", False, (1, 1)),
    ("1/(i*j - 2021)", False, (43, 47)),
    ("1/(i*i - 2*j*j)", True, None),
    ("1/(i*sqrt(2) - j)", True, None),
    ("1/(j % 70)", False, (1, 70)),
    ("1/((i + 2*j) % 90)", False, (30, 30)),
    ("1/(n - 60)", False, (1, 1, 60)),
    ("1/(n - j + 1)", True, None),
    ("1/(2**j - 2**40)", False, (1, 40)),
    ("1/(i*i + j*j)", True, None),
    ("1/(exp(i) - 1)", True, None),
    ("1/sin(i)", True, None),
    ("1/sin(pi*i/7)", False, (7, 7)),
    ("1/(sin(i)**2 + cos(i)**2 - 1)", False, (1, 1)),
    ("1/(1 + sin(i*j))", True, None),
    ("1/(sin(i) + cos(j))", None, None),
    ("1/(i**3 + j**3 - 10**9)", None, None),
    ("log(j - i)", False, (1, 1)),
    ("log(j - i + 1)", True, None),
    ("log(2 + sin(i))", True, None),
    ("log(60 - j % 61)", False, (1, 60)),
    ("log(cos(pi*(i + j)/5))", False, (1, 2)),
    ("sqrt(100 - j)", False, (1, 101)),
    ("sqrt(j - i)", True, None),
    ("sqrt(i - j)", False, (1, 2)),
    ("sqrt(sin(i))", False, (4, 4)),
    ("sqrt(sin(i)**2)", True, None),
    ("sqrt(2**40 - 2**j)", False, (1, 41)),
    ("(i - 50)**(j - i)", True, None),
    ("(i - 50)**(i - j)", False, (50, 51)),
    ("(50 - j)**0.5", False, (1, 51)),
    ("0**(50 - j)", False, (1, 51)),
    ("0**(i - 1)", True, None),
    ("(-2)**(i/2)", False, (1, 1)),
    ("(-8)**(1/3)", False, (1, 1)),
    ("i**(-j)", True, None),
    ("gcd(i/2, j)", False, (1, 1)),
    ("gcd(j*(j + 1)/2, i)", True, None),
    ("gcd(i//2, j)", True, None),
    ("1/(j - 50) if j != 50 else 0", True, None),
    ("1/(j - 50) if j < 50 else 0", True, None),
    ("1 if i < 100 else 1/(i - 150)", False, (150, 150)),
    ("log(j - i) if i < j else 0", True, None),
    ("log(j - i) if i != j else 0", True, None),
    ("1/(i - 30) if i % 2 else 0", True, None),
    ("1/(i - 31) if i % 2 else 0", False, (31, 31)),
    ("gcd(i/3, j) if i % 3 == 0 else 1", True, None),
    ("i == 5 or 1/(i - 5) < 1", True, None),
    ("i > 5 and 1/(i - 5) > 0", True, None),
    ("i > 4 and 1/(i - 5) > 0", False, (5, 5)),
    ("not 1/(i - 35)", False, (35, 35)),
    ("9 < i < 1/(i - 5)", True, None),
    ("3 < i < 1/(i - 5)", False, (5, 5)),
    ("0*log(j - 20)", False, (1, 1)),
    ("0/(j - 44)", False, (1, 44)),
    ("(j - 50)/(j - 50)", False, (1, 50)),
    ("1/(1/(j - 50))", False, (1, 50)),
    ("[[1/(i - 30), 0], [0, 1/(j - 20)]]", False, (1, 20)),
    ("n*0 + j", True, None),
    ("j if i < n else j", True, None),
    ("1/(j - 20) if i < 0*n + 30 else 0", False, (1, 20, 20)),
    ("max(n, 5)/(j - i - 20)", False, (1, 21, 21)),
    ("n/(j - 20)", False, (1, 20, 20)),
    ("gcd(n, n)/(i - 20)", False, (20, 20, 20)),
    ("a/(i + j)", True, None),
    ("1/(a*i + 1)", True, None),
    ("sqrt(a*a + 1)", True, None),
]


@pytest.mark.parametrize(("text", "everywhere", "cell"), TABLE, ids=[row[0] for row in TABLE])
def test_known_formulas(text: str, everywhere: bool | None, cell: Cell | None) -> None:
    formula = parse(text, ["a"] if re.search(r"\ba\b", text) else [])
    result = definedness(formula)
    assert result.everywhere is everywhere
    assert (result.cell and result.cell[-1]) == (cell and cell[-1])
    if cell is not None:
        assert result.first
        assert all(f"{name}={place}" in result.why for name, place in zip("ijn", result.cell or (), strict=False))
    if everywhere is not True:
        assert not all(map(defined_everywhere, formula.nodes))


def test_a_pair_without_a_value_that_may_not_be_the_first_is_not_called_the_first() -> None:
    result = definedness(parse("1/(i**3 + j**3 - 10**9 - 1) + 1/(j - 3000)"))
    assert (result.everywhere, result.cell, result.first) == (False, (1, 3000), False)


def test_random_formulas_have_no_value_where_brute_force_finds_none_and_nowhere_else() -> None:
    draw = Random(4)
    seen: Counter[str] = Counter()
    pairs = [(i, j) for j in range(1, 13) for i in range(1, j + 1)]
    for number in range(200):
        text = random_text(draw, draw.randint(2, 3), "ij") if number % 3 else random_real_text(draw, draw.randint(1, 2))
        result = definedness(parse(text))
        first = None
        for pair in pairs:
            try:
                by_python(text, dict(zip("ij", pair, strict=True)), real=True)
            except NoValue:
                first = pair
                break
            except (Unsure, OverflowError):
                first = (0, 99)
                break
        if first == (0, 99):
            continue
        seen[str(result.everywhere)] += 1
        if result.everywhere is True:
            assert first is None, text
        elif result.everywhere is False and result.first:
            assert result.cell is not None
            assert (first[1] if first else None) == (result.cell[1] if result.cell[1] <= 12 else None), (text, result)
        elif result.everywhere is None:
            assert first is None or first[1] > result.looked_at, text
    assert seen["True"] > 140
    assert seen["False"] > 8
