"""Double decision of an identity, by two engines that share no code, so that an error of one engine is noticed.

What is decided can be recorded, so that certificates and lemmas are written from the very trees that the engines saw.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

import sympy as sp

from lengthgen.theory import exact, second_engine

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Two sides, as the engines saw them, the squares of the roots, and whether the sides are identical."""

    left: sp.Expr
    right: sp.Expr
    squares: tuple[tuple[sp.Symbol, sp.Expr], ...]
    zero: bool


_RECORD: ContextVar[list[Identity] | None] = ContextVar("record", default=None)


class EnginesDisagree(Exception):
    """Raised if the two engines decide one identity differently: one of them is wrong, so nothing is decided."""


class OneExpression(Exception):
    """Raised if both sides of an identity are the same expression, so that nothing is left for an engine to decide.

    The message has several parts, of which expressions become text only if it is read: that of a long one takes time.
    """

    def __str__(self) -> str:
        """Return the message."""
        return "".join(map(str, self.args))


def decide(
    left: sp.Expr, right: sp.Expr, *, squares: exact.Squares | None = None
) -> tuple[exact.Decision, second_engine.SecondEngineDecision]:
    """Decide whether both sides are identical, by exact.py and by second_engine.py; both answers are equal.

    Each engine evaluates each side itself, so a side should be passed unevaluated: the engines do not see what sympy
    has evaluated before.

    Raises:
        OneExpression: the sides are the same tree.
        EnginesDisagree: the answers differ.
        Undecided: the sides are outside the fragment of the first engine.
        SecondEngineUndecided: they are outside the fragment of the second engine.
    """
    if left == right:
        raise OneExpression("the sides are one expression, so nothing is decided: ", left)
    first = exact.decide(left, right, squares=squares)
    second = second_engine.decide(left, right, squares=squares)
    if first.zero != second.zero:
        answers = f"{_answer(first.zero)} by sympy, {_answer(second.zero)} by python-flint"
        raise EnginesDisagree(f"{answers}: {left} = {right}")
    _report([Identity(left=left, right=right, squares=tuple((squares or {}).items()), zero=first.zero)])
    return first, second


@contextmanager
def recorded() -> Iterator[list[Identity]]:
    """Yield a list that receives every identity decided inside the `with` block, in order."""
    record: list[Identity] = []
    outer = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(outer)


def remembered(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """Cache the answers of a function of hashable arguments; a remembered answer reports its identities again."""
    answers: dict[Hashable, tuple[Answer, list[Identity]]] = {}

    @wraps(function)
    def remembering(*arguments: Hashable) -> Answer:
        if arguments not in answers:
            with recorded() as identities:
                answers[arguments] = function(*arguments), identities
        answer, identities = answers[arguments]
        _report(identities)
        return answer

    return remembering


def _report(identities: list[Identity]) -> None:
    """Add identities to the list of the innermost `recorded` block, if there is one."""
    record = _RECORD.get()
    if record is not None:
        record += identities


def _answer(zero: bool) -> str:
    """Answer in words."""
    return "equal" if zero else "not equal"
