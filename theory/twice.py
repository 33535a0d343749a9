"""Double decision of an identity, by two engines that share no code, so that an error of one engine is noticed."""

import sympy as sp

from theory import exact, second_engine


class EnginesDisagree(Exception):
    """Raised if the two engines decide one identity differently: one of them is wrong, so nothing is decided."""


class OneExpression(Exception):
    """Raised if both sides of an identity are the same expression, so that nothing is left for an engine to decide."""


def decide(
    left: sp.Expr, right: sp.Expr, *, squares: exact.Squares | None = None
) -> tuple[exact.Decision, second_engine.SecondEngineDecision]:
    """Decide whether both sides are identical, by `theory.exact` and by `theory.second_engine`; both answers are equal.

    Each engine evaluates each side itself, so a side should be passed unevaluated: the engines do not see what sympy
    has evaluated before.

    Raises:
        OneExpression: the sides are the same tree.
        EnginesDisagree: the answers differ.
        Undecided: the sides are outside the fragment of the first engine.
        SecondEngineUndecided: they are outside the fragment of the second engine.
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
    """Answer in words."""
    return "equal" if zero else "not equal"
