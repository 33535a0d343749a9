"""Identities of sines and cosines: decided by replacing squares, which every power of a sine needs."""

import pytest
import sympy as sp

from lengthgen.theory.zero.identities import is_zero

a = sp.Symbol("a", real=True)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (sp.sin(a) ** 2 + sp.cos(a) ** 2 - 1, True),
        (sp.sin(a) ** 3 - sp.sin(a) + sp.sin(a) * sp.cos(a) ** 2, True),
        (sp.sin(3 * a) - 3 * sp.sin(a) + 4 * sp.sin(a) ** 3, True),
        (sp.cos(4 * a) - 8 * sp.cos(a) ** 4 + 8 * sp.cos(a) ** 2 - 1, True),
        (sp.sin(1) ** 2 + sp.cos(1) ** 2 - 1, True),
        (sp.sin(1) ** 2 + sp.cos(1) ** 2 - 2, False),
        (sp.sin(1) ** 3 - sp.sin(1), False),
    ],
)
def test_powers_of_sines_are_decided(expression: sp.Expr, expected: bool) -> None:
    assert is_zero(expression) is expected
