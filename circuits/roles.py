"""Ideal position relation of a circuit: the label of a pair is the role that the key plays for the query.

The step at position p is computed at query p - 1, which sees positions 1..p-1. A key that fills an argument slot
there has the role (operator, slot), or a set of such pairs if it fills several slots. Every other pair is irrelevant
and shares the label 0 ([P]: one single value for everything irrelevant; [F]: roles as sets of (operator, slot)).
"""

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import Circuit
from theory.relation import Relation, from_labels

IRRELEVANT = 0
"""Label of all irrelevant pairs."""

Role = frozenset[tuple[int, int]]
"""Set of (operator, slot) pairs, slots counted from 1."""


class ScaleHintNeeded(ValueError):
    """Error: the role of some pair changes with the scale, so no relation without scale hint has it."""


def step_roles(circuit: Circuit, scale: int) -> dict[tuple[int, int], Role]:
    """Return (key, query) -> role, for every relevant pair of one scale; positions are 1-based.

    Slots on which the operator does not depend are left out: they are filled only because a slot must hold something.
    """
    roles: dict[tuple[int, int], Role] = {}
    for wiring in circuit.wirings[scale]:
        for slot in circuit.essential_slots(wiring.operator):
            pair = wiring.arguments[slot], wiring.position - 1
            roles[pair] = roles.get(pair, frozenset()) | {(wiring.operator, slot + 1)}
    return roles


def unread_positions(circuit: Circuit, scale: int) -> list[int]:
    """Return the prompt positions that admit several symbols and that no step of a scale reads, ascending, 1-based.

    On the prompts that the circuit computes, the output does not depend on them: perhaps the task is not the one that
    was meant, such as bracket depth modulo 2, which is the same for all brackets.
    """
    read = {key for key, _ in step_roles(circuit, scale)}
    given = circuit.task.given(scale).items()
    return [position for position, symbols in given if len(symbols) > 1 and position not in read]


def role_labels(circuit: Circuit) -> dict[Role, int]:
    """Return the label of every role that occurs: 1, 2, ..., in the order of (operator, slot)."""
    roles = {role for scale in circuit.wirings for role in step_roles(circuit, scale).values()}
    return {role: label for label, role in enumerate(sorted(roles, key=sorted), start=1)}


def changing_pairs(circuit: Circuit) -> dict[tuple[int, int], int]:
    """Return (key, query) -> the first scale at which the pair has another role than at a smaller one, if any.

    A pair has a role at the scales that compute a step at its query. If there are such pairs, no relation without scale
    hint has the roles of the circuit.
    """
    matrices = _matrices(circuit)
    labels = np.full_like(max(matrices.values(), key=len), -1)
    changing: dict[tuple[int, int], int] = {}
    for scale, matrix in matrices.items():
        for wiring in circuit.wirings[scale]:
            query = wiring.position - 1
            now, before = matrix[:query, query - 1], labels[:query, query - 1]
            for key in np.flatnonzero((before >= 0) & (before != now)).tolist():
                changing.setdefault((key + 1, query), scale)
            labels[:query, query - 1] = np.where(before < 0, now, before)
    return changing


def _matrices(circuit: Circuit) -> dict[int, NDArray[np.int64]]:
    """Return scale -> the role label of every pair: int64 [length, length], keys by queries."""
    numbers = role_labels(circuit)
    matrices = {}
    for scale, wirings in circuit.wirings.items():
        length = wirings[-1].position
        matrices[scale] = np.full((length, length), IRRELEVANT, dtype=np.int64)
        for (key, query), role in step_roles(circuit, scale).items():
            matrices[scale][key - 1, query - 1] = numbers[role]
    return matrices


def ideal_relation(circuit: Circuit, *, scale_hint: bool) -> Relation:
    """Return the relation of a circuit (the IPE, ideal position encoding), at the scales of the circuit.

    Args:
        circuit: the circuit.
        scale_hint: True if the label may depend on the scale. If False, pairs have the label of the largest scale.

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
