"""Sampled positions: distinct, sorted, uniform over all sets, from their generator alone; any encoding takes them."""

from collections import Counter
from math import comb

import pytest
import torch

from lengthgen.empirical.encodings.tensors import sample_positions
from lengthgen.theory.encodings import randomized


def sample(length, longest, seed=0):
    return sample_positions(length, longest=longest, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("length", "longest"), [(0, 0), (0, 5), (1, 1), (1, 9), (40, 2048), (2048, 2048)])
def test_positions_are_distinct_sorted_and_in_range(length, longest):
    positions = sample(length, longest)
    assert positions.dtype == torch.int64 and positions.shape == (length,)
    assert (positions.diff() > 0).all()
    assert ((positions >= 0) & (positions < longest)).all()
    assert length < longest or torch.equal(positions, torch.arange(length))


def test_every_set_is_alike_likely():
    length, longest, draws = 3, 6, 10_000
    generator = torch.Generator().manual_seed(1)
    counts = Counter(
        tuple(sample_positions(length, longest=longest, generator=generator).tolist()) for _ in range(draws)
    )
    assert set(counts) == set(randomized.draws(length=length, longest=longest))
    mean = draws / comb(longest, length)
    # Chi-squared with 19 degrees of freedom is above 60 with probability 4e-6.
    assert sum((count - mean) ** 2 / mean for count in counts.values()) < 60


def test_the_mean_of_each_token_is_that_of_the_symbolic_side():
    length, longest, draws = 4, 20, 5_000
    generator = torch.Generator().manual_seed(2)
    total = sum(sample_positions(length, longest=longest, generator=generator).double() for _ in range(draws))
    for rank, mean in enumerate((total / draws).tolist()):
        # A position is within 20, so its deviation is below 10 and the mean's below 0.15: five of them.
        assert abs(mean - randomized.expected_position(rank, length=length, longest=longest)) < 0.75


def test_consecutive_positions_start_anywhere_alike():
    generator = torch.Generator().manual_seed(4)
    drawn = [sample_positions(3, longest=6, generator=generator, consecutive=True) for _ in range(4_000)]
    assert all(torch.equal(positions, positions[0] + torch.arange(3)) for positions in drawn)
    counts = Counter(int(positions[0]) for positions in drawn)
    assert set(counts) == {0, 1, 2, 3}
    # Chi-squared with 3 degrees of freedom is above 30 with probability 1.4e-6.
    assert sum((count - 1_000) ** 2 / 1_000 for count in counts.values()) < 30
    assert torch.equal(sample_positions(6, longest=6, generator=generator, consecutive=True), torch.arange(6))


def test_the_generator_decides_all():
    assert torch.equal(sample(10, 100, seed=3), sample(10, 100, seed=3))
    assert not torch.equal(sample(10, 100, seed=3), sample(10, 100, seed=4))
    before = torch.random.get_rng_state()
    sample(10, 100)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(("length", "longest"), [(6, 5), (-1, 5)])
def test_more_tokens_than_positions_are_refused(length, longest):
    with pytest.raises(ValueError, match=rf"length {length} is not in 0\.\.{longest}"):
        sample(length, longest)
