"""Limits by leading terms: sympy's search finds the same ones, and there is none where a sign or a rest decides."""

import pytest
import sympy as sp

from lengthgen.theory.far import DISTANCE as D
from lengthgen.theory.formula.asymptotics import S, limit

p, r = sp.symbols("p r", positive=True)
x, slope = sp.Symbol("x", real=True), sp.Symbol("slope", real=True, nonzero=True)
content = sp.IndexedBase("w")[0]
z = sp.Symbol("z", zero=False)
unlimited = sp.Symbol("unlimited", extended_positive=True)
tiny = sp.sqrt(5 + 2 * sp.sqrt(6)) - sp.sqrt(2) - sp.sqrt(3) + sp.Rational(1, 10**200)
FOUND = [
    D,
    D + x,
    -r * D / (D + 1),
    D / (D**2 + r),
    D * (sp.exp(D) - r) / (sp.exp(D) - r * D + 1),
    (content - 3 * D**2) / (r * D - D**2),
    sp.exp(D + x) - D**100,
    sp.exp(-r * D) * D**3,
    sp.exp(-r * (D + x)) * D,
    1 / (slope * D),
    D**p * sp.log(D),
    (r * D + 1) ** sp.Rational(-1, 2),
    sp.log(D**2 + r) / sp.log(D),
    sp.log(r * sp.exp(p * D) + D) / D,
    -sp.log(r * sp.log(D + 1) + 1),
    sp.log(r * sp.log(D + 1) + 1) / sp.log(D),
    p * D**p * r / ((1 + r * D**p) * sp.log(1 + r * D**p)),
    sp.log(2 + 1 / D),
    sp.log(1 + 1 / D),
    D * sp.log(1 + 1 / D),
    sp.exp(1 / D) * D,
    2 + (D + 1) / D,
    (sp.gamma(r) + 1) * D,
    (2 ** sp.Rational(1, 3) - sp.Rational(5, 4)) * D,
    (r + 1) ** D * 2 ** (D + 1) / (2**D + D),
]


@pytest.mark.parametrize("expression", FOUND, ids=str)
def test_the_limit_is_that_of_sympy(expression: sp.Expr) -> None:
    answer = limit(expression, D)
    assert answer is not None
    assert sp.simplify(answer - sp.limit(expression, D, sp.oo)) in (0, sp.nan)
    assert answer.is_infinite == sp.limit(expression, D, sp.oo).is_infinite


@pytest.mark.parametrize(
    "expression",
    [
        x * D,  # x may be 0 or of either sign
        D**x,
        sp.exp(x * D),
        x + 1 / D,
        D + 1 - D * (1 + 1 / D),  # the leading terms cancel
        sp.log(D + 1) - sp.log(D),
        r * D - p * D,
        1 / (sp.log(D + 1) - sp.log(D)),
        sp.log(slope * D + 1),
        1 / sp.log(r * D**x),
        D**p - D**r,
        unlimited / D,
        sp.sqrt(-D - sp.I) / sp.sqrt(D),  # below the cut of the root
        sp.log(sp.exp(z * D)) / D,
        sp.log((-2) ** D) / D,
        sp.exp(-(D**2)),
        sp.exp(sp.I * D),
        sp.sin(D),
        sp.sin(D) + 1 / D,
        sp.sin(z * D) + D,
        1 / sp.sin(D) + D,
        (-2) ** D,
        r**D,  # r may be below 1
        (-D) ** sp.Rational(1, 3),
        sp.log(sp.log(sp.log(D))),
    ],
    ids=str,
)
def test_there_is_no_limit_where_the_leading_term_does_not_give_it(expression: sp.Expr) -> None:
    assert limit(expression, D) is None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (sp.exp(S + 1) / (sp.exp(S) + 1), sp.E),
        (2 ** (S + sp.Rational(1, 2)) / (2**S + 1), sp.sqrt(2)),
        (sp.pi ** (S + 1) / (sp.pi**S + S), sp.pi),
        (sp.exp(2 * S - 3) / (sp.exp(2 * S) - S), sp.exp(-3)),
        (3**S / 2**S, sp.oo),
    ],
    ids=str,
)
def test_a_constant_in_an_exponent_is_a_factor_of_the_limit(expression: sp.Expr, expected: sp.Expr) -> None:
    assert limit(expression, S) == expected


def test_the_sign_of_a_number_is_proved() -> None:
    assert limit(tiny * D, D) is sp.oo
    assert limit((tiny - sp.Rational(1, 10**200)) * D, D) is None


def test_beside_a_term_that_grows_waves_and_constants_do_not_matter() -> None:
    assert limit(D + 3 * sp.sin(x * D) ** 2 * sp.cos(D) + content, D) is sp.oo
    assert limit((D + sp.sin(D)) / (2 * D - sp.cos(D)), D) == sp.Rational(1, 2)
