"""The separation bound holds, so that what lies below it is zero; degrees and coprime bases are what they should be."""

from itertools import combinations
from math import gcd, prod
from random import Random

import mpmath
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from lengthgen.theory.zero import algebraic
from lengthgen.theory.zero.algebraic import bounds, coprime_base, degree, is_zero

X = sp.Symbol("x")
DIGITS = 400


def _random(draw: Random, depth: int) -> sp.Expr:
    if depth == 0:
        kind = draw.randrange(6)
        if kind == 0:
            return draw.choice([sp.sin, sp.cos])(sp.pi * sp.Rational(draw.randint(1, 9), draw.choice([5, 7, 8])))
        if kind == 1:
            return sp.sqrt(draw.choice([2, 3, 5, 6]))
        return sp.Rational(draw.randint(-9, 9), draw.randint(1, 5))
    first, second = (_random(draw, depth - 1) for _ in range(2))
    kind = draw.randrange(6)
    if kind == 0:
        return first - second
    if kind == 1:
        return first * second
    if kind == 2 and is_zero(second) is False:
        return first / second
    if kind == 3 and first.is_positive:
        return first ** sp.Rational(draw.choice([1, 3, -1]), draw.choice([2, 3]))
    if kind == 4:
        return first ** draw.randint(1, 3)
    return first + second


def test_no_number_other_than_zero_lies_below_its_separation_bound() -> None:
    draw = Random(0)
    met = {True: 0, False: 0, None: 0}
    for _ in range(300):
        value = _random(draw, draw.randint(1, 3))
        if draw.random() < 0.3:
            value = value - sp.expand(value)
        if not value.is_Rational:
            weights = bounds(value)
            assert weights is not None
            above, below = weights
            separation = (degree(value) - 1) * above + below
            answer = is_zero(value)
            with mpmath.workdps(DIGITS):
                size = abs(mpmath.mpmathify(sp.lambdify([], value, "mpmath")()))
                assert answer is not True or size < mpmath.mpf(10) ** -200
                assert answer is not False or size > mpmath.mpf(2) ** -(separation + 1)
            met[answer] += 1
    assert met[False] > 100
    assert met[True] > 10
    assert met[None] < 30


@pytest.mark.parametrize("digits", [10, 100, 1000, 3000])
@pytest.mark.parametrize("value", [sp.sqrt(2) + sp.sqrt(3), sp.cbrt(2) + sp.sqrt(5), sp.cos(sp.pi / 7)], ids=str)
def test_a_number_is_distinguished_from_its_own_decimals(value: sp.Expr, digits: int) -> None:
    assert is_zero(value - sp.Rational(sp.N(value, digits))) is False


@pytest.mark.parametrize(
    "value",
    [
        sp.sqrt(2) + sp.sqrt(3),
        sp.sqrt(6) + sp.sqrt(2) + sp.sqrt(3),
        sp.sqrt(2) + sp.Rational(2) ** sp.Rational(1, 4),
        sp.cbrt(2) + sp.cbrt(4),
        sp.sqrt(1 + sp.sqrt(2)),
        sp.sqrt(5 + 2 * sp.sqrt(6)),
        sp.cos(sp.pi / 7),
        sp.cos(sp.pi / 7) + sp.sin(sp.pi / 8),
        sp.sqrt(2) * sp.cos(sp.pi / 5),
    ],
    ids=str,
)
def test_the_degree_is_not_underestimated_and_conjugates_are_bounded(value: sp.Expr) -> None:
    """U = L value is an algebraic integer: so are its conjugates, all at most u in modulus."""
    polynomial = sp.Poly(sp.minimal_polynomial(value, X), X)
    assert polynomial.degree() <= degree(value)
    weights = bounds(value)
    assert weights is not None
    above, below = weights
    assert all(abs(root) <= 2 ** (above + below) for root in polynomial.nroots(n=30))
    assert is_zero(polynomial.as_expr().subs(X, value)) is True
    assert is_zero(polynomial.diff().as_expr().subs(X, value)) is False


@pytest.mark.parametrize(
    "value",
    [
        sp.pi,
        sp.exp(1),
        sp.log(2),
        sp.Symbol("a"),
        sp.cos(1),
        sp.Integer(2) ** sp.sqrt(2),
        sp.sqrt(sp.pi),
        sp.sqrt(2) + sp.E,
    ],
    ids=str,
)
def test_numbers_that_are_not_algebraic_by_their_form_are_not_decided(value: sp.Expr) -> None:
    assert bounds(value) is None
    assert is_zero(value) is None


def test_too_many_nested_roots_are_not_decided() -> None:
    nested = sp.Integer(2)
    for _ in range(40):
        nested = sp.sqrt(1 + nested)
    assert degree(nested) >= 2**39
    assert algebraic.is_zero(nested - sp.Rational(sp.N(nested, 200))) is None


@given(numbers=st.lists(st.integers(1, 10**6), max_size=6))
def test_a_coprime_base_is_coprime_and_all_numbers_are_its_products(numbers: list[int]) -> None:
    base = coprime_base(numbers)
    assert all(factor > 1 for factor in base)
    assert all(gcd(*pair) == 1 for pair in combinations(base, 2))
    for number in numbers:
        left = number
        for factor in base:
            while left % factor == 0:
                left //= factor
        assert left == 1
    assert not base or prod(numbers) > 1


def test_the_bounds_of_a_rational_are_the_bits_of_its_parts() -> None:
    assert [bounds(sp.Rational(value)) for value in ("5", "-1", "1/2", "-7/12")] == [(3, 0), (1, 0), (1, 2), (3, 4)]
