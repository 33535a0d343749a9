"""Decide an identity twice, by two engines that share nothing: an error of one is seen."""

import sympy as sp

from theory import exact, second_engine


class EnginesDisagree(Exception):
    """The two engines decide one expression differently: one of them is wrong, so nothing is decided."""


def decide(
    expression: sp.Expr, *, squares: exact.Squares | None = None
) -> tuple[exact.Decision, second_engine.Decision]:
    """Whether the expression is identically zero, by `theory.exact` and by `theory.second_engine`: one answer.

    Raises `EnginesDisagree` where their answers differ, and the `Undecided` of either outside its fragment.
    """
    first = exact.decide(expression, squares=squares)
    second = second_engine.decide(expression, squares=squares)
    if first.zero != second.zero:
        answers = f"{_answer(first.zero)} by sympy, {_answer(second.zero)} by python-flint"
        raise EnginesDisagree(f"{answers}: {expression}")
    return first, second


def _answer(zero: bool) -> str:
    return "zero" if zero else "not zero"
