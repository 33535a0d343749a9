"""The scale at which runs break, beside the scale at which they were predicted to."""

from collections.abc import Sequence
from dataclasses import asdict
from math import inf, isinf
from statistics import median
from typing import Any

from empirical.trial.conjecture import JudgedCell
from empirical.trial.statistics import share


def breaking(cell: JudgedCell) -> dict[str, Any] | None:
    """Predicted and observed breaking scale of one cell; None without a prediction or a fitting run.

    `observed` is the median of the fitting runs' first failures, where a run that never fails counts as beyond every
    scale: None where that is the median. `exact` is the share of fitting runs that break just as predicted, `range`
    the first and last failure among those that break, and `difference` is observed minus predicted: positive where
    runs last longer than predicted.
    """
    failures = [one.first_failure for one in cell.outcomes if one.fits]
    if cell.prediction is None or cell.predicted is None or not failures:
        return None
    predicted = cell.prediction.breaks_at
    middle = median(inf if failure is None else failure for failure in failures)
    observed = None if isinf(middle) else middle
    broken = [failure for failure in failures if failure is not None]
    return {
        "predicted": predicted,
        "observed": observed,
        "range": [min(broken), max(broken)] if broken else None,
        "exact": asdict(share(failures.count(predicted), len(failures))),
        "difference": None if predicted is None or observed is None else observed - predicted,
    }


def breaking_summary(cells: Sequence[JudgedCell]) -> dict[str, Any]:
    """Over the cells that were predicted to break and have a fitting run: how they did."""
    found = [one for cell in cells if (one := breaking(cell)) and one["predicted"] is not None]
    differences = [one["difference"] for one in found if one["difference"] is not None]
    return {
        "cells": len(found),
        "as_predicted": differences.count(0),
        "earlier": sum(difference < 0 for difference in differences),
        "later": sum(difference > 0 for difference in differences),
        "never": len(found) - len(differences),
        "median_difference": median(differences) if differences else None,
    }
