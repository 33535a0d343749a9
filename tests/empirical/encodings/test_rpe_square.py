"""RPE-Square in torch: its double sum pair by pair, its symbolic twin, causality, batches, mapped models, bad input."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, vmap

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.rpe_square import RPESquare
from lengthgen.theory.learning import anchored
from lengthgen.theory.learning.anchored import AnchorAttention

B, D, H, LAYERS, LENGTH, INNER = 2, 5, 3, 2, 9, 4
WEIGHTS = ("of_query", "of_query_anchor", "of_key", "of_key_anchor")
POSITIONS = {
    "contiguous": [0, 1, 2, 3, 4, 5, 6],
    "with gaps": [0, 1, 4, 5, 8],
    "repeated": [2, 2, 3, 5, 5],
    "far away": [10**6, 10**6 + 3, 10**6 + 8],
    "negative": [-4, -1, 0, 2],
}


def draw(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def make_rpe_square(seed=0, **sizes):
    """RPE-Square with a large table, as the module starts with a small one."""
    torch.manual_seed(seed)
    encoding = RPESquare(
        **{"width": D, "heads": H, "layers": LAYERS, "length": LENGTH, "inner": INNER, **sizes}
    ).double()
    with torch.no_grad():
        encoding.table.normal_()
    return encoding


def softmax(logits):
    weights = [math.exp(logit) for logit in logits]
    return [weight / sum(weights) for weight in weights]


def anchor_law(x_LD, query_weights, key_weights, p):
    """Probability of each k <= p as the anchor of p."""
    return softmax([float((query_weights @ x_LD[p]) @ (key_weights @ x_LD[k])) for k in range(p + 1)])


def score(table, of_query, of_key, positions, j, i):
    """The double sum, term by term."""
    middle = len(table) // 2
    return sum(
        of_query[j][k] * of_key[i][m] * table[middle + (positions[j] - positions[k]) - (positions[i] - positions[m])]
        for k in range(j + 1)
        for m in range(i + 1)
    )


@pytest.mark.parametrize("kind", POSITIONS)
def test_it_is_the_double_sum_pair_by_pair(kind):
    positions, encoding = POSITIONS[kind], make_rpe_square()
    length = len(positions)
    x, at = draw(1, B, length, D), torch.tensor(positions)
    for layer in range(LAYERS):
        bias = encoding.bias(at, at, Content(layer=layer, x_BLD=x), dtype=torch.float64)
        assert bias.shape == (B, H, length, length) and bias.dtype == torch.float64
        w1, w2, w3, w4 = (getattr(encoding, name)[layer].detach() for name in WEIGHTS)
        for row in range(B):
            of_query = [anchor_law(x[row], w1, w2, p) for p in range(length)]
            of_key = [anchor_law(x[row], w3, w4, p) for p in range(length)]
            for head in range(H):
                table = encoding.table[layer, head].tolist()
                for j in range(length):
                    for i in range(j + 1):
                        expected = score(table, of_query, of_key, positions, j, i)
                        assert bias[row, head, j, i].item() == pytest.approx(expected, abs=1e-12)


def test_it_is_its_symbolic_twin():
    encoding, x, positions = make_rpe_square(), draw(2, 1, 7, D), torch.arange(7)
    w1, w2, w3, w4 = (getattr(encoding, name)[1].detach().numpy() for name in WEIGHTS)
    bias = encoding.bias(positions, positions, Content(layer=1, x_BLD=x), dtype=torch.float64)[0].detach().numpy()
    for head in range(H):
        expected = anchored.soft_scores(
            x[0].numpy(),
            encoding.table[1, head].detach().numpy(),
            query=AnchorAttention(query=w1, key=w2),
            key=AnchorAttention(query=w3, key=w4),
        )
        np.testing.assert_allclose(np.triu(bias[head].T), expected, atol=1e-12)


def test_sharp_anchors_make_it_the_table_at_the_index_of_unaligned_copy():
    """Tokens 0 are plain and 1, 2 are BOS and '=': the last special token draws all weight."""
    scale = 3
    kinds = torch.tensor([1, *[0] * scale, 2, *[0] * scale, 0])
    length = len(kinds)
    x = torch.cat((nn.functional.one_hot(kinds, 3), torch.arange(length)[:, None] / length), 1)[None].double()
    encoding = make_rpe_square(width=4, inner=1, layers=1)
    with torch.no_grad():
        for name in WEIGHTS:
            getattr(encoding, name).zero_()
        for query_name, key_name in (WEIGHTS[:2], WEIGHTS[2:]):
            getattr(encoding, query_name)[0, 0, :3] = 1
            getattr(encoding, key_name)[0, 0] = torch.tensor([0.0, 1000.0, 1000.0, 500.0])
    positions = torch.arange(length)
    bias = encoding.bias(positions, positions, Content(x_BLD=x), dtype=torch.float64)[0]
    anchors = [0] * (scale + 1) + [scale + 1] * (scale + 2)
    for j in range(length):
        for i in range(j + 1):
            index = (j - anchors[j]) - (i - anchors[i])
            torch.testing.assert_close(bias[:, j, i], encoding.table[0, :, LENGTH - 1 + index], atol=1e-9, rtol=0)


def test_a_token_does_not_see_the_future():
    encoding, x, positions = make_rpe_square(), draw(3, B, 8, D), torch.arange(8)
    changed = x.clone()
    changed[:, 5:] += 1
    before, after = (
        encoding.bias(positions, positions, Content(x_BLD=tokens), dtype=torch.float64) for tokens in (x, changed)
    )
    seen = torch.ones(8, 8, dtype=torch.bool).tril()
    torch.testing.assert_close(before[:, :, :5][..., seen[:5]], after[:, :, :5][..., seen[:5]], rtol=0, atol=1e-14)
    assert not torch.allclose(before[:, :, 5:][..., seen[5:]], after[:, :, 5:][..., seen[5:]])


@pytest.mark.parametrize("pads", [[5, 6, 7], [4, 4, 4]])
def test_filling_on_the_right_changes_nothing_before_it(pads):
    encoding, x, noise = make_rpe_square(), draw(4, B, 5, D), 50 * draw(5, B, 3, D)
    positions = torch.arange(5)
    alone = encoding.bias(positions, positions, Content(x_BLD=x), dtype=torch.float64)
    longer = torch.cat((positions, torch.tensor(pads)))
    bias = encoding.bias(longer, longer, Content(x_BLD=torch.cat((x, noise), 1)), dtype=torch.float64)
    torch.testing.assert_close(bias[..., :5, :5].tril(), alone.tril(), rtol=0, atol=1e-13)


def test_a_common_shift_of_all_positions_changes_nothing():
    encoding, content, positions = make_rpe_square(), Content(x_BLD=draw(6, B, 7, D)), torch.arange(7)
    here, there = (encoding.bias(positions + by, positions + by, content) for by in (0, 1000))
    assert torch.equal(here, there)


def test_a_batch_equals_its_members():
    encoding, x = make_rpe_square(), draw(7, B, 6, D)
    positions = torch.tensor([[0, 1, 2, 3, 4, 5], [3, 4, 6, 8, 9, 11]])
    together = encoding.bias(positions, positions, Content(x_BLD=x), dtype=torch.float64)
    for row in range(B):
        alone = encoding.bias(positions[row], positions[row], Content(x_BLD=x[row : row + 1]), dtype=torch.float64)
        torch.testing.assert_close(together[row : row + 1], alone, rtol=0, atol=1e-13)


@pytest.mark.parametrize("queries", [1, 3])
def test_the_last_queries_are_those_among_all(queries):
    encoding, content, positions = make_rpe_square(), Content(x_BLD=draw(8, B, 8, D)), torch.arange(8)
    full_bias = encoding.bias(positions, positions, content, dtype=torch.float64)
    last = encoding.bias(positions[-queries:], positions, content, dtype=torch.float64)
    torch.testing.assert_close(last, full_bias[:, :, -queries:], rtol=0, atol=1e-13)


class Bias(nn.Module):
    """The hook as the call of a module, as `functional_call` knows no methods."""

    def __init__(self, encoding):
        super().__init__()
        self.encoding = encoding

    def forward(self, positions, content):
        return self.encoding.bias(positions, positions, content, dtype=torch.float64)


def test_models_mapped_at_once_equal_each_alone():
    members = [make_rpe_square(seed) for seed in range(3)]
    x, positions = draw(9, 3, B, 7, D), torch.arange(7)
    numbers = {f"encoding.{name}": torch.stack([dict(member.named_parameters())[name] for member in members])
               for name, _ in members[0].named_parameters()}  # fmt: skip
    biases = vmap(lambda own, x: functional_call(Bias(members[0]), own, (positions, Content(layer=1, x_BLD=x))))(
        numbers, x
    )
    for model, member in enumerate(members):
        alone = member.bias(positions, positions, Content(layer=1, x_BLD=x[model]), dtype=torch.float64)
        torch.testing.assert_close(biases[model], alone, rtol=0, atol=1e-12)
    assert not torch.allclose(biases[0], biases[1])


def test_two_instances_share_nothing():
    first, second = make_rpe_square(0), make_rpe_square(1)
    content, positions = Content(x_BLD=draw(10, B, 6, D)), torch.arange(6)
    before = first.bias(positions, positions, content)
    with torch.no_grad():
        for parameter in second.parameters():
            parameter.add_(1)
    second.bias(positions, positions, content)
    assert torch.equal(first.bias(positions, positions, content), before)


def test_gradients():
    encoding, positions = make_rpe_square(layers=1, length=5), torch.arange(5)
    x = draw(11, 1, 5, D).requires_grad_()

    def bias(x, *_):
        return encoding.bias(positions, positions, Content(x_BLD=x), dtype=torch.float64).tril()

    assert torch.autograd.gradcheck(bias, (x, *encoding.parameters()))
    bias(x).square().sum().backward()
    for name, parameter in encoding.named_parameters():
        assert parameter.grad.abs().sum() > 0, name
    assert (encoding.table.grad != 0).all(), "every difference from -(length - 1) to length - 1 occurs"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_input_is_computed_wide(dtype):
    encoding, x, positions = make_rpe_square().to(dtype), draw(12, B, 7, D).to(dtype), torch.arange(7)
    wide = make_rpe_square()
    wide.load_state_dict({name: value.double() for name, value in encoding.state_dict().items()})
    bias = encoding.bias(positions, positions, Content(x_BLD=x))
    expected = wide.bias(positions, positions, Content(x_BLD=x.double()), dtype=torch.float64)
    assert bias.dtype == torch.float32
    # A few dozen roundings of float32, of numbers below 10; bfloat16 anywhere would be off by 1e-2.
    torch.testing.assert_close(bias.double(), expected, rtol=0, atol=1e-4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(encoding.bias(positions, positions, Content(x_BLD=x)), bias)


@pytest.mark.parametrize("length", [0, 1])
def test_short_sequences(length):
    positions = torch.arange(length)
    bias = make_rpe_square().bias(positions, positions, Content(x_BLD=draw(13, B, length, D)))
    assert bias.shape == (B, H, length, length) and bias.isfinite().all()


def test_it_is_made_with_the_numbers_that_it_says():
    encoding = RPESquare(width=64, heads=4, layers=2, length=500, inner=16)
    assert encoding.table.shape == (2, 4, 999)
    assert encoding.table.std().item() == pytest.approx(0.02, rel=0.05)
    for name in WEIGHTS:
        weight = getattr(encoding, name)
        assert weight.shape == (2, 16, 64) and weight.abs().max() <= 1 / 8
        assert weight.std().item() == pytest.approx(1 / 8 / 3**0.5, rel=0.05)


def test_content_that_does_not_fit_is_refused():
    encoding, positions, x = make_rpe_square(), torch.arange(6), draw(14, 1, 6, D)
    with pytest.raises(ValueError, match="the content has no x_BLD"):
        encoding.bias(positions, positions)
    with pytest.raises(ValueError, match="x has 6 tokens, but there are 5 key positions"):
        encoding.bias(positions[:5], positions[:5], Content(x_BLD=x))
    with pytest.raises(ValueError, match="the 2 queries are not the last 2 of the 6 tokens"):
        encoding.bias(positions[1:3], positions, Content(x_BLD=x))
    with pytest.raises(ValueError, match="positions must not decrease along the sequence"):
        encoding.bias(positions.flip(0), positions.flip(0), Content(x_BLD=x))
    with pytest.raises(ValueError, match="positions must be integers"):
        encoding.bias(positions.float(), positions, Content(x_BLD=x))


def test_tokens_farther_apart_than_the_table_knows_are_refused_and_never_clamped():
    encoding, x = make_rpe_square(), draw(15, 1, 2, D)
    encoding.bias(torch.tensor([0, LENGTH - 1]), torch.tensor([0, LENGTH - 1]), Content(x_BLD=x))
    for positions in ([0, LENGTH], [[0, 1], [5, 5 + LENGTH]]):
        with pytest.raises(
            ValueError, match=f"tokens {LENGTH} positions apart are farther than the table of length {LENGTH}"
        ):
            encoding.bias(torch.tensor(positions), torch.tensor(positions), Content(x_BLD=x))


@pytest.mark.parametrize("name", ["width", "heads", "layers", "length", "inner"])
def test_sizes_below_one_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not 0"):
        make_rpe_square(**{name: 0})
