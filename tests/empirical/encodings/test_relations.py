"""Encodings in torch by vectors of a pair: relations given and learned, anchors, and wavelets."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from lengthgen.circuits.encoding_spec import EncodingError, parse_encoding
from lengthgen.empirical.encodings import tensors
from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.biases import FIRE
from lengthgen.empirical.encodings.modules import module_of
from lengthgen.empirical.encodings.relations import (
    LBPE,
    MANY,
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

B, H, J, I, C = 2, 3, 4, 7, 5  # noqa: E741


def some_labels(count: int, shared: bool) -> torch.Tensor:
    """Labels [1 or B, J, I] below `count`."""
    return torch.randint(0, count, (1 if shared else B, J, I), generator=torch.Generator().manual_seed(count))


def outputs(encoding: PositionEncoding, labels: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Bias, and values of random weights, of the last J of I tokens."""
    keys, queries = torch.arange(I), torch.arange(I - J, I)
    content = Content(
        layer=1,
        q_BHJC=normal(1, B, H, J, C),
        k_BHIC=normal(2, B, H, I, C),
        labels_BJI=labels,
        scales_B=torch.tensor([7, 9]),
    )
    bias = encoding.bias(queries, keys, content, dtype=torch.float64)
    return bias, encoding.values(normal(3, B, H, J, I), queries, keys, content) if encoding.changes_values else bias


@pytest.fixture(params=["by index", "by products"])
def ways(request, monkeypatch):
    """Compute as on a CPU, and as on a GPU."""
    products = request.param == "by products"
    monkeypatch.setattr("lengthgen.empirical.encodings.relations.takes_products", lambda *_: products)


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("labels", "used"), [(4, 4), (MANY - 1, 6), (MANY, 6), (MANY + 100, MANY + 100)])
def test_relational_is_its_definition_pair_by_pair_with_its_gradients(labels, used, shared):
    torch.manual_seed(0)
    encoding, of_pairs = Relational(labels=labels, layers=2, head_dim=C).double(), some_labels(used, shared)
    keys, vectors = (table[1][of_pairs].expand(B, -1, -1, -1) for table in (encoding.keys, encoding.vectors))
    right = (
        torch.einsum("bhjc,bjic->bhji", normal(1, B, H, J, C), keys) / C**0.5,
        torch.einsum("bhji,bjic->bhjc", normal(3, B, H, J, I), vectors),
    )
    computed = outputs(encoding, of_pairs)
    torch.testing.assert_close(computed, right, rtol=0, atol=1e-13)
    gradients, expected = (
        torch.autograd.grad(sum(part.sin().sum() for part in both), tuple(encoding.parameters()))
        for both in (computed, right)
    )
    torch.testing.assert_close(gradients, expected, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("ways")
def test_relational_models_with_labels_of_their_own_are_mapped_at_once():
    ensemble = MappedEncoding([Relational(labels=MANY, layers=2, head_dim=C).double() for _ in range(2)])
    labels = torch.stack([some_labels(count, shared=True) for count in (5, 300)])
    at, q, k = torch.arange(I), normal(1, 2, B, H, J, C), normal(2, 2, B, H, I, C)
    content = Content(layer=1, q_BHJC=q, k_BHIC=k, labels_BJI=labels)
    mapped = ensemble.bias(at[-J:], at, content, dtype=torch.float64)
    assert not ensemble.looped
    for model, member in enumerate(ensemble.each()):
        own = Content(layer=1, q_BHJC=q[model], k_BHIC=k[model], labels_BJI=labels[model])
        alone = member.bias(at[-J:], at, own, dtype=torch.float64)
        torch.testing.assert_close(mapped[model], alone, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (5, 3), (128, 128), (2048, 2048), (5, 2048), (3, 1 << 20)])
def test_relational_blocks_hold_every_query_once_and_no_more_pairs_than_allowed(queries, keys):
    rows = [list(range(queries))[block] for block in tensors.query_blocks(queries, keys)]
    assert list(itertools.chain(*rows)) == list(range(queries))
    assert all(rows) and all(len(row) == 1 or len(row) * keys <= tensors.PAIRS for row in rows)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Relational(labels=9, layers=2, head_dim=C),
        lambda: LBPE(layers=2, head_dim=C, scale_hint=False),
        lambda: LBPE(layers=2, head_dim=C, scale_hint=True),
        lambda: FIRE(heads=H, layers=2),
    ],
)
def test_the_size_of_blocks_changes_nothing(make, monkeypatch):
    encoding, labels = make().double(), some_labels(9, shared=True)
    at_once = outputs(encoding, labels)
    monkeypatch.setattr(tensors, "PAIRS", I)
    assert len(tensors.query_blocks(J, I)) == J
    torch.testing.assert_close(outputs(encoding, labels), at_once, rtol=0, atol=1e-13)


LBPE_C, K = 4, 5
HINTS = pytest.mark.parametrize("hint", [False, True])


def make_lbpe(hint, seed=0, **choices):
    torch.manual_seed(seed)
    sizes = {"layers": 2, "head_dim": LBPE_C, "labels": K, "hinges": 3}
    return LBPE(scale_hint=hint, **{**sizes, **choices}).double()


def dense_weights(encoding, at, scales):
    """Label weights by the network of every pair, without a table of values: [J, I, K], or [B, J, I, K] with scales."""
    i, j, n = at[None, :] + 1, at[:, None] + 1, None if scales is None else scales[:, None, None]
    features = [i, j, j - i, 2 * i - j] if n is None else [n, n - i, 2 * i - n, i, j, j - i, n - j]
    logits = encoding.levels
    for feature, *numbers in zip(features, encoding.slopes, encoding.offsets, encoding.heights, strict=True):
        slopes, offsets, heights = numbers
        logits = logits + (feature[..., None].double() * slopes + offsets).relu() @ heights
    return (logits / encoding.temperature).softmax(-1)


LBPE_POSITIONS = ([0, 1, 2, 3], [0, 3, 4, 90], [10**5, 10**5 + 1], [3, 4], range(3, 43))


@HINTS
@pytest.mark.parametrize("positions", LBPE_POSITIONS)
@pytest.mark.parametrize("temperature", [0.3, 1.0, 30.0])
def test_lbpe_label_weights_are_the_network_of_every_pair_with_its_gradients(hint, positions, temperature):
    encoding, at = make_lbpe(hint, hinges=8, temperature=temperature), torch.tensor([*positions])
    scales = torch.tensor([1, 7, 300]) if hint else None
    expected, weights = dense_weights(encoding, at, scales), encoding.label_weights(at, at, scales)
    # Some dozen roundings of logits that are about as large as the positions, divided by the temperature.
    off = 100 * 2**-53 * (300 + at.max().item()) / temperature
    torch.testing.assert_close(weights, expected, rtol=0, atol=off)
    numbers = encoding.slopes, encoding.offsets, encoding.heights, encoding.levels
    gradients, wanted = (torch.autograd.grad(each.square().sum(), numbers) for each in (weights, expected))
    torch.testing.assert_close(gradients, wanted, rtol=1e-9, atol=off * max(10**3, 10 * at.max().item()))
    if scales is None:
        assert torch.equal(weights, encoding.label_weights(at, at, torch.tensor(9)))
    else:
        each = torch.stack((at, at + 2, at + 9))
        together = encoding.label_weights(each, each, scales)
        for row in range(3):
            alone = encoding.label_weights(each[row], each[row], scales[row])
            torch.testing.assert_close(together[row], alone, rtol=0, atol=off)
        assert encoding.label_weights(at[-2:], at, scales[0]).shape == (2, len(at), K)


@HINTS
def test_lbpe_attention_equals_its_definition_pair_by_pair(hint):
    encoding, at = make_lbpe(hint), torch.tensor([0, 1, 2, 5, 6])
    q, k, v = normal(1, 3, 3, 2, 5, LBPE_C)
    content, scales = Content(layer=1, q_BHJC=q, k_BHIC=k, scales_B=torch.tensor([2, 9, 1])), torch.tensor([2, 9, 1])
    p = dense_weights(encoding, at, scales if hint else None).expand(3, 5, 5, K)[:, None]
    keys, values = k[:, :, None] + p @ encoding.keys[1], v[:, :, None] + p @ encoding.vectors[1]
    later = torch.ones(5, 5).triu(1).bool()
    weights = (torch.einsum("bhjc,bhjic->bhji", q, keys) / LBPE_C**0.5).masked_fill(later, -torch.inf).softmax(-1)
    logits = q @ k.mT / LBPE_C**0.5 + encoding.bias(at, at, content, dtype=torch.float64)
    computed = logits.masked_fill(later, -torch.inf).softmax(-1)
    torch.testing.assert_close(computed, weights, rtol=0, atol=1e-12)
    attended = computed @ v + encoding.values(computed, at, at, content)
    torch.testing.assert_close(attended, torch.einsum("bhji,bhjic->bhjc", weights, values), rtol=0, atol=1e-12)


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


D, LENGTH = 5, 9
WEIGHTS = ("of_query", "of_query_anchor", "of_key", "of_key_anchor")


def anchor_law(x_LD, query_weights, key_weights, p):
    """Probability of each k <= p as the anchor of p."""
    weights = [math.exp(float((query_weights @ x_LD[p]) @ (key_weights @ x_LD[k]))) for k in range(p + 1)]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize(
    "positions", [range(7), [0, 1, 4, 5, 8], [2, 2, 3, 5, 5], [10**6, 10**6 + 3, 10**6 + 8], [-4, -1, 0, 2]]
)
def test_rpe_square_is_the_double_sum_pair_by_pair_and_its_symbolic_twin(positions):
    torch.manual_seed(0)
    encoding = RPESquare(width=D, heads=3, layers=2, length=LENGTH, inner=4).double()
    nn.init.normal_(encoding.table)
    length, at = len(positions), torch.tensor([*positions])
    x = normal(1, 1, length, D)
    bias = encoding.bias(at, at, Content(layer=1, x_BLD=x), dtype=torch.float64)[0].detach()
    weights = [getattr(encoding, name)[1].detach() for name in WEIGHTS]
    of_query, of_key = ([anchor_law(x[0], *pair, p) for p in range(length)] for pair in (weights[:2], weights[2:]))
    for head in range(3):
        table = encoding.table[1, head].tolist()
        for j, i in np.argwhere(np.tri(length)).tolist():
            # The double sum, term by term.
            expected = sum(
                by_query * by_key * table[LENGTH - 1 + (at[j] - at[k]) - (at[i] - at[m])]
                for k, by_query in enumerate(of_query[j])
                for m, by_key in enumerate(of_key[i])
            )
            assert bias[head, j, i].item() == pytest.approx(expected, abs=1e-12)
        if [*positions] == [*range(7)]:
            sides = ([weight.numpy() for weight in pair] for pair in (weights[:2], weights[2:]))
            query, key = (AnchorAttention(query=own, key=other) for own, other in sides)
            twin = anchored.soft_scores(x[0].numpy(), np.array(table), query=query, key=key)
            np.testing.assert_allclose(np.triu(bias[head].T), twin, atol=1e-12)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(encoding.bias(at, at, Content(layer=1, x_BLD=x), dtype=torch.float64)[0], bias)


HEAD_DIM, SCALES = 12, 5
"""The scales do not divide the width, so that the last shift lacks some of them."""


def test_wavelet_the_grid_is_that_of_the_paper_up_to_order():
    assert sorted(relations.wavelet_grid(128, 8)) == [(2**scale, shift) for scale in range(8) for shift in range(16)]
    assert relations.wavelet_grid(4, 1) == ((1, 0), (1, 1), (1, 2), (1, 3))
    assert relations.wavelet_grid(3, 8) == ((1, 0), (2, 0), (4, 0))


@pytest.mark.parametrize("positions", [torch.arange(40), torch.arange(40) + 10**6, torch.arange(40) ** 4 - 7])
def test_wavelet_scores_are_those_of_a_vector_for_every_pair(positions):
    """The oracle makes the [T, T, d] vectors; far apart, the table has only the distances that occur."""
    module = Wavelet(head_dim=HEAD_DIM, scales=SCALES)
    q, k = normal(0, 2, 2, 3, 40, HEAD_DIM)
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
    q, k = normal(1, 2, 1, heads, length, width)
    with _Largest() as largest:
        module.scores(q, k, positions, positions)
    assert largest.size <= 2 * heads * length**2 < length**2 * width


class _SeesContent(PositionEncoding):
    """Scores that read the layer and its input."""

    scores_pairwise = True

    def scores(self, q_BHJC, k_BHIC, query_positions, key_positions, content=None):
        size = content.x_BLD.abs().mean(-1)[:, None, None, : k_BHIC.shape[2]]
        return super().scores(q_BHJC, k_BHIC, query_positions, key_positions) + content.layer * size


def test_wavelet_the_decoder_gives_scores_its_content():
    torch.manual_seed(0)
    decoder = Decoder(symbols=7, width=8, layers=2, heads=2, encoding=_SeesContent())
    tokens = torch.arange(12).reshape(1, 2, 6) % 7
    logits = decoder(tokens)
    torch.testing.assert_close(decoder(tokens, first_query=4), logits[:, :, 4:])
    plain = Decoder(symbols=7, width=8, layers=2, heads=2, encoding=PositionEncoding())
    plain.load_state_dict(decoder.state_dict())
    assert not torch.allclose(plain(tokens), logits, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "usual"),
    [
        ("ipe", 1),
        ("ipe-sh", 1),
        ("rpe", 1),
        ("clipped", 1),
        ("lbpe", 1),
        ("lbpe-sh", 1),
        ("random-rpe", 1),
        ("ape", 1),
        ("offset-ape", 1),
        ("random-ape", 1),
        ("t5", 0.02),
        ("t5-bidirectional", 0.02),
        ("rpe-square", 0.02),
    ],
)
def test_each_table_starts_as_the_setting_says_and_from_the_same_random_numbers(name, usual):
    """Other parameters, and whatever a model draws after its encoding, do not depend on the start."""
    sizes = {"heads": H, "head_dim": C, "width": H * C, "layers": 2, "length": 200, "trained_length": 9, "labels": 200}

    def drawn(start):
        torch.manual_seed(1)
        module = module_of(parse_encoding(f"{name}[start={start}]"), sizes)
        return {key: value.detach() for key, value in module.named_parameters()} | {"next": torch.randn(3)}

    small, large, none = drawn(0.02), drawn(3), drawn(0)
    tables = [key for key, value in none.items() if not value.any()]
    assert tables
    for key, value in small.items():
        expected = large[key] * (0.02 / 3) if key in tables else large[key]
        torch.testing.assert_close(value, expected, rtol=1e-6, atol=0)
    for key in tables:
        assert 0.9 < float(large[key].std()) / 3 < 1.1
    assert str(parse_encoding(f"{name}[start={usual}]")) == name
    with pytest.raises(EncodingError, match="start must be a number from 0 to 100, not -1"):
        parse_encoding(f"{name}[start=-1]")
