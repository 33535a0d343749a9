"""Cable in torch: its symbolic twins, special cases, both sides of the query, narrow types, gradients."""

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.paths import Cable, GatedCable, LogarithmicCable, UngatedCable
from lengthgen.theory.encodings import paths
from lengthgen.theory.encodings.catalogue import named
from tests.empirical.twins import HOSTILE, exact, symbolic_bias

H, D, B = 3, 5, 2
KINDS = {"cable": Cable, "cable-gated": GatedCable, "cable-nw": UngatedCable, "cable-log": LogarithmicCable}


def draw(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def make(name, layers=1):
    """Cable with large weights, as the module starts with small ones."""
    encoding = KINDS[name](width=D, heads=H, layers=layers).double()
    with torch.no_grad():
        for seed, parameter in enumerate(encoding.parameters()):
            parameter.copy_(draw(seed, *parameter.shape))
    return encoding


def twin_values(encoding, x_LD, head, layer, first):
    """Values of the twin's steps and gates at positions from `first` on, each by its own formula."""
    values = {}
    for at, x in enumerate(x_LD):
        logit = sp.Rational(float(x @ encoding.weight[layer, head]))
        if type(encoding) is Cable:
            logit += sp.Rational(float(encoding.offset[layer, head]))
            values[paths.CABLE_STEPS[first + at]] = -paths.cable_log_gate(logit)
            continue
        values[paths.CABLE_RECTIFIED[first + at]] = paths.cable_rectified(logit)
        if type(encoding) is not UngatedCable:
            values[paths.CABLE_GATES[first + at]] = paths.cable_gate(
                sp.Rational(float(x @ encoding.gate_weight[layer, head]))
            )
    return values


@pytest.mark.parametrize("name", KINDS)
def test_it_is_its_symbolic_twin_in_each_layer(name):
    start = 10**6
    encoding, x, positions = make(name, layers=2), draw(9, 1, 4, D), torch.arange(4) + start
    for layer in range(2):
        bias = encoding.bias(positions, positions, Content(layer=layer, x_BLD=x), dtype=torch.float64)[0]
        for head in (0, H - 1):
            with torch.no_grad():
                values = twin_values(encoding, x[0], head, layer, start)
            expected = symbolic_bias(named(name), values, positions.tolist())
            seen = ~expected.isnan()
            torch.testing.assert_close(bias[head][seen], expected[seen], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", KINDS)
def test_positions_without_a_token_are_no_step(name):
    encoding, content = make(name), Content(x_BLD=draw(10, B, len(HOSTILE), D))
    hostile, plain = torch.tensor(HOSTILE), torch.arange(len(HOSTILE))
    assert torch.equal(encoding.bias(hostile, hostile, content), encoding.bias(plain, plain, content))


def test_keys_after_the_query_get_zero_or_the_same_logarithm():
    x, positions = draw(11, B, 70, D), torch.arange(70)
    for name in ("cable", "cable-gated", "cable-nw"):
        assert (make(name).bias(positions, positions, Content(x_BLD=x)).triu(1) == 0).all()
    encoding = make("cable-log")
    with torch.no_grad():
        encoding.gate_weight.zero_()
    bias = encoding.bias(positions, positions, Content(x_BLD=x), dtype=torch.float64)
    assert torch.equal(bias, bias.mT) and bias[..., 0, 69].max() < -1
    formula = paths.cable_logarithm(
        paths.cable_gate(sp.Integer(0)) * paths.cable_distance(paths.CABLE_RECTIFIED, key=sp.Integer(2), query=1)
    )
    steps = torch.relu(x[0, 2] @ encoding.weight[0, 0]).item()
    assert bias[0, 0, 1, 2].item() == pytest.approx(
        exact(formula.doit().xreplace({paths.CABLE_RECTIFIED[2]: sp.Rational(steps)})), rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("name", KINDS)
def test_the_last_queries_are_those_among_all(name):
    encoding, content, positions = make(name), Content(x_BLD=draw(15, B, 70, D)), torch.arange(70)
    full_bias = encoding.bias(positions, positions, content, dtype=torch.float64)
    last = encoding.bias(positions[-9:], positions, content, dtype=torch.float64)
    torch.testing.assert_close(last, full_bias[..., -9:, :], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_it_is_finite_however_large_steps_and_gates_are(name, dtype):
    encoding, positions = make(name), torch.arange(40)
    bias = encoding.bias(positions, positions, Content(x_BLD=1e30 * draw(12, 1, 40, D).abs()), dtype=dtype)
    assert bias.dtype == dtype and bias.isfinite().all() and (bias <= 0).all() and bias.min() < -100


@pytest.mark.parametrize("name", KINDS)
def test_narrow_modules_stay_near_the_wide_one(name):
    """Logits of D terms, gates and sums in float32: each is off by a few units of the terms that it is made of."""
    x, positions = draw(13, B, 90, D, dtype=torch.float32), torch.arange(90)
    narrow, wide = make(name).float(), make(name)
    for parameter, rounded in zip(wide.parameters(), narrow.parameters(), strict=True):
        parameter.data.copy_(rounded)
    bias = narrow.bias(positions, positions, Content(x_BLD=x))
    right = wide.bias(positions, positions, Content(x_BLD=x.double()), dtype=torch.float64)
    path = wide.log_gates(Content(x_BLD=x.double())).cumsum(-1)
    reach = (path[..., :, None] - path[..., None, :]).abs()
    assert ((bias.double() - right).abs() <= 100 * torch.finfo(torch.float32).eps * (1 + reach + right.abs())).all()


@pytest.mark.parametrize("name", KINDS)
def test_gradients(name):
    encoding, positions = make(name), torch.arange(6)
    x = draw(14, 1, 6, D).requires_grad_()

    def bias(x, *_):
        return encoding.bias(positions[-5:], positions, Content(x_BLD=x), dtype=torch.float64)

    assert torch.autograd.gradcheck(bias, (x, *encoding.parameters()))


def test_content_without_tokens_is_refused():
    for name in KINDS:
        with pytest.raises(ValueError, match="the content has no x_BLD"):
            make(name).bias(torch.arange(3), torch.arange(3))
