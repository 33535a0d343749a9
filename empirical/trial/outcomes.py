"""Outcome of one run at one of its checkpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import StoreError

History = tuple[Run, Sequence[Measurement]]
"""Run with all its metrics."""


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
        first_failure: smallest scale below the threshold; None if there is none.
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
    failed = [scale for scale in sorted(scores) if not scores[scale] >= threshold]  # a NaN counts as failed
    fits = not set(failed) & set(run.train)
    return RunOutcome(
        seed=run.seed,
        epoch=epoch,
        exact_match=scores,
        fits=fits,
        generalizes=not failed if fits else None,
        first_failure=min(failed, default=None),
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
