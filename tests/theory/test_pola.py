"""POLA's problems by their moments, and what it learns from populations."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lengthgen.theory.learning.learners import gradient_flow_limit
from lengthgen.theory.learning.pola import error_by_scale, learned_matrix, pola_matrix, population
from lengthgen.theory.relation import Relation, absolute, clipped_relative, constant, relative
from tests.oracles.pola import signs

Matrix = NDArray[np.float64]


def _design(labels: NDArray[np.int64], training_scale: int) -> Matrix:
    """Return one row a training pair, one column a label that occurs; parameters that no row meets stay free."""
    size = len(labels)
    names = sorted({int(labels[i, j]) for i in range(size) for j in range(i, size)})
    rows = [
        [float(labels[i, j] == name) for name in names] for i in range(training_scale) for j in range(i, training_scale)
    ]
    return np.array(rows)


def _spread(theta: Matrix, labels: NDArray[np.int64]) -> Matrix:
    size = len(labels)
    names = sorted({int(labels[i, j]) for i in range(size) for j in range(i, size)})
    learned = np.zeros((size, size))
    for i in range(size):
        for j in range(i, size):
            learned[i, j] = theta[names.index(int(labels[i, j]))]
    return learned


def _targets_of(target: Matrix, training_scale: int) -> Matrix:
    return np.array([target[i, j] for i in range(training_scale) for j in range(i, training_scale)])


def _gradient_descent(design: Matrix, wanted: Matrix) -> Matrix:
    theta = np.zeros(design.shape[1])
    step = 1 / np.linalg.norm(design, 2) ** 2
    for _ in range(20_000):
        theta -= step * design.T @ (design @ theta - wanted)
    return theta


@st.composite
def cases(draw: st.DrawFn) -> tuple[Matrix, NDArray[np.int64], int]:
    size = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    labels = rng.integers(0, draw(st.integers(1, 8)), (size, size))
    return np.triu(rng.normal(size=(size, size))), labels, draw(st.integers(1, size))


@given(case=cases())
def test_the_learned_matrix_is_the_min_norm_least_squares_fit(case: tuple[Matrix, NDArray[np.int64], int]) -> None:
    target, labels, scale = case
    theta, *_ = np.linalg.lstsq(_design(labels, scale), _targets_of(target, scale), rcond=None)
    np.testing.assert_allclose(learned_matrix(target, labels, training_scale=scale), _spread(theta, labels), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_descent_from_zero_ends_at_the_learned_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    target, labels = np.triu(rng.normal(size=(6, 6))), rng.integers(0, 7, (6, 6))
    theta = _gradient_descent(_design(labels, 4), _targets_of(target, 4))
    np.testing.assert_allclose(learned_matrix(target, labels, training_scale=4), _spread(theta, labels), atol=1e-9)


PREFIX_SUM = np.triu(np.ones((8, 8)))
WINDOW = np.array([[{0: 2.0, 1: -1.0}.get(j - i, 0.0) for j in range(8)] for i in range(8)])
DECAY = np.array([[0.5 ** (j - i) if i <= j else 0.0 for j in range(8)] for i in range(8)])
RELATIONS = {
    "absolute": absolute(),
    "relative": relative(),
    "clipped": clipped_relative(2),
    "constant": constant(),
}
GENERALIZE = [
    ("prefix sum", PREFIX_SUM, {"constant", "clipped"}),
    ("window", WINDOW, {"relative", "clipped"}),
    ("decay", DECAY, set()),
]


@pytest.mark.parametrize(("target", "who"), [case[1:] for case in GENERALIZE], ids=[case[0] for case in GENERALIZE])
@pytest.mark.parametrize("name", RELATIONS)
def test_worked_cases_of_the_second_theorem(name: str, target: Matrix, who: set[str]) -> None:
    learned = learned_matrix(target, RELATIONS[name].labels(8), training_scale=4)
    assert np.allclose(learned, target) == (name in who)


def _level(relation: Relation, i: int, j: int) -> int:
    return int(relation.labels(8)[i - 1, j - 1])


@pytest.mark.parametrize("name", ["absolute", "relative"])
def test_labels_that_training_never_meets_stay_at_zero(name: str) -> None:
    relation = RELATIONS[name]
    learned = learned_matrix(PREFIX_SUM, relation.labels(8), training_scale=4)
    met = {_level(relation, i, j) for j in range(1, 5) for i in range(1, j + 1)}
    for j in range(1, 9):
        for i in range(1, j + 1):
            assert learned[i - 1, j - 1] == (_level(relation, i, j) in met)


def test_a_class_that_disagrees_ends_at_its_mean() -> None:
    target = np.array([[1.0, 2.0, 9.0], [0.0, 6.0, 9.0], [0.0, 0.0, 9.0]])
    learned = learned_matrix(target, constant().labels(3), training_scale=2)
    np.testing.assert_allclose(learned, np.triu(np.full((3, 3), 3.0)))


def test_stacked_targets_are_learned_one_by_one() -> None:
    targets = np.triu(np.random.default_rng(5).normal(size=(2, 3, 4, 4)))
    together = learned_matrix(targets, relative().labels(4), training_scale=3)
    assert together.shape == targets.shape
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(
            together[index], learned_matrix(targets[index], relative().labels(4), training_scale=3)
        )


def test_entries_beyond_training_are_not_looked_at() -> None:
    labels = relative().labels(5)
    spoiled = PREFIX_SUM[:5, :5].copy()
    spoiled[:, 3:] = 77
    np.testing.assert_array_equal(
        learned_matrix(spoiled, labels, training_scale=3),
        learned_matrix(PREFIX_SUM[:5, :5], labels, training_scale=3),
    )


@pytest.mark.parametrize(
    ("shape", "scale", "says"),
    [((4, 4), 2, "same"), ((3, 2), 2, "same"), ((3, 3), 0, r"1\.\.3, not 0"), ((3, 3), 4, r"1\.\.3, not 4")],
)
def test_shapes_and_scales_that_do_not_fit_are_refused(shape: tuple[int, int], scale: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        learned_matrix(np.zeros(shape), relative().labels(3), training_scale=scale)


@pytest.mark.parametrize("start", [2.5, [1.0, -1.0, 7.0, 5.0, 3.0]])
def test_a_label_that_training_never_meets_keeps_its_start(start: Any) -> None:
    labels = relative().labels(5)
    learned = learned_matrix(np.triu(np.full((5, 5), 4.0)), labels, training_scale=3, start=start)
    np.testing.assert_array_equal(learned[0, :3], [4, 4, 4])
    np.testing.assert_array_equal(learned[0, 3:], np.broadcast_to(start, 5)[3:])


def test_matrices_are_learned_entry_by_entry() -> None:
    rng = np.random.default_rng(8)
    target, labels = rng.normal(size=(2, 5, 5, 3, 4)), rng.integers(0, 6, (5, 5))
    learned = learned_matrix(target, labels, training_scale=3, start=0.5, vector_tokens=True)
    assert learned.shape == target.shape
    for stack, output, entry in itertools.product(range(2), range(3), range(4)):
        alone = learned_matrix(target[stack, :, :, output, entry], labels, training_scale=3, start=0.5)
        np.testing.assert_array_equal(learned[stack, :, :, output, entry], alone)


@pytest.mark.parametrize("weights", [(0, 0, 1), (0.2, 0.3, 0.5), (1, 1, 0)])
def test_a_mixture_of_scales_is_the_weighted_sum_of_their_problems(weights: tuple[float, ...]) -> None:
    rng = np.random.default_rng(7)
    target, labels = np.triu(rng.normal(size=(2, 5, 5))), rng.integers(0, 9, (5, 5))
    mixed = population(target, labels, training_scale=3, scale_weights=weights)
    parts = [population(target, labels, training_scale=scale) for scale in (1, 2, 3)]
    for field in ("hessian", "linear", "constant"):
        wanted = sum(weight * getattr(part, field) for weight, part in zip(weights, parts, strict=True))
        np.testing.assert_allclose(getattr(mixed, field), wanted, rtol=0, atol=1e-12)


def test_a_scale_of_weight_zero_is_not_seen() -> None:
    target, labels = np.triu(np.full((4, 4), 3.0)), relative().labels(4)
    problem = population(target, labels, training_scale=3, scale_weights=(1, 1, 0))
    np.testing.assert_array_equal(gradient_flow_limit(problem, start=7), [3, 3, 7, 7])


@pytest.mark.parametrize("seed", range(5))
def test_the_risk_is_the_expected_squared_error_over_the_queries(seed: int) -> None:
    rng = np.random.default_rng(seed)
    learned, target = np.triu(rng.normal(size=(2, 3, 5, 5)), 0)
    error = error_by_scale(learned, target)
    tokens = signs(5)
    for stack, scale in itertools.product(range(3), range(1, 6)):
        gap = (tokens @ (learned - target)[stack])[:, :scale]
        assert error.risk[stack, scale - 1] == pytest.approx((gap**2).sum(axis=1).mean(), rel=1e-12)
        cells = [abs(learned[stack, i, j] - target[stack, i, j]) for j in range(scale) for i in range(j + 1)]
        assert error.largest[stack, scale - 1] == max(cells)


def test_the_risk_of_vectors_sums_over_the_entries_of_the_matrices() -> None:
    rng = np.random.default_rng(2)
    learned, target = rng.normal(size=(2, 2, 2, 3, 4))
    error, tokens = error_by_scale(learned, target, vector_tokens=True), signs(2, 4)
    upper = np.where(np.tri(2, dtype=bool).T[:, :, None, None], learned - target, 0)
    gap = np.einsum("ijde,sie->sjd", upper, tokens)
    for scale in (1, 2):
        assert error.risk[scale - 1] == pytest.approx((gap[:, :scale] ** 2).sum(axis=(1, 2)).mean(), rel=1e-12)
        cells = [np.abs(learned[i, j] - target[i, j]).max() for j in range(scale) for i in range(j + 1)]
        assert error.largest[scale - 1] == max(cells)


LABELS = relative().labels(3)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: population(np.ones((4, 4)), LABELS, training_scale=2), "same"),
        (lambda: population(np.ones((3, 3)), LABELS, training_scale=4), r"1\.\.3, not 4"),
        (lambda: population(np.ones((3, 3)), LABELS, training_scale=2, scale_weights=(1, 1, 1)), "2 finite numbers"),
        (lambda: population(np.ones((3, 3)), LABELS, training_scale=2, scale_weights=(1, -1)), "2 finite numbers"),
        (lambda: population(np.ones((3, 3)), LABELS, training_scale=2, vector_tokens=True), r"\[\.\.\., n, n, d, e\]"),
        (lambda: population(np.full((3, 3), np.nan), LABELS, training_scale=2), "not finite"),
        (lambda: pola_matrix(np.ones(4), LABELS), "does not fit 3 labels"),
        (lambda: pola_matrix(np.ones(6), LABELS), "does not fit 3 labels"),
        (lambda: pola_matrix(np.ones(6), LABELS, vector_tokens=True), "does not fit 3 labels"),
        (lambda: pola_matrix(np.ones((2, 4)), LABELS, vector_tokens=True), "does not fit 3 labels"),
        (lambda: learned_matrix(np.ones((3, 3)), LABELS, training_scale=2, start=(1, 2)), r"start \(2,\)"),
        (lambda: error_by_scale(np.ones((3, 3)), np.ones((2, 2))), "square"),
        (lambda: error_by_scale(np.ones((3, 2)), np.ones((3, 2))), "square"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_one_line(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
