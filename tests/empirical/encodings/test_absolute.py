"""Absolute position codes in torch: sinusoids, a learned table, and orthogonal functions."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.fft
import sympy as sp
import torch
from numpy.polynomial.legendre import legvander
from torch import Tensor

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
from lengthgen.theory.encodings import absolute, rotary
from lengthgen.theory.encodings.encoding import WIDTH, Encoding
from tests.empirical.twins import HOSTILE, exact, normal, symbolic_scores

SINUSOIDAL_WIDTH = 6
# An angle of 10^6 in float64 is off by some 10^6 eps, and so are its sine and cosine.
FAR = 4e6 * 2.2e-16


def test_sinusoidal_code_is_that_of_its_symbolic_twin_at_hostile_positions():
    codes = Sinusoidal(width=SINUSOIDAL_WIDTH).embed(
        torch.zeros(1, len(HOSTILE), SINUSOIDAL_WIDTH).double(), torch.tensor(HOSTILE)
    )
    for row, position in enumerate(HOSTILE):
        planes = [
            absolute.sinusoidal_code(position, frequency=frequency)
            for frequency in rotary.frequencies(SINUSOIDAL_WIDTH)
        ]
        expected = torch.tensor([exact(entry) for plane in planes for entry in plane], dtype=torch.float64)
        torch.testing.assert_close(codes[0, row], expected, rtol=0, atol=FAR)


def test_sinusoidal_scores_are_those_of_its_symbolic_twin():
    q, k = normal(0, 2, 1, len(HOSTILE), SINUSOIDAL_WIDTH)
    encoding = Sinusoidal(width=SINUSOIDAL_WIDTH)
    coded_q, coded_k = (encoding.embed(x, torch.tensor(HOSTILE)) for x in (q, k))
    scores = (coded_q @ coded_k.transpose(-1, -2))[0]
    planes = [{rotary.FREQUENCY: frequency} for frequency in rotary.frequencies(SINUSOIDAL_WIDTH)]
    expected = symbolic_scores(absolute.SINUSOIDAL, planes, q[0], k[0], HOSTILE)
    seen = ~expected.isnan()
    size = (1 + max(q.abs().max(), k.abs().max())) * 2 * SINUSOIDAL_WIDTH
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=float(FAR * size))


def test_sinusoidal_transformers_agrees():
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

    theirs = create_sinusoidal_embeddings(512, 16, torch.zeros(512, 16))
    ours = Sinusoidal(width=16).embed(torch.zeros(1, 512, 16), torch.arange(512))[0]
    # Both are float64 angles rounded once, with powers of 10000 taken in a different order.
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1.2e-7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_sinusoidal_narrow_types_stay_within_their_budget(dtype):
    """Rounded are the code to float32, the sum in float32, and the sum to the type."""
    x = normal(1, 2, len(HOSTILE), SINUSOIDAL_WIDTH).to(dtype)
    encoding, positions = Sinusoidal(width=SINUSOIDAL_WIDTH), torch.tensor(HOSTILE)
    right = encoding.embed(x.double(), positions)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    error = (encoding.embed(x, positions).double() - right).abs()
    assert (error <= 1.01 * (single + (single + last) * right.abs())).all()


@pytest.mark.parametrize("width", [0, 7, -2])
def test_sinusoidal_an_odd_width_is_refused(width):
    with pytest.raises(ValueError, match=f"width must be a positive even number, not {width}"):
        Sinusoidal(width=width)


def test_sinusoidal_embeddings_of_another_width_are_refused():
    with pytest.raises(ValueError, match="embeddings are 1 wide, not width = 4"):
        Sinusoidal(width=4).embed(torch.zeros(1, 3, 1), torch.arange(3))


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


def test_table_is_its_symbolic_twin_at_hostile_positions():
    torch.manual_seed(1)
    encoding = LearnedAbsolute(length=max(HOSTILE) + 1, width=SIZE).double()
    q, k = normal(0, 2, 1, len(HOSTILE), SIZE)
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


def test_table_as_many_numbers_are_trained_as_the_symbolic_twin_says(encoding):
    trained = sum(parameter.numel() for parameter in encoding.parameters())
    assert trained == absolute.LEARNED.learned.subs({absolute.TABLE_ROWS: LENGTH, WIDTH: SIZE})
    assert absolute.LEARNED.limit.subs(absolute.TABLE_ROWS, LENGTH) == LENGTH


@pytest.mark.parametrize("length", range(1, LENGTH + 1))
def test_table_rows_beyond_the_training_length_have_no_gradient(encoding, length):
    x = normal(1, 3, length, SIZE, dtype=torch.float32)
    coded = encoding.embed(x, torch.arange(length))
    (coded @ coded.transpose(-1, -2)).softmax(-1).square().sum().backward()
    moved = encoding.table.grad.abs().sum(-1) > 0
    assert not moved[length:].any() and (length == 1 or moved[:length].all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_table_narrow_types_stay_within_their_budget(encoding, dtype):
    """The sum is rounded in float32 and to the type; rows are float32 numbers."""
    x = normal(2, 2, LENGTH, SIZE).to(dtype)
    codes = encoding.embed(x, torch.arange(LENGTH))
    right = x.double() + encoding.table.double()
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    assert codes.dtype == dtype
    assert ((codes.double() - right).abs() <= 1.01 * (single + last) * right.abs()).all()


@pytest.mark.parametrize("position", [LENGTH, -1, 10**6])
def test_table_a_position_that_has_no_row_is_refused_and_not_clamped(encoding, position):
    with pytest.raises(ValueError, match=f"position {position} is not in the table of 6 positions, 0 to 5"):
        encoding.embed(torch.zeros(1, 2, SIZE), torch.tensor([0, position]))


def test_table_embeddings_of_another_width_are_refused(encoding):
    with pytest.raises(ValueError, match="embeddings are 1 wide, not width = 4"):
        encoding.embed(torch.zeros(1, 3, 1), torch.arange(3))


@pytest.mark.parametrize(("length", "width"), [(0, 4), (4, 0), (-1, 4)])
def test_an_empty_table_is_refused(length, width):
    with pytest.raises(ValueError, match=f"length and width must be at least 1, not {length} and {width}"):
        LearnedAbsolute(length=length, width=width)


ORTHOGONAL_WIDTH, TRAINED = 16, 3000
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
        rows.append(
            [exact(entry) for number in range(ORTHOGONAL_WIDTH // 2) for entry in plane.subs(absolute.PLANE, number)]
        )
    return torch.tensor(rows, dtype=torch.float64)


def budget(width: int = ORTHOGONAL_WIDTH) -> Tensor:
    """Bound of the recurrence's relative error, n by n: x is off by U, P_n changes n (n + 1) / 2 times as much."""
    degrees = torch.arange(width, dtype=torch.float64)
    return 4 * U * (degrees + 1) ** 2


@pytest.mark.parametrize("beyond", POLICIES)
def test_legendre_codes_are_those_of_the_formula(beyond):
    """Inside [-1, 1] the error is relative to the largest value sqrt(2n + 1); for raw codes, to the value itself."""
    codes = LegendreCode(width=ORTHOGONAL_WIDTH, trained_length=TRAINED, beyond=beyond).code(torch.tensor(HOSTILE))
    right = expected(twin(beyond), HOSTILE)
    size = torch.maximum(right.abs(), (2 * torch.arange(ORTHOGONAL_WIDTH) + 1).double().sqrt())
    assert ((codes - right).abs() <= budget() * size).all()
    if beyond == "raw":
        assert right[-1, -1] > 1e40  # so that the far codes are far indeed


@pytest.mark.parametrize(("make", "record"), [(HaarCode, absolute.HAAR), (CosineCode, absolute.DCT)])
def test_codes_are_those_of_the_formula_at_hostile_positions(make, record):
    codes = make(width=ORTHOGONAL_WIDTH, trained_length=TRAINED).code(torch.tensor(HOSTILE))
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
def test_orthogonal_embeddings_of_another_width_are_refused(make):
    with pytest.raises(ValueError, match="embeddings are 1 wide, not width = 4"):
        make(width=4, trained_length=9).embed(torch.zeros(1, 3, 1), torch.arange(3))


@pytest.mark.parametrize("make", [LegendreCode, HaarCode, CosineCode])
def test_the_sum_is_rounded_once(make):
    x = torch.randn(1, 9, 8, generator=torch.Generator().manual_seed(0)).bfloat16()
    module: OrthogonalCode = make(width=8, trained_length=9)
    right = x.double() + module.code(torch.arange(9))
    error = (module.embed(x, torch.arange(9)).double() - right).abs()
    assert (error <= 1.01 * torch.finfo(torch.bfloat16).eps / 2 * right.abs() + 1e-6).all()
