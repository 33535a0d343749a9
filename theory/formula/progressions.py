"""A formula along a path of pairs i = a + b t, j = c + d t, t = 0, 1, 2, ...: split until no choice is left.

Comparisons of what is eventually of one sign are settled by starting later, `%`, floors and alternating signs by
taking every P-th step.  What remains is finitely many single steps and, on each of finitely many arithmetic
progressions of steps, one expression without choices, which holds at every step there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm
from typing import Any

import sympy as sp

from theory.equality import Answer, equal
from theory.formula import exact
from theory.formula.asymptotics import limit
from theory.formula.monotone import Expression, S, as_polynomial, constant_sign, direction
from theory.formula.stepwise import CutOff, Later, Period, Unsettled, evaluate
from theory.formula.structure import Structure
from theory.formula.syntax import FormulaError, Node

MOST_PIECES = 500
MOST_SINGLE = 20_000

Path = Mapping[str, tuple[int, int]]
"""Variable to (start, step)."""

PATHS: dict[Structure, Path] = {
    Structure.TOEPLITZ: {"i": (1, 0), "j": (1, 1)},
    Structure.KEY: {"i": (1, 1), "j": (1, 1)},
    Structure.QUERY: {"i": (1, 0), "j": (1, 1)},
}
"""The path that shows all of a pattern of one position or of the distance; step t is of scale t + 1."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Steps start + step * s, s = 0, 1, ..., and the formula's components there as expressions in s."""

    start: int
    step: int
    components: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Course:
    """A formula along a path: progressions of steps that cover every step but the single ones."""

    pieces: tuple[Piece, ...]
    singles: tuple[int, ...]

    @property
    def threshold(self) -> int:
        """A step from which on only the pieces speak, each at every step of its residue."""
        begun = (piece.start - piece.step + 1 for piece in self.pieces)
        return max(0, *begun, *(step + 1 for step in self.singles))

    @property
    def period(self) -> int:
        """The least common multiple of the pieces' steps."""
        return lcm(*(piece.step for piece in self.pieces))

    @property
    def constant(self) -> bool:
        """Whether every piece is constant: finitely many values, periodic from the threshold on."""
        return not any(S in one.free_symbols or one.atoms(CutOff) for piece in self.pieces for one in piece.components)


def along(nodes: tuple[Node, ...], path: Path, fixed: Mapping[str, Any]) -> Course | None:
    """The formula's components along the path; None where some choice is not settled.

    Args:
        nodes: trees of the components.
        path: of i, j and, where it occurs, n.
        fixed: what the parameters stand for: symbols, or numbers.
    """
    waiting, done, singles = [(0, 1)], [], []
    while waiting:
        start, step = waiting.pop()
        at = {name: sp.Integer(a + b * start) + b * step * S for name, (a, b) in path.items()} | dict(fixed)
        try:
            components = tuple(_constant_if_proved(evaluate(node, at)) for node in nodes)
        except Period as split:
            if split.period > MOST_PIECES:
                return None
            waiting += [(start + step * residue, step * split.period) for residue in range(split.period)]
        except Later as later:
            if later.steps > MOST_SINGLE:
                return None
            singles += [start + step * s for s in range(later.steps)]
            waiting.append((start + step * later.steps, step))
        except (Unsettled, FormulaError, NotImplementedError):
            return None
        else:
            done.append(Piece(start=start, step=step, components=components))
        if len(waiting) + len(done) > MOST_PIECES or len(singles) > MOST_SINGLE:
            return None
    return Course(pieces=tuple(sorted(done, key=lambda piece: piece.start)), singles=tuple(sorted(singles)))


def _constant_if_proved(expression: Expression) -> Expression:
    """The expression itself, or its value at s = 0 where algebra says that it is the same at every real s."""
    if S not in expression.free_symbols or expression.atoms(CutOff):
        return expression
    first = expression.subs(S, 0)
    return first if equal(expression, first) is Answer.YES else expression


def all_distinct(course: Course) -> bool:
    """Whether the values at all steps are seen to be distinct and not zero: a monotone piece on either side of zero."""
    signs = []
    for piece in course.pieces:
        (expression,) = piece.components
        if expression.free_symbols != {S} or not direction(expression):
            return False
        signs.append(constant_sign(expression))
    return not course.singles and sorted(map(str, signs)) in (["1"], ["-1"], ["-1", "1"])


def takes_infinitely_many_values(expression: Expression) -> str | None:
    """Why an expression without choices takes infinitely many values at s = 0, 1, 2, ...; None where not proved."""
    if S not in expression.free_symbols:
        return None
    noise = expression.free_symbols - {S}
    if noise:
        return _grows_beyond_noise(expression, noise)
    if direction(expression):
        return "is strictly monotone"
    if not _changes(expression):
        return None
    if not expression.has(sp.sin, sp.cos):
        # By construction every root, logarithm and divisor in it is positive on s >= 0, so it is analytic there: not
        # constant at two points, it is not constant near infinity, where such functions are monotone (Hardy 1910).
        return "is an exp-log expression that is not constant, so it is strictly monotone from some point on"
    if _is_exponential_polynomial(expression):
        # No ratio of its characteristic roots c e^(iw), c and w rational, is a root of unity, as pi is irrational.
        return "is a non-degenerate linear recurrence that is not constant, so it takes no value infinitely often"
    return None


def _grows_beyond_noise(expression: Expression, noise: set[sp.Symbol]) -> str | None:
    """For f(s) + sum of c_k u_k, c_k constant and 0 <= u_k < 1: what was cut off by floors."""
    if not all(isinstance(symbol, CutOff) for symbol in noise):
        return None
    rest = sp.expand(expression)
    for symbol in noise:
        weight = rest.coeff(symbol, 1)
        rest = sp.expand(rest - weight * symbol)
        if weight.free_symbols or symbol in rest.free_symbols:
            return None
    if limit(rest) not in (sp.oo, -sp.oo):
        return None
    return "grows without bound, where each _u stands for what a floor cuts off, 0 <= _u < 1"


def _changes(expression: Expression) -> bool:
    first = exact.plain(expression.subs(S, 0))
    return any(equal(first, exact.plain(expression.subs(S, s))) is Answer.NO for s in range(1, 6))


def _is_exponential_polynomial(expression: Expression) -> bool:
    """Sums of products of s, rational c**s with c > 0, and sines and cosines of rational linear forms in s."""
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
    polynomial = as_polynomial(expression)
    return polynomial is not None and polynomial.degree() <= 1
