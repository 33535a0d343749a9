"""Decaying scores: the direct sum in float64, far positions, steep rates, narrow types, and orders that are refused."""

import math

import pytest
import torch

from lengthgen.empirical.encodings.decay import decayed_scores
from tests.empirical.twins import normal

WIDTH = 6
RATES = torch.tensor([0.0, 1e-6, 1e-3, 0.1, 1.0, 2.0], dtype=torch.float64)
LENGTHS = (1, 2, 15, 16, 17, 63, 111)


def direct(q, k, rates, query_positions, key_positions):
    """Return the formula for all pairs and channels at once, in float64, and the sum of its terms' sizes."""
    q, k = q.double()[..., :, None, :], k.double()[..., None, :, :]
    distance = (query_positions[..., :, None] - key_positions[..., None, :]).double()
    decay = torch.exp(-rates * distance.clamp(min=0)[..., None]) * (distance >= 0)[..., None]
    terms = q * k * (decay if distance.ndim == 2 else decay[:, None])
    return terms.sum(-1), terms.abs().sum(-1)


def budget(sizes, dtype, *, width):
    """Error bound: each term has two factors, of an exponential and a product rounded once; sums have `width` terms.

    All in float32 at least; then one rounding to dtype. What underflows is less than the least normal number.
    """
    wide = torch.promote_types(dtype, torch.float32)
    inner, last = torch.finfo(wide).eps / 2, torch.finfo(dtype).eps / 2
    return 1.01 * sizes * ((width + 5) * inner + last) + 100 * torch.finfo(torch.float32).tiny


def jumps(length, longest):
    """Positions that go up by steps of every size to `longest`, some repeated."""
    steps = torch.rand(length, generator=torch.Generator().manual_seed(length), dtype=torch.float64) ** 8
    return (steps.cumsum(0) / steps.sum() * longest).long()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("longest", [None, 300, 10**6])
def test_it_is_the_direct_sum(length, dtype, longest):
    positions = torch.arange(length) if longest is None else jumps(length, longest)
    q, k = normal(0, 2, 2, 3, length, WIDTH).to(dtype)
    scores = decayed_scores(q, k, RATES, positions, positions)
    right, sizes = direct(q, k, RATES, positions, positions)
    assert scores.dtype == dtype and scores.shape == (2, 3, length, length)
    # Exponents below 746, where float64 underflows, are off by 746 eps.
    slack = 1500 * 2**-53 * sizes
    assert ((scores.double() - right).abs() <= budget(sizes, dtype, width=WIDTH) + slack).all()


@pytest.mark.parametrize("length", [0, 1])
def test_short_sequences(length):
    q = torch.ones(1, 1, length, WIDTH)
    positions = torch.full((length,), 10**6)
    assert torch.equal(decayed_scores(q, q, RATES, positions, positions), torch.full((1, 1, length, length), 6.0))


@pytest.mark.parametrize(("queries", "keys"), [(1, 50), (3, 70), (50, 1), (70, 33), (0, 5), (5, 0)])
def test_queries_and_keys_need_not_be_the_same_positions(queries, keys):
    q, k = normal(2, 2, 2, queries, WIDTH), normal(3, 2, 2, keys, WIDTH)
    at_queries, at_keys = jumps(queries, 90), torch.arange(keys)
    scores = decayed_scores(q, k, RATES, at_queries, at_keys)
    torch.testing.assert_close(scores, direct(q, k, RATES, at_queries, at_keys)[0], rtol=1e-12, atol=1e-12)


def test_rows_have_positions_of_their_own():
    starts = torch.tensor([0, 0, 17, 10**6])
    positions = (torch.arange(80) - torch.tensor([[0], [31], [0], [79]])).clamp(min=0) + starts[:, None]
    q, k = normal(4, 2, 4, 2, 80, WIDTH)
    scores = decayed_scores(q, k, RATES, positions, positions)
    torch.testing.assert_close(scores, direct(q, k, RATES, positions, positions)[0], rtol=1e-12, atol=1e-12)
    for row in range(4):
        alone = decayed_scores(q[row : row + 1], k[row : row + 1], RATES, positions[row], positions[row])
        torch.testing.assert_close(scores[row : row + 1], alone, rtol=1e-12, atol=1e-12)


def test_gradients_are_those_of_the_direct_sum():
    positions = torch.arange(40)
    q, k = normal(6, 2, 1, 2, 40, WIDTH)
    weights = normal(7, 1, 2, 40, 40)
    gradients, expected = [], []
    for law, into in ((decayed_scores, gradients), (lambda *arguments: direct(*arguments)[0], expected)):
        leaves = [leaf.clone().requires_grad_() for leaf in (q, k, RATES)]
        (law(*leaves, positions, positions) * weights).sum().backward()
        into.extend(leaf.grad for leaf in leaves)
    torch.testing.assert_close(gradients, expected, rtol=1e-10, atol=1e-10)


FALLING = torch.tensor([[0, 1, 2, 3], [0, 9, 4, 5]])


@pytest.mark.parametrize(
    ("query_positions", "key_positions", "rate", "message"),
    [
        (FALLING, torch.arange(4), 1.0, "query positions must not decrease along the sequence: 4 follows 9"),
        (torch.arange(4), FALLING, 1.0, "key positions must not decrease along the sequence: 4 follows 9"),
        (torch.arange(4), torch.arange(4.0), 1.0, "positions must be integers"),
        *(
            (torch.arange(4), torch.arange(4), rate, f"rates must be finite and at least 0, not {rate}")
            for rate in (-0.1, math.nan, math.inf)
        ),
    ],
)
def test_positions_out_of_order_and_rates_that_grow_are_refused(query_positions, key_positions, rate, message):
    q, rates = torch.zeros(2, 1, 4, WIDTH), RATES.clone()
    rates[2] = rate
    with pytest.raises(ValueError, match=message):
        decayed_scores(q, q, rates, query_positions, key_positions)
