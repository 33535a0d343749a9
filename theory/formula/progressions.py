"""Values of a formula along a path of pairs i = a + b t, j = c + d t, t = 0, 1, 2, ..., as expressions without choices.

The path is split until no choice is left.  A comparison whose outcome is eventually constant is decided by starting
later; `%`, floors and alternating signs are removed by taking every P-th step.  The result is a finite set of single
steps, and finitely many arithmetic progressions of steps, each with one expression that holds at all its steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm
from typing import Any

import sympy as sp

from lengthgen.theory.equality import Answer, equal
from lengthgen.theory.formula import exact
from lengthgen.theory.formula.leading_terms import limit
from lengthgen.theory.formula.monotone import Expression, S, as_polynomial, constant_sign, direction
from lengthgen.theory.formula.stepwise import FractionalPart, SplitByPeriod, StartLater, UndecidedChoice, evaluate
from lengthgen.theory.formula.structure import Structure
from lengthgen.theory.formula.syntax import FormulaError, Node

MOST_PIECES = 500
"""Largest number of progressions."""
MOST_SINGLE = 20_000
"""Largest number of single steps."""

Path = Mapping[str, tuple[int, int]]
"""Variable -> (start, increment per step)."""

PATHS: dict[Structure, Path] = {
    Structure.TOEPLITZ: {"i": (1, 0), "j": (1, 1)},
    Structure.KEY: {"i": (1, 1), "j": (1, 1)},
    Structure.QUERY: {"i": (1, 0), "j": (1, 1)},
}
"""Paths that show all values of a pattern of one position or of the distance; step t has scale t + 1."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """An arithmetic progression of steps start + step * s, s = 0, 1, ..., with the components as expressions in s."""

    start: int
    step: int
    components: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Course:
    """A formula along a path: progressions that cover every step except the single steps."""

    pieces: tuple[Piece, ...]
    singles: tuple[int, ...]

    @property
    def threshold(self) -> int:
        """Step from which on the pieces cover every step, each piece one residue."""
        piece_starts = (piece.start - piece.step + 1 for piece in self.pieces)
        return max(0, *piece_starts, *(step + 1 for step in self.singles))

    @property
    def period(self) -> int:
        """Least common multiple of the steps of the pieces."""
        return lcm(*(piece.step for piece in self.pieces))

    @property
    def constant(self) -> bool:
        """True if every piece is constant: finitely many values, periodic from the threshold on."""
        return not any(
            S in component.free_symbols or component.atoms(FractionalPart)
            for piece in self.pieces
            for component in piece.components
        )


def follow_path(nodes: tuple[Node, ...], path: Path, fixed: Mapping[str, Any]) -> Course | None:
    """Split the path until the components of the formula contain no choices; None if some choice is not decided.

    Args:
        nodes: trees of the components.
        path: start and increment of i, j and, if it occurs, n.
        fixed: symbols or values of the parameters.
    """
    pending, pieces, singles = [(0, 1)], [], []
    while pending:
        start, step = pending.pop()
        at = {name: sp.Integer(a + b * start) + b * step * S for name, (a, b) in path.items()} | dict(fixed)
        try:
            components = tuple(_constant_if_proved(evaluate(node, at)) for node in nodes)
        except SplitByPeriod as split:
            if split.period > MOST_PIECES:
                return None
            pending += [(start + step * residue, step * split.period) for residue in range(split.period)]
        except StartLater as later:
            if later.steps > MOST_SINGLE:
                return None
            singles += [start + step * s for s in range(later.steps)]
            pending.append((start + step * later.steps, step))
        except (UndecidedChoice, FormulaError, NotImplementedError):
            return None
        else:
            pieces.append(Piece(start=start, step=step, components=components))
        if len(pending) + len(pieces) > MOST_PIECES or len(singles) > MOST_SINGLE:
            return None
    return Course(pieces=tuple(sorted(pieces, key=lambda piece: piece.start)), singles=tuple(sorted(singles)))


def _constant_if_proved(expression: Expression) -> Expression:
    """Return the value at s = 0 if algebra proves that the expression is constant, else the expression."""
    if S not in expression.free_symbols or expression.atoms(FractionalPart):
        return expression
    first = expression.subs(S, 0)
    return first if equal(expression, first) is Answer.YES else expression


def all_distinct(course: Course) -> bool:
    """True if the values at all steps are proved to be distinct and not zero.

    This is proved for strictly monotone pieces, at most one on either side of zero.
    """
    signs = []
    for piece in course.pieces:
        (expression,) = piece.components
        if expression.free_symbols != {S} or not direction(expression):
            return False
        signs.append(constant_sign(expression))
    return not course.singles and sorted(map(str, signs)) in (["1"], ["-1"], ["-1", "1"])


def takes_infinitely_many_values(expression: Expression) -> str | None:
    """Reason why an expression without choices takes infinitely many values at s = 0, 1, 2, ...

    None if this is not proved.
    """
    if S not in expression.free_symbols:
        return None
    fractional_parts = expression.free_symbols - {S}
    if fractional_parts:
        return _unbounded_despite_floors(expression, fractional_parts)
    if direction(expression):
        return "is strictly monotone"
    if not _takes_two_values(expression):
        return None
    if not expression.has(sp.sin, sp.cos):
        # By construction every root, logarithm and divisor in the expression is positive on s >= 0, so the expression
        # is analytic there.  It takes two values, so it is not constant near infinity, where such functions are
        # monotone (Hardy 1910).
        return "is an exp-log expression that is not constant, so it is strictly monotone from some point on"
    if _is_exponential_polynomial(expression):
        # No ratio of its characteristic roots c e^(iw), c and w rational, is a root of unity, as pi is irrational.
        return "is a non-degenerate linear recurrence that is not constant, so it takes no value infinitely often"
    return None


def _unbounded_despite_floors(expression: Expression, fractional_parts: set[sp.Symbol]) -> str | None:
    """Reason why f(s) + sum of c_k u_k is unbounded, c_k constant and 0 <= u_k < 1 unknown fractional parts."""
    if not all(isinstance(symbol, FractionalPart) for symbol in fractional_parts):
        return None
    rest = sp.expand(expression)
    for symbol in fractional_parts:
        weight = rest.coeff(symbol, 1)
        rest = sp.expand(rest - weight * symbol)
        if weight.free_symbols or symbol in rest.free_symbols:
            return None
    if limit(rest, S) not in (sp.oo, -sp.oo):
        return None
    return "grows without bound, where each _u stands for the fractional part that a floor removes, 0 <= _u < 1"


def _takes_two_values(expression: Expression) -> bool:
    """True if the expression is proved to take two different values."""
    first = exact.plain(expression.subs(S, 0))
    return any(equal(first, exact.plain(expression.subs(S, s))) is Answer.NO for s in range(1, 6))


def _is_exponential_polynomial(expression: Expression) -> bool:
    """True for sums of products of s, rational c**s with c > 0, and sines and cosines of linear forms in s."""
    if S not in expression.free_symbols or expression == S:
        return True
    if expression.is_Add or expression.is_Mul:
        return all(map(_is_exponential_polynomial, expression.args))
    if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
        return _is_exponential_polynomial(expression.base)
    if expression.is_Pow:
        return bool(expression.base.is_Rational and expression.base > 0 and _is_linear(expression.exp))
    return isinstance(expression, sp.sin | sp.cos) and _is_linear(expression.args[0])


def _is_linear(expression: Expression) -> bool:
    """True if the expression is linear in s, with rational coefficients."""
    polynomial = as_polynomial(expression)
    return polynomial is not None and polynomial.degree() <= 1
