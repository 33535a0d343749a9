"""Biases that are sums along the sequence, in torch: FoX and Cable."""

import math

import numpy as np
import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.paths import (
    FoX,
    path_sums,
)
from lengthgen.theory.encodings import paths
from tests.empirical.encodings.table import WIDTH, make, shaken
from tests.empirical.twins import HOSTILE, exact, normal

H, D, B = 3, 5, 2
LENGTHS = (1, 2, 31, 32, 33, 100)
UNIT = 2.0**-53


def make_fox(seed=0, layers=1, scale=2.0):
    """FoX with large weights, as the module starts with small ones."""
    encoding = FoX(width=D, heads=H, layers=layers).double()
    with torch.no_grad():
        encoding.weight.copy_(scale * normal(seed, layers, H, D))
        encoding.offset.copy_(normal(seed + 1, layers, H) + 1)
    return encoding


def with_log_gates(log_gates_L):
    """Return an encoding of one head whose log gates are nearly the given ones, and its content."""
    encoding = FoX(width=1, heads=1, layers=1).double()
    with torch.no_grad():
        encoding.weight.fill_(1)
    logits = -torch.log(torch.expm1(-log_gates_L))
    return encoding, Content(x_BLD=torch.where(log_gates_L < -30, log_gates_L, logits)[None, :, None])


def exact_paths(log_gates_L, queries, keys):
    """[J, I]: sums after each key up to each query, correctly rounded; 0 for a key after the query."""
    gates = log_gates_L.tolist()
    return torch.tensor([[math.fsum(gates[i + 1 : j + 1]) for i in keys] for j in queries], dtype=torch.float64)


def budget(sums, length, dtype):
    """Error bound that `FoX.bias` promises for given log gates of this many tokens."""
    return (2.01 * torch.finfo(dtype).eps / 2 + 2.01 * length * UNIT) * sums.abs()


@pytest.mark.parametrize("length", LENGTHS)
def test_fox_is_the_sum_along_the_path(length):
    encoding, content = make_fox(), Content(x_BLD=normal(4, B, length, D))
    positions = torch.arange(length)
    gates = encoding.log_gates(content).detach()
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        bias = encoding.bias(positions, positions, content, dtype=dtype)
        assert bias.dtype == dtype and bias.shape == (B, H, length, length)
        for row, head in np.ndindex(B, H):
            right = exact_paths(gates[row, head], range(length), range(length))
            assert ((bias[row, head].double() - right).abs() <= budget(right, length, dtype)).all(), dtype


def test_fox_x_transformers_agrees():
    from x_transformers.x_transformers import DataDependentAlibi

    library, encoding = DataDependentAlibi(D, H), FoX(width=D, heads=H, layers=1)
    linear = library.to_forget_gates[0]
    with torch.no_grad():
        encoding.weight[0].copy_(linear.weight)
        encoding.offset[0].copy_(linear.bias)
    x, positions = normal(5, B, 40, D, dtype=torch.float32), torch.arange(40)
    ours = encoding.bias(positions, positions, Content(x_BLD=x))
    torch.testing.assert_close(ours, library(x).tril(), rtol=1e-5, atol=1e-5)


def test_fox_digits_survive_a_run_of_hard_forgetting():
    """65,536 tokens, the first 5,000 with f = e^-30: c is -150,000, whose float32 neighbours are 1/64 apart."""
    log_gates = torch.full((65536,), math.log(0.999), dtype=torch.float64)
    log_gates[:5000] = -30
    encoding, content = with_log_gates(log_gates)
    positions, last = torch.arange(65536), 40
    gates = encoding.log_gates(content)[0, 0].detach()
    torch.testing.assert_close(gates, log_gates, rtol=1e-9, atol=0)
    bias = encoding.bias(positions[-last:], positions, content)[0, 0]
    keys = [0, 4999, 5000, 60000, 65000, 65400, 65500, 65510, 65535]
    right = exact_paths(gates, range(65536 - last, 65536), keys)
    assert ((bias[:, keys].double() - right).abs() <= budget(right, 65536, torch.float32)).all()

    plain = gates.float().cumsum(0)
    plain = (plain[-last:, None] - plain[keys]).tril(65536 - last)
    off = (plain.double() - right).abs()[:, [key >= 65000 for key in keys]]
    assert off.max() > 0.01, "even rounded once, as torch does on a CPU, a float32 prefix is off by more than 0.01"


def test_fox_digits_survive_hard_gates_among_soft_ones_in_one_chunk():
    """A gate of e^-150000 in the chunk of soft gates: float64 sums that hold it have neighbours 3e-11 apart."""
    log_gates = -torch.rand(200, dtype=torch.float64, generator=torch.Generator().manual_seed(22)) * 1e-6
    log_gates[::17] = -150_000
    encoding, content = with_log_gates(log_gates)
    positions = torch.arange(200)
    gates = encoding.log_gates(content)[0, 0].detach()
    bias = encoding.bias(positions[-150:], positions, content, dtype=torch.float64)[0, 0]
    right = exact_paths(gates, range(50, 200), range(200))
    assert ((bias - right).abs() <= budget(right, 200, torch.float64)).all()
    assert (right[right != 0].abs() < 1e-4).sum() > 1000


def test_fox_float32_gradients_keep_the_digits_of_float64_ones():
    """The gradient of a step adds the weights of all pairs that it lies between."""
    steps = -torch.rand(B, H, 150, dtype=torch.float64, generator=torch.Generator().manual_seed(23))
    weights = normal(24, B, H, 150, 150)

    def gradient(dtype, given):
        narrow = steps.to(dtype).requires_grad_()
        return torch.autograd.grad((path_sums(narrow, 150, dtype) * given.to(dtype)).sum(), narrow)[0].double()

    sizes = gradient(torch.float64, weights.abs())
    off = (gradient(torch.float32, weights) - gradient(torch.float64, weights)).abs()
    assert off.max() <= torch.finfo(torch.float32).eps / 4 * sizes.max()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_fox_is_finite_however_strongly_gates_forget(dtype):
    encoding, content = with_log_gates(torch.full((50,), -1e37, dtype=torch.float64))
    positions = torch.arange(50)
    bias = encoding.bias(positions, positions, content, dtype=dtype)
    assert bias.isfinite().all() and (bias <= 0).all()
    assert bias[0, 0, -1, 0] <= 0.99 * torch.finfo(dtype).min


def test_fox_autocast_does_not_narrow_the_gates():
    encoding, positions = FoX(width=D, heads=H, layers=1), torch.arange(30)
    content = Content(x_BLD=normal(21, B, 30, D, dtype=torch.float32))
    before = encoding.bias(positions, positions, content)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(encoding.bias(positions, positions, content), before)


def test_fox_gradients(monkeypatch):
    monkeypatch.setattr("lengthgen.empirical.encodings.paths._ROWS", 3)
    encoding, positions = make_fox(), torch.arange(9)
    x = normal(12, 1, 9, D).requires_grad_()

    def bias(x, *_):
        return encoding.bias(positions[-7:], positions, Content(x_BLD=x), dtype=torch.float64)

    # gradcheck moves the parameters in place.
    assert torch.autograd.gradcheck(bias, (x, encoding.weight, encoding.offset))
    assert torch.autograd.gradgradcheck(bias, (x, encoding.weight, encoding.offset))


def test_fox_gradients_are_those_of_the_plain_difference():
    encoding, positions = make_fox(), torch.arange(100)
    x, weights = normal(13, B, 100, D), normal(14, B, H, 100, 100)
    ours = encoding.bias(positions, positions, Content(x_BLD=x), dtype=torch.float64)
    sums = encoding.log_gates(Content(x_BLD=x)).cumsum(-1)
    plain = (sums[..., :, None] - sums[..., None, :]).tril()
    torch.testing.assert_close(
        torch.autograd.grad((ours * weights).sum(), [encoding.weight, encoding.offset]),
        torch.autograd.grad((plain * weights).sum(), [encoding.weight, encoding.offset]),
        rtol=1e-12,
        atol=1e-10,
    )


KINDS = ("cable", "cable-gated", "cable-nw", "cable-log")


@pytest.mark.parametrize("name", ["fox", *KINDS])
def test_positions_without_a_token_are_no_step_and_the_last_queries_are_those_among_all(name):
    encoding, hostile = shaken(make(name)), torch.tensor(HOSTILE)
    content, plain = Content(x_BLD=normal(10, B, len(HOSTILE), WIDTH)), torch.arange(len(HOSTILE))
    assert torch.equal(encoding.bias(hostile, hostile, content), encoding.bias(plain, plain, content))
    content, positions = Content(x_BLD=normal(11, B, 70, WIDTH)), torch.arange(70)
    full_bias = encoding.bias(positions, positions, content, dtype=torch.float64)
    for queries in (1, 3, 40):
        last = encoding.bias(positions[-queries:], positions, content, dtype=torch.float64)
        torch.testing.assert_close(last, full_bias[:, :, -queries:], rtol=1e-12, atol=1e-12)


def test_cable_keys_after_the_query_get_zero_or_the_same_logarithm():
    x, positions = normal(11, B, 70, WIDTH), torch.arange(70)
    for name in ("cable", "cable-gated", "cable-nw"):
        assert (shaken(make(name)).bias(positions, positions, Content(x_BLD=x)).triu(1) == 0).all()
    encoding = shaken(make("cable-log"), gate_weight=0)
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
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_cable_is_finite_however_large_steps_and_gates_are(name, dtype):
    encoding, positions = shaken(make(name)), torch.arange(40)
    bias = encoding.bias(positions, positions, Content(x_BLD=1e30 * normal(12, 1, 40, WIDTH).abs()), dtype=dtype)
    assert bias.dtype == dtype and bias.isfinite().all() and (bias <= 0).all() and bias.min() < -100
