"""Result of the whole trial as plain data: rules, breaking scales, other criteria, and every cell."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from statistics import median
from typing import Any

from lengthgen.circuits.prediction_record import RULES, VARIANTS
from lengthgen.empirical.experiment.judge import ALPHA, CONFIDENCE, share
from lengthgen.empirical.experiment.outcome import Checkpoint, RunOutcome, outcome
from lengthgen.empirical.trial.association import agreement, association, table
from lengthgen.empirical.trial.baselines import beside_baselines
from lengthgen.empirical.trial.conjecture import (
    CellEvidence,
    Criteria,
    JudgedCell,
    judge,
    lacking_runs,
    likely_runs,
    unanimous_runs,
)
from lengthgen.empirical.trial.diagnosis import diagnose, disagreements

THRESHOLDS = (0.9, 0.95, 0.99, 1.0)
"""Shares of right samples that sensitivity uses in turn as the one from which on a scale is solved."""


def as_json(evidence: Sequence[CellEvidence], main: Criteria, frozen: str | None = None) -> dict[str, Any]:
    """Evaluate the evidence and return everything as JSON; `frozen` is the hash of all frozen predictions.

    Tables, tests and lists use the main criteria, and so one model size. Cells of other sizes are judged separately and
    listed after those of the main size.

    Raises:
        TrialError, StoreError: see `judge`.
    """
    cells = judge(evidence, main)
    sizes = dict.fromkeys([main.size, *(entry.key.size for entry in evidence)])
    return {
        "frozen": frozen,
        "main": asdict(main),
        "train": list(evidence[0].runs[0][0].train),
        "alpha": ALPHA,
        "confidence": CONFIDENCE,
        "unanimous_runs": unanimous_runs(),
        "never_fit": [str(cell.key) for cell in cells if cell.predicted and not cell.outcome.fit],
        "rules": {rule: association(judge(evidence, replace(main, rule=rule))) for rule in RULES},
        "baselines": beside_baselines(cells),
        "rules_differ": _cells_where_rules_differ(cells),
        "breaking": breaking_summary(cells),
        "sensitivity": sensitivity(evidence, main),
        "cells": [content for size in sizes for content in _cells_as_json(evidence, replace(main, size=size))],
    }


def _cells_where_rules_differ(cells: Sequence[JudgedCell]) -> list[dict[str, Any]]:
    """Cells for which the rules predict differently, with the observation there."""
    predictions = [(cell, _answers(cell, RULES)) for cell in cells]
    return [
        {"cell": str(cell.key), "observed": cell.observed, **answers}
        for cell, answers in predictions
        if len(set(answers.values()) - {None}) > 1
    ]


def _answers(cell: JudgedCell, rules: Iterable[str]) -> dict[str, bool | None]:
    """Answer of each rule for a cell."""
    return {rule: cell.prediction.says(rule) if cell.prediction else None for rule in rules}


def _cells_as_json(evidence: Sequence[CellEvidence], criteria: Criteria) -> list[dict[str, Any]]:
    """Cells of one size, each with the counts that the published checkpoint rule would give."""
    cells = judge(evidence, criteria)
    published = judge(evidence, replace(criteria, checkpoint=Checkpoint.BEST_ON_TEST))
    entries = [entry for entry in evidence if entry.key.size == criteria.size]
    return [
        {
            **cell.key._asdict(),
            "prediction": cell.prediction.as_json() if cell.prediction else None,
            "predicted": cell.predicted,
            "forecast": cell.prediction.forecast.as_json() if cell.prediction and cell.prediction.forecast else None,
            **_answers(cell, ("coverage", "literal", *VARIANTS)),
            "observed": cell.observed,
            "verdict": cell.verdict,
            "lacking_runs": lacking,
            "likely_runs": likely,
            **{name: asdict(of_runs) for name, of_runs in cell.shares.items()},
            "e_against": cell.e_against,
            "e_for": cell.e_for,
            "near_half": cell.near_half,
            "estimates": cell.estimates(),
            "best_on_test": {name: asdict(best.shares[name]) for name in ("fit", "generalizes")},
            "curve": _curve(cell.outcomes),
            "breaking": breaking(cell),
            "disagrees_with": list(disagreements(cell)),
            "diagnosis": [asdict(finding) for finding in diagnose(cell, entry, criteria)],
            "outcomes": [asdict(outcome) for outcome in cell.outcomes],
            "predicted_before_training": cell.predicted_before_training,
            "post_hoc": cell.post_hoc,
            "not_frozen": _not_frozen(entry, criteria),
        }
        for cell, lacking, likely, best, entry in zip(
            cells, lacking_runs(cells), likely_runs(cells), published, entries, strict=True
        )
    ]


def _curve(outcomes: Sequence[RunOutcome]) -> list[tuple[int, float]]:
    """Pairs (scale, median exact match) over the fitting runs, or over all runs if none fits."""
    runs = [run for run in outcomes if run.fits] or outcomes
    return [(scale, median(run.exact_match[scale] for run in runs)) for scale in sorted(runs[0].exact_match)]


def _not_frozen(evidence: CellEvidence, criteria: Criteria) -> dict[str, int]:
    """Count the runs of a cell whose seeds do not derive from its frozen predictions, by outcome."""
    outcomes = [outcome(history, threshold=criteria.threshold) for history in evidence.not_frozen]
    return {
        "runs": len(outcomes),
        "fit": sum(result.fits for result in outcomes),
        "generalize": sum(bool(result.generalizes) for result in outcomes),
    }


def breaking(cell: JudgedCell) -> dict[str, Any] | None:
    """Predicted and observed breaking scale of one cell; None without a prediction or a fitting run.

    `observed` is that of `breaking_scale`. `exact` is the share of fitting runs that break at the predicted scale.
    `range` holds the first and last failure among the runs that break. `difference` is observed minus predicted:
    positive if runs last longer than predicted.
    """
    failures, predicted, observed = cell.outcome.failures, cell.expected_break, cell.outcome.breaks_at
    if cell.predicted is None or not failures:
        return None
    finite = [failure for failure in failures if failure is not None]
    return {
        "predicted": predicted,
        "observed": observed,
        "range": [min(finite), max(finite)] if finite else None,
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


def sensitivity(evidence: Sequence[CellEvidence], main: Criteria) -> list[dict[str, Any]]:
    """Judge by the main criteria, and by each variation that differs from them in one choice.

    Each entry holds the criteria; what was `varied` (None for the main one); for each rule the 2x2 counts and the
    agreement; and `changed`: every cell whose prediction, observation or verdict differs from the main criteria, with
    both. Cells of another model size are compared with those of the main size of the same task, format and encoding; a
    cell without such a partner is left out.
    """

    def answers(criteria: Criteria) -> dict[tuple[str, ...], tuple[str, dict[str, Any]]]:
        """Task, format and encoding -> the cell's name, and its prediction, observation and verdict."""
        return {
            cell.key[:3]: (
                str(cell.key),
                {"predicted": cell.predicted, "observed": cell.observed, "verdict": cell.verdict},
            )
            for cell in judge(evidence, criteria)
        }

    def counts(criteria: Criteria) -> dict[str, Any]:
        counted = table(judge(evidence, criteria))
        return {"table": counted, "agreement": agreement(counted)}

    reference = answers(main)
    return [
        {
            "varied": varied,
            "setting": asdict(criteria),
            "rules": {rule: counts(replace(criteria, rule=rule)) for rule in RULES},
            "changed": [
                {"cell": name, "main": reference[key][1], "here": answer}
                for key, (name, answer) in answers(criteria).items()
                if key in reference and answer != reference[key][1]
            ],
        }
        for varied, criteria in [(None, main), *_variations(evidence, main)]
    ]


def _variations(evidence: Sequence[CellEvidence], main: Criteria) -> Iterator[tuple[str, Criteria]]:
    """Yield (name of the changed choice, criteria)."""
    choices: dict[str, tuple[Any, ...]] = {
        "threshold": THRESHOLDS,
        "checkpoint": tuple(Checkpoint),
        "mode": tuple(dict.fromkeys(mode for entry in evidence for mode in entry.predictions)),
        "size": tuple(dict.fromkeys(entry.key.size for entry in evidence)),
    }
    for name, values in choices.items():
        for value in values:
            if value != getattr(main, name):
                change = {name: value}
                yield name, replace(main, **change)
