"""Run of modular addition: the models of one condition under one profile; prediction and result are sealed.

OUT/modular-addition/PROFILE/CONDITION-HASH.json
OUT/modular-addition/PROFILE/CONDITION-HASH.predictions.json
"""

from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from lengthgen.empirical.modular_addition import conditions
from lengthgen.empirical.modular_addition.conditions import Condition
from lengthgen.empirical.modular_addition.coverage import Prediction, predict, shift_invariance
from lengthgen.empirical.modular_addition.draws import Data
from lengthgen.empirical.modular_addition.encodings import bidirectional
from lengthgen.empirical.modular_addition.profile import ModularProfile
from lengthgen.empirical.runs.buildable import require_sizes
from lengthgen.empirical.runs.sealed import MEND, SealedRun
from lengthgen.infrastructure.files import write_sealed_json
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
        return {"condition": self.condition.as_json(), "profile": self.profile.as_json(), "version": FORMAT_VERSION}

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
        """Return the stored predictions; if there are none, make and store them.

        Raises:
            DamagedFile: the file has changed since it was written, or holds no predictions.
        """
        path = self.path(out).with_suffix(".predictions.json")
        if not path.exists():
            invariant, why = shift_invariance(self.condition)
            made = {
                "shift_invariant": invariant,
                "shift_invariant_why": why,
                "evaluations": [prediction.as_json() for prediction in predict(self.condition, self.profile)],
            }
            write_sealed_json(path, {**self.config, **made})
        stored: dict[str, Any] = read_stored(path, self._shape_of_predictions, "predictions", MEND)
        return stored
