"""Zero is decided exactly, both ways, and refused outside the fragment."""

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthgen.theory.zero.sympy_engine import Undecided, decide, is_zero, witness

a, b, c, s, t = sp.symbols("a b c s t")

ZERO = [
    sp.sin(a) ** 2 + sp.cos(a) ** 2 - 1,
    sp.cos(a + b) - sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b),
    sp.sinh(a / 2) ** 2 - (sp.cosh(a) - 1) / 2,
    sp.cosh(a * b) + sp.sinh(a * b) - sp.exp(a * b),
    sp.exp(a + sp.I * b) - sp.exp(a) * (sp.cos(b) + sp.I * sp.sin(b)),
    sp.tan(a) * sp.cos(a) - sp.sin(a),
    (a**2 - b**2) / (a - b) - a - b,
    sp.sin(3 * a / 2) - 3 * sp.sin(a / 2) + 4 * sp.sin(a / 2) ** 3,
    sp.Integer(0),
]
NONZERO = [
    sp.sin(a) ** 2 + sp.cos(a) ** 2 - 2,
    sp.sin(a * b) - sp.sin(a),
    sp.cosh(a) - sp.cos(a),
    sp.exp(a * b) - sp.exp(a) * sp.exp(b),
    sp.exp(a) - 1 - a - a**2 / 2,
    sp.sin(a) - a * sp.cos(a),
    sp.Integer(2),
    sp.I * a,
]
OUTSIDE = [
    sp.sqrt(a),
    sp.log(a),
    sp.Abs(a),
    sp.conjugate(a),
    a**b,
    sp.sqrt(2) * a - a,
    0.5 * a,
    sp.exp(sp.exp(a)),
    sp.exp(1 / a),
    sp.exp(1) - 2,
    sp.sin(a + 1),
    sp.sin(sp.pi * a),
    sp.Piecewise((a, a > 0), (0, True)),
    sp.zoo,
    sp.nan,
]


@pytest.mark.parametrize("expression", ZERO, ids=str)
def test_identities_are_zero(expression: sp.Expr) -> None:
    assert is_zero(expression)


@pytest.mark.parametrize("expression", NONZERO, ids=str)
def test_non_identities_are_not_zero_and_have_a_witness(expression: sp.Expr) -> None:
    assert not is_zero(expression)
    assert abs(sp.N(expression.subs(witness(expression)))) > 0


@pytest.mark.parametrize("expression", OUTSIDE, ids=str)
def test_outside_the_fragment_is_undecided(expression: sp.Expr) -> None:
    with pytest.raises(Undecided):
        is_zero(expression)


def test_text_is_never_parsed() -> None:
    with pytest.raises(sp.SympifyError):
        is_zero("a - a")


def test_a_root_is_reduced_by_its_square() -> None:
    squares = {s: a * b - c**2}
    assert is_zero(s**3 * sp.sin(s * t) / s - (a * b - c**2) * sp.sin(s * t), squares=squares)
    assert is_zero(1 / s - s / (a * b - c**2), squares=squares)
    assert not is_zero(s - a, squares=squares)
    assert not is_zero(s**2 - a * b, squares=squares)


def test_two_roots() -> None:
    r = sp.Symbol("r")
    assert is_zero((s * r) ** 2 - a * b, squares={s: a, r: b})
    assert not is_zero(s * r - a * b, squares={s: a, r: b})


@pytest.mark.parametrize("square", [a**2, sp.Integer(4), -(a**2) * b**4, 2 * (a + b) ** 2], ids=str)
def test_a_root_that_is_no_new_element_is_refused(square: sp.Expr) -> None:
    with pytest.raises(ValueError, match="is a square"):
        is_zero(s**2 - 1, squares={s: square})


def test_roots_whose_product_is_a_square_are_refused() -> None:
    with pytest.raises(ValueError, match="is a square"):
        is_zero(s, squares={s: a, t: a * b**2})


def test_a_square_may_not_contain_a_root() -> None:
    with pytest.raises(ValueError, match="may not contain a root"):
        is_zero(s, squares={s: t * a, t: b})


def test_a_squared_root_in_an_exponent_is_undecided() -> None:
    with pytest.raises(Undecided, match="power above one"):
        is_zero(sp.exp(s**2 * t) - 1, squares={s: a})


def test_a_vanishing_denominator_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError, match="identically zero"):
        is_zero(1 / (sp.sin(a) ** 2 + sp.cos(a) ** 2 - 1))


def test_the_generators_are_reported() -> None:
    assert decide(sp.cos(a / 2) ** 2, sp.cos(a) / 2).generators == ("exp(I*a/2)",)


def test_a_witness_keeps_roots_real() -> None:
    point = witness(s - 1, squares={s: a * b - c**2})
    assert point[s].is_real and point[a] * point[b] > point[c] ** 2


_ANGLES = st.integers(-3, 3).map(lambda k: k * a) | st.integers(-3, 3).map(lambda k: k * a * b)
_TERMS = st.lists(st.tuples(st.integers(-2, 2), st.sampled_from([sp.sin, sp.cos, sp.cosh]), _ANGLES), max_size=3)


@settings(max_examples=25, deadline=None)
@given(_TERMS, st.integers(0, 1))
def test_zero_agrees_with_values_at_a_point(terms: list[tuple[int, type, sp.Expr]], shift: int) -> None:
    total = sp.Add(*(k * function(angle) for k, function, angle in terms))
    expression = sp.expand_trig(total) - total + shift * a
    value = abs(sp.N(expression.subs({a: sp.Rational(3, 7), b: sp.Rational(5, 11)}), 30))
    assert is_zero(expression) == bool(value < sp.Rational(1, 10**20))
