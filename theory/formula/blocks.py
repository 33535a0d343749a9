"""Exact values of a formula at many pairs at once: arrays of fractions of 64-bit integers, with overflow ruled out.

Before each operation, Python integers bound the largest result that the operands allow.  `NotVectorised` is raised if
the result might not fit into 64 bits, if a number would be irrational, or if there is an error at some pair.  The
caller then evaluates the pairs one by one with `lengthgen.theory.formula.exact`, which names the error and the pair.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lengthgen.theory.formula.syntax import ComparisonChain, Name, Node, Number, Operation

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Positions = Mapping[str, Integers]
"""Variable -> its value at each pair."""
Values = TypeVar("Values")

_LIMIT = 2**63 - 1


class NotVectorised(Exception):
    """The formula needs more than fractions of 64-bit integers, or has no value at some pair."""


@dataclass(frozen=True)
class FractionArray:
    """Fractions numerator/denominator in lowest terms, with positive denominators.

    Attributes:
        numerator: int64 [m].
        denominator: int64 [m]; None if all are 1.
    """

    numerator: Integers
    denominator: Integers | None = None

    def distinct(self) -> tuple[list[int | Fraction], Integers]:
        """Distinct values, and for each pair the index of its value, int64 [m]."""
        if self.denominator is None:
            values, codes = np.unique(self.numerator, return_inverse=True)
            return values.tolist(), codes
        order = np.lexsort((self.numerator, self.denominator))
        numerators, denominators = self.numerator[order], self.denominator[order]
        starts = np.r_[True, (numerators[1:] != numerators[:-1]) | (denominators[1:] != denominators[:-1])]
        codes = np.empty(len(order), dtype=np.int64)
        codes[order] = np.cumsum(starts) - 1
        fractions = zip(numerators[starts].tolist(), denominators[starts].tolist(), strict=True)
        return [top if bottom == 1 else Fraction(top, bottom) for top, bottom in fractions], codes


def evaluate(node: Node, at: Positions) -> FractionArray:
    """Values of the tree at the pairs that `at` describes.

    Args:
        node: the tree.
        at: i, j and, if it occurs, n: int64 arrays of one shape [m], m >= 1.

    Raises:
        NotVectorised: see the class.
    """
    size = len(at["i"])
    match node:
        case Number(value=value):
            numerator, denominator = (np.full(size, _require_fit(part)) for part in Fraction(value).as_integer_ratio())
            return _from_reduced(numerator, denominator)
        case Name(name=name) if name in at:
            return FractionArray(at[name])
        case ComparisonChain() as chain:
            return FractionArray(truth_of_chain(chain, at, evaluate, _passes, _select))
        case Operation(name="if", operands=(condition, then, otherwise)):
            return _choose(_nonzero(evaluate(condition, at)), then, otherwise, at)
        case Operation(name="and" | "or") as connected:
            return FractionArray(truth_of_parts(connected, at, lambda part, where: _nonzero(evaluate(part, where))))
        case Operation(name=name, operands=parts) if name in _OPERATIONS:
            return _OPERATIONS[name](*(evaluate(part, at) for part in parts))
    raise NotVectorised


def truth_of_chain(
    chain: ComparisonChain,
    at: Positions,
    evaluate_at: Callable[[Node, Positions], Values],
    passes: Callable[[str, Values, Values], Mask],
    select: Callable[[Values, Mask], Values],
) -> Integers:
    """1 where all comparisons hold, else 0: int64 [m]; a side is computed only at pairs where it is needed.

    Args:
        chain: the comparisons.
        at: positions of the pairs.
        evaluate_at: (tree, positions) -> its values at these pairs, in some form.
        passes: (test, left, right) -> where the comparison holds.
        select: (values, mask) -> the values at the pairs of the mask.
    """
    result = np.ones(len(at["i"]), dtype=np.int64)
    pending = np.arange(len(result))
    left = evaluate_at(chain.sides[0], at)
    for test, side in zip(chain.tests, chain.sides[1:], strict=True):
        if not pending.size:
            break
        right = evaluate_at(side, at_pairs(at, pending))
        passed = passes(test, left, right)
        result[pending[~passed]] = 0
        pending, left = pending[passed], select(right, passed)
    return result


def truth_of_parts(connected: Operation, at: Positions, holds_at: Callable[[Node, Positions], Mask]) -> Integers:
    """1 where `and` or `or` holds, else 0: int64 [m]; a part is computed only where those before it decide nothing.

    Args:
        connected: the operation.
        at: positions of the pairs.
        holds_at: (tree, positions) -> where the tree holds.
    """
    pending = np.arange(len(at["i"]))
    result = np.full(len(pending), int(connected.name == "and"), dtype=np.int64)
    for part in connected.operands:
        if not pending.size:
            break
        holds = holds_at(part, at_pairs(at, pending))
        decided = ~holds if connected.name == "and" else holds
        result[pending[decided]] = int(connected.name == "or")
        pending = pending[~decided]
    return result


def at_pairs(at: Positions, selection: Any) -> dict[str, Integers]:
    """Positions of the selected pairs."""
    return {name: values[selection] for name, values in at.items()}


def _choose(condition: Mask, then: Node, otherwise: Node, at: Positions) -> FractionArray:
    """Values of `then` where the condition holds and of `otherwise` elsewhere."""
    numerator = np.zeros(len(condition), dtype=np.int64)
    denominator = np.ones(len(condition), dtype=np.int64)
    for mask, branch in ((condition, then), (~condition, otherwise)):
        if mask.any():
            values = evaluate(branch, at_pairs(at, mask))
            numerator[mask] = values.numerator
            denominator[mask] = 1 if values.denominator is None else values.denominator
    return _from_reduced(numerator, denominator)


def _nonzero(array: FractionArray) -> Mask:
    """Mask of the values that are not zero."""
    return np.asarray(array.numerator != 0)


def _passes(test: str, left: FractionArray, right: FractionArray) -> Mask:
    """Mask of the pairs at which a comparison holds."""
    return _COMPARISONS[test](*_common_numerators(left, right))


def _select(array: FractionArray, selection: Any) -> FractionArray:
    """Fractions at the selected pairs."""
    return FractionArray(
        array.numerator[selection], None if array.denominator is None else array.denominator[selection]
    )


def _largest(values: Integers) -> int:
    """Largest absolute value, as a Python integer."""
    return max(abs(int(values.min())), abs(int(values.max())))


def _require_fit(bound: int) -> int:
    """Return the bound itself; raise `NotVectorised` if it exceeds 64 bits."""
    if abs(bound) > _LIMIT:
        raise NotVectorised
    return bound


def _checked_product(first: Integers, second: Integers) -> Integers:
    """Product, after a check that no entry overflows."""
    _require_fit(_largest(first) * _largest(second))
    return first * second


def _checked_sum(first: Integers, second: Integers) -> Integers:
    """Sum, after a check that no entry overflows."""
    _require_fit(_largest(first) + _largest(second))
    return first + second


def _from_reduced(numerator: Integers, denominator: Integers) -> FractionArray:
    """Array of fractions that are already in lowest terms with positive denominators."""
    return FractionArray(numerator) if (denominator == 1).all() else FractionArray(numerator, denominator)


def _reduced(numerator: Integers, denominator: Integers) -> FractionArray:
    """Array of the fractions numerator/denominator; raises `NotVectorised` if a denominator is zero."""
    if not denominator.all():
        raise NotVectorised
    _require_fit(_largest(numerator)), _require_fit(_largest(denominator))
    divisor = np.gcd(numerator, denominator) * np.sign(denominator)
    return _from_reduced(numerator // divisor, denominator // divisor)


def _denominator(array: FractionArray) -> Integers:
    """Denominators, written out as ones if all are 1."""
    return np.ones_like(array.numerator) if array.denominator is None else array.denominator


def _common_numerators(first: FractionArray, second: FractionArray) -> tuple[Integers, Integers]:
    """Numerators over a common denominator, for comparisons."""
    if first.denominator is None and second.denominator is None:
        return first.numerator, second.numerator
    return _checked_product(first.numerator, _denominator(second)), _checked_product(
        second.numerator, _denominator(first)
    )


def _add(first: FractionArray, second: FractionArray) -> FractionArray:
    if first.denominator is None and second.denominator is None:
        return FractionArray(_checked_sum(first.numerator, second.numerator))
    return _reduced(
        _checked_sum(*_common_numerators(first, second)), _checked_product(_denominator(first), _denominator(second))
    )


def _negate(array: FractionArray) -> FractionArray:
    _require_fit(_largest(array.numerator))
    return FractionArray(-array.numerator, array.denominator)


def _multiply(first: FractionArray, second: FractionArray) -> FractionArray:
    numerator = _checked_product(first.numerator, second.numerator)
    if first.denominator is None and second.denominator is None:
        return FractionArray(numerator)
    return _reduced(numerator, _checked_product(_denominator(first), _denominator(second)))


def _divide(first: FractionArray, second: FractionArray) -> FractionArray:
    return _reduced(*_quotient(first, second))


def _quotient(first: FractionArray, second: FractionArray) -> tuple[Integers, Integers]:
    """Numerators and denominators of the quotient, not reduced; a denominator may be negative."""
    if not second.numerator.all():
        raise NotVectorised
    return _checked_product(first.numerator, _denominator(second)), _checked_product(
        second.numerator, _denominator(first)
    )


def _floor_divide(first: FractionArray, second: FractionArray) -> FractionArray:
    numerator, denominator = _quotient(first, second)
    return FractionArray(numerator // denominator)


def _remainder(first: FractionArray, second: FractionArray) -> FractionArray:
    return _add(first, _negate(_multiply(second, _floor_divide(first, second))))


def _power(base: FractionArray, exponent: FractionArray) -> FractionArray:
    if exponent.denominator is not None:
        raise NotVectorised
    size = np.abs(exponent.numerator)
    largest_exponent = _largest(exponent.numerator)
    inverse = exponent.numerator < 0
    if (inverse & (base.numerator == 0)).any():
        raise NotVectorised
    parts = []
    for part in (base.numerator, _denominator(base)):
        largest = _largest(part)
        if largest > 1 and largest_exponent * (largest.bit_length() - 1) >= 63:
            raise NotVectorised
        _require_fit(largest**largest_exponent)
        parts.append(part**size)
    numerator, denominator = parts
    return _reduced(np.where(inverse, denominator, numerator), np.where(inverse, numerator, denominator))


def _extreme(better: Callable[[Integers, Integers], Mask]) -> Callable[..., FractionArray]:
    """Minimum or maximum, as a function of several arrays."""

    def extreme(*arrays: FractionArray) -> FractionArray:
        best = arrays[0]
        for array in arrays[1:]:
            wins = better(*_common_numerators(array, best))
            best = _from_reduced(
                np.where(wins, array.numerator, best.numerator), np.where(wins, _denominator(array), _denominator(best))
            )
        return best

    return extreme


def _absolute(array: FractionArray) -> FractionArray:
    _require_fit(_largest(array.numerator))
    return FractionArray(np.abs(array.numerator), array.denominator)


def _floor(array: FractionArray) -> FractionArray:
    return FractionArray(array.numerator // _denominator(array))


def _gcd(first: FractionArray, second: FractionArray) -> FractionArray:
    if first.denominator is not None or second.denominator is not None:
        raise NotVectorised
    _require_fit(_largest(first.numerator)), _require_fit(_largest(second.numerator))
    return FractionArray(np.gcd(first.numerator, second.numerator))


_COMPARISONS: dict[str, Callable[[Integers, Integers], Mask]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}

_OPERATIONS: dict[str, Callable[..., FractionArray]] = {
    "+": _add,
    "-": lambda first, second: _add(first, _negate(second)),
    "*": _multiply,
    "/": _divide,
    "//": _floor_divide,
    "%": _remainder,
    "**": _power,
    "neg": _negate,
    "pos": lambda array: array,
    "not": lambda array: FractionArray((array.numerator == 0).astype(np.int64)),
    "min": _extreme(np.less),
    "max": _extreme(np.greater),
    "abs": _absolute,
    "floor": _floor,
    "ceil": lambda array: _negate(_floor(_negate(array))),
    "gcd": _gcd,
}
