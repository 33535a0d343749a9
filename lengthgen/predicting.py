"""Predictions for several encodings as plain data: the answer of `lengthgen predict --json`."""

from collections.abc import Sequence
from typing import Any

from circuits.analysis import Analysis
from circuits.encodings import EncodingSpec
from circuits.other_circuits import SeveralCircuits
from circuits.prediction import predict


def prediction_answer(
    analysis: Analysis, encodings: Sequence[EncodingSpec], train: Sequence[int], test: Sequence[int]
) -> dict[str, Any]:
    """Return the predictions for several encodings on one task, format and mode; keys are the texts of the encodings.

    Each has what the rule `own_token` says beside it, which may choose among several circuits.

    Raises as `predict` does.
    """
    several = SeveralCircuits(analysis, train, test)
    return {
        "task": analysis.task.name,
        "format": analysis.format,
        "mode": analysis.mode,
        "arity": analysis.result and analysis.result.arity,
        "train": list(train),
        "test": list(test),
        "predictions": {str(encoding): _of_encoding(several, encoding, train, test) for encoding in encodings},
        "label": "F",
    }


def _of_encoding(
    several: SeveralCircuits, encoding: EncodingSpec, train: Sequence[int], test: Sequence[int]
) -> dict[str, Any]:
    """Return the prediction for one encoding, and where the best circuit fails the rule `own_token`."""
    prediction = predict(several.analysis, encoding, train=train, test=test)
    own_token = None
    if prediction.distractors is not None:
        latest = several.latest_breaks(encoding, prediction)
        own_token = {"generalizes": latest.own_token is None, "breaks_at": latest.own_token}
    return prediction.as_json() | {"own_token": own_token}
