"""Are two exact numbers equal? "Yes" and "no" are proved; every other case is "undecided".

A value is an int, a Fraction, or a real sympy expression in parameters, which are read as indeterminates: two values
are equal iff they are the same function of the parameters. "No" is proved by enclosures that do not meet at some point
(lengthgen.theory.zero.enclosure). The other cases are decided by a separation bound (`algebraic`) or by algebra
(`identities`).
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import sympy as sp

from lengthgen.theory.zero import algebraic, identities
from lengthgen.theory.zero.enclosure import POINTS, enclose, unique_floor

Value = Any
"""int, Fraction, or a real sympy expression; a tuple of such for a matrix. Patterns may hold infinite floats too."""

_BITS = (192, 1536, 12_288)
"""Precisions, in bits, at which enclosures are compared, one after the other."""
MOST_ASKED, MOST_UNDECIDED = 2_000, 100
"""Limits of one grouping: pairs that are compared, and comparisons without an answer. Further pairs are undecided."""


class Answer(StrEnum):
    """A three-valued answer."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


def is_rational(value: Value) -> bool:
    """True if the value is a plain int or Fraction."""
    return isinstance(value, int | Fraction)


def to_sympy(value: Value) -> sp.Expr:
    """Convert the value to a sympy expression."""
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    return sp.Integer(value) if isinstance(value, int) else value


def equal(first: Value, second: Value) -> Answer:
    """Decide whether two values are equal."""
    if (is_rational(first) and is_rational(second)) or isinstance(first, float) or isinstance(second, float):
        return Answer.YES if first == second else Answer.NO
    try:
        return zero(to_sympy(first) - to_sympy(second))
    except ValueError:  # sympy 1.14 rejects factors that it found itself and that are not prime
        return Answer.UNDECIDED


def zero(value: Value) -> Answer:
    """Decide whether a value is identically zero."""
    if is_rational(value) or value.is_Rational:
        return Answer.NO if value != 0 else Answer.YES
    if _apart_from_zero(value, _BITS[0])[1]:
        return Answer.NO
    return _answer_with_more_effort(value)


@lru_cache(maxsize=4096)
def _answer_with_more_effort(value: sp.Expr) -> Answer:
    """Answer of the separation bound, of higher precisions, or of algebra."""
    if algebraic.bounds(value):
        is_zero_value = algebraic.is_zero(value)
    else:
        defined = False
        for bits in _BITS:
            defined_here, nonzero = _apart_from_zero(value, bits)
            defined |= defined_here
            if nonzero:
                return Answer.NO
        is_zero_value = identities.is_zero(value) if defined else None
        if is_zero_value is None and defined:
            is_zero_value = identities.is_zero(_with_factors(value))
    return Answer.UNDECIDED if is_zero_value is None else Answer.YES if is_zero_value else Answer.NO


def _with_factors(value: sp.Expr) -> sp.Expr:
    """Value with roots, logarithms and absolute values of factors, as abs(a + 1) for sqrt(a**2 + 2 a + 1)."""

    def is_split(part: sp.Expr) -> bool:
        return isinstance(part, sp.log) or (part.is_Pow and not part.exp.is_Integer)

    def absolute(of: sp.Expr) -> sp.Expr:
        return sp.S.Zero if identities.is_zero(of) else sp.Mul(*map(sp.Abs, sp.Mul.make_args(sp.factor(of))))

    even = value.replace(sp.cos, lambda angle: sp.cos(angle.args[0] if isinstance(angle, sp.Abs) else angle))
    split = even.replace(sp.Abs, absolute)
    return split.replace(is_split, lambda part: sp.expand_log(part.func(sp.factor(part.args[0]), *part.args[1:])))


def _apart_from_zero(value: Value, bits: int) -> tuple[bool, bool]:
    """Pair of booleans: the value has an enclosure at some point; one of these enclosures excludes zero."""
    balls = (enclose(value, point, bits=bits) for point in (POINTS if value.free_symbols else POINTS[:1]))
    defined = False
    for ball in balls:
        if ball is not None and not ball.contains(0):
            return True, True
        defined |= ball is not None
    return defined, False


def sign(value: Value) -> int | None:
    """Sign of the value, -1, 0 or 1; None if it depends on a parameter or is undecided."""
    if is_rational(value) or value.is_Rational:
        return bool(value > 0) - bool(value < 0)
    if not value.free_symbols:
        for bits in _BITS:
            ball = enclose(value, bits=bits)
            if ball is not None and not ball.contains(0):
                return 1 if ball > 0 else -1
    elif value.is_positive or value.is_negative:
        return 1 if value.is_positive else -1
    return 0 if zero(value) is Answer.YES else None


def floor(value: Value) -> int | None:
    """Floor of the value; None if it depends on a parameter or is undecided."""
    if is_rational(value):
        return int(value // 1)
    if value.free_symbols:
        return None
    for bits in _BITS:
        ball = enclose(value, bits=bits)
        lower = None if ball is None else unique_floor(ball, bits=bits)
        if lower is not None:
            return lower
    # The value may be an integer itself, so that every ball meets two floors; the last ball has it in its middle.
    nearest = None if ball is None else unique_floor(ball.mid() + 0.5, bits=bits)
    return nearest if nearest is not None and equal(value, nearest) is Answer.YES else None


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Values grouped into classes of equal values.

    Attributes:
        labels: class of each value in order; 0 is the class of zero, 1, 2, ... the others by first occurrence.
        representatives: one value of each class, by label; that of class 0 is 0 even when no value is zero.
        undecided: pairs of classes that are neither proved equal nor proved different.
    """

    labels: tuple[int, ...]
    representatives: tuple[Value, ...]
    undecided: tuple[tuple[int, int], ...]


def group(values: Iterable[Value]) -> Groups:
    """Group equal values. Tuples, for matrices, are equal if all their entries are equal."""
    listed = list(values)
    if any(isinstance(value, tuple) for value in listed):
        return _group_tuples(listed)
    distinct = list(dict.fromkeys([0, *listed]))
    parent = list(range(len(distinct)))
    unclear: list[tuple[int, int]] = []
    if not all(map(is_rational, distinct)):
        unclear = _merge_equal(distinct, parent)
    return _number(listed, distinct, parent, unclear)


def _merge_equal(distinct: Sequence[Value], parent: list[int]) -> list[tuple[int, int]]:
    """Merge values that are proved equal; return the pairs that stay undecided."""
    balls = {index: _ball(value, _BITS[0]) for index, value in enumerate(distinct)}
    close = {index for pair in _meeting(balls) for index in pair}
    sharper = {index: _ball(distinct[index], _BITS[1]) for index in close}
    unclear: list[tuple[int, int]] = []
    compared = 0
    for index_a, index_b in sorted(_meeting(sharper)):
        if _root(parent, index_a) == _root(parent, index_b):
            continue
        compared += 1
        within_limits = compared <= MOST_ASKED and len(unclear) < MOST_UNDECIDED
        answer = equal(distinct[index_a], distinct[index_b]) if within_limits else Answer.UNDECIDED
        if answer is Answer.YES:
            _merge(parent, index_a, index_b)
        elif answer is Answer.UNDECIDED:
            unclear.append((index_a, index_b))
    return unclear


def _group_tuples(listed: Sequence[tuple[Value, ...]]) -> Groups:
    """Groups of tuples: entries are grouped first, then tuples of entry classes."""
    width = len(listed[0])
    entries = group(entry for value in listed for entry in value)
    maybe_equal = {frozenset(pair) for pair in entries.undecided}
    keys = [entries.labels[start : start + width] for start in range(0, len(entries.labels), width)]
    distinct = list(dict.fromkeys([(0,) * width, *keys]))
    unclear = [
        (place_a, place_b)
        for (place_a, key_a), (place_b, key_b) in (combinations(enumerate(distinct), 2) if maybe_equal else ())
        if all(a == b or frozenset((a, b)) in maybe_equal for a, b in zip(key_a, key_b, strict=True))
    ]
    numbered = _number(keys, distinct, list(range(len(distinct))), unclear)
    representatives = tuple(tuple(entries.representatives[entry] for entry in key) for key in numbered.representatives)
    return Groups(labels=numbered.labels, representatives=representatives, undecided=numbered.undecided)


def _number(
    listed: Sequence[Hashable], distinct: Sequence[Any], parent: list[int], unclear: Iterable[tuple[int, int]]
) -> Groups:
    """Groups with classes numbered by first occurrence; the class of distinct[0], which is zero, comes first."""
    label_of_root: dict[int, int] = {}
    representatives = []
    for index in range(len(distinct)):
        root = _root(parent, index)
        if root not in label_of_root:
            label_of_root[root] = len(label_of_root)
            representatives.append(distinct[index])
    label = {value: label_of_root[_root(parent, index)] for index, value in enumerate(distinct)}
    pairs = {tuple(sorted((label[distinct[place_a]], label[distinct[place_b]]))) for place_a, place_b in unclear}
    return Groups(
        labels=tuple(label[value] for value in listed),
        representatives=tuple(representatives),
        undecided=tuple(sorted((a, b) for a, b in pairs if a != b)),
    )


def _ball(value: Value, bits: int) -> Any | None:
    """Ball of a value at a precision; None for an infinite float, or if none is found."""
    return None if isinstance(value, float) else enclose(to_sympy(value), bits=bits)


def _meeting(balls: dict[int, Any]) -> set[tuple[int, int]]:
    """Pairs of indices whose balls meet; an index without a ball meets all others."""
    without_ball = [index for index, ball in balls.items() if ball is None]
    sorted_balls = sorted((ball.lower(), index, ball) for index, ball in balls.items() if ball is not None)
    pairs = {
        (min(index, other_index), max(index, other_index))
        for index in without_ball
        for other_index in balls
        if index != other_index
    }
    for place, (_, index, ball) in enumerate(sorted_balls):
        for _, other_index, its_ball in sorted_balls[place + 1 :]:
            if not ball.overlaps(its_ball):
                break
            pairs.add((min(index, other_index), max(index, other_index)))
    return pairs


def _root(parent: list[int], index: int) -> int:
    """Representative of an index in the union-find structure."""
    while parent[index] != index:
        index = parent[index]
    return index


def _merge(parent: list[int], index: int, other_index: int) -> None:
    """Merge the classes of two indices."""
    root, other_root = sorted((_root(parent, index), _root(parent, other_index)))
    parent[other_root] = root
