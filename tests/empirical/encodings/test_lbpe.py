"""LBPE in torch: its definition pair by pair, the limit of sharp weights, causality, batches, mapped models, input."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.func import functional_call, vmap

from lengthgen.empirical.encodings import relations
from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.relations import LBPE, Relational

B, H, C, K, LAYERS = 3, 2, 4, 5, 2
HINTS = pytest.mark.parametrize("hint", [False, True])
POSITIONS = {"contiguous": [0, 1, 2, 3], "with gaps": [0, 3, 4, 90], "far away": [10**5, 10**5 + 1]}


def draw(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def make_lbpe(hint, seed=0, **choices):
    torch.manual_seed(seed)
    sizes = {"layers": LAYERS, "head_dim": C, "labels": K, "hinges": 3}
    return LBPE(scale_hint=hint, **{**sizes, **choices}).double()


def case(length, seed=1, layer=1):
    """Queries, keys and values as the content of a batch of three scales, and attention weights up to the query."""
    q, k, v = draw(seed, 3, B, H, length, C)
    content = Content(layer=layer, q_BHJC=q, k_BHIC=k, scales_B=torch.tensor([2, 9, 1]))
    return content, v


def logits(encoding, positions, content):
    bias = encoding.bias(positions, positions, content, dtype=torch.float64)
    scores = content.q_BHJC @ content.k_BHIC.transpose(-1, -2) / C**0.5 + bias
    return scores + torch.full(scores.shape[-2:], -torch.inf, dtype=torch.float64).triu(1)


def attended(encoding, positions, content, v):
    weights = logits(encoding, positions, content).softmax(-1)
    return weights @ v + encoding.values(weights, positions, positions, content)


def features(i, j, n):
    return [i, j, j - i, 2 * i - j] if n is None else [n, n - i, 2 * i - n, i, j, j - i, n - j]


def label_law(encoding, i, j, n):
    """Label weights p of one pair, in floats; i and j from 1 on."""
    g = encoding.levels.tolist()
    numbers = (number.tolist() for number in (encoding.slopes, encoding.offsets, encoding.heights))
    for feature, slopes, offsets, heights in zip(features(i, j, n), *numbers, strict=True):
        for slope, offset, height in zip(slopes, offsets, heights, strict=True):
            g = [level + max(0.0, slope * feature + offset) * step for level, step in zip(g, height, strict=True)]
    weights = [math.exp((number - max(g)) / encoding.temperature) for number in g]
    return [weight / sum(weights) for weight in weights]


@HINTS
@pytest.mark.parametrize("kind", POSITIONS)
@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_label_weights_are_the_network_of_the_features_pair_by_pair(hint, kind, temperature):
    encoding, at = make_lbpe(hint, temperature=temperature), torch.tensor(POSITIONS[kind])
    scales = torch.tensor([1, 7, 300])
    weights = encoding.label_weights(at, at, scales)
    # Some dozen roundings of logits that are about as large as the positions, divided by the temperature.
    close = {"rtol": 0, "atol": 100 * 2**-53 * (300 + at.max().item()) / temperature}
    for row, n in enumerate(scales.tolist()):
        for j, query in enumerate(at.tolist()):
            for i, key in enumerate(at.tolist()):
                law = label_law(encoding, key + 1, query + 1, n if hint else None)
                pair_weights = weights[row, j, i] if hint else weights[j, i]
                torch.testing.assert_close(pair_weights, torch.tensor(law, dtype=torch.float64), **close)


@HINTS
def test_shapes_of_positions_and_scales_broadcast(hint):
    encoding, at = make_lbpe(hint), torch.arange(4)
    one_scale, three_scales = torch.tensor(5), torch.tensor([5, 6, 7])
    each = torch.stack((at, at + 2, at + 9))
    assert encoding.label_weights(at, at, one_scale).shape == (4, 4, K)
    assert encoding.label_weights(at[-2:], at, one_scale).shape == (2, 4, K)
    assert encoding.label_weights(each, each, one_scale).shape == (3, 4, 4, K)
    together = encoding.label_weights(each, each, three_scales)
    for row in range(3):
        assert torch.equal(together[row], encoding.label_weights(each[row], each[row], three_scales[row]))
    assert encoding.label_weights(at, at, three_scales).shape == ((3, 4, 4, K) if hint else (4, 4, K))


@HINTS
def test_attention_equals_its_definition_pair_by_pair(hint):
    encoding, positions = make_lbpe(hint), torch.tensor([0, 1, 2, 5, 6])
    content, v = case(5)
    outputs = attended(encoding, positions, content, v)
    for row in range(B):
        n = content.scales_B[row].item() if hint else None
        for head in range(H):
            for j in range(5):
                laws = [label_law(encoding, p + 1, positions[j].item() + 1, n) for p in positions[: j + 1].tolist()]
                p = torch.tensor(laws, dtype=torch.float64)
                keys = content.k_BHIC[row, head, : j + 1] + p @ encoding.keys[1]
                values = v[row, head, : j + 1] + p @ encoding.vectors[1]
                weights = (keys @ content.q_BHJC[row, head, j] / C**0.5).softmax(0)
                torch.testing.assert_close(outputs[row, head, j], weights @ values, rtol=0, atol=1e-12)


@HINTS
def test_with_sharp_weights_it_is_the_relation_of_the_strongest_labels(hint):
    encoding, positions = make_lbpe(hint, temperature=1e-6), torch.arange(6)
    content, _ = case(6)
    p = encoding.label_weights(positions, positions, content.scales_B)
    assert p.amax(-1).min() > 1 - 1e-12
    relational = Relational(labels=K, layers=LAYERS, head_dim=C).double()
    with torch.no_grad():
        relational.keys.copy_(encoding.keys)
        relational.vectors.copy_(encoding.vectors)
    labels = p.argmax(-1).expand(B, 6, 6)
    assert labels.unique().numel() > 1
    content = replace(content, labels_BJI=labels)
    bias = relational.bias(positions, positions, content, dtype=torch.float64)
    torch.testing.assert_close(encoding.bias(positions, positions, content, dtype=torch.float64), bias)
    weights = logits(encoding, positions, content).softmax(-1)
    expected = torch.stack([(weights * (labels == k)[:, None]).sum(-1) for k in range(K)], -1) @ relational.vectors[1]
    torch.testing.assert_close(encoding.values(weights, positions, positions, content), expected)


def test_the_scale_changes_weights_only_with_scale_hint():
    at = torch.arange(5)
    for hint in (False, True):
        encoding = make_lbpe(hint)
        small, large = (encoding.label_weights(at, at, torch.tensor(n)) for n in (5, 20))
        assert torch.equal(small, large) != hint


@HINTS
def test_far_from_where_labels_meet_a_pair_keeps_its_label(hint):
    """g is linear along every ray in the end: no label of a table runs out, and none comes back."""
    encoding = make_lbpe(hint)
    for step in (torch.tensor([1, 3]), torch.tensor([4, 5])):
        far = [
            encoding.label_weights(by * step[1:] - 1, by * step[:1] - 1, by * torch.tensor(3))[0, 0].argmax().item()
            for by in (10**3, 10**4, 10**5)
        ]
        assert len(set(far)) == 1


@HINTS
def test_a_token_does_not_see_the_future_and_filling_on_the_right_changes_nothing(hint):
    encoding, positions = make_lbpe(hint), torch.arange(7)
    content, v = case(7)
    outputs = attended(encoding, positions, content, v)
    short = replace(content, q_BHJC=content.q_BHJC[:, :, :4], k_BHIC=content.k_BHIC[:, :, :4])
    torch.testing.assert_close(
        outputs[:, :, :4], attended(encoding, positions[:4], short, v[:, :, :4]), rtol=0, atol=1e-13
    )
    moved = torch.tensor([0, 1, 2, 3, 7, 7, 9])
    torch.testing.assert_close(attended(encoding, moved, content, v)[:, :, :4], outputs[:, :, :4], rtol=0, atol=1e-13)


@HINTS
def test_a_batch_equals_its_members(hint):
    encoding, (content, v) = make_lbpe(hint), case(6)
    positions = torch.stack((torch.arange(6), torch.arange(6) + 4, torch.tensor([0, 2, 3, 5, 8, 9])))
    together = attended(encoding, positions, content, v)
    for row in range(B):
        row_slice = slice(row, row + 1)
        row_content = Content(
            layer=1,
            q_BHJC=content.q_BHJC[row_slice],
            k_BHIC=content.k_BHIC[row_slice],
            scales_B=content.scales_B[row_slice],
        )
        torch.testing.assert_close(
            attended(encoding, positions[row], row_content, v[row_slice]), together[row_slice], rtol=0, atol=1e-13
        )


@HINTS
def test_the_last_queries_are_those_among_all(hint):
    encoding, positions, (content, _) = make_lbpe(hint), torch.arange(6), case(6)
    weights = logits(encoding, positions, content).softmax(-1)
    last = replace(content, q_BHJC=content.q_BHJC[:, :, -2:])
    bias = encoding.bias(positions[-2:], positions, last)
    torch.testing.assert_close(bias, encoding.bias(positions, positions, content)[:, :, -2:])
    values = encoding.values(weights[:, :, -2:], positions[-2:], positions, last)
    torch.testing.assert_close(values, encoding.values(weights, positions, positions, content)[:, :, -2:])


class Hooks(nn.Module):
    """The hooks as the call of a module, as `functional_call` knows no methods."""

    def __init__(self, encoding):
        super().__init__()
        self.encoding = encoding

    def forward(self, positions, content, v):
        return attended(self.encoding, positions, content, v)


@HINTS
def test_models_mapped_at_once_equal_each_alone(hint):
    members, positions = [make_lbpe(hint, seed) for seed in range(3)], torch.arange(6)
    cases = [case(6, seed=10 + model) for model in range(3)]
    scales = torch.tensor([[1, 2, 3], [9, 8, 7], [4, 4, 20]])
    q, k, v = (
        torch.stack(parts)
        for parts in zip(*((case_content.q_BHJC, case_content.k_BHIC, v) for case_content, v in cases), strict=True)
    )
    stacked = {
        f"encoding.{name}": torch.stack([member.get_parameter(name) for member in members])
        for name, _ in members[0].named_parameters()
    }

    def attend_model(numbers, q, k, v, scales):
        content = Content(layer=1, q_BHJC=q, k_BHIC=k, scales_B=scales)
        return functional_call(Hooks(members[0]), numbers, (positions, content, v))

    outputs = vmap(attend_model)(stacked, q, k, v, scales)
    for model, member in enumerate(members):
        alone = Content(layer=1, q_BHJC=q[model], k_BHIC=k[model], scales_B=scales[model])
        torch.testing.assert_close(outputs[model], attended(member, positions, alone, v[model]), rtol=0, atol=1e-12)


@HINTS
def test_two_instances_share_nothing(hint):
    first, second, positions, (content, v) = make_lbpe(hint, 0), make_lbpe(hint, 1), torch.arange(6), case(6)
    before = attended(first, positions, content, v)
    with torch.no_grad():
        for parameter in second.parameters():
            parameter.add_(1)
    attended(second, positions, content, v)
    assert torch.equal(attended(first, positions, content, v), before)


@HINTS
def test_gradients(hint):
    encoding, positions, (content, v) = make_lbpe(hint, labels=3, layers=1), torch.arange(4), case(4, layer=0)

    def output(*_):
        return attended(encoding, positions, content, v)

    assert torch.autograd.gradcheck(output, tuple(encoding.parameters()))
    output().square().sum().backward()
    for name, parameter in encoding.named_parameters():
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_positions_are_not_rounded_in_narrow_modules_or_under_autocast(dtype):
    """Positions 256 and 257 would be equal in bfloat16.  The temperature is high, so that no weight is near 0 or 1."""
    encoding, wide = make_lbpe(True, temperature=300.0).to(dtype), make_lbpe(True, temperature=300.0)
    wide.load_state_dict({name: number.double() for name, number in encoding.state_dict().items()})
    at, scale = torch.arange(250, 270), torch.tensor(259)
    weights, expected = encoding.label_weights(at, at, scale), wide.label_weights(at, at, scale)
    assert weights.dtype == torch.float32 and expected.amax() < 0.9
    # Some dozen roundings of logits of some hundreds, over 300: a few 1e-6; bfloat16 anywhere would be off by 1e-3.
    torch.testing.assert_close(weights.double(), expected, rtol=0, atol=1e-5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(encoding.label_weights(at, at, scale), weights)


def test_it_starts_as_it_says():
    torch.manual_seed(0)
    encoding = LBPE(layers=2, head_dim=16, scale_hint=True, labels=50)
    for table in (encoding.keys, encoding.vectors):
        assert table.shape == (2, 50, 16) and table.dtype == torch.float32
        assert table.std().item() == pytest.approx(1, rel=0.1)
    assert encoding.slopes.shape == encoding.offsets.shape == (7, 32) and encoding.heights.shape == (7, 32, 50)
    for number, reach in ((encoding.slopes, 1), (encoding.offsets, 1), (encoding.heights, 224**-0.5)):
        assert number.abs().max() <= reach and number.std().item() == pytest.approx(reach / 3**0.5, rel=0.15)


def test_scales_and_positions_that_cannot_be_read_are_refused():
    at, encoding = torch.arange(3), make_lbpe(True)
    with pytest.raises(ValueError, match="LBPE with scale hint reads the scale of each instance"):
        encoding.label_weights(at, at)
    with pytest.raises(ValueError, match="scales must be integers"):
        encoding.label_weights(at, at, torch.tensor([1.0]))
    for positions in ((at.float(), at), (at, at.float())):
        with pytest.raises(ValueError, match="positions must be integers"):
            encoding.label_weights(*positions, torch.tensor(3))


@pytest.mark.parametrize("name", ["layers", "head_dim", "labels", "hinges"])
def test_sizes_below_one_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not 0"):
        make_lbpe(False, **{name: 0})


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.inf, math.nan])
def test_a_temperature_that_is_no_positive_number_is_refused(temperature):
    with pytest.raises(ValueError, match=f"temperature must be a positive finite number, not {temperature}"):
        make_lbpe(False, temperature=temperature)


def test_without_scale_hint_no_scale_is_needed():
    encoding, at = make_lbpe(False), torch.arange(4)
    assert torch.equal(encoding.label_weights(at, at), encoding.label_weights(at, at, torch.tensor(9)))


def test_the_features_are_those_of_the_definition():
    """Features of query position j, key position i and scale n equal their coefficients of (i, j, n)."""
    i, j, n = 3, 7, 19
    assert [a * i + b * j + c * n for a, b, c in relations.PLAIN] == [i, j, j - i, 2 * i - j]
    assert [a * i + b * j + c * n for a, b, c in relations.WITH_SCALE] == [n, n - i, 2 * i - n, i, j, j - i, n - j]


def dense_weights(encoding, at, scales):
    """Label weights by the network of every pair, without a table of values: [J, I, K], or [B, J, I, K] with scales."""
    i, j, n = at[None, :] + 1, at[:, None] + 1, None if scales is None else scales[:, None, None]
    logits = encoding.levels
    for feature, *numbers in zip(features(i, j, n), encoding.slopes, encoding.offsets, encoding.heights, strict=True):
        slopes, offsets, heights = numbers
        logits = logits + (feature[..., None].double() * slopes + offsets).relu() @ heights
    return (logits / encoding.temperature).softmax(-1)


@HINTS
@pytest.mark.parametrize("length", [2, 40])
@pytest.mark.parametrize("temperature", [1.0, 30.0])
def test_a_table_of_values_equals_the_network_of_every_pair_with_its_gradients(hint, length, temperature):
    encoding, at = make_lbpe(hint, hinges=8, temperature=temperature), torch.arange(length) + 3
    scales = torch.tensor([5, 50]) if hint else None
    expected, weights = dense_weights(encoding, at, scales), encoding.label_weights(at, at, scales)
    torch.testing.assert_close(weights, expected, rtol=0, atol=1e-13)
    numbers = encoding.slopes, encoding.offsets, encoding.heights, encoding.levels
    wanted = torch.autograd.grad(expected.square().sum(), numbers)
    for gradient, right in zip(torch.autograd.grad(weights.square().sum(), numbers), wanted, strict=True):
        torch.testing.assert_close(gradient, right, rtol=1e-10, atol=1e-10)


def test_the_network_is_computed_once_for_each_value(monkeypatch):
    computed = []
    relu = torch.Tensor.relu
    monkeypatch.setattr(torch.Tensor, "relu", lambda self: computed.append(self.shape[:-1].numel()) or relu(self))
    at = torch.arange(100)
    make_lbpe(False).label_weights(at, at)
    assert computed == [100, 100, 199, 298]  # i, j, j - i, 2i - j
    computed.clear()
    far = torch.tensor([0, 10**9])
    make_lbpe(False).label_weights(far, far)
    assert computed == [2, 2, 4, 4]
