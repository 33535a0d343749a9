"""Brier scores of the forecast and its rivals: on the half of random tasks that no fit saw, and on named tasks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from lengthgen.circuits.forecast.rates import ALWAYS_NO, KINDS, RATE, RATE_WITH_SRC, Rates, counts_of, is_of_kind
from lengthgen.circuits.forecast.record import ANSWERED, JUDGED, REGISTERED, RecordedCell, recorded_cells, version
from lengthgen.circuits.forecast.table import fitted_table
from lengthgen.circuits.prediction_record import SURE

JUDGED_PARTS = dict(zip(("random tasks", "languages", "swapped"), REGISTERED, strict=True))
"""Name of each part of the other half -> its record."""
BASELINES_IN_WORDS = {
    ALWAYS_NO: ALWAYS_NO,
    RATE: "rate by encoding and format",
    RATE_WITH_SRC: "the same with SRC's bit",
}
"""Baseline -> its name among the rivals."""
NAMED_PARTS = {"fig2": "quick-until-decided/fig2", "fig4": "quick-until-decided/fig4"}
"""Name of each part of the named tasks -> its record."""
FEWEST = 100
"""Least number of runs of a tenth of the forecasts whose calibration is judged."""
Probability = Callable[[RecordedCell], float]
"""Function from a cell to the probability that a fitting run of it generalizes."""


@dataclass(frozen=True, kw_only=True)
class Tenth:
    """Forecasts in one tenth of [0, 1]: number of tasks and runs, mean forecast, share of runs that generalized."""

    low: float
    tasks: int
    runs: int
    forecast: float
    observed: float


def scores() -> dict[str, Any]:
    """Return the scores of all rivals on each part, the calibration of the forecast, and where it is wrong most.

    Returns:
        version; fitted: runs and tasks that are counted; fewest: FEWEST; parts: name -> unit ("run" or "cell"), runs,
        cells, and rival -> Brier score; calibration: tenths of the first part; worst: named cells with large errors.
    """
    cells = [cell for cell in recorded_cells() if cell.fit]
    fitted = [cell for cell in cells if cell.counts]
    judged = {
        name: [cell for cell in cells if cell.record == record and cell.half == JUDGED]
        for name, record in JUDGED_PARTS.items()
    }
    named = {name: [cell for cell in cells if cell.record == record] for name, record in NAMED_PARTS.items()}
    first = next(iter(JUDGED_PARTS))
    rivals = probabilities([cell for cell in fitted if cell.record == JUDGED_PARTS[first]])
    parts = {name: _part(members, rivals, by_run=True) for name, members in judged.items()}
    parts |= {
        f"{first}, {kind}": _part(
            [cell for cell in judged[first] if is_of_kind(cell.encoding, kind)], rivals, by_run=True
        )
        for kind in KINDS[:2]
    }
    parts |= {name: _part(members, rivals, by_run=False) for name, members in named.items()}
    return {
        "version": version(),
        "fitted": {"runs": sum(cell.fit for cell in fitted), "tasks": len({(cell.task, cell.base) for cell in fitted})},
        "fewest": FEWEST,
        "parts": parts,
        "calibration": [asdict(tenth) for tenth in calibration(judged[first], rivals["forecast"])],
        "worst": worst([cell for members in named.values() for cell in members], rivals["forecast"]),
    }


def probabilities(fitted: Sequence[RecordedCell]) -> dict[str, Probability]:
    """Return rival -> its probabilities. A rule's yes counts as SURE, its no as 1 - SURE, an abstention as one half.

    Rates are those of the fitted cells, in which the share of all stands for one run; the one with SRC knows whether
    that of the task stays the same.
    """
    table = fitted_table()
    rates = Rates.of(map(counts_of, fitted))

    def of_baseline(name: str) -> Probability:
        def probability(cell: RecordedCell) -> float:
            counts = counts_of(cell)
            return rates.probabilities(counts.encoding, counts.operands, counts.invariant)[name]

        return probability

    def of_rule(rule: str) -> Probability:
        return lambda cell: {True: SURE, False: 1 - SURE, None: 0.5}[cell.answers[rule]]

    return (
        {"forecast": lambda cell: table.share(cell.features)}
        | {name: of_baseline(baseline) for baseline, name in BASELINES_IN_WORDS.items()}
        | {rule: of_rule(rule) for rule in ANSWERED.values()}
    )


def _part(cells: Sequence[RecordedCell], rivals: Mapping[str, Probability], *, by_run: bool) -> dict[str, Any]:
    """Return the scores on some cells: the mean over runs, or over cells whatever the number of their runs."""
    weights = [cell.fit if by_run else 1 for cell in cells]

    def loss(cell: RecordedCell, probability: float) -> float:
        share = cell.generalize / cell.fit  # the mean squared error over the fitting runs
        return share * (1 - probability) ** 2 + (1 - share) * probability**2

    def brier(rival: Probability) -> float:
        losses = (loss(cell, rival(cell)) for cell in cells)
        return sum(weight * loss for weight, loss in zip(weights, losses, strict=True)) / sum(weights)

    repeated = [cell for cell in cells if cell.fit > 1]
    shares = [cell.generalize / cell.fit for cell in repeated]
    # The unbiased variance between the runs of a cell.
    noise = fmean(share * (1 - share) * cell.fit / (cell.fit - 1) for share, cell in zip(shares, repeated, strict=True))
    return {
        "unit": "run" if by_run else "cell",
        "cells": len(cells),
        "runs": sum(cell.fit for cell in cells),
        "brier": {name: brier(rival) for name, rival in rivals.items()} | {"noise": noise},
    }


def calibration(cells: Sequence[RecordedCell], probability: Probability) -> list[Tenth]:
    """Return the tenths of [0, 1] that have a forecast of some run."""
    by_tenth: dict[int, list[RecordedCell]] = {}
    for cell in cells:
        by_tenth.setdefault(min(int(10 * probability(cell)), 9), []).append(cell)
    tenths = []
    for tenth, members in sorted(by_tenth.items()):
        runs = sum(cell.fit for cell in members)
        tenths.append(
            Tenth(
                low=tenth / 10,
                tasks=len({(cell.task, cell.base) for cell in members}),
                runs=runs,
                forecast=sum(cell.fit * probability(cell) for cell in members) / runs,
                observed=sum(cell.generalize for cell in members) / runs,
            )
        )
    return tenths


def worst(cells: Sequence[RecordedCell], probability: Probability, count: int = 8) -> list[dict[str, Any]]:
    """Return the cells whose forecasts err most, each with its counts."""
    ranked = sorted(cells, key=lambda cell: abs(probability(cell) - cell.generalize / cell.fit), reverse=True)
    return [
        {
            "record": cell.record,
            "task": cell.task if cell.base is None else f"{cell.task} base {cell.base}",
            "operands": cell.features.operands,
            "encoding": cell.encoding,
            "forecast": probability(cell),
            "runs": cell.fit,
            "generalize": cell.generalize,
        }
        for cell in ranked[:count]
    ]
