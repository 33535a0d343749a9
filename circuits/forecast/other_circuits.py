"""Other right circuits of a task than the one that the search finds first, and where the best of them fails the rules.

A task may have a circuit that serves an encoding better.  The set of circuits that are asked is bounded ([F]): that of
the analysis, those of the modes declared and typed, and one made in favour of a relation (`favoured_circuit`).  The
relation is the same for all of them: that by which the model is trained.  So a yes is sound, and a no means that none
of these circuits serves.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.analysis import Analysis
from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.coverage import unseen_distractors
from lengthgen.circuits.determining import determining_sets
from lengthgen.circuits.encoding_spec import EncodingSpec, HintNeeded, relation_of
from lengthgen.circuits.induced import induced_complexity
from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.search.wirings import Mode, as_array
from lengthgen.circuits.src import src
from lengthgen.circuits.tables import Table, table_of
from lengthgen.circuits.task import Task
from lengthgen.circuits.trace import Trace
from lengthgen.theory.relation import Relation, diagonal_apart

NEAR = 2
"""Number of tested scales beyond training that are tried first with another circuit; most circuits fail there."""
OTHER_STEPS = 300_000_000
"""Largest number of counted steps of the search for one other circuit: a few seconds on one core."""

Breaks = tuple[int | None, int | None]
"""First scales at which a circuit fails the rules coverage and distractors; None if it fails at none."""
Signature = tuple[int, ...]
"""Labels of the keys of a step, ascending, each once."""


@dataclass(frozen=True, kw_only=True)
class LatestBreaks:
    """First scales at which the best circuit fails each rule that is minimised over circuits; None if it never fails.

    Attributes:
        coverage, distractors: these rules.
        own_token: distractors with what a Transformer has without attention ([F]): the query's own token has a label of
            its own, and no key disturbs a step that needs no other token.
    """

    coverage: int | None
    distractors: int | None
    own_token: int | None


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
        self._known: dict[tuple[Relation, bool], list[Breaks]] = {}

    @cached_property
    def _others(self) -> list[Circuit]:
        return other_circuits(self.analysis)

    def with_own_token(self, spec: EncodingSpec, prediction: Prediction) -> Prediction:
        """Return a prediction with the answer of the rule `own_token`; it stays as it is without a relation.

        Raise EncodingError if an object of the user's own cannot be loaded.
        """
        if prediction.distractors is None:
            return prediction
        first, latest = prediction.distractors, self.latest_breaks(spec, prediction).own_token
        why = first.why
        if latest is None and first.breaks_at is not None:
            why = "another circuit, or no attention at all, serves each step as training showed it"
        elif latest != first.breaks_at:
            why = f"of the circuits that were tried, the best fails at scale {latest}"
        return replace(prediction, own_token=replace(first, breaks_at=latest, why=why))

    def latest_breaks(self, spec: EncodingSpec, prediction: Prediction) -> LatestBreaks:
        """Return where the best circuit fails under an encoding.

        The prediction is that of `lengthgen.circuits.prediction.predict` with the circuit of the analysis.

        Raises:
            EncodingError: an object of the user's own cannot be loaded.
            ValueError: the prediction is that of an encoding without a relation.
        """
        if prediction.distractors is None:
            raise ValueError(f"encoding '{spec}' has no prediction that other circuits could better")
        coverage, distractors = prediction.breaks_at, prediction.distractors.breaks_at
        if self.analysis.result is None or coverage is distractors is None:
            return LatestBreaks(coverage=coverage, distractors=distractors, own_token=distractors)
        try:
            relation = relation_of(spec, self.analysis.circuit)
        except HintNeeded:  # learned labels: there is no relation to keep while the circuit changes
            return LatestBreaks(coverage=coverage, distractors=distractors, own_token=distractors)
        others = self._breaks(relation)
        distractors = _latest(distractors, *(at for _, at in others))
        own_token = distractors
        if own_token is not None:
            with_token = self._breaks(relation, own_token=True)
            own_token = _latest(own_token, *(at for _, at in with_token))
        return LatestBreaks(
            coverage=_latest(coverage, *(at for at, _ in others)), distractors=distractors, own_token=own_token
        )

    def _breaks(self, relation: Relation, *, own_token: bool = False) -> list[Breaks]:
        """Return `first_breaks` of the circuits, up to the first that never fails.

        That of the analysis is among them for the own token only: its prediction says the rest.
        """
        if (relation, own_token) in self._known:
            return self._known[relation, own_token]
        labels = diagonal_apart(relation) if own_token else relation
        circuits = [*([self.analysis.circuit] if own_token else []), *self._others]
        all_breaks: list[Breaks] = []
        for circuit in [*circuits, *favoured_circuit(self.analysis, labels, self.train)]:
            breaks = first_breaks(self.analysis, circuit, labels, self.train, self.later, own_token=own_token)
            all_breaks.append(breaks)
            if breaks == (None, None):
                break
        self._known[relation, own_token] = all_breaks
        return all_breaks


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
    seen = [analysis.traces[scale - 1] for scale in train]
    breaks: set[int] = set()
    shown: set[int] = set()
    for count in (NEAR, len(later)):
        tested = [analysis.traces[scale - 1] for scale in later[:count]]
        induced = induced_complexity(circuit, relation, [*seen, *tested])
        breaks = {scale for scale, complexity in induced.complexity.items() if math.isinf(complexity)}
        breaks |= {
            trace.scale
            for trace in tested
            for new in (induced.new_labels, induced.new_operators, induced.new_entries)
            if new[trace.scale]
        }
        if not breaks or min(breaks) > train[-1]:
            shown = {*unseen_distractors(circuit, relation, seen, tested, own_token=own_token)}
        if breaks:
            break
    return min(breaks, default=None), min(breaks | shown, default=None)


def other_circuits(analysis: Analysis) -> list[Circuit]:
    """Return the circuits of the modes declared and typed, those that exist and are found within `OTHER_STEPS`."""
    if analysis.result is None:
        return []
    arities = {Mode.TYPED: analysis.result.arity}
    if analysis.task.reference is not None:
        arities = {Mode.DECLARED: analysis.task.reference.arity} | arities
    results = (
        src(analysis.task, analysis.traces, arity, mode=mode, clock=Clock(steps=OTHER_STEPS))
        for mode, arity in arities.items()
    )
    return [result.circuit for result in results if result.circuit is not None and not result.stopped]


def favoured_circuit(analysis: Analysis, relation: Relation, train: Sequence[int]) -> list[Circuit]:
    """Return a circuit whose steps read keys in favour of a relation; none if it is not found within `OTHER_STEPS`.

    Each step reads one of its minimal determining sets (at the arity of the analysis, or that of the reference circuit
    if it is larger).  The set is the one whose labels some training step can have too, and then those that most steps
    can have.  So a set with labels that training never shows is read only where there is no other.
    """
    assert analysis.result is not None
    arity = max(analysis.result.arity, analysis.task.reference.arity if analysis.task.reference else 1)
    clock = Clock(steps=OTHER_STEPS)
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
    operators: dict[tuple[int, Table], int] = {}
    tables: list[NDArray[np.uint8]] = []
    wirings: dict[int, tuple[Wiring, ...]] = {}
    for trace in traces:
        steps = []
        for position in trace.steps:
            keys = reads[trace.scale, position]
            table = table_of(trace, position, keys)
            operator = operators.setdefault((len(keys), table), len(tables))
            if operator == len(tables):
                tables.append(as_array(table, len(keys), trace.symbols))
            steps.append(Wiring(position=position, arguments=keys, operator=operator))
        wirings[trace.scale] = tuple(steps)
    return Circuit(task=task, arity=arity, wirings=wirings, operators=tuple(tables))
