"""Limits of formulas as the distance D of a key goes to infinity."""

from functools import cache

import sympy as sp

from lengthgen.theory.formula import leading_terms

DISTANCE = sp.Symbol("D", integer=True, positive=True)
"""Distance of the key."""
POSITION = sp.Symbol("i", integer=True, nonnegative=True)
QUERY_POSITION = sp.Symbol("j", integer=True, nonnegative=True)
"""Position of the key, and the position of a query whose distance does not matter."""


@cache
def limit_of(expression: sp.Expr) -> sp.Expr | None:
    """Limit at infinite distance; None if neither its leading term nor sympy's search gives it."""
    if DISTANCE not in expression.free_symbols:
        return expression
    plain = leading_terms.limit(expression, DISTANCE)
    if plain is not None:
        return plain
    try:
        limit = sp.limit(expression, DISTANCE, sp.oo)
    except (NotImplementedError, ValueError, TypeError, RecursionError):
        return None
    return None if limit.has(sp.Limit, sp.AccumBounds, sp.nan) or DISTANCE in limit.free_symbols else limit


def limit_of_simplified(expression: sp.Expr) -> sp.Expr | None:
    """Limit at infinite distance; what has no leading term, or is constant, is simplified first."""
    plain = leading_terms.limit(expression, DISTANCE) if DISTANCE in expression.free_symbols else None
    return limit_of(sp.simplify(expression)) if plain is None else plain


def dominant_terms(extreme: sp.Max | sp.Min) -> sp.Expr:
    """Maximum or minimum at large distances: infinite terms decide it on one side, and do not matter on the other."""
    side = sp.oo if isinstance(extreme, sp.Max) else -sp.oo
    deciding = [term for term in extreme.args if limit_of(term) is side]
    left = deciding or [term for term in extreme.args if limit_of(term) is not -side]
    return extreme.func(*left) if left else extreme


def far_piece(pieces: sp.Piecewise) -> sp.Expr:
    """Piece that holds at all large distances; the pieces themselves if a condition before it is not decided."""
    for piece, condition in pieces.args:
        holds = condition.replace(lambda part: isinstance(part, sp.core.relational.Relational), _at_infinity)
        if holds == sp.true:
            return piece
        if holds != sp.false:
            return pieces
    return pieces


def _at_infinity(test: sp.core.relational.Relational) -> sp.Basic:
    """Truth of an inequality at large distances, if its two sides part for ever; else the inequality itself."""
    difference = limit_of(test.lhs - test.rhs)
    if difference is None or not difference.is_infinite:
        return test
    return test.func(difference, 0)
