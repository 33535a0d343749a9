"""The whole trial as plain data."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from empirical.trial.association import association
from empirical.trial.breaking import breaking, breaking_summary
from empirical.trial.conjecture import RULES, Criteria, Evidence, JudgedCell, judge, predicted_by
from empirical.trial.diagnosis import diagnose, disagreements
from empirical.trial.outcomes import Checkpoint
from empirical.trial.sensitivity import sensitivity
from empirical.trial.statistics import ALPHA, CONFIDENCE, runs_needed


def as_json(evidence: Sequence[Evidence], main: Criteria) -> dict[str, Any]:
    """Everything that the evidence says, as JSON holds it.

    Tables, tests and lists are of the main criteria, and so of one model size; the cells of other sizes are judged by
    themselves and stand after those of the main size.

    Raises:
        TrialError, StoreError: as `judge`.
    """
    cells = judge(evidence, main)
    others = [size for size in dict.fromkeys(one.key.size for one in evidence) if size != main.size]
    return {
        "main": asdict(main),
        "alpha": ALPHA,
        "confidence": CONFIDENCE,
        "runs_needed": runs_needed(sum(cell.p_against is not None for cell in cells)),
        "rules": {rule: association(judge(evidence, replace(main, rule=rule))) for rule in RULES},
        "rules_differ": _differ(cells),
        "breaking": breaking_summary(cells),
        "sensitivity": sensitivity(evidence, main),
        "cells": [
            content
            for size in (main.size, *others)
            for content in _cells([one for one in evidence if one.key.size == size], replace(main, size=size))
        ],
    }


def _differ(cells: Sequence[JudgedCell]) -> list[dict[str, Any]]:
    """The cells on which the rules say different things, and what was observed there."""
    said = [(cell, {rule: predicted_by(cell.prediction, rule) for rule in RULES}) for cell in cells]
    return [
        {"cell": str(cell.key), "observed": cell.observed, **answers}
        for cell, answers in said
        if len(set(answers.values())) > 1
    ]


def _cells(evidence: Sequence[Evidence], criteria: Criteria) -> list[dict[str, Any]]:
    """The cells of one size, each with what the published checkpoint rule would have counted beside."""
    published = judge(evidence, replace(criteria, checkpoint=Checkpoint.BEST_ON_TEST))
    return [
        {
            **cell.key._asdict(),
            "prediction": cell.prediction.as_json() if cell.prediction else None,
            "predicted": cell.predicted,
            "literal": predicted_by(cell.prediction, "literal"),
            "observed": cell.observed,
            "verdict": cell.verdict,
            **{name: asdict(getattr(cell, name)) for name in ("fit", "generalizes_given_fit", "generalizes")},
            **{name: getattr(cell, name) for name in ("p_against", "p_for", "p_against_holm", "p_for_holm")},
            "best_on_test": {"fit": asdict(best.fit), "generalizes": asdict(best.generalizes)},
            "breaking": breaking(cell),
            "disagrees_with": list(disagreements(cell)),
            "diagnosis": [asdict(finding) for finding in diagnose(cell, one, criteria)],
            "outcomes": [asdict(one) for one in cell.outcomes],
            "predicted_before_training": cell.predicted_before_training,
        }
        for cell, best, one in zip(judge(evidence, criteria), published, evidence, strict=True)
    ]
