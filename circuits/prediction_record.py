"""Record of a prediction, as it is stored before any training: the rule's answer, and those of its variants.

How predictions are made is in `circuits.prediction`.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from theory.system.brief import Brief


@dataclass(frozen=True, kw_only=True)
class VariantPrediction:
    """Prediction of a variant of the rule.

    Attributes:
        complexity_train, complexity_test: induced complexity, as the variant counts it, over the training scales, and
            over all scales.
        breaks_at: first scale at which the variant fails; None if it generalizes.
        why: one sentence of explanation.
        labels_train, labels_test: number of labels of relevant keys over the training scales, and over all scales; for
            the ideal relation these are its roles, each of which names an operator and a slot. None if there is no
            circuit, and in predictions stored before they were counted.
    """

    complexity_train: float
    complexity_test: float
    breaks_at: int | None
    why: str
    labels_train: int | None = None
    labels_test: int | None = None

    @property
    def generalizes(self) -> bool:
        """True if it generalizes."""
        return self.breaks_at is None

    def as_json(self) -> dict[str, Any]:
        """Return the prediction as JSON; infinite complexity is "inf"."""
        content = asdict(self) | {"generalizes": self.generalizes}
        return {key: "inf" if value == math.inf else value for key, value in content.items()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return the prediction that `as_json` wrote."""
        values: dict[str, Any] = {key: math.inf if value == "inf" else value for key, value in content.items()}
        del values["generalizes"]
        return cls(**values)


@dataclass(frozen=True, kw_only=True, repr=False)
class Prediction(Brief):
    """Prediction for one encoding; there is none if the encoding's relation is not known.

    Training is assumed to show every prompt of its scales ([F]); circuits.coverage measures what a finite training set
    shows. If a scale has too many prompts, a sample stands for all.

    Attributes:
        encoding: text of the EncodingSpec.
        relation: name of the relation; None if there is no prediction, and then the five attributes after `scale_hint`
            are None too.
        scale_hint: True if the relation depends on the scale.
        complexity_train, complexity_test: induced complexity over the training scales, and over all scales; infinite if
            some step cannot be computed, or if the labels that training should find do not exist.
        labels_covered, entries_covered: True if training uses every relevant label, and every operator entry.
        unseen_distractors: number of (label, token) pairs of irrelevant keys that occur in the test and never in
            training; the rule ignores them, a trained model and the variant `distractors` may not.
        breaks_at: first scale that needs something training did not show, or that the encoding cannot compute at all;
            None if it generalizes.
        why: one sentence of explanation, with the encoding's caveat outside the rule.
        selection, selection_with_token: the same rule if views must select the operators, without and with the query's
            own token (`circuits.induced`). With it, labels that training finds without scale hint may be completed by
            the token (`circuits.roles.ideal_relation_by_token`). These two and the next are None without a relation,
            and in predictions stored before they were made.
        distractors: the same rule if irrelevant keys may also show no (label, token) beyond training.
    """

    encoding: str
    relation: str | None
    scale_hint: bool
    complexity_train: float | None
    complexity_test: float | None
    labels_covered: bool | None
    entries_covered: bool | None
    unseen_distractors: int | None
    breaks_at: int | None
    why: str
    selection: VariantPrediction | None = None
    selection_with_token: VariantPrediction | None = None
    distractors: VariantPrediction | None = None

    @property
    def generalizes(self) -> bool | None:
        """Prediction as a truth value; None if there is none."""
        return None if self.relation is None else self.breaks_at is None

    @property
    def literal(self) -> bool | None:
        """Conjecture without coverage: the complexity is finite and does not grow ([P], as far as known)."""
        if self.complexity_train is None or self.complexity_test is None:
            return None
        return math.isfinite(self.complexity_train) and self.complexity_train == self.complexity_test

    def as_json(self) -> dict[str, Any]:
        """Return the prediction and its derived values as JSON; infinite complexity is "inf"."""
        content = asdict(self) | {"generalizes": self.generalizes, "literal": self.literal}
        for name in VARIANTS:
            variant = getattr(self, name)
            content[name] = variant.as_json() if variant else None
        return {key: "inf" if value == math.inf else value for key, value in content.items()}

    @property
    def digest(self) -> str:
        """SHA-256 of the prediction without its variants. A run that is trained after the prediction stores it.

        It leaves out the variants, so that it is that of predictions stored before these were made.
        """
        content = {key: value for key, value in self.as_json().items() if key not in VARIANTS}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return the prediction that `as_json` wrote."""
        values: dict[str, Any] = {key: math.inf if value == "inf" else value for key, value in content.items()}
        del values["generalizes"], values["literal"]
        for name in VARIANTS:
            if values.get(name) is not None:
                values[name] = VariantPrediction.from_json(values[name])
        return cls(**values)

    def _brief(self) -> str:
        if self.generalizes is None:
            return f"{self.encoding}: no prediction, {self.why}"
        answer = "generalizes" if self.generalizes else f"breaks at scale {self.breaks_at}"
        return f"{self.encoding} {answer}: {self.why}"

    def _details(self) -> dict[str, str]:
        complexity = f"{self.complexity_train} in training, {self.complexity_test} in all"
        variants = {name.replace("_", " "): getattr(self, name) for name in VARIANTS}
        return {
            "relation": self.relation or "",
            "induced complexity": complexity if self.relation else "",
            **{
                name: "generalizes" if variant.generalizes else f"breaks at scale {variant.breaks_at}: {variant.why}"
                for name, variant in variants.items()
                if variant
            },
        }


VARIANTS = ("selection", "selection_with_token", "distractors")
"""Attributes of a `Prediction` that hold the predictions of variants of the rule."""
