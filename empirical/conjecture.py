"""The conjecture on trial: predictions stored before training, outcomes of runs, and a verdict per cell.

A cell is one task, format and encoding; its runs differ in the seed. A run fits iff every training scale reaches the
threshold in exact match, and generalizes iff every later test scale does. A run that does not fit says nothing about
generalization: it is the third outcome. Experiments can refute a prediction, never prove it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest, fisher_exact

from circuits.prediction import Prediction
from empirical.run import Run
from empirical.store import Measurement

CONFIDENCE = 0.95
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one run did, at one checkpoint.

    Attributes:
        exact_match: scale -> share of test samples generated without an error.
        fits: whether every training scale reaches the threshold.
        generalizes: whether every later test scale does; None for a run that does not fit.
        first_failure: first test scale below the threshold.
    """

    seed: int
    exact_match: dict[int, float]
    fits: bool
    generalizes: bool | None
    first_failure: int | None


@dataclass(frozen=True, kw_only=True)
class Share:
    """successes of trials, with the exact (Clopper-Pearson) 95% interval; [0, 1] when there are no trials."""

    successes: int
    trials: int
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One prediction and what its runs say.

    Attributes:
        verdict: "consistent", "refuted", "undecided" (too few runs that fit, or they disagree), "not learnt" (none
            fits).
        p_against: probability of at least so many fitting runs against the prediction if half of all such runs were.
        p_holm: the same, corrected for the number of cells (Holm).
        best_checkpoint_generalizes: successes under the published rule, which picks each run's checkpoint by its
            average over all test scales and so selects on them; shown beside, never used for the verdict.
        predicted_before_training: whether every run names this prediction in its provenance.
    """

    task: str
    format: str
    encoding: str
    prediction: Prediction
    outcomes: tuple[Outcome, ...]
    fit: Share
    generalizes_given_fit: Share
    generalizes: Share
    best_checkpoint_generalizes: int
    verdict: str
    p_against: float
    p_holm: float
    predicted_before_training: bool

    @property
    def observed(self) -> bool | None:
        """Whether most of the fitting runs generalize; None without fitting runs or with a tie."""
        successes, trials = self.generalizes_given_fit.successes, self.generalizes_given_fit.trials
        return None if 2 * successes == trials else 2 * successes > trials


def outcome(run: Run, rows: Sequence[Measurement], *, best_on_test: bool = False) -> Outcome:
    """The outcome of a run at its last checkpoint, or at the one with the best average over all test scales."""
    epochs = sorted({row.epoch for row in rows})
    by_epoch = {epoch: {row.scale: row.exact_match for row in rows if row.epoch == epoch} for epoch in epochs}
    chosen = by_epoch[epochs[-1]]
    if best_on_test:
        chosen = max(by_epoch.values(), key=lambda scores: float(np.mean(list(scores.values()))))
    failed = [scale for scale in run.test if chosen[scale] < run.evaluation.threshold]
    fits = not set(failed) & set(run.train)
    return Outcome(
        seed=run.seed,
        exact_match=chosen,
        fits=fits,
        generalizes=not failed if fits else None,
        first_failure=min(failed, default=None),
    )


def share(successes: int, trials: int) -> Share:
    """A share with its exact interval."""
    if trials == 0:
        return Share(successes=0, trials=0, low=0.0, high=1.0)
    interval = binomtest(successes, trials).proportion_ci(CONFIDENCE, method="exact")
    return Share(successes=successes, trials=trials, low=float(interval.low), high=float(interval.high))


def judge(
    predictions: Mapping[tuple[str, str, str], Prediction],
    runs: Mapping[tuple[str, str, str], Sequence[tuple[Run, Sequence[Measurement], bool]]],
) -> list[Cell]:
    """A verdict for every cell.

    Args:
        predictions: by (task, format, encoding).
        runs: for each cell its runs, their metrics, and whether the run names the prediction in its provenance.
    """
    draft = []
    for key, prediction in predictions.items():
        outcomes = tuple(outcome(run, rows) for run, rows, _ in runs[key])
        best = [outcome(run, rows, best_on_test=True) for run, rows, _ in runs[key]]
        fitting = [one for one in outcomes if one.fits]
        successes = sum(bool(one.generalizes) for one in fitting)
        against = len(fitting) - successes if prediction.generalizes else successes
        draft.append((key, prediction, outcomes, best, fitting, successes, _tail(against, len(fitting))))
    adjusted = holm([p for *_, p in draft])
    return [
        Cell(
            task=key[0],
            format=key[1],
            encoding=key[2],
            prediction=prediction,
            outcomes=outcomes,
            fit=share(len(fitting), len(outcomes)),
            generalizes_given_fit=share(successes, len(fitting)),
            generalizes=share(successes, len(outcomes)),
            best_checkpoint_generalizes=sum(bool(one.generalizes) for one in best),
            verdict=_verdict(prediction.generalizes, successes, len(fitting)),
            p_against=p,
            p_holm=corrected,
            predicted_before_training=all(known for *_, known in runs[key]),
        )
        for (key, prediction, outcomes, best, fitting, successes, p), corrected in zip(draft, adjusted, strict=True)
    ]


def _tail(successes: int, trials: int) -> float:
    """P(at least so many successes) at one half; 1 without trials."""
    return float(binomtest(successes, trials, alternative="greater").pvalue) if trials else 1.0


def _verdict(predicted: bool, successes: int, fitting: int) -> str:
    """Consistent or refuted where a one-sided exact test at ALPHA says on which side of one half the cell lies."""
    if not fitting:
        return "not learnt"
    agreeing = successes if predicted else fitting - successes
    if _tail(agreeing, fitting) <= ALPHA:
        return "consistent"
    return "refuted" if _tail(fitting - agreeing, fitting) <= ALPHA else "undecided"


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given."""
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def table(cells: Sequence[Cell]) -> dict[str, int]:
    """The 2x2 table: cells by prediction and by what most of their fitting runs did; the rest apart."""
    counts = {"yes_yes": 0, "yes_no": 0, "no_yes": 0, "no_no": 0, "not_observed": 0}
    for cell in cells:
        if cell.observed is None:
            counts["not_observed"] += 1
        else:
            predicted, observed = ("yes" if answer else "no" for answer in (cell.prediction.generalizes, cell.observed))
            counts[f"{predicted}_{observed}"] += 1
    return counts


def as_json(cells: Sequence[Cell]) -> dict[str, Any]:
    """The whole trial as JSON holds it."""
    counts = table(cells)
    matrix = [[counts["yes_yes"], counts["yes_no"]], [counts["no_yes"], counts["no_no"]]]
    return {
        "table": counts,
        "fisher_p": float(fisher_exact(matrix, alternative="greater").pvalue),
        "disagreements": [_name(cell) for cell in cells if cell.observed not in (None, cell.prediction.generalizes)],
        "cells": [
            asdict(cell)
            | {"prediction": cell.prediction.as_json(), "observed": cell.observed, "diagnosis": diagnosis(cell)}
            for cell in cells
        ],
    }


def diagnosis(cell: Cell) -> str | None:
    """What may explain why a cell disagrees with its prediction or shows nothing; None where it agrees."""
    if cell.observed is None:
        return None if cell.fit.successes else "no run fits the training scales"
    if cell.observed == cell.prediction.generalizes:
        return None
    if cell.prediction.generalizes and cell.prediction.unseen_distractors:
        return (
            f"{cell.prediction.unseen_distractors} pairs of label and token occur at irrelevant keys only beyond "
            "training: the rule ignores them, a trained model may not"
        )
    return "not explained by coverage of labels or operator entries"


def _name(cell: Cell) -> str:
    return f"{cell.task}/{cell.format}/{cell.encoding}"
