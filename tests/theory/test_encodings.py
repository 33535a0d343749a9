"""The symbolic laws agree in numbers with dense matrices built here, in several head dimensions."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import sympy as sp
from numpy.typing import NDArray
from scipy.linalg import block_diag, expm

from lengthgen.theory.encodings import biases, grape, hope, paths, rotary

Vector = NDArray[np.float64]
DIMENSIONS = (4, 8)
POSITIONS = [(0, 0), (2, 5), (7, 31)]


def _vectors(seed: int, head_dim: int, count: int) -> list[Vector]:
    return list(np.random.default_rng(seed).normal(size=(count, head_dim)))


def _exact(values: Sequence[float] | Vector) -> list[sp.Expr]:
    return [sp.Rational(float(value)) for value in values]


def _number(expression: sp.Expr) -> float:
    return float(sp.N(expression, 30))


def _numbers(matrix: sp.Matrix) -> Vector:
    return np.array(sp.N(matrix, 30).tolist(), dtype=np.float64)


def _oracle_frequencies(head_dim: int, base: float) -> Vector:
    return np.array([base ** (-even / head_dim) for even in range(0, head_dim, 2)])


@pytest.mark.parametrize(("trained", "base", "planes"), [(4, 10000, "0 to plane 0"), (4096, 3, "10 to plane 7")])
def test_yarn_refuses_a_ramp_without_extent(trained: int, base: int, planes: str) -> None:
    with pytest.raises(ValueError, match=f"no ramp: it would fall from plane {planes}"):
        rotary.yarn_index_range(8, base, trained_length=sp.Integer(trained), alpha=sp.Integer(1), beta=sp.Integer(32))


@pytest.mark.parametrize(
    ("law", "size", "message"),
    [
        *((rotary.frequencies, size, "head_dim must be a positive even number") for size in (0, -2, 3)),
        *(
            (slopes, size, "heads must be positive")
            for slopes in (biases.alibi_slopes, rotary.swat_slopes)
            for size in (0, -1)
        ),
    ],
)
def test_sizes_without_planes_or_heads_are_refused(law: Callable[[int], object], size: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"{message}, not {size}"):
        law(size)


@pytest.mark.parametrize("head_dim", DIMENSIONS)
@pytest.mark.parametrize("time", [-1.5, 0.25, 4.0])
def test_rank2_exponential_is_the_matrix_exponential(head_dim: int, time: float) -> None:
    a, b = _vectors(2, head_dim, 2)
    generator = np.outer(a, b) - np.outer(b, a)
    gram = grape.Gram.of(_exact(a), _exact(b))
    closed = grape.rank2_exponential(gram, time=sp.Rational(time), speed=sp.sqrt(grape.squared_speed(gram)))
    np.testing.assert_allclose(_numbers(closed.matrix(_exact(a), _exact(b))), expm(time * generator), atol=1e-11)
    symbolic = grape.rank2_generator(gram).matrix(_exact(a), _exact(b))
    np.testing.assert_allclose(_numbers(symbolic), generator, atol=1e-14)


@pytest.mark.parametrize("head_dim", DIMENSIONS)
def test_plane_projector_is_the_least_squares_projector(head_dim: int) -> None:
    a, b = _vectors(3, head_dim, 2)
    basis, _ = np.linalg.qr(np.column_stack([a, b]))
    projector = grape.plane_projector(grape.Gram.of(_exact(a), _exact(b))).matrix(_exact(a), _exact(b))
    np.testing.assert_allclose(_numbers(projector), basis @ basis.T, atol=1e-12)


@pytest.mark.parametrize("head_dim", DIMENSIONS)
def test_plane_operators_multiply_as_matrices(head_dim: int) -> None:
    a, b = (_exact(np.round(vector, 2)) for vector in _vectors(4, head_dim, 2))
    gram = grape.Gram.of(a, b)
    first = grape.PlaneOperator(gram=gram, identity=sp.Integer(3), coefficients=sp.Matrix([[1, 2], [3, 4]]))
    second = grape.PlaneOperator(gram=gram, identity=sp.Integer(-1), coefficients=sp.Matrix([[5, 0], [1, 2]]))
    assert (first @ second).matrix(a, b) == first.matrix(a, b) * second.matrix(a, b)
    assert (first + second).matrix(a, b) == first.matrix(a, b) + second.matrix(a, b)


def _lifted(tail: Vector, vector: Vector) -> Vector:
    return np.concatenate([vector, tail])


@pytest.mark.parametrize("head_dim", DIMENSIONS)
@pytest.mark.parametrize(("key_position", "query_position"), POSITIONS)
def test_alibi_is_the_dense_unipotent_action(head_dim: int, key_position: int, query_position: int) -> None:
    slope = 0.25
    query, key = _vectors(5, head_dim, 2)
    generator = np.zeros((head_dim + 2, head_dim + 2))
    generator[-1, -2] = -slope
    moved_query = expm(query_position * generator) @ _lifted(np.array([1.0, 0.0]), query)
    moved_key = np.linalg.inv(expm(key_position * generator)).T @ _lifted(np.array([0.0, 1.0]), key)
    exact_slope, j, i = sp.Rational(slope), sp.Integer(query_position), sp.Integer(key_position)
    action = grape.alibi_generator(slope=exact_slope)
    inverse_transpose = grape.unipotent(action, i).inv().T
    content = sp.Rational(float(query @ key))
    score = grape.extended_score(content, query_action=grape.unipotent(action, j), key_action=inverse_transpose)
    assert score == content + biases.alibi_bias(exact_slope, query_position=j, key_position=i)
    np.testing.assert_allclose(_number(score), moved_query @ moved_key, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("head_dim", DIMENSIONS)
def test_fox_is_the_dense_product_of_links(head_dim: int) -> None:
    log_gates = np.log(np.random.default_rng(7).uniform(0.05, 0.99, size=6))
    query, key = _vectors(8, head_dim, 2)
    path = np.eye(head_dim + 2)
    symbolic_path = sp.eye(2)
    for log_gate in log_gates:
        link = np.eye(head_dim + 2)
        link[-1, -2] = -log_gate
        path = link @ path
        symbolic_path = grape.fox_link(log_gate=sp.Rational(float(log_gate))) * symbolic_path
    values = {paths.LOG_GATES[at]: sp.Rational(float(log_gate)) for at, log_gate in enumerate(log_gates)}
    factor = paths.fox_path_gate(key=sp.Integer(-1), query=sp.Integer(len(log_gates) - 1)).doit().subs(values)
    np.testing.assert_allclose(_number(factor), np.exp(log_gates.sum()), rtol=1e-12)
    dense = _lifted(np.array([1.0, 0.0]), query) @ np.linalg.inv(path).T @ _lifted(np.array([0.0, 1.0]), key)
    content = sp.Rational(float(query @ key))
    score = grape.extended_score(content, query_action=sp.eye(2), key_action=symbolic_path.inv().T)
    np.testing.assert_allclose(_number(score), dense, rtol=1e-13)
    np.testing.assert_allclose(dense, query @ key + log_gates.sum(), rtol=1e-13)


@pytest.mark.parametrize("head_dim", DIMENSIONS)
@pytest.mark.parametrize(("key_position", "query_position"), [(0, 0), (1, 4), (3, 9)])
def test_hope_score_is_the_dense_damped_boost(head_dim: int, key_position: int, query_position: int) -> None:
    damping = 1.25
    rates = _oracle_frequencies(head_dim, 100.0)
    query, key = _vectors(9, head_dim, 2)
    generator = block_diag(*(np.array([[0, rate], [rate, 0]]) for rate in rates))
    identity = np.eye(head_dim)
    moved_query = expm(query_position * (generator - damping * identity)) @ query
    moved_key = expm(-key_position * (generator - damping * identity)) @ key
    law = {"offset": sp.Integer(query_position - key_position), "damping": sp.Rational(damping)}
    score = light_cone = sp.Integer(0)
    for plane, rate in enumerate(_exact(rates)):
        pair = _exact(query[2 * plane : 2 * plane + 2]), _exact(key[2 * plane : 2 * plane + 2])
        score += hope.score(*pair, rate=rate, **law)
        light_cone += hope.light_cone_score(*pair, rate=rate, **law)
    np.testing.assert_allclose(_number(score), moved_query @ moved_key, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(_number(light_cone), moved_query @ moved_key, rtol=1e-9, atol=1e-10)


def test_hope_decay_factors_are_the_eigenvalues_of_the_step() -> None:
    step = np.exp(-1.5) * expm(np.array([[0.0, 0.75], [0.75, 0.0]]))
    factors = hope.decay_factors(rate=sp.Rational(3, 4), damping=sp.Rational(3, 2))
    np.testing.assert_allclose(sorted(map(_number, factors)), np.linalg.eigvalsh(step), rtol=1e-12)
