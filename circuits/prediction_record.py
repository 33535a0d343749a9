"""Record of a prediction, as it is stored before any training: the answers of all rules, and the forecast."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from lengthgen.infrastructure.brief import Brief
from lengthgen.infrastructure.shapes import COUNT, FLAG, LIMIT, NUMBER, TEXT, made_into, or_none, row

SURE = 0.9
"""Probability that stands for the "yes" of a rule that says only yes or no; 1 - SURE stands for its "no" ([F])."""


class _Stored:
    """Dataclass that JSON stores: infinite is "inf", a tuple a list, and derived values stand beside the fields."""

    derived: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[Mapping[str, Any]] = {}
    """Field -> function from what JSON has to its value."""

    def as_json(self) -> dict[str, Any]:
        """Return the fields and the derived values as JSON."""
        names = [*(field.name for field in fields(self)), *self.derived]  # type: ignore[arg-type]
        return {name: _as_json(getattr(self, name)) for name in names}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return the record that `as_json` wrote."""
        values = {name: math.inf if value == "inf" else value for name, value in content.items()}
        made = {name: make(values[name]) for name, make in cls.kinds.items() if values.get(name) is not None}
        return cls(**{name: value for name, value in (values | made).items() if name not in cls.derived})


def _as_json(value: Any) -> Any:
    if isinstance(value, _Stored):
        return value.as_json()
    return [*value] if isinstance(value, tuple) else "inf" if value == math.inf else value


@dataclass(frozen=True, kw_only=True)
class VariantPrediction(_Stored):
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

    derived = ("generalizes",)

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


@dataclass(frozen=True, kw_only=True)
class Counted(_Stored):
    """Number of recorded runs that fit their training scales, of these that generalize, and of those that do not fit.

    A run that does not fit says nothing about generalization.
    """

    runs: int
    generalize: int
    unfit: int = 0


FARTHEST = 5
"""Number of features that forecasts compare: what training shows, labels, their start, operands, bits an output."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Forecast(_Stored, Brief):
    """Share of fitting runs that should generalize, from comparable runs on record ([F]).

    Attributes:
        share: expected share of the runs that fit their training scales, in [0, 1].
        low, high: ends of the interval that has the share of this cell with 95 % probability.
        breaks_at: scale at which the other runs should fail first, a median; None if most runs should generalize, or if
            no rule and no run says where.
        breaks_within: scales between which 80 % of such runs failed first; None with `breaks_at`.
        why: the reason in one plain sentence.
        comparable: fitting runs of other tasks with the same features, as far as any has them.
        comparable_tasks: number of these tasks; 0 in forecasts stored before they were counted.
        distance: how many of the features no counted cell shares, the last first; at FARTHEST it is out of its depth,
            and says the share of all runs.
        recorded: runs of this cell, or of an equal one.
        version: hash of the recorded cells from which the forecast was made.
    """

    kinds: ClassVar = {"comparable": Counted.from_json, "recorded": Counted.from_json, "breaks_within": tuple}

    share: float
    low: float
    high: float
    breaks_at: float | None
    breaks_within: tuple[int, int] | None
    why: str
    comparable: Counted
    recorded: Counted
    version: str
    distance: int = 0
    comparable_tasks: int = 0

    @property
    def generalizes(self) -> bool:
        """True if most fitting runs should generalize."""
        return self.share > 0.5

    @property
    def out_of_depth(self) -> bool:
        """True if no counted cell is like this one in anything that is compared."""
        return self.distance == FARTHEST

    def _brief(self) -> str:
        where = "" if self.breaks_at is None else f", the others break at {self.breaks_at:g}"
        return f"{self.share:.2f} of fitting runs should generalize ({self.low:.2f}-{self.high:.2f}){where}: {self.why}"

    def _details(self) -> dict[str, str]:
        counts = {"comparable runs": self.comparable, "on record": self.recorded}
        return {name: f"{counted.generalize} of {counted.runs} generalize" for name, counted in counts.items()}


@dataclass(frozen=True, kw_only=True, repr=False)
class Prediction(_Stored, Brief):
    """Prediction for one encoding; there is none if the encoding's relation is not known.

    Training is assumed to show every prompt of its scales ([F]); lengthgen.circuits.coverage measures what a finite
    training set shows. If a scale has too many prompts, a sample stands for all.

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
            own token (`lengthgen.circuits.induced`). With it, labels that training finds without scale hint may be
            completed by the token (`lengthgen.circuits.roles.ideal_relation_by_token`). All variants are None without a
            relation, and in predictions stored before they were made.
        distractors: the same rule if irrelevant keys may also show no (label, token) beyond training.
        distractors_with_token: all that `distractors` and `selection_with_token` ask for.
        own_token: `distractors` with the best of several circuits, and with what a Transformer has without attention
            (`lengthgen.circuits.forecast.other_circuits`); only where it was asked for.
        forecast: share of fitting runs that should generalize (`lengthgen.circuits.forecast`); only where it was asked
            for. It is the prediction, and the rules are its rivals.
    """

    derived = ("generalizes", "literal")

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
    distractors_with_token: VariantPrediction | None = None
    own_token: VariantPrediction | None = None
    forecast: Forecast | None = None

    @property
    def generalizes(self) -> bool | None:
        """Answer of the rule coverage as a truth value; None if there is none."""
        return None if self.relation is None else self.breaks_at is None

    @property
    def literal(self) -> bool | None:
        """Answer of our literal reading of the conjecture: the complexity is finite and does not grow ([F])."""
        if self.complexity_train is None or self.complexity_test is None:
            return None
        return math.isfinite(self.complexity_train) and self.complexity_train == self.complexity_test

    def says(self, rule: str) -> bool | None:
        """Return the answer of a rule of RULES: does the encoding generalize? None if it has no answer."""
        if rule in ("coverage", "literal"):
            return self.generalizes if rule == "coverage" else self.literal
        answer: VariantPrediction | Forecast | None = getattr(self, rule)
        return None if answer is None else answer.generalizes

    def expects_failure_at(self, rule: str) -> float | None:
        """Return the first scale at which a rule of RULES expects a failure; the literal rule names none."""
        if rule in ("coverage", "literal"):
            return self.breaks_at if rule == "coverage" else None
        answer: VariantPrediction | Forecast | None = getattr(self, rule)
        return None if answer is None else answer.breaks_at

    @property
    def digest(self) -> str:
        """SHA-256 of the answer of coverage and literal. A run that is trained after the prediction stores it.

        It leaves out variants and forecast, so that it is that of predictions stored before these were made.
        """
        content = {key: value for key, value in self.as_json().items() if key not in (*VARIANTS, "forecast")}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def _brief(self) -> str:
        if self.forecast:
            return f"{self.encoding}: {self.forecast._brief()}"
        return f"{self.encoding}, coverage: {self._answer('coverage')}, {self.why}"

    def _details(self) -> dict[str, str]:
        complexity = f"{self.complexity_train} in training, {self.complexity_test} in all"
        return {
            "relation": self.relation or "",
            "induced complexity": complexity if self.relation else "",
            **{name: self._answer(rule) for rule, name in RULES.items() if self.says(rule) is not None},
        }

    def _answer(self, rule: str) -> str:
        if self.says(rule) is None:
            return "no answer"
        scale = self.expects_failure_at(rule)
        failure = "fails" if scale is None else f"breaks at scale {scale}"
        return "generalizes" if self.says(rule) else failure


VARIANTS = ("selection", "selection_with_token", "distractors", "distractors_with_token", "own_token")
"""Attributes of a `Prediction` that hold the predictions of variants of the rule."""
RULES = {rule: rule.replace("_", "-") for rule in ("forecast", "coverage", "literal", *VARIANTS)}
"""Rules of prediction, each with its name in tables, which is the name of the same rule in every command.

"forecast" is the prediction, yes if more than half of the fitting runs should generalize
(`lengthgen.circuits.forecast`); the others are its rivals. "coverage" is ours: equal finite complexity, and training
meets all labels and entries. "literal" is our literal reading of the conjecture of arXiv 2510.04130: equal finite
complexity alone ([F]). "selection" is coverage where the views must also select the operators, and
"selection_with_token" the same where a view shows the query's own token ([F], `lengthgen.circuits.induced`).
"distractors" is coverage where training must also have shown every (label, token) of irrelevant keys ([F]),
"distractors_with_token" asks for that and for selection_with_token, and "own_token" is distractors with the best of
several circuits and with what a Transformer has without attention ([F], `lengthgen.circuits.forecast.other_circuits`).
"""

Prediction.kinds = dict.fromkeys(VARIANTS, VariantPrediction.from_json) | {"forecast": Forecast.from_json}
_COUNTED = made_into(Counted, runs=COUNT, generalize=COUNT, unfit=COUNT)
_FORECAST = made_into(
    Forecast,
    **dict.fromkeys(("share", "low", "high"), NUMBER),
    breaks_at=or_none(NUMBER),
    breaks_within=or_none(row(NUMBER, NUMBER)),
    **dict.fromkeys(("comparable", "recorded"), _COUNTED),
    **dict.fromkeys(("why", "version"), TEXT),
    **dict.fromkeys(("distance", "comparable_tasks"), COUNT),
)
_VARIANT = made_into(
    VariantPrediction,
    **dict.fromkeys(("complexity_train", "complexity_test"), LIMIT),
    **dict.fromkeys(("breaks_at", "labels_train", "labels_test"), or_none(COUNT)),
    why=TEXT,
    generalizes=FLAG,
)
PREDICTION = made_into(
    Prediction,
    **dict.fromkeys(("encoding", "why"), TEXT),
    relation=or_none(TEXT),
    scale_hint=FLAG,
    **dict.fromkeys(("complexity_train", "complexity_test"), or_none(LIMIT)),
    **dict.fromkeys(("labels_covered", "entries_covered", "generalizes", "literal"), or_none(FLAG)),
    **dict.fromkeys(("unseen_distractors", "breaks_at"), or_none(COUNT)),
    **dict.fromkeys(VARIANTS, or_none(_VARIANT)),
    forecast=or_none(_FORECAST),
)
"""Shape of a prediction that `Prediction.as_json` wrote."""
