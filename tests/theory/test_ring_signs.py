"""Signs of polynomials in the positions are those that hold at every pair."""

import pytest

from lengthgen.theory.formula import parse
from lengthgen.theory.formula.canonical import element_of
from lengthgen.theory.zero.ring_signs import is_positive


@pytest.mark.parametrize("text", ["n - 1/2", "n**2 - 1/2", "2*j - i - 1/2", "n**2 - i**2 + 1/2", "n*j + i - 3/2"])
def test_a_polynomial_that_is_positive_at_every_pair_is_called_positive(text: str) -> None:
    element = element_of(parse(text).nodes[0])
    assert element is not None
    assert is_positive(element)


@pytest.mark.parametrize("text", ["n - 1", "n - j", "n**2 - 2*i*n", "j - 2*i + 1"])
def test_a_polynomial_that_is_not_positive_at_every_pair_is_not_called_positive(text: str) -> None:
    element = element_of(parse(text).nodes[0])
    assert element is not None
    assert not is_positive(element)
