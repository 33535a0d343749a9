"""Limits by leading terms: sympy's search finds the same ones, and there is none where a sign or a rest decides."""

import pytest
import sympy as sp

from theory.far.leading import DISTANCE as D
from theory.far.leading import limit_by_leading_term

p, r = sp.symbols("p r", positive=True)
x, slope = sp.Symbol("x", real=True), sp.Symbol("slope", real=True, nonzero=True)
content = sp.IndexedBase("w")[0]
FOUND = [
    D,
    D + x,
    -r * D / (D + 1),
    D / (D**2 + r),
    D * (sp.exp(D) - r) / (sp.exp(D) - r * D + 1),
    (content - 3 * D**2) / (r * D - D**2),
    sp.exp(D + x) - D**100,
    sp.exp(-r * D) * D**3,
    D**p * sp.log(D),
    (r * D + 1) ** sp.Rational(-1, 2),
    sp.log(D**2 + r) / sp.log(D),
    sp.log(r * sp.exp(p * D) + D) / D,
    -sp.log(r * sp.log(D + 1) + 1),
    sp.log(r * sp.log(D + 1) + 1) / sp.log(D),
    p * D**p * r / ((1 + r * D**p) * sp.log(1 + r * D**p)),
    sp.log(2 + 1 / D),
    2 + (D + 1) / D,
]


@pytest.mark.parametrize("expression", FOUND, ids=str)
def test_the_limit_is_that_of_sympy(expression: sp.Expr) -> None:
    limit = limit_by_leading_term(expression)
    assert limit is not None
    assert sp.simplify(limit - sp.limit(expression, D, sp.oo)) in (0, sp.nan)
    assert limit.is_infinite == sp.limit(expression, D, sp.oo).is_infinite


@pytest.mark.parametrize(
    "expression",
    [
        x * D,  # x may be 0 or of either sign
        D**x,
        sp.exp(x * D),
        x + 1 / D,
        D + 1 - D * (1 + 1 / D),  # the leading terms cancel
        sp.log(D + 1) - sp.log(D),
        sp.log(1 + 1 / D),
        r * D - p * D,
        1 / (sp.log(D + 1) - sp.log(D)),
        sp.log(slope * D + 1),
        sp.exp(-(D**2)),
        sp.exp(sp.I * D),
        sp.sin(D),
        (-D) ** sp.Rational(1, 3),
        sp.log(sp.log(sp.log(D))),
    ],
    ids=str,
)
def test_there_is_no_limit_where_the_leading_term_does_not_give_it(expression: sp.Expr) -> None:
    assert limit_by_leading_term(expression) is None
