"""Wavelet vectors in torch: symbolic twin at hostile positions, both forms of the table, memory, far keys."""

from dataclasses import replace

import pytest
import sympy as sp
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from lengthgen.empirical.encodings.agreement import TOLERANCE, largest_difference
from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.catalogue import named
from lengthgen.empirical.encodings.relations import Wavelet, distinct_distances
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.mapped import MappedEncoding
from lengthgen.theory.encodings import relations
from tests.empirical.twins import HOSTILE, exact

HEAD_DIM, SCALES = 12, 5
"""The scales do not divide the width, so that the last shift lacks some of them."""


def draw(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def twin(name: str):
    """Record with one of the wavelets."""
    own = relations.WAVELETS[name]
    return replace(relations.WAVELET, relative_key=lambda j, i, n: relations.wavelet_vector(j, i, wavelet=own))


@pytest.mark.parametrize("name", relations.WAVELETS)
def test_vectors_are_those_of_the_formula_at_hostile_distances(name):
    distances = [*range(-9, 33), *HOSTILE, *(-distance for distance in HOSTILE)]
    vectors = Wavelet(head_dim=HEAD_DIM, wavelet=name, scales=SCALES).vectors(torch.tensor(distances))
    psi, grid = relations.WAVELETS[name], relations.wavelet_grid(HEAD_DIM, SCALES)
    for distance, row in zip(distances, vectors, strict=True):
        right = [
            exact(relations.wavelet_component(sp.Integer(distance), scale=sp.Integer(a), shift=b, wavelet=psi))
            for a, b in grid
        ]
        # e^(-u) is off by about u roundings of u; the bell is 0 long before u is 100.
        torch.testing.assert_close(row, torch.tensor(right, dtype=torch.float64), rtol=0, atol=2.0**-50)


@pytest.mark.parametrize("shift_off", [0, 1])
@pytest.mark.parametrize("name", relations.WAVELETS)
def test_the_general_comparison_of_module_and_formulas_agrees_for_the_right_shifts_alone(name, shift_off):
    def values(module, head, plane):
        values = relations.WAVELET.values(module, head, plane)
        return values | {relations.WAVELET_SHIFTS[1]: values[relations.WAVELET_SHIFTS[1]] + shift_off}

    module = named("wavelet", heads=2, head_dim=4, wavelet=name, scales=3)
    record = replace(twin(name), values=values)
    assert (largest_difference(record, module) < TOLERANCE) == (shift_off == 0)


def test_the_grid_is_that_of_the_paper_up_to_order():
    assert sorted(relations.wavelet_grid(128, 8)) == [(2**scale, shift) for scale in range(8) for shift in range(16)]
    assert relations.wavelet_grid(4, 1) == ((1, 0), (1, 1), (1, 2), (1, 3))
    assert relations.wavelet_grid(3, 8) == ((1, 0), (2, 0), (4, 0))


@pytest.mark.parametrize("positions", [torch.arange(40), torch.arange(40) + 10**6, torch.arange(40) ** 4 - 7])
def test_scores_are_those_of_a_vector_for_every_pair(positions):
    """The oracle makes the [T, T, d] vectors; far apart, the table has only the distances that occur."""
    module = Wavelet(head_dim=HEAD_DIM, scales=SCALES)
    q, k = draw(0, 2, 2, 3, 40, HEAD_DIM)
    distances = positions[:, None] - positions
    vectors = module.vectors(distances.flatten()).unflatten(0, distances.shape)
    right = torch.einsum("bhjc,bhjic->bhji", q, k[:, :, None] + vectors)
    torch.testing.assert_close(module.scores(q, k, positions, positions), right, rtol=0, atol=1e-13)
    last = module.scores(q[:, :, -3:], k, positions[-3:], positions)
    torch.testing.assert_close(last, right[:, :, -3:], rtol=0, atol=1e-13)


def test_the_table_is_as_short_as_the_distances_allow():
    near, far = torch.arange(50), torch.tensor([0, 1, 10**6])
    for positions, size in ((near, 99), (far, 7)):
        given = positions[:, None] - positions
        table, places = distinct_distances(given)
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


def test_no_tensor_has_an_entry_for_each_pair_and_coordinate():
    heads, length, width = 2, 256, 64
    module, positions = Wavelet(head_dim=width), torch.arange(length)
    q, k = draw(1, 2, 1, heads, length, width)
    with _Largest() as largest:
        module.scores(q, k, positions, positions)
    assert largest.size <= 2 * heads * length**2 < length**2 * width


def test_far_keys_get_the_scores_of_their_content_alone():
    """Beyond b_max + 6 a_max = 15 + 768 a component is below 1e-6 (claim wavelet-7), and soon it is 0 in float32."""
    module = Wavelet(head_dim=128)
    positions = torch.tensor([0, 1, 784, 3000, 5000])
    q, k = draw(2, 2, 1, 1, 5, 128)
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
def test_scores_see_the_layer_and_its_input(models):
    encoding = MappedEncoding([_SeesContent() for _ in range(models)])
    x, q, k = draw(3, models, 2, 5, 8), draw(4, models, 2, 2, 5, 4), draw(5, models, 2, 2, 5, 4)
    at = torch.arange(5)
    plain = q @ k.mT
    for layer in (0, 2):
        scores = encoding.scores(q, k, at, at, Content(layer=layer, x_BLD=x, q_BHJC=q, k_BHIC=k))
        torch.testing.assert_close(scores, plain + layer * x.abs().mean(-1)[:, :, None, None])


def test_the_decoder_gives_scores_its_content():
    torch.manual_seed(0)
    decoder = Decoder(symbols=7, width=8, layers=2, heads=2, encoding=_SeesContent())
    tokens = torch.arange(12).reshape(1, 2, 6) % 7
    logits = decoder(tokens)
    torch.testing.assert_close(decoder(tokens, first_query=4), logits[:, :, 4:])
    plain = Decoder(symbols=7, width=8, layers=2, heads=2, encoding=PositionEncoding())
    plain.load_state_dict(decoder.state_dict())
    assert not torch.allclose(plain(tokens), logits, atol=1e-4)
