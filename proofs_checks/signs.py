"""Zeros and signs of numbers inside a check: of what cannot be decided nothing follows."""

import sympy as sp

from lengthgen.theory.zero import equality
from lengthgen.theory.zero.sympy_engine import Undecided


def is_zero(value: sp.Expr) -> bool:
    """Return whether a value is identically zero. Raises `Undecided` if neither is proved."""
    answer = equality.zero(value)
    if answer is equality.Answer.UNDECIDED:
        raise Undecided(f"{value} is neither proved to be 0 nor not to be")
    return answer is equality.Answer.YES


def sign(value: sp.Expr) -> int:
    """Return the sign of a value, -1, 0 or 1. Raises `Undecided` if it depends on a parameter or is not found."""
    answer = equality.sign(value)
    if answer is None:
        raise Undecided(f"the sign of {value} is not known")
    return answer
