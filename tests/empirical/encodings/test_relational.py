"""Relational: each pair has the vectors of its label, however many labels there are and whatever the blocks."""

import itertools

import numpy as np
import pytest
import torch
from torch.func import functional_call, vmap

from lengthgen.empirical.encodings import relations, tensors
from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.biases import FIRE
from lengthgen.empirical.encodings.relations import LBPE, MANY, Relational

B, H, J, I, C = 2, 3, 4, 7, 5  # noqa: E741


def draw(seed: int, *shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))  # vmap refuses to draw by torch


def some_labels(count: int, shared: bool) -> torch.Tensor:
    """Labels [1 or B, J, I] below `count`."""
    return torch.randint(0, count, (1 if shared else B, J, I), generator=torch.Generator().manual_seed(count))


def outputs(encoding: PositionEncoding, labels: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Bias, and values of random weights."""
    keys, queries = torch.arange(I), torch.arange(I - J, I)
    content = Content(
        layer=1,
        q_BHJC=draw(1, B, H, J, C),
        k_BHIC=draw(2, B, H, I, C),
        labels_BJI=labels,
        scales_B=torch.tensor([7, 9]),
    )
    bias = encoding.bias(queries, keys, content, dtype=torch.float64)
    assert bias is not None
    values = encoding.values(draw(3, B, H, J, I), queries, keys, content) if encoding.changes_values else bias
    return bias, values


@pytest.fixture(params=["by index", "by products"])
def ways(request, monkeypatch):
    """Compute as on a CPU, and as on a GPU."""
    monkeypatch.setattr(relations, "takes_products", lambda *_: request.param == "by products")


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("labels", "used"), [(4, 4), (MANY - 1, 6), (MANY, 6), (MANY + 100, MANY + 100)])
def test_it_is_its_definition_pair_by_pair_with_its_gradients(labels, used, shared):
    torch.manual_seed(0)
    encoding, of_pairs = Relational(labels=labels, layers=2, head_dim=C).double(), some_labels(used, shared)
    q_BHJC, weights_BHJI = draw(1, B, H, J, C), draw(3, B, H, J, I)
    bias = torch.einsum("bhjc,bjic->bhji", q_BHJC, encoding.keys[1][of_pairs].expand(B, -1, -1, -1)) / C**0.5
    values = torch.einsum("bhji,bjic->bhjc", weights_BHJI, encoding.vectors[1][of_pairs].expand(B, -1, -1, -1))
    expected = torch.autograd.grad((bias.sin().sum() + values.sin().sum()), tuple(encoding.parameters()))
    computed = outputs(encoding, of_pairs)
    for right, output in zip((bias, values), computed, strict=True):
        torch.testing.assert_close(output, right, rtol=0, atol=1e-13)
    gradients = torch.autograd.grad((computed[0].sin().sum() + computed[1].sin().sum()), tuple(encoding.parameters()))
    for right, gradient in zip(expected, gradients, strict=True):
        torch.testing.assert_close(gradient, right, rtol=0, atol=1e-12)


class Hooks(torch.nn.Module):
    """The hooks as the call of a module, as `functional_call` knows no methods."""

    def __init__(self, encoding: Relational) -> None:
        super().__init__()
        self.encoding = encoding

    def forward(self, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Bias and values."""
        return outputs(self.encoding, labels)


@pytest.mark.usefixtures("ways")
def test_models_with_labels_of_their_own_are_mapped_at_once():
    encoding = Relational(labels=MANY, layers=2, head_dim=C).double()
    numbers = {f"encoding.{name}": parameter.detach() for name, parameter in encoding.named_parameters()}
    labels = torch.stack([some_labels(count, shared=True) for count in (5, 300)])
    mapped = vmap(lambda each: functional_call(Hooks(encoding), numbers, (each,)))(labels)
    for model in range(2):
        for together, alone in zip(mapped, outputs(encoding, labels[model]), strict=True):
            torch.testing.assert_close(together[model], alone, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (5, 3), (128, 128), (2048, 2048), (5, 2048), (3, 1 << 20)])
def test_blocks_hold_every_query_once_and_no_more_pairs_than_allowed(queries, keys):
    rows = [list(range(queries))[block] for block in tensors.query_blocks(queries, keys)]
    assert list(itertools.chain(*rows)) == list(range(queries))
    assert all(rows) and all(len(row) == 1 or len(row) * keys <= tensors.PAIRS for row in rows)


@pytest.mark.parametrize(
    "encoding",
    [
        Relational(labels=9, layers=2, head_dim=C),
        LBPE(layers=2, head_dim=C, scale_hint=False),
        LBPE(layers=2, head_dim=C, scale_hint=True),
        FIRE(heads=H, layers=2),
    ],
    ids=["rpe", "lbpe", "lbpe-sh", "fire"],
)
def test_the_size_of_blocks_changes_nothing(encoding, monkeypatch):
    encoding, labels = encoding.double(), some_labels(9, shared=True)
    at_once = outputs(encoding, labels)
    monkeypatch.setattr(tensors, "PAIRS", I)
    assert len(tensors.query_blocks(J, I)) == J
    for one_by_one, together in zip(outputs(encoding, labels), at_once, strict=True):
        torch.testing.assert_close(one_by_one, together, rtol=0, atol=1e-13)
