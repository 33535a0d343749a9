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
    FractionalPart,
    Path,
    StartLater,
    UndecidedChoice,
    all_distinct,
    evaluate,
    follow_path,
    takes_infinitely_many_values,
)
from lengthgen.theory.formula.syntax import names
from lengthgen.theory.zero.equality import Answer, equal
from tests.oracles.formulas import NoValue, Unsure, by_python, random_text

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
            if not expression.atoms(FractionalPart):
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


FINITE = [
    "5",
    "sqrt((i - 2)**2) - abs(i - 2)",
    "abs(i - 5) - (i - 5) if i > 9 else 1",
    "min(i, 7)",
    "floor(i / (i + 1))",
    "floor((i + 1) / i)",
    "i - floor(i)",
    "floor(i / 2) + floor((i + 1) / 2) - i",
    "i // 1000000 * 0",
    "cos(pi * i / 4)",
    "cos(pi * i) + cos(pi * (i + 1))",
    "sin(pi * i / 6) * cos(pi * i / 5)",
    "0**i",
    "0**(i - 1)",
    "1**i",
    "(-1)**i",
    "((-1)**i)**i",
    "gcd(i, 12)",
    "gcd(i, i) - i",
    "gcd(i, i + 1)",
    "(i**2 - 1) / (i + 1) - i",
    "(i**2 + 3*i + 2) / (i + 1) - i",
    "1 / (i + 1) - 1 / (i + 1)",
    "2**i * 0.5**i",
    "2**(i + 1) / 2**i",
    "exp(i) / exp(i - 1) - exp(1)",
    "exp(i) * exp(-i)",
    "4**i - 2**(2 * i)",
    "6**i / 3**i - 2**i",
    "sin(i)**2 + cos(i)**2",
    "cos(2*i) - 2*cos(i)**2",
    "sin(2*i) - 2*sin(i)*cos(i)",
    "sin(i + 1) - sin(i)*cos(1) - cos(i)*sin(1)",
    "log(i) - log(i)",
    "log(2**i) - i*log(2)",
    "log(exp(i)) - i",
    "log(i**2) - 2*log(i)",
    "log(2*i) - log(i)",
    "log(i)/log(2) - log(2*i)/log(2)",
    "sqrt(i**2 + 2*i + 1) - i",
    "sqrt(i)**2 - i",
    "sqrt(4*i) - 2*sqrt(i)",
    "(sqrt(i) + 1)**2 - i - 2*sqrt(i)",
    "(sqrt(i + 1) - sqrt(i)) * (sqrt(i + 1) + sqrt(i))",
    "1 / (sqrt(i + 1) - sqrt(i)) - sqrt(i + 1) - sqrt(i)",
    "(i + 1)**3 - i**3 - 3*i**2 - 3*i",
    "floor(sqrt(i)) - floor(sqrt(i))",
    "floor(sqrt(i**2))- i",
    "floor(sqrt(i**2 + 1)) - i",
    "floor(10 * 0.5**i)",
    "floor(sqrt(i + 1) - sqrt(i))",
    "floor(sin(i) / 2)",
    "max(sin(i), 2)",
    "i if i < 30 else 1",
    "i % 7",
    "(i * (i + 1) / 2) % 5",
    "2**i % 7 if i < 9 else 0",
    "max(i, 10) - max(i, 10)",
    "1 if i > 3 else i",
    "cos(2 * pi * i**2)",
    "(i - 3) / abs(i - 3) if i > 3 else 0",
    "abs(-1)**i",
    "exp(log(i)) - i",
    "cos(i) - cos(-i)",
    "sin(pi * i)",
    "(1/3)**i - 3**(-i)",
    "i*i*0",
]

INFINITE = [
    "i",
    "i + 10 * (i % 2)",
    "1/i",
    "0.5**i",
    "(-0.5)**i",
    "sqrt(i)",
    "log(i)",
    "exp(-i)",
    "i**i",
    "sqrt(i**2 + 1) - i",
    "sqrt((i - 20)**2)",
    "abs(i - 20)",
    "(i - 20)**2",
    "i**2 - 7*i + 12",
    "floor(i / 3)",
    "floor(sqrt(i))",
    "i * (-1)**i",
    "i // 10 // 10",
    "2**i - i**5",
    "sin(i)",
    "cos(i) + cos(2*i)",
    "cos(i) * 0.5**i",
    "i * sin(i)",
    "i / (i + 5)",
    "min(2**i, i**2)",
    "max(10, i) - i % 3",
    "i if i > 30 else 1",
    "log(i + 1) - log(i)",
    "(1 + 1/i)**i",
    "exp(i) / (exp(i) + 1)",
    "i**0.5 - floor(i**0.5) + i",
]


def _reasons(text: str) -> list[str]:
    course = _course(text, PATHS[1])
    pieces = course.pieces if course else ()
    return [why for piece in pieces if (why := takes_infinitely_many_values(piece.components[0]))]


@pytest.mark.parametrize("text", FINITE)
def test_eventually_periodic_formulas_are_never_called_infinite(text: str) -> None:
    assert not _reasons(text)


@pytest.mark.parametrize("text", INFINITE)
def test_formulas_with_infinitely_many_values_are_mostly_recognised(text: str) -> None:
    missed = ["min(2**i, i**2)"]  # 2**i - i**2 is not monotone
    assert bool(_reasons(text)) == (text not in missed)


def _distinct(text: str, path: Path, steps: range) -> int:
    """Count the distinct values of a formula at some steps of a path, by 40 digits."""
    values = set()
    for step in steps:
        value = by_python(text, _cell(path, step))
        values.add(value if not isinstance(value, mpmath.mpf) else mpmath.nstr(value, 40))
    return len(values)


def test_random_formulas_called_infinite_keep_taking_new_values() -> None:
    draw = Random(7)
    called = 0
    wrappers = [
        "{}",
        "sqrt(abs({}) + 1)",
        "cos({})",
        "exp(-abs({}))",
        "log(abs({}) + 2)",
        "floor(sqrt(abs({})))",
        "cos(pi*({})/4)",
    ]
    for _ in range(130):
        text = draw.choice(wrappers).format(random_text(draw, draw.randint(1, 3), "ij"))
        path = PATHS[draw.randrange(3)]
        course = _course(text, path)
        for piece in course.pieces if course else ():
            if not takes_infinitely_many_values(piece.components[0]):
                continue
            steps = range(piece.start, piece.start + 120 * piece.step, piece.step)
            try:
                early, late = _distinct(text, path, steps[:60]), _distinct(text, path, steps)
            except (NoValue, Unsure, OverflowError):
                continue
            called += 1
            assert late > early, (text, piece)
    assert called > 20


def test_all_distinct_is_never_wrong() -> None:
    draw = Random(11)
    yes = 0
    texts = [random_text(draw, draw.randint(1, 3), "i") for _ in range(250)]
    texts += [text for text in FINITE + INFINITE if "n" not in text.replace("min", "").replace("sin", "")]
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
