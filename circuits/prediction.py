"""Predictions made before any training: which encoding generalizes on a task, and where the others break.

The rule ([F], from the conjecture of arXiv 2510.04130 with the coverage that it needs): an encoding trained up to
scale N0 generalizes to N iff it induces as many operators up to N as up to N0, finitely many, and every label and
every operator entry used up to N was used up to N0.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from circuits.circuit import Circuit
from circuits.formats import in_format
from circuits.induced import induced_complexity
from circuits.roles import ScaleHintNeeded, ideal_relation, step_roles
from circuits.src import SRCResult, minimal_arity, src, traces_up_to
from circuits.task import Task, TaskError, Trace
from theory.relation import Relation, absolute, constant, relative

ENCODINGS = ("ipe", "rpe", "ape", "nope")
"""Ideal (with scale hint where the format needs it), relative, learned absolute, none."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What is expected of one encoding.

    Attributes:
        encoding: one of ENCODINGS.
        relation: the name of its relation.
        scale_hint: whether the relation depends on the scale.
        complexity_train, complexity_test: induced complexity over the training scales, and over all.
        labels_covered, entries_covered: whether training meets every relevant label and operator entry.
        unseen_distractors: pairs of (label, token) that irrelevant keys show in the test and never showed in
            training; the rule ignores them, a trained model may not.
        breaks_at: first scale that needs something training did not show, or that the encoding cannot compute at all;
            None when it generalizes.
        why: one sentence.
    """

    encoding: str
    relation: str
    scale_hint: bool
    complexity_train: float
    complexity_test: float
    labels_covered: bool
    entries_covered: bool
    unseen_distractors: int
    breaks_at: int | None
    why: str

    @property
    def generalizes(self) -> bool:
        """The prediction."""
        return self.breaks_at is None

    def as_json(self) -> dict[str, Any]:
        """As JSON holds it, with the prediction itself; infinite complexity is "inf"."""
        content = asdict(self) | {"generalizes": self.generalizes}
        return {key: "inf" if value == math.inf else value for key, value in content.items()}

    @property
    def digest(self) -> str:
        """SHA-256 of the whole prediction: what a run names that was trained after it was made."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """What `as_json` wrote."""
        values: dict[str, Any] = {key: math.inf if value == "inf" else value for key, value in content.items()}
        del values["generalizes"]
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A task in one format, analysed up to its largest scale: what predictions and experiments rest on."""

    task: Task
    format: str
    traces: tuple[Trace, ...]
    result: SRCResult
    circuit: Circuit

    def relation(self, encoding: str) -> Relation:
        """The relation of an encoding on this task and format.

        Raises:
            TaskError: the encoding is not one of ENCODINGS.
        """
        match encoding:
            case "ipe":
                try:
                    return ideal_relation(self.circuit, scale_hint=False)
                except ScaleHintNeeded:
                    return ideal_relation(self.circuit, scale_hint=True)
            case "rpe":
                return relative()
            case "ape":
                return absolute()
            case "nope":
                return constant()
        raise TaskError(f"unknown encoding '{encoding}': choose among {', '.join(ENCODINGS)}")


def analyse(task: Task, format: str, largest_scale: int) -> Analysis:
    """The circuit of a task in one format at its minimal arity, up to the largest scale.

    Raises:
        TaskError: the task breaks its contract, no bounded arity determines its steps, or operators of that arity are
            too large.
    """
    laid_out = in_format(task, format, largest_scale=largest_scale)
    traces = traces_up_to(laid_out, largest_scale)
    arity = minimal_arity(traces)
    if arity is None:
        raise TaskError(f"task '{task.name}': some step up to scale {largest_scale} needs too many arguments")
    result = src(laid_out, traces, arity)
    assert result.circuit is not None, "the arity was chosen so that every step has a wiring"
    return Analysis(task=laid_out, format=format, traces=tuple(traces), result=result, circuit=result.circuit)


def predict(analysis: Analysis, encoding: str, *, train: Sequence[int], test: Sequence[int]) -> Prediction:
    """The prediction for one encoding trained on the scales `train` and tested on the scales `test`.

    Raises:
        TaskError: unknown encoding, no scales, or scales that were not analysed.
    """
    if not train or not test or not {*train, *test} <= {one.scale for one in analysis.traces}:
        raise TaskError(f"train and test scales must lie in 1..{len(analysis.traces)}, at least one of each")
    relation = analysis.relation(encoding)
    seen = [analysis.traces[scale - 1] for scale in sorted(train)]
    later = [analysis.traces[scale - 1] for scale in sorted(set(test) - set(train))]
    induced = induced_complexity(analysis.circuit, relation, [*seen, *later])
    unseen = [one.scale for one in later]
    reasons = {
        "cannot tell the arguments from other keys": [n for n, c in induced.complexity.items() if math.isinf(c)][:1],
        "meets labels that training never showed": [n for n in unseen if induced.new_labels[n]],
        "needs operators that training never showed": [n for n in unseen if induced.new_operators[n]],
        "needs operator entries that training never showed": [n for n in unseen if induced.new_entries[n]],
    }
    breaks = {reason: min(scales) for reason, scales in reasons.items() if scales}
    breaks_at = min(breaks.values(), default=None)
    first = next((reason for reason, scale in breaks.items() if scale == breaks_at), None)
    low = induced.complexity[max(train)]
    high = induced.complexity[[*seen, *later][-1].scale]
    return Prediction(
        encoding=encoding,
        relation=relation.name,
        scale_hint=relation.scale_hint,
        complexity_train=low,
        complexity_test=high,
        labels_covered=not any(induced.new_labels[n] for n in unseen),
        entries_covered=not any(induced.new_entries[n] for n in unseen),
        unseen_distractors=len(
            _distractors(analysis.circuit, relation, later) - _distractors(analysis.circuit, relation, seen)
        ),
        breaks_at=breaks_at,
        why=_reason(low, high, first, breaks_at),
    )


def _reason(low: float, high: float, first: str | None, breaks_at: int | None) -> str:
    if first is None:
        return f"operators: {low:g} at every scale; training meets every label and entry in use"
    if math.isinf(high):
        return f"at scale {breaks_at} it {first}"
    return f"operators: {low:g} in training, {high:g} in the test; at scale {breaks_at} it {first}"


def _distractors(circuit: Circuit, relation: Relation, traces: Sequence[Trace]) -> set[tuple[int, int]]:
    """(label, token) of every key that is irrelevant to the step computed at its query."""
    found: set[tuple[int, int]] = set()
    for one in traces:
        labels = relation.labels(one.length, one.scale)
        roles = step_roles(circuit, one.scale)
        tokens = [np.unique(row).tolist() for row in one.tokens]
        for position in one.steps:
            for key in range(1, position):
                if (key, position - 1) not in roles:
                    label = int(labels[key - 1, position - 2])
                    found |= {(label, token) for token in tokens[key - 1]}
    return found
