"""Absolute position codes in torch: sinusoids, a learned table, and orthogonal functions."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.fft
import sympy as sp
import torch
from numpy.polynomial.legendre import legvander

from lengthgen.empirical.encodings.absolute import (
    CosineCode,
    HaarCode,
    LearnedAbsolute,
    LegendreCode,
    OrthogonalCode,
    Sinusoidal,
)
from lengthgen.empirical.encodings.agreement import TOLERANCE, largest_difference
from lengthgen.empirical.encodings.modules import named
from lengthgen.theory.encodings import absolute
from tests.empirical.twins import normal

# An angle of 10^6 in float64 is off by some 10^6 eps, and so are its sine and cosine.


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


LENGTH, SIZE = 6, 4


@pytest.fixture
def encoding():
    torch.manual_seed(0)
    return LearnedAbsolute(length=LENGTH, width=SIZE)


@pytest.mark.parametrize("length", range(1, LENGTH + 1))
def test_table_rows_beyond_the_training_length_have_no_gradient(encoding, length):
    x = normal(1, 3, length, SIZE, dtype=torch.float32)
    coded = encoding.embed(x, torch.arange(length))
    (coded @ coded.transpose(-1, -2)).softmax(-1).square().sum().backward()
    moved = encoding.table.grad.abs().sum(-1) > 0
    assert not moved[length:].any() and (length == 1 or moved[:length].all())


POLICIES = ("rescale", "clamp", "raw")


@pytest.mark.parametrize("plane_off", [0, 1])
@pytest.mark.parametrize("record", absolute.ORTHOGONAL, ids=lambda record: record.name)
def test_the_general_comparison_of_module_and_formulas_agrees_for_the_right_planes_alone(record, plane_off):
    def values(module: OrthogonalCode, head: int, plane: int) -> dict[sp.Symbol, int]:
        return {absolute.PLANE: plane + plane_off, absolute.TRAINED_LENGTH: module.trained_length}

    module = named(record.name, heads=2, head_dim=4, length=600)
    assert (largest_difference(replace(record, values=values), module) < TOLERANCE) == (plane_off == 0)


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


def test_policies_agree_within_the_trained_length_and_differ_beyond():
    modules = [LegendreCode(width=6, trained_length=40, beyond=beyond) for beyond in POLICIES]
    inside = [module.code(torch.arange(40)) for module in modules]
    assert torch.equal(inside[0], inside[1]) and torch.equal(inside[0], inside[2])
    rescaled, clamped, raw = (module.code(torch.arange(80)) for module in modules)
    assert not torch.isclose(rescaled[1:40], inside[0][1:], rtol=1e-3).all(-1).any()
    assert torch.equal(clamped[40:], clamped[39].expand(40, -1)) and torch.equal(clamped[:40], inside[0])
    assert torch.equal(raw[:40], inside[0]) and (raw[40:, 1:] > raw[39, 1:]).all()


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
