"""Sensitivity of the trial: change one criterion at a time, and see what changes."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from lengthgen.circuits.prediction_record import RULES
from lengthgen.empirical.trial.association import agreement, table
from lengthgen.empirical.trial.conjecture import CellEvidence, Criteria, JudgedCell, judge
from lengthgen.empirical.trial.outcomes import Checkpoint

THRESHOLDS = (0.9, 0.95, 0.99, 1.0)


def sensitivity(evidence: Sequence[CellEvidence], main: Criteria) -> list[dict[str, Any]]:
    """Judge by the main criteria, and by each variation that differs from them in one choice.

    Each entry holds the criteria; what was `varied` (None for the main one); for each rule the 2x2 counts and the
    agreement; and `changed`: every cell whose prediction, observation or verdict differs from the main criteria, with
    both. Cells of another model size are compared with those of the main size of the same task, format and encoding; a
    cell without such a partner is left out.
    """
    reference = {cell.key[:3]: cell for cell in judge(evidence, main)}
    return [
        {
            "varied": varied,
            "setting": asdict(criteria),
            "rules": {rule: _counts(evidence, replace(criteria, rule=rule)) for rule in RULES},
            "changed": [
                {"cell": str(cell.key), "main": _answer(reference[cell.key[:3]]), "here": _answer(cell)}
                for cell in judge(evidence, criteria)
                if cell.key[:3] in reference and _answer(cell) != _answer(reference[cell.key[:3]])
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


def _counts(evidence: Sequence[CellEvidence], criteria: Criteria) -> dict[str, Any]:
    """2x2 counts and agreement under some criteria."""
    counts = table(judge(evidence, criteria))
    return {"table": counts, "agreement": agreement(counts)}


def _answer(cell: JudgedCell) -> dict[str, Any]:
    """Prediction, observation and verdict of a cell."""
    return {"predicted": cell.predicted, "observed": cell.observed, "verdict": cell.verdict}
