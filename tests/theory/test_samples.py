"""Problems of finite data: white samples are the population, others are solved, and nothing else is read."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from lengthgen.theory.learning.learners import min_norm
from lengthgen.theory.learning.pola import attend, from_samples, learned_matrix, pola_matrix, population
from lengthgen.theory.relation import absolute, clipped_relative, relative
from tests.oracles.pola import signs


@pytest.mark.parametrize("counts", [(0, 0, 0, 1), (1, 2, 0, 3), (4, 1, 1, 0)])
def test_samples_that_are_white_are_the_population(counts: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    target, labels = np.triu(rng.normal(size=(6, 6))), rng.integers(0, 7, (6, 6))
    lengths = np.repeat([1, 2, 3, 4], np.array(counts) * 16)
    tokens = np.concatenate([signs(4)] * sum(counts))
    sampled = from_samples(tokens, attend(target[:4, :4], tokens), labels, lengths)
    exact = population(target, labels, training_scale=4, scale_weights=np.array(counts) / sum(counts))
    np.testing.assert_allclose(sampled.hessian, np.diag(exact.hessian), rtol=0, atol=1e-12)
    np.testing.assert_allclose(sampled.linear, exact.linear, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sampled.constant, exact.constant, rtol=1e-12)


def test_white_samples_of_vectors_are_the_population() -> None:
    rng = np.random.default_rng(5)
    target, labels = rng.normal(size=(3, 3, 2, 2)), rng.integers(0, 3, (3, 3))
    tokens = signs(3, 2)
    sampled = from_samples(tokens, attend(target, tokens), labels, np.full(64, 3))
    exact = population(target, labels, training_scale=3, vector_tokens=True)
    np.testing.assert_allclose(sampled.hessian, np.diag(exact.hessian), rtol=0, atol=1e-12)
    np.testing.assert_allclose(sampled.linear, exact.linear, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sampled.constant, exact.constant, rtol=1e-12)
    learned = pola_matrix(min_norm(exact), labels, vector_tokens=True)
    np.testing.assert_allclose(
        learned, learned_matrix(target, labels, training_scale=3, vector_tokens=True), atol=1e-12
    )


def test_vectors_are_learned_from_samples_that_are_not_white() -> None:
    rng = np.random.default_rng(6)
    labels = clipped_relative(2).labels(6)
    values = rng.normal(size=(3, 2, 3))
    target = np.array([[values[labels[i, j]] * (i <= j) for j in range(6)] for i in range(6)])
    tokens = rng.normal(size=(40, 4, 3)) @ rng.normal(size=(3, 3))
    problem = from_samples(tokens, attend(target[:4, :4], tokens), labels, rng.integers(1, 5, 40))
    np.testing.assert_allclose(pola_matrix(min_norm(problem), labels, vector_tokens=True), target, rtol=0, atol=1e-9)


def test_tokens_beyond_the_length_of_a_sample_are_not_read() -> None:
    rng = np.random.default_rng(9)
    tokens, outputs, lengths = rng.normal(size=(9, 4)), rng.normal(size=(9, 4)), rng.integers(1, 5, 9)
    beyond = np.arange(4) >= lengths[:, None]
    full, cut = (
        from_samples(np.where(beyond, filler, tokens), np.where(beyond, filler, outputs), absolute().labels(5), lengths)
        for filler in (0.0, np.nan)
    )
    np.testing.assert_array_equal(full.hessian, cut.hessian)
    np.testing.assert_array_equal(full.linear, cut.linear)


def test_many_samples_take_little_memory() -> None:
    rng = np.random.default_rng(10)
    tokens, lengths = rng.normal(size=(10_000, 20)), rng.integers(1, 21, 10_000)
    outputs = attend(np.triu(np.ones((20, 20))), tokens)
    tracemalloc.start()
    problem = from_samples(tokens, outputs, absolute().labels(20), lengths)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * 2**20, "the features alone would take 336 MB"
    np.testing.assert_allclose(min_norm(problem), 1, rtol=1e-9)


LABELS = relative().labels(3)
SAMPLES = np.ones((2, 3))
LENGTHS = np.array([1, 3])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: from_samples(SAMPLES, SAMPLES[:1], LABELS, LENGTHS), "do not fit"),
        (lambda: from_samples(SAMPLES, SAMPLES, LABELS, LENGTHS[:1]), "do not fit"),
        (lambda: from_samples(SAMPLES[:0], SAMPLES[:0], LABELS, LENGTHS[:0]), "do not fit"),
        (lambda: from_samples(SAMPLES, SAMPLES, LABELS[:2, :2], LENGTHS), "do not fit"),
        (lambda: from_samples(SAMPLES[..., None], SAMPLES, LABELS, LENGTHS), "do not fit"),
        (lambda: from_samples(SAMPLES, SAMPLES, LABELS, np.array([0, 3])), r"1\.\.3"),
        (lambda: from_samples(SAMPLES, SAMPLES, LABELS, np.array([1, 4])), r"1\.\.3"),
        (lambda: from_samples(SAMPLES, np.nan * SAMPLES, LABELS, LENGTHS), "not finite"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_one_line(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
