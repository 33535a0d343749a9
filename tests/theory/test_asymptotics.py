"""Limits of expressions in s keep the constant of an exponent, and the base that a power grows by."""

from typing import Any

import pytest
import sympy as sp

from theory.formula.asymptotics import limit
from theory.formula.monotone import S


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (sp.exp(S + 1) / (sp.exp(S) + 1), sp.E),
        (2 ** (S + sp.Rational(1, 2)) / (2**S + 1), sp.sqrt(2)),
        (sp.pi ** (S + 1) / (sp.pi**S + S), sp.pi),
        (sp.exp(2 * S - 3) / (sp.exp(2 * S) - S), sp.exp(-3)),
        (3**S / 2**S, sp.oo),
    ],
)
def test_a_constant_in_an_exponent_is_a_factor_of_the_limit(expression: Any, expected: Any) -> None:
    assert limit(expression) == expected
