"""Position interpolation in torch: its symbolic twin, transformers, narrow types, and what it may not do."""

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.rotary import PositionInterpolation, Rotary
from lengthgen.theory.encodings import rotary
from tests.empirical.twins import HOSTILE, symbolic_scores

HEAD_DIM = 6
FEW = (0, 1, 257, 4095, 10**6)
"""Some of the hostile positions, as a score of the symbolic twin takes its time."""


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("scale", [1, 32])
def test_it_is_its_symbolic_twin_at_hostile_positions(scale):
    q, k = content(0, 2, 1, 1, len(FEW), HEAD_DIM)
    turned_q, turned_k = PositionInterpolation(head_dim=HEAD_DIM, scale=scale).rotate(q, k, torch.tensor(FEW))
    planes = [{rotary.FREQUENCY: theta, rotary.SHRINK: sp.Rational(1, scale)} for theta in rotary.frequencies(HEAD_DIM)]
    expected = symbolic_scores(rotary.INTERPOLATION, planes, q[0, 0], k[0, 0], FEW)
    seen = ~expected.isnan()
    # An angle of 10^6 in float64 is off by a few times 10^6 eps, and so is its cosine; a score by that times |q| |k|.
    scores = (turned_q @ turned_k.transpose(-1, -2))[0, 0]
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=4e6 * 2.2e-16 * HEAD_DIM**2)


@pytest.mark.parametrize("scale", [1.0, 4.0, 32.0])
def test_its_frequencies_are_those_of_transformers(scale):
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=64,
        num_attention_heads=1,
        rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": scale},
    )
    theirs, magnitude = ROPE_INIT_FUNCTIONS["linear"](config, "cpu")
    ours = PositionInterpolation(head_dim=64, scale=scale)
    # Theirs are powers in float32: the exponent is off by eps/2 of itself, which ln(10^4) = 9.2 multiplies.
    torch.testing.assert_close(ours.frequencies(1), theirs.double(), rtol=12 * 6e-8, atol=0)
    assert magnitude == ours.magnitude() == 1


def test_it_is_rope_at_positions_divided():
    q, k = content(1, 2, 1, 2, 10, HEAD_DIM)
    positions = torch.arange(10)
    rotated = PositionInterpolation(head_dim=HEAD_DIM, scale=8).rotate(q, k, 8 * positions)
    torch.testing.assert_close(rotated, Rotary(head_dim=HEAD_DIM).rotate(q, k, positions), rtol=0, atol=1e-14)


def test_at_scale_one_it_is_rope():
    q, k = content(2, 2, 1, 2, len(HOSTILE), HEAD_DIM)
    positions = torch.tensor(HOSTILE)
    rotated = PositionInterpolation(head_dim=HEAD_DIM, scale=1).rotate(q, k, positions)
    for ours, theirs in zip(rotated, Rotary(head_dim=HEAD_DIM).rotate(q, k, positions), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_stay_within_their_budget(dtype):
    """Rounded are the cosine, each product and the sum in float32, and the result: the budget at any position."""
    positions = torch.tensor(HOSTILE)
    q, k = content(3, 2, 1, 1, len(HOSTILE), HEAD_DIM).to(dtype)
    encoding = PositionInterpolation(head_dim=HEAD_DIM, scale=4)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    turned = zip(encoding.rotate(q, k, positions), encoding.rotate(q.double(), k.double(), positions), strict=True)
    for (narrow, wide), vectors in zip(turned, (q, k), strict=True):
        size = vectors.double().unflatten(-1, (-1, 2)).norm(dim=-1).repeat_interleave(2, -1)
        assert ((narrow.double() - wide).abs() <= 1.01 * size * (3 * 2**0.5 * single + last)).all()
