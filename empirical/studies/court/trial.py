"""Judgement of theories by cells of evidence: answers are frozen with a hash, then outcomes are computed and scored."""

import hashlib
import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from lengthgen.circuits.forecast.rates import KINDS, is_of_kind
from lengthgen.empirical.experiment.judge import confusion, says
from lengthgen.empirical.experiment.outcome import Outcome
from lengthgen.empirical.studies.court.cells import Cell
from lengthgen.empirical.studies.court.scores import (
    BASE_RATE,
    BASELINES,
    CONTROLS,
    REFERENCES,
    Probabilities,
    base_rates,
    brier_scores,
    controls,
    difference,
    score,
    verdict_on,
)
from lengthgen.empirical.studies.theories.rival import Guess, Question, Theory
from lengthgen.infrastructure.shapes import COUNT, NUMBER, TEXT, both, made_into, or_none, reads

THRESHOLDS = (0.5, 0.75, 0.9, 0.95, 0.99)
"""Accuracies from which on a length counts as solved."""
MAIN_THRESHOLD = 0.9
"""Threshold of the main table, fixed before any score was computed."""
LITERAL = "src"
"""Name of the theory whose opposite is a control."""
GUESS = both(
    made_into(Guess, probability=or_none(NUMBER), reason=TEXT, breaks_at=or_none(COUNT)),
    reads(lambda content: Guess(**content)),
)
"""Shape of an answer that `guess_as_json` wrote."""


def guess_as_json(guess: Guess) -> dict[str, Any]:
    """Return an answer as JSON."""
    return {"probability": guess.probability, "breaks_at": guess.breaks_at, "reason": guess.reason}


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """Answers of theories to questions.

    Attributes:
        guesses: theory name -> cell name -> answer.
    """

    guesses: Mapping[str, Mapping[str, Guess]]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all answers with their reasons, in the form of recorded judgements, older than `freeze`."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return theory -> cell -> probability, breaking length and reason."""
        return {
            theory: {cell: guess_as_json(guess) for cell, guess in of_cells.items()}
            for theory, of_cells in self.guesses.items()
        }


def freeze(theories: Sequence[Theory], questions: Mapping[str, Question]) -> Frozen:
    """Ask every theory every question, by the name of its cell."""
    return Frozen(
        guesses={
            theory.name: {cell: theory.guess(question) for cell, question in questions.items()} for theory in theories
        }
    )


def judge(
    cells: Sequence[Cell], theories: Sequence[Theory], frozen: Frozen, *, post_hoc: Container[str] = ()
) -> dict[str, Any]:
    """Return the judgement of theories as JSON.

    Returns:
        frozen (hash), theories, references and controls (name -> scores at the main threshold, with the verdict at each
        threshold), pairs (differences of Brier scores), by_evidence (Brier score by data set), cells, did_not_fit,
        disagreements, not_expressible.
    """
    at = {threshold: _Judged(cells, frozen, threshold) for threshold in THRESHOLDS}
    main = at[MAIN_THRESHOLD]
    scored = {threshold: judged.scores() for threshold, judged in at.items()}
    described = {
        theory.name: {name: getattr(theory, name) for name in ("title", "statement", "label", "source", "domain")}
        | {"post_hoc": theory.name in post_hoc}
        for theory in theories
    }
    references, acted = ({name: {"says": what} for name, what in of.items()} for of in (REFERENCES, CONTROLS))
    subjects = {cell.task: cell.question.subject for cell in cells}
    return {
        "frozen": frozen.digest,
        "threshold": MAIN_THRESHOLD,
        "thresholds": [*THRESHOLDS],
        **{
            part: {name: content | _score_as_json(name, scored, main) for name, content in of_part.items()}
            for part, of_part in (("theories", described), ("references", references), ("controls", acted))
        },
        "pairs": main.pairs([theory.name for theory in theories]),
        "cells": [_cell_as_json(outcome, frozen) for outcome in main.all_outcomes],
        "did_not_fit": [outcome.cell.name for outcome in main.all_outcomes if not outcome.fit],
        "disagreements": _disagreements(main.judged, frozen),
        "not_expressible": {name: subject.why_not for name, subject in subjects.items() if subject.task is None},
    }


class _Judged:
    """Cells with a fitting run at one threshold, with the probabilities of everybody."""

    def __init__(self, cells: Sequence[Cell], frozen: Frozen, threshold: float) -> None:
        self.all_outcomes = [cell.outcome(threshold) for cell in cells]
        self.judged = [each for each in self.all_outcomes if each.fit]
        self.probabilities: dict[str, Probabilities] = {
            name: [guesses[outcome.cell.name].probability for outcome in self.judged]
            for name, guesses in frozen.guesses.items()
        }
        literal = self.probabilities.get(LITERAL, [None] * len(self.judged))
        self.base = base_rates(self.judged, literal)
        self.probabilities |= self.base
        if LITERAL in frozen.guesses:
            self.probabilities |= controls(self.judged, literal)

    def scores(self) -> dict[str, dict[str, Any]]:
        """Return the score of everybody; nothing without a judged cell."""
        if not self.judged:
            return {}
        return {name: score(self.judged, values, self.base[BASE_RATE]) for name, values in self.probabilities.items()}

    def against_baselines(self, name: str) -> dict[str, Any]:
        """Return baseline -> difference of the Brier scores over the cells that a theory answers, and the verdict."""
        values = self.probabilities[name]
        answered = np.array([probability is not None for probability in values])
        scores = brier_scores(self.judged, values)
        differences = {
            baseline: difference(self.judged, scores, brier_scores(self.judged, self.base[baseline]), answered)
            if answered.any()
            else {}
            for baseline in BASELINES
        }
        return {name: each | {"verdict": verdict_on(each or None)} for name, each in differences.items()}

    def by_kind(self, name: str) -> dict[str, Any]:
        """Return kind of encoding -> its cells, the right answers of a theory, and its mean Brier score."""
        kinds = {}
        for kind in KINDS:
            chosen = [at for at, each in enumerate(self.judged) if is_of_kind(each.cell.question.encoding, kind)]
            judged, values = [self.judged[at] for at in chosen], [self.probabilities[name][at] for at in chosen]
            counts = confusion((says(value), each.observed) for value, each in zip(values, judged, strict=True))
            kinds[kind] = {
                "cells": len(judged),
                "right": counts["right_yes"] + counts["right_no"],
                "brier": float(brier_scores(judged, values).mean()) if judged else None,
            }
        return kinds

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
            {"first": first, "second": second} | difference(self.judged, values[first], values[second])
            for first, second in combinations(names, 2)
        ]


def _score_as_json(name: str, scored: Mapping[float, Mapping[str, Mapping[str, Any]]], main: _Judged) -> dict[str, Any]:
    """Return the scores of one theory at the main threshold, and its verdict at each threshold."""
    here = {threshold: scores[name] for threshold, scores in scored.items() if name in scores}
    if MAIN_THRESHOLD not in here:
        return {"verdict": "undecided", "answered": 0}
    by_threshold = {
        str(threshold): {name: of_threshold[name] for name in ("verdict", "brier")}
        for threshold, of_threshold in here.items()
    }
    return {
        **here[MAIN_THRESHOLD],
        "against": main.against_baselines(name),
        "kinds": main.by_kind(name),
        "by_threshold": by_threshold,
        "by_evidence": main.brier_by_evidence(name),
    }


def _cell_as_json(outcome: Outcome[Cell], frozen: Frozen) -> dict[str, Any]:
    """Return one cell with its outcome and every answer."""
    cell, question = outcome.cell, outcome.cell.question
    return {
        "name": cell.name,
        "evidence": cell.evidence,
        "task": cell.task,
        "encoding": question.encoding,
        "train": question.train,
        "test": question.test,
        "runs": outcome.runs,
        "fit": outcome.fit,
        "fit_measured": cell.measures_training,
        "generalizes": outcome.generalize,
        "breaks_at": outcome.breaks_at,
        "remark": cell.remark,
        "guesses": {name: guess_as_json(guesses[cell.name]) for name, guesses in frozen.guesses.items()},
    }


def _disagreements(judged: Sequence[Outcome[Cell]], frozen: Frozen) -> list[dict[str, Any]]:
    """Return the cells with a fitting run on which some theory says yes and another no."""
    disagreements = []
    for outcome in judged:
        answers = {name: says(guesses[outcome.cell.name].probability) for name, guesses in frozen.guesses.items()}
        yes, no = ([name for name, answer in answers.items() if answer is side] for side in (True, False))
        if yes and no:
            disagreements.append({"cell": outcome.cell.name, "observed": outcome.observed, "yes": yes, "no": no})
    return disagreements
