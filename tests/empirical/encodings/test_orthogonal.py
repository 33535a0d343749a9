"""Orthogonal codes in torch: symbolic twins at hostile positions, libraries in use, and what happens far away."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.fft
import sympy as sp
import torch
from numpy.polynomial.legendre import legvander
from torch import Tensor

from lengthgen.empirical.encodings.absolute import CosineCode, HaarCode, LegendreCode, OrthogonalCode
from lengthgen.empirical.encodings.agreement import TOLERANCE, largest_difference
from lengthgen.empirical.encodings.catalogue import named
from lengthgen.theory.encodings import absolute
from lengthgen.theory.encodings.encoding import Encoding
from tests.empirical.twins import HOSTILE, exact

WIDTH, TRAINED = 16, 3000
U = 2.0**-53
"""Unit roundoff of float64."""
POLICIES = ("rescale", "clamp", "raw")


def twin(beyond: str) -> Encoding:
    """Legendre record with one policy beyond the trained length."""

    def coordinate(index: sp.Expr, length: sp.Expr) -> sp.Expr:
        return absolute.legendre_coordinate(index, length=length, trained_length=absolute.TRAINED_LENGTH, beyond=beyond)

    return replace(absolute.LEGENDRE, positions=coordinate)


def expected(record: Encoding, positions: tuple[int, ...]) -> Tensor:
    """Codes of the formulas, each entry rounded once: float64 [P, D]."""
    rows = []
    for position in positions:
        at = sp.Integer(position)
        moved = record.positions(at, sp.Integer(max(positions) + 1)) if record.positions else at
        plane = record.embed(moved).subs(absolute.TRAINED_LENGTH, TRAINED)
        rows.append([exact(entry) for number in range(WIDTH // 2) for entry in plane.subs(absolute.PLANE, number)])
    return torch.tensor(rows, dtype=torch.float64)


def budget(width: int = WIDTH) -> Tensor:
    """Bound of the recurrence's relative error, n by n: x is off by U, P_n changes n (n + 1) / 2 times as much."""
    degrees = torch.arange(width, dtype=torch.float64)
    return 4 * U * (degrees + 1) ** 2


@pytest.mark.parametrize("beyond", POLICIES)
def test_legendre_codes_are_those_of_the_formula(beyond):
    """Inside [-1, 1] the error is relative to the largest value sqrt(2n + 1); for raw codes, to the value itself."""
    codes = LegendreCode(width=WIDTH, trained_length=TRAINED, beyond=beyond).code(torch.tensor(HOSTILE))
    right = expected(twin(beyond), HOSTILE)
    size = torch.maximum(right.abs(), (2 * torch.arange(WIDTH) + 1).double().sqrt())
    assert ((codes - right).abs() <= budget() * size).all()
    if beyond == "raw":
        assert right[-1, -1] > 1e40  # so that the far codes are far indeed


@pytest.mark.parametrize(("make", "record"), [(HaarCode, absolute.HAAR), (CosineCode, absolute.DCT)])
def test_codes_are_those_of_the_formula_at_hostile_positions(make, record):
    codes = make(width=WIDTH, trained_length=TRAINED).code(torch.tensor(HOSTILE))
    torch.testing.assert_close(codes, expected(record, HOSTILE), rtol=2 * U, atol=8 * U)


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


def test_each_row_is_rescaled_by_its_own_length():
    module = LegendreCode(width=4, trained_length=8)
    rows = torch.stack((torch.arange(12), torch.arange(12) + 20))
    for row, codes in zip(rows, module.code(rows), strict=True):
        assert torch.equal(codes, module.code(row))


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


@pytest.mark.parametrize("make", [LegendreCode, HaarCode, CosineCode])
def test_embeddings_of_another_width_are_refused(make):
    with pytest.raises(ValueError, match="embeddings are 1 wide, not width = 4"):
        make(width=4, trained_length=9).embed(torch.zeros(1, 3, 1), torch.arange(3))


@pytest.mark.parametrize("make", [LegendreCode, HaarCode, CosineCode])
def test_the_sum_is_rounded_once(make):
    x = torch.randn(1, 9, 8, generator=torch.Generator().manual_seed(0)).bfloat16()
    module: OrthogonalCode = make(width=8, trained_length=9)
    right = x.double() + module.code(torch.arange(9))
    error = (module.embed(x, torch.arange(9)).double() - right).abs()
    assert (error <= 1.01 * torch.finfo(torch.bfloat16).eps / 2 * right.abs() + 1e-6).all()
