"""Exact result of learning a pattern under a relation: training on scales 1..train, comparison up to a test scale.

The learner is gradient descent from zero, or min-norm least squares, on noise-free data that spans. All cells of the
training scales have equal weight. Each label met in training ends at the mean of its class, every other label stays at
zero (docs/theory/definitions.md, "What a learner learns") [F]. Cells may be triples, so families A(i, j, n) and
relations with scale hint are learned as well. Means are exact, so an entry is wrong iff it differs at all.
`lengthgen.theory.pola.learned_matrix` computes the same for pairs in floats, and `lengthgen.theory.learners` has other
learners.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.brief import Brief
from lengthgen.theory.generalization import TrainTestScalesError
from lengthgen.theory.lattice import Cell, Cells, cells_for
from lengthgen.theory.lrc import level_sets
from lengthgen.theory.pattern import Pattern, PatternError, Value
from lengthgen.theory.relation import Labels, Relation


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Levels(Brief):
    """Level sets of a pattern up to a scale, cell by cell; made by `levels_of`.

    Attributes:
        relation: the pattern's level sets.
        cells: ordered by scale, then query, then key.
        levels: the level set of each cell, int64 [cells]; 0 where the pattern is zero.
        entries: the pattern's entry on each level set, by label.
    """

    relation: Relation
    cells: Cells
    levels: Labels
    entries: Sequence[Value]

    def _brief(self) -> str:
        return f"{len(self.entries)} level sets, {len(self.levels):,} cells"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearnedPattern(Brief):
    """Pattern that is learned under one relation, compared with the target.

    Attributes:
        labels: label of each cell, int64 [cells].
        class_of: index of each cell's class, int64 [cells].
        parameters: the learned value of each class.
        wrong: True where the learned value is not the pattern's entry; bool [cells]. Undecided equality counts as
            wrong.
        first_wrong: the first wrong cell; None if there is none.
        largest_error: the largest |learned - entry|, for matrices over their entries; None if free parameters occur, or
            if it is too large for a float.
    """

    labels: Labels
    class_of: Labels
    parameters: Sequence[Value]
    wrong: NDArray[np.bool_]
    first_wrong: Cell | None
    largest_error: float | None

    def _brief(self) -> str:
        if self.first_wrong is None:
            return f"right at all {len(self.wrong):,} cells"
        return f"wrong at {int(self.wrong.sum()):,} of {len(self.wrong):,} cells, first at {tuple(self.first_wrong)}"


def levels_of(pattern: Pattern, test: int) -> Levels:
    """Level sets of a pattern up to a scale, with their entries.

    Raises:
        PatternError: the pattern is not given up to the scale, or has an infinite entry there.
        FormulaError: a formula without a value at some cell.
    """
    relation = level_sets(pattern, test)
    cells = cells_for(relation, scale=test)
    levels = cells.labels(relation)
    values, codes = pattern.entries(cells.keys, cells.queries, cells.scales)
    labels, first_cell = np.unique(levels, return_index=True)
    zero = (0,) * int(np.prod(pattern.shape)) if pattern.shape else 0
    entries = [zero, *(values[code] for code in codes[first_cell[labels > 0]].tolist())]
    for part in chain.from_iterable(map(_parts, entries)):
        if isinstance(part, float):  # finite floats were converted to Fractions before, so this one is infinite
            raise PatternError(f"pattern '{pattern.name:.60}' has the entry {part}: only finite entries can be learned")
    return Levels(relation=relation, cells=cells, levels=levels, entries=entries)


def learn(pattern: Levels, relation: Relation, *, train: int) -> LearnedPattern:
    """Learn the pattern under the relation from the cells of scales 1..train.

    Raises:
        TrainTestScalesError: train is not positive.
    """
    if train < 1:
        raise TrainTestScalesError(f"the training scale must be at least 1, not {train}")
    labels = pattern.cells.labels(relation)
    classes, class_of = np.unique(labels, return_inverse=True)
    stride = len(pattern.entries)
    pairs = class_of * stride + pattern.levels
    training_pairs, counts = np.unique(pairs[: pattern.cells.count_within(train)], return_counts=True)
    starts = np.searchsorted(training_pairs, np.arange(len(classes) + 1) * stride)
    has_several_entries = np.diff(starts) > 1
    # A class that training never meets stays at zero; a class with a single training entry ends at that entry.
    level = np.zeros(len(classes), dtype=np.int64)
    has_one_entry = np.diff(starts) == 1
    level[has_one_entry] = training_pairs[starts[:-1][has_one_entry]] % stride
    parameters = [pattern.entries[label] for label in level.tolist()]
    occurring, pair_of = np.unique(pairs, return_inverse=True)
    right = occurring % stride == level[occurring // stride]
    bounds = np.searchsorted(occurring, np.arange(len(classes) + 1) * stride)
    for class_index in np.flatnonzero(has_several_entries).tolist():
        training = slice(starts[class_index], starts[class_index + 1])
        parameters[class_index] = _mean(
            [pattern.entries[label] for label in (training_pairs[training] % stride).tolist()],
            counts[training].tolist(),
        )
        tested = slice(bounds[class_index], bounds[class_index + 1])
        right[tested] = _same(
            parameters[class_index], [pattern.entries[label] for label in (occurring[tested] % stride).tolist()]
        )
    wrong = ~right[pair_of]
    gaps = [_gap(parameters[pair // stride], pattern.entries[pair % stride]) for pair in occurring[~right].tolist()]
    return LearnedPattern(
        labels=labels,
        class_of=class_of,
        parameters=parameters,
        wrong=wrong,
        first_wrong=pattern.cells[int(np.argmax(wrong))] if wrong.any() else None,
        largest_error=None if None in gaps else max((gap for gap in gaps if gap is not None), default=0.0),
    )


def _parts(value: Value) -> tuple[Value, ...]:
    """Entries of a matrix, or the one number."""
    return value if isinstance(value, tuple) else (value,)


def _mean(values: Sequence[Value], counts: Sequence[int]) -> Value:
    """Mean of values with multiplicities."""
    if isinstance(values[0], tuple):
        return tuple(_mean(parts, counts) for parts in zip(*values, strict=True))
    if all(isinstance(value, int | Fraction) for value in values):
        mean = Fraction(sum(value * count for value, count in zip(values, counts, strict=True)), sum(counts))
        return int(mean) if mean.denominator == 1 else mean
    import sympy as sp

    from lengthgen.theory.equality import to_sympy

    return sp.Add(*(to_sympy(value) * count for value, count in zip(values, counts, strict=True))) / sum(counts)


def _same(mean: Value, entries: Sequence[Value]) -> list[bool]:
    """Flags of the entries that are proved to equal the mean."""
    if all(isinstance(part, int | Fraction) for value in (mean, *entries) for part in _parts(value)):
        return [entry == mean for entry in entries]
    from lengthgen.theory.equality import group

    label, *others = group([mean, *entries]).labels
    return [entry_label == label for entry_label in others]


def _gap(learned_value: Value, entry_value: Value) -> float | None:
    """Largest absolute difference of two values; None with free parameters, or if it is too large for a float."""
    gaps = [learned - entry for learned, entry in zip(_parts(learned_value), _parts(entry_value), strict=True)]
    if any(getattr(gap, "free_symbols", None) for gap in gaps):
        return None
    try:
        return max(abs(float(gap)) for gap in gaps)
    except OverflowError:
        return None
