"""HoPE in torch: its symbolic twin, the formula pair by pair, narrow types, and what overflows in the paper's form."""

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.rotary import HoPE, light_cone
from lengthgen.theory.encodings import hope, rotary
from tests.empirical.twins import HOSTILE, exact, symbolic_scores

HEAD_DIM = 6
UNIT = 2.0**-53


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def laws(encoding):
    """The rate and the margin of each plane, exact but for the margin, which is the module's own float64."""
    largest, margin = max(rotary.frequencies(HEAD_DIM), key=float), sp.Rational(encoding.margin().item())
    return [(rate, largest + margin - rate) for rate in rotary.frequencies(HEAD_DIM)]


def symbolic_law(encoding, q_C, k_C, offset):
    """Score from the distance, the only form that can be evaluated at far positions, rounded once."""
    q_C, k_C = [[sp.Rational(value) for value in content] for content in (q_C, k_C)]
    pairs = [slice(start, start + 2) for start in range(0, HEAD_DIM, 2)]
    return exact(
        sum(
            hope.light_cone_score(q_C[pair], k_C[pair], offset=sp.Integer(offset), rate=rate, damping=rate + margin)
            for pair, (rate, margin) in zip(pairs, laws(encoding), strict=True)
        )
    )


def channel_sizes(encoding, q, k, query_positions, key_positions):
    """float64 [B, H, J, I]: the sum of the sizes of the 2 x C/2 channels, each damped."""
    distance = (query_positions[..., :, None] - key_positions[..., None, :]).double()
    decay = torch.exp(-encoding.decay_rates() * distance.clamp(min=0)[..., None]) * (distance >= 0)[..., None]
    u, v = light_cone(q.double()).abs() / 2, light_cone(k.double()).abs()
    return (u[..., :, None, :] * v[..., None, :, :] * decay).sum(-1)


@pytest.mark.parametrize("damping", [1.1, 1.0001, 3.0])
def test_it_is_its_symbolic_law_at_hostile_positions(damping):
    encoding, positions = HoPE(head_dim=HEAD_DIM, damping=damping), torch.tensor(HOSTILE)
    q, k = content(0, 2, 1, 1, len(HOSTILE), HEAD_DIM)
    scores = encoding.scores(q, k, positions, positions)[0, 0]
    bound = (light_cone(q).abs().max() / 2 * light_cone(k).abs().max() * HEAD_DIM).item()
    for row, j in enumerate(HOSTILE):
        for column, i in enumerate(HOSTILE[: row + 1]):
            expected = symbolic_law(encoding, q[0, 0, row].tolist(), k[0, 0, column].tolist(), j - i)
            # An exponent x is off by 4 x units, so e^-x by 4 x e^-x < 2 units; coordinates, products, sums: C + 8.
            assert abs(scores[row, column].item() - expected) <= (HEAD_DIM + 10) * UNIT * bound, (j, i)


def test_it_is_its_symbolic_twin():
    """The twin's absolute factors cancel to 40 digits only while positions are small."""
    encoding, near = HoPE(head_dim=HEAD_DIM).double(), (0, 1, 2, 7, 11)
    q, k = content(1, 2, 1, 1, len(near), HEAD_DIM)
    planes = [{hope.RATE: rate, hope.MARGIN: margin} for rate, margin in laws(encoding)]
    expected = symbolic_scores(hope.HOPE, planes, q[0, 0], k[0, 0], near)
    scores = encoding.scores(q, k, torch.tensor(near), torch.tensor(near))[0, 0]
    seen = ~expected.isnan()
    bound = light_cone(q).abs().max() / 2 * light_cone(k).abs().max() * HEAD_DIM
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=(HEAD_DIM + 10) * UNIT * bound.item())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_stay_within_their_budget(dtype):
    """Coordinates of query and key, two decays, their products and the sum of C in float32; one rounding to dtype."""
    positions = torch.cat((torch.arange(40), torch.tensor([500, 1024, 4095, 10**6])))
    q, k = content(2, 2, 2, 3, len(positions), HEAD_DIM).to(dtype)
    encoding = HoPE(head_dim=HEAD_DIM)
    wide = encoding.scores(q.double(), k.double(), positions, positions)
    narrow = encoding.scores(q, k, positions, positions)
    assert narrow.dtype == dtype
    sizes = channel_sizes(encoding, q, k, positions, positions)
    inner, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    budget = 1.01 * (sizes * (HEAD_DIM + 8) * inner + wide.abs() * last) + 100 * torch.finfo(torch.float32).tiny
    assert ((narrow.double() - wide).abs() <= budget).all()


def test_float32_is_right_where_absolute_factors_overflow():
    """Key factors e^(2.1 i) leave float32 at position 43 (claim hope-9)."""
    encoding = HoPE(head_dim=2, learned=False)
    q, k = torch.tensor([0.75, 0.25]).expand(1, 1, 2, 2), torch.tensor([0.5, -0.375]).expand(1, 1, 2, 2)
    for start in (0, 15, 43, 339, 10**6):
        positions = torch.tensor([start, start + 1])
        scores = encoding.scores(q, k, positions, positions)[0, 0]
        torch.testing.assert_close(scores, torch.tensor([[0.28125, 0.0], [0.0833397, 0.28125]]), rtol=1e-6, atol=0)


def test_only_distances_matter_to_the_last_bit():
    encoding, positions = HoPE(head_dim=HEAD_DIM), torch.arange(70)
    q, k = content(3, 2, 1, 2, 70, HEAD_DIM, dtype=torch.float32)
    here = encoding.scores(q, k, positions, positions)
    assert torch.equal(encoding.scores(q, k, positions + 10**6, positions + 10**6), here)


def test_the_last_queries_score_as_they_do_among_all():
    encoding, positions = HoPE(head_dim=HEAD_DIM), torch.arange(50)
    q, k = content(4, 2, 1, 2, 50, HEAD_DIM)
    all_scores = encoding.scores(q, k, positions, positions)
    last = encoding.scores(q[:, :, -3:], k, positions[-3:], positions)
    torch.testing.assert_close(last, all_scores[:, :, -3:], rtol=1e-13, atol=1e-13)


def test_a_key_after_the_query_scores_nothing():
    q, k = content(5, 2, 1, 1, 40, HEAD_DIM)
    scores = HoPE(head_dim=HEAD_DIM).scores(q, k, torch.arange(40), torch.arange(40))
    assert (scores.triu(1) == 0).all()


def test_damping_starts_where_it_is_put_and_stays_above_every_theta():
    encoding = HoPE(head_dim=HEAD_DIM, damping=1.25)
    assert encoding.margin().item() == pytest.approx(0.25, rel=1e-6)
    for raw in (-80.0, -1.0, 0.0, 50.0):
        with torch.no_grad():
            encoding.raw_margin.fill_(raw)
        assert (encoding.decay_rates() > 0).all()


def test_a_margin_that_is_tiny_beside_theta_is_kept():
    """theta' - theta, formed from theta' = 1 + 1e-12 in float32, would be 0."""
    rates = HoPE(head_dim=HEAD_DIM, damping=1 + 1e-12, learned=False).decay_rates()
    assert rates[0].item() == pytest.approx(1e-12, rel=1e-3)


def test_one_number_is_learned_or_none():
    assert sum(parameter.numel() for parameter in HoPE(head_dim=8).parameters()) == hope.HOPE.learned
    assert not list(HoPE(head_dim=8, learned=False).parameters())


def test_a_fixed_damping_survives_half_precision():
    fixed = HoPE(head_dim=HEAD_DIM, damping=1.1, learned=False)
    before = fixed.decay_rates()
    assert torch.equal(fixed.to(torch.bfloat16).decay_rates(), before)
    rates = HoPE(head_dim=HEAD_DIM, damping=1.1).double().decay_rates()
    torch.testing.assert_close(rates, before, rtol=1e-6, atol=0)


def test_gradients_of_content_and_damping():
    encoding, positions = HoPE(head_dim=4).double(), torch.arange(20)
    q, k = (tensor.requires_grad_() for tensor in content(6, 2, 1, 1, 20, 4))

    def scores(q, k, _):
        return encoding.scores(q, k, positions, positions)

    # gradcheck moves the parameter in place.
    assert torch.autograd.gradcheck(scores, (q, k, encoding.raw_margin))


@pytest.mark.parametrize("damping", [1.0, 0.5, -3.0, float("nan"), float("inf")])
def test_a_damping_not_above_every_theta_is_refused(damping):
    with pytest.raises(ValueError, match="damping must be a finite number above the largest rate 1, not"):
        HoPE(head_dim=4, damping=damping)


def test_the_largest_theta_is_that_of_the_base():
    with pytest.raises(ValueError, match="above the largest rate 10, not 2"):
        HoPE(head_dim=4, base=0.01, damping=2.0)


def test_a_wrong_width_is_refused():
    q = torch.zeros(1, 1, 3, 6)
    with pytest.raises(ValueError, match="queries are 6 wide, not head_dim = 4"):
        HoPE(head_dim=4).scores(q, q, torch.arange(3), torch.arange(3))
