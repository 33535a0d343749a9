"""Baselines beside the predictions of a trial: by how much does a prediction beat what knows no theory? ([F])

The rates are those of recorded runs that forecasts count (`lengthgen.circuits.forecast.rates`), without those of the
trial's own tasks, so that no run that is judged is counted.  Encodings in use and ideal ones are told apart.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from lengthgen.circuits.forecast.rates import KINDS, is_of_kind, name_of, recorded_rates
from lengthgen.circuits.prediction_record import RULES, SURE
from lengthgen.empirical.experiment.judge import ABSTAINED, loss, says
from lengthgen.empirical.trial.conjecture import JudgedCell

SOURCE = (
    "shares of runs of registered random tasks, the half that forecasts count (circuits/forecast/cells.csv), without "
    "the tasks of this trial; made after many recorded runs, and registered for none"
)


def beside_baselines(cells: Sequence[JudgedCell]) -> dict[str, Any]:
    """Return how often each rule and each baseline is right, by kind of encoding.

    Returns:
        source, runs: where rates come from, and of how many runs; kinds: kind -> cells that are observed and predicted,
        and for each rule or baseline how many of them it answers, on how many it is right, and its Brier score over the
        fitting runs, a mean over cells; an abstention is scored as 1/2.
    """
    rates = recorded_rates(frozenset(cell.key.task.partition(" base ")[0] for cell in cells))
    invariant = {
        cell.key.task: cell.prediction.literal
        for cell in cells
        if cell.prediction and is_of_kind(cell.key.encoding, "ideal")
    }
    judged = [cell for cell in cells if cell.observed is not None and cell.predicted is not None]

    def probabilities(cell: JudgedCell) -> Mapping[str, float]:
        operands, bit = cell.key.format, invariant.get(cell.key.task)
        return _of_rules(cell) | rates.probabilities(name_of(cell.key.encoding), operands, bit)

    answers = [(cell, probabilities(cell)) for cell in judged]
    return {
        "source": SOURCE,
        "runs": rates.counts.get((), (0, 0))[1],
        "kinds": {
            kind: _scores([each for each in answers if is_of_kind(each[0].key.encoding, kind)]) for kind in KINDS
        },
    }


def _of_rules(cell: JudgedCell) -> dict[str, float]:
    """Return the probability that stands for the answer of each rule: of the forecast its share."""
    assert cell.prediction
    certain = {True: SURE, False: 1 - SURE, None: ABSTAINED}
    answers = {rule: certain[cell.prediction.says(rule)] for rule in RULES}
    return answers | ({"forecast": cell.prediction.forecast.share} if cell.prediction.forecast else {})


def _scores(answers: Sequence[tuple[JudgedCell, Mapping[str, float]]]) -> dict[str, Any]:
    names = answers[0][1] if answers else {}
    scores: dict[str, Any] = {}
    for name in names:
        pairs = [(says(of_cell[name]), cell.observed) for cell, of_cell in answers]
        scores[name] = {
            "answered": sum(answer is not None for answer, _ in pairs),
            "right": sum(answer == observed for answer, observed in pairs),
            "brier": fmean(
                loss(of_cell[name], cell.outcome.generalize / cell.outcome.fit) for cell, of_cell in answers
            ),
        }
    return {"cells": len(answers), "scores": scores}
