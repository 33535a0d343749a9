"""Data of the relations view equal the results of the functions in circuits."""

import numpy as np
import pytest

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.encoding_spec import ENCODINGS, EncodingError, EncodingSpec, relation_of
from lengthgen.circuits.formats import FORMATS
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.tasks import TaskSpec, load
from lengthgen.paper_figs.report.relations import (
    PREDICTED,
    QUICK,
    SCALES,
    Bounds,
    explore,
    merged,
    pool_labels,
    unpooled,
)

CASES = (("copy", "aligned"), ("copy", "unaligned"), ("parity-direct", "unaligned"))
BOUNDS = Bounds(largest=(12,))
ALL = range(1, 13)
"""Scales analysed: enough that parity-direct needs more than 8 arguments, which are not tried."""


@pytest.fixture(scope="module")
def content():
    return {case: explore(TaskSpec(name=case[0], format=case[1]), BOUNDS) for case in CASES}


@pytest.fixture(scope="module")
def analyses():
    return {(task, form): analyse(load(task), form, ALL[-1]) for task, form in CASES}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["ipe", "ipe-sh", "rpe", "ape", "lbpe", "random-rope"])
def test_predictions_are_those_of_predict(content, analyses, case, name):
    its = content[case]["encodings"][name]
    try:
        expected = predict(analyses[case], EncodingSpec(name=name), train=BOUNDS.train, test=ALL).as_json()
    except EncodingError as error:
        assert its == {"why": str(error)}
        return
    assert its["prediction"] == {key: expected[key] for key in PREDICTED}


@pytest.mark.parametrize("case", CASES)
def test_labels_are_those_of_the_relation(content, analyses, case):
    analysis = analyses[case]
    circuit = analysis.circuit if analysis.result else None
    numbered, pool = pool_labels([content[case]])
    seen = 0
    for name in ENCODINGS:
        its = numbered[0]["encodings"][name]
        for scale in SCALES if "labels" in its else ():
            length = analysis.traces[scale - 1].length
            matrix = relation_of(EncodingSpec(name=name), circuit).labels(length, scale)
            labels = pool[its["labels"][scale - 1 if len(its["labels"]) > 1 else 0]]
            for query in range(1, length + 1):
                for key in range(1, query + 1):
                    assert labels[query * (query - 1) // 2 + key - 1] == matrix[key - 1, query - 1]
            seen += 1
    assert seen > len(SCALES)


def test_a_label_is_stored_once(content):
    _, pool = pool_labels(content.values())
    assert len({tuple(labels) for labels in pool}) == len(pool)
    beginnings = [(a, b) for a in pool for b in pool if a is not b and b[: len(a)] == a]
    assert not beginnings


def test_circuits_and_src_are_those_of_the_analysis(content, analyses):
    shown, analysis = content["copy", "unaligned"], analyses["copy", "unaligned"]
    assert shown["src"] == [list(analysis.result.bounds[scale]) for scale in ALL]
    assert (shown["status"], shown["inputs"]) == (analysis.result.status, analysis.result.inputs)
    wirings = analysis.circuit.wirings[3]
    assert [step[0] for step in shown["scales"][2]["steps"]] == [wiring.position for wiring in wirings]
    assert [[read for read, _ in step[2]] for step in shown["scales"][2]["steps"]] == [[*w.arguments] for w in wirings]
    assert len(shown["scales"][2]["names"]) == analysis.traces[2].length


@pytest.mark.parametrize("task", ["parity", "addition"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_quick_page_has_circuit_and_labels_without_predictions(task, form):
    shown = explore(TaskSpec(name=task, format=form), QUICK)
    assert shown["src"] == [[1, 1]] * QUICK.largest[0]
    assert all(instance["steps"] for instance in shown["scales"])
    assert shown["train"] is None and not any("prediction" in its for its in shown["encodings"].values())
    assert shown["encodings"]["ipe-sh"]["labels"]


def test_labels_that_were_pooled_come_back(content):
    for before, after in zip(content.values(), unpooled(*pool_labels(content.values())), strict=True):
        for name, its in before["encodings"].items():
            for labels, again in zip(its.get("labels", []), after["encodings"][name].get("labels", []), strict=True):
                assert again[: len(labels)] == labels


def test_of_two_explorations_the_first_counts_and_gets_predictions_at_the_same_scales(content):
    complete = content["copy", "aligned"]
    part = complete | {"encodings": {name: complete["encodings"][name] for name in ("ipe", "rpe")}}
    [both] = merged([part, complete])
    assert both == complete
    [first] = merged([part, complete | {"largest": 20}])
    assert first == part


def test_a_task_without_a_circuit_says_why_and_has_labels(content):
    shown = content["parity-direct", "unaligned"]
    assert shown["src"] is None and "more than 8 arguments" in shown["why"]
    assert shown["encodings"]["rpe"]["prediction"]["generalizes"] is False
    assert np.array(shown["encodings"]["nope"]["labels"]).max() == 0


def test_slots_of_a_role_ascend():
    page_data = explore(TaskSpec(name="sort-direct"), Bounds(largest=(3,), train=range(1, 3)))
    assert [[3, 2], [3, 3]] in page_data["roles"]
    assert all(role == sorted(role) for role in page_data["roles"])
