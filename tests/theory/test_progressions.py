"""Along a path every step is accounted for once and exactly, and nothing is called infinite that is not."""

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

import mpmath
import pytest
import sympy as sp

from lengthgen.theory.formula import FormulaError, exact, parse
from lengthgen.theory.formula.asymptotics import S, constant_sign, direction
from lengthgen.theory.formula.progressions import (
    Course,
    Path,
    StartLater,
    UndecidedChoice,
    all_distinct,
    evaluate,
    follow_path,
)
from lengthgen.theory.formula.syntax import names
from lengthgen.theory.zero.equality import Answer, equal
from tests.oracles.formulas import FINITELY_MANY, INFINITELY_MANY, random_text

STEPS = 48
PATHS: list[Path] = [
    {"i": (1, 0), "j": (1, 1), "n": (1, 1)},
    {"i": (1, 1), "j": (1, 1), "n": (1, 2)},
    {"i": (1, 1), "j": (2, 3), "n": (5, 3)},
    {"i": (3, 0), "j": (3, 1), "n": (3, 1)},
    {"i": (2, 0), "j": (4, 0), "n": (4, 1)},
]


def _course(text: str, path: Path, **fixed: Any) -> Course | None:
    node = parse(text, fixed).nodes[0]
    return follow_path((node,), {name: path[name] for name in path if name in names(node)}, fixed)


def _cell(path: Path, step: int) -> dict[str, int]:
    return {name: first + by * step for name, (first, by) in path.items()}


def _check(course: Course, text: str, path: Path) -> None:
    node = parse(text).nodes[0]
    covered = Counter(course.singles)
    for piece in course.pieces:
        for s, step in enumerate(range(piece.start, STEPS, piece.step)):
            covered[step] += 1
            (expression,) = piece.components
            expected = exact.evaluate(node, _cell(path, step))
            assert equal(exact.plain(sp.sympify(expression.subs(S, s))), expected) is Answer.YES, (text, step)
    assert all(covered[step] == 1 for step in range(STEPS)), text
    for piece in course.pieces:
        assert piece.start - piece.step < course.threshold <= max(course.threshold, piece.start)
        assert course.period % piece.step == 0
    assert all(step < course.threshold for step in course.singles)
    if course.constant:
        last = STEPS - course.period
        for step in range(course.threshold, last):
            here, there = (exact.evaluate(node, _cell(path, at)) for at in (step, step + course.period))
            assert equal(here, there) is Answer.YES, (text, step)


def test_pieces_are_exact_and_cover_every_step_once_for_random_formulas_and_paths() -> None:
    draw = Random(0)
    seen: Counter[str] = Counter()
    for number in range(120):
        text = random_text(draw, draw.randint(2, 4), ["i", "j", "n"][: draw.randint(2, 3)])
        path = PATHS[number % len(PATHS)]
        course = _course(text, path)
        if course is None:
            seen["not followed"] += 1
            continue
        try:
            _check(course, text, path)
        except FormulaError:  # no value at some step: nothing is claimed of that step
            seen["no value"] += 1
            continue
        seen["constant" if course.constant else "followed"] += 1
    assert seen["followed"] > 20
    assert seen["constant"] > 20
    assert seen["not followed"] < 48


@pytest.mark.parametrize(
    ("text", "threshold", "period", "constant"),
    [
        ("3", 0, 1, True),
        ("min(i, 5)", 5, 1, True),
        ("max(0, 4 - i)", 4, 1, True),
        ("i % 3", 0, 3, True),
        ("(i**2 + 1) % 4", 0, 4, True),
        ("(-1)**i", 0, 2, True),
        ("0**(i - 1)", 1, 1, True),
        ("cos(pi * i / 4)", 0, 8, True),
        ("sin(i)**2 + cos(i)**2", 0, 1, True),
        ("2**(2*i) - 4**i", 0, 1, True),
        ("floor(i / 3) - i / 3", 0, 3, True),
        ("abs(i - 7) - i", 6, 1, True),
        ("1 if 2**i > i**3 else 0", None, None, None),
        ("1 if 2**i > 100 else 0", 8, 1, True),
        ("1 if sqrt(i) < 5 else 2", 25, 1, True),
        ("1 if log(i) > 2 else 2", 7, 1, True),
        ("gcd(i, 6)", 0, 6, True),
        ("i", 0, 1, False),
        ("i + i % 2", 0, 2, False),
        ("(-1)**i * i", 0, 2, False),
        ("gcd(i, j)", 0, 1, False),
        ("gcd(i / 2, i / 2)", None, None, None),
        ("sqrt((i - 3)**2)", 2, 1, False),
        ("i if i < 10**9 else 2", None, None, None),
        ("i % 100000", None, None, None),
        ("(sqrt(2) + sqrt(3) + sqrt(5) + sqrt(7) + i)**50", None, None, None),
    ],
)
def test_thresholds_and_periods(text: str, threshold: int | None, period: int | None, constant: bool | None) -> None:
    course = _course(text, PATHS[1])
    if threshold is None:
        assert course is None
        return
    assert course is not None
    assert course.period == period
    assert course.constant is constant
    assert threshold <= course.threshold <= threshold + 3
    _check(course, text, PATHS[1])


def _numeric(expression: Any, s: int) -> Any:
    return mpmath.mpf(sp.N(expression.subs(S, s), 40))


def _random_expression(draw: Random, depth: int) -> sp.Expr:
    if depth == 0:
        return draw.choice([S, S, sp.Integer(draw.randint(-3, 4)), sp.Rational(1, 2), S + 1])
    first, second = (_random_expression(draw, depth - 1) for _ in range(2))
    kind = draw.randrange(8)
    if kind < 3:
        return sp.expand(first + second)
    if kind < 5:
        return sp.expand(first * second)
    if kind == 5:
        return sp.exp(first) if first.subs(S, 30) < 200 else first
    if kind == 6 and constant_sign(first) == 1:
        return draw.choice([sp.log, sp.sqrt, lambda x: 1 / x])(first)
    return sp.Rational(draw.choice([1, 2, 3]), draw.choice([2, 3])) ** second if second.is_polynomial(S) else first


def test_signs_and_directions_hold_at_every_step_looked_at() -> None:
    draw = Random(5)
    seen: Counter[str] = Counter()
    with mpmath.workdps(40):
        for _ in range(90):
            expression = sp.sympify(_random_expression(draw, draw.randint(1, 3)))
            if S not in expression.free_symbols or sp.count_ops(expression) > 40:
                continue
            values = [_numeric(expression, s) for s in range(25)]
            sign = constant_sign(expression)
            if sign is not None:
                seen["sign"] += 1
                assert all(mpmath.sign(value) == sign for value in values), expression
            way = direction(expression)
            if way is not None:
                seen["direction"] += 1
                steps = [after - before for before, after in pairwise(values)]
                assert all(mpmath.sign(step) == way for step in steps), expression
    assert min(seen.values()) > 13


def test_all_distinct_is_never_wrong() -> None:
    draw = Random(11)
    yes = 0
    texts = [random_text(draw, draw.randint(1, 3), "i") for _ in range(250)]
    texts += [text for text in FINITELY_MANY + INFINITELY_MANY if "n" not in text.replace("min", "").replace("sin", "")]
    for text in texts:
        course = _course(text, PATHS[1])
        if course is None or not all_distinct(course):
            continue
        yes += 1
        try:
            values = [exact.evaluate(parse(text).nodes[0], {"i": step + 1, "j": step + 1}) for step in range(60)]
        except FormulaError:
            continue
        assert len(set(values)) == 60, text
        assert all(equal(value, 0) is Answer.NO for value in values), text
    assert yes > 20


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2**i", True),
        ("(-2)**i", True),
        ("1/i", True),
        ("-i", True),
        ("(-1)**i * i", True),
        ("sqrt(i)", True),
        ("0.5**i", True),
        ("(-1)**i * (i // 2 + 1)", True),
        ("(-1)**i * (i // 3 + 1)", False),
        ("i - 1", False),  # it is zero once
        ("5", False),
        ("i % 2 + i", False),
        ("abs(i - 2)", False),
        ("sin(i)", False),  # true, but not seen
        ("floor(i/2)", False),
        ("i**2 - 3*i", False),
    ],
)
def test_patterns_that_never_repeat(text: str, expected: bool) -> None:
    course = _course(text, PATHS[1])
    assert course is not None
    assert all_distinct(course) is expected


def test_parameters_are_followed_as_symbols_or_at_given_numbers() -> None:
    a = sp.Symbol("a", real=True)
    course = _course("a * i + (i % 2)", PATHS[1], a=a)
    assert course is not None
    assert [piece.components[0].subs(S, 0) for piece in course.pieces] == [a + 1, 2 * a]
    assert not all_distinct(course)
    fixed = _course("a * i", PATHS[1], a=sp.Integer(2))
    assert fixed is not None
    assert all_distinct(fixed)
    assert _course("1 if a > 0 else 2", PATHS[1], a=a) is None


@pytest.mark.parametrize("text", ["1 if 1 - 20000/(j + log(j)) > 0 else 2", "1 if 100000/sqrt(j) - 1 > 0 else 2"])
def test_a_choice_that_changes_only_far_out_is_undecided(text: str) -> None:
    """A sign that the limit does not share is not the sign at every step."""
    with pytest.raises(UndecidedChoice):
        evaluate(parse(text).nodes[0], {"i": 1, "j": S + 1})


def test_a_quotient_of_polynomials_changes_sign_at_a_root_however_far_out() -> None:
    with pytest.raises(StartLater) as later:
        evaluate(parse("1 if 1 - 20000/j > 0 else 2").nodes[0], {"i": 1, "j": S + 1})
    assert later.value.steps == 20_000
