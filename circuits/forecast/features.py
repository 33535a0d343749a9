"""Features by which a cell is compared with those on record: of what training shows, the encoding, and the task."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lengthgen.circuits.encoding_spec import EncodingSpec, NoRelation, relation_of
from lengthgen.circuits.prediction_record import Prediction, VariantPrediction
from lengthgen.circuits.trace import Trace
from lengthgen.theory.relation import NO_LABEL

MANY_BITS = 1
"""Bits that an output holds on average at most, so that they count as few: those of a fair coin."""
IDEAL_RELATIONS = ("ideal", "ideal with scale hint")
"""Names of the relations of `lengthgen.circuits.roles`."""


class Shown(StrEnum):
    """Answers to what training shows of the test, by the rules of circuits/prediction.py, each in words."""

    ALL = "training shows all that the test needs"
    FREE = "the query's own token decides each step"
    COPIES = "the query's own token decides each step but the first"
    UNSELECTED = "what a step reads does not select its operator"
    NEW_KEYS = "keys that no step needs look new beyond training"
    NEW_ENTRIES = "steps need labels or operators that training never showed"
    NO_CIRCUIT = "some step needs too many tokens for a circuit"
    DRAWN = "positions are drawn at random for each batch"
    UNKNOWN = "no rule answers"


class OwnToken(StrEnum):
    """Steps of the scales beyond training that the query's own token alone decides."""

    BUT_FIRST = "each step but the first"
    LATER = "each step that stands later in its sequence than any step of training"
    FEWER = "not all of these"


class Labels(StrEnum):
    """Kind of labels that an encoding gives to pairs of positions."""

    IDEAL = "ideal"
    LEARNED = "learned"
    RELATIVE = "relative"
    BOUNDED = "bounded relative"
    ROTARY = "rotary"
    BIAS = "bias by distance"
    ABSOLUTE = "absolute"
    NONE = "none"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True)
class Features:
    """Features that a forecast compares ([F]).

    Attributes:
        shown: what training shows of the test.
        labels: kind of labels.
        start: standard deviation at which the label tables start; "" for the usual one, and without tables.
        operands: format of the task, one of `lengthgen.circuits.formats.FORMATS`.
        bits: "few" or "many" bits an output (`bits_of`, MANY_BITS).
    """

    shown: Shown
    labels: Labels
    start: str
    operands: str
    bits: str


def features_of(
    spec: EncodingSpec, prediction: Prediction, *, operands: str, bits: float, length: int, own_token: OwnToken
) -> Features:
    """Return the features of a cell.

    Args:
        spec: the encoding.
        prediction: its prediction, with the answer of the rule `own_token` (`SeveralCircuits.with_own_token`).
        operands: format of the task.
        bits: what `bits_of` says of the largest test scale.
        length: length of the longest sequence.
        own_token: what `own_token_decides` says of the task.

    Raises:
        EncodingError: an object of the user's own cannot be loaded.
        RelationError: the relation gives no label to some pair.
    """
    shown = shown_of(prediction, learned=spec.record.learns_labels, own_token=own_token)
    return Features(
        shown=Shown.DRAWN if shown is Shown.UNKNOWN and spec.record.drawn_from else shown,
        labels=labels_of(spec, prediction, length),
        start=start_of(spec),
        operands=operands,
        bits="many" if bits > MANY_BITS else "few",
    )


def start_of(spec: EncodingSpec) -> str:
    """Return the start of an encoding's label tables, as in `Features`."""
    options = {} if spec.is_own else spec.record.options
    if "start" not in options or (start := dict(spec.options)["start"]) == options["start"].default:
        return ""
    return f"{start:g}"


def bits_of(trace: Trace) -> float:
    """Return how many bits an output holds: the entropy of the token at one step, averaged over the steps.

    It is taken over the inputs of the trace, each counted once however often the task draws it; a step that only some
    inputs have weighs less. A run is scored by whole sequences, so one that errs a little fails where there is more to
    say.
    """
    counts = [np.bincount(trace.tokens[position - 1, trace.inputs_at(position)]) for position in trace.steps]
    shares = [of_step[of_step > 0] / of_step.sum() for of_step in counts]
    entropies = [-(of_step * np.log2(of_step)).sum() for of_step in shares]
    return float(np.average(entropies, weights=[of_step.sum() for of_step in counts]))


def own_token_decides(traces: Sequence[Trace], train: int) -> OwnToken:
    """Return which steps of the scales beyond training the query's own token alone decides.

    The same token must always have the same output, so what a clock would have to count, such as every third output, is
    not decided. Where outputs do not grow with the scale, the first step is as hard as it was: BUT_FIRST is not said.

    Args:
        traces: traces of all scales, the smallest first.
        train: largest scale of training.
    """
    trained = max(len(trace.steps) for trace in traces[:train])
    symbols = traces[-1].symbols
    grows = len(traces[-1].steps) > trained
    for kind, skipped in (*([(OwnToken.BUT_FIRST, 1)] if grows else []), (OwnToken.LATER, trained)):
        follows = np.zeros((symbols, symbols), dtype=bool)
        for trace in traces[train:]:
            for position in trace.steps[skipped:]:
                own, output = trace.tokens_at(position)[position - 2 : position]
                follows[own, output] = True
        if (follows.sum(axis=1) <= 1).all():  # no token has two outputs
            return kind
    return OwnToken.FEWER


def shown_of(prediction: Prediction, *, learned: bool = False, own_token: OwnToken = OwnToken.FEWER) -> Shown:
    """Return what training shows of the test.

    Labels that training has to find may be completed by the query's own token, so for them the rule
    `selection_with_token` alone decides.
    """
    if prediction.relation is None:
        return Shown.UNKNOWN
    if prediction.labels_covered is None:
        return Shown.NO_CIRCUIT
    if learned:
        return Shown.ALL if _says_yes(prediction.selection_with_token) else Shown.NEW_ENTRIES
    if _says_yes(prediction.distractors_with_token):
        return Shown.ALL
    if own_token is not OwnToken.FEWER and _says_yes(prediction.own_token):
        return Shown.FREE
    if own_token is OwnToken.BUT_FIRST:
        return Shown.COPIES
    if _says_yes(prediction.distractors):
        return Shown.UNSELECTED
    return Shown.NEW_KEYS if prediction.generalizes else Shown.NEW_ENTRIES


def _says_yes(variant: VariantPrediction | None) -> bool:
    return variant is not None and variant.generalizes


def labels_of(spec: EncodingSpec, prediction: Prediction, length: int) -> Labels:
    """Return the kind of labels of an encoding on sequences of a length. Raise as `features_of` does."""
    encoding = spec.record
    if encoding.learns_labels:
        return Labels.LEARNED
    if prediction.relation is None:
        return Labels.OTHER
    if prediction.relation in IDEAL_RELATIONS:
        return Labels.IDEAL
    try:
        relation = relation_of(spec, None)
    except NoRelation:  # the task decides it, as with anchors
        return Labels.OTHER
    if relation.scale_hint:
        return Labels.OTHER
    labels = relation.labels(length)
    distinct = len(np.unique(labels[labels != NO_LABEL]))
    if distinct == 1:
        return Labels.NONE
    if any(len(np.unique(np.diagonal(labels, distance))) > 1 for distance in range(length)):
        return Labels.ABSOLUTE
    if distinct < length:
        return Labels.BOUNDED
    return Labels.ROTARY if encoding.rotate else Labels.BIAS if encoding.bias else Labels.RELATIVE


def first_break(prediction: Prediction, shown: Shown, train: int) -> int | None:
    """Return the first scale beyond training at which a rule expects a failure; None if no rule says one.

    Args:
        prediction: the prediction.
        shown: what training shows of the test; where it shows all, no failure is expected.
        train: largest scale of training; a run that fits cannot break before.
    """
    if shown in (Shown.ALL, Shown.FREE, Shown.COPIES, Shown.DRAWN, Shown.UNKNOWN):
        return None
    variant = prediction.distractors_with_token
    breaks_at = prediction.breaks_at if variant is None else variant.breaks_at
    return None if breaks_at is None else max(breaks_at, train + 1)
