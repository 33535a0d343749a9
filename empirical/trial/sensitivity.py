"""How far the trial depends on how the evidence is read: one choice changed at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from empirical.trial.association import agreement, table
from empirical.trial.conjecture import RULES, Criteria, Evidence, JudgedCell, judge
from empirical.trial.outcomes import Checkpoint

THRESHOLDS = (0.9, 0.95, 0.99, 1.0)


def sensitivity(evidence: Sequence[Evidence], main: Criteria) -> list[dict[str, Any]]:
    """For the main criteria and for each that differs from it in one choice: what becomes of the trial.

    Each entry holds the criteria, what was `varied` (None for the main one), for both rules the 2x2 counts and the
    agreement, and `changed`: every cell whose prediction, observation or verdict is another than in the main criteria,
    with both. Cells of another model size are compared with those of the main size of the same task, format and
    encoding; one that the main size lacks is not.
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


def _variations(evidence: Sequence[Evidence], main: Criteria) -> Iterator[tuple[str, Criteria]]:
    choices: dict[str, tuple[Any, ...]] = {
        "threshold": THRESHOLDS,
        "checkpoint": tuple(Checkpoint),
        "mode": tuple(dict.fromkeys(mode for one in evidence for mode in one.predictions)),
        "size": tuple(dict.fromkeys(one.key.size for one in evidence)),
    }
    for name, values in choices.items():
        for value in values:
            if value != getattr(main, name):
                change = {name: value}
                yield name, replace(main, **change)


def _counts(evidence: Sequence[Evidence], criteria: Criteria) -> dict[str, Any]:
    counts = table(judge(evidence, criteria))
    return {"table": counts, "agreement": agreement(counts)}


def _answer(cell: JudgedCell) -> dict[str, Any]:
    return {"predicted": cell.predicted, "observed": cell.observed, "verdict": cell.verdict}
