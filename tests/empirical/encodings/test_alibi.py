"""ALiBi in torch: its symbolic twin, x-transformers, narrow types, FlexAttention, and the traps of published code."""

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.biases import ALiBi
from lengthgen.theory.encodings import biases
from tests.empirical.twins import HOSTILE, symbolic_bias

HEADS = (1, 2, 3, 8, 12)


@pytest.mark.parametrize("heads", HEADS)
def test_it_is_its_symbolic_twin_at_hostile_positions(heads):
    positions = torch.tensor(HOSTILE)
    bias = ALiBi(heads=heads).bias(positions, positions, dtype=torch.float64)
    for head, slope in enumerate(biases.alibi_slopes(heads)):
        expected = symbolic_bias(biases.ALIBI, {biases.ALIBI_SLOPE: slope}, HOSTILE)
        seen = ~expected.isnan()
        # Rounded are slope, product and the twin's own value, each by half a unit in the last place.
        torch.testing.assert_close(bias[head][seen], expected[seen], rtol=3.4e-16, atol=0)


@pytest.mark.parametrize("heads", HEADS)
def test_x_transformers_agrees(heads):
    from x_transformers.x_transformers import AlibiPositionalBias

    positions = torch.arange(65)
    theirs = AlibiPositionalBias(heads, heads)(65, 65)
    torch.testing.assert_close(ALiBi(heads=heads).bias(positions, positions), theirs, rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("heads", HEADS)
def test_narrow_types_stay_within_their_budget(heads, dtype):
    """Slope and product are rounded in float32, the result once to the type; 65504 ends float16."""
    positions = torch.tensor(HOSTILE if dtype is not torch.float16 else HOSTILE[:-2])
    wide = ALiBi(heads=heads).bias(positions, positions, dtype=torch.float64)
    narrow = ALiBi(heads=heads).bias(positions, positions, dtype=dtype)
    assert narrow.dtype == dtype
    budget = 1.01 * (torch.finfo(torch.float32).eps + torch.finfo(dtype).eps / 2)
    assert ((narrow.double() - wide).abs() <= budget * wide.abs()).all()


def test_neighbouring_positions_differ_in_bfloat16_as_well():
    """Distances are not rounded to 8 bits before the slope: from 256 on that would merge pairs of them."""
    positions = torch.arange(255, 400)
    bias = ALiBi(heads=1).bias(torch.tensor([255]), positions, dtype=torch.float32)
    half = ALiBi(heads=1).bias(torch.tensor([255]), positions, dtype=torch.bfloat16)
    assert torch.equal(half, bias.bfloat16())


def test_it_never_rewards_distance():
    positions = torch.arange(100)
    bias = ALiBi(heads=8).bias(positions, positions)
    assert (bias.diff(dim=-1).tril(-1) >= 0).all() and (bias <= 0).all()


def test_half_precision_does_not_round_the_slopes():
    positions = torch.arange(50)
    before = ALiBi(heads=12).bias(positions, positions)
    assert torch.equal(ALiBi(heads=12).half().bias(positions, positions), before)


def test_its_score_is_the_content_plus_the_bias():
    j, i = sp.symbols("j i", integer=True)
    assert biases.ALIBI.score(query_position=j, key_position=i).subs({j: 7, i: 3, biases.ALIBI_SLOPE: 1}) == sp.sympify(
        "k1*q1 + k2*q2 - 4"
    ).subs({str(s): s for s in biases.ALIBI.score(query_position=j, key_position=i).free_symbols})
