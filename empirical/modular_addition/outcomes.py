"""Outcomes of modular addition: what was predicted for each evaluation, what was observed, and whether they agree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lengthgen.empirical.modular_addition.draws import Data
from lengthgen.empirical.modular_addition.encodings import KINDS, Labels, bidirectional
from lengthgen.empirical.modular_addition.pairs import all_pairs, bag, counts_by_view, most_right
from lengthgen.empirical.modular_addition.run import ModularRun

FIT = 0.9
"""Share of the best possible accuracy on training pairs from which on models count as fitted.  [F]"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Evaluation of a condition.

    Attributes:
        evaluation: kind and position.
        predicted: "holds" or "breaks".
        predicted_in_expression: the same if tokens beside the expression are ignored.
        observed: "holds" if the accuracy of every seed is at least the profile's `holds_from` of that on the inputs of
            training, "breaks" if that of none is, "mixed" otherwise; "not fitted" if a seed does not fit training.
        agree, agree_in_expression: True if prediction and observation are the same; None if neither was observed.
        accuracy: by seed.
        why: the reason of the prediction.
    """

    evaluation: str
    predicted: str
    predicted_in_expression: str
    observed: str
    agree: bool | None
    agree_in_expression: bool | None
    accuracy: list[float]
    why: str


def best_fit(run: ModularRun, seed: int) -> float:
    """Best accuracy on the training pairs of a seed: 1, or that of bags of characters if the encoding sees no order."""
    if KINDS[bidirectional(run.condition.encoding).name] != Labels.NONE:
        return 1.0
    modulus = run.profile.modulus
    pairs = all_pairs(modulus)
    trained = [pairs[index] for index in Data(run.condition, run.profile, seed).train.tolist()]
    return most_right(counts_by_view(trained, bag, modulus)) / len(trained)


def is_fitted(run: ModularRun, result: Mapping[str, Any]) -> bool:
    """True if every seed reaches the share FIT of the best accuracy on training pairs."""
    trained = result["measured"]["trained"]
    return all(share >= FIT * best_fit(run, seed) for share, seed in zip(trained, run.profile.seeds, strict=True))


def outcomes(run: ModularRun, result: Mapping[str, Any]) -> list[Outcome]:
    """Compare the predictions of a run with its measurements."""
    measured, fitted = result["measured"], is_fitted(run, result)
    rows = []
    for prediction in result["predictions"]["evaluations"]:
        accuracy = measured["accuracy"][prediction["evaluation"]]
        bounds = [run.profile.holds_from * reference for reference in measured["reference"]]
        holding = {share >= bound for share, bound in zip(accuracy, bounds, strict=True)}
        observed = "mixed" if len(holding) == 2 else _word(True in holding)
        observed = observed if fitted else "not fitted"
        predicted, in_expression = _word(prediction["holds"]), _word(prediction["holds_in_expression"])
        decided = observed in ("holds", "breaks")
        rows.append(
            Outcome(
                evaluation=prediction["evaluation"],
                predicted=predicted,
                predicted_in_expression=in_expression,
                observed=observed,
                agree=predicted == observed if decided else None,
                agree_in_expression=in_expression == observed if decided else None,
                accuracy=accuracy,
                why=prediction["why"],
            )
        )
    return rows


def _word(holds: bool) -> str:
    return "holds" if holds else "breaks"
