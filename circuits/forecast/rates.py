"""Baselines that know no theory: always no, and the share of recorded runs that generalize ([F]).

A rule that predicts generalization is worth something only if it beats these.  `rate` knows how often runs of an
encoding on operands of one format generalized; `rate with SRC` also knows one bit of the task: does its SRC stay the
same beyond training?  Who makes rates must count other runs than those that are judged.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from lengthgen.circuits.prediction_record import SURE

if TYPE_CHECKING:
    from lengthgen.circuits.forecast.record import RecordedCell

ALWAYS_NO, RATE, RATE_WITH_SRC = BASELINES = ("always-no", "rate", "rate with SRC")
"""Names of the baselines."""
IDEAL = frozenset({"ipe", "ipe-sh"})
"""Encodings with the ideal relation of a task's circuit; nobody uses them in practice, so they are told apart."""
KINDS = ("in use", "ideal", "all")
"""Kinds of encodings by which results are told."""


def name_of(encoding: str) -> str:
    """Return the name of an encoding without its options."""
    return encoding.partition("[")[0]


def is_of_kind(encoding: str, kind: str) -> bool:
    """True if an encoding is of a kind of KINDS."""
    return kind == "all" or (name_of(encoding) in IDEAL) == (kind == "ideal")


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Runs of a cell: encoding, format of the operands, SRC invariant (None if unknown), generalizing and fitting."""

    encoding: str
    operands: str
    invariant: bool | None
    generalize: int
    fit: int


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Generalizing and fitting runs by encoding and operands, and by SRC too; of all runs under the empty key."""

    counts: Mapping[tuple[str | bool, ...], tuple[int, int]]

    @classmethod
    def of(cls, cells: Iterable[Counts]) -> "Rates":
        """Count the runs of cells."""
        sums: dict[tuple[str | bool, ...], list[int]] = defaultdict(lambda: [0, 0])
        for cell in cells:
            key = (name_of(cell.encoding), cell.operands)
            for part in ((), key, *([(*key, cell.invariant)] if cell.invariant is not None else [])):
                sums[part][0] += cell.generalize
                sums[part][1] += cell.fit
        return cls(counts={key: (generalize, fit) for key, (generalize, fit) in sums.items()})

    def share(self, *key: str | bool) -> float:
        """Return the share of runs that generalize, in which the share of all stands for one run; 1/2 without any."""
        generalize, fit = self.counts.get((), (1, 2))
        of_key = self.counts.get(key, (0, 0))
        return (of_key[0] + (generalize / fit if fit else 0.5)) / (of_key[1] + 1)

    def probabilities(self, encoding: str, operands: str, invariant: bool | None) -> dict[str, float]:
        """Return baseline -> probability that a fitting run generalizes; where SRC is unknown, both rates are equal."""
        key = (name_of(encoding), operands)
        return {
            ALWAYS_NO: 1 - SURE,
            RATE: self.share(*key),
            RATE_WITH_SRC: self.share(*key, *([] if invariant is None else [invariant])),
        }


@cache
def src_of_recorded() -> Mapping[tuple[str, str, int | None, str], bool | None]:
    """Return (record, task, base, operands) -> does SRC stay the same beyond training?

    It is the literal answer for an ideal encoding, whose complexity is that of the circuit that the search finds.
    """
    from lengthgen.circuits.forecast.record import recorded_cells  # slow to import, and help needs the names alone

    return {
        (cell.record, cell.task, cell.base, cell.features.operands): cell.answers["literal"]
        for cell in recorded_cells()
        if is_of_kind(cell.encoding, "ideal")
    }


def counts_of(cell: "RecordedCell") -> Counts:
    """Return what rates count of a recorded cell."""
    operands = cell.features.operands
    return Counts(
        encoding=cell.encoding,
        operands=operands,
        invariant=src_of_recorded().get((cell.record, cell.task, cell.base, operands)),
        generalize=cell.generalize,
        fit=cell.fit,
    )


@cache
def recorded_rates(without: frozenset[str]) -> Rates:
    """Return the rates of one half of the registered random tasks, those that forecasts count.

    Tasks whose names are in `without` are left out.
    """
    from lengthgen.circuits.forecast.record import REGISTERED, recorded_cells

    counted = (cell for cell in recorded_cells() if cell.counts and cell.record in REGISTERED)
    return Rates.of(counts_of(cell) for cell in counted if cell.task not in without)
