"""GRAPE-M with one plane in torch: its symbolic twin, the matrix exponential, RoPE, and planes that nearly vanish."""

import pytest
import sympy as sp
import torch
from scipy.linalg import expm

from lengthgen.empirical.encodings.grape import SMALL, Grape
from lengthgen.empirical.encodings.rotary import Rotary
from lengthgen.theory.encodings import grape
from tests.empirical.twins import HOSTILE, symbolic_scores

HEADS, HEAD_DIM = 2, 4
EPS = torch.finfo(torch.float64).eps
DIGITS = 40


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def make_grape(heads=HEADS, head_dim=HEAD_DIM, a=None, b=None):
    torch.manual_seed(0)
    encoding = Grape(heads=heads, head_dim=head_dim).double()
    with torch.no_grad():
        encoding.a.copy_(content(1, heads, head_dim) if a is None else a)
        encoding.b.copy_(content(2, heads, head_dim) if b is None else b)
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
    q, k = content(3, 2, 1, HEADS, len(HOSTILE), HEAD_DIM)
    rotated = encoding.rotate(q, k, positions)
    for vectors, turned in zip((q, k), rotated, strict=True):
        for head in range(HEADS):
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
    q, k = content(4, 2, 1, 1, len(HOSTILE), 2)
    turned_q, turned_k = encoding.rotate(q, k, torch.tensor(HOSTILE))
    scores = (turned_q @ turned_k.transpose(-1, -2))[0, 0]
    expected = symbolic_scores(grape.GRAPE, [{grape.SPEED: sp.Rational(speed)}], q[0, 0], k[0, 0], HOSTILE)
    seen = ~expected.isnan()
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=4e6 * EPS * 4)


@pytest.mark.parametrize("position", [0, 1, 5, 31])
def test_it_is_the_matrix_exponential_of_the_library(position):
    encoding = make_grape(head_dim=7)
    q = content(5, 1, HEADS, 1, 7)
    turned, _ = encoding.rotate(q, q, torch.tensor([position]))
    for head in range(HEADS):
        a, b = encoding.a[head].detach(), encoding.b[head].detach()
        dense = torch.tensor(expm(position * (torch.outer(a, b) - torch.outer(b, a)).numpy()))
        torch.testing.assert_close(turned[0, head, 0], dense @ q[0, head, 0], rtol=0, atol=1e-11)


def test_a_head_of_two_can_be_rope():
    encoding = make_grape(heads=1, head_dim=2, a=torch.tensor([[0.0, 1.0]]), b=torch.tensor([[1.0, 0.0]]))
    q, k = content(6, 2, 3, 1, len(HOSTILE), 2)
    positions = torch.tensor(HOSTILE)
    torch.testing.assert_close(
        encoding.rotate(q, k, positions), Rotary(head_dim=2).rotate(q, k, positions), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-5, 2e-4, 1e-3])
def test_nearly_parallel_vectors_lose_nothing(distance):
    """Around z^2 = 1e-7, where the series takes over, and far into it, to the exact turn."""
    a, b = torch.tensor([[[1.0, 0.0, 0.0, 0.0]], [[1.0, distance, 0.0, 0.0]]], dtype=torch.float64)
    encoding = make_grape(heads=1, a=a, b=b)
    q = content(7, 1, 1, 1, HEAD_DIM)
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
    same = content(8, HEADS, HEAD_DIM)
    encoding = make_grape(a=same, b=2 * same)
    q, k = content(9, 2, 1, HEADS, 3, HEAD_DIM)
    turned_q, turned_k = encoding.rotate(q, k, torch.arange(3))
    torch.testing.assert_close((turned_q, turned_k), (q, k), rtol=1e-14, atol=1e-14)
    (turned_q * content(10, *q.shape)).sum().backward()
    assert encoding.a.grad.isfinite().all() and encoding.b.grad.isfinite().all() and encoding.b.grad.abs().max() > 0


def test_gradients_are_those_of_the_formula():
    encoding = make_grape(heads=1, head_dim=3)
    q = content(11, 1, 1, 4, 3)

    def scores(a, b):
        parameters = {"a": a, "b": b}
        turned, other = torch.func.functional_call(encoding, parameters, (q, q, torch.arange(4)))
        return turned @ other.transpose(-1, -2)

    encoding.forward = encoding.rotate
    assert torch.autograd.gradcheck(scores, (content(12, 1, 3).requires_grad_(), content(13, 1, 3).requires_grad_()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_stay_within_their_budget(dtype):
    """Orthonormal a, b need two products of d terms, each scalar at most 3 of them, two products, one rounding."""
    torch.manual_seed(0)
    encoding, positions = Grape(heads=HEADS, head_dim=HEAD_DIM), torch.tensor(HOSTILE)
    q, k = content(14, 2, 1, HEADS, len(HOSTILE), HEAD_DIM).to(dtype)
    wide = encoding.rotate(q.double(), k.double(), positions)
    narrow = encoding.rotate(q, k, positions)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    for turned, right, vectors in zip(narrow, wide, (q, k), strict=True):
        size = vectors.double().norm(dim=-1, keepdim=True)
        budget = size * (2 * 3 * (HEAD_DIM + 1) + 6) * single * 1.01 + right.abs() * last * 1.01
        assert ((turned.double() - right).abs() <= budget).all() and turned.dtype == dtype


def test_it_starts_with_an_orthonormal_plane_of_each_head():
    torch.manual_seed(3)
    encoding = Grape(heads=3, head_dim=6)
    frame = torch.stack((encoding.a, encoding.b), -1)
    torch.testing.assert_close(frame.transpose(-1, -2) @ frame, torch.eye(2).expand(3, 2, 2), rtol=0, atol=1e-6)


def test_bad_input_is_refused():
    q = torch.zeros(1, HEADS, 3, HEAD_DIM)
    with pytest.raises(ValueError, match="positions must be integers"):
        make_grape().rotate(q, q, torch.arange(3.0))
    with pytest.raises(ValueError, match=r"queries have heads and width \(2, 3\), not \(2, 4\)"):
        make_grape().rotate(q[..., :3], q[..., :3], torch.arange(3))
