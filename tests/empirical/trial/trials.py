"""Hand-made evidence for the trial: runs trained on scales 1-2 and tested on 1-4, whose metrics are written down."""

from dataclasses import replace
from itertools import product
from math import inf, nan

from lengthgen.circuits.prediction_record import RULES, Prediction
from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.trial.conjecture import CellEvidence, CellKey, Criteria

YES = Prediction(
    encoding="ipe", relation="ideal", scale_hint=False, complexity_train=1, complexity_test=1, labels_covered=True,
    entries_covered=True, unseen_distractors=0, breaks_at=None, why="",
)  # fmt: skip
NO = replace(YES, complexity_test=inf, breaks_at=3)
NOTHING = replace(
    YES, relation=None, complexity_train=None, complexity_test=None, labels_covered=None, entries_covered=None,
    unseen_distractors=None, why="its relation is not known",
)  # fmt: skip
"""A prediction of nothing."""
UNCOVERED = replace(YES, entries_covered=False, breaks_at=3)
"""The rule `literal` says yes, `coverage` no."""

SOLVES, FAILS, UNFIT = (1, 1, 1, 1), (1, 1, 1, 0), (1, 0.5, 1, 1)
"""Exact match at scales 1-4 of a run that generalizes, of one that only fits, and of one that does not fit."""

MAIN = Criteria(threshold=0.95, size="small")


def rows(scores, *, epoch=1, loss=0.0, **columns):
    """Rows of one checkpoint; columns as they are, or by scale."""
    all_columns = {
        "seen_steps": 1.0,
        "exact_match_seen": None,
        "seen_samples": 1.0,
        "first_wrong": nan,
        "token_accuracy_seen": nan,
    } | columns
    measurements = []
    for scale, score in enumerate(scores, start=1):
        row = {key: value[scale] if isinstance(value, dict) else value for key, value in all_columns.items()}
        if row["exact_match_seen"] is None:
            row["exact_match_seen"] = score
        measurements.append(
            Measurement(epoch=epoch, scale=scale, exact_match=score, token_accuracy=score, training_loss=loss, **row)
        )
    return measurements


def histories(run, counts, **columns):
    """Runs of one checkpoint and 50 test samples a scale: scores -> how many, seeds counted up."""
    run = replace(run, evaluation=replace(run.evaluation, samples=50))
    each = [scores for scores, count in counts.items() for _ in range(count)]
    return [(replace(run, seed=seed), rows(scores, **columns)) for seed, scores in enumerate(each)]


def evidence(runs, prediction=YES, name="t/f/e", size="small", **modes):
    """Evidence of one cell; `modes` are its predictions in other modes."""
    return CellEvidence(
        key=CellKey(*name.split("/"), size),
        predictions={"free": prediction} | modes,
        runs=runs,
        predicted_before_training=True,
        frozen_rules=frozenset(product(("free", *modes), RULES)),
    )


def rows_of(run, **numbers):
    """The rows that a run asks for: exact match falls with the scale and rises with the epoch."""
    numbers = {
        "token_accuracy": 0.75, "first_wrong": nan, "seen_steps": 1.0, "seen_samples": 1.0, "exact_match_seen": nan,
        "token_accuracy_seen": 0.75, "training_loss": 1.0,
    } | numbers  # fmt: skip
    return [
        Measurement(**{"epoch": epoch, "scale": scale, "exact_match": epoch / (8 * scale), **numbers})
        for epoch, scale in run.metric_keys()
    ]
