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


def changing_pairs(circuit: Circuit) -> dict[tuple[int, int], int]:
    """(key, query) -> the first scale at which the pair has another role than at a smaller one, where there is one.

    A pair has a role at the scales that compute a step at its query. Where there are such pairs no relation without
    scale hint has the roles of the circuit.
    """
    matrices = _matrices(circuit)
    known = np.full_like(max(matrices.values(), key=len), -1)
    changing: dict[tuple[int, int], int] = {}
    for scale, matrix in matrices.items():
        for wiring in circuit.wirings[scale]:
            query = wiring.position - 1
            now, before = matrix[:query, query - 1], known[:query, query - 1]
            for key in np.flatnonzero((before >= 0) & (before != now)).tolist():
                changing.setdefault((key + 1, query), scale)
            known[:query, query - 1] = np.where(before < 0, now, before)
    return changing


def _matrices(circuit: Circuit) -> dict[int, NDArray[np.int64]]:
    """Scale -> the label of the role of every pair: int64 [length, length], keys by queries."""
    numbers = role_labels(circuit)
    matrices = {}
    for scale, wirings in circuit.wirings.items():
        length = wirings[-1].position
        matrices[scale] = np.full((length, length), IRRELEVANT, dtype=np.int64)
        for (key, query), role in step_roles(circuit, scale).items():
            matrices[scale][key - 1, query - 1] = numbers[role]
    return matrices


def ideal_relation(circuit: Circuit, *, scale_hint: bool) -> Relation:
    """The relation of a circuit (the IPE, ideal position encoding), at the scales that the circuit has.

    Args:
        circuit: the circuit.
        scale_hint: whether the label may depend on the scale. Without, pairs have the label of the largest scale.

    Raises:
        ScaleHintNeeded: scale_hint is False and a pair changes its role with the scale; names the first.
    """
    if not scale_hint:
        for (key, query), scale in changing_pairs(circuit).items():
            raise ScaleHintNeeded(
                f"the role of key {key} for query {query} changes at scale {scale}: "
                "use the aligned format or a scale hint"
            )
    matrices = _matrices(circuit)
    if scale_hint:
        return from_labels(matrices, name="ideal with scale hint")
    common = max(matrices.values(), key=len).copy()
    for scale, wirings in circuit.wirings.items():
        queries = [wiring.position - 2 for wiring in wirings]
        common[: len(matrices[scale]), queries] = matrices[scale][:, queries]
    return from_labels(common, name="ideal")
