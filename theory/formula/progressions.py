"""Values of a formula along a path of pairs i = a + b t, j = c + d t, t = 0, 1, 2, ..., as expressions without choices.

The path is split until no choice is left. A comparison whose outcome is eventually constant is decided by starting
later; `%`, floors and alternating signs are removed by taking every P-th step. The result is a finite set of single
steps, and finitely many arithmetic progressions of steps, each with one expression in s that holds at its steps
s = 0, 1, 2, ... From these follows whether infinitely many values occur, and whether any value occurs twice.

`evaluate` gives the expression of one progression, or asks for another split by an exception: `StartLater` if the
outcome of a choice may change at small s, `SplitByPeriod` if a floor or an alternating sign must be looked at for every
P-th step separately, `UndecidedChoice` if a choice cannot be decided.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import comb, gcd, lcm
from typing import Any, TypeVar

import sympy as sp

from lengthgen.theory.formula import exact
from lengthgen.theory.formula.asymptotics import Expression, S, as_polynomial, constant_sign, direction, limit
from lengthgen.theory.formula.structure import Structure
from lengthgen.theory.formula.syntax import ComparisonChain, FormulaError, Name, Node, Number, Operation
from lengthgen.theory.zero.equality import Answer, equal

_T = TypeVar("_T")
Path = Mapping[str, tuple[int, int]]
"""Variable -> (start, increment per step)."""

PATHS: dict[Structure, Path] = {
    Structure.TOEPLITZ: {"i": (1, 0), "j": (1, 1)},
    Structure.KEY: {"i": (1, 1), "j": (1, 1)},
    Structure.QUERY: {"i": (1, 0), "j": (1, 1)},
}
"""Paths that show all values of a pattern of one position or of the distance; step t has scale t + 1."""

MOST_PIECES = 500
"""Largest number of progressions."""
MOST_SINGLE = 20_000
"""Largest number of single steps."""

MOST_TERMS = 2_000
"""Largest number of terms of an expression that is multiplied out."""
MOST_POWER = 32
"""Largest power of a sum that is multiplied out."""
MOST_INSIDE = 40
"""Largest number of terms inside a function: sympy differentiates it repeatedly to find its sign."""
_LATEST = 2**14
"""Largest step up to which the sign of a monotone expression is searched for."""
_FUNCTIONS = frozenset({"sqrt", "log", "exp", "sin", "cos"})


class UndecidedChoice(Exception):
    """The outcome of a choice in the formula cannot be decided."""


@dataclass
class SplitByPeriod(Exception):
    """Request to treat each residue of the step modulo `period` separately."""

    period: int


@dataclass
class StartLater(Exception):
    """Request to start the progression `steps` steps later."""

    steps: int


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
        return not any(S in part.free_symbols for piece in self.pieces for part in piece.components)


def pieces(path: Path, value: Callable[[Mapping[str, Expression]], _T]) -> Iterator[tuple[int, int, _T | None]]:
    """Yield start and step of progressions that cover a path, by increasing start, with what `value` gives on each.

    `value` gets the variables as expressions in s, and may ask for another split. A single step before the start of a
    progression is yielded with None.

    Raises:
        UndecidedChoice: there are too many progressions, or single steps.
    """
    pending, ended, singles = [(0, 1)], 0, 0
    while pending:
        start, step = heappop(pending)
        try:
            result = value({name: sp.Integer(a + b * start) + b * step * S for name, (a, b) in path.items()})
        except SplitByPeriod as split:
            if len(pending) + ended + split.period > MOST_PIECES:
                raise UndecidedChoice from None
            for residue in range(split.period):
                heappush(pending, (start + step * residue, step * split.period))
        except StartLater as later:
            singles += later.steps
            if singles > MOST_SINGLE:
                raise UndecidedChoice from None
            yield from ((start + step * s, step, None) for s in range(later.steps))
            heappush(pending, (start + step * later.steps, step))
        else:
            ended += 1
            yield start, step, result


def follow_path(nodes: tuple[Node, ...], path: Path, fixed: Mapping[str, Any]) -> Course | None:
    """Split the path until the components of the formula contain no choices; None if some choice is not decided.

    Args:
        nodes: trees of the components.
        path: start and increment of i, j and, if it occurs, n.
        fixed: symbols or values of the parameters.
    """

    def components(at: Mapping[str, Expression]) -> tuple[Expression, ...]:
        return tuple(_constant_if_proved(evaluate(node, {**at, **fixed})) for node in nodes)

    try:
        parts = list(pieces(path, components))
    except (UndecidedChoice, FormulaError, NotImplementedError):
        return None
    return Course(
        pieces=tuple(Piece(start=start, step=step, components=parts) for start, step, parts in parts if parts),
        singles=tuple(sorted(start for start, _, parts in parts if not parts)),
    )


def _constant_if_proved(expression: Expression) -> Expression:
    """Return the value at s = 0 if algebra proves that the expression is constant, else the expression."""
    if S not in expression.free_symbols:
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


def evaluate(node: Node, at: Mapping[str, Any]) -> Expression:
    """Expression in s that equals the value of the tree at every step of the progression.

    Args:
        node: the tree.
        at: i, j and, if it occurs, n as expressions in s; and the parameters.

    Raises:
        SplitByPeriod, StartLater: the progression has to be split first.
        UndecidedChoice: a choice in the tree cannot be decided.
    """
    match node:
        case Number(value=value):
            return number(value)
        case Name(name="pi"):
            return sp.pi
        case Name(name=name):
            return sp.sympify(at[name])
        case ComparisonChain(tests=tests, sides=sides):
            left = evaluate(sides[0], at)
            for test, side in zip(tests, sides[1:], strict=True):
                right = evaluate(side, at)
                if not exact.COMPARISONS[test](_decided_sign(left - right)):
                    return sp.Integer(0)
                left = right
            return sp.Integer(1)
        case Operation(name="if", operands=(condition, then, otherwise)):
            return evaluate(then if _decided_sign(evaluate(condition, at)) else otherwise, at)
        case Operation(name="and", operands=parts):
            return sp.Integer(all(_decided_sign(evaluate(part, at)) for part in parts))
        case Operation(name="or", operands=parts):
            return sp.Integer(any(_decided_sign(evaluate(part, at)) for part in parts))
        case Operation(name=name, operands=parts):
            return apply(name, [evaluate(part, at) for part in parts])
    raise AssertionError(node)


def number(value: int | Fraction) -> Expression:
    """A rational number as an expression."""
    return sp.Rational(Fraction(value).numerator, Fraction(value).denominator)


def apply(name: str, operands: list[Expression]) -> Expression:
    """Result of an operation on expressions in s; raises as `evaluate` does."""
    first, last = operands[0], operands[-1]
    if name in _FUNCTIONS and len(sp.Add.make_args(first)) > MOST_INSIDE:
        raise UndecidedChoice
    match name:
        case "+":
            return sp.expand(first + last)
        case "-":
            return sp.expand(first - last)
        case "*":
            return _product(first, last)
        case "/":
            return _product(first, 1 / _nonzero(last))
        case "neg":
            return -first
        case "pos":
            return first
        case "not":
            return sp.Integer(_decided_sign(first) == 0)
        case "abs":
            return first * _decided_sign(first)
        case "min" | "max":
            best = first
            for operand in operands[1:]:
                best = operand if _decided_sign(operand - best) == (1 if name == "max" else -1) else best
            return best
        case "floor":
            return _floor(first)
        case "ceil":
            return -_floor(-first)
        case "//":
            return _floor(first / _nonzero(last))
        case "%":
            return sp.expand(first - _product(last, _floor(first / _nonzero(last))))
        case "**":
            return _power(first, last)
        case "gcd":
            return _gcd(first, last)
        case "sqrt":
            return _root(first, sp.Rational(1, 2)) if _decided_sign(first) >= 0 else _undecided()
        case "log":
            return sp.log(first) if _decided_sign(first) > 0 else _undecided()
        case "exp":
            return sp.exp(first)
        case "sin" | "cos":
            return _sine_or_cosine(getattr(sp, name), first)
    raise AssertionError(name)


def _product(first: Expression, last: Expression) -> Expression:
    """Product, multiplied out; raises `UndecidedChoice` if it would have too many terms."""
    if len(sp.Add.make_args(first)) * len(sp.Add.make_args(last)) > MOST_TERMS:
        raise UndecidedChoice
    return sp.expand(first * last)


def _undecided() -> Expression:
    """Raise `UndecidedChoice`, in place of an expression."""
    raise UndecidedChoice


def _decided_sign(expression: Expression) -> int:
    """Sign at every s, for real s >= 0 unless it is 0; raises `StartLater` if it holds only later."""
    expression = sp.expand(expression)
    sign_everywhere = constant_sign(expression)
    if sign_everywhere is not None:
        return sign_everywhere
    polynomial = as_polynomial(expression)
    if polynomial is not None:
        raise StartLater(_after_last_root(polynomial))
    fraction = _as_fraction(expression)
    if fraction:
        return _decided_sign(fraction[0].as_expr()) * _decided_sign(fraction[1].as_expr())
    by_squares = _sign_beside_root(expression)
    if by_squares is not None:
        return by_squares
    trend = direction(expression)
    if not trend:
        raise UndecidedChoice
    s = 0
    while s <= _LATEST:
        side = _sign_of(expression.subs(S, s))
        if side is None:
            break
        if side == trend:
            # The expression is monotone, so it keeps this sign from here on.
            if s == 0:
                return trend
            raise StartLater(s)
        s = 2 * s or 1
    end_value = limit(expression, S)
    if end_value is not None and (
        end_value in (0, -trend * sp.oo) or (end_value.is_finite and _sign_of(end_value) == -trend)
    ):
        return -trend
    raise UndecidedChoice


def _sign_beside_root(expression: Expression) -> int | None:
    """Sign of a + b sqrt(q), where only one root has s in it: that of a^2 - b^2 q if a and b differ in sign."""
    roots = {power for power in expression.atoms(sp.Pow) if power.exp == sp.Rational(1, 2) and S in power.free_symbols}
    if len(roots) != 1 or expression.has(sp.sin, sp.cos):
        return None
    (root,) = roots
    factor = expression.coeff(root, 1)
    rest = sp.expand(expression - factor * root)
    if root in rest.atoms(sp.Pow) or root in factor.atoms(sp.Pow):
        return None
    first, second = _decided_sign(rest), _decided_sign(factor)
    if first == second or 0 in (first, second):
        return first or second
    return first * _decided_sign(sp.expand(rest**2 - factor**2 * root.base))


def _as_fraction(expression: Expression) -> tuple[sp.Poly, sp.Poly] | None:
    """Numerator and denominator, if the expression is a quotient of two polynomials."""
    numerator, denominator = map(as_polynomial, sp.fraction(sp.together(expression)))
    return None if numerator is None or denominator is None else (numerator, denominator)


def _sign_of(number: Expression) -> int | None:
    """Sign of a number; None if it is not decided."""
    return constant_sign(sp.sympify(exact.plain(number)))


def _after_last_root(polynomial: sp.Poly) -> int:
    """Least integer s >= 1 from which on the polynomial has no real root."""
    upper = 1
    while polynomial.count_roots(upper, None):
        upper *= 2
    lower = upper // 2
    while upper - lower > 1:
        middle = (upper + lower) // 2
        if polynomial.count_roots(middle, None):
            lower = middle
        else:
            upper = middle
    return upper


def _nonzero(expression: Expression) -> Expression:
    """Return the expression; raise `UndecidedChoice` if it is zero."""
    if _decided_sign(expression) == 0:
        raise UndecidedChoice
    return expression


def _floor(expression: Expression) -> Expression:
    """Floor of an expression in s.

    For a polynomial with rational coefficients: (p - p mod D) / D, with D their common denominator, if p mod D is
    constant.
    """
    expression = sp.expand(expression)
    if S not in expression.free_symbols:
        return sp.Integer(exact.apply("floor", [exact.plain(expression)]))
    polynomial = as_polynomial(expression)
    if polynomial is None:
        return _settled_floor(expression)
    denominator = lcm(*(int(coefficient.q) for coefficient in polynomial.all_coeffs()))
    scaled = polynomial * denominator
    residue = int(scaled.eval(0)) % denominator
    if any(int(coefficient) % denominator for coefficient in scaled.all_coeffs()[:-1]):
        raise SplitByPeriod(denominator)
    return sp.expand((scaled.as_expr() - residue) / denominator)


def _settled_floor(expression: Expression) -> Expression:
    """Floor of a polynomial and a rest that converges: the rest's floor is one number from some step on.

    Raises:
        StartLater: that holds only from a later step on.
        SplitByPeriod: the polynomial's floor differs by residue.
        UndecidedChoice: the expression is not of this form.
    """
    if expression.has(sp.sin, sp.cos):
        raise UndecidedChoice
    fraction, growing = _as_fraction(expression), sp.Integer(0)
    if fraction:
        growing = _floor(sp.quo(*(part.as_expr() for part in fraction), S))
        expression = sp.cancel(expression - growing)
        if S not in expression.free_symbols:
            return growing + _floor(expression)
    end = limit(expression, S)
    if end is None or not (end.is_real and end.is_finite):
        raise UndecidedChoice
    integer = sp.Integer(exact.apply("floor", [exact.plain(end)]))
    if integer == end and _decided_sign(expression - integer) < 0:
        integer -= 1
    if _decided_sign(expression - integer) < 0 or _decided_sign(expression - integer - 1) >= 0:
        raise UndecidedChoice
    return growing + integer


def _power(base: Expression, exponent: Expression) -> Expression:
    """Power base ** exponent of two expressions in s."""
    exponent = sp.expand(exponent)
    if S not in exponent.free_symbols:
        if exponent.is_Integer:
            _check_terms(base, exponent)
            return sp.expand((base if exponent >= 0 else _nonzero(base)) ** exponent)
        decided_sign = _decided_sign(base)
        if decided_sign == 0 and exponent.is_positive:
            return sp.Integer(0)
        return _root(base, exponent) if decided_sign > 0 else _undecided()
    if S not in base.free_symbols:
        base_sign = constant_sign(base)
        if base_sign == 0:
            return sp.Integer(_decided_sign(exponent) == 0) if _decided_sign(exponent) >= 0 else _undecided()
        if base_sign == -1:
            return _parity(exponent) * _power(-base, exponent)
        return base**exponent if base_sign == 1 else _undecided()
    _check_terms(base, exponent.as_coeff_Add()[0])  # sympy multiplies out b**(s + 3) to b**s * b**3
    return base**exponent if _decided_sign(base) > 0 else _undecided()


def _check_terms(base: Expression, exponent: Expression) -> None:
    """Raise `UndecidedChoice` if the power would have too many terms."""
    power, terms = abs(int(exponent)), len(sp.Add.make_args(base))
    if terms > 1 and power > MOST_POWER:
        raise UndecidedChoice
    if comb(min(power, MOST_TERMS) + terms - 1, power if power < terms else terms - 1) > MOST_TERMS:
        raise UndecidedChoice


def _root(base: Expression, exponent: Expression) -> Expression:
    """Power base ** exponent with a polynomial base in factors, so that sqrt((s + 1)**2) is s + 1."""
    if len(sp.Add.make_args(base)) > MOST_INSIDE:
        raise UndecidedChoice
    polynomial = as_polynomial(base)
    return (base if polynomial is None else sp.factor(base)) ** exponent


def _parity(exponent: Expression) -> int:
    """(-1) ** exponent, 1 or -1, if it is the same at every s; else raises `SplitByPeriod`."""
    polynomial = as_polynomial(exponent)
    if polynomial is None or not _has_integer_coefficients(exponent):
        raise UndecidedChoice
    if any(int(coefficient) % 2 for coefficient in polynomial.all_coeffs()[:-1]):
        raise SplitByPeriod(2)
    return -1 if int(polynomial.eval(0)) % 2 else 1


def _has_integer_coefficients(expression: Expression) -> bool:
    """True if the expression is a polynomial with integer coefficients."""
    polynomial = as_polynomial(expression)
    return polynomial is not None and all(coefficient.is_Integer for coefficient in polynomial.all_coeffs())


def _gcd(first: Expression, last: Expression) -> Expression:
    """Greatest common divisor of two integers that are linear in s, or of an integer polynomial and a number.

    For a s + b and c s + d it divides (a d - b c) / gcd(a, c), so it depends on their remainders by this number alone.
    """
    if not (_has_integer_coefficients(first) and _has_integer_coefficients(last)):
        raise UndecidedChoice
    sides = [sp.Poly(side, S) for side in (first, last)]
    low, high = sorted(side.degree() for side in sides)
    if low <= 0:
        multiple = int(last if last.is_Integer else first)
    elif high > 1:
        raise UndecidedChoice
    else:
        (a, b), (c, d) = (map(int, side.all_coeffs()) for side in sides)
        multiple = (a * d - b * c) // gcd(a, c)
        first = sp.expand(first * gcd(a, c) / a)  # the divisor, if the two are multiples of one linear form
    if not multiple:
        divisor = last if first == 0 else first
        return divisor * _decided_sign(divisor)
    if any(int(slope) % multiple for side in sides for slope in side.all_coeffs()[:-1]):
        raise SplitByPeriod(abs(multiple))
    return sp.Integer(gcd(multiple, *(int(side.eval(0)) for side in sides)))


def _sine_or_cosine(function: Any, argument: Expression) -> Expression:
    """Sine or cosine of a linear form; it is periodic if the slope is a rational multiple of pi."""
    argument = sp.expand(argument)
    if S not in argument.free_symbols:
        return function(argument)
    slope = argument.coeff(S, 1)
    if S in (argument - slope * S).free_symbols or S in slope.free_symbols:
        raise UndecidedChoice
    turns = slope / (2 * sp.pi)
    if turns.is_Rational:
        if turns.q > 1:
            raise SplitByPeriod(int(turns.q))
        return function(argument - slope * S)
    return function(argument)
