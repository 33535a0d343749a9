"""Are two exact numbers equal?  Yes and no are proved; what is neither is undecided.

A value is an int, a Fraction, or a real sympy expression in parameters, which are read as indeterminates: two values
are equal iff they are the same function of the parameters.  `no` is proved by enclosures that do not meet at one point
(ball arithmetic), `yes` by algebra (theory.exact), after which pi, e and the square roots of different primes are
generators: pi is transcendental and such roots are linearly independent over the rationals (Besicovitch 1940).
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations
from operator import mul
from typing import Any

import flint
import sympy as sp

from theory import exact

Value = Any
"""int, Fraction, or a real sympy expression; a tuple of such for a matrix."""

_BITS = 192
_POINTS = (
    (Fraction(1789, 1000), Fraction(377, 1000)),
    (Fraction(-531, 1000), Fraction(911, 1000)),
    (Fraction(3203, 1000), Fraction(-117, 1000)),
)
"""Parameter number k stands at first + k * second."""
_LARGEST_DEGREE = 16
"""Of a radical expression whose minimal polynomial is sought."""


class Answer(StrEnum):
    """A three-valued answer."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


def is_rational(value: Value) -> bool:
    """Whether the value is a plain int or Fraction."""
    return isinstance(value, int | Fraction)


def to_sympy(value: Value) -> sp.Expr:
    """The value as a sympy expression."""
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    return sp.Integer(value) if isinstance(value, int) else value


def equal(first: Value, second: Value) -> Answer:
    """Whether two values are equal."""
    if is_rational(first) and is_rational(second):
        return Answer.YES if first == second else Answer.NO
    return zero(to_sympy(first) - to_sympy(second))


def zero(value: Value) -> Answer:
    """Whether a value is identically zero."""
    if is_rational(value):
        return Answer.NO if value else Answer.YES
    if value.is_Rational:
        return Answer.NO if value != 0 else Answer.YES
    for point in range(len(_POINTS)):
        ball = enclose(value, point)
        if ball is not None and not ball.contains(0):
            return Answer.NO
    return _by_algebra(value)


def sign(value: Value) -> int | None:
    """-1, 0 or 1; None where it depends on a parameter or is undecided."""
    if is_rational(value):
        return int(value > 0) - int(value < 0)
    if value.free_symbols:
        known = {1: value.is_positive, -1: value.is_negative, 0: zero(value) is Answer.YES}
        return next((which for which, holds in known.items() if holds), None)
    ball = enclose(value, 0)
    if ball is not None and not ball.contains(0):
        return 1 if ball > 0 else -1
    return 0 if zero(value) is Answer.YES else None


def floor(value: Value) -> int | None:
    """The largest integer not above a value; None where it depends on a parameter or is undecided."""
    if is_rational(value):
        return int(value // 1)
    if value.free_symbols:
        return None
    ball = enclose(value, 0)
    if ball is None:
        return None
    whole = ball.floor().unique_fmpz()
    if whole is not None:
        return int(whole)
    nearest = int(ball.mid().floor().unique_fmpz() or 0) + 1
    for candidate in (nearest - 1, nearest, nearest + 1):
        if equal(value, candidate) is Answer.YES:
            return candidate
    return None


def enclose(value: Value, point: int = 0) -> Any | None:
    """A ball that holds the value at one of the fixed parameter points; None where it has no finite enclosure."""
    expression = to_sympy(value)
    first, step = _POINTS[point]
    symbols = sorted(expression.free_symbols, key=str)
    at = {symbol: flint.fmpq(*(first + k * step).as_integer_ratio()) for k, symbol in enumerate(symbols)}
    with flint.ctx.workprec(_BITS):
        ball = _ball(expression, at)
    return ball if ball.is_finite() else None


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Values gathered into classes.

    Attributes:
        labels: class of each value in order; 0 holds what is zero, 1, 2, ... the others by first occurrence.
        representatives: one value of each class, by label; that of class 0 is 0 even when no value is zero.
        undecided: pairs of classes that may be equal: what is neither proved equal nor proved different.
    """

    labels: tuple[int, ...]
    representatives: tuple[Value, ...]
    undecided: tuple[tuple[int, int], ...]


def group(values: Iterable[Value]) -> Groups:
    """Gathers equal values.  Tuples, for matrices, are equal where all their entries are."""
    listed = list(values)
    if any(isinstance(value, tuple) for value in listed):
        return _group_tuples(listed)
    distinct = list(dict.fromkeys([0, *listed]))
    parent = list(range(len(distinct)))
    unclear: list[tuple[int, int]] = []
    if not all(map(is_rational, distinct)):
        for one, other in _close_pairs(distinct):
            answer = equal(distinct[one], distinct[other])
            if answer is Answer.YES:
                _unite(parent, one, other)
            elif answer is Answer.UNDECIDED:
                unclear.append((one, other))
    return _number(listed, distinct, parent, unclear)


def _group_tuples(listed: Sequence[tuple[Value, ...]]) -> Groups:
    width = len(listed[0])
    entries = group(entry for value in listed for entry in value)
    maybe = {frozenset(pair) for pair in entries.undecided}
    keys = [entries.labels[at : at + width] for at in range(0, len(entries.labels), width)]
    distinct = list(dict.fromkeys([(0,) * width, *keys]))
    unclear = [
        (one, other)
        for (one, first), (other, second) in (combinations(enumerate(distinct), 2) if maybe else ())
        if all(a == b or frozenset((a, b)) in maybe for a, b in zip(first, second, strict=True))
    ]
    numbered = _number(keys, distinct, list(range(len(distinct))), unclear)
    shown = tuple(tuple(entries.representatives[entry] for entry in key) for key in numbered.representatives)
    return Groups(labels=numbered.labels, representatives=shown, undecided=numbered.undecided)


def _number(
    listed: Sequence[Hashable], distinct: Sequence[Any], parent: list[int], unclear: Iterable[tuple[int, int]]
) -> Groups:
    """Classes by first occurrence, that of distinct[0], the zero, first."""
    label_of_root: dict[int, int] = {}
    representatives = []
    for index in range(len(distinct)):
        root = _root(parent, index)
        if root not in label_of_root:
            label_of_root[root] = len(label_of_root)
            representatives.append(distinct[index])
    label = {value: label_of_root[_root(parent, index)] for index, value in enumerate(distinct)}
    pairs = {tuple(sorted((label[distinct[one]], label[distinct[other]]))) for one, other in unclear}
    return Groups(
        labels=tuple(label[value] for value in listed),
        representatives=tuple(representatives),
        undecided=tuple(sorted((a, b) for a, b in pairs if a != b)),
    )


def _close_pairs(values: Sequence[Value]) -> list[tuple[int, int]]:
    """Pairs whose enclosures meet at the first point: only these can be equal."""
    balls = [enclose(value) for value in values]
    loose = [index for index, ball in enumerate(balls) if ball is None]
    firm = sorted((ball.lower(), index, ball) for index, ball in enumerate(balls) if ball is not None)
    pairs = [tuple(sorted((one, other))) for one in loose for other in range(len(values)) if one != other]
    for place, (_, one, ball) in enumerate(firm):
        for _, other, its_ball in firm[place + 1 :]:
            if not ball.overlaps(its_ball):
                break
            pairs.append((one, other))
    return sorted({(min(pair), max(pair)) for pair in pairs})


def _root(parent: list[int], index: int) -> int:
    while parent[index] != index:
        index = parent[index]
    return index


def _unite(parent: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(parent, one), _root(parent, other)))
    parent[second] = first


_BALL_FUNCTIONS: dict[Any, Callable[[Any], Any]] = {
    sp.exp: lambda ball: ball.exp(),
    sp.log: lambda ball: ball.log(),
    sp.sin: lambda ball: ball.sin(),
    sp.cos: lambda ball: ball.cos(),
    sp.Abs: abs,
}


def _ball(expression: sp.Expr, at: dict[sp.Symbol, Any]) -> Any:
    if expression.is_Rational:
        return flint.arb(flint.fmpq(int(expression.p), int(expression.q)))
    if expression.is_Symbol:
        return flint.arb(at[expression])
    if expression is sp.pi:
        return flint.arb.pi()
    if expression is sp.E:
        return flint.arb.const_e()
    parts = [_ball(part, at) for part in expression.args]
    if expression.is_Add:
        return sum(parts[1:], parts[0])
    if expression.is_Mul:
        return reduce(mul, parts)
    if expression.is_Pow:
        exponent = expression.args[1]
        return parts[0] ** int(exponent) if exponent.is_Integer else parts[0] ** parts[1]
    return _BALL_FUNCTIONS[expression.func](parts[0])


def _by_algebra(value: sp.Expr) -> Answer:
    named, squares, independent = _named(value)
    try:
        decided = exact.is_zero(named, squares=squares)
    except (exact.Undecided, ValueError, ZeroDivisionError, sp.SympifyError, NotImplementedError):
        return _by_minimal_polynomial(value)
    if decided:
        return Answer.YES
    return Answer.NO if independent else Answer.UNDECIDED


def _named(value: sp.Expr) -> tuple[sp.Expr, dict[sp.Symbol, sp.Expr], bool]:
    """The value with its constants as symbols, their squares, and whether these are known to be independent."""
    names: dict[sp.Expr, sp.Expr] = {}
    squares: dict[sp.Symbol, sp.Expr] = {}
    transcendental = set()
    for atom in value.atoms(sp.NumberSymbol, sp.Function, sp.Pow):
        argument = atom.args[0] if atom.args else sp.Integer(1)
        if atom in (sp.pi, sp.E):
            names[atom] = _symbol(str(atom))
            transcendental.add(str(atom))
        elif isinstance(atom, sp.exp) and argument.is_Rational:
            names[atom] = _symbol(f"exp(1/{argument.q})") ** int(argument.p)
            transcendental.add(f"exp(1/{argument.q})")
        elif isinstance(atom, sp.log) and argument.is_Rational and argument > 0:
            powers = sp.factorrat(argument).items()
            names[atom] = sp.Add(*(power * _symbol(f"log({prime})") for prime, power in powers))
            transcendental.update(f"log({prime})" for prime, _ in powers)
        elif isinstance(atom, sp.sin | sp.cos) and argument.is_Rational:
            sine, cosine = _symbol(f"sin({argument})"), _symbol(f"cos({argument})")
            names[atom] = sine if isinstance(atom, sp.sin) else cosine
            squares[sine] = 1 - cosine**2
            transcendental.add(f"cos({argument})")
        elif atom.is_Pow and argument.is_Integer and argument > 1 and atom.exp.is_Rational and atom.exp.q == 2:
            root = sp.Integer(1)
            for prime, power in sp.factorint(argument).items():
                symbol = _symbol(f"sqrt({prime})")
                squares[symbol] = sp.Integer(prime)
                root *= symbol**power
            names[atom] = root ** int(atom.exp.p)
    # One transcendental number satisfies no algebraic equation; whether two of them do is mostly unknown.
    return value.xreplace(names), squares, len(transcendental) <= 1


@cache
def _symbol(name: str) -> sp.Symbol:
    return sp.Dummy(name, positive=True)


def _by_minimal_polynomial(value: sp.Expr) -> Answer:
    """For numbers built of radicals alone, which have a minimal polynomial."""
    powers = value.atoms(sp.Pow)
    if value.free_symbols or value.has(sp.Function, sp.NumberSymbol) or not all(one.exp.is_Rational for one in powers):
        return Answer.UNDECIDED
    if reduce(mul, (int(one.exp.q) for one in powers), 1) > _LARGEST_DEGREE:
        return Answer.UNDECIDED
    unknown = sp.Dummy("x")
    return Answer.YES if sp.minimal_polynomial(value, unknown, polys=False) == unknown else Answer.NO
