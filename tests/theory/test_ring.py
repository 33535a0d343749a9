"""Rewriting in the ring changes no value, and what it calls zero, positive or never zero is that at every pair."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import mpmath
import pytest

from lengthgen.theory.formula import parse
from lengthgen.theory.formula.canonical import BY_DISTANCE, element_of
from lengthgen.theory.zero.ring import Element, Ring, TooLong, constant, name, plus
from lengthgen.theory.zero.ring_functions import factored, is_zero, never_zero
from lengthgen.theory.zero.ring_signs import is_negative, is_nonnegative, is_positive
from tests.oracles import elements as oracle
from tests.oracles.elements import random_real_text
from tests.oracles.formulas import NoValue, Unsure, by_python, random_text

PAIRS = [(i, j) for j in range(1, 7) for i in range(1, j + 1)]


def _element(text: str, at: Any = ()) -> Element | None:
    return element_of(parse(text, "ab").nodes[0], at)


def _zero(text: str) -> bool:
    element = _element(text)
    return element is not None and is_zero(element)


def _texts() -> list[str]:
    draw = Random(1)
    texts = [random_real_text(draw, draw.randint(1, 3)) for _ in range(140)]
    return texts + [random_text(draw, draw.randint(2, 4), "ij") for _ in range(100)]


@pytest.fixture(autouse=True)
def _sixty_digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


def test_random_formulas_keep_their_values() -> None:
    seen: Counter[str] = Counter()
    for text in _texts():
        elements = _element(text), _element(text, BY_DISTANCE)
        for i, j in PAIRS[::3]:
            at = {"i": i, "j": j}
            try:
                expected = by_python(text, at, real=True)
            except (NoValue, Unsure, OverflowError):
                continue
            if abs(expected) > 10**20:
                continue
            for element in elements:
                if element is None:
                    seen["too long"] += 1
                    continue
                seen["compared"] += 1
                gap = abs(oracle.value(element, at) - expected)
                assert gap < mpmath.mpf(10) ** -25 * (1 + abs(expected)), (text, at)
    assert seen["compared"] > 1_600
    assert seen["too long"] < seen["compared"] / 20


def test_signs_and_zeros_of_random_formulas_hold_at_every_pair() -> None:
    seen: Counter[str] = Counter()
    for text in _texts():
        element = _element(text)
        if element is None or len(element) > 20:
            continue
        try:
            claims = {
                "zero": is_zero(element),
                "positive": is_positive(element),
                "negative": is_negative(element),
                "not negative": is_nonnegative(element),
                "never zero": never_zero(element),
            }
        except TooLong:
            continue
        held = [claim for claim, holds in claims.items() if holds]
        seen.update(held)
        for i, j in PAIRS if held else ():
            try:
                number = by_python(text, {"i": i, "j": j}, real=True)
            except (NoValue, Unsure, OverflowError):
                continue
            for claim in held:
                _check(claim, number, (text, i, j))
    assert min(seen[claim] for claim in ("zero", "positive", "negative", "not negative", "never zero")) > 4


def _check(claim: str, number: Any, where: Any) -> None:
    tiny = mpmath.mpf(10) ** -40
    match claim:
        case "zero":
            assert abs(number) < tiny, where
        case "positive":
            assert number > tiny, where
        case "negative":
            assert number < -tiny, where
        case "not negative":
            assert number > -tiny, where
        case "never zero":
            assert abs(number) > tiny, where


ZERO = [
    "cos(i-j) - cos(i)*cos(j) - sin(i)*sin(j)",
    "sin(2*i) - 2*sin(i)*cos(i)",
    "sin(3*i) - 3*sin(i) + 4*sin(i)**3",
    "cos(i)**8 + sin(i)**8 - 1 + 4*sin(i)**2*cos(i)**2 - 2*sin(i)**4*cos(i)**4",
    "sin(i)/cos(i) - (1 - cos(2*i))/sin(2*i)",
    "1/(1 + (sin(i)/cos(i))**2) - cos(i)**2",
    "cos(a*(i-j)) - cos(a*i)*cos(a*j) - sin(a*i)*sin(a*j)",
    "sin(i + pi/4) - (sin(i) + cos(i))/sqrt(2)",
    "cos(i + pi/12) - cos(i)*(sqrt(6) + sqrt(2))/4 + sin(i)*(sqrt(6) - sqrt(2))/4",
    "cos(i + pi) + cos(i)",
    "sin(pi*i)",
    "cos(pi*i) - (-1)**i",
    "cos(pi*i*i) - (-1)**i",
    "cos(9*pi*i/5) - cos(pi*i/5)",
    "sin(pi*(j - 7*i)/5) - sin(pi*(j + 3*i)/5)",
    "(-1)**(i + j) - (-1)**(i - j)",
    "exp(i+j) - exp(i)*exp(j)",
    "exp(a*(i-j)) - exp(a*i)*exp(-a*j)",
    "exp(log(i)*j) - i**j",
    "sqrt(exp(2*i)) - exp(i)",
    "6**i - 2**i*3**i",
    "log(i*j) - log(i) - log(j)",
    "log(i**3 + j**3) - log(i + j) - log(i*i - i*j + j*j)",
    "log(12*i) - 2*log(2) - log(3) - log(i)",
    "sqrt(i*j) - sqrt(i)*sqrt(j)",
    "sqrt((i - j)**2) - j + i",
    "sqrt(cos(i)**2) - abs(cos(i))",
    "1/(sqrt(i+1) + sqrt(i)) - sqrt(i+1) + sqrt(i)",
    "abs(i - j*sqrt(2)) - abs(j*sqrt(2) - i)",
    "abs(a*i) - abs(a)*i",
    "abs(sin(i)*cos(j)) - abs(sin(i))*abs(cos(j))",
    "max(i*pi, j) - min(i*pi, j) - abs(i*pi - j)",
    "max(i, j) - j",
    "floor(i*sqrt(2) + j) - j - floor(i*sqrt(2))",
    "(i*j) % 7 - i*j + 7*(i*j // 7)",
    "cos(abs(a)) - cos(a)",
    "sqrt(a*a) - abs(a)",
    "(a**2)**i - a**(2*i)",
    "log(a*a*i) - 2*log(abs(a)) - log(i)",
    "gcd(i, j) - gcd(j, i)",
]
NOT_ZERO = [
    "cos(i-j) - cos(i)*cos(j) + sin(i)*sin(j)",
    "abs(a) - a",
    "sqrt(a*a) - a",
    "(a**2)**(i/2) - a**i",
    "log(a*a) - 2*log(a)",
    "sqrt(a**6) - a**3",
    "sqrt(a*a*b) - a*sqrt(b)",
    "exp(i*j) - exp(i)*exp(j)",
    "log(i+j) - log(i) - log(j)",
    "floor(i/2) - i/2",
    "sin(pi*i/2)",
    "max(i, a) - a",
    "(i - j)**2 - (i - j)*abs(i - j)",
    "abs(i - j*sqrt(2)) - i + j*sqrt(2)",
]


@pytest.mark.parametrize("text", ZERO)
def test_identities_leave_nothing(text: str) -> None:
    assert _zero(text)
    assert not _zero(f"{text} + 1/1000")


@pytest.mark.parametrize("text", NOT_ZERO)
def test_expressions_that_are_not_zero_are_never_called_zero(text: str) -> None:
    assert not _zero(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sin(i)", True),
        ("sin(j - i + 1)", True),
        ("sin(j - i)", False),
        ("cos(i*j/7)", True),
        ("cos(i*sqrt(2))", False),  # true, but not seen
        ("sin(pi*i/7)", False),
        ("i*sqrt(2) - j", True),
        ("i*pi - j*pi + 1", True),
        ("i*sqrt(2) - j*sqrt(2)", False),
        ("1 + sin(i)", True),
        ("1 + cos(j)", True),
        ("1 + cos(i - j)", False),  # true, but an angle may be 0, so 1 - cos is not
        ("1 - cos(i - j)", False),
        ("i*i - 2*j*j", True),
        ("i*j - 6", False),
        ("2/i - 1 - i", False),
        ("pi/i - pi", False),
        ("a/i - a", False),
        ("a*i + 1", True),  # as a function of a
        ("exp(i) + j", True),
        ("i - j", False),
        ("0", False),
    ],
)
def test_expressions_without_a_zero_are_recognised(text: str, expected: bool) -> None:
    element = _element(text)
    assert element is not None
    assert never_zero(element) is expected


def test_factors_multiply_to_the_element() -> None:
    draw = Random(3)
    tried = 0
    for _ in range(150):
        text = random_real_text(draw, draw.randint(1, 2))
        element = _element(text)
        if not element or len(element) > 20:
            continue
        try:
            factors = factored(element)
        except TooLong:
            continue
        tried += 1
        for i, j in PAIRS[::4]:
            at = {"i": i, "j": j}
            try:
                product = oracle.value([((frozenset(factors.powers), None), factors.number)], at)
                for part, many in factors.parts:
                    product *= oracle.value(part, at) ** many
                expected = oracle.value(element, at)
            except oracle.NoValue:
                continue
            assert abs(product - expected) <= mpmath.mpf(10) ** -25 * (1 + abs(expected)), text
    assert tried > 75


def test_the_steps_of_a_question_are_counted() -> None:
    base: Element = plus(plus(name("i"), name("j")), constant(1))
    with pytest.raises(TooLong):
        Ring(left=10).whole_power(base, 4)
    ring = Ring(left=1_000)
    assert len(ring.whole_power(base, 4)) == 15
    assert ring.left < 1_000
    for text in (
        "(i + j)**4000",
        "(i + a)**40*(j + b)**40*(i + j + a*b)**20",
        "*".join(f"(sin({k}*i) + j)" for k in range(30)),
    ):
        assert _element(text) is None
