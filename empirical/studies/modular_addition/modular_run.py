"""Run of modular addition: the models of one condition under one profile; prediction and result are sealed.

OUT/modular-addition/PROFILE/CONDITION-HASH.json
OUT/modular-addition/PROFILE/CONDITION-HASH.predictions.json

An outcome compares them: what was predicted for each evaluation, what was observed, and whether they agree.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.run import require_sizes
from lengthgen.empirical.experiment.sealed import MEND, Losses, SealedRun
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.studies.modular_addition import conditions
from lengthgen.empirical.studies.modular_addition.conditions import KINDS, Condition, ModularProfile, bidirectional
from lengthgen.empirical.studies.modular_addition.coverage import Prediction, predict, shift_invariance
from lengthgen.empirical.studies.modular_addition.draws import Data
from lengthgen.empirical.studies.modular_addition.texts import all_pairs, bag, counts_by_view, most_right
from lengthgen.infrastructure.files import seal, write_sealed_json
from lengthgen.infrastructure.settings import as_json
from lengthgen.infrastructure.shapes import (
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Shape,
    made_into,
    one_for_each,
    read_stored,
    record,
    row,
)

FORMAT_VERSION = 1
"""Version of draws, training and results; raised with each change of these, so that old results are not reused."""
FIT = 0.9
"""Share of the best possible accuracy on training pairs from which on models count as fitted.  [F]"""


@dataclass(frozen=True, kw_only=True)
class ModularRun(SealedRun):
    """Models of one condition under one profile.

    Attributes:
        condition_name: name of the condition.
        encoding: encoding that replaces the condition's own; None for its own.

    Raises:
        ConditionError, EncodingError, ProfileError: there is no such condition, or no such model can be built.
    """

    protocol = "modular-addition"
    condition_name: str
    profile_name: str
    profile: ModularProfile
    encoding: str | None = None

    def __post_init__(self) -> None:
        require_sizes(bidirectional(self.condition.encoding), self.profile.model)

    @property
    def name(self) -> str:
        """Condition, with the encoding if it replaces the condition's own."""
        return self.condition_name if self.encoding is None else f"{self.condition_name} with {self.encoding}"

    @cached_property
    def condition(self) -> Condition:
        """Condition with its encoding."""
        own = conditions.condition(self.condition_name)
        return own if self.encoding is None else replace(own, encoding=str(bidirectional(self.encoding)))

    @cached_property
    def config(self) -> dict[str, Any]:
        """Return everything that the numbers depend on."""
        return {"condition": self.condition.as_json(), "profile": as_json(self.profile), "version": FORMAT_VERSION}

    @property
    def shape(self) -> Shape:
        """Shape of the result: predictions and measurements, with a number for each model."""
        of_models = row(*[NUMBER] * len(self.profile.seeds))
        accuracy = record(**dict.fromkeys(self.evaluations, of_models))
        return record(
            predictions=self._shape_of_predictions,
            **dict.fromkeys(("predictions_sha256", "losses_sha256"), TEXT),
            measured=record(**dict.fromkeys(("trained", "reference", "agreeing"), of_models), accuracy=accuracy),
            seconds=NUMBER,
        )

    @property
    def _shape_of_predictions(self) -> Shape:
        evaluation = made_into(
            Prediction,
            **dict.fromkeys(("evaluation", "why"), TEXT),
            **dict.fromkeys(("holds", "holds_in_expression"), FLAG),
            **dict.fromkeys(("unseen", "unseen_in_expression"), COUNT),
        )
        return record(
            shift_invariant=FLAG,
            shift_invariant_why=TEXT,
            evaluations=one_for_each(self.evaluations, itemgetter("evaluation"), evaluation),
        )

    @cached_property
    def evaluations(self) -> list[str]:
        """Names of the evaluations of the condition."""
        return [str(kind) for kind in Data(self.condition, self.profile, self.profile.seeds[0]).kinds()]

    def predictions(self, out: Path) -> dict[str, Any]:
        """Return the stored predictions; if there are none, make and store them."""
        path = self.path(out).with_suffix(".predictions.json")
        if not path.exists():
            invariant, why = shift_invariance(self.condition)
            made = {
                "shift_invariant": invariant,
                "shift_invariant_why": why,
                "evaluations": [asdict(prediction) for prediction in predict(self.condition, self.profile)],
            }
            write_sealed_json(path, {**self.config, **made})
        stored: dict[str, Any] = read_stored(path, self._shape_of_predictions, "predictions", MEND)
        return stored

    def measured(self, out: Path, backend: Backend) -> tuple[Losses, dict[str, Any]]:
        """Train and measure the models, after a look at the predictions that are stored in `out`."""
        predictions = self.predictions(out)
        from lengthgen.empirical.studies.modular_addition.classifiers import Classifiers

        models = Classifiers(self.condition, self.profile, backend)
        losses = models.train()
        return losses, {
            "predictions": predictions,
            "predictions_sha256": seal(predictions),
            "losses_sha256": seal(losses),
            "measured": models.measure(),
        }


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
    if KINDS[bidirectional(run.condition.encoding).name] != "none":
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
