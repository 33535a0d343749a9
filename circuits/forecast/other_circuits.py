"""Other right circuits of a task than the one that the search finds first, and where the best of them fails the rules.

A task may have a circuit that serves an encoding better.  The set of circuits that are asked is bounded ([F]): that of
the analysis, those of the modes declared and typed, and one made in favour of a relation (`favoured_circuit`).  The
relation is the same for all of them: that by which the model is trained.  So a yes is sound, and a no means that none
of these circuits serves.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.analysis import Analysis
from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.coverage import Pairs, distractors, pairs_at_steps
from lengthgen.circuits.determining import determines, determining_sets
from lengthgen.circuits.encoding_spec import EncodingSpec, HintNeeded, relation_of
from lengthgen.circuits.induced import decides, induced_by_scale
from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.circuits.src import src
from lengthgen.circuits.tables import codes_of
from lengthgen.circuits.task import UNDEFINED, Task
from lengthgen.circuits.trace import Trace
from lengthgen.theory.relation import NO_LABEL, Relation, diagonal_apart

OTHER_STEPS = 300_000_000
"""Largest number of counted steps of the search for one other circuit: a few seconds on one core."""

Breaks = tuple[int | None, int | None]
"""First scales at which a circuit fails the rules coverage and distractors; None if it fails at none."""
Signature = tuple[int, ...]
"""Labels of the keys of a step, ascending, each once."""


class MinimisedRule(StrEnum):
    """Rules that are minimised over circuits."""

    COVERAGE = "coverage"
    DISTRACTORS = "distractors"
    OWN_TOKEN = "own token"
    """Distractors with what a Transformer has without attention ([F]): the query's own token has a label of its own,
    and no key disturbs a step that needs no other token.
    """


class SeveralCircuits:
    """Circuits of one task, asked in turn until one serves an encoding; encodings with the same relation share answers.

    Args:
        analysis: analysis of the task up to the largest scale.
        train: trained scales.
        test: tested scales.
    """

    def __init__(self, analysis: Analysis, train: Iterable[int], test: Iterable[int]) -> None:
        self.analysis = analysis
        self.train = tuple(sorted({*train}))
        self.later = tuple(sorted({*test} - {*train}))
        self._tried: dict[tuple[Relation, bool], tuple[list[Breaks], Iterator[Breaks]]] = {}

    def with_own_token(self, spec: EncodingSpec, prediction: Prediction) -> Prediction:
        """Return a prediction with the answer of the rule `own_token`; it stays as it is without a relation.

        Raise EncodingError if an object of the user's own cannot be loaded.
        """
        if prediction.distractors is None:
            return prediction
        first, latest = prediction.distractors, self.latest_break(MinimisedRule.OWN_TOKEN, spec, prediction)
        why = first.why
        if latest is None and first.breaks_at is not None:
            why = "another circuit, or no attention at all, serves each step as training showed it"
        elif latest != first.breaks_at:
            why = f"of the circuits that were tried, the best fails at scale {latest}"
        return replace(prediction, own_token=replace(first, breaks_at=latest, why=why))

    def latest_break(self, rule: MinimisedRule, spec: EncodingSpec, prediction: Prediction) -> int | None:
        """Return the first scale at which the best circuit fails a rule under an encoding; None if it never fails.

        The prediction is that of `lengthgen.circuits.prediction.predict` with the circuit of the analysis.

        Raises:
            EncodingError: an object of the user's own cannot be loaded.
            ValueError: the prediction is that of an encoding without a relation.
        """
        if prediction.distractors is None:
            raise ValueError(f"encoding '{spec}' has no prediction that other circuits could better")
        first = prediction.breaks_at if rule == MinimisedRule.COVERAGE else prediction.distractors.breaks_at
        if self.analysis.result is None or first is None:
            return first
        try:
            relation = relation_of(spec, self.analysis.circuit)
        except HintNeeded:  # learned labels: there is no relation to keep while the circuit changes
            return first
        latest = self._latest_break(rule, relation, first)
        if rule == MinimisedRule.OWN_TOKEN and latest is not None:
            latest = self._latest_break(rule, diagonal_apart(relation), latest, own_token=True)
        return latest

    def _latest_break(
        self, rule: MinimisedRule, relation: Relation, first: int, *, own_token: bool = False
    ) -> int | None:
        """Return the first scale at which the best circuit fails a rule, where one is known to fail at `first`.

        No more circuits are tried once all must fail there.
        """
        if (relation, own_token) not in self._tried:
            self._tried[relation, own_token] = [], self._breaks(relation, own_token=own_token)
        tried, more = self._tried[relation, own_token]
        of_rule = 0 if rule == MinimisedRule.COVERAGE else 1
        latest = _latest(first, *(breaks[of_rule] for breaks in tried))
        while latest is not None and not self._all_fail(relation, latest, rule, own_token=own_token):
            breaks = next(more, None)
            if breaks is None:
                break
            tried.append(breaks)
            latest = _latest(latest, breaks[of_rule])
        return latest

    def _all_fail(self, relation: Relation, scale: int, rule: MinimisedRule, *, own_token: bool) -> bool:
        """Return the answer of `all_circuits_fail`."""
        disturbed = rule != MinimisedRule.COVERAGE
        return self.analysis.remembered(
            ("all circuits fail", relation, self.train, scale, disturbed, own_token),
            lambda: all_circuits_fail(
                self.analysis, relation, self.train, scale, disturbed=disturbed, own_token=own_token
            ),
        )

    def _breaks(self, relation: Relation, *, own_token: bool) -> Iterator[Breaks]:
        """Yield `first_breaks` of the circuits, those first that take least work to find.

        That of the analysis is among them for the own token only: its prediction says the rest.
        """
        for circuit in self._circuits(relation, own_token=own_token):
            yield first_breaks(self.analysis, circuit, relation, self.train, self.later, own_token=own_token)

    def _circuits(self, relation: Relation, *, own_token: bool) -> Iterator[Circuit]:
        if own_token:
            yield self.analysis.circuit
        yield from self._of_mode(Mode.DECLARED)
        yield from favoured_circuit(self.analysis, relation, self.train)
        yield from self._of_mode(Mode.TYPED)

    def _of_mode(self, mode: Mode) -> list[Circuit]:
        return self.analysis.remembered(("other circuit", mode), lambda: other_circuit(self.analysis, mode))


def _latest(*scales: int | None) -> int | None:
    """Return the largest scale; None, which stands for no failure, is larger than all."""
    return None if None in scales else max(scale for scale in scales if scale is not None)


def first_breaks(
    analysis: Analysis,
    circuit: Circuit,
    relation: Relation,
    train: Sequence[int],
    later: Sequence[int],
    *,
    own_token: bool = False,
) -> Breaks:
    """Return the first scales at which a circuit fails the rules.

    No more prompts than those of the traces are tried, so that a sampled training scale may count as failing too much.
    `train` and `later`, the other tested scales, ascend; `own_token` is that of `unseen_distractors`.
    """
    traces = {scale: analysis.traces[scale - 1] for scale in (*train, *later)}
    coverage = next(
        (
            new.scale
            for new in induced_by_scale(circuit, relation, traces.values())
            if math.isinf(new.complexity)
            or (new.scale in later and (new.new_labels or new.new_operators or new.new_entries))
        ),
        None,
    )
    if coverage in train:
        return coverage, coverage

    def of_scale(scale: int) -> Pairs:
        return distractors(circuit, relation, traces[scale], own_token=own_token)

    shown = Pairs.union([of_scale(scale) for scale in train])
    tested = (scale for scale in later if coverage is None or scale < coverage)
    return coverage, next((scale for scale in tested if len(of_scale(scale) - shown)), coverage)


def all_circuits_fail(
    analysis: Analysis,
    relation: Relation,
    train: Sequence[int],
    scale: int,
    *,
    disturbed: bool,
    own_token: bool,
) -> bool:
    """True if each circuit whose steps read minimal determining sets must fail a rule at a scale or before.

    Some step there shows it.  Whatever it reads, its view does not decide its token, or has a label that no key has in
    training.  Or, where keys that a step does not need count, a key has a label and token that no key has in training:
    a circuit that reads it needs a new entry, and any other is disturbed by it.  False may also mean that this is not
    known.

    Args:
        analysis: analysis of the task; circuits have its arity, or that of the reference circuit if it is larger.
        relation: the relation by which the encoding distinguishes keys.
        train: trained scales.
        scale: a scale of the analysis.
        disturbed: True for the rule distractors, False for coverage.
        own_token: that of `unseen_distractors`.
    """
    trace, clock = analysis.traces[scale - 1], Clock(steps=OTHER_STEPS)
    shown = Pairs.union([distractors(None, relation, analysis.traces[trained - 1]) for trained in train])
    labels = relation.labels(trace.length, trace.scale)
    if disturbed:
        attending = labels.copy()
        if own_token:
            attending[:, [step - 2 for step in trace.steps if determines(trace, step, [step - 1])]] = NO_LABEL
        if len(pairs_at_steps(trace, attending) - shown):
            return True
    new_labels = {*np.setdiff1d(labels, shown.labels).tolist()}
    for position in trace.steps:
        try:
            sets, complete = determining_sets(trace, position, _arity(analysis), clock)
        except OutOfTime:
            return False
        of_keys = labels[: position - 1, position - 2]
        if complete and all(
            not new_labels.isdisjoint(signature) or not decides(trace, position, of_keys, signature)
            for signature in _by_signature(sets, of_keys)
        ):
            return True
    return False


def _arity(analysis: Analysis) -> int:
    """Return the arity of the analysis, or that of the reference circuit if it is larger."""
    assert analysis.result is not None
    reference = analysis.task.reference
    return max(analysis.result.arity, reference.arity if reference else 1)


def other_circuit(analysis: Analysis, mode: Mode) -> list[Circuit]:
    """Return the circuit of mode declared or typed; none if it does not exist or is not found within `OTHER_STEPS`."""
    reference = analysis.task.reference
    if analysis.result is None or (mode == Mode.DECLARED and reference is None):
        return []
    arity = reference.arity if mode == Mode.DECLARED and reference else analysis.result.arity
    result = src(analysis.task, analysis.traces, arity, mode=mode, clock=Clock(steps=OTHER_STEPS))
    return [] if result.circuit is None or result.stopped else [result.circuit]


def favoured_circuit(analysis: Analysis, relation: Relation, train: Sequence[int]) -> list[Circuit]:
    """Return a circuit whose steps read keys in favour of a relation; none if it is not found within `OTHER_STEPS`.

    Each step reads one of its minimal determining sets (at the arity of the analysis, or that of the reference circuit
    if it is larger).  The set is the one whose labels some training step can have too, and then those that most steps
    can have.  So a set with labels that training never shows is read only where there is no other.
    """
    arity, clock = _arity(analysis), Clock(steps=OTHER_STEPS)
    choices: dict[tuple[int, int], dict[Signature, tuple[int, ...]]] = {}
    try:
        for trace in analysis.traces:
            labels = relation.labels(trace.length, trace.scale)
            for position in trace.steps:
                sets = determining_sets(trace, position, arity, clock).sets
                choices[trace.scale, position] = _by_signature(sets, labels[:, position - 2])
    except OutOfTime:
        return []
    possible = Counter(signature for by_signature in choices.values() for signature in by_signature)
    trained = {
        signature for (scale, _), by_signature in choices.items() if scale in train for signature in by_signature
    }

    def order(signature: Signature) -> tuple[bool, int, Signature]:
        return signature not in trained, -possible[signature], signature

    return [
        _circuit_of(
            analysis.task,
            arity,
            analysis.traces,
            {step: by_signature[min(by_signature, key=order)] for step, by_signature in choices.items()},
        )
    ]


def _by_signature(sets: Iterable[frozenset[int]], labels: NDArray[np.int64]) -> dict[Signature, tuple[int, ...]]:
    """Return signature -> the first set of keys that has it."""
    by_signature: dict[Signature, tuple[int, ...]] = {}
    for keys in sets:
        by_signature.setdefault(tuple(sorted({int(labels[key - 1]) for key in keys})), tuple(sorted(keys)))
    return by_signature


def _circuit_of(
    task: Task, arity: int, traces: Sequence[Trace], reads: Mapping[tuple[int, int], tuple[int, ...]]
) -> Circuit:
    """Return the circuit in which each step reads chosen keys that determine it; steps share equal tables only.

    `reads` has the keys of each step (scale, position).
    """
    numbers: dict[tuple[int, bytes], int] = {}
    operators: list[NDArray[np.uint8]] = []
    wirings: dict[int, tuple[Wiring, ...]] = {}
    for trace in traces:
        steps = []
        for position in trace.steps:
            keys = reads[trace.scale, position]
            codes = codes_of(trace, position, keys)
            operator = numbers.setdefault((len(keys), codes.tobytes()), len(operators))
            if operator == len(operators):
                operators.append(np.full(trace.symbols ** len(keys), UNDEFINED, dtype=np.uint8))
                operators[operator][codes // trace.symbols] = codes % trace.symbols
            steps.append(Wiring(position=position, arguments=keys, operator=operator))
        wirings[trace.scale] = tuple(steps)
    return Circuit(task=task, arity=arity, wirings=wirings, operators=tuple(operators))
