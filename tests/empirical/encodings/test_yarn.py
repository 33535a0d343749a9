"""YaRN in torch: its symbolic twin with both ramps, transformers, narrow types, and what it refuses."""

import math

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.rotary import PositionInterpolation, Rotary, YaRN
from lengthgen.theory.encodings import rotary
from tests.empirical.twins import HOSTILE, symbolic_scores

HEAD_DIM, TRAINED = 8, 4096
FEW = (0, 1, 257, 4095, 10**6)
"""Some of the hostile positions, as a score of the symbolic twin takes its time."""
ALPHA, BETA = sp.Integer(1), sp.Integer(32)


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def exact_gammas(ramp, head_dim=HEAD_DIM, trained=TRAINED):
    """gamma of every plane, exact."""
    thetas, trained = rotary.frequencies(head_dim), sp.Integer(trained)
    if ramp == "paper":
        return [
            rotary.yarn_ramp(rotary.yarn_turns(theta, trained_length=trained), alpha=ALPHA, beta=BETA)
            for theta in thetas
        ]
    first, last = rotary.yarn_index_range(head_dim, 10000, trained_length=trained, alpha=ALPHA, beta=BETA)
    return [rotary.yarn_index_ramp(sp.Integer(plane), first=first, last=last) for plane in range(len(thetas))]


@pytest.mark.parametrize(("scale", "ramp"), [(1, "paper"), (16, "paper"), (16, "code")])
def test_it_is_its_symbolic_twin_at_hostile_positions(scale, ramp):
    q, k = content(0, 2, 1, 1, len(FEW), HEAD_DIM)
    encoding = YaRN(head_dim=HEAD_DIM, scale=scale, trained_length=TRAINED, ramp=ramp)
    turned_q, turned_k = encoding.rotate(q, k, torch.tensor(FEW))
    planes = [
        {rotary.FREQUENCY: theta, rotary.SHRINK: sp.Rational(1, scale), rotary.YARN_KEPT: gamma}
        for theta, gamma in zip(rotary.frequencies(HEAD_DIM), exact_gammas(ramp), strict=True)
    ]
    expected = symbolic_scores(rotary.YARN, planes, q[0, 0], k[0, 0], FEW)
    seen = ~expected.isnan()
    # An angle of 10^6 in float64 is off by a few times 10^6 eps, and so is its cosine; a score by that times |q| |k|,
    # and by the square of the factor on both.
    budget = 4e6 * 2.2e-16 * (HEAD_DIM * encoding.magnitude()) ** 2
    scores = (turned_q @ turned_k.transpose(-1, -2))[0, 0]
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=budget)


@pytest.mark.parametrize(("head_dim", "trained"), [(128, 4096), (64, 2048), (8, 64), (128, 32768)])
@pytest.mark.parametrize("ramp", ["paper", "code"])
def test_its_shares_are_those_of_the_symbolic_ramps(head_dim, trained, ramp):
    shares = YaRN(head_dim=head_dim, scale=2, trained_length=trained, ramp=ramp).gamma()
    expected = torch.tensor([float(gamma) for gamma in exact_gammas(ramp, head_dim, trained)], dtype=torch.float64)
    torch.testing.assert_close(shares, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("head_dim", "trained"), [(128, 4096), (64, 2048), (8, 64), (128, 32768)])
@pytest.mark.parametrize("scale", [1.0, 16.0])
def test_with_the_ramp_of_the_code_it_is_that_of_transformers(scale, head_dim, trained):
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=head_dim,
        num_attention_heads=1,
        max_position_embeddings=int(trained * scale),
        rope_parameters={
            "rope_type": "yarn",
            "rope_theta": 10000.0,
            "factor": scale,
            "original_max_position_embeddings": trained,
        },
    )
    theirs, magnitude = ROPE_INIT_FUNCTIONS["yarn"](config, "cpu")
    ours = YaRN(head_dim=head_dim, scale=scale, trained_length=trained, ramp="code")
    # Theirs are powers in float32 (see the test of interpolation), and gamma is off by eps, up to s times theta'.
    torch.testing.assert_close(ours.frequencies(1), theirs.double(), rtol=(12 + 2 * scale) * 6e-8, atol=0)
    assert magnitude == pytest.approx(ours.magnitude(), rel=1e-15)


def test_its_ends_are_rope_and_position_interpolation():
    frequencies = YaRN(head_dim=128, scale=8, trained_length=TRAINED).frequencies(1)
    gamma = YaRN(head_dim=128, scale=8, trained_length=TRAINED).gamma()
    plain, divided = Rotary(head_dim=128).frequencies(1), PositionInterpolation(head_dim=128, scale=8).frequencies(1)
    assert (gamma == 1).any() and (gamma == 0).any()
    assert torch.equal(frequencies[gamma == 1], plain[gamma == 1])
    assert torch.equal(frequencies[gamma == 0], divided[gamma == 0])


def test_its_two_ramps_differ_most_at_plane_30():
    paper, code = (YaRN(head_dim=128, scale=8, trained_length=TRAINED, ramp=ramp).gamma() for ramp in ("paper", "code"))
    gaps = (paper - code).abs()
    assert gaps.argmax() == 30
    assert gaps.max() == pytest.approx(0.367, abs=5e-4)


def test_at_scale_one_it_is_rope():
    q, k = content(1, 2, 1, 2, len(HOSTILE), HEAD_DIM)
    positions = torch.tensor(HOSTILE)
    rotated = YaRN(head_dim=HEAD_DIM, scale=1, trained_length=TRAINED).rotate(q, k, positions)
    # Blended frequencies are off by an eps or two, angles by 10^6 times that.
    torch.testing.assert_close(rotated, Rotary(head_dim=HEAD_DIM).rotate(q, k, positions), rtol=0, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_stay_within_their_budget(dtype):
    """Rounded are the cosine, each product and the sum in float32, and the result: the budget at any position."""
    positions = torch.tensor(HOSTILE)
    q, k = content(2, 2, 1, 1, len(HOSTILE), HEAD_DIM).to(dtype)
    encoding = YaRN(head_dim=HEAD_DIM, scale=16, trained_length=TRAINED)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    turned = zip(encoding.rotate(q, k, positions), encoding.rotate(q.double(), k.double(), positions), strict=True)
    for (narrow, wide), vectors in zip(turned, (q, k), strict=True):
        size = encoding.magnitude() * vectors.double().unflatten(-1, (-1, 2)).norm(dim=-1).repeat_interleave(2, -1)
        assert ((narrow.double() - wide).abs() <= 1.01 * size * (3 * 2**0.5 * single + last)).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"scale": 0.5}, "scale must be a finite number, at least 1"),
        ({"scale": math.nan}, "scale must be a finite number, at least 1"),
        ({"trained_length": 0}, "trained_length must be at least 1, not 0"),
        ({"alpha": 0}, "0 < alpha < beta"),
        ({"alpha": 32}, "0 < alpha < beta"),
        ({"beta": math.inf}, "0 < alpha < beta"),
        ({"alpha": math.nan}, "0 < alpha < beta"),
        ({"ramp": "papre"}, "ramp must be 'paper' or 'code', not 'papre'"),
        ({"ramp": "code", "base": 1.0}, "needs a base above 1, not 1.0"),
        ({"ramp": "code", "trained_length": 4}, "fall from plane 0 to plane 0: trained_length = 4"),
        ({"ramp": "code", "base": 1.5}, "fall from plane 29 to plane 7: trained_length = 4096"),
    ],
)
def test_bad_parameters_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        YaRN(**{"head_dim": HEAD_DIM, "trained_length": TRAINED} | wrong)
