"""Certain facts on the values of a formula far out along a path of pairs, where choices, floors or waves stay open.

`lengthgen.theory.formula.progressions` gives the value at each step as an expression, if every choice is decided. To
see infinitely many values, less is enough, and it need hold only from some step on: bounds of the values, and rules
for how often values occur. For example, min(s, log(s + 1) + sin(s)) takes no value infinitely often, as both parts go
to infinity, and nor does sin(s) % 5, which is sin(s) and one of two numbers. All of it is [F].
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any

import sympy as sp

from lengthgen.theory.formula import exact
from lengthgen.theory.formula.asymptotics import Expression, S, as_polynomial, leading_term, limit
from lengthgen.theory.formula.progressions import (
    Path,
    UndecidedChoice,
    apply,
    evaluate,
    number,
    pieces,
    takes_infinitely_many_values,
)
from lengthgen.theory.formula.syntax import ComparisonChain, FormulaError, Name, Node, Number, Operation
from lengthgen.theory.zero.equality import sign


class Spread(IntEnum):
    """Knowledge of how often values occur."""

    UNKNOWN = 0
    MANY = 1
    """Infinitely many values occur."""
    SCATTERED = 2
    """No value occurs at infinitely many steps, so infinitely many values occur at any infinitely many steps."""


_WAVES = (sp.sin, sp.cos)
_MOST_QUOTIENTS = 8
"""Largest number of quotients for each of which a remainder is looked at."""
_TRANSCENDENTAL = (sp.log, sp.exp, sp.sin, sp.cos, sp.pi, sp.E)


@dataclass(frozen=True, kw_only=True)
class Tail:
    """Facts on the values of a tree that hold from some step on.

    Attributes:
        value: the value as an expression in s; None if it is not known.
        low: expression in s that no value is below; None if none is known. Bounds have no waves (sines and cosines).
        high: expression in s that no value is above; None if none is known.
        integer: True if every value is an integer.
        algebraic: True if every value is an algebraic number.
        of_few: True if the value is a function of finitely many values.
        by_parts: how often values occur, as far as the parts of the tree show it.
    """

    value: Expression | None = None
    low: Expression | None = None
    high: Expression | None = None
    integer: bool = False
    algebraic: bool = False
    of_few: bool = False
    by_parts: Spread = Spread.UNKNOWN

    @cached_property
    def ends(self) -> tuple[Expression | None, Expression | None]:
        """Limits of the two bounds; None for one that is not found."""
        low, high = (None if bound is None else limit(bound, S) for bound in (self.low, self.high))
        return low, high

    @property
    def bounded(self) -> bool:
        """True if the values are proved to be bounded."""
        return all(end is not None and bool(end.is_finite) for end in self.ends)

    @property
    def why_endless(self) -> str | None:
        """Reason why the values go to an infinity; None if that is not proved."""
        low, high = self.ends
        if low == sp.oo:
            bound, side = self.low, "at least "
        elif high == -sp.oo:
            bound, side = self.high, "at most "
        else:
            return None
        return f"from some step on the entry is {'' if bound == self.value else side}{bound}, which grows without end"

    @cached_property
    def few(self) -> bool:
        """True if finitely many values are proved."""
        constant = self.value is not None and S not in self.value.free_symbols
        return constant or self.of_few or (self.integer and self.bounded)

    @cached_property
    def why_scattered(self) -> str | None:
        """Reason in the value or its bounds why no value occurs at infinitely many steps; None if there is none."""
        why = None if self.value is None else takes_infinitely_many_values(self.value)
        if why:
            return f"from some step on the entry is {self.value}, which {why}"
        if self.why_endless:
            return self.why_endless
        low, high = self.ends
        if low is None or low != high or not low.is_finite:
            return None
        apart = far_sign(self.low - low) == 1 or far_sign(self.high - low) == -1
        return f"the entry goes to {low} and is not {low} from some step on" if apart else None

    @property
    def spread(self) -> Spread:
        """Knowledge of how often values occur."""
        return Spread.SCATTERED if self.why_scattered else self.by_parts

    @property
    def why_many(self) -> str | None:
        """Reason why infinitely many values occur; None if that is not proved."""
        if self.why_scattered or not self.by_parts:
            return self.why_scattered
        scattered = self.by_parts is Spread.SCATTERED
        return (
            "from some step on the entry takes no value infinitely often"
            if scattered
            else ("the entry takes infinitely many values, as a part of it does")
        )

    @property
    def slow(self) -> bool:
        """True if the value goes to an infinity, strictly monotone from some step on, by steps that go to 0."""
        leading = None if self.value is None or self.value.has(*_WAVES) else leading_term(self.value, S)
        if leading is None or not self.why_endless:
            return False
        rate, power, *_ = leading.growth
        return bool(rate == 0 and power < 1)

    @property
    def lowest(self) -> Expression | None:
        """Number that a wave a + b sin(c s + d), c rational, is above and comes close to infinitely often, or None."""
        if self.value is None:
            return None
        rest, wave = self.value.as_independent(S, as_Add=True)
        factor, wave = wave.as_independent(S, as_Add=False)
        if not isinstance(wave, _WAVES) or not wave.args[0].expand().coeff(S).is_Rational:
            return None
        side = far_sign(factor)
        return None if side is None else rest - side * factor

    def signs(self) -> set[int]:
        """Signs that values may have at infinitely many steps."""
        below = None if self.low is None else far_sign(self.low)
        above = None if self.high is None else far_sign(self.high)
        possible = {-1, 0, 1}
        if below is not None and below >= 0:
            possible -= {-1, 0} if below else {-1}
        if above is not None and above <= 0:
            possible -= {1, 0} if above else {1}
        if len(possible) > 1 and 0 in possible and self.spread is Spread.SCATTERED:
            possible -= {0}
        return possible


def far_sign(expression: Expression) -> int | None:
    """Sign of an expression without waves from some step on; None if it is not found."""
    expression = sp.expand(expression)
    factor = expression
    if S in expression.free_symbols:
        numerator, denominator = map(as_polynomial, sp.fraction(sp.together(expression)))
        if numerator is not None and denominator is not None:
            return int(sp.sign(numerator.LC() * denominator.LC()))
        leading = leading_term(expression, S)
        if leading is None:
            return None
        factor = leading.factor
    try:
        return sign(exact.plain(factor))
    except FormulaError:
        return None


def infinitely_many_values(node: Node, path: Path) -> Iterator[tuple[int, int, str]]:
    """Yield start and step of progressions of steps of a path at which a tree takes infinitely many values, and why.

    The tree has no parameters, and a value at every pair.
    """

    def why(at: Mapping[str, Expression]) -> str | None:
        try:
            value = evaluate(node, at)
        except (UndecidedChoice, NotImplementedError):
            return tail(node, at).why_many
        reason = takes_infinitely_many_values(value)
        return f"the entry is {value}, which {reason}" if reason else tail(node, at).why_many

    yield from _found(path, why)


def grows_without_end(node: Node, path: Path) -> Iterator[str]:
    """Yield reasons why the values of a tree on progressions of steps of a path go to an infinity."""
    for _, _, reason in _found(path, lambda at: tail(node, at).why_endless):
        yield reason


def _found(path: Path, why: Callable[[Mapping[str, Expression]], str | None]) -> Iterator[tuple[int, int, str]]:
    """Yield start and step of the progressions of a path for which there is a reason."""
    try:
        for start, step, reason in pieces(path, why):
            if reason:
                yield start, step, reason
    except (UndecidedChoice, FormulaError):
        return


def tail(node: Node, at: Mapping[str, Any]) -> Tail:
    """Facts on the values of a tree far out, with its names as expressions in s.

    Raises:
        SplitByPeriod, StartLater: the progression has to be split first.
    """
    match node:
        case Number(value=value):
            return _valued(number(value))
        case Name(name="pi"):
            return _valued(sp.pi)
        case Name(name=name):
            return _valued(sp.sympify(at[name]))
        case ComparisonChain() | Operation(name="and" | "or" | "not"):
            holds = _truth(node, at)
            return _one_of(_valued(sp.S.Zero), _valued(sp.S.One)) if holds is None else _valued(sp.Integer(holds))
        case Operation(name="if", operands=(condition, then, otherwise)):
            holds = _truth(condition, at)
            if holds is None:
                return _one_of(tail(then, at), tail(otherwise, at))
            return tail(then if holds else otherwise, at)
        case Operation(name="-" | "/" | "//" | "%" as name, operands=(first, last)) if first == last:
            return _valued(sp.Integer(name in ("/", "//")))
        case Operation(name=name, operands=parts):
            return _apply(name, [tail(part, at) for part in parts])
    raise AssertionError(node)


def _truth(node: Node, at: Mapping[str, Any]) -> bool | None:
    """True or False if a condition holds, or fails, from some step on; None if that is not decided."""
    match node:
        case ComparisonChain(tests=tests, sides=sides):
            differences = [tail(Operation("-", two), at) for two in pairwise(sides)]
            outcomes: Iterable[bool | None] = (
                _same({exact.COMPARISONS[test](side) for side in difference.signs()})
                for test, difference in zip(tests, differences, strict=True)
            )
            return _all(outcomes)
        case Operation(name="and", operands=parts):
            return _all(_truth(part, at) for part in parts)
        case Operation(name="or", operands=parts):
            return _not(_all(_not(_truth(part, at)) for part in parts))
        case Operation(name="not", operands=(operand,)):
            return _not(_truth(operand, at))
    return _same({side != 0 for side in tail(node, at).signs()})


def _same(outcomes: set[bool]) -> bool | None:
    return outcomes.pop() if len(outcomes) == 1 else None


def _not(outcome: bool | None) -> bool | None:
    return None if outcome is None else not outcome


def _all(outcomes: Iterable[bool | None]) -> bool | None:
    distinct = set(outcomes)
    return False if False in distinct else None if None in distinct else True


def _valued(value: Expression) -> Tail:
    """Tail of a value that is an expression in s."""
    bound = None if S in value.free_symbols and value.has(*_WAVES) else value
    polynomial = as_polynomial(value)
    return Tail(
        value=value,
        low=bound,
        high=bound,
        integer=polynomial is not None and all(part.is_Integer for part in polynomial.all_coeffs()),
        algebraic=polynomial is not None or _is_algebraic_number(value),
    )


def _is_algebraic_number(value: Expression) -> bool:
    rational_powers = all(power.exp.is_Rational for power in value.atoms(sp.Pow))
    return rational_powers and S not in value.free_symbols and not value.has(*_TRANSCENDENTAL)


def _apply(name: str, parts: list[Tail]) -> Tail:
    """Tail of an operation."""
    result = _exactly(name, parts)
    if result is None or result.low is None:
        by_bounds: Tail = _OPERATIONS[name](*parts)
        of_few = by_bounds.of_few or all(part.few for part in parts)
        result = replace(by_bounds, value=result.value if result else by_bounds.value, of_few=of_few)
    return replace(
        result,
        integer=result.integer or _is_integer(name, parts),
        algebraic=result.algebraic or _is_algebraic(name, parts),
    )


def _exactly(name: str, parts: list[Tail]) -> Tail | None:
    """Tail of an operation whose value is an expression in s; None if it is not."""
    values = [part.value for part in parts]
    if None in values:
        return None
    try:
        return _valued(apply(name, values))
    except (UndecidedChoice, FormulaError, NotImplementedError):
        return None


def _is_integer(name: str, parts: list[Tail]) -> bool:
    if name in ("floor", "ceil", "//", "gcd"):
        return True
    closed = name in ("+", "-", "*", "%", "neg", "pos", "abs", "min", "max")
    natural = name == "**" and parts[1].signs() <= {0, 1}
    return (closed or natural) and all(part.integer for part in parts)


def _is_algebraic(name: str, parts: list[Tail]) -> bool:
    if name in ("floor", "ceil", "//", "gcd"):
        return True
    if name in ("log", "exp", "sin", "cos"):
        return False
    rational = parts[-1].integer or (parts[-1].value is not None and parts[-1].value.is_Rational)
    return all(part.algebraic for part in parts) and (name != "**" or bool(rational))


def _one_of(first: Tail, last: Tail) -> Tail:
    """Tail of a value that is one of two at each step."""
    return Tail(
        low=_least(first.low, last.low),
        high=_greatest(first.high, last.high),
        integer=first.integer and last.integer,
        algebraic=first.algebraic and last.algebraic,
        of_few=first.few and last.few,
        by_parts=_of_one_of(first, last),
    )


def _of_one_of(first: Tail, last: Tail) -> Spread:
    """Knowledge of how often values occur, each of which is a value of one of two parts."""
    return Spread.SCATTERED if first.spread is last.spread is Spread.SCATTERED else Spread.UNKNOWN


def _least(first: Expression | None, last: Expression | None) -> Expression | None:
    """Return the smaller of two expressions far out; None if one is, or that is not decided."""
    if first is None or last is None:
        return None
    side = far_sign(first - last)
    return None if side is None else first if side <= 0 else last


def _greatest(first: Expression | None, last: Expression | None) -> Expression | None:
    least = _least(first, last)
    return None if least is None else last if least is first else first


def _plus(first: Expression | None, last: Expression | None) -> Expression | None:
    return None if first is None or last is None else sp.expand(first + last)


def _times(first: Expression | None, last: Expression | None) -> Expression | None:
    return None if first is None or last is None else sp.expand(first * last)


def _negated(bound: Expression | None) -> Expression | None:
    return None if bound is None else -bound


def _negative(operand: Tail) -> Tail:
    return Tail(
        value=_negated(operand.value),
        low=_negated(operand.high),
        high=_negated(operand.low),
        integer=operand.integer,
        algebraic=operand.algebraic,
        of_few=operand.few,
        by_parts=operand.spread,
    )


def _sum(first: Tail, last: Tail) -> Tail:
    spread = max(part.spread if other.few else Spread.UNKNOWN for part, other in ((first, last), (last, first)))
    return Tail(low=_plus(first.low, last.low), high=_plus(first.high, last.high), by_parts=spread)


def _product(first: Tail, last: Tail) -> Tail:
    spread = max(
        part.spread if other.few and 0 not in other.signs() else Spread.UNKNOWN
        for part, other in ((first, last), (last, first))
    )
    flipped = False
    factors = []
    for factor in (first, last):
        turn = factor.signs() <= {-1, 0}
        flipped ^= turn
        factors.append(_negative(factor) if turn else factor)
    left, right = factors
    if all(factor.signs() <= {0, 1} for factor in factors):
        low, high = _times(left.low, right.low), _times(left.high, right.high)
    else:
        high = _times(_absolute(left).high, _absolute(right).high)
        low = _negated(high)
    result = Tail(low=low, high=high, by_parts=spread)
    return _negative(result) if flipped else result


def _quotient(first: Tail, last: Tail) -> Tail:
    """Quotient, which has a value: the divisor is not 0."""
    signs = last.signs() - {0}
    if signs == {-1}:
        return _negative(_quotient(first, _negative(last)))
    high = sp.S.One if last.integer else None
    low = sp.S.Zero if signs == {1} else _negated(high)
    if signs == {1} and last.low is not None and far_sign(last.low) == 1:
        low, high = low if last.high is None else 1 / last.high, 1 / last.low
    result = _product(first, Tail(low=low, high=high, of_few=last.few, by_parts=last.spread))
    return replace(result, by_parts=max(result.by_parts, first.spread if last.few else Spread.UNKNOWN))


def _floor(operand: Tail) -> Tail:
    low = None if operand.low is None else _floor_of_bound(operand.low, operand.low - 1)
    high = None if operand.high is None else _floor_of_bound(operand.high, operand.high)
    if low is not None and low == high:
        return _valued(low)
    return Tail(low=low, high=high, integer=True, of_few=operand.few)


def _floor_of_bound(bound: Expression, otherwise: Expression) -> Expression:
    """Floor of a bound if it is one integer far out, else the expression given."""
    end = limit(bound, S)
    if end is None or not end.is_finite or not end.is_real:
        return otherwise
    try:
        integer = sp.Integer(exact.apply("floor", [exact.plain(end)]))
    except FormulaError:
        return otherwise
    if integer == end:
        side = far_sign(bound - end)
        if side is None:
            return otherwise
        integer -= side < 0
    return integer


def _ceiling(operand: Tail) -> Tail:
    return _negative(_floor(_negative(operand)))


def _integer_quotient(first: Tail, last: Tail) -> Tail:
    return _floor(_quotient(first, last))


def _remainder(first: Tail, last: Tail) -> Tail:
    """Remainder: the dividend less a multiple of the divisor, between 0 and the divisor."""
    first = _without_multiples(first, last)
    quotient = _integer_quotient(first, last)
    quotients = [quotient] if (listed := _integers(quotient)) is None else map(_valued, map(sp.Integer, listed))
    multiples = (_apply("*", [last, each]) for each in quotients)
    result = reduce(_one_of, (_apply("-", [first, multiple]) for multiple in multiples))
    if result.value is not None:
        return result
    low, high = result.low, result.high
    signs = last.signs() - {0}
    if signs == {1}:
        low, high = sp.S.Zero if low is None or far_sign(low) != 1 else low, _nearer(high, last.high)
        if first.signs() <= {0, 1}:
            high = _nearer(high, first.high)
    elif signs == {-1}:
        low, high = _negated(_nearer(_negated(low), _negated(last.low))), sp.S.Zero
    spread = result.by_parts
    if first.slow and last.value is not None and S not in last.value.free_symbols:
        spread = max(spread, Spread.MANY)  # between two multiples of the divisor lie more and more values
    return replace(result, low=low, high=high, by_parts=spread)


def _without_multiples(dividend: Tail, divisor: Tail) -> Tail:
    """Dividend whose polynomial part is replaced by its remainder, if that is one number at all steps."""
    if dividend.value is None or divisor.value is None or not divisor.value.is_Rational:
        return dividend
    terms = sp.Add.make_args(dividend.value)
    polynomial = sp.Add(*(term for term in terms if as_polynomial(term) is not None))
    rest = dividend.value - polynomial
    if S not in polynomial.free_symbols or S not in rest.free_symbols or rest.has(*_WAVES):
        return dividend
    remainder = _apply("%", [_valued(polynomial), divisor])
    return dividend if remainder.value is None else _valued(remainder.value + rest)


def _integers(tail: Tail) -> range | None:
    """Integers between constant bounds; None if there are too many, or the bounds are not constant."""
    if tail.low is None or tail.high is None or not (tail.low.is_Integer and tail.high.is_Integer):
        return None
    return range(int(tail.low), int(tail.high) + 1) if tail.high - tail.low < _MOST_QUOTIENTS else None


def _nearer(first: Expression | None, last: Expression | None) -> Expression | None:
    """Return the smaller of two upper bounds; one of them if that is not decided."""
    if first is None or last is None:
        return last if first is None else first
    least = _least(first, last)
    return last if least is None else least


def _absolute(operand: Tail) -> Tail:
    if operand.signs() <= {0, 1}:
        return operand
    if operand.signs() <= {-1, 0}:
        return _negative(operand)
    return Tail(low=sp.S.Zero, high=_greatest(operand.high, _negated(operand.low)), by_parts=operand.spread)


def _minimum(*parts: Tail) -> Tail:
    return reduce(_smaller, parts)


def _smaller(first: Tail, last: Tail) -> Tail:
    signs = _sum(first, _negative(last)).signs()
    if signs <= {-1, 0} or signs <= {0, 1}:
        return first if signs <= {-1, 0} else last
    result = _one_of(first, last)
    spread = result.by_parts
    for wave, other in ((first, last), (last, first)):
        if wave.lowest is not None and other.low is not None and far_sign(other.low - wave.lowest) == 1:
            spread = max(spread, Spread.MANY)  # it is the smaller one infinitely often
    return replace(result, high=_nearer(first.high, last.high), by_parts=spread)


def _maximum(*parts: Tail) -> Tail:
    return _negative(_minimum(*map(_negative, parts)))


def _power(base: Tail, exponent: Tail) -> Tail:
    power = exponent.value
    if power == 0:
        return _valued(sp.S.One)
    if power is not None and power.is_Rational:
        low = high = None
        if base.signs() <= {0, 1}:
            low, high = (None if bound is None else bound**power for bound in (base.low, base.high))
            if power < 0:
                low, high = sp.S.Zero if high is None else high, low if far_sign(base.low) == 1 else None
        elif power.is_Integer and power % 2 == 0:
            low = sp.S.Zero
        return Tail(low=low, high=high, by_parts=base.spread)
    constant = base.value
    if constant is None or S in constant.free_symbols or sign(exact.plain(constant)) != 1:
        return Tail(low=sp.S.Zero if base.signs() <= {0, 1} else None)
    return _exponential(exponent, constant)


def _exponential(exponent: Tail, base: Expression = sp.E) -> Tail:
    ends = [None if bound is None else base**bound for bound in (exponent.low, exponent.high)]
    side = sign(exact.plain(base - 1))
    low, high = ends if side == 1 else ends[::-1] if side == -1 else (None, None)
    return Tail(low=sp.S.Zero if low is None else low, high=high, by_parts=exponent.spread if side else Spread.UNKNOWN)


def _root(operand: Tail) -> Tail:
    low, high = (None if bound is None else sp.sqrt(bound) for bound in (operand.low, operand.high))
    nonnegative = operand.signs() <= {0, 1}
    return Tail(low=low if nonnegative and low is not None else sp.S.Zero, high=high, by_parts=operand.spread)


def _logarithm(operand: Tail) -> Tail:
    low, high = (
        None if bound is None or far_sign(bound) != 1 else sp.log(bound) for bound in (operand.low, operand.high)
    )
    return Tail(low=low, high=high, by_parts=operand.spread)


def _wave(operand: Tail) -> Tail:
    """Sine or cosine.

    They take a value at finitely many places of a bounded interval, and at two algebraic numbers at most, as a sum or
    difference of algebraic numbers is no multiple of pi but 0.
    """
    spread = operand.spread
    if not operand.bounded and not (spread is Spread.SCATTERED and operand.algebraic):
        spread = Spread.MANY if operand.slow else Spread.UNKNOWN
    return Tail(low=-sp.S.One, high=sp.S.One, by_parts=spread)


def _divisor(first: Tail, last: Tail) -> Tail:
    few = any(part.few and 0 not in part.signs() for part in (first, last))
    return Tail(low=sp.S.Zero, integer=True, of_few=few)


_OPERATIONS: dict[str, Any] = {
    "+": _sum,
    "-": lambda first, last: _sum(first, _negative(last)),
    "*": _product,
    "/": _quotient,
    "//": _integer_quotient,
    "%": _remainder,
    "**": _power,
    "neg": _negative,
    "pos": lambda operand: operand,
    "min": _minimum,
    "max": _maximum,
    "abs": _absolute,
    "floor": _floor,
    "ceil": _ceiling,
    "gcd": _divisor,
    "sqrt": _root,
    "log": _logarithm,
    "exp": _exponential,
    "sin": _wave,
    "cos": _wave,
}
