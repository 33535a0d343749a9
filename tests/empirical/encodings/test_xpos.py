"""xPos in torch: its symbolic twin, the library in use, far positions, and narrow types."""

import math

import pytest
import torch

from lengthgen.empirical.encodings.rotary import Rotary, XPos
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.theory.encodings import rotary
from tests.empirical.encodings.test_rotary import LAYOUTS
from tests.empirical.twins import HOSTILE, exact, symbolic_scores

HEAD_DIM = 6


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def scores(encoding, q, k, positions):
    turned_q, turned_k = encoding.rotate(q, k, positions)
    return encoding.scores(turned_q, turned_k, positions, positions)


def test_it_is_its_symbolic_twin_at_hostile_positions():
    positions = torch.tensor(HOSTILE)
    q, k = content(0, 2, 1, 1, len(HOSTILE), HEAD_DIM)
    planes = [
        {rotary.FREQUENCY: frequency, rotary.XPOS_RATE: rotary.xpos_rate(plane, head_dim=HEAD_DIM)}
        for plane, frequency in enumerate(rotary.frequencies(HEAD_DIM))
    ]
    expected = symbolic_scores(rotary.XPOS, planes, q[0, 0], k[0, 0], HOSTILE)
    seen = ~expected.isnan()
    for layout, order in LAYOUTS.items():
        score_matrix = scores(XPos(head_dim=HEAD_DIM, layout=layout), q[..., order], k[..., order], positions)[0, 0]
        # An angle of 10^6 in float64 is off by 10^6 eps, and so is its cosine; a score by that times |q| |k|.
        torch.testing.assert_close(score_matrix[seen], expected[seen], rtol=0, atol=4e6 * 2.2e-16 * HEAD_DIM**2)
        assert (score_matrix[~seen] == 0).all()


def test_its_zetas_and_rates_are_those_of_its_symbolic_twin():
    encoding = XPos(head_dim=64)
    expected = [exact(rotary.xpos_rate(plane, head_dim=64)) for plane in range(32) for _ in (0, 1)]
    torch.testing.assert_close(encoding.rates(), torch.tensor(expected, dtype=torch.float64), rtol=1e-14, atol=0)
    assert math.isclose(encoding.zetas[0], 2 / 7, rel_tol=1e-15)


def test_rotary_embedding_torch_agrees():
    from rotary_embedding_torch import RotaryEmbedding

    length, head_dim = 64, 16
    q, k = content(1, 2, 2, 3, length, head_dim, dtype=torch.float32)
    library = RotaryEmbedding(dim=head_dim, use_xpos=True)
    their_q, their_k = library.rotate_queries_and_keys(q, k)
    theirs = (their_q @ their_k.transpose(-1, -2)).tril()
    ours = scores(XPos(head_dim=head_dim), q, k, torch.arange(length))
    # The library's angles, up to 64, are float32: off by 64 eps, and scores by that times |q| |k|.
    torch.testing.assert_close(ours, theirs, rtol=0, atol=64 * 1.2e-7 * head_dim)


def test_far_positions_are_finite_where_absolute_factors_are_not():
    positions = torch.arange(64) + 40_000
    q, k = content(2, 2, 1, 1, 64, HEAD_DIM, dtype=torch.float32)
    encoding = XPos(head_dim=HEAD_DIM)
    assert (encoding.rates() * positions[:, None]).exp().float().isinf().any()
    score_matrix = scores(encoding, q, k, positions)
    torch.testing.assert_close(
        score_matrix.double(), scores(encoding, q.double(), k.double(), positions), rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_stay_within_their_budget(dtype):
    """Budget of RoPE, then each factor, product and sum in float32, and the score rounded once."""
    positions = torch.tensor(HOSTILE)
    q, k = content(3, 2, 1, 2, len(HOSTILE), HEAD_DIM).to(dtype)
    encoding = XPos(head_dim=HEAD_DIM)
    right = scores(encoding, q.double(), k.double(), positions)
    score_matrix = scores(encoding, q, k, positions)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    sizes = q.double().norm(dim=-1)[..., :, None] * k.double().norm(dim=-1)[..., None, :]
    rotated = 2 * (3 * 2**0.5 * single + last)
    budget = 1.01 * 2**0.5 * sizes * (rotated + (HEAD_DIM + 5) * single) + last * right.abs()
    assert score_matrix.dtype == dtype
    assert ((score_matrix.double() - right).abs() <= 1.02 * budget).all()


def test_without_decay_it_is_rope():
    positions = torch.arange(30)
    q, k = content(4, 2, 1, 2, 30, HEAD_DIM)
    turned_q, turned_k = Rotary(head_dim=HEAD_DIM).rotate(q, k, positions)
    score_matrix = scores(XPos(head_dim=HEAD_DIM, scale_base=1e18), q, k, positions)
    torch.testing.assert_close(score_matrix, (turned_q @ turned_k.transpose(-1, -2)).tril(), rtol=0, atol=1e-13)


def test_a_common_shift_changes_no_score():
    positions = torch.arange(50)
    q, k = content(5, 2, 1, 2, 50, HEAD_DIM)
    encoding = XPos(head_dim=HEAD_DIM)
    here, there = (scores(encoding, q, k, positions + shift) for shift in (0, 10**6))
    torch.testing.assert_close(there, here, rtol=0, atol=4e6 * 2.2e-16 * HEAD_DIM**2)


def test_the_decoder_takes_it():
    torch.manual_seed(0)
    model = Decoder(symbols=5, width=12, layers=2, heads=2, encoding=XPos(head_dim=6)).double()
    tokens = torch.randint(5, (1, 2, 40))
    logits = model(tokens)
    assert torch.allclose(model(tokens[..., :17]), logits[:, :, :17], atol=1e-12)


@pytest.mark.parametrize("scale_base", [0.0, -1.0, float("nan"), float("inf")])
def test_a_scale_base_that_is_no_positive_number_is_refused(scale_base):
    with pytest.raises(ValueError, match="scale_base must be a positive finite number"):
        XPos(head_dim=4, scale_base=scale_base)


def test_positions_that_decrease_are_refused():
    q = torch.zeros(1, 1, 3, 4)
    with pytest.raises(ValueError, match="query positions must not decrease along the sequence: 1 follows 2"):
        scores(XPos(head_dim=4), q, q, torch.tensor([0, 2, 1]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("length", [0, 1])
def test_short_sequences_far_away(layout, length):
    q = torch.ones(1, 1, length, 4)
    score_matrix = scores(XPos(head_dim=4, layout=layout), q, q, torch.arange(length) + 10**6)
    torch.testing.assert_close(score_matrix, torch.full((1, 1, length, length), 4.0))
