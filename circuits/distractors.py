"""Distractors: pairs (label, token) of keys that no step needs, which the rule ignores and a model may not ([F])."""

from collections.abc import Sequence

import numpy as np

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.roles import step_roles
from lengthgen.circuits.task import UNDEFINED
from lengthgen.circuits.trace import Trace
from lengthgen.theory.relation import NO_LABEL, Relation


def unseen_distractors(
    circuit: Circuit,
    relation: Relation,
    seen: Sequence[Trace],
    later: Sequence[Trace],
    *,
    own_token: bool = False,
) -> dict[int, set[tuple[int, int]]]:
    """Return scale -> pairs (label, token) of its irrelevant keys that training does not show, if there are any.

    Args:
        circuit: circuit of the task, at the scales of the traces.
        relation: relation by which the encoding distinguishes keys.
        seen: traces of the trained scales.
        later: traces of the other tested scales.
        own_token: True if no key disturbs a step that needs no token but the query's own, which a Transformer has in
            its residual stream without attention ([F]).
    """
    shown = {pair for trace in seen for pair in _distractors(circuit, relation, trace, own_token=own_token)}
    unseen = {trace.scale: _distractors(circuit, relation, trace, own_token=own_token) - shown for trace in later}
    return {scale: pairs for scale, pairs in unseen.items() if pairs}


def _distractors(circuit: Circuit, relation: Relation, trace: Trace, *, own_token: bool) -> set[tuple[int, int]]:
    """Return (label, token) of every key that is irrelevant to the step computed at its query."""
    labels = relation.labels(trace.length, trace.scale)
    relevant = step_roles(circuit, trace.scale)
    for key, query in relevant:
        labels[key - 1, query - 1] = NO_LABEL
    if own_token:
        attending = {query for key, query in relevant if key != query}
        queries = [wiring.position - 1 for wiring in circuit.wirings[trace.scale]]
        labels[:, [query - 1 for query in queries if query not in attending]] = NO_LABEL
    shown: set[tuple[int, int]] = set()
    for inputs, steps in trace.steps_by_inputs():
        occurs = np.zeros((trace.length, UNDEFINED + 1), dtype=np.bool_)
        occurs[np.arange(trace.length)[:, None], inputs] = True
        at_steps = labels[:, [position - 2 for position in steps]]
        keys, _ = irrelevant = np.nonzero(at_steps != NO_LABEL)
        pairs, tokens = np.nonzero(occurs[keys])
        shown.update(zip(at_steps[irrelevant][pairs].tolist(), tokens.tolist(), strict=True))
    return shown
