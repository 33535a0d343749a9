"""Decide an identity twice, by two engines that share nothing: an error of one is seen."""

import sympy as sp

from theory import exact, second_engine


class EnginesDisagree(Exception):
    """The two engines decide one identity differently: one of them is wrong, so nothing is decided."""


class OneExpression(Exception):
    """Both sides of an identity are one and the same expression: nothing is left for an engine to decide."""


def decide(
    left: sp.Expr, right: sp.Expr, *, squares: exact.Squares | None = None
) -> tuple[exact.Decision, second_engine.Decision]:
    """Whether both sides are identical, by `theory.exact` and by `theory.second_engine`: one answer.

    Each engine makes its own value of each side, so a side should come as it is written: what sympy has evaluated
    before, neither engine sees.

    Raises `OneExpression` where the sides are the same tree, `EnginesDisagree` where the answers differ, and the
    `Undecided` of either outside its fragment.
    """
    if left == right:
        raise OneExpression(f"the sides are one expression, so nothing is decided: {left}")
    first = exact.decide(left, right, squares=squares)
    second = second_engine.decide(left, right, squares=squares)
    if first.zero != second.zero:
        answers = f"{_answer(first.zero)} by sympy, {_answer(second.zero)} by python-flint"
        raise EnginesDisagree(f"{answers}: {left} = {right}")
    return first, second


def _answer(zero: bool) -> str:
    return "equal" if zero else "not equal"
