"""Predictions for several encodings as plain data: the answer of `lengthgen predict --json`."""

from collections.abc import Sequence
from typing import Any

from circuits.analysis import Analysis
from circuits.encodings import EncodingSpec
from circuits.prediction import predict


def prediction_answer(
    analysis: Analysis, encodings: Sequence[EncodingSpec], train: Sequence[int], test: Sequence[int]
) -> dict[str, Any]:
    """Return the predictions for several encodings on one task, format and mode; keys are the texts of the encodings.

    Raises as `predict` does.
    """
    return {
        "task": analysis.task.name,
        "format": analysis.format,
        "mode": analysis.mode,
        "arity": analysis.result and analysis.result.arity,
        "train": list(train),
        "test": list(test),
        "predictions": {
            str(encoding): predict(analysis, encoding, train=train, test=test).as_json() for encoding in encodings
        },
        "label": "F",
    }
