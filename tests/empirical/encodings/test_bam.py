"""BAM in torch: its symbolic twins, the released formula, its start, negative exponents, narrow types, its layers."""

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.biases import BAM, ALiBi, BAMWithSSMax
from lengthgen.theory.encodings import biases
from tests.empirical.twins import HOSTILE, exact, symbolic_scores

HEADS, HEAD_DIM = 3, 4
EXPONENTS = [-0.625, 0.5, 1.25]
SHIFTS = [0.75, 0.0, -2.5]
FACTORS = [[1.0, 1.0, 1.0], [0.5, 2.0, 1.5]]


def make(kind, *, location=False):
    encoding = kind(heads=HEADS, location=location, **({"layers": 2} if kind is BAMWithSSMax else {})).double()
    with torch.no_grad():
        encoding.log_scale.copy_(torch.tensor([-2.0, 0.5, -8.0]))
        encoding.exponent.copy_(torch.tensor(EXPONENTS))
        if location:
            encoding.shift.copy_(torch.tensor(SHIFTS))
        if kind is BAMWithSSMax:
            encoding.factors.copy_(torch.tensor(FACTORS))
    return encoding


def logits(encoding, q, k, positions, layer=0):
    content = Content(layer=layer, q_BHJC=q, k_BHIC=k)
    rotated = encoding.rotate(q, k, positions, content)
    return encoding.scores(*rotated, positions, positions) + encoding.bias(
        positions, positions, content, dtype=torch.float64
    )


@pytest.mark.parametrize(("kind", "twin"), [(BAM, biases.BAM), (BAMWithSSMax, biases.BAM_SSMAX)])
def test_it_is_its_symbolic_twin_at_hostile_positions(kind, twin):
    encoding, positions, layer = make(kind), torch.tensor(HOSTILE), 1
    q, k = torch.randn(2, HEADS, len(HOSTILE), 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    computed = logits(encoding, q[None], k[None], positions, layer)[0]
    for head in range(HEADS):
        numbers = {biases.BAM_LOG_SCALE: encoding.log_scale[head].item(), biases.BAM_EXPONENT: EXPONENTS[head]}
        values = {symbol: sp.Rational(number) for symbol, number in numbers.items()}
        values |= {
            biases.BAM_SMALLEST: biases.BAM_RELEASED_SMALLEST,
            biases.BAM_FACTOR: sp.Rational(FACTORS[layer][head]),
        }
        expected = symbolic_scores(twin, [values], q[head], k[head], HOSTILE)
        seen = ~expected.isnan()
        # Power, exponential, logarithm, offset plus eps and five products, each within a unit in the last place.
        torch.testing.assert_close(computed[head][seen], expected[seen], rtol=9 * 2.3e-16, atol=1e-14)


def test_the_bias_is_the_released_formula_with_a_location_on_both_sides():
    encoding, positions = make(BAM, location=True), torch.tensor([0, 1, 2, 9, 10**6])
    computed = encoding.bias(positions, positions, dtype=torch.float64)
    for head in range(HEADS):
        for row, query in enumerate(positions.tolist()):
            for column, key in enumerate(positions.tolist()):
                law = biases.bam_log_prior(
                    sp.Integer(key - query),
                    log_scale=sp.Rational(encoding.log_scale[head].item()),
                    exponent=sp.Rational(EXPONENTS[head]),
                    smallest=biases.BAM_RELEASED_SMALLEST,
                    location=biases.bam_location(sp.Rational(SHIFTS[head])),
                )
                assert computed[head, row, column].item() == pytest.approx(exact(law), rel=1e-13)


def test_a_negative_location_prefers_keys_before_the_query():
    encoding = BAM(heads=1, location=True)
    with torch.no_grad():
        encoding.shift.fill_(float(torch.asinh(torch.tensor(-1.5))))  # mu = 2 sinh t = -3
    assert encoding.bias(torch.tensor([9]), torch.arange(20)).argmax().item() == 6


@pytest.mark.parametrize("heads", [3, 8])
def test_it_starts_as_alibi_up_to_a_number_of_the_head(heads):
    positions = torch.tensor(HOSTILE)
    difference = BAM(heads=heads).double().bias(positions, positions, dtype=torch.float64) - ALiBi(heads=heads).bias(
        positions, positions, dtype=torch.float64
    )
    # The parameters begin in float32: the logarithm of a slope is within 4e-7 of it, so distances err by that share.
    near = difference[:, :4, :4]
    assert (near - near[:, :1, :1]).abs().max() < 7 * 4e-7
    assert (near[:, 0, 0] + 1e-5 * torch.tensor(ALiBi(heads=heads).slopes)).abs().max() < 1e-11


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_first_query_has_finite_logits_and_gradients_down_to_the_exponent_that_is_named(dtype):
    encoding, positions = BAMWithSSMax(heads=1, layers=1), torch.arange(4)
    with torch.no_grad():
        encoding.exponent.fill_(-7)  # eps^-7 = 1e35
        encoding.log_scale.fill_(0)
    bias = encoding.bias(positions, positions, dtype=dtype)
    assert bias.dtype == dtype and bias.isfinite().all()
    bias[0, 3, :3].float().sum().backward()
    assert encoding.exponent.grad.isfinite().all()
    assert bias[0, 3].argmax().item() == 0


def test_numbers_that_do_not_change_the_weights_learn_nothing_and_the_others_do():
    encoding, positions = make(BAM, location=True), torch.arange(6)
    encoding.bias(positions, positions, dtype=torch.float64)[:, 5].softmax(-1)[:, 0].sum().backward()
    assert all((parameter.grad != 0).all() for parameter in encoding.parameters())


def test_a_layer_has_factors_of_its_own_and_no_other_is_made_up():
    encoding, positions = make(BAMWithSSMax), torch.arange(5)
    first, second = (encoding.bias(positions, positions, Content(layer=layer)) for layer in range(2))
    ratio = (second / first)[:, 1:]
    torch.testing.assert_close(ratio, torch.tensor(FACTORS[1])[:, None, None].expand_as(ratio))
    with pytest.raises(ValueError, match="there is no layer 2: BAM has factors of 2 layers"):
        encoding.bias(positions, positions, Content(layer=2))


def test_a_query_among_n_keys_has_n_equal_weights_to_the_power_of_the_factor():
    """SSMax: a key with content 1 more than all others has the weight n^s / (n^s + n - 1)."""
    encoding = BAMWithSSMax(heads=1, layers=1).double()
    with torch.no_grad():
        encoding.exponent.fill_(0)
        encoding.factors.fill_(1.5)
    n, positions = 50, torch.arange(50)
    keys = torch.zeros(1, 1, n, 1, dtype=torch.float64)
    keys[0, 0, 7] = 1
    weights = logits(encoding, torch.ones_like(keys), keys, positions)[0, 0, -1].softmax(-1)
    assert weights[7].item() == pytest.approx(n**1.5 / (n**1.5 + n - 1), rel=1e-12)
