"""Scores of theories: proper scores with a price for abstention, and differences clustered by task.

Each cell counts once, as the mean over its fitting runs. A theory that abstains is scored as if it had said 1/2.
Differences of Brier scores have intervals from a bootstrap that draws tasks, because the cells of a task stand or fall
together.

Base rates are what every theory must beat: probabilities that are computed from outcomes, and so no theories. A base
rate never sees the task that it is asked about, save the one by task, which sees its other cells. Controls show that
the court can tell right from wrong.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.forecast.rates import ALWAYS_NO
from lengthgen.circuits.prediction_record import SURE
from lengthgen.empirical.experiment.judge import ABSTAINED, CONFIDENCE, confusion, says
from lengthgen.empirical.experiment.outcome import Outcome
from lengthgen.empirical.studies.court.cells import Cell

LEAST_PROBABILITY = 0.001
"""Probabilities are moved into [0.001, 0.999] for the log score, so that one error does not count without bound."""
REPETITIONS = 2_000
"""Number of draws of the bootstrap."""
LEAST_TASKS = 5
"""Least number of answered tasks for a verdict; the bootstrap of fewer clusters is too narrow."""
BASE_RATE = "base-rate"
"""Reference that verdicts compare a theory with."""
RATE_BY_ENCODING, RATE_WITH_SRC = "base-rate-encoding", "base-rate-src"
REFERENCES: dict[str, str] = {
    ALWAYS_NO: "no to every question",
    BASE_RATE: "share of generalizing runs in the cells of all other tasks",
    RATE_BY_ENCODING: "the same, in the cells of other tasks with the same encoding and format",
    RATE_WITH_SRC: "that by encoding and format, in cells of which `src` says the same: SRC counted, not believed",
    "base-rate-evidence": "the same, in the cells of other tasks of the same data set",
    "base-rate-task": "the same, in the other cells of the same task",
}
"""Name of each base rate -> what it says."""
BASELINES = (ALWAYS_NO, RATE_BY_ENCODING, RATE_WITH_SRC)
"""References that know no theory, or one bit of it: every theory is compared with each ([F], asked afterwards)."""
CONTROLS = {
    "opposite-of-src": "the opposite of our literal reading: must be refuted",
    "fed-with-answers": "knows the outcomes: must be supported",
    "opposite-of-answers": "knows the outcomes and says the opposite: must be refuted",
}
"""Name of each control -> what it is."""

Numbers = NDArray[np.float64]
Probabilities = Sequence[float | None]
Judged = Sequence[Outcome[Cell]]
"""Outcomes of cells with a fitting run, one for each probability of a theory."""


def score(judged: Judged, probabilities: Probabilities, base: Sequence[float]) -> dict[str, Any]:
    """Return the score of one theory as JSON.

    Returns:
        answered and abstained (numbers of cells), right_yes, wrong_yes, right_no and wrong_no (over answered cells
        without ties, a probability above 1/2 being a yes), brier and log (means over all cells, abstentions included; 0
        is best, 0.25 and log 2 are those of 1/2), brier_answered and against_base (mean Brier score and difference to
        the base rate over answered cells, None without any), and verdict: "supported" (better than the base rate on
        what it answers), "refuted" (worse), or "undecided".
    """
    answered = np.array([probability is not None for probability in probabilities])
    brier = brier_scores(judged, probabilities)
    against = difference(judged, brier, brier_scores(judged, base), answered) if answered.any() else None
    pairs = list(zip(judged, probabilities, strict=True))
    return {
        "answered": int(answered.sum()),
        "abstained": int((~answered).sum()),
        **confusion((says(probability), outcome.observed) for outcome, probability in pairs),
        "brier": float(brier.mean()),
        "log": float(np.mean([_log_score(*pair) for pair in pairs])),
        "brier_answered": float(brier[answered].mean()) if answered.any() else None,
        "against_base": against,
        "verdict": verdict_on(against),
    }


def brier_scores(judged: Judged, probabilities: Probabilities) -> Numbers:
    """Return the Brier score of each cell, float64 [cells]: the mean of (p - outcome)^2 over its fitting runs."""
    share = np.array([outcome.share for outcome in judged])
    p = np.array([ABSTAINED if probability is None else probability for probability in probabilities])
    return share * (1 - p) ** 2 + (1 - share) * p**2


def difference(
    judged: Judged, first_scores: Numbers, second_scores: Numbers, chosen: NDArray[np.bool_] | None = None
) -> dict[str, Any]:
    """Return the mean difference of scores of cells as JSON, with its interval over draws of tasks.

    Below 0 the first theory is better.

    Args:
        judged: outcomes of the cells.
        first_scores: scores of the cells by the first theory, float64 [cells].
        second_scores: scores of the cells by the second one.
        chosen: True for the cells that count, at least one; None for all.
    """
    chosen = np.ones(len(judged), dtype=bool) if chosen is None else chosen
    names = np.array([outcome.cell.task for outcome in judged])[chosen]
    tasks, task_of = np.unique(names, return_inverse=True)
    change = (first_scores - second_scores)[chosen]
    sums, counts = np.bincount(task_of, weights=change), np.bincount(task_of)
    draws = np.random.default_rng(0).multinomial(len(tasks), np.full(len(tasks), 1 / len(tasks)), size=REPETITIONS)
    means = (draws @ sums) / (draws @ counts)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return {
        "value": float(change.mean()),
        "low": float(low),
        "high": float(high),
        "cells": len(change),
        "tasks": len(tasks),
    }


def verdict_on(against: Mapping[str, Any] | None) -> str:
    """Return the verdict that a difference to a base rate gives."""
    if against is None or against["tasks"] < LEAST_TASKS:
        return "undecided"
    return "supported" if against["high"] < 0 else "refuted" if against["low"] > 0 else "undecided"


def _log_score(outcome: Outcome[Cell], probability: float | None) -> float:
    """Return the mean of -log of the probability of what happened, over the fitting runs of a cell."""
    p = ABSTAINED if probability is None else min(max(probability, LEAST_PROBABILITY), 1 - LEAST_PROBABILITY)
    return -outcome.share * math.log(p) - (1 - outcome.share) * math.log(1 - p)


def base_rates(judged: Judged, literal: Probabilities) -> dict[str, list[float]]:
    """Return the probabilities of every reference for cells with a fitting run, rates as (successes + 1) / (cells + 2).

    Args:
        judged: outcomes of the cells.
        literal: probabilities of the theory `src` for the same cells.
    """
    answer_of = {outcome.cell.name: says(probability) for outcome, probability in zip(judged, literal, strict=True)}

    def rates(counts: Callable[[Cell, Cell], bool]) -> list[float]:
        shares = [[other.share for other in judged if counts(outcome.cell, other.cell)] for outcome in judged]
        return [(sum(of_others) + 1) / (len(of_others) + 2) for of_others in shares]

    def alike(cell: Cell, other: Cell) -> bool:
        setting = [(each.question.encoding, each.operands) for each in (cell, other)]
        return cell.task != other.task and setting[0] == setting[1]

    return {
        ALWAYS_NO: [1 - SURE] * len(judged),
        BASE_RATE: rates(lambda cell, other: cell.task != other.task),
        RATE_BY_ENCODING: rates(alike),
        RATE_WITH_SRC: rates(lambda cell, other: alike(cell, other) and answer_of[cell.name] == answer_of[other.name]),
        "base-rate-evidence": rates(lambda cell, other: cell.task != other.task and cell.evidence == other.evidence),
        "base-rate-task": rates(lambda cell, other: cell is not other and cell.task == other.task),
    }


def controls(judged: Judged, literal: Probabilities) -> dict[str, list[float | None]]:
    """Return the probabilities of every control, from those of the theory `src` for the same cells."""
    answers = [SURE if outcome.observed else 1 - SURE for outcome in judged]
    return {
        "opposite-of-src": [None if probability is None else 1 - probability for probability in literal],
        "fed-with-answers": [*answers],
        "opposite-of-answers": [1 - answer for answer in answers],
    }
