"""The forecast against each rival, by Brier scores, as the preregistration `new-tasks` says.

The unit is a task: the difference of the Brier scores, averaged over its fitting runs, is bet on (`pairs`).  The parts
are kinds of tasks, and in each of them the encodings in use, the ideal ones, and all; e-BH is over all comparisons.
Baselines are the rates of the recorded half that the forecast counts, too.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lengthgen.circuits.forecast.rates import BASELINES, KINDS, recorded_rates
from lengthgen.circuits.forecast.scores import NEW_KINDS, new_kind
from lengthgen.empirical.experiment.judge import e_bh, loss
from lengthgen.empirical.studies.verdict.fair import counts_of, of_kind, with_baselines
from lengthgen.empirical.studies.verdict.pairs import UNDECIDED, Pair, PairEvidence, Score, evidence_of, prediction
from lengthgen.empirical.studies.verdict.runs import SeenCell

FORECAST = "forecast"
"""Rule that is compared."""


def forecast_against(cells: Iterable[SeenCell], rules: Sequence[str], alpha: float) -> list[dict[str, Any]]:
    """Return the comparison of the forecast with each other rule and each baseline, on each part of the cells.

    Args:
        cells: cells that judge.
        rules: rules of the preregistration; without the forecast there is nothing to compare.
        alpha: level of e-BH over all comparisons.
    """
    if FORECAST not in rules:
        return []
    rates = recorded_rates(frozenset())
    fitting = [with_baselines(each, rates) for each in cells if each.fit]
    rivals = [rule for rule in dict.fromkeys((*BASELINES, *rules)) if rule != FORECAST]
    evidence = {
        (part, kind, rival): by_brier(of_kind(members, kind), (FORECAST, rival))
        for part in NEW_KINDS
        if (members := [each for each in fitting if new_kind(each.cell.task) == part])
        for kind in KINDS
        for rival in rivals
    }
    rejected = e_bh([value for of_one in evidence.values() for value in of_one.against], alpha)
    sides = zip(evidence.items(), rejected[::2], rejected[1::2], strict=True)
    return [
        {
            "part": part,
            "kind": kind,
            "against": rival,
            **counts_of(of_one),
            "better": UNDECIDED if worse == worse_rival else rival if worse else FORECAST,
        }
        for ((part, kind, rival), of_one), worse, worse_rival in sides
        if of_one.tasks
    ]


def by_brier(cells: Iterable[SeenCell], pair: Pair) -> PairEvidence:
    """Compute the evidence of two rules against each other by the Brier scores of the fitting runs of each task."""
    by_task: dict[str, list[SeenCell]] = defaultdict(list)
    for each in cells:
        by_task[each.cell.task].append(each)
    return evidence_of({task: (len(members), _gain(members, pair)) for task, members in by_task.items()})


def _gain(cells: Sequence[SeenCell], pair: Pair) -> float:
    """Return how much larger the second rule's Brier score is, as a mean over the fitting runs of a task."""
    first, second = (
        [loss(prediction(each.cell, rule, Score.BRIER), each.share, Score.BRIER.value) for each in cells]
        for rule in pair
    )
    return float(np.average(np.subtract(second, first), weights=[each.fit for each in cells]))
