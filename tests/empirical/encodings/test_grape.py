"""GRAPE in torch: rotations of learned planes, and biases with learned slopes, gates and edges."""

import numpy as np
import pytest
import sympy as sp
import torch
from scipy.linalg import block_diag, expm

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.grape import (
    SMALL,
    Grape,
    GrapeCommuting,
    GrapeContextual,
    GrapeGated,
    GrapePath,
    GrapeThin,
)
from lengthgen.empirical.encodings.rotary import Rotary
from lengthgen.theory.encodings import grape, rotary
from tests.empirical.twins import DIGITS, HOSTILE, normal, symbolic_scores

GRAPE_HEADS, GRAPE_HEAD_DIM = 2, 4
EPS = torch.finfo(torch.float64).eps


def make_grape(heads=GRAPE_HEADS, head_dim=GRAPE_HEAD_DIM, a=None, b=None):
    torch.manual_seed(0)
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
    return torch.tensor(
        [float(value) for value in sp.N(sp.Matrix(exact(x)) + frame * moved, DIGITS)], dtype=torch.float64
    )


def test_it_is_its_symbolic_twin_at_hostile_positions():
    positions, encoding = torch.tensor(HOSTILE), make_grape()
    q, k = normal(3, 2, 1, GRAPE_HEADS, len(HOSTILE), GRAPE_HEAD_DIM)
    rotated = encoding.rotate(q, k, positions)
    for vectors, turned in zip((q, k), rotated, strict=True):
        for head in range(GRAPE_HEADS):
            a, b = encoding.a[head].detach(), encoding.b[head].detach()
            area = float(grape.squared_speed(grape.Gram.of(exact(a), exact(b)))) ** 0.5
            skewness = float(a.norm() * b.norm()) / area
            for row, position in enumerate(HOSTILE):
                right = exact_turn(a, b, position, vectors[0, head, row])
                # s^2 has 16 rounded squares, so the angle is off by 16 eps of itself; products are off by |a||b|/s eps.
                budget = (16 * position * area + 40 * skewness) * EPS * vectors[0, head, row].norm() * skewness
                assert (turned[0, head, row] - right).abs().max() <= budget


def test_scores_on_the_plane_are_those_of_the_symbolic_encoding():
    speed = 0.625
    encoding = make_grape(heads=1, head_dim=2, a=torch.tensor([[0.0, 1.0]]), b=torch.tensor([[speed, 0.0]]))
    q, k = normal(4, 2, 1, 1, len(HOSTILE), 2)
    turned_q, turned_k = encoding.rotate(q, k, torch.tensor(HOSTILE))
    scores = (turned_q @ turned_k.transpose(-1, -2))[0, 0]
    expected = symbolic_scores(grape.GRAPE, [{grape.SPEED: sp.Rational(speed)}], q[0, 0], k[0, 0], HOSTILE)
    seen = ~expected.isnan()
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=4e6 * EPS * 4)


@pytest.mark.parametrize("position", [0, 1, 5, 31])
def test_it_is_the_matrix_exponential_of_the_library(position):
    encoding = make_grape(head_dim=7)
    q = normal(5, 1, GRAPE_HEADS, 1, 7)
    turned, _ = encoding.rotate(q, q, torch.tensor([position]))
    for head in range(GRAPE_HEADS):
        a, b = encoding.a[head].detach(), encoding.b[head].detach()
        dense = torch.tensor(expm(position * (torch.outer(a, b) - torch.outer(b, a)).numpy()))
        torch.testing.assert_close(turned[0, head, 0], dense @ q[0, head, 0], rtol=0, atol=1e-11)


def test_a_head_of_two_can_be_rope():
    encoding = make_grape(heads=1, head_dim=2, a=torch.tensor([[0.0, 1.0]]), b=torch.tensor([[1.0, 0.0]]))
    q, k = normal(6, 2, 3, 1, len(HOSTILE), 2)
    positions = torch.tensor(HOSTILE)
    torch.testing.assert_close(
        encoding.rotate(q, k, positions), Rotary(head_dim=2).rotate(q, k, positions), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-5, 2e-4, 1e-3])
def test_nearly_parallel_vectors_lose_nothing(distance):
    """Around z^2 = 1e-7, where the series takes over, and far into it, to the exact turn."""
    a, b = torch.tensor([[[1.0, 0.0, 0.0, 0.0]], [[1.0, distance, 0.0, 0.0]]], dtype=torch.float64)
    encoding = make_grape(heads=1, a=a, b=b)
    q = normal(7, 1, 1, 1, GRAPE_HEAD_DIM)
    turned, _ = encoding.rotate(q, q, torch.tensor([1]))
    plane = torch.tensor([[0.0, -distance], [distance, 0.0]], dtype=torch.float64)
    right = q[0, 0, 0].clone()
    right[:2] = torch.matrix_exp(-plane) @ q[0, 0, 0, :2]
    assert (turned[0, 0, 0] - right).abs().max() <= 16 * EPS * q.norm()


def test_the_series_takes_over_where_it_is_exact():
    edge = SMALL**0.5
    assert abs(1 - edge**2 / 6 - float(sp.sin(sp.Rational(edge)).evalf(30)) / edge) <= EPS
    assert abs(0.5 - edge**2 / 24 - float((1 - sp.cos(sp.Rational(edge))).evalf(30)) / edge**2) <= EPS


def test_parallel_vectors_turn_nothing_and_still_have_gradients():
    same = normal(8, GRAPE_HEADS, GRAPE_HEAD_DIM)
    encoding = make_grape(a=same, b=2 * same)
    q, k = normal(9, 2, 1, GRAPE_HEADS, 3, GRAPE_HEAD_DIM)
    turned_q, turned_k = encoding.rotate(q, k, torch.arange(3))
    torch.testing.assert_close((turned_q, turned_k), (q, k), rtol=1e-14, atol=1e-14)
    (turned_q * normal(10, *q.shape)).sum().backward()
    assert encoding.a.grad.isfinite().all() and encoding.b.grad.isfinite().all() and encoding.b.grad.abs().max() > 0


GRAPE_PLANES_HEADS, GRAPE_PLANES_HEAD_DIM, GRAPE_PLANES_WIDTH, GRAPE_PLANES_LAYERS, GRAPE_PLANES_LENGTH = 2, 6, 5, 2, 7


def with_random_parameters(encoding, seed=5):
    """Move every trained number away from its start."""
    with torch.no_grad():
        for place, parameter in enumerate(encoding.parameters()):
            parameter.add_(0.3 * normal(seed + place, *parameter.shape).to(parameter.dtype))
    return encoding


def commuting():
    return with_random_parameters(GrapeCommuting(heads=GRAPE_PLANES_HEADS, head_dim=GRAPE_PLANES_HEAD_DIM).double())


def thin(rank=4):
    torch.manual_seed(0)
    return with_random_parameters(
        GrapeThin(heads=GRAPE_PLANES_HEADS, head_dim=GRAPE_PLANES_HEAD_DIM, rank=rank).double()
    )


def contextual(seed=5):
    return with_random_parameters(
        GrapeContextual(width=GRAPE_PLANES_WIDTH, head_dim=GRAPE_PLANES_HEAD_DIM, layers=GRAPE_PLANES_LAYERS).double(),
        seed,
    )


def test_commuting_is_its_symbolic_twin_in_coordinates_at_hostile_positions():
    encoding, positions = commuting(), torch.tensor(HOSTILE)
    q, k = normal(0, 2, 1, GRAPE_PLANES_HEADS, len(HOSTILE), GRAPE_PLANES_HEAD_DIM)
    turned_q, turned_k = (rotated.detach() for rotated in encoding.rotate(q, k, positions))
    scores = turned_q @ turned_k.transpose(-1, -2)
    basis, frequencies = encoding.basis().detach(), encoding.frequencies().detach()
    for head in range(GRAPE_PLANES_HEADS):
        planes = [{rotary.FREQUENCY: sp.Rational(frequency)} for frequency in frequencies[head].tolist()]
        coordinates = q[0, head] @ basis[head], k[0, head] @ basis[head]
        expected = symbolic_scores(grape.COMMUTING, planes, *coordinates, HOSTILE)
        seen = ~expected.isnan()
        # An angle of 10^6 theta is off by that times eps, and so is its cosine; a score by that times |q| |k|.
        reach = 4e6 * float(frequencies.max()) * EPS * GRAPE_PLANES_HEAD_DIM**2
        torch.testing.assert_close(scores[0, head][seen], expected[seen], rtol=0, atol=reach)


@pytest.mark.parametrize("position", [0, 1, 9])
def test_commuting_is_the_matrix_exponential_of_its_generator(position):
    encoding = commuting()
    q = normal(1, 1, GRAPE_PLANES_HEADS, 1, GRAPE_PLANES_HEAD_DIM)
    turned = encoding.rotate(q, q, torch.tensor([position]))[0].detach()
    for head in range(GRAPE_PLANES_HEADS):
        basis, frequencies = encoding.basis()[head].detach().numpy(), encoding.frequencies()[head].tolist()
        generator = basis @ block_diag(*(np.array([[0, -w], [w, 0]]) for w in frequencies)) @ basis.T
        right = torch.tensor(expm(position * generator)) @ q[0, head, 0]
        torch.testing.assert_close(turned[0, head, 0], right, rtol=0, atol=1e-12)


def test_its_basis_is_orthogonal_and_no_coordinate_basis():
    basis = commuting().basis().detach()
    identity = torch.eye(GRAPE_PLANES_HEAD_DIM, dtype=torch.float64)
    torch.testing.assert_close(
        basis.transpose(-1, -2) @ basis, identity.expand(GRAPE_PLANES_HEADS, -1, -1), rtol=0, atol=1e-14
    )
    assert (basis - identity).abs().max() > 0.1 and not torch.allclose(basis[0], basis[1])


@pytest.mark.parametrize("rank", [2, 4, 6])
@pytest.mark.parametrize("position", [0, 1, 9])
def test_thin_is_the_matrix_exponential_of_its_generator(rank, position):
    encoding = thin(rank)
    q = normal(3, 1, GRAPE_PLANES_HEADS, 1, GRAPE_PLANES_HEAD_DIM)
    turned = encoding.rotate(q, q, torch.tensor([position]))[0].detach()
    for head in range(GRAPE_PLANES_HEADS):
        lower = np.zeros((rank, rank))
        lower[np.tril_indices(rank, -1)] = encoding.generator[head].detach().numpy()
        subspace = encoding.subspace()[head].detach().numpy()
        generator = subspace @ (lower - lower.T) @ subspace.T
        right = torch.tensor(expm(position * generator)) @ q[0, head, 0]
        torch.testing.assert_close(turned[0, head, 0], right, rtol=0, atol=1e-12)


def test_thin_scores_as_rope_in_the_basis_of_its_real_schur_form():
    """Claim grape-7: what a thin generator learns is planes and frequencies."""
    encoding, rank = thin(), 4
    positions = torch.tensor([0, 3, 10])
    q, k = normal(4, 2, 1, GRAPE_PLANES_HEADS, 3, GRAPE_PLANES_HEAD_DIM)
    turned_q, turned_k = (rotated.detach() for rotated in encoding.rotate(q, k, positions))
    scores = turned_q @ turned_k.transpose(-1, -2)
    from scipy.linalg import schur

    for head in range(GRAPE_PLANES_HEADS):
        lower = np.zeros((rank, rank))
        lower[np.tril_indices(rank, -1)] = encoding.generator[head].detach().numpy()
        form, inner = schur(lower - lower.T, output="real")
        subspace = encoding.subspace()[head].detach()
        basis = subspace @ torch.tensor(inner)
        planes = [{rotary.FREQUENCY: sp.Rational(float(form[row + 1, row]))} for row in (0, 2)]
        inside = q[0, head] @ basis, k[0, head] @ basis
        expected = symbolic_scores(grape.COMMUTING, planes, *inside, positions.tolist())
        rest = q[0, head] @ k[0, head].T - inside[0] @ inside[1].T
        seen = ~expected.isnan()
        torch.testing.assert_close(scores[0, head][seen], (expected + rest)[seen], rtol=0, atol=1e-11)


def test_a_subspace_is_orthonormal():
    subspace = thin().subspace().detach()
    unit = torch.eye(4, dtype=torch.float64).expand(GRAPE_PLANES_HEADS, -1, -1)
    torch.testing.assert_close(subspace.transpose(-1, -2) @ subspace, unit, rtol=0, atol=1e-14)


def test_phases_follow_positions_not_indices():
    encoding, x = contextual(), normal(10, 2, GRAPE_PLANES_LENGTH, GRAPE_PLANES_WIDTH)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    inverse = torch.argsort(order)
    straight = encoding.phases(torch.arange(GRAPE_PLANES_LENGTH), Content(x_BLD=x))
    shuffled = encoding.phases(order, Content(x_BLD=x[:, order]))
    torch.testing.assert_close(shuffled[:, inverse], straight, rtol=1e-14, atol=0)
    assert (straight[:, 0] == 0).all()


def test_narrow_inputs_still_add_up_in_float64():
    """Half-precision phases after 4,000 tokens differ from the wide ones by the rounding of the logits only."""
    encoding = contextual().float()
    x = normal(14, 1, 4000, GRAPE_PLANES_WIDTH).to(torch.bfloat16)
    phases = encoding.phases(torch.arange(4000), Content(x_BLD=x)).detach()
    right = encoding.double().phases(torch.arange(4000), Content(x_BLD=x.double())).detach()
    single = torch.finfo(torch.float32).eps / 2
    steps = torch.arange(4000) * (GRAPE_PLANES_WIDTH + 2) * single * (x.abs().amax().double() * GRAPE_PLANES_WIDTH + 1)
    assert ((phases - right).abs() <= steps).all() and phases.dtype == torch.float64


GRAPE_ADDITIVE_HEADS, GRAPE_ADDITIVE_HEAD_DIM, GRAPE_ADDITIVE_LAYERS, GRAPE_ADDITIVE_BATCH = 3, 4, 2, 2


def gated(gates="both"):
    torch.manual_seed(0)
    encoding = GrapeGated(
        heads=GRAPE_ADDITIVE_HEADS, head_dim=GRAPE_ADDITIVE_HEAD_DIM, layers=GRAPE_ADDITIVE_LAYERS, gates=gates
    ).double()
    with torch.no_grad():
        encoding.log_factors.copy_(normal(1, GRAPE_ADDITIVE_LAYERS, GRAPE_ADDITIVE_HEADS))
    return encoding


def make_content(length, layer=0):
    q, k = normal(2, 2, GRAPE_ADDITIVE_BATCH, GRAPE_ADDITIVE_HEADS, length, GRAPE_ADDITIVE_HEAD_DIM)
    return Content(layer=layer, q_BHJC=q, k_BHIC=k)


def test_the_streaming_form_gives_the_same_bias():
    """Claim grape-17: four features of each query and of each key, on the tokens of one row."""
    encoding, layer_content, length = gated(), make_content(9), 9
    positions = torch.arange(length)
    slopes, by_query, by_key = (tensor.detach() for tensor in encoding._gates(layer_content, torch.float64))
    place, ones = (
        positions.double(),
        torch.ones(GRAPE_ADDITIVE_BATCH, GRAPE_ADDITIVE_HEADS, length, dtype=torch.float64),
    )
    queries = torch.stack((-place * by_query, by_query, -place * ones, ones), -1)
    keys = torch.stack((ones, place * ones, by_key, place * by_key), -1)
    streamed = slopes[:, None, None] * (queries @ keys.transpose(-1, -2))
    dense = encoding.bias(positions, positions, layer_content, dtype=torch.float64).detach()
    torch.testing.assert_close(streamed, dense, rtol=1e-13, atol=1e-13)


PATH_HEADS, PATH_WIDTH, PATH_LAYERS, PATH_BATCH, PATH_LENGTH = 2, 5, 2, 2, 7


def make_path_encoding(heads=PATH_HEADS):
    torch.manual_seed(0)
    encoding = GrapePath(heads=heads, width=PATH_WIDTH, layers=PATH_LAYERS).double()
    with torch.no_grad():
        encoding.probes.mul_(8)
    return encoding


def path_biases(encoding, x, positions, **more):
    return encoding.bias(positions, positions, Content(x_BLD=x, **more), dtype=torch.float64).detach()


def test_a_path_never_rewards_distance_and_ends_at_zero():
    bias = path_biases(make_path_encoding(), normal(2, PATH_BATCH, PATH_LENGTH, PATH_WIDTH), torch.arange(PATH_LENGTH))
    lower = torch.ones(PATH_LENGTH, PATH_LENGTH).tril(-1).bool()
    assert (bias.diff(dim=-1)[..., lower[:, :-1]] > 0).all()
    assert (bias.diagonal(dim1=-1, dim2=-2) == 0).all() and (bias.triu(1) == 0).all()


def test_path_tokens_add_up_in_the_order_of_their_positions():
    x, order = normal(4, PATH_BATCH, PATH_LENGTH, PATH_WIDTH), torch.tensor([3, 0, 6, 1, 5, 2, 4])
    straight = path_biases(make_path_encoding(), x, torch.arange(PATH_LENGTH))
    shuffled = path_biases(make_path_encoding(), x[:, order], order)
    torch.testing.assert_close(shuffled, straight[..., order, :][..., order], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_path_rows_at_a_time_change_nothing(rows, monkeypatch):
    x, positions = normal(5, PATH_BATCH, PATH_LENGTH, PATH_WIDTH), torch.arange(PATH_LENGTH)
    full_bias = path_biases(make_path_encoding(), x, positions)
    monkeypatch.setattr("lengthgen.empirical.encodings.grape._ROWS", rows)
    torch.testing.assert_close(path_biases(make_path_encoding(), x, positions), full_bias, rtol=1e-13, atol=0)


SPEED = sp.Rational(1, 10**5)


@pytest.mark.parametrize("position", [1, 10, 30, 31, 32, 33, 100])
def test_the_shares_of_small_angles_are_the_formulas_on_both_sides_of_the_series(position):
    """(1 - cos z)/z^2 near 0 moves a turned vector by z^4/24, below float64's grain; its gradient it moves by z^3/6."""
    encoding = Grape(heads=1, head_dim=2).double()
    with torch.no_grad():
        encoding.a.copy_(torch.tensor([[1.0, 0.0]], dtype=torch.float64))
        encoding.b.copy_(torch.tensor([[0.0, float(SPEED)]], dtype=torch.float64))
    turn, retreat = encoding._factors(torch.tensor([position]))
    angle = position * SPEED
    sine, cosine = (float(share(angle).evalf(30)) for share in (grape.sine_share, grape.cosine_share))
    assert turn.item() == pytest.approx(position * sine, rel=1e-14)
    assert retreat.item() == pytest.approx(position**2 * cosine, rel=1e-14)


def test_the_angles_lie_on_both_sides_of_the_series():
    below = [position for position in (1, 10, 30, 31, 32, 33, 100) if float((position * SPEED) ** 2) < SMALL]
    assert 31 in below and 32 not in below
