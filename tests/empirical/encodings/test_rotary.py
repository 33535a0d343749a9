"""RoPE in torch: its symbolic twin, the libraries in use, and narrow types."""

import pytest
import torch

from lengthgen.empirical.encodings.rotary import Rotary, apply_rotary
from lengthgen.theory.encodings import rotary
from tests.empirical.twins import HOSTILE, symbolic_scores

HEAD_DIM = 6
LAYOUTS = {"interleaved": [0, 1, 2, 3, 4, 5], "halves": [0, 2, 4, 1, 3, 5]}
"""Where each layout has the coordinates of planes 0, 0, 1, 1, 2, 2."""


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def test_it_is_its_symbolic_twin_at_hostile_positions():
    positions = torch.tensor(HOSTILE)
    q, k = content(0, 2, 1, 1, len(HOSTILE), HEAD_DIM)
    planes = [{rotary.FREQUENCY: frequency} for frequency in rotary.frequencies(HEAD_DIM)]
    expected = symbolic_scores(rotary.ROPE, planes, q[0, 0], k[0, 0], HOSTILE)
    seen = ~expected.isnan()
    for layout, order in LAYOUTS.items():
        turned_q, turned_k = Rotary(head_dim=HEAD_DIM, layout=layout).rotate(q[..., order], k[..., order], positions)
        scores = (turned_q @ turned_k.transpose(-1, -2))[0, 0]
        # An angle of 10^6 in float64 is off by 10^6 eps, and so is its cosine; a score by that times |q| |k|.
        torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=4e6 * 2.2e-16 * HEAD_DIM**2)


def test_transformers_agrees():
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    length, head_dim = 64, 16
    q, k = content(1, 2, 2, 3, length, head_dim, dtype=torch.float32)
    angles = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, head_dim, 2) / head_dim))
    both = torch.cat((angles, angles), -1)[None]
    theirs = apply_rotary_pos_emb(q, k, both.cos(), both.sin())
    ours = Rotary(head_dim=head_dim, layout="halves").rotate(q, k, torch.arange(length))
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=2e-5)


def test_rotary_embedding_torch_agrees():
    from rotary_embedding_torch import RotaryEmbedding

    length, head_dim = 64, 16
    q, k = content(2, 2, 2, 3, length, head_dim, dtype=torch.float32)
    library = RotaryEmbedding(dim=head_dim)
    theirs = library.rotate_queries_or_keys(q), library.rotate_queries_or_keys(k)
    ours = Rotary(head_dim=head_dim).rotate(q, k, torch.arange(length))
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_stay_within_their_budget(dtype, layout):
    """Rounded are the cosine, each product and the sum in float32, and the result: the budget at any position."""
    positions = torch.tensor(HOSTILE)
    q, k = content(3, 2, 1, 1, len(HOSTILE), HEAD_DIM).to(dtype)
    encoding = Rotary(head_dim=HEAD_DIM, layout=layout)
    wide = encoding.rotate(q.double(), k.double(), positions)
    narrow = encoding.rotate(q, k, positions)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    for turned, right, vectors in zip(narrow, wide, (q, k), strict=True):
        if layout == "interleaved":
            size = vectors.double().unflatten(-1, (-1, 2)).norm(dim=-1).repeat_interleave(2, -1)
        else:
            size = vectors.double().unflatten(-1, (2, -1)).norm(dim=-2).repeat(1, 1, 1, 2)
        # |x cos| + |y sin| <= sqrt(2) |(x, y)|, each part with three roundings in float32, then one in dtype.
        assert ((turned.double() - right).abs() <= 1.01 * size * (3 * 2**0.5 * single + last)).all()


def test_the_layouts_differ_by_the_permutation_of_the_symbolic_side():
    positions = torch.tensor(HOSTILE)
    q, k = content(4, 2, 1, 2, len(HOSTILE), HEAD_DIM)
    place = torch.tensor(rotary.to_halves(HEAD_DIM))
    moved_q, moved_k = (torch.empty_like(x).index_copy_(-1, place, x) for x in (q, k))
    interleaved = Rotary(head_dim=HEAD_DIM).rotate(q, k, positions)
    halves = Rotary(head_dim=HEAD_DIM, layout="halves").rotate(moved_q, moved_k, positions)
    for vectors, other in zip(interleaved, halves, strict=True):
        # A complex product may fuse its multiplications with its sums: one rounding more or less.
        torch.testing.assert_close(other[..., place], vectors, rtol=0, atol=1e-15)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_how_contents_lie_in_memory_does_not_matter(layout):
    encoding, positions = Rotary(head_dim=HEAD_DIM, layout=layout), torch.arange(7)
    wide = content(5, 2, 3, 7, 2 * HEAD_DIM + 1)
    for view in (
        wide[..., 1 : 1 + HEAD_DIM],
        wide[..., : 2 * HEAD_DIM : 2],
        content(6, 2, 7, 3, HEAD_DIM).transpose(1, 2),
        content(6, 1, 1, 7, HEAD_DIM).expand(2, 3, 7, HEAD_DIM),
    ):
        rotated = encoding.rotate(view, view, positions)[0]
        # A vector instruction may fuse a product with a sum where a scalar one does not: the last bit is free.
        torch.testing.assert_close(rotated, encoding.rotate(view.clone(), view, positions)[0], rtol=0, atol=1e-14)


def test_rows_have_positions_of_their_own():
    encoding = Rotary(head_dim=HEAD_DIM)
    positions = torch.tensor([[0, 1, 2], [10**6, 3, 3]])
    q, k = content(7, 2, 2, 4, 3, HEAD_DIM)
    both = encoding.rotate(q, k, positions)
    for row in range(2):
        alone = encoding.rotate(q[row : row + 1], k[row : row + 1], positions[row])
        torch.testing.assert_close([rotated[row : row + 1] for rotated in both], list(alone), rtol=0, atol=1e-15)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_gradients_flow_to_contents_and_angles(layout):
    x = content(8, 1, 2, 3, 4).requires_grad_()
    angles = content(9, 1, 1, 3, 2).requires_grad_()

    def turned_by(x, angles):
        return apply_rotary(x, torch.polar(torch.ones_like(angles), angles), layout)

    assert torch.autograd.gradcheck(turned_by, (x, angles))


def test_a_head_of_another_width_is_refused():
    q = torch.zeros(1, 1, 3, 6)
    with pytest.raises(ValueError, match="queries are 6 wide, not head_dim = 4"):
        Rotary(head_dim=4).rotate(q, q, torch.arange(3))
