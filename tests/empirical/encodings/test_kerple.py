"""KERPLE in torch: its symbolic twins, the plain formulas, narrow types, bounds of the parameters, FlexAttention."""

import math

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.biases import LARGEST_EXPONENT, SMALLEST, KerpleLog, KerplePower
from lengthgen.theory.encodings import biases
from tests.empirical.twins import HOSTILE, symbolic_bias

BOTH = (KerplePower, KerpleLog)
TWINS = {
    KerplePower: (biases.KERPLE_POWER, {biases.KERPLE_SCALE: "scale", biases.KERPLE_EXPONENT: "exponent"}),
    KerpleLog: (biases.KERPLE_LOG, {biases.KERPLE_SCALE: "scale", biases.KERPLE_RATE: "rate"}),
}
PLAIN = {
    KerplePower: lambda encoding, head, distance: (
        -encoding.scale[head].item() * float(distance) ** encoding.exponent[head].item()
    ),
    KerpleLog: lambda encoding, head, distance: (
        -encoding.scale[head].item() * math.log1p(encoding.rate[head].item() * distance)
    ),
}


def make_kerple(kind, heads=3, seed=0):
    torch.manual_seed(seed)
    return kind(heads=heads)


@pytest.mark.parametrize("kind", BOTH)
def test_it_is_its_symbolic_twin_at_hostile_positions(kind):
    positions, encoding = torch.tensor(HOSTILE), make_kerple(kind).double()
    twin, names = TWINS[kind]
    with torch.no_grad():  # sympy takes a root of the order of an exponent's denominator
        list(encoding.parameters())[1].copy_(torch.tensor([0.375, 1.0, 1.625]))
    bias = encoding.bias(positions, positions, dtype=torch.float64)
    for head in range(3):
        values = {symbol: sp.Rational(getattr(encoding, name)[head].item()) for symbol, name in names.items()}
        expected = symbolic_bias(twin, values, HOSTILE)
        seen = ~expected.isnan()
        # A power or logarithm within a unit in the last place, two products and the twin's value within half of one.
        torch.testing.assert_close(bias[head][seen], expected[seen], rtol=2.5 * 2.3e-16, atol=0)


@pytest.mark.parametrize("kind", BOTH)
def test_the_plain_formula_agrees_on_both_sides_of_the_query(kind):
    positions, encoding = torch.arange(70), make_kerple(kind, heads=5)
    bias = encoding.bias(positions, positions, dtype=torch.float64)
    expected = [[[PLAIN[kind](encoding, head, abs(j - i)) for i in range(70)] for j in range(70)] for head in range(5)]
    torch.testing.assert_close(bias, torch.tensor(expected, dtype=torch.float64), rtol=1e-15, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", BOTH)
def test_narrow_types_stay_within_their_budget(kind, dtype):
    """A power or logarithm is within a unit in the last place of float32; two roundings, then one in the type.

    The module's parameters are rounded to the type before; positions never are.
    """
    positions, encoding = torch.tensor(HOSTILE), make_kerple(kind).to(dtype)
    narrow = encoding.bias(positions, positions, dtype=dtype)
    assert narrow.dtype == dtype
    wide = encoding.double().bias(positions, positions, dtype=torch.float64)
    budget = 1.01 * (2 * torch.finfo(torch.float32).eps + torch.finfo(dtype).eps / 2)
    assert ((narrow.double() - wide).abs() <= budget * wide.abs()).all()


def test_parameters_start_as_in_the_released_classes():
    for kind, name, end in (
        (KerplePower, "scale", 1),
        (KerplePower, "exponent", 2),
        (KerpleLog, "scale", 2),
        (KerpleLog, "rate", 1),
    ):
        drawn = getattr(make_kerple(kind, heads=4000), name)
        assert SMALLEST <= drawn.min() < 0.02 * end and 0.98 * end < drawn.max() <= end
        # The mean of 4000 uniform draws is within 5 of its deviations, end / sqrt(12 n); the bound moves it by 5e-5.
        assert abs(drawn.mean() - end / 2) < 5 * end / (12 * 4000) ** 0.5 + 1e-4


@pytest.mark.parametrize("kind", BOTH)
def test_a_parameter_beyond_its_bound_is_brought_back_at_the_next_use(kind):
    encoding, positions = make_kerple(kind), torch.arange(4)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.copy_(torch.tensor([-3.0, 0.5, 7.0]))
    encoding.bias(positions, positions)
    assert encoding.scale.tolist() == [pytest.approx(SMALLEST), 0.5, 7.0]
    second = encoding.exponent if kind is KerplePower else encoding.rate
    assert second.tolist() == [pytest.approx(SMALLEST), 0.5, LARGEST_EXPONENT if kind is KerplePower else 7.0]


@pytest.mark.parametrize("kind", BOTH)
def test_a_parameter_at_its_bound_still_learns(kind):
    encoding, positions = make_kerple(kind), torch.arange(6)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.fill_(-1.0)
    encoding.bias(positions, positions).sum().backward()
    for parameter in encoding.parameters():
        assert parameter.grad.isfinite().all() and (parameter.grad != 0).all()


@pytest.mark.parametrize("kind", BOTH)
def test_several_layers_use_it_in_one_graph(kind):
    encoding, positions = make_kerple(kind), torch.arange(6)
    (encoding.bias(positions, positions) * encoding.bias(positions, positions)).sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in encoding.parameters())


@pytest.mark.parametrize("kind", BOTH)
def test_use_leaves_what_is_within_bounds_as_it_is(kind):
    encoding, positions = make_kerple(kind), torch.arange(6)
    before = {name: value.clone() for name, value in encoding.state_dict().items()}
    encoding.bias(positions, positions)
    assert all(torch.equal(value, before[name]) for name, value in encoding.state_dict().items())
