"""Outcome of a run at one of its checkpoints, and of a cell: how many runs fit, how many generalize, where they break.

A run fits if it solves its training scales, and generalizes if it solves every other test scale too. One that does not
fit says nothing about generalization: it is counted apart. A scale is solved if the share of right samples there is at
least a threshold; a share that is no number is not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import inf, isinf
from statistics import fmean, median
from typing import Generic, Self, TypeVar

from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import StoreError

History = tuple[Run, Sequence[Measurement]]
"""Run with all its metrics."""
C = TypeVar("C")
"""What a protocol takes for a cell."""


def first_failure(scores: Mapping[int, float], threshold: float) -> int | None:
    """Smallest scale that is not solved; None if all are."""
    return min((scale for scale, score in scores.items() if not score >= threshold), default=None)


def breaking_scale(first_failures: Iterable[int | None]) -> float | None:
    """Return the scale at which the runs of a cell break, by which half of them have failed; None if half never do.

    The median of the first failures of all runs that fit, where a run that never fails counts as infinite: the runs
    that fail do not speak for the others, and a cell breaks exactly if most of its runs do. Of two middle runs it is
    the mean, as the lower one would favour theories that predict early failures: 6 and 7 give 6.5, which equals no
    predicted scale.

    Args:
        first_failures: first scale at which each run that fits fails; None if it never does. May be empty.
    """
    failures = [inf if failure is None else failure for failure in first_failures]
    middle = median(failures) if failures else inf
    return None if isinf(middle) else middle


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[C]):
    """Outcome of a cell of runs.

    Attributes:
        cell: the cell.
        runs: number of runs.
        failures: first failure of each run that fits; None for one that generalizes.
    """

    cell: C
    runs: int
    failures: tuple[int | None, ...]

    @classmethod
    def of(cls, cell: C, first_failures: Sequence[int | None], *, train: int) -> Self:
        """Return the outcome of runs with these first failures; those that fit fail beyond the training scales.

        Args:
            cell: the cell.
            first_failures: one for each run.
            train: largest training scale.
        """
        fitting = (failure for failure in first_failures if failure is None or failure > train)
        return cls(cell=cell, runs=len(first_failures), failures=tuple(fitting))

    @property
    def fit(self) -> int:
        """Number of runs that fit."""
        return len(self.failures)

    @cached_property
    def generalize(self) -> int:
        """Number of runs that fit and generalize."""
        return self.failures.count(None)

    @property
    def share(self) -> float:
        """Share of the fitting runs that generalize; there must be one."""
        return self.generalize / self.fit

    @property
    def observed(self) -> bool | None:
        """True if most of the fitting runs generalize; None with a tie or without a fitting run."""
        return None if 2 * self.generalize == self.fit else 2 * self.generalize > self.fit

    @cached_property
    def breaks_at(self) -> float | None:
        """Breaking scale of the fitting runs; None if at least half of them generalize."""
        return breaking_scale(self.failures)


class Checkpoint(StrEnum):
    """Rule for the checkpoint of a run that is judged."""

    LAST = "last"  # the main rule
    BEST_ON_TRAINING = "best_on_training"  # best average over the training scales, the latest among ties
    BEST_ON_TEST = "best_on_test"  # [P] best average over all scales: selects on the test scales; ties: [F] the latest


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """Outcome of one run at one checkpoint.

    Attributes:
        epoch: epoch of the checkpoint.
        exact_match: scale -> share of test samples generated without an error.
        fits: True if every training scale reaches the threshold.
        generalizes: True if every other test scale does too; None for a run that does not fit.
        first_failure: smallest scale below the threshold; None if there is none. Below the largest training scale, a
            run may fail and fit at a scale that was left out of training.
    """

    seed: int
    epoch: int
    exact_match: dict[int, float]
    fits: bool
    generalizes: bool | None
    first_failure: int | None


def by_checkpoint(rows: Sequence[Measurement]) -> dict[int, dict[int, Measurement]]:
    """Arrange rows as epoch -> scale -> row, epochs ascending."""
    checkpoints: dict[int, dict[int, Measurement]] = {epoch: {} for epoch in sorted({row.epoch for row in rows})}
    for row in rows:
        checkpoints[row.epoch][row.scale] = row
    return checkpoints


def outcome(history: History, *, threshold: float, checkpoint: str = Checkpoint.LAST) -> RunOutcome:
    """Outcome of a run; a scale counts as solved if its exact match is at least `threshold`.

    Raises:
        StoreError: the run has no checkpoint, or the chosen one lacks a scale.
    """
    run, rows = history
    checkpoints = by_checkpoint(rows)
    if not checkpoints:
        raise StoreError(f"run {run.id} has no metrics: give the rows that RunStore.metrics reads")
    epoch = _chosen_epoch(checkpoints, run.train, Checkpoint(checkpoint))
    scores = {scale: row.exact_match for scale, row in checkpoints[epoch].items()}
    missing = {*run.train, *run.test} - scores.keys()
    if missing:
        raise StoreError(f"run {run.id} was not measured at scale {min(missing)}: name it among the test scales")
    failure = first_failure(scores, threshold)
    fits = first_failure({scale: scores[scale] for scale in run.train}, threshold) is None
    return RunOutcome(
        seed=run.seed,
        epoch=epoch,
        exact_match=scores,
        fits=fits,
        generalizes=failure is None if fits else None,
        first_failure=failure,
    )


def _chosen_epoch(checkpoints: Mapping[int, Mapping[int, Measurement]], train: Sequence[int], rule: Checkpoint) -> int:
    """Epoch of the checkpoint that a rule selects."""
    if rule is Checkpoint.LAST:
        return max(checkpoints)

    def average(epoch: int) -> float:
        rows = checkpoints[epoch]
        scales = [scale for scale in train if scale in rows] if rule is Checkpoint.BEST_ON_TRAINING else list(rows)
        return round(fmean(rows[scale].exact_match for scale in scales), 12)  # float errors must not break ties

    return max(checkpoints, key=lambda epoch: (average(epoch), epoch))
