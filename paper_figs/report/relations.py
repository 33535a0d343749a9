"""Data of the relations view of the report page: circuit, SRC by scale, and predictions and labels of each encoding.

Each exploration is for one task in one format.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.encoding_spec import (
    ENCODINGS,
    EncodingSpec,
    HintNeeded,
    NoRelation,
    parse_encoding,
    relation_of,
)
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.roles import role_labels
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.paper_figs.figures.instance import Instance
from lengthgen.paper_figs.report.plain import task_name, text, texts
from lengthgen.theory.relation import Relation

PREDICTED = (
    "relation", "scale_hint", "complexity_train", "complexity_test", "labels_covered", "entries_covered",
    "unseen_distractors", "breaks_at", "why", "generalizes", "literal",
)  # fmt: skip
"""Parts of a prediction that the page shows."""
SCALES = range(1, 5)
"""Scales whose labels and circuits are shown, up to the largest one analysed; larger ones are hard to follow."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Limits of the analysis of a task.

    Attributes:
        largest: largest scales in order of preference; the first one whose circuit is found within `steps` is used.
        steps: budget of counted steps (`lengthgen.circuits.clock`) for each circuit.
        train: training scales of the predictions, all up to the smallest of `largest` at most; empty for no
            predictions, which take most of the time.
    """

    largest: tuple[int, ...] = (20, 12, 6)
    steps: int = 24_000_000_000
    train: range = range(1, 6)


QUICK = Bounds(largest=(6, 4), steps=100_000_000, train=range(0))
"""Limits that take a fraction of a second for a task: its circuit and labels at small scales, and no predictions."""


def explore(task: TaskSpec, bounds: Bounds) -> dict[str, Any]:
    """Return all page data of one task in one format, or the reason why there is no circuit within the bounds."""
    reason = ""
    for largest in bounds.largest:
        try:
            analysis = analyse(task.plain(), task.format, largest, clock=Clock(steps=bounds.steps))
        except TaskError as error:
            reason = str(error)
            continue
        return explored(task, analysis, _predictions(analysis, bounds.train), bounds.train)
    return {"task": task_name(task.words), "format": task.format, "why": text(reason)}


def explored(
    task: TaskSpec, analysis: Analysis, predictions: Mapping[str, Mapping[str, Any] | None], train: Sequence[int]
) -> dict[str, Any]:
    """Return the page data of a task in one format that is analysed.

    Predictions are by encoding (`Prediction.as_json`), None for one without; `train` are their training scales.
    """
    circuit = analysis.circuit if analysis.result else None
    return {
        "task": task_name(task.words),
        "format": task.format,
        "largest": len(analysis.traces),
        "train": [train[0], train[-1]] if predictions else None,
        "scales": [_instance_data(analysis, scale) for scale in SCALES[: len(analysis.traces)]],
        "encodings": {
            text(name): _encoding_data(analysis, circuit, name, predictions.get(name))
            for name in dict.fromkeys([*ENCODINGS, *predictions])
        },
        **_circuit_data(analysis),
    }


def _predictions(analysis: Analysis, train: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Return the prediction of each encoding that has one; none at all if there are no training scales."""
    predictions = {}
    for name in ENCODINGS if train else ():
        try:
            test = range(1, len(analysis.traces) + 1)
            predictions[name] = predict(analysis, EncodingSpec(name=name), train=train, test=test).as_json()
        except (HintNeeded, NoRelation):  # its relation does not exist either, and `_encoding_data` says why
            continue
    return predictions


def _circuit_data(analysis: Analysis) -> dict[str, Any]:
    """Return SRC by scale, its status, and the roles of the circuit, or the reason why there is none."""
    try:
        circuit = analysis.circuit
    except TaskError as error:
        return {"src": None, "why": text(str(error))}
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
    return {"names": texts(Instance(analysis=analysis, scale=scale, step=1).names()), "steps": steps}


def _encoding_data(
    analysis: Analysis, circuit: Circuit | None, name: str, prediction: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the labels of an encoding, or the reason why it has none, with its prediction if there is one."""
    page_data: dict[str, Any] = {}
    if prediction:
        shown = {key: prediction[key] for key in PREDICTED}
        page_data["prediction"] = {key: text(its) if isinstance(its, str) else its for key, its in shown.items()}
    try:
        relation = relation_of(parse_encoding(name), circuit)
    except (HintNeeded, NoRelation) as error:
        return page_data | {"why": text(str(error))}
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


def merged(explorations: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one exploration for each task and format: the first of them.

    It also gets the predictions of later ones that are up to the same scale and from the same training scales.
    """
    first_of: dict[tuple[str, str], dict[str, Any]] = {}
    for exploration in explorations:
        pair = (exploration["task"], exploration["format"])
        first = first_of.setdefault(pair, exploration)
        both = "encodings" in first and "encodings" in exploration
        if first is not exploration and both and all(first[key] == exploration[key] for key in ("largest", "train")):
            kept = {name: its for name, its in first["encodings"].items() if "prediction" in its}
            first_of[pair] = first | {"encodings": {**first["encodings"], **exploration["encodings"], **kept}}
    return list(first_of.values())


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
    numbered = _with_labels(explorations, lambda labels: index_of[tuple(labels)])
    return numbered, [list(labels) for labels in pool]


def unpooled(explorations: Iterable[dict[str, Any]], pool: Sequence[list[int]]) -> list[dict[str, Any]]:
    """Return the explorations of which `pool_labels` made these; a list of labels may go on beyond its own pairs."""
    return _with_labels(explorations, lambda index: pool[index])


def _with_labels(explorations: Iterable[dict[str, Any]], convert: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """Return the explorations with each list of labels, or its index, converted."""
    return [
        exploration
        | {
            "encodings": {
                name: its | {"labels": [convert(labels) for labels in its["labels"]]} if "labels" in its else its
                for name, its in exploration["encodings"].items()
            }
        }
        if "encodings" in exploration
        else exploration
        for exploration in explorations
    ]


def _all_labels(exploration: dict[str, Any]) -> list[list[int]]:
    return [
        labels
        for encoding_data in exploration.get("encodings", {}).values()
        for labels in encoding_data.get("labels", [])
    ]
