"""NTK-aware scaling and its dynamic form in torch: their symbolic twins, transformers, caches and batches."""

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.rotary import DynamicNTK, NTKAware, Rotary
from lengthgen.theory.encodings import rotary
from tests.empirical.twins import HOSTILE, symbolic_scores

HEAD_DIM, TRAINED = 6, 256
FEW = (0, 1, 257, 4095, 10**6)
"""Some of the hostile positions, as a score of the symbolic twin takes its time."""
# An angle of 10^6 in float64 is off by a few times 10^6 eps (a factor s^-w by w ln s / s^w <= 1/e times that), and so
# is its cosine; a score by that times |q| |k|.
SCORE = {"rtol": 0, "atol": 4e6 * 2.2e-16 * HEAD_DIM**2}


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def scores(encoding, q, k, positions):
    q, k = encoding.rotate(q, k, positions)
    return q @ k.transpose(-1, -2)


def shares():
    return [rotary.ntk_share(sp.Integer(plane), head_dim=sp.Integer(HEAD_DIM)) for plane in range(HEAD_DIM // 2)]


@pytest.mark.parametrize("scale", [1, 32])
def test_it_is_its_symbolic_twin_at_hostile_positions(scale):
    q, k = content(0, 2, 1, 1, len(FEW), HEAD_DIM)
    score_matrix = scores(NTKAware(head_dim=HEAD_DIM, scale=scale), q, k, torch.tensor(FEW))[0, 0]
    planes = [
        {rotary.FREQUENCY: theta, rotary.NTK_FACTOR: rotary.ntk_factor(share, scale=sp.Integer(scale))}
        for theta, share in zip(rotary.frequencies(HEAD_DIM), shares(), strict=True)
    ]
    expected = symbolic_scores(rotary.NTK, planes, q[0, 0], k[0, 0], FEW)
    seen = ~expected.isnan()
    torch.testing.assert_close(score_matrix[seen], expected[seen], **SCORE)


@pytest.mark.parametrize(
    ("positions", "factor"), [(FEW, 1), (FEW, 4), ((0, 100, TRAINED - 1), 4), ((0, 100, TRAINED), 4)]
)
def test_the_dynamic_form_is_its_symbolic_twin(positions, factor):
    q, k = content(1, 2, 1, 1, len(positions), HEAD_DIM)
    encoding = DynamicNTK(head_dim=HEAD_DIM, trained_length=TRAINED, factor=factor)
    score_matrix = scores(encoding, q, k, torch.tensor(positions))[0, 0]
    scale = sp.Symbol("s")
    planes = [
        {
            rotary.FREQUENCY: theta,
            rotary.NTK_FACTOR_AT: sp.Lambda(scale, rotary.ntk_factor(share, scale=scale)),
            rotary.NTK_TRAINED_LENGTH: sp.Integer(TRAINED),
            rotary.NTK_GROWTH: sp.Integer(factor),
        }
        for theta, share in zip(rotary.frequencies(HEAD_DIM), shares(), strict=True)
    ]
    expected = symbolic_scores(rotary.DYNAMIC_NTK, planes, q[0, 0], k[0, 0], positions)
    seen = ~expected.isnan()
    torch.testing.assert_close(score_matrix[seen], expected[seen], **SCORE)


@pytest.mark.parametrize("scale", [1, 2, 16])
def test_its_frequencies_are_those_of_the_scaled_base(scale):
    expected = [float(theta) for theta in rotary.ntk_frequencies(HEAD_DIM, 10000, scale=sp.Integer(scale))]
    frequencies = NTKAware(head_dim=HEAD_DIM, scale=scale).frequencies(1)
    torch.testing.assert_close(frequencies, torch.tensor(expected, dtype=torch.float64), rtol=1e-14, atol=0)


@pytest.mark.parametrize("length", [1, 4096, 4097, 5000, 32768])
@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_the_dynamic_frequencies_are_those_of_transformers(factor, length):
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=64,
        num_attention_heads=1,
        max_position_embeddings=4096,
        rope_parameters={"rope_type": "dynamic", "rope_theta": 10000.0, "factor": factor},
    )
    theirs, magnitude = ROPE_INIT_FUNCTIONS["dynamic"](config, "cpu", seq_len=length)
    ours = DynamicNTK(head_dim=64, trained_length=4096, factor=factor)
    # Theirs are powers in float32: the exponent is off by eps/2 of itself, which the logarithm of the base multiplies.
    torch.testing.assert_close(ours.frequencies(length), theirs.double(), rtol=16 * 6e-8, atol=0)
    assert magnitude == ours.magnitude() == 1


def test_up_to_the_trained_length_the_dynamic_form_is_rope():
    q, k = content(2, 2, 1, 1, TRAINED, HEAD_DIM)
    positions = torch.arange(TRAINED)
    rotated = DynamicNTK(head_dim=HEAD_DIM, trained_length=TRAINED, factor=4).rotate(q, k, positions)
    for ours, theirs in zip(rotated, Rotary(head_dim=HEAD_DIM).rotate(q, k, positions), strict=True):
        assert torch.equal(ours, theirs)


def test_keys_turned_when_they_arrived_score_otherwise():
    length = 4 * TRAINED
    q, k = content(3, 2, 1, 1, length, HEAD_DIM)
    positions, encoding = torch.arange(length), DynamicNTK(head_dim=HEAD_DIM, trained_length=TRAINED)
    last = scores(encoding, q, k, positions)[0, 0, -1]
    early = TRAINED - 1
    turned_q = encoding.rotate(q, k, positions)[0][0, 0, -1]
    cached = encoding.rotate(q[:, :, : early + 1], k[:, :, : early + 1], positions[: early + 1])[1][0, 0, early]
    assert (turned_q @ cached - last[early]).abs() > 0.1


def test_rows_of_a_batch_have_lengths_of_their_own():
    q, k = content(4, 2, 3, 2, 5, HEAD_DIM)
    positions = torch.stack([torch.arange(5), torch.arange(5) + 400, torch.arange(5) + 9])
    encoding = DynamicNTK(head_dim=HEAD_DIM, trained_length=8)
    together = encoding.rotate(q, k, positions)
    for row in range(3):
        alone = encoding.rotate(q[row : row + 1], k[row : row + 1], positions[row])
        for batched, expected in zip(together, alone, strict=True):
            assert torch.equal(batched[row : row + 1], expected)


def test_gradients_pass_through_a_batch():
    q = content(5, 2, 1, 3, HEAD_DIM).requires_grad_()
    encoding = DynamicNTK(head_dim=HEAD_DIM, trained_length=2)
    turned, _ = encoding.rotate(q, q.detach(), torch.stack([torch.arange(3), torch.arange(3) + 5]))
    turned.square().sum().backward()
    torch.testing.assert_close(q.grad, 2 * q.detach(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("encoding", [NTKAware(head_dim=HEAD_DIM), DynamicNTK(head_dim=HEAD_DIM, trained_length=64)])
def test_narrow_types_stay_within_their_budget(encoding, dtype):
    """Rounded are the cosine, each product and the sum in float32, and the result: the budget at any position."""
    positions = torch.tensor(HOSTILE)
    q, k = content(6, 2, 1, 1, len(HOSTILE), HEAD_DIM).to(dtype)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    turned = zip(encoding.rotate(q, k, positions), encoding.rotate(q.double(), k.double(), positions), strict=True)
    for (narrow, wide), vectors in zip(turned, (q, k), strict=True):
        size = vectors.double().unflatten(-1, (-1, 2)).norm(dim=-1).repeat_interleave(2, -1)
        assert ((narrow.double() - wide).abs() <= 1.01 * size * (3 * 2**0.5 * single + last)).all()


@pytest.mark.parametrize("make", [NTKAware, lambda head_dim: DynamicNTK(head_dim=head_dim, trained_length=4)])
def test_a_single_plane_is_refused(make):
    with pytest.raises(ValueError, match="head_dim must be above 2"):
        make(head_dim=2)


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf")])
def test_a_factor_that_is_no_positive_number_is_refused(factor):
    with pytest.raises(ValueError, match="factor must be a positive finite number"):
        DynamicNTK(head_dim=4, trained_length=8, factor=factor)


def test_a_trained_length_of_nothing_is_refused():
    with pytest.raises(ValueError, match="trained_length must be at least 1, not 0"):
        DynamicNTK(head_dim=4, trained_length=0)


@pytest.mark.parametrize("encoding", [NTKAware(head_dim=4), DynamicNTK(head_dim=4, trained_length=1)])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("length", [0, 1])
def test_short_sequences(encoding, batched, length):
    q = torch.ones(2, 1, length, 4)
    positions = torch.arange(length).repeat(2, 1) if batched else torch.arange(length)
    turned, _ = encoding.rotate(q, q, positions)
    assert torch.equal(turned, q)
