"""Data of the relations view of the report page: circuit, SRC by scale, and predictions and labels of each encoding.

Each exploration is for one task in one format.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from circuits.analysis import Analysis, analyse
from circuits.clock import Clock
from circuits.encodings import ENCODINGS, EncodingSpec, HintNeeded, NoRelation, relation_of
from circuits.prediction import predict
from circuits.roles import role_labels
from circuits.task import TaskError
from circuits.tasks import TaskSpec
from paper_figs.instance import Instance
from theory.relation import Relation

SCALES = range(1, 5)
"""Scales whose labels and circuits are shown, up to the largest one analysed; larger ones are hard to follow."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Limits of the analysis of a task.

    Attributes:
        largest: largest scales in order of preference; the first one whose circuit is found within `steps` is used.
        steps: budget of counted steps (`circuits.clock`) for each circuit.
        train: training scales of the predictions, all up to the smallest of `largest` at most.
    """

    largest: tuple[int, ...] = (20, 12, 6)
    steps: int = 24_000_000_000
    train: range = range(1, 6)


def explore(task: TaskSpec, bounds: Bounds) -> dict[str, Any]:
    """Return all page data of one task in one format."""
    reason = ""
    for largest in bounds.largest:
        try:
            analysis = analyse(task.plain(), task.format, largest, clock=Clock(steps=bounds.steps))
        except TaskError as error:
            reason = str(error)
            continue
        encodings = {name: _encoding_data(analysis, EncodingSpec(name=name), bounds.train) for name in ENCODINGS}
        return {
            "task": task.name,
            "format": task.format,
            "largest": largest,
            "scales": [_instance_data(analysis, scale) for scale in SCALES[:largest]],
            "encodings": encodings,
            **_circuit_data(analysis),
        }
    return {"task": task.name, "format": task.format, "why": reason}


def _circuit_data(analysis: Analysis) -> dict[str, Any]:
    """Return SRC by scale, its status, and the roles of the circuit, or the reason why there is none."""
    try:
        circuit = analysis.circuit
    except TaskError as error:
        return {"src": None, "why": str(error)}
    result = analysis.result
    assert result is not None
    return {
        "arity": result.arity,
        "src": [_bounds_json(*result.bounds[scale]) for scale in sorted(result.bounds)],
        "status": result.status,
        "inputs": result.inputs,
        "coverage_scale": result.coverage_scale,
        "roles": [[[operator + 1, slot] for operator, slot in sorted(role)] for role in role_labels(circuit)],
    }


def _bounds_json(low: float, high: float) -> list[int | str]:
    return ["inf" if math.isinf(bound) else int(bound) for bound in (low, high)]


def _instance_data(analysis: Analysis, scale: int) -> dict[str, Any]:
    """Return one instance: names of positions, and steps as [position, operator, [[argument, slot], ...]].

    Slots that an operator ignores are left out. Without a circuit, only the length is given.
    """
    if analysis.result is None:
        return {"length": analysis.traces[scale - 1].length}
    circuit = analysis.circuit
    steps = [
        [
            wiring.position,
            wiring.operator + 1,
            [[wiring.arguments[slot], slot + 1] for slot in circuit.essential_slots(wiring.operator)],
        ]
        for wiring in circuit.wirings[scale]
    ]
    return {"names": Instance(analysis=analysis, scale=scale, step=1).names(), "steps": steps}


def _encoding_data(analysis: Analysis, spec: EncodingSpec, train: range) -> dict[str, Any]:
    """Return the prediction and the labels of an encoding, or the reason why they do not exist."""
    circuit = analysis.circuit if analysis.result else None
    try:
        prediction = predict(analysis, spec, train=train, test=range(1, len(analysis.traces) + 1)).as_json()
        del prediction["encoding"]
        page_data: dict[str, Any] = {"prediction": prediction}
    except (HintNeeded, NoRelation) as error:
        return {"why": str(error)}
    try:
        relation = relation_of(spec, circuit)
    except (HintNeeded, NoRelation) as error:
        return page_data | {"why": str(error)}
    return page_data | {"labels": _labels_by_scale(analysis, relation)}


def _labels_by_scale(analysis: Analysis, relation: Relation) -> list[list[int]]:
    """Return the labels of a relation at the largest scale shown, or at each scale if it uses a scale hint."""
    shown = SCALES[: len(analysis.traces)]
    scales = shown if relation.scale_hint else shown[-1:]
    return [lower_triangle(relation, analysis.traces[scale - 1].length, scale) for scale in scales]


def lower_triangle(relation: Relation, length: int, scale: int) -> list[int]:
    """Return the labels of pairs (1, 1), (1, 2), (2, 2), (1, 3), ...; those of a shorter length are a prefix."""
    matrix = relation.labels(length, scale)
    queries, keys = np.tril_indices(length)
    labels: list[int] = matrix[keys, queries].tolist()
    return labels


def pool_labels(explorations: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Store each list of labels once: return explorations with indices in place of labels, and the pool of lists.

    A list that is a prefix of another one is not stored; its index is that of the longer list.
    """
    explorations = list(explorations)
    all_lists = {tuple(labels) for exploration in explorations for labels in _all_labels(exploration)}
    pool: list[tuple[int, ...]] = []
    index_of: dict[tuple[int, ...], int] = {}
    lengths = sorted({len(labels) for labels in all_lists}, reverse=True)
    prefixes: dict[tuple[int, ...], int] = {}
    for length in lengths:
        prefixes = {labels[:length]: number for labels, number in prefixes.items()}
        for labels in sorted(labels for labels in all_lists if len(labels) == length):
            if labels not in prefixes:
                prefixes[labels] = len(pool)
                pool.append(labels)
            index_of[labels] = prefixes[labels]
    numbered = [
        exploration
        | {
            "encodings": {
                name: encoding_data | {"labels": [index_of[tuple(labels)] for labels in encoding_data["labels"]]}
                if "labels" in encoding_data
                else encoding_data
                for name, encoding_data in exploration["encodings"].items()
            }
        }
        if "encodings" in exploration
        else exploration
        for exploration in explorations
    ]
    return numbered, [list(labels) for labels in pool]


def _all_labels(exploration: dict[str, Any]) -> list[list[int]]:
    return [
        labels
        for encoding_data in exploration.get("encodings", {}).values()
        for labels in encoding_data.get("labels", [])
    ]
