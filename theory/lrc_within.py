"""LRC within eps: how many parameters does position-only linear attention need if each entry may be wrong by eps?

Under a relation phi, entry A_ij is within eps of its parameter iff |A_ij - theta_phi(i,j)| <= eps. One parameter serves
a set of entries iff they lie in an interval of length 2 eps. So the fewest non-zero parameters over all relations are
the fewest such intervals that cover the entries farther than eps from zero [F]. The greedy cover is the smallest: the
interval that begins at the least uncovered entry covers whatever another interval with this entry covers beyond it. No
interval holds entries of both signs that are farther than eps from zero. At eps = 0 the number is LRC
(lengthgen.theory.lrc).
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from math import inf, isinf, nextafter
from sys import float_info
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthgen.theory.lrc import UndecidedLrc, entries_by_first_scale, profile
from lengthgen.theory.pattern import Pattern, PatternError, Value, with_scale
from lengthgen.theory.relation import Relation, from_labels
from lengthgen.theory.zero.enclosure import enclose

_BITS = (192, 1536)
"""Precisions, in bits, at which irrational entries are enclosed, one after the other."""


class Enclosure(NamedTuple):
    """Interval that holds one entry; its ends are equal if the entry is rational."""

    low: Fraction
    high: Fraction


def lrc_within(pattern: Pattern | ArrayLike, epsilon: Fraction, scale: int | None = None) -> int:
    """LRC within epsilon at one scale [F].

    Args:
        pattern: a pattern of numbers, or a matrix [n, n] as `lengthgen.theory.pattern.as_matrix` reads it.
        epsilon: largest error of an entry, at least 0.
        scale: the scale; the whole matrix if left out.

    Raises:
        PatternError: the input is not a pattern, its entries are matrices or have free parameters, or it is not given
            at that scale.
        UndecidedLrc: it is not proved whether some entries are within 2 epsilon of each other, or epsilon of zero.
        ValueError: epsilon is negative.
    """
    pattern, scale = with_scale(pattern, scale)
    [(low, high)] = bounds_within(pattern, epsilon, [scale]).values()
    if low != high:
        raise UndecidedLrc(
            f"LRC within {epsilon} at scale {scale} is {low} to {high}: some entries may be as far apart as allowed"
        )
    return high


def bounds_within(pattern: Pattern, epsilon: Fraction, scales: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Scale -> lower and upper bound of LRC within epsilon, in the order given; equal unless it is undecided.

    >>> from lengthgen import pattern_from_formula
    >>> bounds_within(pattern_from_formula("0.5**(j-i)"), Fraction(1, 100), (4, 8))
    {4: (4, 4), 8: (6, 6)}

    Raises as `lrc_within` does, but no `UndecidedLrc`.
    """
    listed = list(scales)
    if not listed:
        return {}
    require_numbers(pattern, epsilon)
    for scale in listed:
        pattern.require(scale)
    if not epsilon:
        exact = profile(pattern, max(listed))
        return {scale: exact.bounds(scale) for scale in listed}
    if (array := array_of_floats(pattern)) is not None:
        numbers = _numbers_within(array, epsilon, sorted(set(listed)))
        return {scale: (numbers[scale], numbers[scale]) for scale in listed}
    first_scales = entries_by_first_scale(pattern, max(listed))
    bounds: dict[int, tuple[int, int]] = {}
    for bits in _BITS:
        joining: dict[int, list[Enclosure | float]] = {}
        for value, first in first_scales.items():
            joining.setdefault(first, []).append(enclosed(value, bits))
        by_scale = _bounds_by_scale(joining, sorted(set(listed)), epsilon)
        bounds = {scale: by_scale[scale] for scale in listed}
        if all(low == high for low, high in bounds.values()):
            break
    return bounds


def array_of_floats(pattern: Pattern) -> NDArray[Any] | None:
    """Return the array of a pattern if all its entries are float64 numbers, which can be sorted; else None."""
    array = pattern.array
    if array is None or array.ndim > 2 or array.dtype.itemsize > 8:
        return None
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        return array if max(-int(array.min()), int(array.max())) <= 1 << 53 else None
    return array


def _numbers_within(matrix: NDArray[Any], epsilon: Fraction, scales: Sequence[int]) -> dict[int, int]:
    """Return LRC within epsilon of a matrix of numbers that are floats, rows keys, at ascending scales.

    The distinct entries stay in sorted arrays, one of each sign. Entries within the intervals of the scale before leave
    their number as it is.
    """
    sides = [_Side(epsilon), _Side(epsilon)]
    numbers: dict[int, int] = {}
    last = 0
    for scale in scales:
        columns = [matrix[: column + 1, column].astype(np.float64) for column in range(last, scale)]
        fresh = np.unique(np.concatenate(columns))
        sides[0].add(fresh[fresh > 0])
        sides[1].add(-fresh[fresh < 0][::-1])
        numbers[scale], last = sum(len(side.lows) for side in sides), scale
    return numbers


class _Side:
    """Distinct entries of one sign, with the fewest intervals that cover those farther than epsilon from zero.

    Every comparison with an end is exact: an entry is at most a bound iff it is at most the greatest float that is.
    """

    def __init__(self, epsilon: Fraction) -> None:
        self._epsilon = epsilon
        self._entries = np.empty(0)
        self.lows = self._highs = np.empty(0)

    def add(self, fresh: NDArray[np.float64]) -> None:
        """Add positive entries, ascending, and cover them."""
        self._entries = np.union1d(self._entries, fresh)
        if self._covers(fresh):
            return
        lows, highs = [], []
        first = int(np.searchsorted(self._entries, _greatest_float(self._epsilon), side="right"))
        while first < len(self._entries):
            low = float(self._entries[first])
            high = low if isinf(low) else _greatest_float(Fraction(low) + 2 * self._epsilon)
            lows.append(low)
            highs.append(high)
            first = int(np.searchsorted(self._entries, high, side="right"))
        self.lows, self._highs = np.array(lows), np.array(highs)

    def _covers(self, entries: NDArray[np.float64]) -> bool:
        """True if all entries lie in the intervals, or within epsilon of zero."""
        far = entries[entries > _greatest_float(self._epsilon)]
        if not len(far) or not len(self.lows):
            return not len(far)
        place = np.searchsorted(self.lows, far, side="right") - 1
        return bool(((place >= 0) & (far <= self._highs[np.maximum(place, 0)])).all())


def _greatest_float(bound: Fraction) -> float:
    """Return the greatest finite float that is at most a positive bound."""
    if bound >= Fraction(float_info.max):
        return float_info.max
    nearest = float(bound)
    return nearest if Fraction(nearest) <= bound else nextafter(nearest, 0)


def _bounds_by_scale(
    joining: Mapping[int, Sequence[Enclosure | float]], scales: Sequence[int], epsilon: Fraction
) -> dict[int, tuple[int, int]]:
    """Return the bounds at ascending scales, given the entries that join at each.

    Entries that join within the intervals of a fewest cover leave the bounds as they are.
    """
    bounds: dict[int, tuple[int, int]] = {}
    present: list[Enclosure | float] = []
    cover: list[Enclosure] = []
    low = high = last = 0
    for scale in scales:
        fresh = [entry for first in range(last + 1, scale + 1) for entry in joining.get(first, ())]
        present += fresh
        if low != high or not all(_lies_in(entry, cover) for entry in fresh):
            low, high = fewest_intervals(present, epsilon)
            cover = _fewest_cover(present, epsilon)
        bounds[scale], last = (low, high), scale
    return bounds


def _lies_in(entry: Enclosure | float, cover: Sequence[Enclosure]) -> bool:
    """True if an entry surely lies in one of the ascending intervals."""
    if isinstance(entry, float):
        return False
    place = bisect_right(cover, (entry.low, inf)) - 1
    return place >= 0 and cover[place].low <= entry.low and entry.high <= cover[place].high


def _fewest_cover(enclosures: Iterable[Enclosure | float], epsilon: Fraction) -> list[Enclosure]:
    """Return the intervals of a fewest cover of the finite entries, ascending, with that around zero."""
    finite = [enclosure for enclosure in enclosures if isinstance(enclosure, Enclosure)]
    below = [Enclosure(-start - 2 * epsilon, -start) for start in _starts(map(_mirrored, finite), epsilon)]
    above = [Enclosure(start, start + 2 * epsilon) for start in _starts(finite, epsilon)]
    return [*below[::-1], Enclosure(-epsilon, epsilon), *above]


def levels_within(pattern: Pattern, epsilon: Fraction, scale: int) -> tuple[Relation, dict[int, Fraction | float]]:
    """Relation up to a scale that represents the pattern within epsilon by the fewest labels, and its parameters.

    Entries within epsilon of zero have label 0 and the parameter 0. Labels 1, 2, ... ascend with the entries; the
    parameter of a label is infinite if its entries are.

    Raises as `lrc_within` does, `PatternError` for a pattern that depends on the scale, and `ValueError` if epsilon is
    0: `lengthgen.theory.lrc.level_sets` gives the labels then.
    """
    if not epsilon:
        raise ValueError("epsilon must be above 0: take lengthgen.theory.lrc.level_sets")
    if pattern.scale_hint:
        raise PatternError(f"pattern '{pattern.name:.60}' depends on the scale: labels within eps are for A(i, j)")
    lrc_within(pattern, epsilon, scale)
    queries, keys = np.tril_indices(scale)
    values, codes = pattern.entries(keys + 1, queries + 1, None)
    enclosures = [enclosed(value, _BITS[-1]) for value in values]
    finite = [enclosure for enclosure in enclosures if isinstance(enclosure, Enclosure)]
    falling = [-start for start in _starts(map(_mirrored, finite), epsilon)][::-1]
    middles: list[Fraction | float] = [end - epsilon for end in falling]
    middles += [start + epsilon for start in _starts(finite, epsilon)]
    middles += sorted({enclosure for enclosure in enclosures if isinstance(enclosure, float)})
    label_of = np.array([_label(enclosure, middles, epsilon) for enclosure in enclosures])
    labels = np.zeros((scale, scale), dtype=np.int64)
    labels[keys, queries] = label_of[codes]
    return from_labels(labels, name=f"levels within {epsilon}"), {0: Fraction(0), **dict(enumerate(middles, start=1))}


def require_numbers(pattern: Pattern, epsilon: Fraction) -> None:
    """Raise an error of `lrc_within` if entries are no numbers, or if epsilon is negative."""
    if epsilon < 0:
        raise ValueError(f"epsilon must be at least 0, not {epsilon}")
    if pattern.shape:
        raise PatternError(f"pattern '{pattern.name:.60}' has matrices as entries: LRC within eps is for numbers")


def enclosed(value: Value, bits: int) -> Enclosure | float:
    """Interval that holds a value; an infinite value itself.

    Raises:
        PatternError: the value has free parameters, or no finite interval holds it.
    """
    if isinstance(value, float) and isinf(value):
        return value
    if isinstance(value, int | float | Fraction):
        return Enclosure(Fraction(value), Fraction(value))
    if value.free_symbols:
        raise PatternError(f"entry {value} has free parameters: LRC within eps needs numbers")
    ball = enclose(value, bits=bits)
    if ball is None:
        raise PatternError(f"entry {value} cannot be enclosed: LRC within eps needs numbers that can be computed")
    (middle, exponent), (radius, exponent_of_radius) = ball.mid().man_exp(), ball.rad().man_exp()
    centre, error = int(middle) * Fraction(2) ** int(exponent), int(radius) * Fraction(2) ** int(exponent_of_radius)
    return Enclosure(centre - error, centre + error)


def _mirrored(enclosure: Enclosure) -> Enclosure:
    """Interval of the negative entry."""
    return Enclosure(-enclosure.high, -enclosure.low)


def fewest_intervals(enclosures: Collection[Enclosure | float], epsilon: Fraction) -> tuple[int, int]:
    """Lower and upper bound of the fewest parameters that serve all entries farther than epsilon from zero."""
    finite = [enclosure for enclosure in enclosures if isinstance(enclosure, Enclosure)]
    infinite = len({enclosure for enclosure in enclosures if isinstance(enclosure, float)})
    low = high = infinite
    for side in (finite, [_mirrored(enclosure) for enclosure in finite]):
        low += _farther_apart(side, epsilon)
        high += len(_starts(side, epsilon))
    return low, high


def _starts(enclosures: Iterable[Enclosure], epsilon: Fraction) -> list[Fraction]:
    """Least ends of intervals of length 2 epsilon that surely hold every entry that may be above epsilon."""
    starts: list[Fraction] = []
    for low, high in sorted(enclosure for enclosure in enclosures if enclosure.high > epsilon):
        if not starts or high > starts[-1] + 2 * epsilon:
            starts.append(low)
    return starts


def _farther_apart(enclosures: Iterable[Enclosure], epsilon: Fraction) -> int:
    """Number of entries that are surely above epsilon and more than 2 epsilon apart: each needs its own interval."""
    count, last = 0, Fraction(0)
    for high, low in sorted((high, low) for low, high in enclosures if low > epsilon):
        if not count or low > last + 2 * epsilon:
            count, last = count + 1, high
    return count


def _label(enclosure: Enclosure | float, middles: Sequence[Fraction | float], epsilon: Fraction) -> int:
    """Label whose parameter is within epsilon of the entry, or 0."""
    if isinstance(enclosure, float):
        return 1 + middles.index(enclosure)
    low, high = enclosure
    if max(abs(low), abs(high)) <= epsilon:
        return 0
    return 1 + next(
        place
        for place, middle in enumerate(middles)
        if isinstance(middle, Fraction) and middle - epsilon <= low and high <= middle + epsilon
    )
