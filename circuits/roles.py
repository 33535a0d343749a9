"""Ideal position relation of a circuit: the label of a pair is the role that the key plays for the query.

The step at position p is computed at query p - 1, which sees positions 1..p-1. A key that fills an argument slot
there has the role (operator, slot), or a set of such pairs if it fills several slots. Every other pair is irrelevant
and shares the label 0 ([P]: one single value for everything irrelevant; [F]: roles as sets of (operator, slot)).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.circuit import Circuit, Role
from lengthgen.circuits.trace import Trace
from lengthgen.theory.relation import Relation, from_labels

IRRELEVANT = 0
"""Label of all irrelevant pairs."""

_NO_STEP = -1


@dataclass(frozen=True, kw_only=True)
class Change:
    """Pair (key, query), 1-based, whose role at a scale differs from that at a smaller one."""

    key: int
    query: int
    scale: int

    def __str__(self) -> str:
        return f"the role of key {self.key} for query {self.query} changes at scale {self.scale}"


class ScaleHintNeeded(ValueError):
    """Error: the role of some pair changes with the scale, so no relation without scale hint has it.

    Attributes:
        change: the first such pair.
    """

    def __init__(self, change: Change) -> None:
        super().__init__(f"{change}: use the aligned format or a scale hint")
        self.change = change


def unread_positions(circuit: Circuit, scale: int) -> list[int]:
    """Return the prompt positions that admit several symbols and that no step of a scale reads, ascending, 1-based.

    On the prompts that the circuit computes, the output does not depend on them: perhaps the task is not the one that
    was meant, such as bracket depth modulo 2, which is the same for all brackets.
    """
    read = {key for key, _ in circuit.roles(scale)}
    given = circuit.task.given(scale).items()
    return [position for position, symbols in given if len(symbols) > 1 and position not in read]


def role_labels(circuit: Circuit) -> dict[Role, int]:
    """Return the label of every role that occurs: 1, 2, ..., in the order of (operator, slot)."""
    roles = {role for scale in circuit.wirings for role in circuit.roles(scale).values()}
    return {role: label for label, role in enumerate(sorted(roles, key=sorted), start=1)}


def changing_pairs(circuit: Circuit) -> list[Change]:
    """Return the pairs whose role at some scale differs from that at a smaller one, each with the first such scale.

    A pair has a role at the scales that compute a step at its query. If there are such pairs, no relation without scale
    hint has the roles of the circuit.
    """
    return _merged(circuit)[1]


def _merged(
    circuit: Circuit, class_of: Callable[[int, int], int] = lambda scale, query: 0, classes: int = 1
) -> tuple[NDArray[np.int64], list[Change]]:
    """Merge the role labels of all scales: int64 [classes, length, length], keys by queries.

    A step belongs to the class class_of(scale, query); queries without a step of a class hold _NO_STEP there. The
    second result names each pair whose role changes within a class, with the first scale at which it does.
    """
    matrices = _matrices(circuit)
    length = max(map(len, matrices.values()))
    merged = np.full((classes, length, length), _NO_STEP)
    changing: dict[tuple[int, int], Change] = {}
    for scale, matrix in matrices.items():
        for wiring in circuit.wirings[scale]:
            query = wiring.position - 1
            now, before = matrix[:query, query - 1], merged[class_of(scale, query), :query, query - 1]
            for key in np.flatnonzero((before != _NO_STEP) & (before != now)).tolist():
                changing.setdefault((key, query), Change(key=key + 1, query=query, scale=scale))
            before[:] = np.where(before == _NO_STEP, now, before)  # a view, so this writes into `merged`
    return merged, [*changing.values()]


def _matrices(circuit: Circuit) -> dict[int, NDArray[np.int64]]:
    """Return scale -> the role label of every pair: int64 [length, length], keys by queries."""
    numbers = role_labels(circuit)
    matrices = {}
    for scale, wirings in circuit.wirings.items():
        length = wirings[-1].position
        matrices[scale] = np.full((length, length), IRRELEVANT, dtype=np.int64)
        for (key, query), role in circuit.roles(scale).items():
            matrices[scale][key - 1, query - 1] = numbers[role]
    return matrices


def ideal_relation(circuit: Circuit, *, scale_hint: bool) -> Relation:
    """Return the relation of a circuit (the IPE, ideal position encoding), at the scales of the circuit.

    Args:
        circuit: the circuit.
        scale_hint: True if the label may depend on the scale. If False, pairs have one label for all scales.

    Raises:
        ScaleHintNeeded: scale_hint is False and a pair changes its role with the scale.
    """
    if scale_hint:
        return from_labels(_matrices(circuit), name="ideal with scale hint")
    [labels], changing = _merged(circuit)
    if changing:
        raise ScaleHintNeeded(changing[0])
    return from_labels(np.where(labels == _NO_STEP, IRRELEVANT, labels), name="ideal")


def ideal_relation_by_token(circuit: Circuit, traces: Iterable[Trace]) -> Relation:
    """Return a relation without scale hint for models that read the query's own token beside it ([F]).

    Tokens that stand at one query of one scale are of one class, and so are those of classes with a token in common.
    The label of a pair names the role of the key for each class of the query's token. So steps of two scales at one
    query may have different arguments if their tokens tell them apart, such as '=' and a digit.

    Args:
        circuit: the circuit.
        traces: traces of the circuit's scales, and perhaps of others.

    Raises:
        ScaleHintNeeded: a pair changes its role between two scales whose tokens at the query are of one class.
    """
    tokens_of = {
        (trace.scale, step - 1): frozenset(np.unique(trace.tokens_at(step)[step - 2]).tolist())
        for trace in traces
        if trace.scale in circuit.wirings
        for step in trace.steps
    }
    classes: list[frozenset[int]] = []
    for tokens in tokens_of.values():
        touching = [each for each in classes if each & tokens]
        classes = [each for each in classes if not each & tokens] + [tokens.union(*touching)]
    number_of = {token: number for number, tokens in enumerate(classes) for token in tokens}
    roles, changing = _merged(
        circuit, lambda scale, query: number_of[next(iter(tokens_of[scale, query]))], len(classes)
    )
    if changing:
        raise ScaleHintNeeded(changing[0])
    return from_labels(_of_classes(roles), name="ideal by the query's token")


def _of_classes(roles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one label for the roles of each pair, [classes, keys, queries] -> [keys, queries].

    A class without a step at a query leaves its role open there. A pair with open roles shares the label of a pair
    without them that has the same other roles, if there is one. Of several it is the pair that is irrelevant in most
    classes, and of these the first by query.
    """
    rows = roles.transpose(2, 1, 0).reshape(-1, len(roles))
    distinct, first, pairs = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    closed = [row for row in distinct[np.argsort(first)] if row.any() and (row != _NO_STEP).all()]
    label_rows = [np.full(len(roles), IRRELEVANT), *sorted(closed, key=np.count_nonzero)]
    label_of = []
    for row in distinct:
        fitting = [label for label, other in enumerate(label_rows) if ((row == _NO_STEP) | (row == other)).all()]
        if not fitting:
            fitting = [len(label_rows)]
            label_rows.append(np.where(row == _NO_STEP, IRRELEVANT, row))
        label_of.append(fitting[0])
    labels: NDArray[np.int64] = np.array(label_of)[pairs.reshape(roles.shape[2], roles.shape[1])].T
    return labels
