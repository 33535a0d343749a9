"""What a learner makes of a pattern under a relation, exactly: learned from scales 1..train, looked at up to test.

The learner is gradient descent from zero, or min-norm least squares, on noise-free data that spans, all cells of the
training scales weighing alike: each label met in training ends at the mean of its class, every other stays at zero
(docs/theory.md, "What a learner learns") [F].  Cells may be triples, so families A(i, j, n) and relations with scale
hint are learned as well.  Means are exact, so an entry is wrong iff it differs, however little;
`theory.pola.learned_matrix` is the same for pairs in floats, and `theory.learners` has other learners.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from theory.generalization import TrainTestScalesError
from theory.lattice import Cell, Cells, cells_for
from theory.lrc import level_sets
from theory.pattern import Pattern, PatternError, Value
from theory.relation import Labels, Relation


@dataclass(frozen=True, kw_only=True, eq=False)
class Levels:
    """A pattern up to a scale, cell by cell; `levels_of` makes it.

    Attributes:
        relation: the pattern's level sets.
        cells: by scale, then query, then key.
        levels: the level set of each cell, int64 [cells]; 0 where the pattern is zero.
        entries: the pattern's entry on each level set, by label.
    """

    relation: Relation
    cells: Cells
    levels: Labels
    entries: Sequence[Value]


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What is learned under one relation.

    Attributes:
        labels: of each cell, int64 [cells].
        class_of: the number of its class, int64 [cells].
        parameters: what is learned for each class.
        wrong: where that is not the pattern's entry; bool [cells]. Undecided equality counts as wrong.
        first_wrong: the first such cell; None where all is right.
        largest_error: the largest |learned - entry|, for matrices over their entries; None with free
            parameters, or beyond floats.
    """

    labels: Labels
    class_of: Labels
    parameters: Sequence[Value]
    wrong: NDArray[np.bool_]
    first_wrong: Cell | None
    largest_error: float | None


def levels_of(pattern: Pattern, test: int) -> Levels:
    """The level sets of a pattern up to a scale, with their entries.

    Raises:
        PatternError: the pattern is not given up to the scale, or has an infinite entry there.
        FormulaError: a formula without a value at some cell.
    """
    relation = level_sets(pattern, test)
    cells = cells_for(relation, scale=test)
    levels = cells.labels(relation)
    values, codes = pattern.entries(cells.keys, cells.queries, cells.scales)
    used, first = np.unique(levels, return_index=True)
    zero = (0,) * int(np.prod(pattern.shape)) if pattern.shape else 0
    entries = [zero, *(values[code] for code in codes[first[used > 0]].tolist())]
    for part in chain.from_iterable(map(_parts, entries)):
        if isinstance(part, float):  # finite floats are the fractions that they are by now
            raise PatternError(f"pattern '{pattern.name:.60}' has the entry {part}, of which nothing can be learned")
    return Levels(relation=relation, cells=cells, levels=levels, entries=entries)


def learn(pattern: Levels, relation: Relation, *, train: int) -> Outcome:
    """What is learned under the relation from the cells of scales 1..train.

    Raises:
        TrainTestScalesError: train is not positive.
    """
    if train < 1:
        raise TrainTestScalesError(f"the training scale must be at least 1, not {train}")
    labels = pattern.cells.labels(relation)
    classes, class_of = np.unique(labels, return_inverse=True)
    depth = len(pattern.entries)
    pairs = class_of * depth + pattern.levels
    met, counts = np.unique(pairs[: pattern.cells.count_within(train)], return_counts=True)
    starts = np.searchsorted(met, np.arange(len(classes) + 1) * depth)
    mixed = np.diff(starts) > 1
    # A class that training never meets stays at zero; one that it meets with a single entry ends there.
    level = np.zeros(len(classes), dtype=np.int64)
    alone = np.diff(starts) == 1
    level[alone] = met[starts[:-1][alone]] % depth
    parameters = [pattern.entries[one] for one in level.tolist()]
    occurring, pair_of = np.unique(pairs, return_inverse=True)
    right = occurring % depth == level[occurring // depth]
    bounds = np.searchsorted(occurring, np.arange(len(classes) + 1) * depth)
    for number in np.flatnonzero(mixed).tolist():
        seen = slice(starts[number], starts[number + 1])
        parameters[number] = _mean(
            [pattern.entries[one] for one in (met[seen] % depth).tolist()], counts[seen].tolist()
        )
        all_ = slice(bounds[number], bounds[number + 1])
        right[all_] = _same(parameters[number], [pattern.entries[one] for one in (occurring[all_] % depth).tolist()])
    wrong = ~right[pair_of]
    gaps = [_gap(parameters[pair // depth], pattern.entries[pair % depth]) for pair in occurring[~right].tolist()]
    return Outcome(
        labels=labels,
        class_of=class_of,
        parameters=parameters,
        wrong=wrong,
        first_wrong=pattern.cells[int(np.argmax(wrong))] if wrong.any() else None,
        largest_error=None if None in gaps else max((gap for gap in gaps if gap is not None), default=0.0),
    )


def _parts(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


def _mean(values: Sequence[Value], counts: Sequence[int]) -> Value:
    """The mean of values, each taken so many times."""
    if isinstance(values[0], tuple):
        return tuple(_mean(parts, counts) for parts in zip(*values, strict=True))
    if all(isinstance(value, int | Fraction) for value in values):
        mean = Fraction(sum(value * count for value, count in zip(values, counts, strict=True)), sum(counts))
        return int(mean) if mean.denominator == 1 else mean
    import sympy as sp

    from theory.equality import to_sympy

    return sp.Add(*(to_sympy(value) * count for value, count in zip(values, counts, strict=True))) / sum(counts)


def _same(mean: Value, entries: Sequence[Value]) -> list[bool]:
    """Which of the entries are proved to equal the mean."""
    if all(isinstance(part, int | Fraction) for value in (mean, *entries) for part in _parts(value)):
        return [entry == mean for entry in entries]
    from theory.equality import group

    label, *others = group([mean, *entries]).labels
    return [one == label for one in others]


def _gap(one: Value, other: Value) -> float | None:
    gaps = [learned - entry for learned, entry in zip(_parts(one), _parts(other), strict=True)]
    if any(getattr(gap, "free_symbols", None) for gap in gaps):
        return None
    try:
        return max(abs(float(gap)) for gap in gaps)
    except OverflowError:
        return None
