"""T5's bias in torch: its symbolic twins, transformers and x-transformers, exact bucket edges, FlexAttention."""

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.biases import T5
from lengthgen.theory.encodings import biases
from lengthgen.theory.relation import RelationError
from tests.empirical.twins import HOSTILE, symbolic_bias

TWINS = {False: biases.T5, True: biases.T5_BIDIRECTIONAL}


def make_t5(heads, seed=0, **parameters):
    torch.manual_seed(seed)
    return T5(heads=heads, **parameters)


def buckets_of(offsets, **parameters):
    """The bucket of each offset j - i, read off a table that holds the buckets' own numbers."""
    encoding = T5(heads=1, **parameters)
    with torch.no_grad():
        encoding.weights.copy_(torch.arange(float(encoding.weights.shape[1])))
    return encoding.bias(offsets, torch.tensor([0]))[0, :, 0].long()


@pytest.mark.parametrize("bidirectional", [False, True])
def test_it_is_its_symbolic_twin_at_hostile_positions(bidirectional):
    positions, encoding = torch.tensor(HOSTILE), make_t5(2, bidirectional=bidirectional).double()
    bias = encoding.bias(positions, positions, dtype=torch.float64)
    for head in range(2):
        numbers = encoding.weights[head].tolist()
        weights = {biases.T5_WEIGHTS[bucket]: sp.Rational(weight) for bucket, weight in enumerate(numbers)}
        expected = symbolic_bias(TWINS[bidirectional], weights, HOSTILE)
        seen = ~expected.isnan()
        assert torch.equal(bias[head][seen], expected[seen])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_keys_after_the_query_have_the_twins_buckets_too(bidirectional):
    offsets = torch.arange(-300, 301)
    twin = biases.t5_bidirectional_bucket if bidirectional else biases.t5_bucket
    expected = [int(twin(sp.Integer(offset))) for offset in offsets.tolist()]
    assert buckets_of(offsets, bidirectional=bidirectional).tolist() == expected


@pytest.mark.parametrize("bidirectional", [False, True])
def test_transformers_agrees(bidirectional):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(num_heads=4, is_decoder=not bidirectional)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = make_t5(4, bidirectional=bidirectional)
    with torch.no_grad():
        theirs.relative_attention_bias.weight.copy_(ours.weights.T)
    positions = torch.arange(400)
    assert torch.equal(ours.bias(positions, positions), theirs.compute_bias(400, 400)[0])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_x_transformers_agrees(bidirectional):
    from x_transformers.x_transformers import RelativePositionBias

    theirs = RelativePositionBias(1.0, causal=not bidirectional, heads=3)
    ours = make_t5(3, bidirectional=bidirectional)
    with torch.no_grad():
        theirs.relative_attention_bias.weight.copy_(ours.weights.T)
    positions = torch.arange(200)
    assert torch.equal(ours.bias(positions, positions), theirs(200, 200))


@pytest.mark.parametrize(
    ("buckets", "longest", "starts"),
    [(32, 128, []), (64, 128, []), (32, 2048, []), (36, 50, [30]), (48, 81, [36, 54]), (54, 125, [45])],
)
def test_where_transformers_may_differ_a_bucket_starts_exactly(buckets, longest, starts):
    """Float32 logarithms may put a distance at the start of a bucket into the bucket before: e^(m-k) M^k = D^m."""
    from transformers.models.t5.modeling_t5 import T5Attention

    exact = buckets // 2
    coarse = buckets - exact
    exact_starts = {
        distance
        for distance in range(exact + 1, longest)
        if any(distance**coarse == longest**k * exact ** (coarse - k) for k in range(1, coarse))
    }
    assert set(starts) <= exact_starts
    offsets = torch.arange(-2 * longest, 2 * longest)
    ours = buckets_of(offsets, buckets=buckets, longest=longest)
    theirs = T5Attention._relative_position_bucket(
        -offsets, bidirectional=False, num_buckets=buckets, max_distance=longest
    )
    apart = ours != theirs
    assert set(offsets[apart].tolist()) <= exact_starts
    assert torch.equal(theirs[apart], ours[apart] - 1)


def test_a_long_distance_is_not_rounded_on_its_way_to_the_bucket():
    far = torch.tensor([2**53 + 1, 10**15])
    assert buckets_of(far).tolist() == [31, 31]


def test_nothing_but_the_weights_is_stored():
    assert list(T5(heads=2).state_dict()) == ["weights"]


def test_weights_start_small():
    weights = make_t5(100).weights
    # The deviation of 3200 draws is within 5 of its own deviations, 1 / sqrt(2 n), of 0.02.
    assert abs(weights.std() / 0.02 - 1) < 5 / (2 * weights.numel()) ** 0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_read_the_same_rows(dtype):
    encoding, positions = make_t5(3), torch.tensor(HOSTILE)
    wide = encoding.bias(positions, positions, dtype=torch.float64)
    assert torch.equal(encoding.bias(positions, positions, dtype=dtype), wide.to(dtype))
    rounded = make_t5(3).to(dtype)
    assert torch.equal(rounded.bias(positions, positions, dtype=dtype), wide.to(dtype))


def test_every_row_that_is_used_gets_a_gradient():
    positions = torch.arange(200)
    for bidirectional, unused in ((False, []), (True, [16])):
        encoding = make_t5(1, bidirectional=bidirectional)
        encoding.bias(positions, positions).sum().backward()
        assert (encoding.weights.grad[0] == 0).nonzero().flatten().tolist() == unused


@pytest.mark.parametrize(
    "parameters", [{"buckets": 1}, {"longest": 16}, {"longest": 8, "bidirectional": True}, {"buckets": 2, "longest": 0}]
)
def test_buckets_that_are_none_are_refused(parameters):
    with pytest.raises(RelationError, match="T5 buckets need buckets >= 2"):
        T5(heads=1, **parameters)
