"""Learned absolute codes in torch: the symbolic twin, which rows are trained, and positions beyond the table."""

import pytest
import torch

from lengthgen.empirical.encodings.absolute import LearnedAbsolute
from lengthgen.theory.encodings import absolute
from lengthgen.theory.encodings.encoding import WIDTH
from tests.empirical.twins import HOSTILE, symbolic_scores

LENGTH, SIZE = 6, 4


@pytest.fixture
def encoding():
    torch.manual_seed(0)
    return LearnedAbsolute(length=LENGTH, width=SIZE)


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def test_it_is_its_symbolic_twin_at_hostile_positions():
    torch.manual_seed(1)
    encoding = LearnedAbsolute(length=max(HOSTILE) + 1, width=SIZE).double()
    q, k = content(0, 2, 1, len(HOSTILE), SIZE)
    coded_q, coded_k = (encoding.embed(x, torch.tensor(HOSTILE)) for x in (q, k))
    planes = [
        {absolute.TABLE[p, c]: encoding.table[p, 2 * plane + c].item() for p in HOSTILE for c in (0, 1)}
        for plane in range(SIZE // 2)
    ]
    expected = symbolic_scores(absolute.LEARNED, planes, q[0], k[0], HOSTILE)
    seen = ~expected.isnan()
    scores = (coded_q @ coded_k.transpose(-1, -2))[0]
    # Two sums, a product and four additions, each rounded once.
    sizes = coded_q.abs() @ coded_k.abs().transpose(-1, -2)
    assert ((scores - expected).abs()[seen] <= 8 * 2**-53 * sizes[0][seen]).all()


def test_as_many_numbers_are_trained_as_the_symbolic_twin_says(encoding):
    trained = sum(parameter.numel() for parameter in encoding.parameters())
    assert trained == absolute.LEARNED.learned.subs({absolute.TABLE_ROWS: LENGTH, WIDTH: SIZE})
    assert absolute.LEARNED.limit.subs(absolute.TABLE_ROWS, LENGTH) == LENGTH


@pytest.mark.parametrize("length", range(1, LENGTH + 1))
def test_rows_beyond_the_training_length_have_no_gradient(encoding, length):
    x = content(1, 3, length, SIZE, dtype=torch.float32)
    coded = encoding.embed(x, torch.arange(length))
    (coded @ coded.transpose(-1, -2)).softmax(-1).square().sum().backward()
    moved = encoding.table.grad.abs().sum(-1) > 0
    assert not moved[length:].any() and (length == 1 or moved[:length].all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_stay_within_their_budget(encoding, dtype):
    """The sum is rounded in float32 and to the type; rows are float32 numbers."""
    x = content(2, 2, LENGTH, SIZE).to(dtype)
    codes = encoding.embed(x, torch.arange(LENGTH))
    right = x.double() + encoding.table.double()
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    assert codes.dtype == dtype
    assert ((codes.double() - right).abs() <= 1.01 * (single + last) * right.abs()).all()


def test_rows_have_positions_of_their_own(encoding):
    positions = torch.tensor([[0, 5, 2], [3, 3, 1]])
    codes = encoding.embed(torch.zeros(2, 3, SIZE), positions)
    assert torch.equal(codes, encoding.table[positions])


@pytest.mark.parametrize("position", [LENGTH, -1, 10**6])
def test_a_position_that_has_no_row_is_refused_and_not_clamped(encoding, position):
    with pytest.raises(ValueError, match=f"position {position} is not in the table of 6 positions, 0 to 5"):
        encoding.embed(torch.zeros(1, 2, SIZE), torch.tensor([0, position]))


def test_embeddings_of_another_width_are_refused(encoding):
    with pytest.raises(ValueError, match="embeddings are 1 wide, not width = 4"):
        encoding.embed(torch.zeros(1, 3, 1), torch.arange(3))


@pytest.mark.parametrize(("length", "width"), [(0, 4), (4, 0), (-1, 4)])
def test_an_empty_table_is_refused(length, width):
    with pytest.raises(ValueError, match=f"length and width must be at least 1, not {length} and {width}"):
        LearnedAbsolute(length=length, width=width)


@pytest.mark.parametrize("length", [0, 1])
def test_short_sequences(encoding, length):
    codes = encoding.embed(torch.zeros(1, length, SIZE), torch.arange(length))
    assert torch.equal(codes[0], encoding.table[:length])
