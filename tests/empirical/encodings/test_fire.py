"""FIRE in torch: its symbolic twin, the plain formula, narrow types, FlexAttention, layers."""

import math

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.biases import FIRE
from lengthgen.theory.encodings import biases
from tests.empirical.twins import HOSTILE, symbolic_bias


def make_fire(heads=3, layers=1, seed=0, **parameters):
    torch.manual_seed(seed)
    return FIRE(heads=heads, layers=layers, **parameters)


def numbers(tensor):
    return [sp.Rational(number) for number in tensor.tolist()]


@pytest.mark.parametrize("threshold", [3.0, 300.0, 5e5])
def test_it_is_its_symbolic_twin_at_hostile_positions(threshold):
    """The network is one line per head here, so that its inputs are compared; the network itself is compared below."""
    positions, encoding = torch.tensor(HOSTILE), make_fire(heads=2, threshold=threshold).double()
    law = encoding.laws[0]
    with torch.no_grad():
        law.inner.weight.fill_(1.0), law.inner.bias.zero_(), law.rate.fill_(-0.07), law.factor.fill_(-1.5)
        law.outer.weight[:, 1:] = 0
    bias = encoding.bias(positions, positions, dtype=torch.float64)
    rate, factor = (sp.Rational(parameter.item()) for parameter in (law.rate, law.factor))
    for head, (slope, offset) in enumerate(zip(numbers(law.outer.weight[:, 0]), numbers(law.outer.bias), strict=True)):
        part = sp.Symbol("u")
        values = {
            biases.FIRE_RATE: abs(rate),
            biases.FIRE_THRESHOLD: abs(factor * sp.Rational(threshold)),
            biases.FIRE_LAW: sp.Lambda(part, slope * part + offset),
        }
        expected = symbolic_bias(biases.FIRE, values, HOSTILE)
        seen = ~expected.isnan()
        # The fraction within 4 units in the last place (see the budget below), then a product and a sum.
        size = abs(float(slope)) + abs(float(offset))
        torch.testing.assert_close(bias[head][seen], expected[seen], rtol=0, atol=6 * 2.3e-16 * size)


def plain(law, threshold, head, j, i):
    """Return b and the sum of the sizes of its terms, by loops over float64."""
    rate = abs(law.rate.item())
    reach = max(j + 1, abs(law.factor.item()) * threshold)
    fraction = math.log1p(rate * abs(j - i)) / math.log1p(rate * reach)
    total = size = law.outer.bias[head].item()
    size = abs(size)
    for weight, offset, out in zip(
        law.inner.weight[:, 0].tolist(), law.inner.bias.tolist(), law.outer.weight[head].tolist(), strict=True
    ):
        total += out * max(0.0, weight * fraction + offset)
        size += abs(out) * (abs(weight) * fraction + abs(offset))
    return total, size


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_plain_formula_agrees_within_the_budget_of_each_type(dtype):
    """Half units in the last place, in float32 at least, of the sum of all terms' sizes:

    3 for each psi (product, logarithm), 1 for the fraction, 2 for each unit, 34 for the products and their sum; then
    one in the type.  Parameters are rounded to the type before; positions never are.
    """
    positions, encoding = torch.tensor(HOSTILE), make_fire(threshold=300.0).to(dtype)
    bias = encoding.bias(positions, positions, dtype=dtype)
    assert bias.dtype == dtype
    law = encoding.double().laws[0]
    inner = torch.finfo(torch.promote_types(dtype, torch.float32)).eps / 2
    for head in range(3):
        for row, j in enumerate(HOSTILE):
            for column, i in enumerate(HOSTILE):
                expected, size = plain(law, 300.0, head, j, i)
                budget = 1.01 * (43 * inner + (torch.finfo(dtype).eps / 2 if dtype != torch.float64 else inner))
                assert abs(bias[head, row, column].item() - expected) <= budget * size


def test_it_is_relative_up_to_the_threshold_and_not_beyond():
    positions = torch.arange(20)
    bias = make_fire(threshold=12.0).double().bias(positions, positions, dtype=torch.float64)
    for distance in range(1, 8):
        row = bias.diagonal(-distance, dim1=-2, dim2=-1)  # queries distance, distance + 1, ...
        # Query 11 counted from 0 is the twelfth.
        steps = row.diff(dim=-1).abs().amax(0)
        assert (steps[: 11 - distance] == 0).all() and (steps[11 - distance :] > 0).all()


def test_the_diagonal_is_the_network_at_zero():
    positions, encoding = torch.tensor(HOSTILE), make_fire(threshold=3.0)
    law = encoding.laws[0]
    at_zero = law.outer(law.inner(torch.zeros(1)).relu())
    diagonal = encoding.bias(positions, positions).diagonal(dim1=-2, dim2=-1)
    torch.testing.assert_close(diagonal, at_zero[:, None].expand_as(diagonal))


def test_every_layer_has_a_law_of_its_own():
    positions, encoding = torch.arange(6), make_fire(layers=3)
    by_layer = [encoding.bias(positions, positions, Content(layer=layer)) for layer in range(3)]
    assert not torch.equal(by_layer[0], by_layer[1]) and not torch.equal(by_layer[1], by_layer[2])
    assert torch.equal(encoding.bias(positions, positions), by_layer[0])
    with pytest.raises(ValueError, match="there is no layer 3: FIRE was made for 3 layers"):
        encoding.bias(positions, positions, Content(layer=3))


def test_all_numbers_of_the_law_learn():
    positions, encoding = torch.arange(30), make_fire(threshold=12.0)
    (encoding.bias(positions, positions) ** 2).sum().backward()
    for parameter in encoding.parameters():
        assert parameter.grad.isfinite().all() and (parameter.grad != 0).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"heads": 0}, "heads must be at least 1, not 0"),
        ({"layers": 0}, "layers must be at least 1, not 0"),
        ({"rate": 0.0}, "rate must be a positive finite number, not 0.0"),
        ({"rate": math.nan}, "rate must be a positive finite number, not nan"),
        ({"threshold": math.inf}, "threshold must be a positive finite number, not inf"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_fire(**parameters)
