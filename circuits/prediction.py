"""Predictions made before any training: which encoding generalizes on a task, and where the others break.

The rule ([F], from the conjecture of arXiv 2510.04130 with the coverage that it needs): an encoding trained up to
scale N0 generalizes to N iff it induces as many operators up to N as up to N0, finitely many, and every label and
every operator entry used up to N was used up to N0. The conjecture taken literally asks for the first half only.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from circuits.circuit import Circuit
from circuits.clock import Clock
from circuits.encodings import EncodingSpec, HintNeeded, NoRelation, relation_of
from circuits.formats import in_format
from circuits.induced import Induced, induced_complexity
from circuits.modes import Mode
from circuits.roles import ideal_relation, step_roles
from circuits.sat import SolverFailed
from circuits.src import MAX_ARITY, SRCResult, minimal_arity, src, traces_up_to
from circuits.task import Task, TaskError
from circuits.trace import Trace, extended
from theory.relation import NO_LABEL, Relation

MORE_PROMPTS = (1 << 16, 1 << 18, 1 << 20)
"""Prompts of a sampled training scale that are looked at before an entry counts as one that training never shows."""


class SearchStopped(TaskError):
    """The search for a circuit ends at its limit, on every machine, before it has found one."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The prediction for one encoding; nothing is expected where its relation is not known.

    Training is taken to show every prompt of its scales ([F]): what a finite training set shows is measured by
    circuits.coverage. Where a scale has too many prompts, those looked at stand for all.

    Attributes:
        encoding: the text of its EncodingSpec.
        relation: the name of its relation; None where nothing is expected, and then so are the five that follow
            `scale_hint`.
        scale_hint: whether the relation depends on the scale.
        complexity_train, complexity_test: induced complexity over the training scales, and over all; infinite where
            some step cannot be computed, or the labels that training should find do not exist.
        labels_covered, entries_covered: whether training meets every relevant label and operator entry.
        unseen_distractors: pairs of (label, token) that irrelevant keys show in the test and never showed in
            training; the rule ignores them, a trained model may not.
        breaks_at: first scale that needs something training did not show, or that the encoding cannot compute at all;
            None when it generalizes.
        why: one sentence, with what the rule leaves out about this encoding.
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

    @property
    def generalizes(self) -> bool | None:
        """The prediction; None where there is none."""
        return None if self.relation is None else self.breaks_at is None

    @property
    def literal(self) -> bool | None:
        """The conjecture without coverage: the complexity is finite and does not grow ([P], as far as known)."""
        if self.complexity_train is None or self.complexity_test is None:
            return None
        return math.isfinite(self.complexity_train) and self.complexity_train == self.complexity_test

    def as_json(self) -> dict[str, Any]:
        """The prediction as JSON, with what follows from it; infinite complexity is "inf"."""
        content = asdict(self) | {"generalizes": self.generalizes, "literal": self.literal}
        return {key: "inf" if value == math.inf else value for key, value in content.items()}

    @property
    def digest(self) -> str:
        """SHA-256 of the whole prediction: what a run names that was trained after it was made."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """The prediction that `as_json` wrote."""
        values: dict[str, Any] = {key: math.inf if value == "inf" else value for key, value in content.items()}
        del values["generalizes"], values["literal"]
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A task in one format, analysed up to its largest scale: what predictions and experiments rest on.

    Attributes:
        mode: that of the circuit, one of circuits.modes.Mode.
        result: None where operators of no arity up to MAX_ARITY determine every step.
    """

    task: Task
    format: str
    mode: str
    traces: tuple[Trace, ...]
    result: SRCResult | None
    induced: dict[tuple[Relation, tuple[int, ...], tuple[int, ...]], Induced] = field(
        default_factory=dict, compare=False, repr=False
    )
    """Operators induced by relations over some scales, for encodings that have the same one."""

    @property
    def circuit(self) -> Circuit:
        """The circuit found.

        Raises:
            TaskError: there is none.
        """
        if self.result is None or self.result.circuit is None:
            raise TaskError(
                f"task '{self.task.name}': some step up to scale {self.traces[-1].scale} needs more than {MAX_ARITY} "
                "arguments, so that it has no circuit"
            )
        return self.result.circuit


def analyse(task: Task, format: str, largest_scale: int, mode: str = "free", *, steps: int | None = None) -> Analysis:
    """The circuit of a task in one format up to the largest scale.

    Its arity is the least with which every step is determined; in mode declared that of the reference circuit.

    Raises:
        TaskError: the task breaks its contract, operators of the arity are too large, there is no such mode, or mode
            declared and the task has no reference circuit.
        SearchStopped: the circuit takes more than `steps` counted steps (`circuits.clock.Clock`), or a solver too much.
        SolverFailed: a solver's process died; another time it may not.
    """
    if mode not in [*Mode]:
        raise TaskError(f"unknown mode '{mode}': choose one of {', '.join(Mode)}")
    laid_out = in_format(task, format, largest_scale=largest_scale)
    traces = traces_up_to(laid_out, largest_scale)
    if mode == Mode.DECLARED:
        if task.reference is None:
            raise TaskError(f"task '{task.name}': mode 'declared' needs a reference circuit; use mode 'free'")
        arity: int | None = task.reference.arity
    else:
        arity = minimal_arity(traces)
    result = None if arity is None else src(laid_out, traces, arity, mode=mode, clock=Clock(steps=steps))
    if result and result.failed:
        raise SolverFailed(f"task '{task.name}', mode '{mode}': {result.stopped}")
    if result and result.stopped:
        raise SearchStopped(f"task '{task.name}': no circuit of mode '{mode}' found: {result.stopped}")
    return Analysis(task=laid_out, format=format, mode=mode, traces=tuple(traces), result=result)


def predict(analysis: Analysis, spec: EncodingSpec, *, train: Sequence[int], test: Sequence[int]) -> Prediction:
    """The prediction for one encoding trained on the scales `train` and tested on the scales `test`.

    Where the encoding has no relation of positions, it says so and expects nothing. Where training finds the labels
    and none without scale hint would do, it is expected to break at the first scale that changes a role.

    Raises:
        TaskError: no scales, or scales that were not analysed.
        HintNeeded: an ideal relation without scale hint that does not exist.
        EncodingError: an object of the user's own that cannot be loaded.
        RelationError: a relation that gives no label to some pair that occurs.
    """
    if not train or not test or not {*train, *test} <= {one.scale for one in analysis.traces}:
        raise TaskError(f"train and test scales must lie in 1..{len(analysis.traces)}, at least one of each")
    if analysis.result is None:
        return _infeasible(analysis, spec, train, test)
    encoding = spec.record
    circuit, needed = analysis.circuit, None
    if encoding.learns_labels:  # labels that training finds need to exist at the scales in use only
        circuit = _at(circuit, {*train, *test})
    try:
        relation = relation_of(spec, circuit)
    except NoRelation as reason:
        return _nothing(spec, str(reason))
    except HintNeeded as error:
        if not encoding.learns_labels:
            raise
        relation, needed = replace(ideal_relation(circuit, scale_hint=True), name="ideal"), error
    seen = [analysis.traces[scale - 1] for scale in sorted(set(train))]
    later = [analysis.traces[scale - 1] for scale in sorted(set(test) - set(train))]
    asked = (relation, tuple(one.scale for one in seen), tuple(one.scale for one in later))
    if asked not in analysis.induced:
        analysis.induced[asked] = _induced(circuit, relation, seen, later)
    induced = analysis.induced[asked]
    low, high = (induced.complexity[part[-1].scale] for part in (seen, [*seen, *later]))
    if needed:
        low = high = math.inf
    breaks = _breaks(induced, [one.scale for one in later], needed)
    first = min(breaks, key=breaks.__getitem__, default=None)
    breaks_at = breaks[first] if first else None
    shown = _distractors(circuit, relation, seen)
    return Prediction(
        encoding=str(spec),
        relation=relation.name,
        scale_hint=relation.scale_hint and needed is None,
        complexity_train=low,
        complexity_test=high,
        labels_covered=not any(induced.new_labels[one.scale] for one in later),
        entries_covered=not any(induced.new_entries[one.scale] for one in later),
        unseen_distractors=len(_distractors(circuit, relation, later) - shown),
        breaks_at=breaks_at,
        why=_why(low, high, first, breaks_at, encoding.caveat),
    )


def _at(circuit: Circuit, scales: set[int]) -> Circuit:
    """The circuit at some of its scales."""
    if scales == circuit.wirings.keys():
        return circuit  # which knows its essential slots
    return replace(circuit, wirings={scale: circuit.wirings[scale] for scale in sorted(scales)})


def _nothing(spec: EncodingSpec, why: str) -> Prediction:
    return Prediction(
        encoding=str(spec),
        relation=None,
        scale_hint=False,
        complexity_train=None,
        complexity_test=None,
        labels_covered=None,
        entries_covered=None,
        unseen_distractors=None,
        breaks_at=None,
        why=why,
    )


def _infeasible(analysis: Analysis, spec: EncodingSpec, train: Sequence[int], test: Sequence[int]) -> Prediction:
    """Without a circuit no encoding generalizes: it breaks where a step first needs more arguments than in training.

    Raises:
        NoRelation: the encoding is the relation of a circuit.
    """
    relation = relation_of(spec, None)
    arity = minimal_arity(analysis.traces[: max(train)])
    beyond = arity or MAX_ARITY
    fewest = {n: minimal_arity([analysis.traces[n - 1]]) for n in sorted(test)}
    breaks_at = next(n for n, slots in fewest.items() if slots is None or slots > beyond)
    needs = "" if arity is None else f"; in training {arity} are enough, and at scale {breaks_at} they are not"
    return Prediction(
        encoding=str(spec),
        relation=relation.name,
        scale_hint=relation.scale_hint,
        complexity_train=math.inf,
        complexity_test=math.inf,
        labels_covered=None,
        entries_covered=None,
        unseen_distractors=None,
        breaks_at=breaks_at,
        why=f"some step needs more than {MAX_ARITY} arguments, so that no operators compute the task{needs}",
    )


def _induced(circuit: Circuit, relation: Relation, seen: Sequence[Trace], later: Sequence[Trace]) -> Induced:
    """Over the training scales and then the others; at sampled training scales more prompts show missing entries."""
    induced = induced_complexity(circuit, relation, [*seen, *later])
    missing = sum(induced.new_entries[one.scale] for one in later)
    for count in MORE_PROMPTS:
        if not missing or all(one.exhaustive for one in seen):
            break
        seen = [one if one.exhaustive else _with_more(circuit.task, one, count) for one in seen]
        induced = induced_complexity(circuit, relation, [*seen, *later])
        before, missing = missing, sum(induced.new_entries[one.scale] for one in later)
        if missing == before:
            break
    return induced


def _with_more(task: Task, one: Trace, count: int) -> Trace:
    """Remembered: relations one after the other ask for the same."""
    asked = ("more prompts", count)
    if asked not in one.memory:
        prompts = task.sample_prompts(one.scale, count, np.random.default_rng([one.scale, count]))
        one.memory[asked] = extended(task, one, prompts)
    more: Trace = one.memory[asked]
    return more


def _breaks(induced: Induced, unseen: Sequence[int], needed: HintNeeded | None) -> dict[str, int]:
    """Kind of failure -> the first scale at which it occurs."""
    hint = f"needs a scale hint, as the role of key {needed.key} for query {needed.query} changes" if needed else ""
    reasons = {
        hint: [needed.scale] if needed else [],
        "cannot tell the arguments from other keys": [n for n, c in induced.complexity.items() if math.isinf(c)][:1],
        "meets labels that training never showed": [n for n in unseen if induced.new_labels[n]],
        "needs operators that training never showed": [n for n in unseen if induced.new_operators[n]],
        "needs operator entries that training never showed": [n for n in unseen if induced.new_entries[n]],
    }
    return {reason: min(scales) for reason, scales in reasons.items() if scales}


def _why(low: float, high: float, first: str | None, breaks_at: int | None, caveat: str) -> str:
    if first is None:
        told = f"operators: {low:g} at every scale; training meets every label and entry in use"
    elif math.isinf(high):
        told = f"at scale {breaks_at} it {first}"
    else:
        told = f"operators: {low:g} in training, {high:g} in the test; at scale {breaks_at} it {first}"
    return f"{told} (not in the rule: {caveat})" if caveat else told


def _distractors(circuit: Circuit, relation: Relation, traces: Sequence[Trace]) -> set[tuple[int, int]]:
    """(label, token) of every key that is irrelevant to the step computed at its query."""
    found: set[tuple[int, int]] = set()
    for one in traces:
        occurs = np.zeros((one.length, one.symbols), dtype=np.bool_)
        occurs[np.arange(one.length)[:, None], one.tokens] = True
        labels = relation.labels(one.length, one.scale)
        for key, query in step_roles(circuit, one.scale):
            labels[key - 1, query - 1] = NO_LABEL
        at_steps = labels[:, [position - 2 for position in one.steps]]
        keys, _ = irrelevant = np.nonzero(at_steps != NO_LABEL)
        pairs, tokens = np.nonzero(occurs[keys])
        found |= set(zip(at_steps[irrelevant][pairs].tolist(), tokens.tolist(), strict=True))
    return found
