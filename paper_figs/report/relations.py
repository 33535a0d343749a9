"""One task in one format: its circuit, SRC by scale, and what every encoding makes of it, for the page's explorer."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from circuits.encodings import ENCODINGS, EncodingSpec, HintNeeded, NoRelation, relation_of
from circuits.prediction import Analysis, analyse, predict
from circuits.roles import role_labels
from circuits.task import TaskError
from circuits.tasks import TaskSpec
from paper_figs.instance import Instance
from theory.relation import Relation

TRAIN = range(1, 6)
SCALES = range(1, 5)
"""Scales whose labels and circuits are shown: larger ones have more positions than a reader can follow."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How far a task is analysed.

    Attributes:
        largest: scales; up to the first of them whose circuit takes no more steps.
        steps: counted steps (`circuits.clock`) for each circuit.
    """

    largest: tuple[int, ...] = (20, 12, 6)
    steps: int = 24_000_000_000


def explored(task: TaskSpec, bounds: Bounds) -> dict[str, Any]:
    """Everything the page says of one task in one format."""
    reason = ""
    for largest in bounds.largest:
        try:
            analysis = analyse(task.plain(), task.format, largest, steps=bounds.steps)
        except TaskError as error:
            reason = str(error)
            continue
        encodings = {name: _encoding(analysis, EncodingSpec(name=name)) for name in ENCODINGS}
        return {
            "task": task.name,
            "format": task.format,
            "largest": largest,
            "scales": [_scale(analysis, scale) for scale in SCALES],
            "encodings": encodings,
            **_circuit(analysis),
        }
    return {"task": task.name, "format": task.format, "why": reason}


def _circuit(analysis: Analysis) -> dict[str, Any]:
    """SRC, its status, and the roles of the circuit found."""
    try:
        circuit = analysis.circuit
    except TaskError as error:
        return {"src": None, "why": str(error)}
    result = analysis.result
    assert result is not None
    return {
        "arity": result.arity,
        "src": [_bounds(*result.bounds[scale]) for scale in sorted(result.bounds)],
        "status": result.status,
        "inputs": result.inputs,
        "coverage_scale": result.coverage_scale,
        "roles": [[[operator + 1, slot] for operator, slot in sorted(role)] for role in role_labels(circuit)],
    }


def _bounds(low: float, high: float) -> list[int | str]:
    return ["inf" if math.isinf(bound) else int(bound) for bound in (low, high)]


def _scale(analysis: Analysis, scale: int) -> dict[str, Any]:
    """One instance: the names of its positions, and its steps as [position, operator, [[argument, slot], ...]].

    Slots on which an operator does not depend are left out. Without a circuit positions have no names.
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


def _encoding(analysis: Analysis, spec: EncodingSpec) -> dict[str, Any]:
    """The prediction, and the labels; or why there is none."""
    circuit = analysis.circuit if analysis.result else None
    try:
        found = predict(analysis, spec, train=TRAIN, test=range(1, len(analysis.traces) + 1)).as_json()
        del found["encoding"]
        answer: dict[str, Any] = {"prediction": found}
    except (HintNeeded, NoRelation) as error:
        return {"why": str(error)}
    try:
        relation = relation_of(spec, circuit)
    except (HintNeeded, NoRelation) as error:
        return answer | {"why": str(error)}
    return answer | {"labels": _labels(analysis, relation)}


def _labels(analysis: Analysis, relation: Relation) -> list[list[int]]:
    """The labels of a relation, query by query: at the largest scale shown, or with a scale hint at each."""
    scales = SCALES if relation.scale_hint else SCALES[-1:]
    return [triangle(relation, analysis.traces[scale - 1].length, scale) for scale in scales]


def triangle(relation: Relation, length: int, scale: int) -> list[int]:
    """Labels of (1, 1), (1, 2), (2, 2), (1, 3), ...: what a shorter length has is a beginning of it."""
    matrix = relation.labels(length, scale)
    queries, keys = np.tril_indices(length)
    found: list[int] = matrix[keys, queries].tolist()
    return found


def pooled(explorations: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """The explorations with numbers in place of labels, and the labels that they number, each once.

    Labels that are a beginning of others stand for themselves no more.
    """
    explorations = list(explorations)
    every = {tuple(labels) for one in explorations for labels in _all_labels(one)}
    pool: list[tuple[int, ...]] = []
    known: dict[tuple[int, ...], int] = {}
    lengths = sorted({len(labels) for labels in every}, reverse=True)
    beginnings: dict[tuple[int, ...], int] = {}
    for length in lengths:
        beginnings = {labels[:length]: number for labels, number in beginnings.items()}
        for labels in sorted(labels for labels in every if len(labels) == length):
            if labels not in beginnings:
                beginnings[labels] = len(pool)
                pool.append(labels)
            known[labels] = beginnings[labels]
    numbered = [
        one
        | {
            "encodings": {
                name: its | {"labels": [known[tuple(labels)] for labels in its["labels"]]} if "labels" in its else its
                for name, its in one["encodings"].items()
            }
        }
        if "encodings" in one
        else one
        for one in explorations
    ]
    return numbered, [list(labels) for labels in pool]


def _all_labels(one: dict[str, Any]) -> list[list[int]]:
    return [labels for its in one.get("encodings", {}).values() for labels in its.get("labels", [])]
