"""Growth of LRC within eps: it agrees with the covers at single scales, and nothing that grows is called bounded."""

import random
from fractions import Fraction

import pytest

from lengthgen.theory.formula import FormulaError
from lengthgen.theory.growth import Growth, GrowthKind, growth
from lengthgen.theory.growth_within import growth_within
from lengthgen.theory.lrc_within import bounds_within
from lengthgen.theory.pattern import PatternError, from_array, from_formula
from tests.oracles.formulas import random_text

CONSTANT, EVENTUALLY, UNBOUNDED, UNDECIDED = (
    GrowthKind.CONSTANT,
    GrowthKind.EVENTUALLY_CONSTANT,
    GrowthKind.UNBOUNDED,
    GrowthKind.UNDECIDED,
)
SCALES = (1, 2, 3, 5, 8, 13, 21)

# Formula, eps, kind, LRC within eps where it ends, and the scale from which it no longer grows.
TABLE: list[tuple[str, str, GrowthKind, int | None, int | None]] = [
    ("0.5**(j - i)", "1/100", EVENTUALLY, 6, 6),
    ("0.5**(j - i)", "1/2", CONSTANT, 1, 1),
    ("0.5**(j - i)", "1", CONSTANT, 0, 1),
    ("1 - 0.5**(j - i)", "1/100", EVENTUALLY, 6, 8),  # it ends at 1, which no entry reaches
    ("(-0.5)**(j - i)", "1/10", EVENTUALLY, 4, 4),
    ("0.5**i", "1/100", EVENTUALLY, 5, 5),
    ("1/(j - i + 1)", "1/1000", EVENTUALLY, 41, 889),
    ("1 if i == j else 0.5**(j - i)", "1/10", EVENTUALLY, 3, 3),
    ("0.5 + 0.5**(j - i)", "1/2", CONSTANT, 1, 1),
    ("min(j - i, 3)", "1/2", EVENTUALLY, 2, 4),
    ("i/j", "1/10", EVENTUALLY, 5, 9),
    ("j - i", "1/2", UNBOUNDED, None, None),
    ("log(j - i + 1)", "10", UNBOUNDED, None, None),
    ("i + n", "1/2", UNBOUNDED, None, None),
    ("cos(j - i)", "2", CONSTANT, 0, 1),
]


@pytest.mark.parametrize(("formula", "epsilon", "kind", "value", "scale"), TABLE)
def test_the_growth_of_known_formulas(
    formula: str, epsilon: str, kind: GrowthKind, value: int | None, scale: int | None
) -> None:
    answer = growth_within(from_formula(formula), Fraction(epsilon))
    assert answer is not None and answer.strength == "general"
    assert (answer.kind, answer.high, answer.from_scale) == (kind, value, scale)
    assert value is None or answer.low == value


@pytest.mark.parametrize(("formula", "most"), [("cos(j - i)", 10), ("(1/3)**(j - i) + j % 2", 10), ("1/sqrt(j)", 112)])
def test_where_the_last_step_is_open_the_bounds_hold(formula: str, most: int) -> None:
    epsilon = Fraction(1, 1000) if "sqrt" in formula else Fraction(1, 10)
    answer = growth_within(from_formula(formula), epsilon)
    assert answer is not None and answer.kind is EVENTUALLY and answer.from_scale is None
    assert answer.low < (answer.high or 0) <= most
    assert bounds_within(from_formula(formula), epsilon, [60])[60][0] <= (answer.high or 0)


def test_random_formulas_never_contradict_single_scales() -> None:
    compared = 0
    for seed in range(150):
        draw = random.Random(seed)
        one_variable = random_text(draw, 2, ("s",)).replace("s", draw.choice(("(j - i)", "i", "j")))
        text = one_variable if seed % 3 else random_text(draw, 2, ("i", "j"))
        epsilon = draw.choice((Fraction(1, 7), Fraction(1, 2), Fraction(3)))
        try:
            answer = growth_within(from_formula(text), epsilon)
            by_scale = bounds_within(from_formula(text), epsilon, SCALES)
        except (FormulaError, PatternError):
            continue
        assert answer is not None, text
        if answer.kind is not GrowthKind.UNDEFINED:
            compared += 1
            _contradicts_nothing(answer, by_scale, (text, epsilon))
    assert compared > 100


def _contradicts_nothing(answer: Growth, by_scale: dict[int, tuple[int, int]], where: object) -> None:
    for scale, (low, high) in by_scale.items():
        assert answer.high is None or low <= answer.high, where
        if answer.from_scale is not None and answer.high is not None:
            reached = scale >= answer.from_scale
            assert ((low, high) == (answer.high, answer.high)) if reached else (low < answer.high), where


def test_at_eps_zero_it_is_the_growth_of_lrc() -> None:
    for formula in ("0.5**(j - i)", "min(j - i, 3)", "1/(j - i)"):
        assert growth_within(from_formula(formula), Fraction(0)) == growth(from_formula(formula))


def test_what_has_no_growth() -> None:
    assert growth_within(from_array([[1.0, 2.0], [0.0, 1.0]]), Fraction(1)) is None
    undefined = growth_within(from_formula("1/(j - i)"), Fraction(1))
    assert undefined is not None and undefined.kind is GrowthKind.UNDEFINED
    with pytest.raises(PatternError, match="free parameters"):
        growth_within(from_formula("a*i", parameters=["a"]), Fraction(1))
    with pytest.raises(ValueError, match="at least 0"):
        growth_within(from_formula("i"), Fraction(-1))
