"""Outcome of a cell at a threshold: how many runs fit their training lengths, and how many of these generalize."""

from dataclasses import dataclass

from lengthgen.empirical.court.cell import Cell, MeasuredRun
from lengthgen.empirical.experiment.outcome import breaking_scale

THRESHOLDS = (0.5, 0.75, 0.9, 0.95, 0.99)
"""Accuracies from which on a length counts as solved."""
MAIN_THRESHOLD = 0.9
"""Threshold of the main table, fixed before any score was computed."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Outcome of a cell.

    Attributes:
        cell: the cell.
        fit: number of runs that solve every measured length of training; all runs if none was measured.
        generalizes: number of fitting runs that also solve every measured length up to the tested one.
        breaks_at: breaking scale of the fitting runs, as a length; None if at least half of them generalize.
    """

    cell: Cell
    fit: int
    generalizes: int
    breaks_at: float | None

    @property
    def share(self) -> float:
        """Share of fitting runs that generalize; there must be one."""
        return self.generalizes / self.fit

    @property
    def observed(self) -> bool | None:
        """True if most of the fitting runs generalize; None with a tie or without a fitting run."""
        return None if 2 * self.generalizes == self.fit else 2 * self.generalizes > self.fit


def outcome_of(cell: Cell, threshold: float) -> Outcome:
    """Return the outcome of a cell; a length is solved if its accuracy is at least the threshold."""
    question = cell.question
    fitting = [run for run in cell.runs if not _unsolved(run, threshold, 0, question.train)]
    unsolved = [_unsolved(run, threshold, question.train, question.test) for run in fitting]
    first_failures = [min(lengths, default=None) for lengths in unsolved]
    return Outcome(
        cell=cell,
        fit=len(fitting),
        generalizes=first_failures.count(None),
        breaks_at=breaking_scale(first_failures),
    )


def measures_training(cell: Cell) -> bool:
    """True if a length of training was measured in some run, so that it is known whether runs fit."""
    return any(length <= cell.question.train for run in cell.runs for length in run.accuracy)


def _unsolved(run: MeasuredRun, threshold: float, above: int, up_to: int) -> list[int]:
    """Return the unsolved lengths in a range, ascending; an accuracy that is not a number is unsolved."""
    return sorted(
        length for length, share in run.accuracy.items() if above < length <= up_to and not share >= threshold
    )
