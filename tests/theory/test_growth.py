"""The growth at all scales agrees with brute force at many, and nothing is called bounded that grows."""

import random
import time
from itertools import product

import mpmath
import pytest

from lengthgen.theory.formula import FormulaError
from lengthgen.theory.formula.structure import Structure, structure
from lengthgen.theory.growth import Growth, GrowthKind, growth
from lengthgen.theory.lrc import profile
from lengthgen.theory.pattern import from_array, from_formula, from_function
from tests.oracles.formulas import NoValue, Unsure, by_python
from tests.oracles.lrc import lrc_by_level_sets

CONSTANT, EVENTUALLY, UNBOUNDED, UNDECIDED = (
    GrowthKind.CONSTANT,
    GrowthKind.EVENTUALLY_CONSTANT,
    GrowthKind.UNBOUNDED,
    GrowthKind.UNDECIDED,
)

# Formula, kind, LRC where it ends, and the scale from which it no longer grows.
TABLE: list[tuple[str, GrowthKind, int | None, int | None]] = [
    ("0", CONSTANT, 0, 1),
    ("1", CONSTANT, 1, 1),
    ("i - i", CONSTANT, 0, 1),
    ("1 if j - i < 3 else 0", CONSTANT, 1, 1),
    ("1 if i < j else 0", EVENTUALLY, 1, 2),
    ("2 if i == j else 1 if j - i == 1 else 0", EVENTUALLY, 2, 2),
    ("1 if j - i == 30 else 0", EVENTUALLY, 1, 31),
    ("min(j - i, 3)", EVENTUALLY, 3, 4),
    ("min(i, j, 5)", EVENTUALLY, 5, 5),
    ("max(5 - (j - i), 0)", EVENTUALLY, 5, 5),
    ("(j - i) % 7", EVENTUALLY, 6, 7),
    ("(j - i) // 3 % 4", EVENTUALLY, 3, 10),
    ("i % 2", CONSTANT, 1, 1),
    ("j % 3", EVENTUALLY, 2, 2),
    ("(i % 2) * (j % 3)", EVENTUALLY, 2, 2),
    ("(i + j) % 2", EVENTUALLY, 1, 2),
    ("i % 2 + min(j - i, 3)", EVENTUALLY, 4, 4),
    ("(-1)**(i + j)", EVENTUALLY, 2, 2),
    ("0**(j - i)", CONSTANT, 1, 1),
    ("0.5**min(j - i, 10)", EVENTUALLY, 11, 11),
    ("0.5**(j - i) if j - i < 5 else 0", EVENTUALLY, 5, 5),
    ("gcd(j - i, 6)", EVENTUALLY, 4, 4),
    ("gcd(i*j, 6)", EVENTUALLY, 4, 3),
    ("j*i % 5", EVENTUALLY, 4, 3),
    ("i // j", CONSTANT, 1, 1),
    ("max(i, j) - j", CONSTANT, 0, 1),
    ("1 if 3*i < j else 0", EVENTUALLY, 1, 4),
    ("cos(pi*(j - i)/4)", EVENTUALLY, 4, 5),
    ("sqrt(2)*(i % 2) + pi*(j % 2)", EVENTUALLY, 3, 3),
    ("1 if i == ceil(n/2) else 0", CONSTANT, 1, 1),
    ("1 if n - j < 3 else 0", CONSTANT, 1, 1),
    ("1 if i > 5 and j - i > 5 else 0", EVENTUALLY, 1, 12),
    ("j % 3 if i > 14 and j - i > 15 else 0", EVENTUALLY, 2, 32),
    ("1 if i > 5 and j - i > 5 and n - j > 5 else 0", EVENTUALLY, 1, 18),
    ("floor(sqrt(i**2)) - i", CONSTANT, 0, 1),
    ("1 if cos(2*i - j - 1) < 1 else 0", EVENTUALLY, 1, 2),
    ("i <= j % 5.5 or (j**9)**i", CONSTANT, 1, 1),
    ("j - i", UNBOUNDED, None, None),
    ("i*j", UNBOUNDED, None, None),
    ("i/j", UNBOUNDED, None, None),
    ("1/j", UNBOUNDED, None, None),
    ("1/n", UNBOUNDED, None, None),
    ("(j - i)*(j - i - 7)", UNBOUNDED, None, None),
    ("0.5**(j - i)", UNBOUNDED, None, None),
    ("(-2)**(j - i)", UNBOUNDED, None, None),
    ("2**i % 5 + j", UNBOUNDED, None, None),
    ("gcd(i, j)", UNBOUNDED, None, None),
    ("j // i", UNBOUNDED, None, None),
    ("floor(sqrt(j - i))", UNBOUNDED, None, None),
    ("floor(log(j)/log(2))", UNBOUNDED, None, None),
    ("sqrt(i)", UNBOUNDED, None, None),
    ("exp(i - j)", UNBOUNDED, None, None),
    ("cos(j - i)", UNBOUNDED, None, None),
    ("0.9**(j - i)*cos(j - i)", UNBOUNDED, None, None),
    ("log(j - i + 1)/(j - i + 1)", UNBOUNDED, None, None),
    ("0 if i != j else i", UNBOUNDED, None, None),
]


@pytest.mark.parametrize(("text", "kind", "ends_at", "since"), TABLE, ids=[row[0] for row in TABLE])
def test_the_kind_the_value_and_the_scale_are_right(
    text: str, kind: GrowthKind, ends_at: int | None, since: int | None
) -> None:
    result = growth(from_formula(text))
    assert result is not None
    assert (result.kind, result.from_scale, result.strength) == (kind, since, "general")
    if kind is UNBOUNDED:
        assert result.high is None
    else:
        assert (result.low, result.high) == (ends_at, ends_at)
    _agrees_with_brute_force(text, result, 20 if "n" in text.replace("min", "") else 60)


def _agrees_with_brute_force(text: str, result: Growth, scale: int) -> None:
    seen = profile(from_formula(text), scale)
    values = [seen.bounds(size) for size in range(1, scale + 1)]
    ends_low, ends_high = values[-1]
    if result.high is not None:
        assert ends_low <= result.high
    if result.from_scale is not None:
        assert values[min(result.from_scale, scale) - 1 :] == [values[-1]] * (scale - min(result.from_scale, scale) + 1)
        if result.from_scale <= scale:
            assert ends_low == ends_high == result.low
        if 1 < result.from_scale <= scale:
            assert values[result.from_scale - 2] < values[-1]
    if result.kind is CONSTANT:
        assert len(set(values)) == 1
    if result.kind is UNBOUNDED:
        assert profile(from_formula(text), scale).bounds(scale)[1] > profile(from_formula(text), scale).bounds(4)[1]


# Formula, structure, kind, bounds of LRC, and the scale from which it no longer grows or a pair without a value.
HOSTILE: list[tuple[str, Structure, GrowthKind, int, int | None, int | tuple[int, ...] | None]] = [
    ("(i - j) / (j - i)", Structure.TOEPLITZ, GrowthKind.UNDEFINED, 0, None, (1, 1)),
    ("0**0", Structure.CONSTANT, CONSTANT, 1, 1, 1),
    ("0**(i - j)", Structure.TOEPLITZ, GrowthKind.UNDEFINED, 1, None, (1, 2)),
    ("(-1)**(i*j)", Structure.GENERAL, EVENTUALLY, 2, 2, 2),
    ("(-8)**(1/3)", Structure.CONSTANT, GrowthKind.UNDEFINED, 0, None, (1, 1)),
    ("(i*j)**100000", Structure.PRODUCT, UNBOUNDED, 1, None, None),
    ("floor(sqrt(2)*sqrt(2))", Structure.CONSTANT, CONSTANT, 1, 1, 1),
    ("floor((sqrt(5) + 2)**2 - 4*sqrt(5))", Structure.CONSTANT, CONSTANT, 1, 1, 1),
    ("floor(exp(pi*sqrt(163)))", Structure.CONSTANT, CONSTANT, 1, 1, 1),
    ("log(abs(i - j) + 1) - log(j - i + 1)", Structure.CONSTANT, CONSTANT, 0, 0, 1),
    ("log(0.5**i) / i", Structure.CONSTANT, CONSTANT, 1, 1, 1),
    ("log(j - i)", Structure.TOEPLITZ, GrowthKind.UNDEFINED, 0, None, (1, 1)),
    ("sqrt(i - j)", Structure.TOEPLITZ, GrowthKind.UNDEFINED, 0, None, (1, 2)),
    ("1/(a - b)", Structure.CONSTANT, CONSTANT, 1, 1, 1),
    ("abs(a)*abs(b) - abs(a*b)", Structure.CONSTANT, CONSTANT, 0, 0, 1),
    ("(a + b)**2 - a**2 - 2*a*b - b**2", Structure.CONSTANT, CONSTANT, 0, 0, 1),
    ("sqrt(2) + sqrt(3) - sqrt(5 + 2*sqrt(6))", Structure.CONSTANT, CONSTANT, 0, 0, 1),
    ("(sqrt(i) + sqrt(j))*(sqrt(i) - sqrt(j)) - i + j", Structure.CONSTANT, CONSTANT, 0, 0, 1),
    ("sin(pi*i*j/2)", Structure.GENERAL, EVENTUALLY, 2, 2, 3),
    ("1/sin(pi*i/3)", Structure.KEY, GrowthKind.UNDEFINED, 1, None, (3, 3)),
    ("sin(3*i) - 3*sin(i) + 4*sin(i)**3", Structure.CONSTANT, CONSTANT, 0, 0, 1),
    ("sin(i + j)*sin(i - j) - sin(i)**2 + sin(j)**2", Structure.CONSTANT, CONSTANT, 0, 0, 1),
    ("abs(sin(j/2)*(cos(3 - i) - cos(3)*cos(i) - sin(3)*sin(i)))", Structure.CONSTANT, CONSTANT, 0, 0, 1),
    ("1/(2 - sin(i) - cos(j))", Structure.GENERAL, UNBOUNDED, 820, None, None),
    ("1/(cos(2*i - j - 1) - 1)", Structure.GENERAL, GrowthKind.UNDEFINED, 0, None, (1, 1)),
    ("1/(sqrt(2)*i - j)", Structure.GENERAL, UNBOUNDED, 820, None, None),
    ("abs((i - j)*(i + j - 20)) - abs(i - j)*abs(i + j - 20)", Structure.CONSTANT, CONSTANT, 0, 0, 1),
    ("max(i, j, n) - n", Structure.SCALE, CONSTANT, 0, 0, 1),
    ("0**(n - j)", Structure.SCALE, CONSTANT, 1, 1, 1),
    ("1/(n - i - j)", Structure.SCALE, GrowthKind.UNDEFINED, 1, None, (1, 1, 2)),
    ("floor(n/2) + ceil(n/2) - n", Structure.SCALE, CONSTANT, 0, 0, 1),
    ("i // (j - i)", Structure.GENERAL, GrowthKind.UNDEFINED, 0, None, (1, 1)),
    ("(i % 7) % (j % 5 + 1)", Structure.GENERAL, EVENTUALLY, 4, 4, 4),
    ("floor(floor(floor(i/2)/2)/2) - floor(i/8)", Structure.KEY, CONSTANT, 0, 0, 1),
    ("1 if sin(i)*sin(i) >= 0 else 1/(i - i)", Structure.CONSTANT, CONSTANT, 1, 1, 1),
    ("(i < j) + (i == j) + (i > j)", Structure.TOEPLITZ, CONSTANT, 1, 1, 1),
    ("(i and j) / (i or 0)", Structure.CONSTANT, CONSTANT, 1, 1, 1),
    ("i**j - j**i", Structure.GENERAL, UNBOUNDED, 778, None, None),
    ("1/(i*j - 35)", Structure.GENERAL, GrowthKind.UNDEFINED, 18, None, (5, 7)),
    ("(-1)**(i*(i + 1)/2)", Structure.KEY, EVENTUALLY, 2, 2, 3),
    ("max(1, 0)**j * max(i, i*sqrt(2) - j)", Structure.KEY, UNBOUNDED, 40, None, None),
    ("min(2*sin(j) - sin(gcd(j, j)), -2)", Structure.QUERY, UNDECIDED, 1, None, None),
    ("i + 1 if (j - i)*7 <= 7 % i else i // (j - i)", Structure.GENERAL, UNBOUNDED, 41, None, None),
    ("max(sin(j) - 3, (-1)**i // (j + 1))", Structure.GENERAL, CONSTANT, 1, 1, 1),
    ("max(j % j, exp(-4)) // (i + 1)", Structure.KEY, CONSTANT, 0, 0, 1),
]


@pytest.mark.parametrize(("text", "special", "kind", "low", "high", "where"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_hostile_formulas_have_these_answers_and_no_scale_shows_more_values(
    text: str, special: Structure, kind: GrowthKind, low: int, high: int | None, where: int | tuple[int, ...] | None
) -> None:
    pattern = from_formula(text, parameters="ab")
    result = growth(pattern)
    assert pattern.formula is not None and result is not None
    assert (structure(pattern.formula), result.kind, result.low, result.high) == (special, kind, low, high)
    assert where == (result.undefined_at or result.from_scale)
    if kind in (CONSTANT, EVENTUALLY):
        assert _values_by_definition(text, 8) == low
    elif kind is GrowthKind.UNDEFINED:
        with pytest.raises((NoValue, Unsure)):  # a divisor is zero in 30 digits
            by_python(text, dict(zip("ijn", result.undefined_at or (), strict=False)), real=True)


def _values_by_definition(text: str, scale: int) -> int:
    """Number of values that differ from each other and from zero in 30 digits, with two numbers for the parameters."""
    with mpmath.workdps(60):
        values = [mpmath.mpf(0)]
        for n, j, i in product(range(1, scale + 1), repeat=3):
            if i <= j <= n:
                value = by_python(text, {"i": i, "j": j, "n": n, "a": 13, "b": -29}, real=True)
                if all(abs(value - other) > mpmath.mpf(10) ** -30 for other in values):
                    values.append(value)
        return len(values) - 1


DIVIDED: list[tuple[str, GrowthKind, int | None]] = [
    ("j % (i + 1)", UNBOUNDED, None),
    ("i % (j - i + 1) % (n + 1)", UNBOUNDED, None),
    ("(i*i + j) // (i + 1)", UNBOUNDED, None),
    ("sqrt(i/(i + 1) + 1)", UNBOUNDED, None),
    ("min(j/(i + j + 1), i)", UNBOUNDED, None),
    ("min(j*(i + j), sqrt(j + 1))", UNBOUNDED, None),
    ("1 if i - sqrt(i + 12) > 0 else 2", EVENTUALLY, 2),
    ("(i % 4) // (abs(j - 9) + 1)", EVENTUALLY, 3),
    ("(j*j + 1) // (2*j + 1) % 3", EVENTUALLY, 2),
    ("(1 - j) // (j + 1)", EVENTUALLY, 1),
    ("floor(3 + 1/j)", EVENTUALLY, 2),
    ("floor(3 - 1/j)", CONSTANT, 1),
    ("-j // (j + 1)", CONSTANT, 1),
    ("j // 5 % 2 // (n + 1)", CONSTANT, 0),
    ("2**(-i) // (i + 1)", CONSTANT, 0),
    ("8/5 % (i + 1) // 6", CONSTANT, 0),
    ("sqrt(i % 3) // (j + 2)", CONSTANT, 0),
]


@pytest.mark.parametrize(("text", "kind", "high"), DIVIDED, ids=[row[0] for row in DIVIDED])
def test_floors_and_remainders_of_quotients_are_decided(text: str, kind: GrowthKind, high: int | None) -> None:
    """A quotient of polynomials is a polynomial and a rest that goes to 0, so later its floor is a polynomial's."""
    result = growth(from_formula(text))
    assert result is not None
    assert (result.kind, result.high) == (kind, high)
    if high is not None:
        assert _values_by_definition(text, 12) == high


def test_it_does_not_claim_more_than_it_has_proved() -> None:
    for text in ("sin(j - i) // 1 + 1",):
        result = growth(from_formula(text))
        assert result is not None
        assert result.kind in (EVENTUALLY, UNDECIDED)
        assert result.from_scale is None
        assert result.high is None or result.low < result.high
    missing = growth(from_formula("1/(i - 5)"))
    assert missing is not None
    assert (missing.kind, missing.strength, missing.undefined_from) == (GrowthKind.UNDEFINED, "general", 5)
    assert "division by zero at i=5" in missing.reason


def test_free_parameters() -> None:
    kinds = {
        "a": (CONSTANT, 1), "a if j - i < 3 else b": (EVENTUALLY, 2), "a - a": (CONSTANT, 0),
        "j/(a - 2)": (UNBOUNDED, None), "j if a > 1 else 0": (UNDECIDED, None),
        "j/(a - 2) - j*(a - 2)/(a - 2)**2 + (2*i // j)": (UNDECIDED, None),
        "a**(j - i)": (UNBOUNDED, None), "a*i + b*j": (UNBOUNDED, None), "exp(-a*(j - i))": (UNBOUNDED, None),
    }  # fmt: skip
    for text, (kind, high) in kinds.items():
        result = growth(from_formula(text, parameters=["a", "b"]))
        assert result is not None
        assert (result.kind, result.high) == (kind, high), text


def test_a_condition_that_is_zero_in_disguise_fails() -> None:
    result = growth(from_formula("(2*i // j) if log(6) - log(2) - log(3) else (5*i // j)"))
    assert result is not None
    assert (result.low, result.high) == (5, 5)


@pytest.mark.parametrize(
    ("text", "high"),
    [
        ("j % (2**60)", 2**60 - 1),
        ("gcd(j, 2**40)", 2**40 + 1),
        ("j*j % 10**7", 10**7 + 1),
        ("sin(pi*j/3600)", 7201),
        ("(j + i)**40 % 97 // 3", 32),
    ],
)
def test_long_periods_and_high_powers_are_bounded_at_once(text: str, high: int) -> None:
    start = time.process_time()
    result = growth(from_formula(text))
    assert result is not None
    assert (result.kind, result.high) == (EVENTUALLY, high)
    assert time.process_time() - start < 10


def test_matrices() -> None:
    for text, kind in (
        ("[[1, min(j - i, 2)], [0, 1]]", EVENTUALLY),
        ("[[cos(j - i), -sin(j - i)], [sin(j - i), cos(j - i)]]", UNBOUNDED),
        ("[[1, 0], [0, 1]]", CONSTANT),
    ):
        result = growth(from_formula(text))
        assert result is not None
        assert result.kind is kind


def test_a_pattern_without_formula_has_no_answer_for_all_scales() -> None:
    assert growth(from_array([[1]])) is None
    assert growth(from_function(lambda i, j: 1, name="one")) is None


PARTS = ["i", "j", "(j - i)", "i % 3", "(j - i) % 4", "min(j - i, 3)", "max(2, i)", "2", "(i + j) % 3", "(i < 4)"]


def test_the_growth_of_random_formulas_never_contradicts_brute_force() -> None:
    draw = random.Random(0)
    decided = 0
    for _ in range(45):
        first, second = draw.choice(PARTS), draw.choice(PARTS)
        text = draw.choice(
            [
                f"{first} {draw.choice('+-*')} {second}",
                f"{first} if {second} < {draw.choice(PARTS)} else {draw.choice(PARTS)}",
                f"({first} * {second}) % 5",
                f"abs({first} - {second}) // 2",
            ]
        )
        try:
            result = growth(from_formula(text))
        except FormulaError:
            continue
        assert result is not None
        decided += result.kind is not UNDECIDED
        _contradicts_nothing(text, result)
    assert decided > 35


def _contradicts_nothing(text: str, result: Growth) -> None:
    scale = 45
    entries = from_formula(text).matrix(scale)
    values = [
        lrc_by_level_sets(sorted({entries[i, j] for j in range(size) for i in range(j + 1)}))
        for size in (20, 33, scale)
    ]
    if result.high is not None:
        assert values[-1] <= result.high, text
    if result.from_scale is not None and result.from_scale <= 20:
        assert set(values) == {result.low}, text
    if result.kind is UNBOUNDED:
        assert values[0] < values[-1], text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("i", "at i = s + 1, j = s + 1 (s = 0, 1, ...) the entry is s + 1"),
        ("i*j + i", "at i = 1, j = s + 1 (s = 0, 1, ...) the entry is s + 2"),
        ("(i % 1)**1.5 + j", "at i = 1, j = s + 1 (s = 0, 1, ...) the entry is s + 1"),
        ("n - j", "at i = 1, j = 1, n = s + 1 (s = 0, 1, ...) the entry is s"),
        ("2*i if j > 4 else 1", "at i = s + 5, j = s + 5 (s = 0, 1, ...) the entry is 2*s + 10"),
    ],
)
def test_the_place_of_infinitely_many_values_is_named(text: str, place: str) -> None:
    result = growth(from_formula(text))
    assert result is not None
    assert result.reason == f"infinitely many values: {place}, which is strictly monotone"
