"""A formula at many pairs at once, still exactly: fractions of 64-bit integers that cannot wrap unnoticed.

Before an operation the largest result that its operands allow is bounded in Python's own integers.  Where it might not
fit, where a number would be irrational, or where something is wrong at some pair, `NotVectorised` is raised and the
caller goes through the pairs one by one with `theory.formula.exact`, which says what is wrong and where.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.formula.syntax import Comparison, Name, Node, Number, Operation

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_LIMIT = 2**63 - 1


class NotVectorised(Exception):
    """The formula needs more than fractions of 64-bit integers here, or has no value at some pair."""


@dataclass(frozen=True)
class Block:
    """Fractions numerator/denominator, int64 arrays [m], in lowest terms with positive denominators; None for all 1."""

    numerator: Integers
    denominator: Integers | None = None

    def distinct(self) -> tuple[list[int | Fraction], Integers]:
        """The distinct values, and for each pair the index of its own, int64 [m]."""
        if self.denominator is None:
            values, codes = np.unique(self.numerator, return_inverse=True)
            return values.tolist(), codes
        order = np.lexsort((self.numerator, self.denominator))
        above, below = self.numerator[order], self.denominator[order]
        new = np.r_[True, (above[1:] != above[:-1]) | (below[1:] != below[:-1])]
        codes = np.empty(len(order), dtype=np.int64)
        codes[order] = np.cumsum(new) - 1
        pairs = zip(above[new].tolist(), below[new].tolist(), strict=True)
        return [top if bottom == 1 else Fraction(top, bottom) for top, bottom in pairs], codes


def evaluate(node: Node, at: Mapping[str, Integers]) -> Block:
    """The values of the tree where `at` gives i, j and, if it occurs, n: int64 arrays of one shape [m], m >= 1.

    Raises:
        NotVectorised: see there.
    """
    size = len(at["i"])
    match node:
        case Number(value=value):
            above, below = (np.full(size, _fits(part)) for part in Fraction(value).as_integer_ratio())
            return _lowest(above, below)
        case Name(name=name) if name in at:
            return Block(at[name])
        case Comparison(tests=tests, sides=sides):
            return _chain(tests, sides, at)
        case Operation(name="if", operands=(condition, then, otherwise)):
            return _choose(_holds(evaluate(condition, at)), then, otherwise, at)
        case Operation(name="and" | "or" as name, operands=parts):
            return _junction(name, parts, at)
        case Operation(name=name, operands=parts) if name in _OPERATIONS:
            return _OPERATIONS[name](*(evaluate(part, at) for part in parts))
    raise NotVectorised


def _chain(tests: tuple[str, ...], sides: tuple[Node, ...], at: Mapping[str, Integers]) -> Block:
    found = np.ones(len(at["i"]), dtype=np.int64)
    alive = np.arange(len(found))
    left = evaluate(sides[0], at)
    for test, side in zip(tests, sides[1:], strict=True):
        if not alive.size:
            break
        right = evaluate(side, _some(at, alive))
        passed = _COMPARISONS[test](*_common(left, right))
        found[alive[~passed]] = 0
        alive, left = alive[passed], _take(right, passed)
    return Block(found)


def _choose(condition: Mask, then: Node, otherwise: Node, at: Mapping[str, Integers]) -> Block:
    above = np.zeros(len(condition), dtype=np.int64)
    below = np.ones(len(condition), dtype=np.int64)
    for mask, branch in ((condition, then), (~condition, otherwise)):
        if mask.any():
            chosen = evaluate(branch, _some(at, mask))
            above[mask] = chosen.numerator
            below[mask] = 1 if chosen.denominator is None else chosen.denominator
    return _lowest(above, below)


def _junction(name: str, parts: tuple[Node, ...], at: Mapping[str, Integers]) -> Block:
    """Each part only where those before it have not decided."""
    open_ = np.arange(len(at["i"]))
    found = np.full(len(open_), int(name == "and"), dtype=np.int64)
    for part in parts:
        if not open_.size:
            break
        holds = _holds(evaluate(part, _some(at, open_)))
        decided = ~holds if name == "and" else holds
        found[open_[decided]] = int(name == "or")
        open_ = open_[~decided]
    return Block(found)


def _holds(block: Block) -> Mask:
    return np.asarray(block.numerator != 0)


def _some(at: Mapping[str, Integers], where: Any) -> dict[str, Integers]:
    return {name: values[where] for name, values in at.items()}


def _take(block: Block, where: Any) -> Block:
    return Block(block.numerator[where], None if block.denominator is None else block.denominator[where])


def _largest(values: Integers) -> int:
    """The largest absolute value, as a Python integer."""
    return max(abs(int(values.min())), abs(int(values.max())))


def _fits(bound: int) -> int:
    if abs(bound) > _LIMIT:
        raise NotVectorised
    return bound


def _times(first: Integers, second: Integers) -> Integers:
    _fits(_largest(first) * _largest(second))
    return first * second


def _plus(first: Integers, second: Integers) -> Integers:
    _fits(_largest(first) + _largest(second))
    return first + second


def _lowest(above: Integers, below: Integers) -> Block:
    """Fractions in lowest terms that already have positive denominators."""
    return Block(above) if (below == 1).all() else Block(above, below)


def _reduced(above: Integers, below: Integers) -> Block:
    """The fractions above/below.  Raises `NotVectorised` where a denominator is zero."""
    if not below.all():
        raise NotVectorised
    _fits(_largest(above)), _fits(_largest(below))
    divisor = np.gcd(above, below) * np.sign(below)
    return _lowest(above // divisor, below // divisor)


def _below(block: Block) -> Integers:
    return np.ones_like(block.numerator) if block.denominator is None else block.denominator


def _common(first: Block, second: Block) -> tuple[Integers, Integers]:
    """Numerators over a common denominator, to compare."""
    if first.denominator is None and second.denominator is None:
        return first.numerator, second.numerator
    return _times(first.numerator, _below(second)), _times(second.numerator, _below(first))


def _add(first: Block, second: Block) -> Block:
    if first.denominator is None and second.denominator is None:
        return Block(_plus(first.numerator, second.numerator))
    return _reduced(_plus(*_common(first, second)), _times(_below(first), _below(second)))


def _negate(block: Block) -> Block:
    _fits(_largest(block.numerator))
    return Block(-block.numerator, block.denominator)


def _multiply(first: Block, second: Block) -> Block:
    above = _times(first.numerator, second.numerator)
    if first.denominator is None and second.denominator is None:
        return Block(above)
    return _reduced(above, _times(_below(first), _below(second)))


def _divide(first: Block, second: Block) -> Block:
    return _reduced(*_quotient(first, second))


def _quotient(first: Block, second: Block) -> tuple[Integers, Integers]:
    if not second.numerator.all():
        raise NotVectorised
    return _times(first.numerator, _below(second)), _times(second.numerator, _below(first))


def _floor_divide(first: Block, second: Block) -> Block:
    above, below = _quotient(first, second)
    return Block(above // below)


def _remainder(first: Block, second: Block) -> Block:
    return _add(first, _negate(_multiply(second, _floor_divide(first, second))))


def _power(base: Block, exponent: Block) -> Block:
    if exponent.denominator is not None:
        raise NotVectorised
    size = np.abs(exponent.numerator)
    most = _largest(exponent.numerator)
    inverse = exponent.numerator < 0
    if (inverse & (base.numerator == 0)).any():
        raise NotVectorised
    parts = []
    for part in (base.numerator, _below(base)):
        largest = _largest(part)
        if largest > 1 and most * (largest.bit_length() - 1) >= 63:
            raise NotVectorised
        _fits(largest**most if largest > 1 else 1)
        parts.append(part**size)
    above, below = parts
    return _reduced(np.where(inverse, below, above), np.where(inverse, above, below))


def _extreme(pick: Callable[[Integers, Integers], Mask]) -> Callable[..., Block]:
    def extreme(*blocks: Block) -> Block:
        best = blocks[0]
        for block in blocks[1:]:
            wins = pick(*_common(block, best))
            best = _lowest(np.where(wins, block.numerator, best.numerator), np.where(wins, _below(block), _below(best)))
        return best

    return extreme


def _absolute(block: Block) -> Block:
    _fits(_largest(block.numerator))
    return Block(np.abs(block.numerator), block.denominator)


def _floor(block: Block) -> Block:
    return Block(block.numerator // _below(block))


def _gcd(first: Block, second: Block) -> Block:
    if first.denominator is not None or second.denominator is not None:
        raise NotVectorised
    _fits(_largest(first.numerator)), _fits(_largest(second.numerator))
    return Block(np.gcd(first.numerator, second.numerator))


_COMPARISONS: dict[str, Callable[[Integers, Integers], Mask]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}

_OPERATIONS: dict[str, Callable[..., Block]] = {
    "+": _add,
    "-": lambda first, second: _add(first, _negate(second)),
    "*": _multiply,
    "/": _divide,
    "//": _floor_divide,
    "%": _remainder,
    "**": _power,
    "neg": _negate,
    "pos": lambda block: block,
    "not": lambda block: Block((block.numerator == 0).astype(np.int64)),
    "min": _extreme(np.less),
    "max": _extreme(np.greater),
    "abs": _absolute,
    "floor": _floor,
    "ceil": lambda block: _negate(_floor(_negate(block))),
    "gcd": _gcd,
}
