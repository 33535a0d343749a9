"""GRAPE-M on several planes in torch: commuting, thin and contextual, against RoPE and the matrix exponential."""

import math

import numpy as np
import pytest
import sympy as sp
import torch
from scipy.linalg import block_diag, expm

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.grape import GrapeCommuting, GrapeContextual, GrapeThin
from lengthgen.empirical.encodings.rotary import Rotary
from lengthgen.theory.encodings import grape, rotary
from tests.empirical.twins import HOSTILE, symbolic_scores

HEADS, HEAD_DIM, WIDTH, LAYERS, LENGTH = 2, 6, 5, 2, 7
EPS = torch.finfo(torch.float64).eps


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def with_random_parameters(encoding, seed=5):
    """Move every trained number away from its start."""
    with torch.no_grad():
        for place, parameter in enumerate(encoding.parameters()):
            parameter.add_(0.3 * content(seed + place, *parameter.shape).to(parameter.dtype))
    return encoding


def commuting():
    return with_random_parameters(GrapeCommuting(heads=HEADS, head_dim=HEAD_DIM).double())


def thin(rank=4):
    torch.manual_seed(0)
    return with_random_parameters(GrapeThin(heads=HEADS, head_dim=HEAD_DIM, rank=rank).double())


def contextual(seed=5):
    return with_random_parameters(GrapeContextual(width=WIDTH, head_dim=HEAD_DIM, layers=LAYERS).double(), seed)


def test_commuting_is_its_symbolic_twin_in_coordinates_at_hostile_positions():
    encoding, positions = commuting(), torch.tensor(HOSTILE)
    q, k = content(0, 2, 1, HEADS, len(HOSTILE), HEAD_DIM)
    turned_q, turned_k = (rotated.detach() for rotated in encoding.rotate(q, k, positions))
    scores = turned_q @ turned_k.transpose(-1, -2)
    basis, frequencies = encoding.basis().detach(), encoding.frequencies().detach()
    for head in range(HEADS):
        planes = [{rotary.FREQUENCY: sp.Rational(frequency)} for frequency in frequencies[head].tolist()]
        coordinates = q[0, head] @ basis[head], k[0, head] @ basis[head]
        expected = symbolic_scores(grape.COMMUTING, planes, *coordinates, HOSTILE)
        seen = ~expected.isnan()
        # An angle of 10^6 theta is off by that times eps, and so is its cosine; a score by that times |q| |k|.
        reach = 4e6 * float(frequencies.max()) * EPS * HEAD_DIM**2
        torch.testing.assert_close(scores[0, head][seen], expected[seen], rtol=0, atol=reach)


@pytest.mark.parametrize("position", [0, 1, 9])
def test_commuting_is_the_matrix_exponential_of_its_generator(position):
    encoding = commuting()
    q = content(1, 1, HEADS, 1, HEAD_DIM)
    turned = encoding.rotate(q, q, torch.tensor([position]))[0].detach()
    for head in range(HEADS):
        basis, frequencies = encoding.basis()[head].detach().numpy(), encoding.frequencies()[head].tolist()
        generator = basis @ block_diag(*(np.array([[0, -w], [w, 0]]) for w in frequencies)) @ basis.T
        right = torch.tensor(expm(position * generator)) @ q[0, head, 0]
        torch.testing.assert_close(turned[0, head, 0], right, rtol=0, atol=1e-12)


def test_its_basis_is_orthogonal_and_no_coordinate_basis():
    basis = commuting().basis().detach()
    identity = torch.eye(HEAD_DIM, dtype=torch.float64)
    torch.testing.assert_close(basis.transpose(-1, -2) @ basis, identity.expand(HEADS, -1, -1), rtol=0, atol=1e-14)
    assert (basis - identity).abs().max() > 0.1 and not torch.allclose(basis[0], basis[1])


def test_commuting_starts_as_rope():
    q, k = content(2, 2, 3, HEADS, len(HOSTILE), HEAD_DIM)
    positions = torch.tensor(HOSTILE)
    rotated = GrapeCommuting(heads=HEADS, head_dim=HEAD_DIM).rotate(q, k, positions)
    # Two ways to take a power may differ in the last place: at 10^6 by 10^6 eps.
    torch.testing.assert_close(rotated, Rotary(head_dim=HEAD_DIM).rotate(q, k, positions), rtol=0, atol=8e6 * EPS)


@pytest.mark.parametrize("rank", [2, 4, 6])
@pytest.mark.parametrize("position", [0, 1, 9])
def test_thin_is_the_matrix_exponential_of_its_generator(rank, position):
    encoding = thin(rank)
    q = content(3, 1, HEADS, 1, HEAD_DIM)
    turned = encoding.rotate(q, q, torch.tensor([position]))[0].detach()
    for head in range(HEADS):
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
    q, k = content(4, 2, 1, HEADS, 3, HEAD_DIM)
    turned_q, turned_k = (rotated.detach() for rotated in encoding.rotate(q, k, positions))
    scores = turned_q @ turned_k.transpose(-1, -2)
    from scipy.linalg import schur

    for head in range(HEADS):
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
    encoding, q = thin(), content(5, 1, HEADS, 3, HEAD_DIM)
    encoding.forward = encoding.rotate

    def score(tilts, generator):
        parameters = {"tilts": tilts, "generator": generator}
        turned, other = torch.func.functional_call(encoding, parameters, (q, q, torch.arange(3)))
        return turned @ other.transpose(-1, -2)

    leaves = [parameter.detach().clone().requires_grad_() for parameter in (encoding.tilts, encoding.generator)]
    assert torch.autograd.gradcheck(score, leaves)


def test_a_subspace_is_orthonormal():
    subspace = thin().subspace().detach()
    unit = torch.eye(4, dtype=torch.float64).expand(HEADS, -1, -1)
    torch.testing.assert_close(subspace.transpose(-1, -2) @ subspace, unit, rtol=0, atol=1e-14)


def test_contextual_starts_as_rope_on_consecutive_positions():
    encoding = GrapeContextual(width=WIDTH, head_dim=HEAD_DIM, layers=LAYERS).double()
    q, k = content(6, 2, 3, HEADS, LENGTH, HEAD_DIM)
    positions = torch.arange(LENGTH)
    rotated = encoding.rotate(q, k, positions, Content(layer=1, x_BLD=content(7, 3, LENGTH, WIDTH)))
    torch.testing.assert_close(rotated, Rotary(head_dim=HEAD_DIM).rotate(q, k, positions), rtol=0, atol=1e-13)


def test_contextual_is_its_symbolic_twin():
    encoding, layer = contextual(), 1
    x = content(8, 1, LENGTH, WIDTH)
    q, k = content(9, 2, 1, 1, LENGTH, HEAD_DIM)
    turned_q, turned_k = (
        rotated.detach() for rotated in encoding.rotate(q, k, torch.arange(LENGTH), Content(layer=layer, x_BLD=x))
    )
    scores = (turned_q @ turned_k.transpose(-1, -2))[0, 0]
    weights, offset = encoding.weights[layer].tolist(), float(encoding.offsets[layer].detach())
    rates = {}
    for token in range(LENGTH):
        logit = sum(w * value for w, value in zip(weights, x[0, token].tolist(), strict=True)) + offset
        rates[grape.RATES[token]] = sp.Rational(math.log1p((math.e - 1) * math.exp(logit)))
    ratios = encoding.log_ratios.exp().tolist()
    planes = [
        {rotary.FREQUENCY: sp.Rational(float(frequency) * ratio)} | rates
        for frequency, ratio in zip(rotary.frequencies(HEAD_DIM), ratios, strict=True)
    ]
    expected = _scores_with_evaluated_sums(planes, q[0, 0], k[0, 0])
    seen = ~expected.isnan()
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=1e-13)


def _scores_with_evaluated_sums(planes, q_JC, k_IC):
    from dataclasses import replace

    def rotate(position, length):
        return tuple(action.doit() for action in grape.CONTEXTUAL.rotate(position, length))

    return symbolic_scores(replace(grape.CONTEXTUAL, rotate=rotate), planes, q_JC, k_IC, range(LENGTH))


def test_phases_follow_positions_not_indices():
    encoding, x = contextual(), content(10, 2, LENGTH, WIDTH)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    inverse = torch.argsort(order)
    straight = encoding.phases(torch.arange(LENGTH), Content(x_BLD=x))
    shuffled = encoding.phases(order, Content(x_BLD=x[:, order]))
    torch.testing.assert_close(shuffled[:, inverse], straight, rtol=1e-14, atol=0)
    assert (straight[:, 0] == 0).all()


def test_layers_have_gates_of_their_own():
    encoding, x = contextual(), content(11, 1, LENGTH, WIDTH)
    first, second = (encoding.phases(torch.arange(LENGTH), Content(layer=layer, x_BLD=x)) for layer in range(2))
    assert not torch.allclose(first, second)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["commuting", "thin", "contextual"])
def test_narrow_types_stay_within_their_budget(name, dtype):
    """Products with an orthogonal matrix on both sides, d terms each, the turn between them, one rounding at last."""
    positions = torch.tensor(HOSTILE)
    encoding = {"commuting": commuting, "thin": thin, "contextual": contextual}[name]().float()
    q, k = content(12, 2, 1, HEADS, len(HOSTILE), HEAD_DIM).to(dtype)
    x = content(13, 1, len(HOSTILE), WIDTH).float()
    content_arguments = (Content(x_BLD=x),) if name == "contextual" else ()
    wide = [rotated.detach() for rotated in encoding.rotate(q.double(), k.double(), positions, *content_arguments)]
    narrow = [rotated.detach() for rotated in encoding.rotate(q, k, positions, *content_arguments)]
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    for turned, right, vectors in zip(narrow, wide, (q, k), strict=True):
        size = vectors.double().norm(dim=-1, keepdim=True)
        # A rounded orthogonal matrix and d roundings of sums: (d + 1) sqrt(d) each; complex products cost twice that.
        budget = size * 2 * (2 * (HEAD_DIM + 1) * HEAD_DIM**0.5 + 6) * single + right.abs() * last * 1.01
        assert ((turned.double() - right).abs() <= budget).all() and turned.dtype == dtype


def test_narrow_inputs_still_add_up_in_float64():
    """Half-precision phases after 4,000 tokens differ from the wide ones by the rounding of the logits only."""
    encoding = contextual().float()
    x = content(14, 1, 4000, WIDTH).to(torch.bfloat16)
    phases = encoding.phases(torch.arange(4000), Content(x_BLD=x)).detach()
    right = encoding.double().phases(torch.arange(4000), Content(x_BLD=x.double())).detach()
    single = torch.finfo(torch.float32).eps / 2
    steps = torch.arange(4000) * (WIDTH + 2) * single * (x.abs().amax().double() * WIDTH + 1)
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
    q = torch.zeros(1, HEADS, 3, HEAD_DIM)
    with pytest.raises(ValueError, match="positions must be integers"):
        make().rotate(q, q, torch.arange(3.0))
    with pytest.raises(ValueError, match=r"queries have heads and width \(2, 5\), not \(2, 6\)"):
        make().rotate(q[..., :5], q[..., :5], torch.arange(3))


def test_contextual_says_what_it_misses():
    q, positions = torch.zeros(1, 1, 3, HEAD_DIM), torch.arange(3)
    with pytest.raises(ValueError, match="pass content with x_BLD"):
        contextual().rotate(q, q, positions)
    with pytest.raises(ValueError, match="the layer's input is 4 wide, not width = 5"):
        contextual().rotate(q, q, positions, Content(x_BLD=torch.zeros(1, 3, 4)))
    with pytest.raises(ValueError, match="queries are 4 wide, not head_dim = 6"):
        contextual().rotate(q[..., :4], q[..., :4], positions, Content(x_BLD=torch.zeros(1, 3, WIDTH)))
    with pytest.raises(ValueError, match="positions must be integers"):
        contextual().rotate(q, q, positions.float(), Content(x_BLD=torch.zeros(1, 3, WIDTH)))
