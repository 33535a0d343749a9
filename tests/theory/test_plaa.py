"""PLAA is its definition, its spectrum that of the transform, and what is learned ends where plain descent does."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lengthgen.theory.learning import plaa, pola
from lengthgen.theory.relation import absolute, relative
from tests.oracles.plaa import Rows, all_inputs, patterns, value

ENTRIES = st.sampled_from([0, 0, 1, -1, 2, Fraction(1, 3), Fraction(-5, 2), 10**30])


def _coefficient(rows: Rows, members: Sequence[int]) -> Fraction:
    total = Fraction(0)
    for signs in all_inputs(len(rows)):
        character = 1
        for member in members:
            character *= signs[member]
        total += character * Fraction(value(rows, signs))
    return total / 2 ** len(rows)


def _subsets(size: int) -> list[tuple[int, ...]]:
    return [chosen for count in range(size + 1) for chosen in itertools.combinations(range(size), count)]


@given(rows=patterns(entries=ENTRIES))
def test_the_value_is_that_of_the_definition_and_exact(rows: Rows) -> None:
    inputs = all_inputs(len(rows))
    values = plaa.evaluate(rows, np.array(inputs))
    assert values.tolist() == [value(rows, signs) for signs in inputs]


def test_the_all_ones_input_gives_zero_and_floats_stay_floats() -> None:
    values = plaa.evaluate(np.triu(np.full((3, 3), 0.5)), np.array([[1, 1, 1], [1, -1, 1]]))
    assert values.dtype == np.float64
    assert values.tolist() == [0.0, 0.0]


def test_stacked_matrices_are_evaluated_one_by_one() -> None:
    stack = np.triu(np.random.default_rng(0).integers(-3, 4, (2, 3, 4, 4)))
    inputs = plaa.inputs_up_to(4, size=4)
    together = plaa.evaluate(stack, inputs)
    assert together.shape == (2, 3, 16)
    for at in np.ndindex(2, 3):
        assert together[at].tolist() == [value(stack[at].tolist(), signs) for signs in inputs.tolist()]


def test_integers_beyond_64_bits_do_not_overflow() -> None:
    largest = 2**63 - 1
    matrix = np.array([[0, largest], [0, -largest]], dtype=np.int64)
    assert plaa.evaluate(matrix, np.array([[1, -1]])).tolist() == [2 * largest]


@given(rows=patterns(entries=ENTRIES))
def test_plaa_is_pola_read_at_the_advice(rows: Rows) -> None:
    matrix = np.array(rows, dtype=object)
    for signs in all_inputs(len(rows))[1:]:
        last = int(plaa.advice(signs))
        everywhere = [sum(matrix[i, j] * signs[i] for i in range(j + 1)) for j in range(len(rows))]
        assert plaa.evaluate(matrix, np.array([signs]))[0] == everywhere[last - 1]


@pytest.mark.parametrize("size", range(1, 6))
def test_the_training_inputs_are_those_advised_at_most_the_training_scale(size: int) -> None:
    for scale in range(size + 1):
        inputs = {tuple(row) for row in plaa.inputs_up_to(scale, size=size).tolist()}
        wanted = {signs for signs in all_inputs(size) if all(sign == 1 for sign in signs[scale:])}
        assert inputs == wanted
        assert plaa.inputs_up_to(scale, size=size).shape == (2**scale, size)


@given(rows=patterns(entries=ENTRIES))
def test_the_fourier_table_is_the_transform(rows: Rows) -> None:
    size, table = len(rows), plaa.fourier(rows)
    for members in _subsets(size):
        least = (*members[:2], size, size)[:2]
        assert table[least] == _coefficient(rows, members), members


@given(rows=patterns(entries=st.integers(-2, 2)))
def test_the_degree_and_its_profile_are_those_of_the_transform(rows: Rows) -> None:
    size = len(rows)
    weights = [Fraction(0)] * (size + 1)
    for members in _subsets(size):
        weights[len(members)] += _coefficient(rows, members) ** 2
    assert plaa.degree_profile(rows) == tuple(weights)
    assert plaa.degree(rows) == max((degree for degree, weight in enumerate(weights) if weight), default=0)
    assert sum(weights) == sum(Fraction(value(rows, signs)) ** 2 for signs in all_inputs(size)) / 2**size


@given(rows=patterns(size=4, entries=st.integers(-2, 2)))
def test_the_degree_is_full_unless_the_first_cell_is_twice_its_neighbour(rows: Rows) -> None:
    assert (plaa.degree(rows) == 4) == (rows[0][0] != 2 * rows[0][1])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: plaa.advice([1, 0]), r"\+1 and -1"),
        (lambda: plaa.inputs_up_to(3, size=2), r"0\.\.2, not 3"),
        (lambda: plaa.evaluate([[1, 0], [1, 1]], [[1, -1]]), "upper triangular"),
        (lambda: plaa.evaluate([[1, 0], [0, 1]], [[1, -1, 1]]), r"shape \[M, 2\]"),
        (lambda: plaa.evaluate([[1, 0]], [[1, -1]]), "square"),
        (lambda: plaa.evaluate([["1"]], [[-1]]), "real numbers, not str"),
        (lambda: plaa.evaluate([[float("nan")]], [[-1]]), "not a NaN"),
        (lambda: plaa.fourier([[float("inf")]]), "finite"),
        (lambda: plaa.fourier(np.zeros((2, 1, 1))), "one matrix"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_one_line(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as refusal:
        call()
    assert "\n" not in str(refusal.value)


SMALL = st.integers(-1, 2)


@st.composite
def bases(draw: st.DrawFn, *, size: int, most: int) -> list[Rows]:
    count = draw(st.integers(1, most))
    matrices = [draw(patterns(size=size, entries=SMALL)) for _ in range(count)]
    assume(sp.Matrix([list(itertools.chain(*rows)) for rows in matrices]).rank() == count)
    return matrices


def _loss_gradient_descent(
    matrices: list[Rows], target: Rows, inputs: list[tuple[int, ...]], law: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Plain steps on the mean squared error over the listed inputs, from p = 0, until they change nothing."""
    features = np.array([[float(value(rows, signs)) for rows in matrices] for signs in inputs])
    wanted = np.array([float(value(target, signs)) for signs in inputs])
    law = law / law.sum()
    coefficients = np.zeros(len(matrices))
    curvature = np.linalg.eigvalsh(features.T @ (law[:, None] * features))[-1]
    for _ in range(20_000 if curvature > 0 else 0):
        step = features.T @ (law * (features @ coefficients - wanted)) / curvature
        coefficients -= step
        if np.abs(step).max() < 1e-13:
            break
    return coefficients


def _random_basis(rng: np.random.Generator, size: int, count: int) -> list[Rows]:
    while True:
        matrices = np.triu(rng.integers(-1, 2, (count, size, size)))
        if np.linalg.matrix_rank(matrices.reshape(count, -1)) == count:
            return [matrix.tolist() for matrix in matrices]


@pytest.mark.parametrize("seed", range(6))
def test_descent_on_the_uniform_law_ends_at_the_closed_form(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrices, target = _random_basis(rng, 4, 4), np.triu(rng.integers(-3, 4, (4, 4))).tolist()
    scale = 2 + seed % 2
    inputs = [signs for signs in all_inputs(4) if all(sign == 1 for sign in signs[scale:])]
    ends = _loss_gradient_descent(matrices, target, inputs, np.ones(len(inputs)))
    learned = plaa.learned_coefficients(plaa.position_basis(matrices), target, training_scale=scale)
    np.testing.assert_allclose(learned.astype(float), ends, atol=1e-7)


def test_descent_with_weights_on_the_advice_ends_at_the_closed_form() -> None:
    rng = np.random.default_rng(7)
    matrices, target = _random_basis(rng, 3, 3), np.triu(rng.integers(-3, 4, (3, 3))).tolist()
    inputs, weights = all_inputs(3)[1:], (5, 1, 2)
    last = [max(i for i, sign in enumerate(signs, 1) if sign == -1) for signs in inputs]
    law = np.array([weights[query - 1] / last.count(query) for query in last])
    ends = _loss_gradient_descent(matrices, target, inputs, law)
    basis = plaa.position_basis(matrices)
    learned = plaa.learned_coefficients(basis, target, training_scale=3, weights=weights).astype(float)
    np.testing.assert_allclose(learned, ends, atol=1e-7)
    uniform = plaa.learned_coefficients(basis, target, training_scale=3).astype(float)
    assert np.abs(uniform - ends).max() > 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_the_law_does_not_matter_for_a_target_in_the_span(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrices = _random_basis(rng, 4, 5)
    target = np.tensordot(rng.integers(-3, 4, 5), np.array(matrices), axes=1).tolist()
    inputs = [signs for signs in all_inputs(4) if all(sign == 1 for sign in signs[2:])]
    ends = _loss_gradient_descent(matrices, target, inputs, rng.uniform(0.5, 2, len(inputs)))
    learned = plaa.learned_coefficients(plaa.position_basis(matrices), target, training_scale=2)
    np.testing.assert_allclose(learned.astype(float), ends, atol=1e-7)


@pytest.mark.parametrize("scale", range(1, 6))
def test_a_relation_learns_in_plaa_what_it_learns_in_pola(scale: int) -> None:
    rng = np.random.default_rng(scale)
    labels, target = rng.integers(0, 6, (5, 5)), np.triu(rng.integers(-9, 10, (5, 5)))
    basis = plaa.relation_basis(labels)
    learned = plaa.learned_coefficients(basis, target, training_scale=scale, weights=[1] * scale)
    expected = pola.learned_matrix(target, labels, training_scale=scale)
    np.testing.assert_array_equal(basis.matrix(learned).astype(float), expected)


def _profile(coefficients: Sequence[Fraction], degrees: Sequence[int]) -> list[Fraction]:
    return [
        sum((p * p for p, d in zip(coefficients, degrees, strict=True) if d == degree), Fraction(0))
        for degree in sorted(set(degrees), reverse=True)
    ]


def _kernel(matrices: list[Rows], scale: int) -> list[list[Fraction]]:
    """Coefficients whose matrix vanishes on the cells i <= j <= N0."""
    cells = [(i, j) for j in range(scale) for i in range(j + 1)]
    seen = sp.Matrix([[sp.Rational(Fraction(rows[i][j])) for rows in matrices] for i, j in cells])
    return [[Fraction(int(entry.p), int(entry.q)) for entry in vector] for vector in seen.nullspace()]


@given(matrices=bases(size=3, most=5), scale=st.integers(1, 3), data=st.data())
def test_no_interpolator_has_a_lesser_degree_profile(matrices: list[Rows], scale: int, data: st.DataObject) -> None:
    basis, numbers = plaa.position_basis(matrices), st.integers(-2, 2)
    wanted = [data.draw(numbers) for _ in matrices]
    target = np.tensordot(wanted, np.array(matrices), axes=1).tolist()
    solution = plaa.min_degree_interpolator(basis, target, training_scale=scale).tolist()
    fitted = [
        [sum(p * rows[i][j] for p, rows in zip(solution, matrices, strict=True)) for j in range(3)] for i in range(3)
    ]
    assert all(fitted[i][j] == target[i][j] for j in range(scale) for i in range(j + 1))
    least = _profile(solution, basis.degrees)
    for vector in _kernel(matrices, scale):
        for step in (Fraction(1, 100), Fraction(-1, 100), data.draw(st.fractions(-3, 3, max_denominator=9))):
            moved = [p + step * v for p, v in zip(solution, vector, strict=True)]
            assert least <= _profile(moved, basis.degrees)
    assert least <= _profile([Fraction(p) for p in wanted], basis.degrees)


@pytest.mark.parametrize("seed", range(5))
def test_the_min_degree_interpolator_is_the_limit_of_ever_steeper_norms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = np.diag([1, 0, 0]), np.diag([0, 1, 0])
    matrices = [first.tolist(), second.tolist(), np.eye(3, dtype=int).tolist(), np.eye(3, k=1, dtype=int).tolist()]
    basis = plaa.position_basis(matrices)
    assert basis.degrees == (3, 2, 3, 3)
    target = np.tensordot(rng.integers(-3, 4, 4), np.array(matrices), axes=1)
    cells = [(i, j) for j in range(2) for i in range(j + 1)]
    seen = np.array([[float(rows[i][j]) for rows in matrices] for i, j in cells])
    shrink = np.array([1e-4 ** (degree / 2) for degree in basis.degrees])
    steep = shrink * (np.linalg.pinv(seen * shrink, rcond=1e-12) @ np.array([float(target[cell]) for cell in cells]))
    solution = plaa.min_degree_interpolator(basis, target, training_scale=2)
    np.testing.assert_allclose(solution.astype(float), steep, atol=1e-3)


@given(matrices=bases(size=3, most=5), scale=st.integers(1, 3))
def test_descent_is_min_degree_on_the_whole_span_exactly_where_degrees_separate(
    matrices: list[Rows], scale: int
) -> None:
    basis = plaa.position_basis(matrices)
    ends = plaa.learned_coefficients(basis, basis.matrices, training_scale=scale)
    least = plaa.min_degree_interpolator(basis, basis.matrices, training_scale=scale)
    assert (ends == least).all() == plaa.degrees_separate(basis, training_scale=scale)


def test_descent_leaves_the_min_degree_interpolator_where_degrees_mix() -> None:
    basis = plaa.position_basis([np.diag([1, 0, 0]), np.diag([0, 1, 0]), np.eye(3, dtype=int)])
    assert not plaa.degrees_separate(basis, training_scale=2)
    assert plaa.learned_coefficients(basis, np.eye(3), training_scale=2).tolist() == [
        Fraction(1, 3),
        Fraction(1, 3),
        Fraction(2, 3),
    ]
    assert plaa.min_degree_interpolator(basis, np.eye(3), training_scale=2).tolist() == [Fraction(1, 2)] * 3


def test_relations_give_the_bases_of_absolute_and_relative_encoding() -> None:
    ape, rpe = (plaa.relation_basis(law.labels(3)) for law in (absolute(), relative()))
    assert [matrix.tolist() for matrix in rpe.matrices] == [np.eye(3, k=k).tolist() for k in range(3)]
    assert sorted(np.argwhere(matrix).tolist() for matrix in ape.matrices) == [
        [[i, j]] for i in range(3) for j in range(i, 3)
    ]
    assert rpe.degrees == (3, 3, 2)


PAIR = plaa.position_basis([[[1, 0], [0, 1]]])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: plaa.position_basis([]), "at least one"),
        (lambda: plaa.position_basis([[[1]], [[1, 0], [0, 1]]]), "one size"),
        (lambda: plaa.position_basis([[[1, 1], [0, 1]], [[2, 2], [0, 2]]]), "independent"),
        (lambda: plaa.learned_coefficients(PAIR, [[1]], training_scale=1), "do not fit"),
        (lambda: plaa.learned_coefficients(PAIR, np.eye(2), training_scale=3), r"1\.\.2, not 3"),
        (
            lambda: plaa.learned_coefficients(PAIR, np.eye(2), training_scale=2, weights=[1, 0]),
            "positive weights",
        ),
        (lambda: plaa.min_degree_interpolator(PAIR, np.diag([1, 2]), training_scale=2), "no coefficients"),
    ],
)
def test_learning_refuses_what_does_not_fit_in_one_line(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as refusal:
        call()
    assert "\n" not in str(refusal.value)
