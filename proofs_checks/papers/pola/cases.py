"""Small cases on which the claims are checked exhaustively: what each relation learns, in exact numbers."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.theory.enumeration import every_pattern, every_relation

SCALE = 3
TRAINING_SCALES = (1, 2)
# A mean of at most 6 of the values 0..3 differs by at least 1/6 from every value that it does not equal, and by at
# least 1/30 from another such mean.
TOLERANCE = 1e-9
VALUES = (0, 1, 2)
"""Default entries of the patterns that are checked."""
DESCENT = (
    "gradient descent on squared loss at a small rate, on noise-free data of scales up to N0 with identity second "
    "moments, without scale hint"
)
LEAST_SQUARES = (
    "least squares of least norm (gradient descent from zero in small steps) on noise-free data of scales up to N0 "
    "with identity second moments"
)


def learnable_text(learnable: bool) -> str:
    """Text of the answer to: does some relation learn the pattern?"""
    return "some relation learns it" if learnable else "no relation learns it"


def cells_in_training(training_scale: int) -> NDArray[np.bool_]:
    """Cells of scale 3 that training at scales up to N0 shows: bool [cells]."""
    return np.asarray(np.triu_indices(SCALE)[1] < training_scale)


def is_learned(learned: NDArray[Any], patterns: NDArray[Any]) -> NDArray[np.bool_]:
    """True for each learned matrix that equals its pattern: [..., n, n] -> bool [...]."""
    return np.asarray((np.abs(learned - patterns) < TOLERANCE).all(axis=(-2, -1)))


@cache
def learned_by_relation(
    learn: Callable[..., NDArray[np.float64]], values: tuple[int, ...], *, size: int, training_scale: int
) -> NDArray[np.bool_]:
    """Return which patterns with these entries each relation learns: bool [relations, patterns].

    Args:
        learn: `theory.learning.pola.learned_matrix`; a parameter, so that another learner does not get its cached
            answers.
        values: the entries of `every_pattern`.
        size: N.
        training_scale: N0.
    """
    patterns = every_pattern(size, values)
    learned = (learn(patterns, labels, training_scale=training_scale) for labels in every_relation(size))
    return np.array([is_learned(matrix, patterns) for matrix in learned])


def small_fractions(values: NDArray[np.float64]) -> NDArray[Any]:
    """Return the fractions of small denominator that the floats stand for.

    Raises `ArithmeticError` if a float is no such fraction.
    """
    exact = np.array([_fraction(value) for value in values.ravel().tolist()], dtype=object)
    return exact.reshape(values.shape)


@cache
def _fraction(value: float) -> Fraction:
    """Fraction of denominator at most 1000 that the float stands for."""
    exact = Fraction(value).limit_denominator(1000)
    if abs(float(exact) - value) > TOLERANCE:
        raise ArithmeticError(f"{value} is no fraction of small denominator: exact arithmetic does not apply")
    return exact
