"""Breaking scale: the smallest scale at which runs fail, observed beside predicted."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from lengthgen.empirical.statistics.breaking import breaking_scale
from lengthgen.empirical.statistics.shares import share
from lengthgen.empirical.trial.conjecture import JudgedCell


def breaking(cell: JudgedCell) -> dict[str, Any] | None:
    """Predicted and observed breaking scale of one cell; None without a prediction or a fitting run.

    `observed` is that of `breaking_scale`. `exact` is the share of fitting runs that break at the predicted scale.
    `range` holds the first and last failure among the runs that break. `difference` is observed minus predicted:
    positive if runs last longer than predicted.
    """
    failures = [outcome.first_failure for outcome in cell.outcomes if outcome.fits]
    if cell.prediction is None or cell.predicted is None or not failures:
        return None
    predicted = cell.expected_break
    observed = breaking_scale(failures)
    finite_failures = [failure for failure in failures if failure is not None]
    return {
        "predicted": predicted,
        "observed": observed,
        "range": [min(finite_failures), max(finite_failures)] if finite_failures else None,
        "exact": asdict(share(sum(failure == predicted for failure in failures), len(failures))),
        "difference": None if predicted is None or observed is None else observed - predicted,
    }


def breaking_summary(cells: Sequence[JudgedCell]) -> dict[str, Any]:
    """Summary over the cells that were predicted to break and have a fitting run."""
    entries = [entry for cell in cells if (entry := breaking(cell)) and entry["predicted"] is not None]
    differences = [entry["difference"] for entry in entries if entry["difference"] is not None]
    return {
        "cells": len(entries),
        "as_predicted": differences.count(0),
        "earlier": sum(difference < 0 for difference in differences),
        "later": sum(difference > 0 for difference in differences),
        "never": len(entries) - len(differences),
        "median_difference": median(differences) if differences else None,
    }
