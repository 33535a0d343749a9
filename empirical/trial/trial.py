"""Result of the whole trial as plain data."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from statistics import median
from typing import Any

from lengthgen.circuits.prediction_record import RULES, VARIANTS
from lengthgen.empirical.statistics.shares import ALPHA, CONFIDENCE
from lengthgen.empirical.trial.association import association
from lengthgen.empirical.trial.breaking import breaking, breaking_summary
from lengthgen.empirical.trial.conjecture import CellEvidence, Criteria, JudgedCell, judge, unanimous_runs
from lengthgen.empirical.trial.diagnosis import diagnose, disagreements
from lengthgen.empirical.trial.lacking import lacking_runs
from lengthgen.empirical.trial.outcomes import Checkpoint, RunOutcome, outcome
from lengthgen.empirical.trial.sensitivity import sensitivity


def as_json(evidence: Sequence[CellEvidence], main: Criteria, frozen: str | None = None) -> dict[str, Any]:
    """Evaluate the evidence and return everything as JSON; `frozen` is the hash of all frozen predictions.

    Tables, tests and lists use the main criteria, and so one model size. Cells of other sizes are judged separately and
    listed after those of the main size.

    Raises:
        TrialError, StoreError: see `judge`.
    """
    cells = judge(evidence, main)
    any_run = evidence[0].runs[0][0]
    others = [size for size in dict.fromkeys(entry.key.size for entry in evidence) if size != main.size]
    return {
        "frozen": frozen,
        "main": asdict(main),
        "train": list(any_run.train),
        "alpha": ALPHA,
        "confidence": CONFIDENCE,
        "unanimous_runs": unanimous_runs(),
        "never_fit": [str(cell.key) for cell in cells if cell.predicted and not cell.fit.successes],
        "rules": {rule: association(judge(evidence, replace(main, rule=rule))) for rule in RULES},
        "rules_differ": _cells_where_rules_differ(cells),
        "breaking": breaking_summary(cells),
        "sensitivity": sensitivity(evidence, main),
        "cells": [
            content
            for size in (main.size, *others)
            for content in _cells_as_json(
                [entry for entry in evidence if entry.key.size == size], replace(main, size=size)
            )
        ],
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
            **{name: asdict(getattr(cell, name)) for name in ("fit", "generalizes_given_fit", "generalizes")},
            "e_against": cell.e_against,
            "e_for": cell.e_for,
            "estimates": cell.estimates(),
            "best_on_test": {"fit": asdict(best.fit), "generalizes": asdict(best.generalizes)},
            "curve": _curve(cell.outcomes),
            "breaking": breaking(cell),
            "disagrees_with": list(disagreements(cell)),
            "diagnosis": [asdict(finding) for finding in diagnose(cell, entry, criteria)],
            "outcomes": [asdict(outcome) for outcome in cell.outcomes],
            "predicted_before_training": cell.predicted_before_training,
            "post_hoc": cell.post_hoc,
            "not_frozen": _not_frozen(entry, criteria),
        }
        for cell, lacking, best, entry in zip(cells, lacking_runs(cells), published, evidence, strict=True)
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
