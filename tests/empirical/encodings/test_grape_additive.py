"""GRAPE-A in torch, plain and gated: symbolic twins, ALiBi at the start, the streaming form, narrow types."""

import math

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.biases import ALiBi
from lengthgen.empirical.encodings.grape import GrapeAdditive, GrapeGated
from lengthgen.theory.encodings import biases, grape
from tests.empirical.twins import HOSTILE, symbolic_bias

HEADS, HEAD_DIM, LAYERS, BATCH = 3, 4, 2, 2
GATES = ("both", "query", "key")


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def plain():
    encoding = GrapeAdditive(heads=HEADS).double()
    with torch.no_grad():
        encoding.log_factors.copy_(content(0, HEADS))
    return encoding


def gated(gates="both"):
    torch.manual_seed(0)
    encoding = GrapeGated(heads=HEADS, head_dim=HEAD_DIM, layers=LAYERS, gates=gates).double()
    with torch.no_grad():
        encoding.log_factors.copy_(content(1, LAYERS, HEADS))
    return encoding


def make_content(length, layer=0):
    q, k = content(2, 2, BATCH, HEADS, length, HEAD_DIM)
    return Content(layer=layer, q_BHJC=q, k_BHIC=k)


def softplus(value):
    return math.log1p(math.exp(value))


def factor(raw):
    """softplus(raw + log(e - 1))."""
    return math.log1p((math.e - 1) * math.exp(raw))


def test_plain_is_its_symbolic_twin_at_hostile_positions():
    positions, encoding = torch.tensor(HOSTILE), plain()
    bias = encoding.bias(positions, positions, dtype=torch.float64).detach()
    for head, slope in enumerate(biases.alibi_slopes(HEADS)):
        value = float(slope) * factor(float(encoding.log_factors[head].detach()))
        expected = symbolic_bias(grape.ADDITIVE, {grape.GRAPE_SLOPE: sp.Rational(value)}, HOSTILE)
        seen = ~expected.isnan()
        torch.testing.assert_close(bias[head][seen], expected[seen], rtol=2e-15, atol=0)


@pytest.mark.parametrize("heads", [1, 3, 8, 12])
def test_plain_starts_as_alibi(heads):
    positions = torch.tensor(HOSTILE)
    seen = torch.ones(len(HOSTILE), len(HOSTILE)).tril().bool()
    bias = GrapeAdditive(heads=heads).bias(positions, positions, dtype=torch.float64)
    expected = ALiBi(heads=heads).bias(positions, positions, dtype=torch.float64)
    torch.testing.assert_close(bias[:, seen].detach(), expected[:, seen], rtol=1e-15, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_plain_in_narrow_types_stays_within_its_budget(dtype):
    """Slope, distance and product are each rounded once: three units in the last place at most."""
    positions, encoding = torch.tensor(HOSTILE), plain()
    wide = encoding.bias(positions, positions, dtype=torch.float64)
    narrow = encoding.bias(positions, positions, dtype=dtype)
    budget = 3 * torch.finfo(dtype).eps / 2 * 1.01
    assert ((narrow.double() - wide).abs() <= budget * wide.abs()).all() and narrow.dtype == dtype


@pytest.mark.parametrize("gates", GATES)
def test_gated_is_its_symbolic_twin_at_hostile_positions(gates):
    layer, encoding = 1, gated(gates)
    positions, layer_content = torch.tensor(HOSTILE), make_content(len(HOSTILE), layer=1)
    bias = encoding.bias(positions, positions, layer_content, dtype=torch.float64).detach()
    for batch in range(BATCH):
        for head, slope in enumerate(biases.alibi_slopes(HEADS)):
            raw = float(encoding.log_factors[layer, head].detach())
            values = {grape.GRAPE_SLOPE: sp.Rational(float(slope) * factor(raw))}
            sides = (
                (grape.QUERY_GATES, encoding.query_vectors, layer_content.q_BHJC),
                (grape.KEY_GATES, encoding.key_vectors, layer_content.k_BHIC),
            )
            for family, vectors, side in sides:
                for row, position in enumerate(HOSTILE):
                    gate = 0 if vectors is None else _gate(vectors[layer, head], side[batch, head, row])
                    values[family[position]] = sp.Rational(gate)
            expected = symbolic_bias(grape.GATED, values, HOSTILE)
            seen = ~expected.isnan()
            torch.testing.assert_close(bias[batch, head][seen], expected[seen], rtol=1e-13, atol=0)


def _gate(vector, token):
    unit = [value / math.sqrt(sum(component**2 for component in vector.tolist())) for value in vector.tolist()]
    return softplus(sum(u * x for u, x in zip(unit, token.tolist(), strict=True)) / math.sqrt(HEAD_DIM))


def test_the_streaming_form_gives_the_same_bias():
    """Claim grape-17: four features of each query and of each key, on the tokens of one row."""
    encoding, layer_content, length = gated(), make_content(9), 9
    positions = torch.arange(length)
    slopes, by_query, by_key = (tensor.detach() for tensor in encoding._gates(layer_content, torch.float64))
    place, ones = positions.double(), torch.ones(BATCH, HEADS, length, dtype=torch.float64)
    queries = torch.stack((-place * by_query, by_query, -place * ones, ones), -1)
    keys = torch.stack((ones, place * ones, by_key, place * by_key), -1)
    streamed = slopes[:, None, None] * (queries @ keys.transpose(-1, -2))
    dense = encoding.bias(positions, positions, layer_content, dtype=torch.float64).detach()
    torch.testing.assert_close(streamed, dense, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("gates", GATES)
def test_variants_have_the_numbers_that_they_train(gates):
    sides = {"both": 2, "query": 1, "key": 1}[gates]
    trained = sum(parameter.numel() for parameter in gated(gates).parameters())
    assert trained == LAYERS * HEADS * (1 + sides * HEAD_DIM)


def test_layers_have_gates_of_their_own():
    positions, encoding = torch.arange(4), gated()
    first, second = (encoding.bias(positions, positions, make_content(4, layer=layer)) for layer in range(2))
    assert not torch.allclose(first, second)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gated_in_narrow_types_stays_within_its_budget(dtype):
    """Rounded in float32 are the gates' sums of d terms and products; softplus changes by no more than its argument."""
    encoding, positions = gated().float(), torch.tensor(HOSTILE)
    q, k = content(3, 2, BATCH, HEADS, len(HOSTILE), HEAD_DIM).to(dtype)
    narrow = encoding.bias(positions, positions, Content(q_BHJC=q, k_BHIC=k), dtype=dtype).detach()
    wide = encoding.bias(
        positions, positions, Content(q_BHJC=q.double(), k_BHIC=k.double()), dtype=torch.float64
    ).detach()
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    # Gates are at least log(1 + e^-|q|); |q| <= 4 sqrt(d) here, so a relative error is at most this over the absolute.
    size = max(float(q.double().norm(dim=-1).max()), float(k.double().norm(dim=-1).max())) / HEAD_DIM**0.5
    relative = (HEAD_DIM + 6) * single * size / softplus(-size) + 5 * single
    assert ((narrow.double() - wide).abs() <= wide.abs() * (relative + last) * 1.01).all() and narrow.dtype == dtype


def test_gated_says_what_it_misses():
    positions = torch.arange(3)
    with pytest.raises(ValueError, match="pass content with q_BHJC and k_BHIC"):
        gated().bias(positions, positions)
    with pytest.raises(ValueError, match="positions must be integers"):
        gated().bias(positions.float(), positions, make_content(3))
    with pytest.raises(ValueError, match="positions must be integers"):
        gated().bias(positions, positions.float(), make_content(3))
