"""Study of a pattern for its figure: level sets, LRC, and the result of learning under each standard encoding."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.generalization import JudgedRelation, LearnedPattern, judge_standard_encodings, learn, levels_of
from lengthgen.theory.lattice import Cells
from lengthgen.theory.lrc import LrcProfile, profile
from lengthgen.theory.pattern import Pattern, Value
from lengthgen.theory.relation import Labels

LARGEST = 40
"""Largest test scale at which a mark fits its cell in print."""

_NAMES = {"constant": "constant (NoPE)", "t5-32-128": "T5 buckets", "level-sets": "ideal (level sets)"}
"""Names of relations in print; another relation is printed by its own name, with "at" before its number."""


class PanelError(LengthgenError):
    """Error for a pattern that cannot be drawn."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EncodingOutcome:
    """Result of learning a pattern under the relation of a standard encoding.

    Attributes:
        answer: the relation of the encoding and its judgement.
        outcome: the learned parameters, and the entries that are wrong.
    """

    answer: JudgedRelation
    outcome: LearnedPattern

    @property
    def first_error(self) -> int | None:
        """First scale at which an entry is wrong, or None if all are right."""
        cell = self.outcome.first_wrong
        return None if cell is None else cell[-1]

    @property
    def name(self) -> str:
        """Name of the relation in print."""
        name = self.answer.relation.name
        return _NAMES.get(name, name.replace("-", " at "))

    @property
    def verdict(self) -> str:
        """Verdict in words: "generalizes", or the scale of the first error."""
        return "generalizes" if self.first_error is None else f"first error at scale {self.first_error}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Pattern up to its test scale with everything that its figure shows; `study` makes one.

    Attributes:
        pattern: the pattern.
        train: training uses the cells of scales 1..train, each equally often.
        test: the scale that is drawn.
        cells: all cells up to the test scale.
        levels: level set of each cell, int64 [cells]; 0 where the pattern is zero.
        entries: exact entry of the pattern on each level set.
        is_drawn: True for the cells that are drawn: all pairs, or those of the test scale for a family; bool [cells].
        lrc: LRC at all scales.
        learned: results under each standard encoding, the ideal relation last.
    """

    pattern: Pattern
    train: int
    test: int
    cells: Cells
    levels: Labels
    entries: Sequence[Value]
    is_drawn: NDArray[np.bool_]
    lrc: LrcProfile
    learned: Sequence[EncodingOutcome]

    @cached_property
    def without_numbers(self) -> str:
        """Reason why entries cannot be drawn as numbers; empty if they can."""
        if self.pattern.shape:
            return "entries are matrices"
        if any(getattr(entry, "free_symbols", None) for entry in self.entries):
            return "entries hold free parameters"
        try:
            # The colour scale spans twice the largest entry, which must not overflow.
            finite = all(np.isfinite(4 * float(entry)) for entry in self.entries)
        except OverflowError:
            finite = False
        return "" if finite else "entries pass floating-point numbers"

    def lrc_at(self, scale: int) -> str:
        """Text of LRC at a scale: the value, or its bounds if equalities of entries are undecided."""
        low, high = self.lrc.bounds(scale)
        return str(high) if low == high else f"{low}..{high}"


def study(pattern: Pattern, *, train: int, test: int) -> Study:
    """Compute level sets, LRC, and the result of learning under each standard encoding.

    Raises:
        PanelError: the test scale is above LARGEST.
        TrainTestScalesError: not 1 <= train <= test.
        PatternError: the pattern is not given up to the test scale, or has an infinite entry.
        FormulaError: a formula has no value at some pair.
    """
    if test > LARGEST:
        raise PanelError(f"test scale {test} is too large to be read in print: draw at most {LARGEST}")
    levels = levels_of(pattern, test)
    cells = levels.cells
    return Study(
        pattern=pattern,
        train=train,
        test=test,
        cells=cells,
        levels=levels.levels,
        entries=levels.entries,
        is_drawn=np.full(len(levels.levels), True) if cells.scales is None else cells.scales == test,
        lrc=profile(pattern, test),
        learned=[
            EncodingOutcome(answer=answer, outcome=learn(levels, answer.relation, train=train))
            for answer in judge_standard_encodings(levels.relation, train=train, test=test)
        ],
    )
