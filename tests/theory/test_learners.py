"""Every closed form is held to the loop, the integration or the regression that it stands for."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from lengthgen.theory.learning import learners
from lengthgen.theory.learning.learners import QuadraticProblem
from lengthgen.theory.learning.pola import learned_matrix, pola_matrix, population
from lengthgen.theory.lrc import level_sets, lrc
from lengthgen.theory.relation import relative

Matrix = NDArray[np.float64]
CASES = 60


def _random_case(seed: int) -> tuple[QuadraticProblem, Matrix, Matrix, Matrix]:
    """A problem of POLA, and the rows (one a pair of training), answers and start of the same least-squares problem."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    scale = int(rng.integers(1, size + 1))
    labels = rng.integers(0, int(rng.integers(1, 10)), (size, size))
    target = np.triu(rng.normal(size=(size, size)))
    names = sorted({int(labels[i, j]) for i in range(size) for j in range(i, size)})
    pairs = [(i, j) for i in range(scale) for j in range(i, scale)]
    rows = np.array([[float(labels[pair] == name) for name in names] for pair in pairs])
    answers = np.array([target[pair] for pair in pairs])
    return population(target, labels, training_scale=scale), rows, answers, rng.normal(size=len(names))


def _descend(rows: Matrix, answers: Matrix, theta: Matrix, rate: float, steps: int) -> Matrix:
    for _ in range(steps):
        theta = theta - rate * 2 * rows.T @ (rows @ theta - answers)
    return theta


def _nearest_minimum(rows: Matrix, answers: Matrix, start: Matrix) -> Matrix:
    shift, *_ = np.linalg.lstsq(rows, answers - rows @ start, rcond=1e-7)
    return np.asarray(start + shift)


def _close(learned: Matrix, wanted: Matrix, *, atol: float, seed: int) -> None:
    np.testing.assert_allclose(learned, wanted, rtol=0, atol=atol, err_msg=f"seed {seed}")


def test_gradient_descent_is_the_loop() -> None:
    for seed in range(CASES):
        problem, rows, answers, start = _random_case(seed)
        rate = 0.9 / np.linalg.norm(rows, 2) ** 2
        for steps in (0, 1, 7, 60):
            learned = learners.gradient_descent(problem, start=start, rate=rate, steps=steps)
            _close(learned, _descend(rows, answers, start, rate, steps), atol=1e-10, seed=seed)
        # m_k <= 28, so the slowest parameter keeps less than (1 - 1.8/28)^500 < 1e-14
        limit = learners.gradient_flow_limit(problem, start=start)
        _close(_descend(rows, answers, start, rate, 500), limit, atol=1e-10, seed=seed)


def test_the_limits_are_the_least_squares_fit_nearest_to_the_start() -> None:
    for seed in range(CASES):
        problem, rows, answers, start = _random_case(seed)
        limit = learners.gradient_flow_limit(problem, start=start)
        _close(limit, _nearest_minimum(rows, answers, start), atol=1e-10, seed=seed)


def test_some_relation_works_iff_lrc_stays_and_then_the_level_sets_do() -> None:
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 8))
        scale = int(rng.integers(1, size + 1))
        target = np.triu(rng.integers(-2, 3, (size, size)) * (rng.random((size, size)) < rng.random())).astype(float)
        if seed % 2:
            target = np.triu(np.array([[target[0, max(j - i, 0) % scale] for j in range(size)] for i in range(size)]))
        constant = lrc(target) == lrc(target, scale)
        learned = learned_matrix(target, level_sets(target).labels(size), training_scale=scale)
        assert np.allclose(learned, target, rtol=0, atol=1e-9) == constant, seed
        coarse, fine = rng.integers(0, 3, (size, size)), np.triu(target + 2).astype(int)
        for labels in (rng.integers(0, 6, (size, size)), coarse, relative().labels(size), fine):
            works = np.allclose(learned_matrix(target, labels, training_scale=scale), target, rtol=0, atol=1e-9)
            assert constant or not works, seed


@pytest.mark.parametrize("seed", range(12))
def test_gradient_flow_is_the_integrated_flow(seed: int) -> None:
    problem, rows, answers, start = _random_case(seed)
    time = 1.5 / np.linalg.norm(rows, 2) ** 2

    def velocity(_: float, theta: Matrix) -> Matrix:
        return np.asarray(-2 * rows.T @ (rows @ theta - answers))

    solved = solve_ivp(velocity, (0, time), start, method="DOP853", rtol=1e-11, atol=1e-12)
    learned = learners.gradient_flow(problem, start=start, time=time)
    np.testing.assert_allclose(learned, solved.y[:, -1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(learners.gradient_flow(problem, start=start, time=0), start, rtol=0, atol=1e-12)


def test_ridge_is_least_squares_with_rows_for_the_penalty() -> None:
    for seed in range(CASES):
        problem, rows, answers, start = _random_case(seed)
        for penalty in (1e-3, 1.0, 50.0):
            penalised = np.vstack([rows, penalty**0.5 * np.eye(start.size)])
            wanted, *_ = np.linalg.lstsq(penalised, np.concatenate([answers, np.zeros(start.size)]), rcond=None)
            _close(learners.ridge(problem, penalty=penalty), wanted, atol=1e-10, seed=seed)


@pytest.mark.parametrize("seed", range(20))
def test_loss_and_gradient_are_those_of_the_rows(seed: int) -> None:
    problem, rows, answers, theta = _random_case(seed)
    np.testing.assert_allclose(problem.loss(theta), ((rows @ theta - answers) ** 2).sum(), rtol=1e-10)
    wanted = 2 * rows.T @ (rows @ theta - answers)
    np.testing.assert_allclose(problem.gradient(theta), wanted, rtol=0, atol=1e-10)


def test_stacked_problems_are_solved_one_by_one() -> None:
    rng = np.random.default_rng(3)
    targets, labels = rng.normal(size=(2, 3, 5, 5)), relative().labels(5)
    together, start = population(targets, labels, training_scale=3), rng.normal(size=5)
    for solve in (
        lambda problem: learners.gradient_descent(problem, start=start, rate=0.01, steps=5),
        lambda problem: learners.gradient_flow(problem, start=start, time=0.1),
        lambda problem: learners.ridge(problem, penalty=0.5),
        lambda problem: problem.loss(start),
    ):
        for index in np.ndindex(2, 3):
            alone = population(targets[index], labels, training_scale=3)
            np.testing.assert_allclose(solve(together)[index], solve(alone), rtol=1e-13)


def test_a_rate_that_is_too_large_diverges() -> None:
    problem = population(np.triu(np.ones((3, 3))), np.zeros((3, 3), dtype=np.int64), training_scale=3)  # H = 6
    assert abs(float(learners.gradient_descent(problem, rate=1.01 / 6, steps=400)[0]) - 1) > 100
    assert abs(float(learners.gradient_descent(problem, rate=0.99 / 6, steps=2000)[0]) - 1) < 1e-12


def test_a_parameter_that_no_data_determine_keeps_its_start() -> None:
    target, labels = np.triu(np.full((4, 4), 3.0)), relative().labels(4)
    start = np.array([9.0, 8.0, 7.0, 6.0])
    learned = pola_matrix(
        learners.gradient_flow_limit(population(target, labels, training_scale=2), start=start), labels
    )
    np.testing.assert_array_equal(learned[0], [3, 3, 7, 6])


def _problem(hessian: Any, linear: Any, constant: Any = 0.0) -> QuadraticProblem:
    parts = (np.array(part, dtype=np.float64) for part in (hessian, linear, constant))
    return QuadraticProblem(**dict(zip(("hessian", "linear", "constant"), parts, strict=True)))


@pytest.mark.parametrize(
    ("hessian", "linear", "says"),
    [
        ([[1, 0]], [1, 1], "needs h"),
        ([1, 1, 1], [1, 1], "needs h"),
        ([1, np.nan], [1, 1], "not finite"),
        ([1, 1], [1, np.inf], "not finite"),
    ],
)
def test_arrays_that_are_no_quadratic_problem_are_refused(hessian: Any, linear: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        _problem(hessian, linear)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("hessian", "linear"), [([1, 0], [1, 1]), ([1, -1], [1, 0])])
def test_a_loss_without_minimum_is_refused(hessian: Any, linear: Any) -> None:
    for solve in (learners.gradient_flow_limit, partial(learners.ridge, penalty=2)):
        with pytest.raises(ValueError, match="no minimum"):
            solve(_problem(hessian, linear))


def test_learning_that_cannot_be_is_refused() -> None:
    problem = _problem([1, 2], [1, 1])
    for wrong, says in (
        (lambda: learners.gradient_descent(problem, rate=0, steps=1), "rate .* positive"),
        (lambda: learners.gradient_descent(problem, rate=0.1, steps=-1), "at least 0"),
        (lambda: learners.gradient_flow(problem, time=-1), "at least 0"),
        (lambda: learners.ridge(problem, penalty=0), "penalty .* positive"),
    ):
        with pytest.raises(ValueError, match=says):
            wrong()
