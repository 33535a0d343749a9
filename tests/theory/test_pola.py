"""What POLA learns is the min-norm least-squares fit, which is where gradient descent from zero ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from theory.pola import learned_matrix
from theory.relation import Relation, absolute, clipped_relative, constant, relative

Matrix = NDArray[np.float64]


def _design(labels: NDArray[np.int64], training_scale: int) -> Matrix:
    """One row a training pair, one column a label that occurs anywhere; parameters that no row meets stay free."""
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


def test_what_lies_beyond_training_is_not_looked_at() -> None:
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
