"""GRAPE in torch: rotations of learned planes against matrix exponentials, small angles, and sums along paths."""

import numpy as np
import pytest
import sympy as sp
import torch
from scipy.linalg import block_diag, expm

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.grape import SMALL, Grape, GrapeContextual, GrapePath
from lengthgen.theory.encodings import grape, rotary
from tests.empirical.encodings.table import HEAD_DIM, HEADS, make, shaken
from tests.empirical.twins import DIGITS, HOSTILE, normal, symbolic_scores

EPS = torch.finfo(torch.float64).eps


def make_grape(heads=2, head_dim=4, a=None, b=None):
    encoding = Grape(heads=heads, head_dim=head_dim).double()
    with torch.no_grad():
        encoding.a.copy_(normal(1, heads, head_dim) if a is None else a)
        encoding.b.copy_(normal(2, heads, head_dim) if b is None else b)
    return encoding


def exact(vector):
    return [sp.Rational(value) for value in vector.tolist()]


def exact_turn(a, b, position, x):
    """exp(position L(a, b)) x with the symbolic closed form, 40 digits."""
    gram = grape.Gram.of(exact(a), exact(b))
    speed = sp.sqrt(grape.squared_speed(gram))
    products = sp.Matrix([exact(a), exact(b)]) * sp.Matrix(exact(x))
    moved = grape.displacement(
        gram, along_a=products[0], along_b=products[1], time=sp.Integer(position), speed=sp.N(speed, DIGITS)
    )
    frame = sp.Matrix([exact(a), exact(b)]).T
    turned = sp.N(sp.Matrix(exact(x)) + frame * moved, DIGITS)
    return torch.tensor([float(value) for value in turned], dtype=torch.float64)


def test_grape_is_its_symbolic_twin_at_hostile_positions():
    positions, encoding = torch.tensor(HOSTILE), make_grape()
    q, k = normal(3, 2, 1, 2, len(HOSTILE), 4)
    rotated = encoding.rotate(q, k, positions)
    for vectors, turned in zip((q, k), rotated, strict=True):
        for head in range(2):
            a, b = encoding.a[head].detach(), encoding.b[head].detach()
            area = float(grape.squared_speed(grape.Gram.of(exact(a), exact(b)))) ** 0.5
            skewness = float(a.norm() * b.norm()) / area
            for row, position in enumerate(HOSTILE):
                right = exact_turn(a, b, position, vectors[0, head, row])
                # s^2 has 16 rounded squares, so the angle is off by 16 eps of itself; products are off by |a||b|/s eps.
                budget = (16 * position * area + 40 * skewness) * EPS * vectors[0, head, row].norm() * skewness
                assert (turned[0, head, row] - right).abs().max() <= budget


def test_grape_scores_on_the_plane_are_those_of_the_record():
    speed = 0.625
    encoding = make_grape(heads=1, head_dim=2, a=torch.tensor([[0.0, 1.0]]), b=torch.tensor([[speed, 0.0]]))
    q, k = normal(4, 2, 1, 1, len(HOSTILE), 2)
    turned_q, turned_k = encoding.rotate(q, k, torch.tensor(HOSTILE))
    expected = symbolic_scores(grape.GRAPE, [{grape.SPEED: sp.Rational(speed)}], q[0, 0], k[0, 0], HOSTILE)
    seen = ~expected.isnan()
    torch.testing.assert_close((turned_q @ turned_k.mT)[0, 0][seen], expected[seen], rtol=0, atol=4e6 * EPS * 4)


def generator(name, encoding, head):
    """Dense generator of the rotation of one head, [C, C]."""
    if name == "grape":
        a, b = (vector[head].detach().numpy() for vector in (encoding.a, encoding.b))
        return np.outer(a, b) - np.outer(b, a)
    if name == "grape-commuting":
        basis, frequencies = encoding.basis()[head].detach().numpy(), encoding.frequencies()[head].tolist()
        return basis @ block_diag(*(np.array([[0, -w], [w, 0]]) for w in frequencies)) @ basis.T
    lower, subspace = np.zeros((encoding.rank, encoding.rank)), encoding.subspace()[head].detach().numpy()
    lower[np.tril_indices(encoding.rank, -1)] = encoding.generator[head].detach().numpy()
    np.testing.assert_allclose(subspace.T @ subspace, np.eye(encoding.rank), atol=1e-14)
    return subspace @ (lower - lower.T) @ subspace.T


@pytest.mark.parametrize("position", [0, 1, 9, 31])
@pytest.mark.parametrize("name", ["grape", "grape-commuting", "grape-thin[rank=2]", "grape-thin[rank=4]"])
def test_a_rotation_is_the_matrix_exponential_of_its_generator(name, position):
    encoding, q = shaken(make(name, head_dim=7 if name == "grape" else 6)), normal(5, 1, HEADS, 1, 7)
    q = q if name == "grape" else q[..., :6]
    turned = encoding.rotate(q, q, torch.tensor([position]))[0].detach()
    for head in range(HEADS):
        right = torch.tensor(expm(position * generator(name, encoding, head))) @ q[0, head, 0]
        torch.testing.assert_close(turned[0, head, 0], right, rtol=0, atol=1e-11)


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-5, 2e-4, 1e-3])
def test_nearly_parallel_vectors_lose_nothing(distance):
    """Around z^2 = 1e-7, where the series takes over, and far into it, to the exact turn."""
    a, b = torch.tensor([[[1.0, 0.0, 0.0, 0.0]], [[1.0, distance, 0.0, 0.0]]], dtype=torch.float64)
    encoding, q = make_grape(heads=1, a=a, b=b), normal(7, 1, 1, 1, 4)
    turned, _ = encoding.rotate(q, q, torch.tensor([1]))
    plane = torch.tensor([[0.0, -distance], [distance, 0.0]], dtype=torch.float64)
    right = q[0, 0, 0].clone()
    right[:2] = torch.matrix_exp(-plane) @ q[0, 0, 0, :2]
    assert (turned[0, 0, 0] - right).abs().max() <= 16 * EPS * q.norm()
    turned.sum().backward()
    assert encoding.a.grad.isfinite().all() and encoding.b.grad.abs().max() > 0


SPEED, PLACES = sp.Rational(1, 10**5), (1, 10, 30, 31, 32, 33, 100)


@pytest.mark.parametrize("position", PLACES)
def test_the_shares_of_small_angles_are_the_formulas_on_both_sides_of_the_series(position):
    """(1 - cos z)/z^2 near 0 moves a turned vector by z^4/24, below float64's grain; its gradient it moves by z^3/6."""
    a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, float(SPEED)]], dtype=torch.float64)
    turn, retreat = make_grape(heads=1, head_dim=2, a=a, b=b)._factors(torch.tensor([position]))
    angle = position * SPEED
    sine, cosine = (float(share(angle).evalf(30)) for share in (grape.sine_share, grape.cosine_share))
    assert turn.item() == pytest.approx(position * sine, rel=1e-14)
    assert retreat.item() == pytest.approx(position**2 * cosine, rel=1e-14)
    assert {place for place in PLACES if float((place * SPEED) ** 2) < SMALL} == {1, 10, 30, 31}


def test_commuting_planes_score_as_their_record_in_coordinates_at_hostile_positions():
    encoding, positions = shaken(make("grape-commuting")), torch.tensor(HOSTILE)
    q, k = normal(0, 2, 1, HEADS, len(HOSTILE), HEAD_DIM)
    turned_q, turned_k = (rotated.detach() for rotated in encoding.rotate(q, k, positions))
    basis, frequencies = encoding.basis().detach(), encoding.frequencies().detach()
    for head in (0, HEADS - 1):
        planes = [{rotary.FREQUENCY: sp.Rational(frequency)} for frequency in frequencies[head].tolist()]
        expected = symbolic_scores(grape.COMMUTING, planes, q[0, head] @ basis[head], k[0, head] @ basis[head], HOSTILE)
        seen = ~expected.isnan()
        # An angle of 10^6 theta is off by that times eps, and so is its cosine; a score by that times |q| |k|.
        reach = 4e6 * float(frequencies.max()) * EPS * HEAD_DIM**2
        torch.testing.assert_close((turned_q @ turned_k.mT)[0, head][seen], expected[seen], rtol=0, atol=reach)


ORDER = torch.tensor([3, 0, 6, 1, 5, 2, 4])


def test_sums_along_tokens_follow_positions_not_indices():
    x, positions = normal(10, 2, 7, 5), torch.arange(7)
    contextual = shaken(GrapeContextual(width=5, head_dim=6, layers=1).double())
    straight = contextual.phases(positions, Content(x_BLD=x))
    shuffled = contextual.phases(ORDER, Content(x_BLD=x[:, ORDER]))
    torch.testing.assert_close(shuffled, straight[:, ORDER], rtol=1e-14, atol=0)
    assert (straight[:, 0] == 0).all()
    path = shaken(GrapePath(heads=2, width=5, layers=1).double())
    straight = path.bias(positions, positions, Content(x_BLD=x), dtype=torch.float64)
    shuffled = path.bias(ORDER, ORDER, Content(x_BLD=x[:, ORDER]), dtype=torch.float64)
    torch.testing.assert_close(shuffled, straight[..., ORDER, :][..., ORDER], rtol=1e-12, atol=1e-12)


def test_narrow_inputs_still_add_up_in_float64():
    """Half-precision phases after 4,000 tokens differ from the wide ones by the rounding of the logits only."""
    encoding = shaken(GrapeContextual(width=5, head_dim=6, layers=2))
    x = normal(14, 1, 4000, 5).to(torch.bfloat16)
    phases = encoding.phases(torch.arange(4000), Content(x_BLD=x)).detach()
    right = encoding.double().phases(torch.arange(4000), Content(x_BLD=x.double())).detach()
    single = torch.finfo(torch.float32).eps / 2
    steps = torch.arange(4000) * (5 + 2) * single * (x.abs().amax().double() * 5 + 1)
    assert ((phases - right).abs() <= steps).all() and phases.dtype == torch.float64


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_path_rows_at_a_time_change_nothing_and_no_key_is_rewarded_for_its_distance(rows, monkeypatch):
    x, positions = Content(x_BLD=normal(5, 2, 7, 5)), torch.arange(7)
    path = shaken(GrapePath(heads=2, width=5, layers=1).double())
    bias = path.bias(positions, positions, x, dtype=torch.float64)
    monkeypatch.setattr("lengthgen.empirical.encodings.grape._ROWS", rows)
    torch.testing.assert_close(path.bias(positions, positions, x, dtype=torch.float64), bias, rtol=1e-13, atol=0)
    assert (bias.diff(dim=-1)[..., torch.ones(7, 7).tril(-1).bool()[:, :-1]] > 0).all()
    assert (bias.diagonal(dim1=-1, dim2=-2) == 0).all() and (bias.triu(1) == 0).all()
