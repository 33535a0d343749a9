"""Every closed form is held to the loop, the integration or the regression that it stands for."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from lengthgen.theory.learning import learners
from lengthgen.theory.learning.learners import QuadraticProblem
from lengthgen.theory.learning.pola import attend, error_by_scale, from_samples, learned_matrix, pola_matrix, population
from lengthgen.theory.lrc import level_sets, lrc
from lengthgen.theory.relation import relative

Matrix = NDArray[np.float64]
CASES = 60


def _design(labels: NDArray[np.int64], tokens: Matrix, lengths: NDArray[np.int64]) -> Matrix:
    """Return one row a query of a sample, one column a label met anywhere, by the definition."""
    size = len(labels)
    names = sorted({int(labels[i, j]) for i in range(size) for j in range(i, size)})
    rows = []
    for sample, length in zip(tokens, lengths, strict=True):
        for j in range(length):
            rows.append([sum(sample[i] for i in range(j + 1) if labels[i, j] == name) for name in names])
    return np.array(rows, dtype=np.float64)


def _random_case(seed: int) -> tuple[QuadraticProblem, Matrix, Matrix, Matrix]:
    """A problem of POLA, and the rows, answers and start of the same least-squares problem.

    Even seeds: the population, one row a pair of training. Odd seeds: few samples of mixed lengths, with noise.
    """
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    scale = int(rng.integers(1, size + 1))
    labels = rng.integers(0, int(rng.integers(1, 10)), (size, size))
    target = np.triu(rng.normal(size=(size, size)))
    count = len({int(labels[i, j]) for i in range(size) for j in range(i, size)})
    start = rng.normal(size=count)
    if seed % 2 == 0:
        pairs = [(i, j) for i in range(scale) for j in range(i, scale)]
        names = sorted({int(labels[i, j]) for i in range(size) for j in range(i, size)})
        rows = np.array([[float(labels[pair] == name) for name in names] for pair in pairs])
        answers = np.array([target[pair] for pair in pairs])
        return population(target, labels, training_scale=scale), rows, answers, start
    samples = int(rng.integers(1, 12))
    tokens, lengths = rng.normal(size=(samples, scale)), rng.integers(1, scale + 1, samples)
    outputs = np.array([[x[: j + 1] @ target[: j + 1, j] for j in range(scale)] for x in tokens])
    outputs += rng.normal(size=outputs.shape)
    answers = np.concatenate([y[:length] for y, length in zip(outputs, lengths, strict=True)])
    rows = _design(labels, tokens, lengths)
    return from_samples(tokens, outputs, labels, lengths), rows / samples**0.5, answers / samples**0.5, start


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
        if seed % 2 == 0:  # m_k <= 28, so the slowest mode keeps less than (1 - 1.8/28)^500 < 1e-14
            limit = learners.gradient_flow_limit(problem, start=start)
            _close(_descend(rows, answers, start, rate, 500), limit, atol=1e-10, seed=seed)


def test_the_limits_are_the_least_squares_fit_nearest_to_the_start() -> None:
    for seed in range(CASES):
        problem, rows, answers, start = _random_case(seed)
        singular = np.linalg.svd(rows, compute_uv=False)
        condition = (singular[0] / singular[singular > 1e-7 * singular[0]].min()) ** 2
        tolerance = 1e-13 * condition * (1 + np.abs(_nearest_minimum(rows, answers, start)).max())
        for limit, first in (
            (learners.gradient_flow_limit(problem, start=start), start),
            (learners.min_norm(problem), np.zeros_like(start)),
        ):
            _close(limit, _nearest_minimum(rows, answers, first), atol=tolerance, seed=seed)


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


REPEATS = 300
FEW, MANY = 100, 1600
NOISE = 0.7


def _cells_by_distance(scale: int) -> Matrix:
    return np.array([max(scale - distance, 0) for distance in range(6)], dtype=np.float64)


def test_noise_costs_what_the_design_says_at_every_scale_and_falls_like_one_over_the_samples() -> None:
    """Given the tokens, theta - theta* is normal with covariance C = NOISE^2 (Z^T Z)^-1.

    The risk at a scale is a quadratic form in it, with mean tr(M C) and variance 2 tr(M C M C), where M counts the
    scale's pairs by distance. So the mean over repetitions has a known mean and deviation; five deviations are the
    tolerance.
    """
    rng = np.random.default_rng(20)
    theta = np.array([1.0, -2.0, 0.5, 3.0, 0.0, 0.0])
    target, labels = (
        np.array([[theta[max(j - i, 0)] * (i <= j) for j in range(6)] for i in range(6)]),
        relative().labels(6),
    )
    measured, deviation = {}, {}
    for samples in (FEW, MANY):
        risks, means, variances = np.zeros(6), np.zeros(6), np.zeros(6)
        for _ in range(REPEATS):
            tokens, lengths = rng.normal(size=(samples, 4)), rng.integers(1, 5, samples)
            outputs = attend(target[:4, :4], tokens) + NOISE * rng.normal(size=(samples, 4))
            learned = pola_matrix(learners.min_norm(from_samples(tokens, outputs, labels, lengths)), labels)
            risks += error_by_scale(learned, target).risk
            by_distance = [np.pad(tokens, ((0, 0), (distance, 0)))[:, :4] for distance in range(4)]
            rows = np.stack(by_distance, axis=-1)[np.arange(4) < lengths[:, None]]
            covariance = NOISE**2 * np.linalg.inv(rows.T @ rows)
            for scale in range(1, 7):
                form = _cells_by_distance(scale)[:4, None] * covariance
                means[scale - 1] += np.trace(form)
                variances[scale - 1] += 2 * np.trace(form @ form)
        measured[samples], deviation[samples] = risks / REPEATS, np.sqrt(variances) / REPEATS
        assert (np.abs(risks - means) < 5 * np.sqrt(variances)).all()
    ratio = measured[FEW] / measured[MANY]
    spread_of_ratio = ratio * np.hypot(deviation[FEW] / measured[FEW], deviation[MANY] / measured[MANY])
    assert (np.abs(ratio - MANY / FEW) < 5 * spread_of_ratio).all()
    assert (ratio > 2 * (MANY / FEW) ** 0.5).all(), "not one over the root of the samples"


def test_finite_data_on_a_target_that_does_not_fit_go_to_the_population_answer() -> None:
    """The squared distance to the class means falls like one over the samples: a z-test on its scaled means."""
    rng = np.random.default_rng(21)
    target, labels = np.triu(rng.normal(size=(6, 6))), relative().labels(6)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    limit = pola_matrix(learners.min_norm(population(target, labels, training_scale=4, scale_weights=weights)), labels)
    scaled = {}
    for samples in (400, 6400):
        risks = []
        for _ in range(REPEATS):
            tokens, lengths = rng.normal(size=(samples, 4)), rng.choice(4, samples, p=weights) + 1
            outputs = attend(target[:4, :4], tokens) + NOISE * rng.normal(size=(samples, 4))
            problem = from_samples(tokens, outputs, labels, lengths)
            risks.append(samples * error_by_scale(pola_matrix(learners.min_norm(problem), labels), limit).risk)
        scaled[samples] = np.array(risks)
    gap = scaled[400].mean(axis=0) - scaled[6400].mean(axis=0)
    deviation = np.sqrt(sum(risk.var(axis=0, ddof=1) / REPEATS for risk in scaled.values()))
    assert (np.abs(gap) < 5 * deviation).all()
    assert (5 * deviation < 0.75 * scaled[6400].mean(axis=0)).all(), "a risk that stayed would be off by 1500 %"


def _problem(hessian: Any, linear: Any, constant: Any = 0.0) -> QuadraticProblem:
    parts = (np.array(part, dtype=np.float64) for part in (hessian, linear, constant))
    return QuadraticProblem(**dict(zip(("hessian", "linear", "constant"), parts, strict=True)))


@pytest.mark.parametrize(
    ("hessian", "linear", "says"),
    [
        ([[1, 0]], [1, 1], "needs H"),
        ([1, 1, 1], [1, 1], "needs H"),
        ([1, np.nan], [1, 1], "not finite"),
        ([1, 1], [1, np.inf], "not finite"),
        ([[1, 2], [0, 1]], [1, 1], "symmetric"),
    ],
)
def test_arrays_that_are_no_quadratic_problem_are_refused(hessian: Any, linear: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        _problem(hessian, linear)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("hessian", "linear"),
    [([1, 0], [1, 1]), ([1, -1], [1, 0]), ([[1, 1], [1, 1]], [1, -1]), ([[0, 1], [1, 0]], [0, 0])],
)
def test_a_loss_without_minimum_is_refused(hessian: Any, linear: Any) -> None:
    for solve in (learners.min_norm, learners.gradient_flow_limit):
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
