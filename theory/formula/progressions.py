"""A formula along a path of pairs i = a + b t, j = c + d t, t = 0, 1, 2, ...: split until no choice is left.

Comparisons of what is eventually of one sign are settled by starting later, `%`, whole parts and alternating signs by
taking every P-th step.  What remains is finitely many single steps and, on each of finitely many arithmetic
progressions of steps, one expression without choices, which holds at every step there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import sympy as sp

from theory.equality import Answer, equal
from theory.formula import exact
from theory.formula.monotone import Expression, S, as_polynomial, constant_sign, direction
from theory.formula.structure import Structure
from theory.formula.syntax import Comparison, FormulaError, Name, Node, Number, Operation

MOST_PIECES = 500
MOST_SINGLE = 20_000
_LATEST = 2**14
"""Steps up to which the sign of something monotone is looked for."""

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
        return not any(S in one.free_symbols or one.atoms(_CutOff) for piece in self.pieces for one in piece.components)


class _Unsettled(Exception):
    """Some choice cannot be settled."""


@dataclass
class _Period(Exception):
    period: int


@dataclass
class _Later(Exception):
    steps: int


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
            components = tuple(_evaluate(node, at) for node in nodes)
        except _Period as split:
            waiting += [(start + step * residue, step * split.period) for residue in range(split.period)]
        except _Later as later:
            singles += [start + step * s for s in range(later.steps)]
            waiting.append((start + step * later.steps, step))
        except (_Unsettled, FormulaError, NotImplementedError):
            return None
        else:
            done.append(Piece(start=start, step=step, components=components))
        if len(waiting) + len(done) > MOST_PIECES or len(singles) > MOST_SINGLE:
            return None
    return Course(pieces=tuple(sorted(done, key=lambda piece: piece.start)), singles=tuple(sorted(singles)))


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
    """For f(s) + sum of c_k u_k, c_k constant and 0 <= u_k < 1: what was cut off by whole parts."""
    if not all(isinstance(symbol, _CutOff) for symbol in noise):
        return None
    rest = sp.expand(expression)
    for symbol in noise:
        weight = rest.coeff(symbol, 1)
        rest = sp.expand(rest - weight * symbol)
        if weight.free_symbols or symbol in rest.free_symbols:
            return None
    tends = sp.limit(rest, S, sp.oo)
    if tends not in (sp.oo, -sp.oo):
        return None
    return "grows without bound, where each _u stands for what a whole part cuts off, 0 <= _u < 1"


class _CutOff(sp.Dummy):  # type: ignore[misc]  # sympy has no types
    """What a whole part cuts off at some s: a number in 0 <= u < 1 of which nothing else is known."""


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


def _evaluate(node: Node, at: Mapping[str, Any]) -> Expression:
    match node:
        case Number(value=value):
            return sp.Rational(Fraction(value).numerator, Fraction(value).denominator)
        case Name(name="pi"):
            return sp.pi
        case Name(name=name):
            return sp.sympify(at[name])
        case Comparison(tests=tests, sides=sides):
            left = _evaluate(sides[0], at)
            for test, side in zip(tests, sides[1:], strict=True):
                right = _evaluate(side, at)
                if not exact.COMPARISONS[test](_sign(left - right)):
                    return sp.Integer(0)
                left = right
            return sp.Integer(1)
        case Operation(name="if", operands=(condition, then, otherwise)):
            return _evaluate(then if _sign(_evaluate(condition, at)) else otherwise, at)
        case Operation(name="and", operands=parts):
            return sp.Integer(all(_sign(_evaluate(part, at)) for part in parts))
        case Operation(name="or", operands=parts):
            return sp.Integer(any(_sign(_evaluate(part, at)) for part in parts))
        case Operation(name=name, operands=parts):
            return _apply(name, [_evaluate(part, at) for part in parts])
    raise AssertionError(node)


def _apply(name: str, operands: list[Expression]) -> Expression:
    first, last = operands[0], operands[-1]
    match name:
        case "+":
            return sp.expand(first + last)
        case "-":
            return sp.expand(first - last)
        case "*":
            return sp.expand(first * last)
        case "/":
            return sp.expand(first / _nonzero(last))
        case "neg":
            return -first
        case "pos":
            return first
        case "not":
            return sp.Integer(_sign(first) == 0)
        case "abs":
            return first * _sign(first)
        case "min" | "max":
            best = first
            for one in operands[1:]:
                best = one if _sign(one - best) == (1 if name == "max" else -1) else best
            return best
        case "floor":
            return _floor(first)
        case "ceil":
            return -_floor(-first)
        case "//":
            return _floor(first / _nonzero(last))
        case "%":
            return sp.expand(first - last * _floor(first / _nonzero(last)))
        case "**":
            return _power(first, last)
        case "gcd":
            return _gcd(first, last)
        case "sqrt":
            return sp.sqrt(first) if _sign(first) >= 0 else _refuse()
        case "log":
            return sp.log(first) if _sign(first) > 0 else _refuse()
        case "exp":
            return sp.exp(first)
        case "sin" | "cos":
            return _wave(getattr(sp, name), first)
    raise AssertionError(name)


def _refuse() -> Expression:
    raise _Unsettled


def _sign(expression: Expression) -> int:
    """The sign at every s, for real s >= 0 unless it is 0; else asks for a later start."""
    if expression.atoms(_CutOff):
        raise _Unsettled
    expression = sp.expand(expression)
    known = constant_sign(expression)
    if known is not None:
        return known
    polynomial = as_polynomial(expression)
    if polynomial is not None:
        raise _Later(_past_the_roots(polynomial))
    towards = direction(expression)
    if not towards:
        raise _Unsettled
    s = 0
    while s <= _LATEST:
        if _sign_at(expression, s) == towards:
            # Monotone, so it keeps this sign from here on.
            if s == 0:
                return towards
            raise _Later(s)
        s = 2 * s or 1
    limit = sp.limit(expression, S, sp.oo)
    if limit.is_number and (limit == 0 or sp.sign(limit) == -towards):
        return -towards
    raise _Unsettled


def _sign_at(expression: Expression, s: int) -> int | None:
    return constant_sign(sp.sympify(exact.plain(expression.subs(S, s))))


def _past_the_roots(polynomial: sp.Poly) -> int:
    """The least s >= 1 from which on the polynomial has no real root."""
    above = 1
    while polynomial.count_roots(above, None):
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (above + below) // 2
        if polynomial.count_roots(middle, None):
            below = middle
        else:
            above = middle
    return above


def _nonzero(expression: Expression) -> Expression:
    if _sign(expression) == 0:
        raise _Unsettled
    return expression


def _floor(expression: Expression) -> Expression:
    """Of a polynomial with rational coefficients: (p - p mod D) / D, D their denominator, where p mod D is constant."""
    expression = sp.expand(expression)
    if S not in expression.free_symbols:
        return sp.Integer(exact.apply("floor", [exact.plain(expression)]))
    polynomial = as_polynomial(expression)
    if polynomial is None:
        return expression - _CutOff("u")
    denominator = lcm(*(int(coefficient.q) for coefficient in polynomial.all_coeffs()))
    whole = polynomial * denominator
    residue = int(whole.eval(0)) % denominator
    if any(int(coefficient) % denominator for coefficient in whole.all_coeffs()[:-1]):
        raise _Period(denominator)
    return sp.expand((whole.as_expr() - residue) / denominator)


def _power(base: Expression, exponent: Expression) -> Expression:
    if S not in exponent.free_symbols:
        if exponent.is_Integer:
            return sp.expand((base if exponent >= 0 else _nonzero(base)) ** exponent)
        return base**exponent if _sign(base) > 0 else _refuse()
    if S not in base.free_symbols:
        its_sign = constant_sign(base)
        if its_sign == 0:
            return sp.Integer(_sign(exponent) == 0) if _sign(exponent) >= 0 else _refuse()
        if its_sign == -1:
            return _parity(exponent) * _power(-base, exponent)
        return base ** sp.expand(exponent) if its_sign == 1 else _refuse()
    return base**exponent if _sign(base) > 0 else _refuse()


def _parity(exponent: Expression) -> int:
    polynomial = as_polynomial(exponent)
    if polynomial is None or not all(coefficient.is_Integer for coefficient in polynomial.all_coeffs()):
        raise _Unsettled
    if any(int(coefficient) % 2 for coefficient in polynomial.all_coeffs()[:-1]):
        raise _Period(2)
    return -1 if int(polynomial.eval(0)) % 2 else 1


def _gcd(first: Expression, second: Expression) -> Expression:
    if first == second:
        return first * _sign(first)
    for one, other in ((first, second), (second, first)):
        if other.is_Integer and other != 0:
            polynomial = as_polynomial(one)
            if polynomial is None or not all(coefficient.is_Integer for coefficient in polynomial.all_coeffs()):
                break
            if any(int(coefficient) % int(other) for coefficient in polynomial.all_coeffs()[:-1]):
                raise _Period(abs(int(other)))
            return sp.Integer(sp.igcd(int(polynomial.eval(0)), int(other)))
    raise _Unsettled


def _wave(function: Any, argument: Expression) -> Expression:
    """sin or cos of a linear form: with a rational multiple of pi for its slope it is periodic."""
    argument = sp.expand(argument)
    if S not in argument.free_symbols:
        return function(argument)
    slope = argument.coeff(S, 1)
    if S in (argument - slope * S).free_symbols or S in slope.free_symbols:
        raise _Unsettled
    turns = slope / (2 * sp.pi)
    if turns.is_Rational:
        if turns.q > 1:
            raise _Period(int(turns.q))
        return function(argument - slope * S)
    return function(argument)
