"""Terms too small to be seen in logits, and bounds that no start meets: each is held to its formula."""

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.biases import LARGEST_EXPONENT, KerplePower
from lengthgen.empirical.encodings.grape import SMALL, Grape
from lengthgen.theory.encodings import biases, grape

SPEED = sp.Rational(1, 10**5)


@pytest.mark.parametrize("position", [1, 10, 30, 31, 32, 33, 100])
def test_the_shares_of_small_angles_are_the_formulas_on_both_sides_of_the_series(position):
    """(1 - cos z)/z^2 near 0 moves a turned vector by z^4/24, below float64's grain; its gradient it moves by z^3/6."""
    encoding = Grape(heads=1, head_dim=2).double()
    with torch.no_grad():
        encoding.a.copy_(torch.tensor([[1.0, 0.0]], dtype=torch.float64))
        encoding.b.copy_(torch.tensor([[0.0, float(SPEED)]], dtype=torch.float64))
    turn, retreat = encoding._factors(torch.tensor([position]))
    angle = position * SPEED
    sine, cosine = (float(share(angle).evalf(30)) for share in (grape.sine_share, grape.cosine_share))
    assert turn.item() == pytest.approx(position * sine, rel=1e-14)
    assert retreat.item() == pytest.approx(position**2 * cosine, rel=1e-14)


def test_the_angles_lie_on_both_sides_of_the_series():
    below = [position for position in (1, 10, 30, 31, 32, 33, 100) if float((position * SPEED) ** 2) < SMALL]
    assert 31 in below and 32 not in below


def test_the_exponent_is_kept_where_the_kernel_is_positive_definite():
    assert float(biases.KERPLE_EXPONENTS.end) == LARGEST_EXPONENT
    encoding = KerplePower(heads=2)
    with torch.no_grad():
        encoding.exponent.copy_(torch.tensor([3.0, -1.0]))
    encoding.bias(torch.arange(3), torch.arange(3))
    assert encoding.exponent.tolist()[0] == LARGEST_EXPONENT
    assert encoding.exponent.tolist()[1] > 0
