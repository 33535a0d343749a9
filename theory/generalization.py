"""Which relations let position-only linear attention generalize a pattern? Which cells prevent it for the others?

A pattern enters through its level-set relation `values` (`lengthgen.theory.lrc.level_sets` makes one): label 0 where it
is zero, and 1, 2, ... for its distinct non-zero values, with the scale hint if the pattern depends on the scale.
Training meets the cells of scales 1..train, the test those of 1..test (`lengthgen.theory.lattice.Cells`).

The learner has one free parameter per label and starts from zero (gradient descent, min-norm least squares). It learns
the pattern up to `test` iff the pattern is constant on every class of the relation and zero on every class that
training never meets (2a). Consistency and coverage together are sufficient (2c). Some relation passes iff the level
sets do, which is iff LRC does not grow (2b). [F], our formalisation of Theorem 2 of arXiv 2510.04130.

An encoding whose scores follow a law rather than a free table (RoPE, ALiBi, FIRE, sinusoids) ties the parameters of its
labels. For such an encoding, broken consistency still means that it cannot represent the pattern. Its values at unseen
labels depend on its law and are not decided here.

`judge` decides this from the labels alone. `learn` computes what is learned, with exact means: all cells of the
training scales have equal weight, each label met in training ends at the mean of its class, and every other label stays
at zero (docs/theory/definitions.md, "What a learner learns") [F]. Cells may be triples, so families A(i, j, n) and
relations with scale hint are learned as well. `lengthgen.theory.learning.pola.learned_matrix` computes the same for
pairs in floats, and `lengthgen.theory.learning.learners` has other learners.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.infrastructure.brief import Brief, Listed
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.lattice import Cell, Cells, cells_for
from lengthgen.theory.lrc import level_sets
from lengthgen.theory.pattern import Pattern, PatternError, Value
from lengthgen.theory.relation import (
    Labels,
    Relation,
    absolute,
    clipped_relative,
    constant,
    relative,
    t5_buckets,
)
from lengthgen.theory.zero.equality import group, to_sympy


class TrainTestScalesError(LengthgenError):
    """Raised for training and test scales that are not 1 <= train <= test."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Judgement(Brief):
    """Judgement: does a relation let a pattern generalize from scales 1..train to 1..test? With counterexamples [F].

    Attributes:
        train: the largest training scale.
        test: the largest test scale.
        fits: True if the pattern is constant on every class up to train; if False, not even the training scales are
            learned.
        labels: the number of labels that occur up to test.
        inconsistent_labels: the number of labels on which the pattern is not constant.
        unseen_labels: the number of labels that occur beyond train only.
        unseen_nonzero_labels: the number of unseen labels on which the pattern is not zero everywhere.
        conflict: two cells with one label and different values, or None. If possible, the first is a training cell and
            the second the first cell beyond training that conflicts with a training cell.
        unseen: the first cell with a non-zero value and a label never met in training, or None.
    """

    train: int
    test: int
    fits: bool
    labels: int
    inconsistent_labels: int
    unseen_labels: int
    unseen_nonzero_labels: int
    conflict: tuple[Cell, Cell] | None
    unseen: Cell | None

    @property
    def consistent(self) -> bool:
        """True if the relation represents the pattern: the pattern is constant on every class up to test."""
        return self.conflict is None

    @property
    def covered(self) -> bool:
        """True if training meets every label that occurs up to test."""
        return self.unseen_labels == 0

    @property
    def generalizes(self) -> bool:
        """True if a learner from zero, trained on the scales 1..train, has the pattern right up to test (2a)."""
        return self.consistent and self.unseen is None

    @property
    def why(self) -> str:
        """Reason of the judgement, in one sentence."""
        if self.conflict is not None:
            first, second = self.conflict
            return f"{self._place(first)} and {self._place(second)} have one label, but the pattern differs there."
        if self.unseen is not None:
            return (
                f"{self._place(self.unseen)} has a label that training never meets, and the pattern is not zero there."
            )
        if self.covered:
            return "Each label stands for one value, and training meets every label."
        return "Each label stands for one value, and the pattern is zero wherever training does not meet the label."

    def _place(self, cell: Cell) -> str:
        key, query, scale = (*cell, cell[1])[:3]
        hint = f", scale {scale}" if len(cell) == 3 else ""
        return f"key {key}, query {query}{hint} ({'in' if scale <= self.train else 'beyond'} training)"

    def _brief(self) -> str:
        return f"{'generalizes' if self.generalizes else 'does not generalize'}: {self.why}"


@dataclass(frozen=True, kw_only=True, repr=False)
class JudgedRelation(Brief):
    """Relation of a standard encoding, with its judgement.

    Attributes:
        relation: the relation judged.
        encodings: the encodings that can distinguish exactly the pairs that the relation distinguishes.
        judgement: of that relation.
        limits: for clipped relative encodings, all clipping limits below train that generalize. Then the relation is
            that of the smallest such limit, or of train - 1 if there is none. None for other encodings.
    """

    relation: Relation
    encodings: str
    judgement: Judgement
    limits: range | None = None

    def _brief(self) -> str:
        return f"{self.relation.name}, {self.judgement._brief()}"


def judge(values: Relation, relation: Relation, *, train: int, test: int) -> Judgement:
    """Judge whether the relation lets the pattern with the level sets `values` generalize from 1..train to 1..test [F].

    >>> from lengthgen import absolute, clipped_relative, level_sets, pattern_from_formula
    >>> window = level_sets(pattern_from_formula("1 if j - i < 3 else 0"), 8)
    >>> [judge(window, relation, train=4, test=8).generalizes for relation in (clipped_relative(3), absolute())]
    [True, False]

    Raises:
        TrainTestScalesError: not 1 <= train <= test.
        RelationError: a relation has no label somewhere up to test.
    """
    cells = _cells(values, relation, train=train, test=test)
    return _judge(cells.labels(values), cells.labels(relation), cells, train=train, test=test)


def judge_standard_encodings(values: Relation, *, train: int, test: int) -> Listed[JudgedRelation]:
    """Judgements of every standard encoding's relation, and last of the pattern's own level sets.

    Training meets every label of a clipped relative relation whose limit is below train. So such a limit generalizes
    iff the relation is consistent. If the pattern depends on j - i only, these are the limits from the smallest
    distance on beyond which it has one value; otherwise there are none. T5 has its usual 32 buckets up to distance 128.

    Raises:
        TrainTestScalesError: not 1 <= train <= test.
        RelationError: `values` has no label somewhere up to test.
    """
    cells = _cells(values, train=train, test=test)
    level_labels = cells.labels(values)

    def judged(relation: Relation) -> Judgement:
        return _judge(level_labels, cells.labels(relation), cells, train=train, test=test)

    by_distance = judged(relative())
    limits = _clipping_limits(level_labels, cells, by_distance)
    clipped = clipped_relative(limits.start if limits else train - 1)
    return Listed(
        (
            JudgedRelation(relation=constant(), encodings="no position encoding (NoPE)", judgement=judged(constant())),
            JudgedRelation(
                relation=absolute(),
                encodings="absolute embeddings, learned or sinusoidal",
                judgement=judged(absolute()),
            ),
            JudgedRelation(
                relation=relative(),
                encodings="relative encodings without clipping: RoPE, ALiBi, FIRE, Transformer-XL",
                judgement=by_distance,
            ),
            JudgedRelation(
                relation=clipped,
                encodings="clipped relative embeddings (Shaw et al.)",
                judgement=judged(clipped),
                limits=limits,
            ),
            JudgedRelation(relation=t5_buckets(), encodings="T5 buckets", judgement=judged(t5_buckets())),
            JudgedRelation(
                relation=values,
                encodings="the ideal encoding: the pattern's own level sets",
                judgement=_judge(level_labels, level_labels, cells, train=train, test=test),
            ),
        )
    )


def _cells(*relations: Relation, train: int, test: int) -> Cells:
    if not 1 <= train <= test:
        raise TrainTestScalesError(f"scales must be 1 <= train <= test, not train={train}, test={test}")
    return cells_for(*relations, scale=test)


def _judge(values: Labels, labels: Labels, cells: Cells, *, train: int, test: int) -> Judgement:
    """Judgement of label arrays over the same cells."""
    train_cells = cells.count_within(train)
    # Cells go by scale, so the first cell of a class is in training if any of its cells is.
    _, first, class_of = np.unique(labels, return_index=True, return_inverse=True)
    differs_from_first = values != values[first[class_of]]
    nonzero = values != 0
    unseen = first >= train_cells
    unseen_nonzero = nonzero & unseen[class_of]
    return Judgement(
        train=train,
        test=test,
        fits=not differs_from_first[:train_cells].any(),
        labels=first.size,
        inconsistent_labels=np.unique(class_of[differs_from_first]).size,
        unseen_labels=int(np.count_nonzero(unseen)),
        unseen_nonzero_labels=np.unique(class_of[unseen_nonzero]).size,
        conflict=_conflict(differs_from_first, first, class_of, cells, within=train_cells),
        unseen=cells[int(np.argmax(unseen_nonzero))] if unseen_nonzero.any() else None,
    )


def _conflict(
    differs: NDArray[np.bool_], first: Labels, class_of: Labels, cells: Cells, *, within: int
) -> tuple[Cell, Cell] | None:
    """Two cells of one class with different values: one in training and one beyond, if such a pair exists.

    `differs` is True at each cell whose value differs from that of the first cell of its class.
    """
    if not differs.any():
        return None
    # The first training cell of each class that differs from the class's first, or -1.
    second = np.full(first.size, -1)
    classes, at = np.unique(class_of[:within][differs[:within]], return_index=True)
    second[classes] = np.flatnonzero(differs[:within])[at]
    beyond = class_of[within:]
    contradicts_training = (first[beyond] < within) & (differs[within:] | (second[beyond] >= 0))
    if contradicts_training.any():
        later = within + int(np.argmax(contradicts_training))
        earlier = first[class_of[later]] if differs[later] else second[class_of[later]]
    else:
        later = int(np.argmax(differs))
        earlier = first[class_of[later]]
    return cells[int(earlier)], cells[later]


def _clipping_limits(values: Labels, cells: Cells, by_distance: Judgement) -> range:
    """Limits below train under which the clipped relation generalizes; see `judge_standard_encodings`."""
    train = by_distance.train
    if not by_distance.consistent:
        return range(train, train)
    _, first = np.unique(cells.queries - cells.keys, return_index=True)
    changes = np.flatnonzero(np.diff(values[first])) + 1
    return range(min(int(changes[-1]) if changes.size else 0, train), train)


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
    return sp.Add(*(to_sympy(value) * count for value, count in zip(values, counts, strict=True))) / sum(counts)


def _same(mean: Value, entries: Sequence[Value]) -> list[bool]:
    """Flags of the entries that are proved to equal the mean."""
    if all(isinstance(part, int | Fraction) for value in (mean, *entries) for part in _parts(value)):
        return [entry == mean for entry in entries]
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
