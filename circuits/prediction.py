"""Predictions made before any training: does an encoding generalize on a task, and where does it break?

The rule ([F], our reading of the conjecture of arXiv 2510.04130, with the coverage that this reading needs): an
encoding trained up to scale N0 generalizes to N iff it induces as many operators up to N as up to N0, finitely many,
and every label and every operator entry used up to N was used up to N0. Our literal reading has the first half only.

Beside it, predictions of three variants of the rule are made ([F]). Two drop the assumption that each step is told its
operator: the view of a step must select it, without or with the query's own token in the view. With it, labels that
training finds may use the token in place of a scale hint. The third drops the assumption that irrelevant keys disturb
no step: they may show no (label, token) that training did not show.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lengthgen.circuits.analysis import Analysis
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.coverage import Pairs, unseen_distractors
from lengthgen.circuits.encoding_spec import EncodingSpec, HintNeeded, NoRelation, relation_of
from lengthgen.circuits.induced import Induced, induced_complexity
from lengthgen.circuits.prediction_record import VARIANTS, Prediction, VariantPrediction
from lengthgen.circuits.roles import Change, ScaleHintNeeded, ideal_relation, ideal_relation_by_token
from lengthgen.circuits.src import MAX_ARITY, minimal_arity
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.trace import Trace, extended
from lengthgen.theory.relation import Relation

MORE_PROMPTS = (1 << 16, 1 << 18, 1 << 20)
"""Numbers of prompts of a sampled training scale that are tried before an entry counts as never shown in training."""
NEW_DISTRACTORS = "shows at irrelevant keys pairs of label and token that training never showed"
"""Failure of the variant in which irrelevant keys disturb."""


def predict(
    analysis: Analysis,
    spec: EncodingSpec,
    *,
    train: Sequence[int],
    test: Sequence[int],
    more_prompts: Sequence[int] = MORE_PROMPTS,
) -> Prediction:
    """Return the prediction for one encoding trained on the scales `train` and tested on the scales `test`.

    If the encoding has no relation of positions, there is no prediction. If training finds the labels and no labels
    without scale hint would do, the encoding is predicted to break at the first scale that changes a role.

    Args:
        analysis: analysis of the task up to the largest scale.
        spec: the encoding.
        train: scales of training.
        test: scales of the test.
        more_prompts: numbers of prompts of a sampled training scale that are tried before an entry counts as unseen.

    Raises:
        TaskError: no scales are given, or scales that were not analysed.
        HintNeeded: the encoding is an ideal relation without scale hint that does not exist.
        EncodingError: an object of the user's own cannot be loaded.
        RelationError: the relation gives no label to some pair that occurs.
    """
    if not train or not test or not {*train, *test} <= {trace.scale for trace in analysis.traces}:
        raise TaskError(f"train and test scales must lie in 1..{len(analysis.traces)}, at least one of each")
    encoding = spec.record
    if analysis.result is None:
        try:
            return _infeasible(analysis, spec, train, test)
        except NoRelation as reason:
            if encoding.relation_of is not None:  # its relation is that of a circuit
                raise
            return _no_prediction(spec, str(reason))
    circuit, change = analysis.circuit, None
    if encoding.learns_labels:  # learned labels need to exist only at the scales in use
        scales = {*train, *test}
        if scales != circuit.wirings.keys():  # else it keeps its cached essential slots
            circuit = replace(circuit, wirings={scale: circuit.wirings[scale] for scale in sorted(scales)})
    try:
        relation = relation_of(spec, circuit)
    except NoRelation as reason:
        return _no_prediction(spec, str(reason))
    except HintNeeded as error:
        if not encoding.learns_labels:
            raise
        relation, change = replace(ideal_relation(circuit, scale_hint=True), name="ideal"), error.change
    seen = [analysis.traces[scale - 1] for scale in sorted(set(train))]
    later = [analysis.traces[scale - 1] for scale in sorted(set(test) - set(train))]
    parts = tuple(tuple(trace.scale for trace in part) for part in (seen, later))

    def induced_by(labels: Relation, own_token: bool = False) -> Induced:
        return analysis.remembered(
            ("induced", labels, parts, own_token, (*more_prompts,)),
            lambda: _induced(circuit, labels, seen, later, own_token=own_token, more_prompts=more_prompts),
        )

    induced = induced_by(relation)
    low, high = (induced.complexity[part[-1].scale] for part in (seen, [*seen, *later]))
    if change:
        low = high = math.inf
    breaks = _breaks(induced, [trace.scale for trace in later], change)
    first, breaks_at = _first(breaks)
    distractors_by_scale = analysis.remembered(
        ("unseen distractors", relation, parts),
        lambda: unseen_distractors(circuit, relation, seen, later),
    )
    token_relation, token_change = relation, change
    if change:
        try:
            token_relation, token_change = ideal_relation_by_token(circuit, analysis.traces), None
        except ScaleHintNeeded as needed:
            token_change = needed.change
    selection_with_token = _selected(induced_by(token_relation, own_token=True), seen, later, token_change)
    disturbed = {NEW_DISTRACTORS: min(distractors_by_scale)} if distractors_by_scale else {}
    distractors = _variant(induced, seen, low, high, breaks | disturbed)
    breaking = [variant for variant in (selection_with_token, distractors) if variant.breaks_at is not None]
    return Prediction(
        encoding=str(spec),
        relation=relation.name,
        scale_hint=relation.scale_hint and change is None,
        complexity_train=low,
        complexity_test=high,
        labels_covered=not any(induced.new_labels[trace.scale] for trace in later),
        entries_covered=not any(induced.new_entries[trace.scale] for trace in later),
        unseen_distractors=len(Pairs.union([*distractors_by_scale.values()])) if distractors_by_scale else 0,
        breaks_at=breaks_at,
        why=_why(low, high, first, breaks_at, encoding.caveat),
        selection=_selected(induced, seen, later, change),
        selection_with_token=selection_with_token,
        distractors=distractors,
        distractors_with_token=min(breaking, key=lambda variant: variant.breaks_at or 0, default=distractors),
    )


def _selected(
    induced: Induced, seen: Sequence[Trace], later: Sequence[Trace], change: Change | None
) -> VariantPrediction:
    """Return the prediction if the views must select the operators."""
    low, high = (induced.with_selection(part[-1].scale) for part in (seen, [*seen, *later]))
    if change:
        low = high = math.inf
    breaks = _breaks(induced, [trace.scale for trace in later], change)
    if induced.conflict:
        breaks[f"cannot select the operator: {induced.conflict}"] = induced.conflict.second.scale
    return _variant(induced, seen, low, high, breaks)


def _variant(
    induced: Induced, seen: Sequence[Trace], low: float, high: float, breaks: Mapping[str, int]
) -> VariantPrediction:
    """Return the prediction of a variant from its failures, with the labels of relevant keys counted."""
    first, breaks_at = _first(breaks)
    return VariantPrediction(
        complexity_train=low,
        complexity_test=high,
        breaks_at=breaks_at,
        why=_why(low, high, first, breaks_at, ""),
        labels_train=len(frozenset().union(*(induced.new_labels[trace.scale] for trace in seen))),
        labels_test=len(frozenset().union(*induced.new_labels.values())),
    )


def _no_prediction(spec: EncodingSpec, why: str) -> Prediction:
    unknown = ("relation", "complexity_train", "complexity_test", "labels_covered", "entries_covered")
    nothing: dict[str, Any] = dict.fromkeys((*unknown, "unseen_distractors", "breaks_at"))
    return Prediction(encoding=str(spec), scale_hint=False, why=why, **nothing)


def _infeasible(analysis: Analysis, spec: EncodingSpec, train: Sequence[int], test: Sequence[int]) -> Prediction:
    """Return the prediction for a task without a circuit: no encoding generalizes.

    It breaks at the first scale where a step needs more arguments than any step in training.

    Raise NoRelation if the encoding is the relation of a circuit.
    """
    relation = relation_of(spec, None)

    def first_break() -> tuple[int | None, int]:
        """Return the arity up to the last scale of training, if any is enough, and the first scale that needs more."""
        arity = minimal_arity(analysis.searched[: max(train)])
        needed = ((n, minimal_arity([analysis.searched[n - 1]])) for n in sorted(test))
        return arity, next(n for n, slots in needed if slots is None or slots > (arity or MAX_ARITY))

    arity, breaks_at = analysis.remembered(("beyond any arity", max(train), (*test,)), first_break)
    needs = "" if arity is None else f"; in training {arity} are enough, and at scale {breaks_at} they are not"
    why = f"some step needs more than {MAX_ARITY} arguments, so that no operators compute the task{needs}"
    variant = VariantPrediction(complexity_train=math.inf, complexity_test=math.inf, breaks_at=breaks_at, why=why)
    variants: dict[str, Any] = dict.fromkeys(VARIANTS, variant)
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
        why=why,
        **variants,
    )


def _induced(
    circuit: Circuit,
    relation: Relation,
    seen: Sequence[Trace],
    later: Sequence[Trace],
    *,
    own_token: bool,
    more_prompts: Sequence[int],
) -> Induced:
    """Return the operators induced over the training scales and then the others.

    At sampled training scales, more prompts are tried while later scales need new entries.
    """
    induced = induced_complexity(circuit, relation, [*seen, *later], own_token=own_token)
    missing = sum(induced.new_entries[trace.scale] for trace in later)
    for count in more_prompts:
        if not missing or all(trace.exhaustive for trace in seen):
            break
        seen = [trace if trace.exhaustive else _with_more_prompts(circuit.task, trace, count) for trace in seen]
        induced = induced_complexity(circuit, relation, [*seen, *later], own_token=own_token)
        before, missing = missing, sum(induced.new_entries[trace.scale] for trace in later)
        if missing == before:
            break
    return induced


def _with_more_prompts(task: Task, trace: Trace, count: int) -> Trace:
    """Return the trace with `count` more prompts; remembered, because one relation after the other needs it."""
    key = ("more prompts", count)
    if key not in trace.memory:
        prompts = task.sample_prompts(trace.scale, count, np.random.default_rng([trace.scale, count]))
        trace.memory[key] = extended(task, trace, prompts)
    extended_trace: Trace = trace.memory[key]
    return extended_trace


def _breaks(induced: Induced, unseen: Sequence[int], change: Change | None) -> dict[str, int]:
    """Return kind of failure -> the first scale at which it occurs."""
    hint = f"needs a scale hint, as the role of key {change.key} for query {change.query} changes" if change else ""
    reasons = {
        hint: [change.scale] if change else [],
        "cannot tell the arguments from other keys": [n for n, c in induced.complexity.items() if math.isinf(c)][:1],
        "meets labels that training never showed": [n for n in unseen if induced.new_labels[n]],
        "needs operators that training never showed": [n for n in unseen if induced.new_operators[n]],
        "needs operator entries that training never showed": [n for n in unseen if induced.new_entries[n]],
    }
    return {reason: min(scales) for reason, scales in reasons.items() if scales}


def _first(breaks: Mapping[str, int]) -> tuple[str | None, int | None]:
    """Return the failure of the least scale, and that scale; None for both if there is no failure."""
    first = min(breaks, key=breaks.__getitem__, default=None)
    return first, breaks[first] if first else None


def _why(low: float, high: float, first: str | None, breaks_at: int | None, caveat: str) -> str:
    if first is None:
        reason = f"operators: {low:g} at every scale; training meets every label and entry in use"
    elif math.isinf(high):
        reason = f"at scale {breaks_at} it {first}"
    else:
        reason = f"operators: {low:g} in training, {high:g} in the test; at scale {breaks_at} it {first}"
    return f"{reason} (not in the rule: {caveat})" if caveat else reason
