"""Sinusoidal codes in torch: the symbolic twin, the library in use, and narrow types."""

import pytest
import torch

from lengthgen.empirical.encodings.absolute import Sinusoidal
from lengthgen.theory.encodings import absolute, rotary
from tests.empirical.twins import HOSTILE, exact, symbolic_scores

WIDTH = 6
# An angle of 10^6 in float64 is off by some 10^6 eps, and so are its sine and cosine.
FAR = 4e6 * 2.2e-16


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def test_its_code_is_that_of_its_symbolic_twin_at_hostile_positions():
    codes = Sinusoidal(width=WIDTH).embed(torch.zeros(1, len(HOSTILE), WIDTH).double(), torch.tensor(HOSTILE))
    for row, position in enumerate(HOSTILE):
        planes = [absolute.sinusoidal_code(position, frequency=frequency) for frequency in rotary.frequencies(WIDTH)]
        expected = torch.tensor([exact(entry) for plane in planes for entry in plane], dtype=torch.float64)
        torch.testing.assert_close(codes[0, row], expected, rtol=0, atol=FAR)


def test_its_scores_are_those_of_its_symbolic_twin():
    q, k = content(0, 2, 1, len(HOSTILE), WIDTH)
    encoding = Sinusoidal(width=WIDTH)
    coded_q, coded_k = (encoding.embed(x, torch.tensor(HOSTILE)) for x in (q, k))
    scores = (coded_q @ coded_k.transpose(-1, -2))[0]
    planes = [{rotary.FREQUENCY: frequency} for frequency in rotary.frequencies(WIDTH)]
    expected = symbolic_scores(absolute.SINUSOIDAL, planes, q[0], k[0], HOSTILE)
    seen = ~expected.isnan()
    size = (1 + max(q.abs().max(), k.abs().max())) * 2 * WIDTH
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=float(FAR * size))


def test_transformers_agrees():
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

    theirs = create_sinusoidal_embeddings(512, 16, torch.zeros(512, 16))
    ours = Sinusoidal(width=16).embed(torch.zeros(1, 512, 16), torch.arange(512))[0]
    # Both are float64 angles rounded once, with powers of 10000 taken in a different order.
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1.2e-7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_stay_within_their_budget(dtype):
    """Rounded are the code to float32, the sum in float32, and the sum to the type."""
    x = content(1, 2, len(HOSTILE), WIDTH).to(dtype)
    encoding, positions = Sinusoidal(width=WIDTH), torch.tensor(HOSTILE)
    right = encoding.embed(x.double(), positions)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    error = (encoding.embed(x, positions).double() - right).abs()
    assert (error <= 1.01 * (single + (single + last) * right.abs())).all()


def test_rows_have_positions_of_their_own():
    encoding, x = Sinusoidal(width=WIDTH), content(2, 2, 3, WIDTH)
    positions = torch.tensor([[0, 5, 6], [10**6, 2, 2]])
    both = encoding.embed(x, positions)
    for row in range(2):
        torch.testing.assert_close(both[row], encoding.embed(x[row], positions[row]), rtol=0, atol=1e-15)


@pytest.mark.parametrize("width", [0, 7, -2])
def test_an_odd_width_is_refused(width):
    with pytest.raises(ValueError, match=f"width must be a positive even number, not {width}"):
        Sinusoidal(width=width)


def test_embeddings_of_another_width_are_refused():
    with pytest.raises(ValueError, match="embeddings are 1 wide, not width = 4"):
        Sinusoidal(width=4).embed(torch.zeros(1, 3, 1), torch.arange(3))


@pytest.mark.parametrize("base", [1.0, 0.25])
def test_a_base_of_at_most_one_is_accepted(base):
    """Later planes are then as fast as the first, or faster."""
    angles = torch.tensor([[3.0, 3.0 * base**-0.5]], dtype=torch.float64)
    expected = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
    torch.testing.assert_close(Sinusoidal(width=4, base=base).code(torch.tensor([3])), expected)
