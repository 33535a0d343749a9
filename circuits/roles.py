"""From a circuit to its ideal position relation: the label of a pair is the role that the key plays for the query.

The step at position p is computed at query p - 1, which sees positions 1..p-1. A key that fills an argument slot
there has the role (operator, slot), or a set of such where it fills several; every other pair is irrelevant and
shares the label 0 ([P]: one single value for everything irrelevant; [F]: roles as sets of (operator, slot)).
"""

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import Circuit
from theory.relation import Relation, from_labels

IRRELEVANT = 0

Role = frozenset[tuple[int, int]]
"""(operator, slot) pairs, slots counted from 1."""


class ScaleHintNeeded(ValueError):
    """The role of some pair changes with the scale, so no relation without scale hint has it."""


def step_roles(circuit: Circuit, scale: int) -> dict[tuple[int, int], Role]:
    """(key, query) -> role, for every relevant pair of one scale; positions are 1-based.

    Slots on which the operator does not depend are left out: they were filled only because a slot must hold
    something.
    """
    roles: dict[tuple[int, int], Role] = {}
    for wiring in circuit.wirings[scale]:
        for slot in circuit.essential_slots(wiring.operator):
            pair = wiring.arguments[slot], wiring.position - 1
            roles[pair] = roles.get(pair, frozenset()) | {(wiring.operator, slot + 1)}
    return roles


def role_labels(circuit: Circuit) -> dict[Role, int]:
    """The label of every role that occurs: 1, 2, ..., in the order of (operator, slot)."""
    found = {role for scale in circuit.wirings for role in step_roles(circuit, scale).values()}
    return {role: label for label, role in enumerate(sorted(found, key=sorted), start=1)}


def ideal_relation(circuit: Circuit, *, scale_hint: bool) -> Relation:
    """The relation of a circuit (the IPE, ideal position encoding), at the scales that the circuit has.

    Args:
        circuit: the circuit.
        scale_hint: whether the label may depend on the scale. Without, pairs have the label of the largest scale.

    Raises:
        ScaleHintNeeded: scale_hint is False and a pair changes its role with the scale; names the first.
    """
    numbers = role_labels(circuit)
    matrices = {}
    for scale, wirings in circuit.wirings.items():
        length = wirings[-1].position
        matrices[scale] = np.full((length, length), IRRELEVANT, dtype=np.int64)
        for (key, query), role in step_roles(circuit, scale).items():
            matrices[scale][key - 1, query - 1] = numbers[role]
    if scale_hint:
        return from_labels(matrices, name="ideal with scale hint")
    return from_labels(_common(circuit, matrices), name="ideal")


def _common(circuit: Circuit, matrices: dict[int, NDArray[np.int64]]) -> NDArray[np.int64]:
    """One matrix for all scales, of the pairs that each scale computes at."""
    largest = max(matrices.values(), key=len)
    common = largest.copy()
    owner = np.zeros(len(largest), dtype=np.int64)
    for scale, matrix in matrices.items():
        for wiring in circuit.wirings[scale]:
            query = wiring.position - 1
            column = matrix[:query, query - 1]
            if owner[query - 1] and (common[:query, query - 1] != column).any():
                key = int(np.argmax(common[:query, query - 1] != column)) + 1
                raise ScaleHintNeeded(
                    f"the role of key {key} for query {query} changes between scales {owner[query - 1]} and {scale}: "
                    "use the aligned format or a scale hint"
                )
            common[:query, query - 1] = column
            owner[query - 1] = scale
    return common
