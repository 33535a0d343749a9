"""The small cases on which the claims are exhausted: the patterns that each relation learns, and exact numbers."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.dimension import every_pattern, every_relation

SCALE = 3
TRAINING_SCALES = (1, 2)
# A mean of at most 6 of the values 0..3 is at least 1/6 away from every one that it does not equal, and from another
# such mean 1/30.
TOLERANCE = 1e-9
VALUES = (0, 1, 2)
"""The entries of the patterns looked at, where a claim does not name others."""

DESCENT = "gradient descent on squared loss, on spanning noise-free data of scales up to N0, without scale hint"
LEAST_SQUARES = (
    "least squares of least norm (gradient descent from zero) on spanning noise-free data of scales up to N0"
)


def said(learnable: bool) -> str:
    """The answer in words."""
    return "some relation learns it" if learnable else "no relation learns it"


def shown(training_scale: int) -> NDArray[np.bool_]:
    """Cells of scale SCALE that training shows."""
    return np.asarray(np.triu_indices(SCALE)[1] < training_scale)


def right(learned: NDArray[Any], patterns: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each learned matrix is its pattern: [..., n, n] -> bool [...]."""
    return np.asarray((np.abs(learned - patterns) < TOLERANCE).all(axis=(-2, -1)))


@cache
def reached(
    learn: Callable[..., NDArray[np.float64]], values: tuple[int, ...], *, size: int, training_scale: int
) -> NDArray[np.bool_]:
    """Patterns with entries among the values that each relation learns: bool [relations, patterns].

    Args:
        learn: `theory.pola.learned_matrix`, named by the caller, so that another one is not given its answers.
        values: the entries of `every_pattern`.
        size: N.
        training_scale: N0.
    """
    patterns = every_pattern(size, values)
    learned = (learn(patterns, labels, training_scale=training_scale) for labels in every_relation(size))
    return np.array([right(found, patterns) for found in learned])


def small_fractions(values: NDArray[np.float64]) -> NDArray[Any]:
    """The fractions of small denominator that the floats stand for."""
    exact = np.array([_fraction(value) for value in values.ravel().tolist()], dtype=object)
    return exact.reshape(values.shape)


@cache
def _fraction(value: float) -> Fraction:
    exact = Fraction(value).limit_denominator(1000)
    if abs(float(exact) - value) > TOLERANCE:
        raise ArithmeticError(f"{value} is no fraction of small denominator: exact arithmetic does not apply")
    return exact
