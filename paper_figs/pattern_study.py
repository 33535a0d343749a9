"""A pattern as figures show it: its level sets, and what is learned of it under each standard encoding."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from theory.generalization import JudgedRelation, judge_standard_encodings
from theory.lattice import Cells
from theory.lrc import LrcProfile, profile
from theory.outcome import LearnedPattern, learn, levels_of
from theory.pattern import Pattern, Value
from theory.relation import Labels
from theory.system.errors import LengthgenError

LARGEST = 40
"""Test scale: beyond that, a mark no longer fits its cell in print."""

_NAMES = {"constant": "constant (NoPE)", "t5-32-128": "T5 buckets", "level-sets": "ideal (level sets)"}


class PanelError(LengthgenError):
    """A pattern that cannot be drawn as asked."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """A pattern as learned under a standard encoding's relation.

    Attributes:
        answer: the encoding and its judgement.
        outcome: what is learned.
    """

    answer: JudgedRelation
    outcome: LearnedPattern

    @property
    def first_error(self) -> int | None:
        """The first scale at which some entry is wrong; None where none is."""
        cell = self.outcome.first_wrong
        return None if cell is None else cell[-1]

    @property
    def name(self) -> str:
        """The relation's name in print."""
        name = self.answer.relation.name
        return _NAMES.get(name, name.replace("-", " at "))

    @property
    def verdict(self) -> str:
        """Whether it generalizes, in words."""
        return "generalizes" if self.first_error is None else f"first error at scale {self.first_error}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """A pattern up to its test scale; `study` makes one.

    Attributes:
        pattern: any.
        train: training meets the cells of scales 1..train, each equally often.
        test: the scale that is drawn.
        cells: all up to the test scale.
        levels: the level set of each cell, int64 [cells]; 0 where the pattern is zero.
        entries: the pattern's entry on each level set, exactly.
        shown: which cells are drawn: all pairs, or of a family those at the test scale.
        lrc: at all scales.
        learned: under each standard encoding, the ideal one last.
    """

    pattern: Pattern
    train: int
    test: int
    cells: Cells
    levels: Labels
    entries: Sequence[Value]
    shown: NDArray[np.bool_]
    lrc: LrcProfile
    learned: Sequence[Learned]

    @cached_property
    def without_numbers(self) -> str:
        """Why entries cannot be drawn as numbers; empty where they can."""
        if self.pattern.shape:
            return "entries are matrices"
        if any(getattr(entry, "free_symbols", None) for entry in self.entries):
            return "entries hold free parameters"
        try:
            # A colour scale spans twice the largest entry.
            finite = all(np.isfinite(4 * float(entry)) for entry in self.entries)
        except OverflowError:
            finite = False
        return "" if finite else "entries pass floating-point numbers"

    def lrc_at(self, scale: int) -> str:
        """LRC, or its bounds where equalities are undecided."""
        low, high = self.lrc.bounds(scale)
        return str(high) if low == high else f"{low}..{high}"


def study(pattern: Pattern, *, train: int, test: int) -> Study:
    """The pattern's level sets, LRC, and what is learned under each standard encoding.

    Raises:
        PanelError: the test scale passes LARGEST.
        TrainTestScalesError: not 1 <= train <= test.
        PatternError: the pattern is not given up to the test scale, or has an infinite entry.
        FormulaError: a formula without a value at some pair.
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
        shown=np.full(len(levels.levels), True) if cells.scales is None else cells.scales == test,
        lrc=profile(pattern, test),
        learned=[
            Learned(answer=answer, outcome=learn(levels, answer.relation, train=train))
            for answer in judge_standard_encodings(levels.relation, train=train, test=test)
        ],
    )
