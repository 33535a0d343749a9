"""The exact numbers that floating-point results of the small cases stand for."""

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofs_checks.papers.pola.cases import TOLERANCE


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
