"""Yes and no are never wrong: for values that are equal or differ by construction, and against 60 digits."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import inf
from random import Random
from typing import Any

import mpmath
import pytest
import sympy as sp

from lengthgen.theory.zero import identities
from lengthgen.theory.zero.equality import Answer, equal, floor, group, sign, zero

YES, NO, UNDECIDED = Answer.YES, Answer.NO, Answer.UNDECIDED
DIGITS = 60
A, B = sp.symbols("a b", real=True)
R2, R3, R5, R6 = map(sp.sqrt, (2, 3, 5, 6))
PI, E = sp.pi, sp.E

Polynomial = dict[tuple[int, ...], Fraction]
"""Map from exponents of sqrt 2, sqrt 3, sqrt 5 (0 or 1), pi, a and b to coefficients: equal if and only if the same."""
GENERATORS = (R2, R3, R5, PI, A, B)


def _times(first: Polynomial, second: Polynomial) -> Polynomial:
    product: Polynomial = Counter()  # type: ignore[assignment]
    for left, a in first.items():
        for right, b in second.items():
            powers = [x + y for x, y in zip(left, right, strict=True)]
            weight = a * b
            for place, square in enumerate((2, 3, 5)):
                if powers[place] == 2:
                    powers[place], weight = 0, weight * square
            product[tuple(powers)] += weight
    return {powers: weight for powers, weight in product.items() if weight}


def _plus(first: Polynomial, second: Polynomial) -> Polynomial:
    total = {powers: first.get(powers, Fraction(0)) + second.get(powers, Fraction(0)) for powers in {*first, *second}}
    return {powers: weight for powers, weight in total.items() if weight}


def _written(polynomial: Polynomial, draw: Random) -> sp.Expr:
    """Write the polynomial as a sum of monomials, in any order, some of them in halves."""
    terms = []
    for powers, weight in polynomial.items():
        term = sp.Mul(sp.Rational(weight.numerator, weight.denominator), *map(sp.Pow, GENERATORS, powers))
        terms += [term / 2, term / 2] if draw.random() < 0.3 else [term]
    draw.shuffle(terms)
    return sp.Add(*terms)


def _built(draw: Random, depth: int) -> tuple[sp.Expr, Polynomial]:
    """Build a random expression, and the polynomial that it is."""
    if depth == 0:
        place = draw.randrange(8)
        if place >= len(GENERATORS):
            number = Fraction(draw.randint(-6, 6), draw.randint(1, 4))
            return sp.Rational(number.numerator, number.denominator), {(0,) * 6: number} if number else {}
        return GENERATORS[place], {tuple(int(place == index) for index in range(6)): Fraction(1)}
    (first, p), (second, q) = _built(draw, depth - 1), _built(draw, depth - 1)
    kind = draw.random()
    if kind < 0.4:
        return first + second, _plus(p, q)
    if kind < 0.6:
        return first - second, _plus(p, _times({(0,) * 6: Fraction(-1)}, q))
    if kind < 0.9:
        return first * second, _times(p, q)
    return (first + second) ** 2, _times(_plus(p, q), _plus(p, q))


def _apart(first: Any, second: Any) -> bool:
    """True if 60 digits tell the values apart at some point."""
    with mpmath.workdps(2 * DIGITS):
        for at in ({A: sp.Rational(7, 5), B: sp.Rational(-3, 7)}, {A: sp.Rational(-11, 9), B: sp.Rational(13, 4)}):
            numbers = [sp.N(sp.sympify(value).subs(at), 2 * DIGITS) for value in (first, second)]
            if abs(numbers[0] - numbers[1]) > sp.Rational(1, 10**DIGITS) * (1 + abs(numbers[0])):
                return True
    return False


def test_random_values_are_equal_iff_they_are_by_construction() -> None:
    draw = Random(0)
    for _ in range(80):
        value, polynomial = _built(draw, draw.randint(1, 4))
        assert equal(value, _written(polynomial, draw)) is YES
        powers = tuple(draw.randint(0, 1) for _ in range(6))
        tiny = Fraction(draw.choice([-1, 1]), 10 ** draw.choice([0, 1, 20, 70, 500, 4000]))
        other = _plus(polynomial, {powers: tiny})
        assert equal(value, _written(other, draw)) is (YES if other == polynomial else NO)


def test_random_quotients_are_equal_iff_they_are_by_construction() -> None:
    draw = Random(1)
    tried = 0
    while tried < 30:
        (above, p), (below, q), (factor, r) = (_built(draw, 2) for _ in range(3))
        if not q or not r:
            continue
        tried += 1
        widened = _written(_times(p, r), draw) / _written(_times(q, r), draw)
        assert equal(above / below, widened) is YES
        other = _plus(_times(p, r), {(0,) * 6: Fraction(1, 10**80)})
        assert equal(above / below, _written(other, draw) / (below * factor)) is NO


def test_each_no_is_confirmed_by_60_digits_and_no_yes_is_contradicted() -> None:
    draw = Random(2)
    pool = [_built(draw, draw.randint(0, 2)) for _ in range(40)]
    seen: Counter[Answer] = Counter()
    for (first, p), (second, q) in combinations(pool, 2):
        answer = equal(first, second)
        assert answer is (YES if p == q else NO)
        assert _apart(first, second) == (answer is NO)
        seen[answer] += 1
    assert min(seen[YES], seen[NO]) > 8


EQUAL: list[tuple[Any, Any]] = [
    (1 / (1 + R2), R2 - 1),
    (R6, R2 * R3),
    (sp.sqrt(5 + 2 * R6), R2 + R3),
    (PI * sp.sqrt(5 + 2 * R6) + A, A + PI * (R2 + R3)),
    (sp.sqrt(2 + R3), (R6 + R2) / 2),
    (sp.sqrt(sp.sqrt(49 + 20 * R6)), R2 + R3),
    (sp.sqrt(R2 + R3) ** 4, 5 + 2 * R6),
    (sp.cbrt(2 + R5) - sp.cbrt(R5 - 2), 1),
    ((1 + sp.cbrt(2)) ** 3, 3 + 3 * sp.cbrt(2) + 3 * sp.cbrt(4)),
    (1 / (sp.cbrt(4) - 1), (1 + sp.cbrt(4) + 2 * sp.cbrt(2)) / 3),
    (sp.cbrt(sp.cbrt(2) - 1), sp.cbrt(sp.Rational(1, 9)) - sp.cbrt(sp.Rational(2, 9)) + sp.cbrt(sp.Rational(4, 9))),
    (sum(map(sp.sqrt, range(2, 20))) ** 2, sp.expand(sum(map(sp.sqrt, range(2, 20))) ** 2)),
    ((1 + R2) ** 2000 * (R2 - 1) ** 2000, 1),
    (sp.sqrt(10**61 + 1) ** 3, (10**61 + 1) * sp.sqrt(10**61 + 1)),
    (sp.log(6), sp.log(2) + sp.log(3)),
    (sp.log(sp.Rational(12, 7)), 2 * sp.log(2) + sp.log(3) - sp.log(7)),
    (sp.log(8) / sp.log(2), 3),
    (sp.log(36) / sp.log(6), 2),
    ((sp.log(12) + sp.log(sp.Rational(3, 2))) ** 2, (sp.log(2) + 2 * sp.log(3)) ** 2),
    (sp.log(10**30 + 57) * 2, sp.log((10**30 + 57) ** 2)),
    (sp.log((10**30 + 57) * (10**31 + 33)), sp.log(10**31 + 33) + sp.log(10**30 + 57)),
    ((E + 1) ** 2, sp.exp(2) + 2 * E + 1),
    (
        (sp.exp(sp.Rational(1, 2)) + sp.exp(sp.Rational(1, 3))) ** 2,
        E + sp.exp(sp.Rational(2, 3)) + 2 * sp.exp(sp.Rational(5, 6)),
    ),
    ((E + PI) ** 2, E**2 + PI**2 + 2 * E * PI),
    ((sp.exp(R2) + 1) ** 2, sp.exp(2 * R2) + 2 * sp.exp(R2) + 1),
    (2 ** (R2 + 1), 2 * 2**R2),
    (6**R2, 2**R2 * 3**R2),
    (sp.sin(1) ** 2 + sp.cos(1) ** 2, 1),
    (sp.sin(80), 2 * sp.sin(40) * sp.cos(40)),
    (sp.cos(3), 4 * sp.cos(1) ** 3 - 3 * sp.cos(1)),
    (
        sp.sin(sp.Rational(5, 6)),
        sp.sin(sp.Rational(1, 2)) * sp.cos(sp.Rational(1, 3)) + sp.cos(sp.Rational(1, 2)) * sp.sin(sp.Rational(1, 3)),
    ),
    (sp.cos(1 + PI / 7), sp.cos(1) * sp.cos(PI / 7) - sp.sin(1) * sp.sin(PI / 7)),
    (sp.cos(PI / 7) * sp.cos(2 * PI / 7) * sp.cos(4 * PI / 7), sp.Rational(-1, 8)),
    (sp.cos(2 * PI / 7) + sp.cos(4 * PI / 7) + sp.cos(6 * PI / 7), sp.Rational(-1, 2)),
    (sp.cos(2 * PI / 7), sp.cos(12 * PI / 7)),
    (sp.cos(PI / 5), (1 + R5) / 4),
    (sp.sin(PI / 8), sp.sqrt(2 - R2) / 2),
    (sp.sin(PI / 18) * sp.sin(5 * PI / 18) * sp.sin(7 * PI / 18), sp.Rational(1, 8)),
    (A + B - A, B),
    ((A * B + B) / (A + 1), B),
    ((A + 1) ** 2000, (A**2 + 2 * A + 1) ** 1000),
    ((A**2 - B**2) / (A - B), A + B),
    (sp.exp(A) * sp.exp(B), sp.exp(A + B)),
    ((sp.exp(A) + 1) ** 2, sp.exp(2 * A) + 2 * sp.exp(A) + 1),
    (2 ** (A + sp.Rational(1, 2)), R2 * 2**A),
    (4**A, 2 ** (2 * A)),
    (6**A / 2**A, 3**A),
    (sp.sin(A + B), sp.sin(A) * sp.cos(B) + sp.cos(A) * sp.sin(B)),
    (sp.sin(A) ** 2 + sp.cos(A) ** 2, 1),
    (sp.cos(2 * A), 1 - 2 * sp.sin(A) ** 2),
    (sp.sqrt(PI**2 + 2 * PI + 1), PI + 1),
    (sp.sqrt((A**2 + 1) ** 2 + 2 * A**2 + 3), sp.sqrt(A**4 + 4 * A**2 + 4)),
    (sp.log(1 + 2 * PI + PI**2), 2 * sp.log(1 + PI)),
    (sp.Abs(A) ** 2, A**2),
    (sp.Abs(A - 2 * B), sp.Abs(2 * B - A)),
    (sp.Abs(A * B), sp.Abs(A) * sp.Abs(B)),
    (sp.Abs(sp.cos(A - B) - sp.cos(A) * sp.cos(B) - sp.sin(A) * sp.sin(B)) + PI, PI),
    (sp.Abs(PI * A - B * R2) * 3, sp.Abs(3 * B * R2 - 3 * PI * A)),
    (sp.cos(A - B) * sp.cos(A + B), sp.cos(A) ** 2 - sp.sin(B) ** 2),
    (sp.sin(A) / sp.cos(A), (1 - sp.cos(2 * A)) / sp.sin(2 * A)),
    (sp.cos(A) ** 16, sp.cos(A) ** 12 * (1 + sp.cos(2 * A)) ** 2 / 4),
    (sp.cos(sp.Abs(A)), sp.cos(-A)),
    (sp.log(2 + sp.cos(B)), sp.log(4 + 2 * sp.cos(B)) - sp.log(2)),
    (sp.log(A**2 + 1) / 2 + sp.log(A**2 + 1) / 2, sp.log(A**2 + 1)),
    (sp.Rational(1, 2), Fraction(1, 2)),
    (sp.log((1 + R2) ** 2), 2 * sp.log(1 + R2)),
    (sp.Integer(3), 3),
    (inf, inf),
]

DIFFERENT: list[tuple[Any, Any]] = [
    (R2 + R3, sp.sqrt(10)),
    (sp.sqrt(5 + 2 * R6), R2 + R3 + sp.Rational(1, 10**300)),
    (R2, sp.Rational(sp.N(R2, 3000))),
    (sp.cbrt(2) + sp.cbrt(3), sp.cbrt(29)),
    (sum(map(sp.sqrt, (1, 6, 8))), sum(map(sp.sqrt, (2, 5, 9)))),
    (sum(map(sp.sqrt, (5, 17, 19, 40))), sum(map(sp.sqrt, (7, 14, 16, 44)))),
    (PI, sp.Rational(sp.N(PI, 4000))),
    (PI, sp.Rational(355, 113)),
    (sp.exp(PI) - PI, 20),
    (sp.exp(PI * sp.sqrt(163)), 640320**3 + 744),
    (E, sp.Rational(sp.N(E, 4000))),
    (sp.log(2), sp.Rational(sp.N(sp.log(2), 4000))),
    (sp.sin(11), -1),
    (sp.cos(2 * PI / 7), sp.cos(4 * PI / 7)),
    (sp.cos(PI / 7), sp.Rational(sp.N(sp.cos(PI / 7), 2000))),
    (A, B),
    (A, A + sp.Rational(1, 10**1000)),
    (A * R2, sp.Rational(sp.N(R2, 4000)) * A),
    (A * PI, sp.Rational(sp.N(PI, 4000)) * A),
    ((A + B) ** 2, A**2 + B**2),
    (sp.sin(A + B), sp.sin(A) * sp.cos(B) - sp.cos(A) * sp.sin(B)),
    (sp.Abs(A), A),
    (A**2, A),
    (2**A, 3**A),
    (sp.sqrt(A**2 + 1), A),
    (inf, -inf),
    (inf, R2),
    (Fraction(1, 3), sp.Rational(1, 3) + sp.Rational(1, 10**90)),
]

OUT_OF_REACH: list[tuple[Any, Any]] = [
    (sp.log(3 + 2 * R2), 2 * sp.log(1 + R2)),
    (sp.log(A**2 + 2 + A**-2), sp.log(A**4 + 2 * A**2 + 1) - sp.log(A**2)),
    (sp.gamma(A + 1), A * sp.gamma(A)),
    (sp.GoldenRatio, (1 + R5) / 2),
    (sp.tan(1), sp.sin(1) / sp.cos(1)),
    (sp.Max(A, B), (A + B + sp.Abs(A - B)) / 2),
    (sp.exp(sp.exp(sp.exp(sp.exp(5)))), sp.exp(sp.exp(sp.exp(sp.exp(5)))) * PI),
    ((A + B + R2 + R3 + PI) ** 60, ((A + B + R2 + R3 + PI) ** 2) ** 29 * sp.expand((A + B + R2 + R3 + PI) ** 2)),
    (1 / (sp.sqrt(5 + 2 * R6) - R2 - R3), 0),
]


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_identities_are_proved(first: Any, second: Any) -> None:
    assert equal(first, second) is YES
    assert equal(second, first) is YES
    assert zero(sp.sympify(first) - sp.sympify(second)) is YES if first != inf else True


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_differences_are_proved_however_small(first: Any, second: Any) -> None:
    assert equal(first, second) is NO
    assert equal(second, first) is NO


@pytest.mark.parametrize(("first", "second"), OUT_OF_REACH)
def test_pairs_that_are_not_proved_either_way_are_undecided(first: Any, second: Any) -> None:
    """Identities above are never denied, and pairs out of reach are never claimed to be equal."""
    assert equal(first, second) is UNDECIDED


def test_a_division_by_zero_in_disguise_is_no_value_to_be_equal_to() -> None:
    nothing = sp.sqrt(5 + 2 * R6) - R2 - R3
    assert equal(nothing / nothing**2 * nothing, 0) is not YES
    assert zero((A - A + nothing) / (nothing * A)) is not YES


def _oracle_groups(values: list[Any], same: Callable[[int, int], bool]) -> list[int]:
    labels: list[int] = []
    for index in range(len(values)):
        earlier = next((labels[other] for other in range(index) if same(other, index)), None)
        labels.append(max(labels, default=0) + 1 if earlier is None else earlier)
    return labels


def test_groups_are_the_classes_of_pairwise_equality_by_first_occurrence() -> None:
    draw = Random(3)
    for _ in range(25):
        pool = [_built(draw, draw.randint(0, 2)) for _ in range(12)]
        pool += [(_written(polynomial, draw), polynomial) for _, polynomial in draw.sample(pool, 6)]
        draw.shuffle(pool)
        values = [0, *(value for value, _ in pool)]
        kinds: list[Polynomial] = [{}, *(polynomial for _, polynomial in pool)]
        groups = group(values)
        expected = _oracle_groups(values, lambda first, second, kinds=kinds: kinds[first] == kinds[second])
        assert [label + 1 for label in groups.labels] == expected
        assert not groups.undecided
        for label, value in zip(groups.labels, values, strict=True):
            assert equal(groups.representatives[label], value) is YES


def test_groups_do_not_hang_on_which_parameters_a_value_still_holds() -> None:
    assert group([(A * B + B) / (A + 1), B, A, (A**2 + A * B) / (A + B)]).labels == (1, 1, 2, 2)


def test_groups_name_the_pairs_that_may_be_equal() -> None:
    first, second = OUT_OF_REACH[0]
    groups = group([1, first, R2, second, first])
    assert groups.labels == (1, 2, 3, 4, 2)
    assert groups.undecided == ((2, 4),)
    assert group([first - second, 5]).undecided == ((0, 1),)


def test_groups_of_matrices_are_equal_entry_by_entry() -> None:
    first, second = OUT_OF_REACH[0]
    groups = group([(1, R2 * R3), (0, 0), (sp.Integer(1), R6), (first, 0), (second, 0), (R6, 1), (second, 1)])
    assert groups.labels == (1, 0, 1, 2, 3, 4, 5)
    assert groups.representatives == ((0, 0), (1, R6), (first, 0), (second, 0), (R6, 1), (second, 1))
    assert groups.undecided == ((2, 3),)


def test_groups_of_numbers_and_infinities() -> None:
    groups = group([inf, 1, Fraction(1), -inf, R2, inf, sp.Integer(1), 0])
    assert groups.labels == (1, 2, 2, 3, 4, 1, 2, 0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (Fraction(-1, 3), -1),
        (R2 - 1, 1),
        (sp.sqrt(5 + 2 * R6) - R2 - R3, 0),
        (sp.sin(PI / 18) * sp.sin(5 * PI / 18) * sp.sin(7 * PI / 18) - sp.Rational(1, 8), 0),
        (PI - sp.Rational(sp.N(PI, 900)) - sp.Rational(1, 10**890), -1),
        (sp.log(6) - sp.log(2) - sp.log(3), 0),
        (A**2 + 1, 1),
        (-sp.exp(A), -1),
        (A - A, 0),
        (A, None),
        (sp.sqrt(PI**2 + 2 * PI + 1) - PI - 1, 0),
        (sp.log(3 + 2 * R2) - 2 * sp.log(1 + R2), None),
    ],
)
def test_signs(value: Any, expected: int | None) -> None:
    assert sign(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fraction(-7, 2), -4),
        (PI, 3),
        (-PI, -4),
        (sp.exp(100), 26881171418161354484126255515800135873611118),
        (sp.sqrt(10**80 + 1), 10**40),
        (sp.sqrt(10**80 - 1), 10**40 - 1),
        ((R2 + 1) * (R2 - 1), 1),
        (sp.sqrt(5 + 2 * R6) - R2 - R3 - 7, -7),
        (sp.log(8) / sp.log(2), 3),
        (10**50 * sp.log(8) / sp.log(2) + sp.Rational(1, 3), 3 * 10**50),
        (R2 * 10**1000, int(sp.integer_nthroot(2 * 10**2000, 2)[0])),
        (A, None),
        (sp.sqrt(PI**2 + 2 * PI + 1) - PI, 1),
        (sp.log(3 + 2 * R2) - 2 * sp.log(1 + R2) + 1, None),
    ],
)
def test_whole_parts(value: Any, expected: int | None) -> None:
    assert floor(value) == expected


def test_sums_too_long_to_be_reduced_are_not_equal_because_of_that() -> None:
    """Sums of many quotients in a and b + 10^-100 instead of a and b cannot be multiplied out."""
    first, second = (sum(1 / (A + k * B + shift) for k in range(1, 13)) for shift in (0, sp.Rational(1, 10**100)))
    assert equal(first, second) is NO


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (sp.sin(A) ** 2 + sp.cos(A) ** 2 - 1, True),
        (sp.sin(A) ** 3 - sp.sin(A) + sp.sin(A) * sp.cos(A) ** 2, True),
        (sp.sin(3 * A) - 3 * sp.sin(A) + 4 * sp.sin(A) ** 3, True),
        (sp.cos(4 * A) - 8 * sp.cos(A) ** 4 + 8 * sp.cos(A) ** 2 - 1, True),
        (sp.sin(1) ** 2 + sp.cos(1) ** 2 - 1, True),
        (sp.sin(1) ** 2 + sp.cos(1) ** 2 - 2, False),
        (sp.sin(1) ** 3 - sp.sin(1), False),
    ],
)
def test_powers_of_sines_are_decided(expression: sp.Expr, expected: bool) -> None:
    assert identities.is_zero(expression) is expected
