"""Distractors: pairs (label, token) of keys that no step needs, which the rule ignores and a model may not ([F])."""

from collections.abc import Sequence

import numpy as np

from circuits.circuit import Circuit
from circuits.roles import step_roles
from circuits.task import UNDEFINED
from circuits.trace import Trace
from theory.relation import NO_LABEL, Relation


def unseen_distractors(
    circuit: Circuit, relation: Relation, seen: Sequence[Trace], later: Sequence[Trace]
) -> dict[int, set[tuple[int, int]]]:
    """Return scale -> pairs (label, token) of its irrelevant keys that training does not show, if there are any."""
    shown = {pair for trace in seen for pair in _distractors(circuit, relation, trace)}
    unseen = {trace.scale: _distractors(circuit, relation, trace) - shown for trace in later}
    return {scale: pairs for scale, pairs in unseen.items() if pairs}


def _distractors(circuit: Circuit, relation: Relation, trace: Trace) -> set[tuple[int, int]]:
    """Return (label, token) of every key that is irrelevant to the step computed at its query."""
    labels = relation.labels(trace.length, trace.scale)
    for key, query in step_roles(circuit, trace.scale):
        labels[key - 1, query - 1] = NO_LABEL
    shown: set[tuple[int, int]] = set()
    for inputs, steps in trace.steps_by_inputs():
        occurs = np.zeros((trace.length, UNDEFINED + 1), dtype=np.bool_)
        occurs[np.arange(trace.length)[:, None], inputs] = True
        at_steps = labels[:, [position - 2 for position in steps]]
        keys, _ = irrelevant = np.nonzero(at_steps != NO_LABEL)
        pairs, tokens = np.nonzero(occurs[keys])
        shown.update(zip(at_steps[irrelevant][pairs].tolist(), tokens.tolist(), strict=True))
    return shown
