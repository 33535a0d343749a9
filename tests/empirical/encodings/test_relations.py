"""Encodings in torch by vectors of a pair: relations given and learned, anchors, and wavelets."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, vmap
from torch.utils._python_dispatch import TorchDispatchMode

from lengthgen.empirical.encodings import tensors
from lengthgen.empirical.encodings.agreement import TOLERANCE, largest_difference
from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.biases import FIRE
from lengthgen.empirical.encodings.modules import named
from lengthgen.empirical.encodings.relations import (
    LBPE,
    MANY,
    PLAIN,
    WITH_SCALE,
    Relational,
    RPESquare,
    Wavelet,
    distinct,
)
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.mapped import MappedEncoding
from lengthgen.theory.encodings import relations
from lengthgen.theory.learning import anchored
from lengthgen.theory.learning.anchored import AnchorAttention
from tests.empirical.twins import normal

RELATIONAL_B, RELATIONAL_H, J, I, RELATIONAL_C = 2, 3, 4, 7, 5  # noqa: E741


def draw_relational(seed: int, *shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))  # vmap refuses to draw by torch


def some_labels(count: int, shared: bool) -> torch.Tensor:
    """Labels [1 or B, J, I] below `count`."""
    return torch.randint(
        0, count, (1 if shared else RELATIONAL_B, J, I), generator=torch.Generator().manual_seed(count)
    )


def outputs(encoding: PositionEncoding, labels: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Bias, and values of random weights."""
    keys, queries = torch.arange(I), torch.arange(I - J, I)
    content = Content(
        layer=1,
        q_BHJC=draw_relational(1, RELATIONAL_B, RELATIONAL_H, J, RELATIONAL_C),
        k_BHIC=draw_relational(2, RELATIONAL_B, RELATIONAL_H, I, RELATIONAL_C),
        labels_BJI=labels,
        scales_B=torch.tensor([7, 9]),
    )
    bias = encoding.bias(queries, keys, content, dtype=torch.float64)
    assert bias is not None
    values = (
        encoding.values(draw_relational(3, RELATIONAL_B, RELATIONAL_H, J, I), queries, keys, content)
        if encoding.changes_values
        else bias
    )
    return bias, values


@pytest.fixture(params=["by index", "by products"])
def ways(request, monkeypatch):
    """Compute as on a CPU, and as on a GPU."""
    monkeypatch.setattr(
        "lengthgen.empirical.encodings.relations.takes_products", lambda *_: request.param == "by products"
    )


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("labels", "used"), [(4, 4), (MANY - 1, 6), (MANY, 6), (MANY + 100, MANY + 100)])
def test_relational_is_its_definition_pair_by_pair_with_its_gradients(labels, used, shared):
    torch.manual_seed(0)
    encoding, of_pairs = Relational(labels=labels, layers=2, head_dim=RELATIONAL_C).double(), some_labels(used, shared)
    q_BHJC, weights_BHJI = (
        draw_relational(1, RELATIONAL_B, RELATIONAL_H, J, RELATIONAL_C),
        draw_relational(3, RELATIONAL_B, RELATIONAL_H, J, I),
    )
    bias = (
        torch.einsum("bhjc,bjic->bhji", q_BHJC, encoding.keys[1][of_pairs].expand(RELATIONAL_B, -1, -1, -1))
        / RELATIONAL_C**0.5
    )
    values = torch.einsum(
        "bhji,bjic->bhjc", weights_BHJI, encoding.vectors[1][of_pairs].expand(RELATIONAL_B, -1, -1, -1)
    )
    expected = torch.autograd.grad((bias.sin().sum() + values.sin().sum()), tuple(encoding.parameters()))
    computed = outputs(encoding, of_pairs)
    for right, output in zip((bias, values), computed, strict=True):
        torch.testing.assert_close(output, right, rtol=0, atol=1e-13)
    gradients = torch.autograd.grad((computed[0].sin().sum() + computed[1].sin().sum()), tuple(encoding.parameters()))
    for right, gradient in zip(expected, gradients, strict=True):
        torch.testing.assert_close(gradient, right, rtol=0, atol=1e-12)


class RelationalHooks(torch.nn.Module):
    """The hooks as the call of a module, as `functional_call` knows no methods."""

    def __init__(self, encoding: Relational) -> None:
        super().__init__()
        self.encoding = encoding

    def forward(self, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Bias and values."""
        return outputs(self.encoding, labels)


@pytest.mark.usefixtures("ways")
def test_relational_models_with_labels_of_their_own_are_mapped_at_once():
    encoding = Relational(labels=MANY, layers=2, head_dim=RELATIONAL_C).double()
    numbers = {f"encoding.{name}": parameter.detach() for name, parameter in encoding.named_parameters()}
    labels = torch.stack([some_labels(count, shared=True) for count in (5, 300)])
    mapped = vmap(lambda each: functional_call(RelationalHooks(encoding), numbers, (each,)))(labels)
    for model in range(2):
        for together, alone in zip(mapped, outputs(encoding, labels[model]), strict=True):
            torch.testing.assert_close(together[model], alone, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (5, 3), (128, 128), (2048, 2048), (5, 2048), (3, 1 << 20)])
def test_relational_blocks_hold_every_query_once_and_no_more_pairs_than_allowed(queries, keys):
    rows = [list(range(queries))[block] for block in tensors.query_blocks(queries, keys)]
    assert list(itertools.chain(*rows)) == list(range(queries))
    assert all(rows) and all(len(row) == 1 or len(row) * keys <= tensors.PAIRS for row in rows)


@pytest.mark.parametrize(
    "encoding",
    [
        Relational(labels=9, layers=2, head_dim=RELATIONAL_C),
        LBPE(layers=2, head_dim=RELATIONAL_C, scale_hint=False),
        LBPE(layers=2, head_dim=RELATIONAL_C, scale_hint=True),
        FIRE(heads=RELATIONAL_H, layers=2),
    ],
    ids=["rpe", "lbpe", "lbpe-sh", "fire"],
)
def test_relational_the_size_of_blocks_changes_nothing(encoding, monkeypatch):
    encoding, labels = encoding.double(), some_labels(9, shared=True)
    at_once = outputs(encoding, labels)
    monkeypatch.setattr(tensors, "PAIRS", I)
    assert len(tensors.query_blocks(J, I)) == J
    for one_by_one, together in zip(outputs(encoding, labels), at_once, strict=True):
        torch.testing.assert_close(one_by_one, together, rtol=0, atol=1e-13)


LBPE_B, LBPE_H, LBPE_C, K, LBPE_LAYERS = 3, 2, 4, 5, 2
HINTS = pytest.mark.parametrize("hint", [False, True])
LBPE_POSITIONS = {"contiguous": [0, 1, 2, 3], "with gaps": [0, 3, 4, 90], "far away": [10**5, 10**5 + 1]}


def make_lbpe(hint, seed=0, **choices):
    torch.manual_seed(seed)
    sizes = {"layers": LBPE_LAYERS, "head_dim": LBPE_C, "labels": K, "hinges": 3}
    return LBPE(scale_hint=hint, **{**sizes, **choices}).double()


def case(length, seed=1, layer=1):
    """Queries, keys and values as the content of a batch of three scales, and attention weights up to the query."""
    q, k, v = normal(seed, 3, LBPE_B, LBPE_H, length, LBPE_C)
    content = Content(layer=layer, q_BHJC=q, k_BHIC=k, scales_B=torch.tensor([2, 9, 1]))
    return content, v


def logits(encoding, positions, content):
    bias = encoding.bias(positions, positions, content, dtype=torch.float64)
    scores = content.q_BHJC @ content.k_BHIC.transpose(-1, -2) / LBPE_C**0.5 + bias
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
@pytest.mark.parametrize("kind", LBPE_POSITIONS)
@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_lbpe_label_weights_are_the_network_of_the_features_pair_by_pair(hint, kind, temperature):
    encoding, at = make_lbpe(hint, temperature=temperature), torch.tensor(LBPE_POSITIONS[kind])
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
def test_lbpe_attention_equals_its_definition_pair_by_pair(hint):
    encoding, positions = make_lbpe(hint), torch.tensor([0, 1, 2, 5, 6])
    content, v = case(5)
    outputs = attended(encoding, positions, content, v)
    for row in range(LBPE_B):
        n = content.scales_B[row].item() if hint else None
        for head in range(LBPE_H):
            for j in range(5):
                laws = [label_law(encoding, p + 1, positions[j].item() + 1, n) for p in positions[: j + 1].tolist()]
                p = torch.tensor(laws, dtype=torch.float64)
                keys = content.k_BHIC[row, head, : j + 1] + p @ encoding.keys[1]
                values = v[row, head, : j + 1] + p @ encoding.vectors[1]
                weights = (keys @ content.q_BHJC[row, head, j] / LBPE_C**0.5).softmax(0)
                torch.testing.assert_close(outputs[row, head, j], weights @ values, rtol=0, atol=1e-12)


@HINTS
def test_lbpe_with_sharp_weights_it_is_the_relation_of_the_strongest_labels(hint):
    encoding, positions = make_lbpe(hint, temperature=1e-6), torch.arange(6)
    content, _ = case(6)
    p = encoding.label_weights(positions, positions, content.scales_B)
    assert p.amax(-1).min() > 1 - 1e-12
    relational = Relational(labels=K, layers=LBPE_LAYERS, head_dim=LBPE_C).double()
    with torch.no_grad():
        relational.keys.copy_(encoding.keys)
        relational.vectors.copy_(encoding.vectors)
    labels = p.argmax(-1).expand(LBPE_B, 6, 6)
    assert labels.unique().numel() > 1
    content = replace(content, labels_BJI=labels)
    bias = relational.bias(positions, positions, content, dtype=torch.float64)
    torch.testing.assert_close(encoding.bias(positions, positions, content, dtype=torch.float64), bias)
    weights = logits(encoding, positions, content).softmax(-1)
    expected = torch.stack([(weights * (labels == k)[:, None]).sum(-1) for k in range(K)], -1) @ relational.vectors[1]
    torch.testing.assert_close(encoding.values(weights, positions, positions, content), expected)


def test_lbpe_the_scale_changes_weights_only_with_scale_hint():
    at = torch.arange(5)
    for hint in (False, True):
        encoding = make_lbpe(hint)
        small, large = (encoding.label_weights(at, at, torch.tensor(n)) for n in (5, 20))
        assert torch.equal(small, large) != hint


@HINTS
def test_lbpe_far_from_where_labels_meet_a_pair_keeps_its_label(hint):
    """G is linear along every ray in the end: no label of a table runs out, and none comes back."""
    encoding = make_lbpe(hint)
    for step in (torch.tensor([1, 3]), torch.tensor([4, 5])):
        far = [
            encoding.label_weights(by * step[1:] - 1, by * step[:1] - 1, by * torch.tensor(3))[0, 0].argmax().item()
            for by in (10**3, 10**4, 10**5)
        ]
        assert len(set(far)) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_lbpe_positions_are_not_rounded_in_narrow_modules_or_under_autocast(dtype):
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


def test_lbpe_the_features_are_those_of_the_definition():
    """Features of query position j, key position i and scale n equal their coefficients of (i, j, n)."""
    i, j, n = 3, 7, 19
    assert [a * i + b * j + c * n for a, b, c in PLAIN] == [i, j, j - i, 2 * i - j]
    assert [a * i + b * j + c * n for a, b, c in WITH_SCALE] == [n, n - i, 2 * i - n, i, j, j - i, n - j]


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
def test_lbpe_a_table_of_values_equals_the_network_of_every_pair_with_its_gradients(hint, length, temperature):
    encoding, at = make_lbpe(hint, hinges=8, temperature=temperature), torch.arange(length) + 3
    scales = torch.tensor([5, 50]) if hint else None
    expected, weights = dense_weights(encoding, at, scales), encoding.label_weights(at, at, scales)
    torch.testing.assert_close(weights, expected, rtol=0, atol=1e-13)
    numbers = encoding.slopes, encoding.offsets, encoding.heights, encoding.levels
    wanted = torch.autograd.grad(expected.square().sum(), numbers)
    for gradient, right in zip(torch.autograd.grad(weights.square().sum(), numbers), wanted, strict=True):
        torch.testing.assert_close(gradient, right, rtol=1e-10, atol=1e-10)


def test_lbpe_the_network_is_computed_once_for_each_value(monkeypatch):
    computed = []
    relu = torch.Tensor.relu
    monkeypatch.setattr(torch.Tensor, "relu", lambda self: computed.append(self.shape[:-1].numel()) or relu(self))
    at = torch.arange(100)
    make_lbpe(False).label_weights(at, at)
    assert computed == [100, 100, 199, 298]  # i, j, j - i, 2i - j
    computed.clear()
    far = torch.tensor([0, 10**9])
    make_lbpe(False).label_weights(far, far)
    assert computed == [2, 2, 3, 4]


RPE_SQUARE_B, D, RPE_SQUARE_H, RPE_SQUARE_LAYERS, LENGTH, INNER = 2, 5, 3, 2, 9, 4
WEIGHTS = ("of_query", "of_query_anchor", "of_key", "of_key_anchor")
RPE_SQUARE_POSITIONS = {
    "contiguous": [0, 1, 2, 3, 4, 5, 6],
    "with gaps": [0, 1, 4, 5, 8],
    "repeated": [2, 2, 3, 5, 5],
    "far away": [10**6, 10**6 + 3, 10**6 + 8],
    "negative": [-4, -1, 0, 2],
}


def make_rpe_square(seed=0, **sizes):
    """RPE-Square with a large table, as the module starts with a small one."""
    torch.manual_seed(seed)
    encoding = RPESquare(
        **{"width": D, "heads": RPE_SQUARE_H, "layers": RPE_SQUARE_LAYERS, "length": LENGTH, "inner": INNER, **sizes}
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


@pytest.mark.parametrize("kind", RPE_SQUARE_POSITIONS)
def test_rpe_square_is_the_double_sum_pair_by_pair(kind):
    positions, encoding = RPE_SQUARE_POSITIONS[kind], make_rpe_square()
    length = len(positions)
    x, at = normal(1, RPE_SQUARE_B, length, D), torch.tensor(positions)
    for layer in range(RPE_SQUARE_LAYERS):
        bias = encoding.bias(at, at, Content(layer=layer, x_BLD=x), dtype=torch.float64)
        assert bias.shape == (RPE_SQUARE_B, RPE_SQUARE_H, length, length) and bias.dtype == torch.float64
        w1, w2, w3, w4 = (getattr(encoding, name)[layer].detach() for name in WEIGHTS)
        for row in range(RPE_SQUARE_B):
            of_query = [anchor_law(x[row], w1, w2, p) for p in range(length)]
            of_key = [anchor_law(x[row], w3, w4, p) for p in range(length)]
            for head in range(RPE_SQUARE_H):
                table = encoding.table[layer, head].tolist()
                for j in range(length):
                    for i in range(j + 1):
                        expected = score(table, of_query, of_key, positions, j, i)
                        assert bias[row, head, j, i].item() == pytest.approx(expected, abs=1e-12)


def test_rpe_square_is_its_symbolic_twin():
    encoding, x, positions = make_rpe_square(), normal(2, 1, 7, D), torch.arange(7)
    w1, w2, w3, w4 = (getattr(encoding, name)[1].detach().numpy() for name in WEIGHTS)
    bias = encoding.bias(positions, positions, Content(layer=1, x_BLD=x), dtype=torch.float64)[0].detach().numpy()
    for head in range(RPE_SQUARE_H):
        expected = anchored.soft_scores(
            x[0].numpy(),
            encoding.table[1, head].detach().numpy(),
            query=AnchorAttention(query=w1, key=w2),
            key=AnchorAttention(query=w3, key=w4),
        )
        np.testing.assert_allclose(np.triu(bias[head].T), expected, atol=1e-12)


def test_rpe_square_sharp_anchors_make_it_the_table_at_the_index_of_unaligned_copy():
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


HEAD_DIM, SCALES = 12, 5
"""The scales do not divide the width, so that the last shift lacks some of them."""


def draw_wavelet(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def twin(name: str):
    """Record with one of the wavelets."""
    own = relations.WAVELETS[name]
    return replace(relations.WAVELET, relative_key=lambda j, i, n: relations.wavelet_vector(j, i, wavelet=own))


@pytest.mark.parametrize("shift_off", [0, 1])
@pytest.mark.parametrize("name", relations.WAVELETS)
def test_wavelet_the_general_comparison_of_module_and_formulas_agrees_for_the_right_shifts_alone(name, shift_off):
    def values(module, head, plane):
        values = relations.WAVELET.values(module, head, plane)
        return values | {relations.WAVELET_SHIFTS[1]: values[relations.WAVELET_SHIFTS[1]] + shift_off}

    module = named("wavelet", heads=2, head_dim=4, wavelet=name, scales=3)
    record = replace(twin(name), values=values)
    assert (largest_difference(record, module) < TOLERANCE) == (shift_off == 0)


def test_wavelet_the_grid_is_that_of_the_paper_up_to_order():
    assert sorted(relations.wavelet_grid(128, 8)) == [(2**scale, shift) for scale in range(8) for shift in range(16)]
    assert relations.wavelet_grid(4, 1) == ((1, 0), (1, 1), (1, 2), (1, 3))
    assert relations.wavelet_grid(3, 8) == ((1, 0), (2, 0), (4, 0))


@pytest.mark.parametrize("positions", [torch.arange(40), torch.arange(40) + 10**6, torch.arange(40) ** 4 - 7])
def test_wavelet_scores_are_those_of_a_vector_for_every_pair(positions):
    """The oracle makes the [T, T, d] vectors; far apart, the table has only the distances that occur."""
    module = Wavelet(head_dim=HEAD_DIM, scales=SCALES)
    q, k = draw_wavelet(0, 2, 2, 3, 40, HEAD_DIM)
    distances = positions[:, None] - positions
    vectors = module.vectors(distances.flatten()).unflatten(0, distances.shape)
    right = torch.einsum("bhjc,bhjic->bhji", q, k[:, :, None] + vectors)
    torch.testing.assert_close(module.scores(q, k, positions, positions), right, rtol=0, atol=1e-13)
    last = module.scores(q[:, :, -3:], k, positions[-3:], positions)
    torch.testing.assert_close(last, right[:, :, -3:], rtol=0, atol=1e-13)


def test_wavelet_the_table_is_as_short_as_the_distances_allow():
    near, far = torch.arange(50), torch.tensor([0, 1, 10**6])
    for positions, size in ((near, 99), (far, 7)):
        given = positions[:, None] - positions
        table, places = distinct(given)
        assert len(table) == size
        assert torch.equal(table[places], given)


class _Largest(TorchDispatchMode):
    """Size of the largest tensor that any operation returns."""

    def __init__(self):
        super().__init__()
        self.size = 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        answer = function(*arguments, **(keywords or {}))
        views = ("expand", "unsqueeze", "transpose", "view", "slice", "select", "t.")
        if isinstance(answer, torch.Tensor) and not any(word in str(function) for word in views):
            self.size = max(self.size, answer.numel())
        return answer


def test_wavelet_no_tensor_has_an_entry_for_each_pair_and_coordinate():
    heads, length, width = 2, 256, 64
    module, positions = Wavelet(head_dim=width), torch.arange(length)
    q, k = draw_wavelet(1, 2, 1, heads, length, width)
    with _Largest() as largest:
        module.scores(q, k, positions, positions)
    assert largest.size <= 2 * heads * length**2 < length**2 * width


def test_wavelet_far_keys_get_the_scores_of_their_content_alone():
    """Beyond b_max + 6 a_max = 15 + 768 a component is below 1e-6 (claim wavelet-7), and soon it is 0 in float32."""
    module = Wavelet(head_dim=128)
    positions = torch.tensor([0, 1, 784, 3000, 5000])
    q, k = draw_wavelet(2, 2, 1, 1, 5, 128)
    effect = module.scores(q, k, positions, positions) - PositionEncoding().scores(q, k, positions, positions)
    limit = 1e-6 * q.abs().sum(-1)[0, 0]
    assert (effect[0, 0].abs() < limit[:, None]).tolist()[2][:2] == [True, True]
    assert effect[0, 0, 0, 0].abs() > limit[0]
    assert not module.vectors(torch.tensor([2000, 3000])).float().any()


class _SeesContent(PositionEncoding):
    """Scores that read the layer and its input."""

    scores_pairwise = True

    def scores(self, q_BHJC, k_BHIC, query_positions, key_positions, content=None):
        size = content.x_BLD.abs().mean(-1)[:, None, None, : k_BHIC.shape[2]]
        return super().scores(q_BHJC, k_BHIC, query_positions, key_positions) + content.layer * size


@pytest.mark.parametrize("models", [1, 3])
def test_wavelet_scores_see_the_layer_and_its_input(models):
    encoding = MappedEncoding([_SeesContent() for _ in range(models)])
    x, q, k = draw_wavelet(3, models, 2, 5, 8), draw_wavelet(4, models, 2, 2, 5, 4), draw_wavelet(5, models, 2, 2, 5, 4)
    at = torch.arange(5)
    plain = q @ k.mT
    for layer in (0, 2):
        scores = encoding.scores(q, k, at, at, Content(layer=layer, x_BLD=x, q_BHJC=q, k_BHIC=k))
        torch.testing.assert_close(scores, plain + layer * x.abs().mean(-1)[:, :, None, None])


def test_wavelet_the_decoder_gives_scores_its_content():
    torch.manual_seed(0)
    decoder = Decoder(symbols=7, width=8, layers=2, heads=2, encoding=_SeesContent())
    tokens = torch.arange(12).reshape(1, 2, 6) % 7
    logits = decoder(tokens)
    torch.testing.assert_close(decoder(tokens, first_query=4), logits[:, :, 4:])
    plain = Decoder(symbols=7, width=8, layers=2, heads=2, encoding=PositionEncoding())
    plain.load_state_dict(decoder.state_dict())
    assert not torch.allclose(plain(tokens), logits, atol=1e-4)
