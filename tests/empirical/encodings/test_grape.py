"""GRAPE in torch: rotations of learned planes, and biases with learned slopes, gates and edges."""

import math

import numpy as np
import pytest
import sympy as sp
import torch
from scipy.linalg import block_diag, expm

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.biases import ALiBi
from lengthgen.empirical.encodings.grape import (
    SMALL,
    Grape,
    GrapeAdditive,
    GrapeCommuting,
    GrapeContextual,
    GrapeGated,
    GrapePath,
    GrapeThin,
)
from lengthgen.empirical.encodings.rotary import Rotary
from lengthgen.theory.encodings import biases, grape, rotary
from tests.empirical.twins import DIGITS, HOSTILE, normal, symbolic_bias, symbolic_scores

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


def test_gradients_are_those_of_the_formula():
    encoding = make_grape(heads=1, head_dim=3)
    q = normal(11, 1, 1, 4, 3)

    def scores(a, b):
        parameters = {"a": a, "b": b}
        turned, other = torch.func.functional_call(encoding, parameters, (q, q, torch.arange(4)))
        return turned @ other.transpose(-1, -2)

    encoding.forward = encoding.rotate
    assert torch.autograd.gradcheck(scores, (normal(12, 1, 3).requires_grad_(), normal(13, 1, 3).requires_grad_()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_grape_narrow_types_stay_within_their_budget(dtype):
    """Orthonormal a, b need two products of d terms, each scalar at most 3 of them, two products, one rounding."""
    torch.manual_seed(0)
    encoding, positions = Grape(heads=GRAPE_HEADS, head_dim=GRAPE_HEAD_DIM), torch.tensor(HOSTILE)
    q, k = normal(14, 2, 1, GRAPE_HEADS, len(HOSTILE), GRAPE_HEAD_DIM).to(dtype)
    wide = encoding.rotate(q.double(), k.double(), positions)
    narrow = encoding.rotate(q, k, positions)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    for turned, right, vectors in zip(narrow, wide, (q, k), strict=True):
        size = vectors.double().norm(dim=-1, keepdim=True)
        budget = size * (2 * 3 * (GRAPE_HEAD_DIM + 1) + 6) * single * 1.01 + right.abs() * last * 1.01
        assert ((turned.double() - right).abs() <= budget).all() and turned.dtype == dtype


def test_it_starts_with_an_orthonormal_plane_of_each_head():
    torch.manual_seed(3)
    encoding = Grape(heads=3, head_dim=6)
    frame = torch.stack((encoding.a, encoding.b), -1)
    torch.testing.assert_close(frame.transpose(-1, -2) @ frame, torch.eye(2).expand(3, 2, 2), rtol=0, atol=1e-6)


def test_grape_bad_input_is_refused():
    q = torch.zeros(1, GRAPE_HEADS, 3, GRAPE_HEAD_DIM)
    with pytest.raises(ValueError, match="positions must be integers"):
        make_grape().rotate(q, q, torch.arange(3.0))
    with pytest.raises(ValueError, match=r"queries have heads and width \(2, 3\), not \(2, 4\)"):
        make_grape().rotate(q[..., :3], q[..., :3], torch.arange(3))


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


def test_commuting_starts_as_rope():
    q, k = normal(2, 2, 3, GRAPE_PLANES_HEADS, len(HOSTILE), GRAPE_PLANES_HEAD_DIM)
    positions = torch.tensor(HOSTILE)
    rotated = GrapeCommuting(heads=GRAPE_PLANES_HEADS, head_dim=GRAPE_PLANES_HEAD_DIM).rotate(q, k, positions)
    # Two ways to take a power may differ in the last place: at 10^6 by 10^6 eps.
    torch.testing.assert_close(
        rotated, Rotary(head_dim=GRAPE_PLANES_HEAD_DIM).rotate(q, k, positions), rtol=0, atol=8e6 * EPS
    )


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


def test_a_thin_generator_has_gradients():
    encoding, q = thin(), normal(5, 1, GRAPE_PLANES_HEADS, 3, GRAPE_PLANES_HEAD_DIM)
    encoding.forward = encoding.rotate

    def score(tilts, generator):
        parameters = {"tilts": tilts, "generator": generator}
        turned, other = torch.func.functional_call(encoding, parameters, (q, q, torch.arange(3)))
        return turned @ other.transpose(-1, -2)

    leaves = [parameter.detach().clone().requires_grad_() for parameter in (encoding.tilts, encoding.generator)]
    assert torch.autograd.gradcheck(score, leaves)


def test_a_subspace_is_orthonormal():
    subspace = thin().subspace().detach()
    unit = torch.eye(4, dtype=torch.float64).expand(GRAPE_PLANES_HEADS, -1, -1)
    torch.testing.assert_close(subspace.transpose(-1, -2) @ subspace, unit, rtol=0, atol=1e-14)


def test_contextual_starts_as_rope_on_consecutive_positions():
    encoding = GrapeContextual(
        width=GRAPE_PLANES_WIDTH, head_dim=GRAPE_PLANES_HEAD_DIM, layers=GRAPE_PLANES_LAYERS
    ).double()
    q, k = normal(6, 2, 3, GRAPE_PLANES_HEADS, GRAPE_PLANES_LENGTH, GRAPE_PLANES_HEAD_DIM)
    positions = torch.arange(GRAPE_PLANES_LENGTH)
    rotated = encoding.rotate(
        q, k, positions, Content(layer=1, x_BLD=normal(7, 3, GRAPE_PLANES_LENGTH, GRAPE_PLANES_WIDTH))
    )
    torch.testing.assert_close(
        rotated, Rotary(head_dim=GRAPE_PLANES_HEAD_DIM).rotate(q, k, positions), rtol=0, atol=1e-13
    )


def test_contextual_is_its_symbolic_twin():
    encoding, layer = contextual(), 1
    x = normal(8, 1, GRAPE_PLANES_LENGTH, GRAPE_PLANES_WIDTH)
    q, k = normal(9, 2, 1, 1, GRAPE_PLANES_LENGTH, GRAPE_PLANES_HEAD_DIM)
    turned_q, turned_k = (
        rotated.detach()
        for rotated in encoding.rotate(q, k, torch.arange(GRAPE_PLANES_LENGTH), Content(layer=layer, x_BLD=x))
    )
    scores = (turned_q @ turned_k.transpose(-1, -2))[0, 0]
    weights, offset = encoding.weights[layer].tolist(), float(encoding.offsets[layer].detach())
    rates = {}
    for token in range(GRAPE_PLANES_LENGTH):
        logit = sum(w * value for w, value in zip(weights, x[0, token].tolist(), strict=True)) + offset
        rates[grape.RATES[token]] = sp.Rational(math.log1p((math.e - 1) * math.exp(logit)))
    ratios = encoding.log_ratios.exp().tolist()
    planes = [
        {rotary.FREQUENCY: sp.Rational(float(frequency) * ratio)} | rates
        for frequency, ratio in zip(rotary.frequencies(GRAPE_PLANES_HEAD_DIM), ratios, strict=True)
    ]
    expected = _scores_with_evaluated_sums(planes, q[0, 0], k[0, 0])
    seen = ~expected.isnan()
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=1e-13)


def _scores_with_evaluated_sums(planes, q_JC, k_IC):
    from dataclasses import replace

    def rotate(position, length):
        return tuple(action.doit() for action in grape.CONTEXTUAL.rotate(position, length))

    return symbolic_scores(replace(grape.CONTEXTUAL, rotate=rotate), planes, q_JC, k_IC, range(GRAPE_PLANES_LENGTH))


def test_phases_follow_positions_not_indices():
    encoding, x = contextual(), normal(10, 2, GRAPE_PLANES_LENGTH, GRAPE_PLANES_WIDTH)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    inverse = torch.argsort(order)
    straight = encoding.phases(torch.arange(GRAPE_PLANES_LENGTH), Content(x_BLD=x))
    shuffled = encoding.phases(order, Content(x_BLD=x[:, order]))
    torch.testing.assert_close(shuffled[:, inverse], straight, rtol=1e-14, atol=0)
    assert (straight[:, 0] == 0).all()


def test_grape_planes_layers_have_gates_of_their_own():
    encoding, x = contextual(), normal(11, 1, GRAPE_PLANES_LENGTH, GRAPE_PLANES_WIDTH)
    first, second = (
        encoding.phases(torch.arange(GRAPE_PLANES_LENGTH), Content(layer=layer, x_BLD=x)) for layer in range(2)
    )
    assert not torch.allclose(first, second)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["commuting", "thin", "contextual"])
def test_grape_planes_narrow_types_stay_within_their_budget(name, dtype):
    """Products with an orthogonal matrix on both sides, d terms each, the turn between them, one rounding at last."""
    positions = torch.tensor(HOSTILE)
    encoding = {"commuting": commuting, "thin": thin, "contextual": contextual}[name]().float()
    q, k = normal(12, 2, 1, GRAPE_PLANES_HEADS, len(HOSTILE), GRAPE_PLANES_HEAD_DIM).to(dtype)
    x = normal(13, 1, len(HOSTILE), GRAPE_PLANES_WIDTH).float()
    content_arguments = (Content(x_BLD=x),) if name == "contextual" else ()
    wide = [rotated.detach() for rotated in encoding.rotate(q.double(), k.double(), positions, *content_arguments)]
    narrow = [rotated.detach() for rotated in encoding.rotate(q, k, positions, *content_arguments)]
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    for turned, right, vectors in zip(narrow, wide, (q, k), strict=True):
        size = vectors.double().norm(dim=-1, keepdim=True)
        # A rounded orthogonal matrix and d roundings of sums: (d + 1) sqrt(d) each; complex products cost twice that.
        budget = (
            size * 2 * (2 * (GRAPE_PLANES_HEAD_DIM + 1) * GRAPE_PLANES_HEAD_DIM**0.5 + 6) * single
            + right.abs() * last * 1.01
        )
        assert ((turned.double() - right).abs() <= budget).all() and turned.dtype == dtype


def test_narrow_inputs_still_add_up_in_float64():
    """Half-precision phases after 4,000 tokens differ from the wide ones by the rounding of the logits only."""
    encoding = contextual().float()
    x = normal(14, 1, 4000, GRAPE_PLANES_WIDTH).to(torch.bfloat16)
    phases = encoding.phases(torch.arange(4000), Content(x_BLD=x)).detach()
    right = encoding.double().phases(torch.arange(4000), Content(x_BLD=x.double())).detach()
    single = torch.finfo(torch.float32).eps / 2
    steps = torch.arange(4000) * (GRAPE_PLANES_WIDTH + 2) * single * (x.abs().amax().double() * GRAPE_PLANES_WIDTH + 1)
    assert ((phases - right).abs() <= steps).all() and phases.dtype == torch.float64


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GrapeCommuting(heads=0, head_dim=4), "heads must be at least 1"),
        (lambda: GrapeCommuting(heads=1, head_dim=5), "head_dim must be a positive even number, not 5"),
        (lambda: GrapeThin(heads=0, head_dim=4, rank=2), "heads must be at least 1"),
        (lambda: GrapeThin(heads=1, head_dim=4, rank=3), "rank must be a positive even number up to head_dim = 4"),
        (lambda: GrapeThin(heads=1, head_dim=4, rank=6), "rank must be a positive even number up to head_dim = 4"),
        (lambda: GrapeThin(heads=1, head_dim=4, rank=0), "rank must be a positive even number up to head_dim = 4"),
        (lambda: GrapeContextual(width=0, head_dim=4, layers=1), "width and layers must be at least 1, not 0 and 1"),
        (lambda: GrapeContextual(width=4, head_dim=3, layers=1), "head_dim must be a positive even number, not 3"),
    ],
)
def test_bad_sizes_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("make", [commuting, thin])
def test_bad_queries_are_refused(make):
    q = torch.zeros(1, GRAPE_PLANES_HEADS, 3, GRAPE_PLANES_HEAD_DIM)
    with pytest.raises(ValueError, match="positions must be integers"):
        make().rotate(q, q, torch.arange(3.0))
    with pytest.raises(ValueError, match=r"queries have heads and width \(2, 5\), not \(2, 6\)"):
        make().rotate(q[..., :5], q[..., :5], torch.arange(3))


def test_contextual_says_what_it_misses():
    q, positions = torch.zeros(1, 1, 3, GRAPE_PLANES_HEAD_DIM), torch.arange(3)
    with pytest.raises(ValueError, match="pass content with x_BLD"):
        contextual().rotate(q, q, positions)
    with pytest.raises(ValueError, match="the layer's input is 4 wide, not width = 5"):
        contextual().rotate(q, q, positions, Content(x_BLD=torch.zeros(1, 3, 4)))
    with pytest.raises(ValueError, match="queries are 4 wide, not head_dim = 6"):
        contextual().rotate(q[..., :4], q[..., :4], positions, Content(x_BLD=torch.zeros(1, 3, GRAPE_PLANES_WIDTH)))
    with pytest.raises(ValueError, match="positions must be integers"):
        contextual().rotate(q, q, positions.float(), Content(x_BLD=torch.zeros(1, 3, GRAPE_PLANES_WIDTH)))


GRAPE_ADDITIVE_HEADS, GRAPE_ADDITIVE_HEAD_DIM, GRAPE_ADDITIVE_LAYERS, GRAPE_ADDITIVE_BATCH = 3, 4, 2, 2
GATES = ("both", "query", "key")


def plain():
    encoding = GrapeAdditive(heads=GRAPE_ADDITIVE_HEADS).double()
    with torch.no_grad():
        encoding.log_factors.copy_(normal(0, GRAPE_ADDITIVE_HEADS))
    return encoding


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


def softplus(value):
    return math.log1p(math.exp(value))


def factor(raw):
    """softplus(raw + log(e - 1))."""
    return math.log1p((math.e - 1) * math.exp(raw))


@pytest.mark.parametrize("heads", [1, 3, 8, 12])
def test_plain_starts_as_alibi(heads):
    positions = torch.tensor(HOSTILE)
    seen = torch.ones(len(HOSTILE), len(HOSTILE)).tril().bool()
    bias = GrapeAdditive(heads=heads).bias(positions, positions, dtype=torch.float64)
    expected = ALiBi(heads=heads).bias(positions, positions, dtype=torch.float64)
    torch.testing.assert_close(bias[:, seen].detach(), expected[:, seen], rtol=1e-15, atol=0)


@pytest.mark.parametrize("gates", GATES)
def test_gated_is_its_symbolic_twin_at_hostile_positions(gates):
    layer, encoding = 1, gated(gates)
    positions, layer_content = torch.tensor(HOSTILE), make_content(len(HOSTILE), layer=1)
    bias = encoding.bias(positions, positions, layer_content, dtype=torch.float64).detach()
    for batch in range(GRAPE_ADDITIVE_BATCH):
        for head, slope in enumerate(biases.alibi_slopes(GRAPE_ADDITIVE_HEADS)):
            raw = float(encoding.log_factors[layer, head].detach())
            values = {grape.GRAPE_SLOPE: sp.Rational(float(slope) * factor(raw))}
            sides = (
                (grape.QUERY_GATES, encoding.query_vectors, layer_content.q_BHJC),
                (grape.KEY_GATES, encoding.key_vectors, layer_content.k_BHIC),
            )
            for family, vectors, side in sides:
                for row, position in enumerate(HOSTILE):
                    gate = 0 if vectors is None else _gate(vectors[layer, head], side[batch, head, row])
                    values[family[position]] = sp.Rational(gate)
            expected = symbolic_bias(grape.GATED, values, HOSTILE)
            seen = ~expected.isnan()
            torch.testing.assert_close(bias[batch, head][seen], expected[seen], rtol=1e-13, atol=0)


def _gate(vector, token):
    unit = [value / math.sqrt(sum(component**2 for component in vector.tolist())) for value in vector.tolist()]
    return softplus(sum(u * x for u, x in zip(unit, token.tolist(), strict=True)) / math.sqrt(GRAPE_ADDITIVE_HEAD_DIM))


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


@pytest.mark.parametrize("gates", GATES)
def test_variants_have_the_numbers_that_they_train(gates):
    sides = {"both": 2, "query": 1, "key": 1}[gates]
    trained = sum(parameter.numel() for parameter in gated(gates).parameters())
    assert trained == GRAPE_ADDITIVE_LAYERS * GRAPE_ADDITIVE_HEADS * (1 + sides * GRAPE_ADDITIVE_HEAD_DIM)


def test_grape_additive_layers_have_gates_of_their_own():
    positions, encoding = torch.arange(4), gated()
    first, second = (encoding.bias(positions, positions, make_content(4, layer=layer)) for layer in range(2))
    assert not torch.allclose(first, second)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gated_in_narrow_types_stays_within_its_budget(dtype):
    """Rounded in float32 are the gates' sums of d terms and products; softplus changes by no more than its argument."""
    encoding, positions = gated().float(), torch.tensor(HOSTILE)
    q, k = normal(3, 2, GRAPE_ADDITIVE_BATCH, GRAPE_ADDITIVE_HEADS, len(HOSTILE), GRAPE_ADDITIVE_HEAD_DIM).to(dtype)
    narrow = encoding.bias(positions, positions, Content(q_BHJC=q, k_BHIC=k), dtype=dtype).detach()
    wide = encoding.bias(
        positions, positions, Content(q_BHJC=q.double(), k_BHIC=k.double()), dtype=torch.float64
    ).detach()
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    # Gates are at least log(1 + e^-|q|); |q| <= 4 sqrt(d) here, so a relative error is at most this over the absolute.
    size = (
        max(float(q.double().norm(dim=-1).max()), float(k.double().norm(dim=-1).max())) / GRAPE_ADDITIVE_HEAD_DIM**0.5
    )
    relative = (GRAPE_ADDITIVE_HEAD_DIM + 6) * single * size / softplus(-size) + 5 * single
    assert ((narrow.double() - wide).abs() <= wide.abs() * (relative + last) * 1.01).all() and narrow.dtype == dtype


def test_gated_says_what_it_misses():
    positions = torch.arange(3)
    with pytest.raises(ValueError, match="pass content with q_BHJC and k_BHIC"):
        gated().bias(positions, positions)
    with pytest.raises(ValueError, match="positions must be integers"):
        gated().bias(positions.float(), positions, make_content(3))
    with pytest.raises(ValueError, match="positions must be integers"):
        gated().bias(positions, positions.float(), make_content(3))


PATH_HEADS, PATH_WIDTH, PATH_LAYERS, PATH_BATCH, PATH_LENGTH = 2, 5, 2, 2, 7
PROBE_DIM = grape.PROBE_DIM


def make_path_encoding(heads=PATH_HEADS):
    torch.manual_seed(0)
    encoding = GrapePath(heads=heads, width=PATH_WIDTH, layers=PATH_LAYERS).double()
    with torch.no_grad():
        encoding.probes.mul_(8)
    return encoding


def path_biases(encoding, x, positions, **more):
    return encoding.bias(positions, positions, Content(x_BLD=x, **more), dtype=torch.float64).detach()


def symbolic_edge(query_probe, token_probe, query, token, slope):
    """Return psi(query, token) by the symbolic formulas, plane by plane, to 40 digits."""
    total = sp.Integer(0)
    for plane in range(0, PROBE_DIM, 2):
        pair = (
            [sp.Rational(value) for value in probe[plane : plane + 2].tolist()] for probe in (query_probe, token_probe)
        )
        total += grape.affinity(*pair, query_position=sp.Integer(query), token_position=sp.Integer(token))
    psi = grape.affinity_potential(sp.N(total, DIGITS), slope=slope, probe_dim=sp.Integer(PROBE_DIM))
    return sp.Rational(float(sp.N(psi, DIGITS)))


@pytest.mark.parametrize("start", [0, 10**6])
def test_path_is_its_symbolic_twin(start):
    layer, encoding, x = 1, make_path_encoding(), normal(1, PATH_BATCH, PATH_LENGTH, PATH_WIDTH)
    positions = range(start, start + PATH_LENGTH)
    bias = path_biases(encoding, x, torch.tensor(positions), layer=layer)
    probes = torch.einsum("bld,hpd->bhlp", x, encoding.probes[layer].detach())
    for batch in range(PATH_BATCH if start == 0 else 1):
        for head, slope in enumerate(biases.alibi_slopes(PATH_HEADS)):
            p = probes[batch, head]
            edges = {
                grape.EDGES[query, token]: symbolic_edge(p[query - start], p[token - start], query, token, slope)
                for query in positions
                for token in range(start + 1, query + 1)
            }
            expected = symbolic_bias(grape.PATH, edges, positions)
            seen = ~expected.isnan()
            # An angle of 10^6 is off by 10^6 eps, and an edge, 1-Lipschitz, by no more than |p|^2/d of that.
            reach = 1e-13 + 4 * start * 2.3e-16 * PATH_LENGTH * float(p.norm(dim=-1).max()) ** 2 / PROBE_DIM
            torch.testing.assert_close(bias[batch, head][seen], expected[seen], rtol=1e-13, atol=reach)


def test_a_path_never_rewards_distance_and_ends_at_zero():
    bias = path_biases(make_path_encoding(), normal(2, PATH_BATCH, PATH_LENGTH, PATH_WIDTH), torch.arange(PATH_LENGTH))
    lower = torch.ones(PATH_LENGTH, PATH_LENGTH).tril(-1).bool()
    assert (bias.diff(dim=-1)[..., lower[:, :-1]] > 0).all()
    assert (bias.diagonal(dim1=-1, dim2=-2) == 0).all() and (bias.triu(1) == 0).all()


def test_path_does_not_depend_on_where_positions_begin():
    x = normal(3, PATH_BATCH, PATH_LENGTH, PATH_WIDTH)
    here, there = (path_biases(make_path_encoding(), x, torch.arange(PATH_LENGTH) + shift) for shift in (0, 3))
    torch.testing.assert_close(here, there, rtol=1e-12, atol=1e-12)


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


def test_path_without_probes_it_is_alibi_times_log_two():
    encoding = make_path_encoding(heads=3)
    torch.nn.init.zeros_(encoding.probes)
    bias = path_biases(encoding, normal(6, 1, PATH_LENGTH, PATH_WIDTH), torch.arange(PATH_LENGTH))[0]
    distance = (torch.arange(PATH_LENGTH)[:, None] - torch.arange(PATH_LENGTH)).clamp(min=0)
    for head, slope in enumerate(biases.alibi_slopes(3)):
        torch.testing.assert_close(bias[head], -float(slope * sp.log(2)) * distance.double(), rtol=1e-14, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_path_narrow_types_stay_within_their_budget(dtype):
    """An edge moves by no more than its affinity, of d sums of D terms each; edges add up in float64."""
    encoding, positions = make_path_encoding().float(), torch.arange(PATH_LENGTH)
    x = normal(7, PATH_BATCH, PATH_LENGTH, PATH_WIDTH).to(dtype)
    narrow = encoding.bias(positions, positions, Content(x_BLD=x), dtype=dtype).detach()
    wide = encoding.double().bias(positions, positions, Content(x_BLD=x.double()), dtype=torch.float64).detach()
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    length = float(x.double().norm(dim=-1).max()) * float(encoding.probes.detach().norm(dim=-1).max())
    edge = length**2 * (2 * (PATH_WIDTH + 4) + PROBE_DIM) * single + 6 * single * (length**2 + 1)
    assert ((narrow.double() - wide).abs() <= PATH_LENGTH * edge + wide.abs() * last * 1.01).all()
    assert narrow.dtype == dtype


def test_path_gradients_reach_the_probes():
    encoding, positions = make_path_encoding(), torch.arange(PATH_LENGTH)
    encoding.bias(positions, positions, Content(x_BLD=normal(8, 1, PATH_LENGTH, PATH_WIDTH))).sum().backward()
    assert encoding.probes.grad[0].abs().max() > 0 and not encoding.probes.grad[1].any()


def test_path_bad_input_is_refused():
    encoding, positions, x = make_path_encoding(), torch.arange(3), torch.zeros(1, 3, PATH_WIDTH)
    with pytest.raises(ValueError, match="pass content with x_BLD"):
        encoding.bias(positions, positions)
    with pytest.raises(ValueError, match="positions must be integers"):
        encoding.bias(positions.float(), positions, Content(x_BLD=x))
    with pytest.raises(ValueError, match="positions must be integers"):
        encoding.bias(positions, positions.float(), Content(x_BLD=x))
    with pytest.raises(ValueError, match="the layer's input is 4 wide, not width = 5"):
        encoding.bias(positions, positions, Content(x_BLD=x[..., :4]))
    with pytest.raises(ValueError, match="queries and keys must both be all tokens of the layer's input"):
        encoding.bias(positions[-1:], positions, Content(x_BLD=x))
    with pytest.raises(ValueError, match="queries and keys must both be all tokens of the layer's input"):
        encoding.bias(positions + 1, positions, Content(x_BLD=x))


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
