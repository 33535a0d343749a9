"""Linear Representation Complexity: how many parameters position-only linear attention needs for a pattern.

POLA computes f_A(x)_j = sum over i <= j of A_ij x_i. Under a relation phi its entries are A_ij = theta_phi(i,j), so
the fewest non-zero parameters over all relations that represent A is the number of its distinct non-zero entries
[F of arXiv 2510.04130, Def. 3]. A label whose parameter is zero is not used and does not count. For vector tokens
entries are matrices; for a family A(i, j, n) the cells up to scale N are the triples with n <= N.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory import distinct
from theory.formula.progressions import PATHS, all_distinct, follow_path
from theory.formula.structure import Structure, structure
from theory.pattern import Pattern, Value, as_matrix, from_array
from theory.relation import Relation, from_labels
from theory.system.errors import LengthgenError

Integers = NDArray[np.int64]
Cells = tuple[Integers, Integers, Integers | None]

_BLOCK = 2**18
"""Pairs that are looked at together."""
_LONG = 1_000
"""Scale from which it is worth while to prove something first."""
_RATIONAL = {int, float, Fraction}


class UndecidedLrc(LengthgenError):
    """Whether two entries are equal is undecided, and LRC hangs on it."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """LRC at all scales up to one.

    Attributes:
        scale: the largest.
        first_scales: the scale at which each distinct non-zero value first occurs, int64, by value in that order.
        undecided: pairs of values, as indices into first_scales, that may be equal; -1 stands for zero.
    """

    scale: int
    first_scales: Integers
    undecided: tuple[tuple[int, int], ...] = ()

    def bounds(self, scale: int) -> tuple[int, int]:
        """The least and the largest that LRC can be at a scale; equal unless equalities are undecided."""
        if not 1 <= scale <= self.scale:
            raise LengthgenError(f"scale must be in 1..{self.scale}, not {scale}")
        high = int(np.searchsorted(self.first_scales, scale, side="right"))
        parent = {index: index for index in range(-1, high)} if self.undecided else {}
        merged = 0
        for one, other in self.undecided:
            if max(one, other) < high:
                first, second = _root(parent, one), _root(parent, other)
                merged += first != second
                parent[first] = second
        return high - merged, high

    def lrc(self, scale: int) -> int:
        """LRC at a scale.  Raises `UndecidedLrc` where its bounds differ."""
        low, high = self.bounds(scale)
        if low != high:
            raise UndecidedLrc(
                f"LRC at scale {scale} is {low} to {high}: some entries are neither proved equal nor unequal"
            )
        return high

    def generalizes(self, train: int, test: int) -> bool | None:
        """Whether some relation generalizes the pattern from one scale to another: whether no value is new (2b) [F].

        None where that hangs on entries that are neither proved equal nor different.
        """
        seen, high = self.bounds(train)[1], self.bounds(test)[1]
        if seen == high:
            return True
        parent = {index: index for index in range(-1, high)}
        for one, other in self.undecided:
            if max(one, other) < high:
                parent[_root(parent, one)] = _root(parent, other)
        known = {_root(parent, index) for index in range(-1, seen)}
        return False if any(_root(parent, index) not in known for index in range(seen, high)) else None

    @property
    def constant_from(self) -> int:
        """The first scale from which LRC, up to the largest scale, no longer grows."""
        return int(self.first_scales[-1]) if self.first_scales.size else 1


def profile(pattern: Pattern | ArrayLike, scale: int | None = None) -> Profile:
    """LRC at all scales 1..scale, in one pass over the pairs.

    Args:
        pattern: a pattern, or a matrix as `theory.pattern.as_matrix` reads it.
        scale: the largest; may be left out for a matrix.

    Raises:
        PatternError: no pattern, or a scale at which it is not given.
        FormulaError: a formula without a value at some pair.
    """
    if not isinstance(pattern, Pattern):
        matrix = as_matrix(pattern)
        scale = len(matrix) if scale is None else scale
        if matrix.dtype != object and 1 <= scale <= len(matrix):
            new = distinct.new_values_per_query(matrix[:scale, :scale])
            return Profile(scale=scale, first_scales=np.repeat(np.arange(1, scale + 1), new))
        pattern = from_array(matrix)
    assert scale is not None, "how far a pattern is to be looked at must be said"
    pattern.require(scale)
    if _never_repeats(pattern, scale):
        return Profile(scale=scale, first_scales=np.arange(1, scale + 1))
    first: dict[Value, int] = {}
    for keys, queries, scales in _cells_that_suffice(pattern, scale):
        values, codes = pattern.entries(keys, queries, scales)
        since = np.empty(len(values), dtype=np.int64)
        since[codes[::-1]] = (queries if scales is None else scales)[::-1]
        once = dict(zip(values, since.tolist(), strict=True))
        if not first and len(once) == len(values):
            first = once
            continue
        for value, at in zip(values, since.tolist(), strict=True):
            if at < first.get(value, scale + 1):
                first[value] = at
    return _profile(first, scale)


def _never_repeats(pattern: Pattern, scale: int) -> bool:
    """Whether a formula of one position or of the distance is proved never to take a value twice, nor to be zero.

    Such a pattern need not be looked at, where numbers would become too large for that.
    """
    formula = pattern.formula
    if scale <= _LONG or formula is None or formula.shape or formula.parameters:
        return False
    path = PATHS.get(structure(formula))
    course = follow_path(formula.nodes, path, {}) if path else None
    return course is not None and all_distinct(course)


def lrc(pattern: Pattern | ArrayLike, scale: int | None = None) -> int:
    """LRC at one scale: the number of distinct non-zero entries A_ij with i <= j <= scale [F].

    Args:
        pattern: a pattern, or a matrix [n, n] (or [n, n, d, e]) as `theory.pattern.as_matrix` reads it.
        scale: the whole matrix if left out.

    Raises:
        PatternError: no pattern, or a scale at which it is not given.
        UndecidedLrc: whether some entries are equal is undecided.
    """
    found = profile(pattern, scale)
    return found.lrc(found.scale)


def lrc_profile(pattern: Pattern | ArrayLike, scales: Iterable[int]) -> dict[int, int]:
    """LRC at each of the scales, in the order given: {scale: LRC}. Raises as `lrc` does."""
    wanted = list(scales)
    matrix = pattern if isinstance(pattern, Pattern) else from_array(pattern)
    for scale in wanted:
        matrix.require(scale)
    found = profile(pattern, max(wanted)) if wanted else None
    return {scale: found.lrc(scale) for scale in wanted if found}


def level_sets(pattern: Pattern | ArrayLike, scale: int | None = None, *, merge_undecided: bool = False) -> Relation:
    """The relation that puts equal entries under one label and all zeros under 0: the ideal PRF of the pattern.

    It represents the pattern up to the scale with LRC many parameters, and no relation does with fewer. Labels 1, 2,
    ... are numbered by first use, scale by scale where it depends on that, then query by query.

    Args:
        pattern: a pattern, or a matrix.
        scale: up to which; the whole matrix if left out.
        merge_undecided: entries that are neither proved equal nor different get one label instead of two.

    Raises:
        PatternError: no pattern, or a scale at which it is not given.
    """
    if not isinstance(pattern, Pattern):
        pattern = from_array(pattern)
        scale = pattern.limit if scale is None else scale
    assert scale is not None, "how far a pattern is to be looked at must be said"
    pattern.require(scale)
    known: dict[Value, int] = {}
    parts = []
    for cells in _cells(pattern, scale):
        values, codes = pattern.entries(*cells)
        parts.append((cells, np.array([known.setdefault(value, len(known)) for value in values])[codes]))
    labels = _numbering(list(known), np.concatenate([codes for _, codes in parts]), merge_undecided)
    tables: dict[int, Integers] = {}
    for (keys, queries, scales), codes in parts:
        for size in [scale] if scales is None else np.unique(scales).tolist():
            here = slice(None) if scales is None else scales == size
            table = tables.setdefault(size, np.zeros((size, size), dtype=np.int64))
            table[keys[here] - 1, queries[here] - 1] = labels[codes[here]]
    return from_labels(tables if pattern.scale_hint else tables[scale], name="level-sets")


def _numbering(values: list[Value], codes: Integers, merge_undecided: bool) -> Integers:
    """The label of each value: 0 for zero, the others numbered by first use."""
    classes, undecided = _classes(values)
    parent = {label: label for label in range(max(classes, default=0) + 1)}
    for one, other in undecided if merge_undecided else ():
        first, second = sorted((_root(parent, one), _root(parent, other)))
        parent[second] = first
    of_value = np.array([_root(parent, label) for label in classes])
    used, first_use = np.unique(of_value[codes], return_index=True)
    order = [label for label in used[np.argsort(first_use)].tolist() if label]
    number = {0: 0} | {label: place for place, label in enumerate(order, start=1)}
    return np.array([number.get(label, 0) for label in of_value.tolist()])


def _classes(values: list[Value]) -> tuple[list[int], tuple[tuple[int, int], ...]]:
    """The class of each of some different values, 0 for zero, and the pairs of classes that may be equal."""
    if _rational(values):
        zero = _zero(values)
        return [0 if value == zero else place for place, value in enumerate(values, start=1)], ()
    from theory.equality import group

    groups = group(values)
    return list(groups.labels), groups.undecided


def _rational(values: Collection[Value]) -> bool:
    """Whether different values are not equal, as is so of plain numbers."""
    if isinstance(next(iter(values)), tuple):
        return {type(part) for value in values for part in value} <= _RATIONAL
    return set(map(type, values)) <= _RATIONAL


def _zero(values: Collection[Value]) -> Value:
    some = next(iter(values))
    return (0,) * len(some) if isinstance(some, tuple) else 0


def _profile(first: dict[Value, int], scale: int) -> Profile:
    if _rational(first):
        first.pop(_zero(first), None)
        return Profile(scale=scale, first_scales=np.sort(np.fromiter(first.values(), np.int64, len(first))))
    classes, undecided = _classes(list(first))
    since: dict[int, int] = {}
    for label, at in sorted(zip(classes, first.values(), strict=True), key=lambda pair: pair[1]):
        since.setdefault(label, at)
    since.pop(0, None)
    place = {label: index for index, label in enumerate(since)} | {0: -1}
    return Profile(
        scale=scale,
        first_scales=np.fromiter(since.values(), dtype=np.int64, count=len(since)),
        undecided=tuple((place[one], place[other]) for one, other in undecided),
    )


def _cells_that_suffice(pattern: Pattern, scale: int) -> Iterator[Cells]:
    """Cells among which every value that occurs does so at the same first scale as among all."""
    steps = np.arange(1, scale + 1)
    ones = np.ones_like(steps)
    known = structure(pattern.formula) if pattern.formula else Structure.GENERAL
    match known:
        case Structure.CONSTANT:
            yield ones[:1], ones[:1], None
        case Structure.TOEPLITZ | Structure.QUERY:
            yield ones, steps, None
        case Structure.KEY:
            yield steps, steps, None
        case _:
            yield from _cells(pattern, scale)


def _cells(pattern: Pattern, scale: int) -> Iterator[Cells]:
    """All cells up to the scale in blocks: scale by scale for a family, else query by query."""
    if pattern.scale_hint:
        for size in range(1, scale + 1):
            for keys, queries in _pairs(1, size):
                yield keys, queries, np.full(len(keys), size)
    else:
        for keys, queries in _pairs(1, scale):
            yield keys, queries, None


def _pairs(first: int, last: int) -> Iterator[tuple[Integers, Integers]]:
    """The pairs with queries first..last, query by query, in blocks of about _BLOCK pairs."""
    while first <= last:
        to = first
        count = first
        while to < last and count + to + 1 <= _BLOCK:
            to += 1
            count += to
        lengths = np.arange(first, to + 1)
        queries = np.repeat(lengths, lengths)
        keys = np.arange(count) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
        yield keys, queries
        first = to + 1


def _root(parent: dict[int, int], index: int) -> int:
    while parent[index] != index:
        index = parent[index]
    return index
