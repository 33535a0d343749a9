"""Formulas of Presburger arithmetic are decided: their values agree with Python's at every pair of many scales."""

from fractions import Fraction
from random import Random

import pytest

from lengthgen.theory.formula import presburger
from lengthgen.theory.formula.presburger import Image, image
from lengthgen.theory.growth import GrowthKind, growth
from lengthgen.theory.pattern import from_formula
from tests.oracles.formulas import NoValue, by_python, random_presburger_text

# Formula, number of values other than 0, and the scale that shows the last of them.
FINITE = [
    ("0", 0, 1),
    ("min(j - i, 3)", 3, 4),
    ("min(j - i, 1000000)", 1_000_000, 1_000_001),
    ("2**i % 7", 3, 3),
    ("(i**3 + 5*j) % 4", 3, 4),
    ("gcd(i + j, 6)", 4, 3),
    ("gcd(min(i, 4) - 9, (j % 2) * 4)", 7, 4),
    ("0.5**min(j - i, 10)", 11, 11),
    ("(-1)**(i + j)", 2, 2),
    ("0**(j - i)", 1, 1),
    ("(i % 2) / (j % 3 + 1)", 3, 3),
    ("12*(((i + j) % 3) % 7)", 2, 2),
    ("1 if 3*i < j else 0", 1, 4),
    ("1 if n - j == 3 and i > 2 else 0", 1, 6),
    ("1 if 7*i + 3*j > 11*n else 0", 0, 1),
    ("[[i % 2, 0], [0, j % 2]]", 3, 3),
    ("(i + j) // j", 2, 2),
    ("-i // j", 1, 1),
    ("(7 % (i + j)) // 1", 4, 4),
    ("floor(i / (2*j - i))", 1, 1),
    ("(j + i) / (i + j) - (i - i) / j", 1, 1),
    ("((i + j) / j) // 2", 1, 1),
    ("(j % 7) // i + floor(log(8)) + exp(0)", 7, 7),
]
INFINITE = [
    "i % j",
    "(j + 3) % (i + j)",
    "j - i",
    "floor((j - i) / 10000)",
    "min(i + j - 22, 2) + abs(i + 34) // 10000",
    "[[i % 2, j - i]]",
    "n - j",
]
UNDEFINED = [
    ("1 / (i % 5)", (5, 5)),
    ("2*(j - i) / (j - i)", (1, 1)),
    ("0 if i < 9 else 1 // (min(j - i, 9) - 4 if j > 20 else 1)", (17, 21)),
]
OTHER = ["i*j", "i**2", "j % i", "i / j", "2**(j - i)", "sqrt(i)", "cos(pi*i)", "1 / (j - i + 1)"]


@pytest.mark.parametrize(("text", "nonzero", "last"), FINITE)
def test_the_values_are_counted_and_the_scale_of_the_last_is_found(text: str, nonzero: int, last: int) -> None:
    assert image(from_formula(text).formula) == Image(nonzero=nonzero, from_scale=last)


@pytest.mark.parametrize("text", INFINITE)
def test_infinitely_many_values_come_with_a_line_of_pairs(text: str) -> None:
    answer = image(from_formula(text).formula)
    assert answer is not None and answer.nonzero is None
    _replay(text, answer)


@pytest.mark.parametrize(("text", "cell"), UNDEFINED)
def test_the_first_pair_without_a_value_is_found_and_what_is_not_reached_needs_none(text: str, cell: object) -> None:
    assert image(from_formula(text).formula) == Image(undefined=cell)


@pytest.mark.parametrize("text", OTHER)
def test_other_formulas_are_left_to_other_means(text: str) -> None:
    assert image(from_formula(text).formula) is None


def test_a_formula_with_parameters_or_of_too_many_operations_is_left_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert image(from_formula("a*i", parameters=["a"]).formula) is None
    monkeypatch.setattr(presburger, "MOST_OPERATIONS", 30)
    assert image(from_formula("(i // 7 + j // 11) % 5").formula) is None


def test_four_hundred_random_formulas_are_decided_and_agree_with_python() -> None:
    draw, seen = Random(0), set()
    while len(seen) < 400:
        text = random_presburger_text(draw, draw.choice((2, 2, 3, 3, 4)))
        if text in seen:
            continue
        seen.add(text)
        answer = image(from_formula(text).formula)
        assert answer is not None, text
        assert answer.undefined is None, text
        if answer.nonzero is None:
            _replay(text, answer)
        else:
            _agrees(text, answer)


def test_a_solver_of_another_kind_finds_no_other_value_and_no_pair_off_a_line() -> None:
    """z3 says for all pairs of all scales what counting says for some."""
    solver = pytest.importorskip("tests.oracles.solver", reason="needs z3")
    draw, decided = Random(2), 0
    for _ in range(150):
        text = random_presburger_text(draw, draw.choice((2, 2, 3, 3, 4)))
        family = "n" in text.replace("min", "")
        answer = image(from_formula(text).formula)
        if answer is None:  # isl takes too long
            continue
        decided += 1
        if answer.line:
            [base], [slope] = answer.line.base, answer.line.slope
            at = dict(zip("ijn", zip(answer.line.start, answer.line.step, strict=True), strict=True))
            assert slope and not solver.leaves_line(text, at, base, slope), text
            assert solver.leaves_line(text, at, base, slope + 1) and solver.leaves_line(text, at, base + 1, slope)
        elif answer.from_scale <= 25:
            scales = range(1, answer.from_scale + 1)
            pairs = [(i, j, n) for n in scales for j in (range(1, n + 1) if family else (n,)) for i in range(1, j + 1)]
            values = {by_python(text, dict(zip("ijn", pair, strict=True))) for pair in pairs} | {Fraction(0)}
            assert len(values) == answer.nonzero + 1
            assert not solver.has_other_values(text, values, family=family), text
            last = max(values, key=abs)
            assert not last or solver.has_other_values(text, values - {last}, family=family), text
    assert decided > 145


def test_quotients_by_formulas_agree_with_python_where_they_are_decided() -> None:
    draw, decided = Random(1), 0
    for _ in range(120):
        above, below = (
            random_presburger_text(draw, draw.choice((1, 2))),
            random_presburger_text(draw, draw.choice((0, 1))),
        )
        text = f"({above}) {draw.choice(('//', '%'))} ({below})"
        answer = image(from_formula(text).formula)
        decided += answer is not None
        if answer is not None and answer.undefined:
            with pytest.raises(NoValue):
                by_python(text, dict(zip("ijn", (*answer.undefined, answer.undefined[-1]), strict=False)))
        elif answer is not None and answer.nonzero is None:
            _replay(text, answer)
        elif answer is not None:
            _agrees(text, answer)
    assert decided > 80


def test_what_other_means_leave_open_is_decided() -> None:
    for text, kind, value, since in (
        ("floor((j - i) / 10000)", GrowthKind.UNBOUNDED, 0, None),
        ("2**i % 7", GrowthKind.EVENTUALLY_CONSTANT, 3, 3),
        ("(i + j) // 1000 % 5", GrowthKind.EVENTUALLY_CONSTANT, 4, 2000),
        ("2**(1000*j) % 7", GrowthKind.EVENTUALLY_CONSTANT, 3, 3),
    ):
        result = growth(from_formula(text))
        assert result is not None and (result.kind, result.from_scale) == (kind, since)
        assert result.strength == "general" and result.low == value


def test_what_would_take_too_long_or_is_defined_nowhere_ends_at_once() -> None:
    """Powers that repeat late, numbers too large, too many values, and a condition without a value at any pair."""
    for text in ("2**j % 1000003", "3**(1000000000000 if j == 1000 else i % 2)", "(i + j) % 1500 + (2*i - j) % 1300"):
        assert image(from_formula(text).formula) is None
    nowhere = "(1 if 1 / (i % 2) + 1 / ((i + 1) % 2) else 2) if j > 50 else 0"
    assert image(from_formula(nowhere).formula) == Image(undefined=(1, 51))


def test_a_value_too_large_to_compute_is_not_left_out_of_a_finite_range() -> None:
    result = growth(from_formula("3**(5000 if j == 1000 else i % 2)"))
    assert result is not None and (result.high is None or result.high >= 3)


def _replay(text: str, answer: Image) -> None:
    """The entry is as stated at many pairs of the line, and changes along it."""
    line = answer.line
    assert line is not None and any(line.slope)
    last, family = text.strip("[]").split(", ")[-1] if text.startswith("[") else text, "n" in text.replace("min", "")
    for s in (0, 1, 2, 5, 100):
        i, j, n = (first + s * by for first, by in zip(line.start, line.step, strict=True))
        assert 1 <= i <= j <= n and (family or j == n)
        assert by_python(last, {"i": i, "j": j, "n": n}) == line.base[-1] + s * line.slope[-1], text


def _agrees(text: str, answer: Image) -> None:
    """Python finds no other value, all up to the scale of the last, and one less before."""
    family = "n" in text.replace("min", "")
    scale = 7 if family else 18
    first: dict[Fraction, int] = {}
    for n in range(1, scale + 1):
        for j in range(1, n + 1) if family else (n,):
            for i in range(1, j + 1):
                first.setdefault(by_python(text, {"i": i, "j": j, "n": n}), n)
    first.pop(Fraction(0), None)
    assert answer.nonzero is not None and len(first) <= answer.nonzero, text
    if answer.from_scale <= scale:
        assert len(first) == answer.nonzero and max(first.values(), default=1) == answer.from_scale, text
