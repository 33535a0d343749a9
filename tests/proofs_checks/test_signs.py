"""A number that is neither proved to be zero nor not to be is neither to a check."""

import pytest
import sympy as sp

from lengthgen.proofs_checks.signs import is_zero, sign
from lengthgen.theory.zero.sympy_engine import Undecided

ROOT = sp.sqrt(2)
OPEN = sp.log((1 + ROOT) ** 2) - 2 * sp.log(1 + ROOT)
"""Zero, but no proof of it is found."""


def test_a_number_is_zero_or_it_is_not() -> None:
    assert is_zero(sp.sqrt(3 + 2 * ROOT) - 1 - ROOT)
    assert not is_zero(ROOT - sp.Rational(7, 5))


def test_a_sign_is_that_of_the_number() -> None:
    assert [sign(value) for value in (sp.Rational(7, 5) - ROOT, sp.S.Zero, sp.pi - 3)] == [-1, 0, 1]


def test_what_is_open_is_neither() -> None:
    with pytest.raises(Undecided, match="neither proved to be 0 nor not to be"):
        is_zero(OPEN)
    for value in (OPEN, sp.Symbol("x", real=True)):
        with pytest.raises(Undecided, match="is not known"):
            sign(value)
