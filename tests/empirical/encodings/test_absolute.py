"""Absolute position codes in torch: sinusoids, a learned table, and orthogonal functions."""

import numpy as np
import pytest
import scipy.fft
import torch
from numpy.polynomial.legendre import legvander

from lengthgen.empirical.encodings.absolute import (
    CosineCode,
    HaarCode,
    LearnedAbsolute,
    LegendreCode,
    Sinusoidal,
)
from tests.empirical.twins import normal


def test_sinusoidal_transformers_agrees():
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

    theirs = create_sinusoidal_embeddings(512, 16, torch.zeros(512, 16))
    ours = Sinusoidal(width=16).embed(torch.zeros(1, 512, 16), torch.arange(512))[0]
    # Both are float64 angles rounded once, with powers of 10000 taken in a different order.
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1.2e-7)


@pytest.mark.parametrize("base", [1.0, 0.25])
def test_sinusoidal_a_base_of_at_most_one_is_accepted(base):
    """Later planes are then as fast as the first, or faster."""
    angles = torch.tensor([[3.0, 3.0 * base**-0.5]], dtype=torch.float64)
    expected = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
    torch.testing.assert_close(Sinusoidal(width=4, base=base).code(torch.tensor([3])), expected)


def test_table_rows_beyond_the_training_length_have_no_gradient():
    encoding, x = LearnedAbsolute(length=6, width=4), normal(1, 3, 4, 4, dtype=torch.float32)
    coded = encoding.embed(x, torch.arange(4))
    (coded @ coded.mT).softmax(-1).square().sum().backward()
    assert (encoding.table.grad.abs().sum(-1) > 0).tolist() == [True] * 4 + [False] * 2


@pytest.mark.parametrize("width", [1, 2, 5, 64])
def test_numpy_agrees_on_legendre_polynomials(width):
    codes = LegendreCode(width=width, trained_length=500).code(torch.arange(500)).numpy()
    right = legvander(np.linspace(-1, 1, 500), width - 1) * np.sqrt(2 * np.arange(width) + 1)
    np.testing.assert_allclose(codes, right, rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [2, 7, 64])
def test_scipy_agrees_on_the_dct_and_the_columns_are_orthogonal(length):
    codes = CosineCode(width=length, trained_length=length).code(torch.arange(length)).numpy()
    np.testing.assert_allclose(codes, scipy.fft.dct(np.eye(length), type=2) / 2, rtol=0, atol=2e-15)
    norms = np.diag([length, *[length / 2] * (length - 1)])
    np.testing.assert_allclose(codes.T @ codes, norms, rtol=0, atol=length * 2e-15)


@pytest.mark.parametrize("width", [1, 3, 8, 11, 16])
def test_haar_functions_are_orthonormal_and_have_as_many_codes_as_the_width(width):
    codes = HaarCode(width=width, trained_length=64).code(torch.arange(64))
    torch.testing.assert_close(codes.T @ codes / 64, torch.eye(width).double(), rtol=0, atol=1e-15)
    assert len(codes.unique(dim=0)) == width
    assert not HaarCode(width=width, trained_length=64).code(torch.tensor([64, 10**6])).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_raw_codes_beyond_the_type_are_refused_and_named(dtype):
    module, x = LegendreCode(width=16, trained_length=10, beyond="raw"), torch.zeros(2, 2, 16, dtype=dtype)
    assert module.embed(x, torch.tensor([0, 10])).isfinite().all()
    with pytest.raises(ValueError, match="the raw Legendre code of position 9000 exceeds the largest"):
        module.embed(x, torch.tensor([[0, 9001], [9000, 2]]))
    with pytest.raises(ValueError, match="of position 1000000000 exceeds the largest"):
        LegendreCode(width=64, trained_length=2, beyond="raw").embed(
            torch.zeros(1, 1, 64).double(), torch.tensor([10**9])
        )


def test_an_embedding_that_was_infinite_before_is_no_fault_of_the_code():
    x = torch.full((1, 1, 4), torch.inf)
    assert LegendreCode(width=4, trained_length=10, beyond="raw").embed(x, torch.tensor([3])).isinf().all()
