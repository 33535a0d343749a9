"""Judgement of theories by cells of evidence: predictions are frozen, then outcomes are computed and scored."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

from lengthgen.circuits.rivals.rival import Theory
from lengthgen.empirical.court.cell import Cell
from lengthgen.empirical.court.freeze import Frozen, guess_as_json
from lengthgen.empirical.court.outcomes import MAIN_THRESHOLD, THRESHOLDS, Outcome, measures_training, outcome_of
from lengthgen.empirical.court.references import BASE_RATE, CONTROLS, REFERENCES, base_rates, controls
from lengthgen.empirical.court.scores import Probabilities, Score, brier_scores, difference, score

LITERAL = "src"
"""Name of the theory whose opposite is a control."""


def judge(
    cells: Sequence[Cell], theories: Sequence[Theory], frozen: Frozen, *, post_hoc: Container[str] = ()
) -> dict[str, Any]:
    """Return the judgement of theories as JSON.

    Args:
        cells: the evidence, with distinct names.
        theories: theories to judge; if `src` is one of them, its opposite is a control.
        frozen: answers of the theories to the questions of all cells.
        post_hoc: names of theories of the user's own, which joined after the results were known.

    Returns:
        frozen (hash), theories, references and controls (name -> scores at the main threshold, with the verdict at each
        threshold), pairs (differences of Brier scores), by_evidence (Brier score by data set), cells, did_not_fit,
        disagreements, not_expressible.
    """
    at = {threshold: _Judged(cells, frozen, threshold) for threshold in THRESHOLDS}
    main = at[MAIN_THRESHOLD]
    scored = {threshold: judged.scores() for threshold, judged in at.items()}
    return {
        "frozen": frozen.digest,
        "threshold": MAIN_THRESHOLD,
        "thresholds": [*THRESHOLDS],
        "theories": {
            theory.name: _theory_as_json(theory)
            | {"post_hoc": theory.name in post_hoc}
            | _score_as_json(theory.name, scored, main)
            for theory in theories
        },
        "references": {name: {"says": says} | _score_as_json(name, scored, main) for name, says in REFERENCES.items()},
        "controls": {name: {"says": says} | _score_as_json(name, scored, main) for name, says in CONTROLS.items()},
        "pairs": main.pairs([theory.name for theory in theories]),
        "cells": [_cell_as_json(outcome, frozen) for outcome in main.all_outcomes],
        "did_not_fit": [outcome.cell.name for outcome in main.all_outcomes if not outcome.fit],
        "disagreements": _disagreements(main.all_outcomes, frozen),
        "not_expressible": _not_expressible(cells),
    }


class _Judged:
    """Cells with a fitting run at one threshold, with the probabilities of everybody."""

    def __init__(self, cells: Sequence[Cell], frozen: Frozen, threshold: float) -> None:
        self.all_outcomes = [outcome_of(cell, threshold) for cell in cells]
        self.judged = [each for each in self.all_outcomes if each.fit]
        self.base = base_rates(self.judged)
        self.probabilities: dict[str, Probabilities] = {
            name: [guesses[outcome.cell.name].probability for outcome in self.judged]
            for name, guesses in frozen.guesses.items()
        }
        self.probabilities |= self.base
        if LITERAL in frozen.guesses:
            self.probabilities |= controls(self.judged, self.probabilities[LITERAL])

    def scores(self) -> dict[str, Score]:
        """Return the score of everybody; nothing without a judged cell."""
        if not self.judged:
            return {}
        return {name: score(self.judged, values, self.base[BASE_RATE]) for name, values in self.probabilities.items()}

    def brier_by_evidence(self, name: str) -> dict[str, float]:
        """Return data set -> mean Brier score of one theory."""
        values = brier_scores(self.judged, self.probabilities[name])
        sets = [outcome.cell.evidence for outcome in self.judged]
        return {
            evidence: float(values[[other == evidence for other in sets]].mean()) for evidence in dict.fromkeys(sets)
        }

    def pairs(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the difference of the Brier scores of every two theories, abstentions included."""
        if not self.judged:
            return []
        values = {name: brier_scores(self.judged, self.probabilities[name]) for name in names}
        return [
            {"first": first, "second": second} | asdict(difference(self.judged, values[first], values[second]))
            for first, second in combinations(names, 2)
        ]


def _theory_as_json(theory: Theory) -> dict[str, Any]:
    names = ("title", "statement", "label", "source", "domain")
    return {name: getattr(theory, name) for name in names}


def _score_as_json(name: str, scored: Mapping[float, Mapping[str, Score]], main: _Judged) -> dict[str, Any]:
    """Return the scores of one theory at the main threshold, and its verdict at each threshold."""
    here = {threshold: scores[name] for threshold, scores in scored.items() if name in scores}
    if MAIN_THRESHOLD not in here:
        return {"verdict": "undecided", "answered": 0}
    by_threshold = {
        str(threshold): {"verdict": of_threshold.verdict, "brier": of_threshold.brier}
        for threshold, of_threshold in here.items()
    }
    return asdict(here[MAIN_THRESHOLD]) | {"by_threshold": by_threshold, "by_evidence": main.brier_by_evidence(name)}


def _cell_as_json(outcome: Outcome, frozen: Frozen) -> dict[str, Any]:
    """Return one cell with its outcome and every answer."""
    cell, question = outcome.cell, outcome.cell.question
    return {
        "name": cell.name,
        "evidence": cell.evidence,
        "task": question.subject.name,
        "encoding": question.encoding,
        "train": question.train,
        "test": question.test,
        "runs": len(cell.runs),
        "fit": outcome.fit,
        "fit_measured": measures_training(cell),
        "generalizes": outcome.generalizes,
        "breaks_at": outcome.breaks_at,
        "remark": cell.remark,
        "guesses": {name: guess_as_json(guesses[cell.name]) for name, guesses in frozen.guesses.items()},
    }


def _disagreements(judged: Sequence[Outcome], frozen: Frozen) -> list[dict[str, Any]]:
    """Return the cells with a fitting run on which some theory says yes and another no."""
    disagreements = []
    for outcome in judged:
        answers = {name: guesses[outcome.cell.name].probability for name, guesses in frozen.guesses.items()}
        yes = [name for name, probability in answers.items() if probability is not None and probability > 0.5]
        no = [name for name, probability in answers.items() if probability is not None and probability < 0.5]
        if outcome.fit and yes and no:
            disagreements.append({"cell": outcome.cell.name, "observed": outcome.observed, "yes": yes, "no": no})
    return disagreements


def _not_expressible(cells: Sequence[Cell]) -> dict[str, str]:
    """Return task -> why it cannot be written as a Task, for the tasks of the cells."""
    subjects = {cell.question.subject.name: cell.question.subject for cell in cells}
    return {name: subject.why_not for name, subject in subjects.items() if subject.task is None}
