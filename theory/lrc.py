"""Linear Representation Complexity: how many parameters does position-only linear attention need for a pattern?

POLA computes f_A(x)_j = sum over i <= j of A_ij x_i. Under a relation phi its entries are A_ij = theta_phi(i,j). So the
fewest non-zero parameters over all relations that represent A is the number of its distinct non-zero entries [F of
arXiv 2510.04130, Def. 3]. A label whose parameter is zero is not used and does not count. For vector tokens entries are
matrices; for a family A(i, j, n) the cells up to scale N are the triples with n <= N.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory import distinct
from lengthgen.theory.formula.progressions import PATHS, all_distinct, follow_path
from lengthgen.theory.formula.structure import Structure, structure
from lengthgen.theory.pattern import Pattern, Value, from_array, with_scale
from lengthgen.theory.relation import Relation, from_labels
from lengthgen.theory.zero.equality import group

Integers = NDArray[np.int64]
Cells = tuple[Integers, Integers, Integers | None]

_BLOCK = 2**18
"""Number of pairs that are evaluated together."""
_LONG = 1_000
"""Scale above which a proof that no value repeats is tried first."""
_RATIONAL = {int, float, Fraction}


class UndecidedLrc(LengthgenError):
    """Raised if LRC depends on an equality of entries that is undecided."""


@dataclass(frozen=True, kw_only=True)
class LrcProfile:
    """LRC at all scales from 1 up to a largest scale.

    Attributes:
        scale: the largest scale.
        first_scales: the scale at which each distinct non-zero value first occurs: int64, one entry per value, in
            increasing order.
        undecided: pairs of values, as indices into first_scales, that may be equal; -1 stands for zero.
    """

    scale: int
    first_scales: Integers
    undecided: tuple[tuple[int, int], ...] = ()

    def bounds(self, scale: int) -> tuple[int, int]:
        """Lower and upper bound of LRC at a scale; equal unless equalities are undecided."""
        if not 1 <= scale <= self.scale:
            raise LengthgenError(f"scale must be in 1..{self.scale}, not {scale}")
        high = int(np.searchsorted(self.first_scales, scale, side="right"))
        parent = {index: index for index in range(-1, high)} if self.undecided else {}
        possible_merges = 0
        for value_a, value_b in self.undecided:
            if max(value_a, value_b) < high:
                root_a, root_b = _root(parent, value_a), _root(parent, value_b)
                possible_merges += root_a != root_b
                parent[root_a] = root_b
        return high - possible_merges, high

    def lrc(self, scale: int) -> int:
        """LRC at a scale. Raises `UndecidedLrc` if its bounds differ."""
        low, high = self.bounds(scale)
        if low != high:
            raise UndecidedLrc(
                f"LRC at scale {scale} is {low} to {high}: some entries are neither proved equal nor unequal"
            )
        return high

    def generalizes(self, train: int, test: int) -> bool | None:
        """True if some relation generalizes the pattern from scale `train` to `test`: iff no value is new (2b) [F].

        Returns None if that depends on entries that are neither proved equal nor proved different.
        """
        train_values, high = self.bounds(train)[1], self.bounds(test)[1]
        if train_values == high:
            return True
        parent = {index: index for index in range(-1, high)}
        for value_a, value_b in self.undecided:
            if max(value_a, value_b) < high:
                parent[_root(parent, value_a)] = _root(parent, value_b)
        train_roots = {_root(parent, index) for index in range(-1, train_values)}
        return False if any(_root(parent, index) not in train_roots for index in range(train_values, high)) else None

    @property
    def constant_from(self) -> int:
        """First scale from which LRC does not grow any more, up to the largest scale."""
        return int(self.first_scales[-1]) if self.first_scales.size else 1


def profile(pattern: Pattern | ArrayLike, scale: int | None = None) -> LrcProfile:
    """LRC at all scales 1..scale, in one pass over the pairs.

    Args:
        pattern: a pattern, or a matrix as `lengthgen.theory.pattern.as_matrix` reads it.
        scale: the largest scale; for a matrix its size if left out.

    Raises:
        PatternError: the input is not a pattern, or the pattern is not given at that scale.
        FormulaError: a formula without a value at some pair.
    """
    pattern, scale = with_scale(pattern, scale)
    pattern.require(scale)
    if pattern.array is not None:
        new_per_query = distinct.new_values_per_query(pattern.array[:scale, :scale])
        return LrcProfile(scale=scale, first_scales=np.repeat(np.arange(1, scale + 1), new_per_query))
    if _never_repeats(pattern, scale):
        return LrcProfile(scale=scale, first_scales=np.arange(1, scale + 1))
    return _profile_of_values(entries_by_first_scale(pattern, scale), scale)


def entries_by_first_scale(pattern: Pattern, scale: int) -> dict[Value, int]:
    """Entry -> the first scale at which it occurs, up to a scale; equal entries may be written in several ways.

    Raises as `profile` does.
    """
    first_scale_of: dict[Value, int] = {}
    for keys, queries, scales in _sufficient_cells(pattern, scale):
        values, codes = pattern.entries(keys, queries, scales)
        first_scales = np.empty(len(values), dtype=np.int64)
        first_scales[codes[::-1]] = (queries if scales is None else scales)[::-1]
        scale_of_value = dict(zip(values, first_scales.tolist(), strict=True))
        if not first_scale_of and len(scale_of_value) == len(values):
            first_scale_of = scale_of_value
            continue
        for value, first_scale in zip(values, first_scales.tolist(), strict=True):
            if first_scale < first_scale_of.get(value, scale + 1):
                first_scale_of[value] = first_scale
    return first_scale_of


def _never_repeats(pattern: Pattern, scale: int) -> bool:
    """True if a formula of one position or of the distance provably takes no value twice and is never zero.

    Such a pattern need not be evaluated; at large scales its numbers would become too large.
    """
    formula = pattern.formula
    if scale <= _LONG or formula is None or formula.shape or formula.parameters:
        return False
    path = PATHS.get(structure(formula))
    values_on_path = follow_path(formula.nodes, path, {}) if path else None
    return values_on_path is not None and all_distinct(values_on_path)


def lrc(pattern: Pattern | ArrayLike, scale: int | None = None) -> int:
    """LRC at one scale: the number of distinct non-zero entries A_ij with i <= j <= scale [F].

    >>> lrc([[1, 2], [0, 1]])
    2

    Args:
        pattern: a pattern, or a matrix [n, n] (or [n, n, d, e]) as `lengthgen.theory.pattern.as_matrix` reads it.
        scale: the scale; the whole matrix if left out.

    Raises:
        PatternError: the input is not a pattern, or the pattern is not given at that scale.
        UndecidedLrc: equality of some entries is undecided.
    """
    result = profile(pattern, scale)
    return result.lrc(result.scale)


def lrc_profile(pattern: Pattern | ArrayLike, scales: Iterable[int]) -> dict[int, int]:
    """LRC at each of the scales, in the order given: {scale: LRC}. Raises as `lrc` does.

    >>> from lengthgen import pattern_from_formula
    >>> lrc_profile(pattern_from_formula("j - i"), (4, 8))
    {4: 3, 8: 7}
    """
    listed = list(scales)
    matrix = pattern if isinstance(pattern, Pattern) else from_array(pattern)
    for scale in listed:
        matrix.require(scale)
    result = profile(pattern, max(listed)) if listed else None
    return {scale: result.lrc(scale) for scale in listed if result}


def level_sets(pattern: Pattern | ArrayLike, scale: int | None = None, *, merge_undecided: bool = False) -> Relation:
    """Relation that puts equal entries under one label and all zeros under 0: the ideal PRF of the pattern.

    It represents the pattern up to the scale with LRC many parameters, and no relation does with fewer. Labels 1, 2,
    ... are numbered by first use, ordered by scale if the pattern depends on it, then by query.

    Args:
        pattern: a pattern, or a matrix.
        scale: the largest scale; the whole matrix if left out.
        merge_undecided: if True, entries that are neither proved equal nor proved different share a label.

    Raises:
        PatternError: the input is not a pattern, or the pattern is not given at that scale.
    """
    pattern, scale = with_scale(pattern, scale)
    pattern.require(scale)
    code_of_value: dict[Value, int] = {}
    parts = []
    for cells in _cells(pattern, scale):
        values, codes = pattern.entries(*cells)
        parts.append(
            (cells, np.array([code_of_value.setdefault(value, len(code_of_value)) for value in values])[codes])
        )
    labels = _labels_of_values(list(code_of_value), np.concatenate([codes for _, codes in parts]), merge_undecided)
    tables: dict[int, Integers] = {}
    for (keys, queries, scales), codes in parts:
        for size in [scale] if scales is None else np.unique(scales).tolist():
            of_size = slice(None) if scales is None else scales == size
            table = tables.setdefault(size, np.zeros((size, size), dtype=np.int64))
            table[keys[of_size] - 1, queries[of_size] - 1] = labels[codes[of_size]]
    return from_labels(tables if pattern.scale_hint else tables[scale], name="level-sets")


def _labels_of_values(values: list[Value], codes: Integers, merge_undecided: bool) -> Integers:
    """Label of each value: 0 for zero, the others numbered by first use."""
    classes, undecided = _classes(values)
    parent = {label: label for label in range(max(classes, default=0) + 1)}
    for class_a, class_b in undecided if merge_undecided else ():
        first, second = sorted((_root(parent, class_a), _root(parent, class_b)))
        parent[second] = first
    of_value = np.array([_root(parent, label) for label in classes])
    occurring, first_use = np.unique(of_value[codes], return_index=True)
    order = [label for label in occurring[np.argsort(first_use)].tolist() if label]
    number = {0: 0} | {label: label_number for label_number, label in enumerate(order, start=1)}
    return np.array([number.get(label, 0) for label in of_value.tolist()])


def _classes(values: list[Value]) -> tuple[list[int], tuple[tuple[int, int], ...]]:
    """Class of each of some different values, 0 for zero, and the pairs of classes that may be equal."""
    if _all_rational(values):
        zero = _zero(values)
        return [0 if value == zero else place for place, value in enumerate(values, start=1)], ()
    groups = group(values)
    return list(groups.labels), groups.undecided


def _all_rational(values: Collection[Value]) -> bool:
    """True if all values are plain numbers, so that different values are never equal."""
    if isinstance(next(iter(values)), tuple):
        return {type(part) for value in values for part in value} <= _RATIONAL
    return set(map(type, values)) <= _RATIONAL


def _zero(values: Collection[Value]) -> Value:
    """Zero of the same shape as the values."""
    example = next(iter(values))
    return (0,) * len(example) if isinstance(example, tuple) else 0


def _profile_of_values(first_scale_of: dict[Value, int], scale: int) -> LrcProfile:
    """Profile from the first scale of each value."""
    if _all_rational(first_scale_of):
        first_scale_of.pop(_zero(first_scale_of), None)
        return LrcProfile(
            scale=scale, first_scales=np.sort(np.fromiter(first_scale_of.values(), np.int64, len(first_scale_of)))
        )
    classes, undecided = _classes(list(first_scale_of))
    first_scale_of_class: dict[int, int] = {}
    for label, scale_of_value in sorted(zip(classes, first_scale_of.values(), strict=True), key=lambda pair: pair[1]):
        first_scale_of_class.setdefault(label, scale_of_value)
    first_scale_of_class.pop(0, None)
    place = {label: index for index, label in enumerate(first_scale_of_class)} | {0: -1}
    return LrcProfile(
        scale=scale,
        first_scales=np.fromiter(first_scale_of_class.values(), dtype=np.int64, count=len(first_scale_of_class)),
        undecided=tuple((place[class_a], place[class_b]) for class_a, class_b in undecided),
    )


def _sufficient_cells(pattern: Pattern, scale: int) -> Iterator[Cells]:
    """Cells that are enough for the profile: every value occurs in them at its first scale."""
    steps = np.arange(1, scale + 1)
    ones = np.ones_like(steps)
    form = structure(pattern.formula) if pattern.formula else Structure.GENERAL
    match form:
        case Structure.CONSTANT:
            yield ones[:1], ones[:1], None
        case Structure.TOEPLITZ | Structure.QUERY:
            yield ones, steps, None
        case Structure.KEY:
            yield steps, steps, None
        case _:
            yield from _cells(pattern, scale)


def _cells(pattern: Pattern, scale: int) -> Iterator[Cells]:
    """Cells up to the scale, in blocks: by scale for a family, else by query."""
    if pattern.scale_hint:
        for size in range(1, scale + 1):
            for keys, queries in _pairs(1, size):
                yield keys, queries, np.full(len(keys), size)
    else:
        for keys, queries in _pairs(1, scale):
            yield keys, queries, None


def _pairs(first: int, last: int) -> Iterator[tuple[Integers, Integers]]:
    """Pairs with queries first..last, by query, in blocks of about _BLOCK pairs."""
    while first <= last:
        end = first
        count = first
        while end < last and count + end + 1 <= _BLOCK:
            end += 1
            count += end
        lengths = np.arange(first, end + 1)
        queries = np.repeat(lengths, lengths)
        keys = np.arange(count) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
        yield keys, queries
        first = end + 1


def _root(parent: dict[int, int], index: int) -> int:
    """Representative of an index in the union-find structure."""
    while parent[index] != index:
        index = parent[index]
    return index
