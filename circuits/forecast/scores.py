"""Scores of the forecast and its rivals on cells that no fit saw: random, named and published tasks."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from lengthgen.circuits.forecast.features import Labels, Shown
from lengthgen.circuits.forecast.rates import (
    ALWAYS_NO,
    KINDS,
    RATE,
    RATE_WITH_SRC,
    Counts,
    Rates,
    counts_of,
    is_of_kind,
    name_of,
    recorded_rates,
)
from lengthgen.circuits.forecast.record import (
    ANSWERED,
    DRAWN,
    JUDGED,
    REGISTERED,
    RecordedCell,
    recorded_cells,
    version,
)
from lengthgen.circuits.forecast.table import CONFIDENCE, Table, fitted_table, table_of
from lengthgen.circuits.prediction_record import FARTHEST, SURE
from lengthgen.circuits.tasks.families import RANDOM
from lengthgen.circuits.tasks.other_kinds import NAME as OTHER_KIND

NEW, RANDOM_TASKS = "new tasks", "random tasks"
JUDGED_PARTS = dict(zip((NEW, RANDOM_TASKS, "languages", "swapped"), (DRAWN[-1], *REGISTERED), strict=True))
"""Name of each part of the other half -> its record."""
BASELINES_IN_WORDS = {
    ALWAYS_NO: ALWAYS_NO,
    RATE: "rate by encoding and format",
    RATE_WITH_SRC: "the same with SRC's bit",
}
"""Baseline -> its name among the rivals."""
SAME_RUNS = "rate of the runs that forecasts count"
"""Name of the rate by encoding, start of its table, and format, of all runs that the forecast counts."""
NAMED_PARTS = {"fig2": "quick-until-decided/fig2", "fig4": "quick-until-decided/fig4"}
"""Name of each part of the named tasks -> its record."""
NEW_KINDS = ("of its families", "of other kinds", "by hand")
"""Kinds of new tasks: those that the forecast counts, random tasks that it never saw, and tasks that people wrote."""
GOALS = {f"{NEW}, {kind}": goal for kind, goal in zip(NEW_KINDS, (0.035, 0.06, 0.08), strict=True)}
"""Name of the part of each kind of new tasks -> Brier score that was aimed at before the first of them was trained."""
PUBLISHED = "published/"
"""Start of the names of records of published results."""
LONG = 100
"""Tested length from which on published results are told apart: all are answered by copies."""
FEWEST = 100
"""Least number of runs of a tenth of the forecasts whose calibration is judged."""
SMALLEST_LOG = 0.001
"""Probabilities below count as this in the logarithmic score; frozen ones are whole thousandths."""
WITHOUT: Mapping[str, Mapping[str, Any]] = {
    "what training shows": {"shown": Shown.UNKNOWN},
    "labels": {"labels": Labels.OTHER},
    "start of tables": {"start": ""},
    "operands": {"operands": ""},
    "bits an output": {"bits": ""},
}
"""Feature that is left out of the table -> what stands in its place in all cells."""
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


@dataclass(frozen=True, kw_only=True)
class Part:
    """Cells that are scored together, a run each, or a cell each whatever the number of its runs."""

    name: str
    cells: Sequence[RecordedCell]
    by_run: bool


def parts_of(cells: Iterable[RecordedCell]) -> list[Part]:
    """Return the parts of the cells that have a fitting run and that no fit saw; those without cells are left out."""
    cells = [cell for cell in cells if cell.fit and not cell.counts]
    judged = [cell for cell in cells if cell.half == JUDGED]
    by_run = {part: [cell for cell in judged if cell.record == record] for part, record in JUDGED_PARTS.items()}
    by_run |= {f"{NEW}, {kind}": [cell for cell in by_run[NEW] if new_kind(cell.task) == kind] for kind in NEW_KINDS}
    by_run |= {
        f"{part}, {kind}": [cell for cell in by_run[part] if is_of_kind(cell.encoding, kind)]
        for part in (NEW, RANDOM_TASKS)
        for kind in KINDS[:-1]
    }
    published = [cell for cell in cells if cell.record.startswith(PUBLISHED)]
    by_cell = {part: [cell for cell in cells if cell.record == record] for part, record in NAMED_PARTS.items()}
    by_cell |= {
        "published, to 48": [cell for cell in published if cell.test < LONG],
        "published, to 150": [cell for cell in published if cell.test >= LONG],
    }
    parts = by_run | by_cell
    return [Part(name=name, cells=parts[name], by_run=name in by_run) for name in parts if parts[name]]


def new_kind(task: str) -> str:
    """Return which of NEW_KINDS a new task is."""
    return NEW_KINDS[1 if OTHER_KIND.match(task) else 0 if task.startswith(RANDOM) else 2]


def scores() -> dict[str, Any]:
    """Return the scores of all rivals on each part, the calibration of the forecast, and where it is wrong most.

    Returns:
        version; fitted: runs and tasks that are counted; fewest: FEWEST; parts: name -> unit ("run" or "cell"), runs,
        cells, tasks, said and seen: mean forecast and share of runs that generalize, brier and log: rival -> score,
        calibration: tenths of the forecast, out_of_depth: those of the cells at the largest distance, `breaking`, and
        within: share of the cells whose counts the intervals allow; encodings: the same by encoding, of new tasks;
        without: feature that is left out -> part -> Brier score; worst: named cells with large errors.
    """
    recorded = recorded_cells()
    fitted = [cell for cell in recorded if cell.counts and cell.fit]
    rivals = probabilities()
    parts = parts_of(recorded)
    named = [cell for part in parts if part.name in NAMED_PARTS for cell in part.cells]
    return {
        "version": version(),
        "fitted": {"runs": sum(cell.fit for cell in fitted), "tasks": len({(cell.task, cell.base) for cell in fitted})},
        "fewest": FEWEST,
        "parts": {part.name: _scores_of(part, rivals) for part in parts},
        "encodings": {part.name: _scores_of(part, rivals) for part in _by_encoding(parts)},
        "without": {
            feature: {part.name: brier(part, probability) for part in parts}
            for feature, probability in _ablated(fitted).items()
        },
        "worst": worst(named, rivals["forecast"]),
    }


def _by_encoding(parts: Iterable[Part]) -> list[Part]:
    """Return the cells of new tasks, those of each encoding as a part."""
    by_encoding: dict[str, list[RecordedCell]] = {}
    for cell in (cell for part in parts if part.name == NEW for cell in part.cells):
        by_encoding.setdefault(cell.encoding, []).append(cell)
    return [Part(name=name, cells=by_encoding[name], by_run=True) for name in sorted(by_encoding)]


def _ablated(fitted: Sequence[RecordedCell]) -> dict[str, Probability]:
    """Return feature -> the probabilities of a table that does not know it."""

    def share_of(table: Table, unknown: Mapping[str, Any]) -> Probability:
        return lambda cell: table.share(replace(cell.features, **unknown))

    return {
        feature: share_of(
            table_of(replace(cell, features=replace(cell.features, **unknown)) for cell in fitted), unknown
        )
        for feature, unknown in WITHOUT.items()
    }


def probabilities() -> dict[str, Probability]:
    """Return rival -> its probabilities. A rule's yes counts as SURE, its no as 1 - SURE, an abstention as one half.

    Rates are those of `recorded_rates`; the one with SRC knows whether that of the task stays the same.
    """
    table = fitted_table()
    rates = recorded_rates(frozenset())
    same_runs = Rates.of(_with_start(cell) for cell in recorded_cells() if cell.counts)

    def of_same_runs(cell: RecordedCell) -> float:
        counts = _with_start(cell)
        return same_runs.share(counts.encoding, counts.operands)

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
        | {SAME_RUNS: of_same_runs}
        | {rule: of_rule(rule) for rule in ANSWERED.values()}
    )


def _with_start(cell: RecordedCell) -> Counts:
    """Return what rates count of a cell, its encoding told apart by the start of its table."""
    return replace(counts_of(cell), encoding=f"{name_of(cell.encoding)} {cell.features.start}".rstrip())


def _mean(part: Part, loss: Callable[[float, float], float], rival: Probability) -> float:
    """Return the mean over runs, or over cells, of a loss of (share that generalizes, probability)."""
    weights = [cell.fit if part.by_run else 1 for cell in part.cells]
    losses = (loss(cell.generalize / cell.fit, rival(cell)) for cell in part.cells)
    return math.fsum(weight * of_cell for weight, of_cell in zip(weights, losses, strict=True)) / sum(weights)


def brier(part: Part, rival: Probability) -> float:
    """Return the mean squared error over the fitting runs."""
    return _mean(part, lambda share, forecast: share * (1 - forecast) ** 2 + (1 - share) * forecast**2, rival)


def log_score(part: Part, rival: Probability) -> float:
    """Return the mean of minus the natural logarithm of the probability of what was seen (SMALLEST_LOG)."""

    def loss(share: float, forecast: float) -> float:
        forecast = min(max(forecast, SMALLEST_LOG), 1 - SMALLEST_LOG)
        return -share * math.log(forecast) - (1 - share) * math.log(1 - forecast)

    return _mean(part, loss, rival)


def _scores_of(part: Part, rivals: Mapping[str, Probability]) -> dict[str, Any]:
    """Return the scores on a part; `noise` is that of the true share of each cell."""
    repeated = [cell for cell in part.cells if cell.fit > 1]
    shares = [cell.generalize / cell.fit for cell in repeated]
    # The unbiased variance between the runs of a cell.
    noise = fmean(share * (1 - share) * cell.fit / (cell.fit - 1) for share, cell in zip(shares, repeated, strict=True))
    far = [cell for cell in part.cells if fitted_table().distance(cell.features) == FARTHEST]
    forecast = rivals["forecast"]
    return {
        "unit": "run" if part.by_run else "cell",
        "cells": len(part.cells),
        "tasks": len({(cell.task, cell.base) for cell in part.cells}),
        "runs": sum(cell.fit for cell in part.cells),
        "said": _mean(part, lambda _, probability: probability, forecast),
        "seen": _mean(part, lambda share, _: share, forecast),
        "brier": {name: brier(part, rival) for name, rival in rivals.items()} | {"noise": noise},
        "log": {name: log_score(part, rival) for name, rival in rivals.items()},
        "calibration": [asdict(tenth) for tenth in calibration(part.cells, forecast)],
        "out_of_depth": [asdict(tenth) for tenth in calibration(far, forecast)],
        "breaking": breaking(part.cells, forecast),
        "within": fmean(is_within(cell) for cell in part.cells),
    }


def is_within(cell: RecordedCell) -> bool:
    """True if the interval allows the count of a cell: each tail of its beta-binomial distribution has enough."""
    from scipy.special import betaln, comb  # slow to import, and most commands need none of it

    mean, weight = fitted_table().spread(cell.features)
    yes, no = weight * mean, weight * (1 - mean)
    counts = np.arange(cell.fit + 1)
    chances = comb(cell.fit, counts) * np.exp(betaln(yes + counts, no + cell.fit - counts) - betaln(yes, no))
    tail = (1 - CONFIDENCE) / 2
    return bool(chances[: cell.generalize + 1].sum() > tail and chances[cell.generalize :].sum() > tail)


def breaking(cells: Iterable[RecordedCell], probability: Probability) -> dict[str, int]:
    """Return how often runs fail first where the forecast says, of the cells of which it says where.

    It says where if most runs should fail and a rule names a scale. Tests to LONG were published in bins: left out.

    Returns:
        runs: failing runs of these cells; exact, within_one: those that fail at its scale, or at most one from it;
        next: those that fail at the first scale beyond training, where a model without any idea would say.
    """
    table = fitted_table()
    counts = dict.fromkeys(("runs", "exact", "within_one", "next"), 0)
    for cell in cells:
        breaks = None if probability(cell) > 0.5 else table.breaks_of(cell.features, cell.first_break)
        if breaks is None or cell.test >= LONG:
            continue
        for scale, runs in cell.first_failures.items():
            distance = abs(scale - min(round(breaks[1]), cell.test))
            counts["runs"] += runs
            counts["exact"] += runs * (distance == 0)
            counts["within_one"] += runs * (distance <= 1)
            counts["next"] += runs * (scale == cell.train + 1)
    return counts


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
                forecast=math.fsum(cell.fit * probability(cell) for cell in members) / runs,
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
