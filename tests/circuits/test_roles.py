"""The ideal relation labels the argument slots of each step, as the table of worked tasks says."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.formats import CLOSING
from lengthgen.circuits.induced import induced_complexity
from lengthgen.circuits.roles import (
    IRRELEVANT,
    ScaleHintNeeded,
    ideal_relation,
    ideal_relation_by_token,
    role_labels,
    unread_positions,
)
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.counter import parity
from lengthgen.theory.relation import NO_LABEL
from tests.circuits.conftest import Analyses
from tests.circuits.examples import random_task

LARGEST = 8


def _table_of_parity(scale: int, gap: int) -> dict[tuple[int, int], int]:
    """(key, query) -> slot for the queries of one scale, by the table: slot 1 is i = j - gap, slot 2 is i = j."""
    queries = range(gap + 1, gap + 1 + scale + 1)
    return {(j - gap, j): 1 for j in queries} | {(j, j): 2 for j in queries}


def _labels_of_parity(scale: int, gap: int, length: int) -> np.ndarray:
    expected = np.full((length, length), IRRELEVANT)
    expected[np.tril_indices(length, -1)] = NO_LABEL
    for (key, query), slot in _table_of_parity(scale, gap).items():
        expected[key - 1, query - 1] = slot
    return expected


@pytest.mark.parametrize("scale", range(1, LARGEST + 1))
def test_parity_unaligned_reads_key_j_minus_n_and_key_j(scale: int, analyses: Analyses) -> None:
    relation = ideal_relation(analyses("parity", "unaligned", LARGEST).circuit, scale_hint=True)
    labels = relation.labels(2 * scale + 2, scale)
    assert (labels == _labels_of_parity(scale, scale, len(labels))).all()


def test_parity_aligned_has_one_table_for_all_scales_and_needs_no_hint(analyses: Analyses) -> None:
    circuit = analyses("parity", "aligned", LARGEST).circuit
    relation = ideal_relation(circuit, scale_hint=False)
    assert not relation.scale_hint
    gap = LARGEST + CLOSING
    longest = gap + 1 + LARGEST + 1
    assert (relation.labels(longest) == _labels_of_parity(LARGEST, gap, longest)).all()
    for scale in range(1, LARGEST + 1):
        assert set(circuit.roles(scale)) == set(_table_of_parity(scale, gap))


@pytest.mark.parametrize("name", ["parity", "copy", "permutation"])
def test_unaligned_without_hint_is_refused(name: str, analyses: Analyses) -> None:
    with pytest.raises(ScaleHintNeeded, match=r"role of key 1 for query 3 changes at scale 2: use the"):
        ideal_relation(analyses(name, "unaligned", 6).circuit, scale_hint=False)


def test_the_token_at_the_query_tells_select_middle_all_that_a_hint_would(analyses: Analyses) -> None:
    """Query j holds '=' if n = j - 1, and a digit if n = j - 2; the digit's step reads the '=' before it."""
    analysis = analyses("select-middle", "unaligned", LARGEST)
    relation = ideal_relation_by_token(analysis.circuit, analysis.traces)
    assert not relation.scale_hint
    labels = relation.labels(LARGEST + 2)
    for query in range(2, LARGEST + 3):
        middle = query // 2 if query <= LARGEST + 1 else None
        before = query - 1 if query >= 3 else None
        column = labels[:query, query - 1]
        assert set(np.flatnonzero(column != IRRELEVANT) + 1) == {middle, before} - {None}
        if middle is not None and before is not None:
            assert column[middle - 1] != column[before - 1]
    assert len(np.unique(labels[np.triu_indices(LARGEST + 2)])) == 3


def _changes_within_a_token(analysis: Analysis) -> set[tuple[int, int, int]]:
    """(scale, query, key) whose role is another than at a smaller scale with a common token at the query.

    Plain: the tokens of these tasks at one query of one scale are all digits, or a mark.
    """
    steps = [
        (trace.scale, step - 1, {*trace.tokens_at(step)[step - 2].tolist()})
        for trace in analysis.traces
        for step in trace.steps
    ]
    return {
        (scale, query, key)
        for (scale, query, tokens), (other, other_query, other_tokens) in itertools.product(steps, steps)
        if other < scale and query == other_query and tokens & other_tokens
        for key in range(1, query + 1)
        if analysis.circuit.roles(scale).get((key, query)) != analysis.circuit.roles(other).get((key, query))
    }


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
@pytest.mark.parametrize(
    "name", ["copy", "reverse", "shift", "parity", "counter", "division", "select-first", "select-middle", "select-any"]
)
def test_labels_by_token_exist_iff_no_role_changes_while_the_token_does_not(
    name: str, layout: str, analyses: Analyses
) -> None:
    analysis = analyses(name, layout, 5)
    changes = _changes_within_a_token(analysis)
    if not changes:
        relation = ideal_relation_by_token(analysis.circuit, analysis.traces)
        induced = induced_complexity(analysis.circuit, relation, analysis.traces, own_token=True)
        assert induced.conflict is None and induced.with_selection(5) < np.inf
        return
    with pytest.raises(ScaleHintNeeded) as needed:
        ideal_relation_by_token(analysis.circuit, analysis.traces)
    change = needed.value.change
    assert (change.scale, change.query, change.key) in changes
    assert change.scale == min(scale for scale, _, _ in changes)
    with pytest.raises(ScaleHintNeeded):
        ideal_relation(analysis.circuit, scale_hint=False)


@pytest.mark.parametrize("outputs", [(-1,), (0, -1)], ids=str)
def test_a_query_that_one_class_leaves_open_adds_no_label(outputs: tuple[int, ...]) -> None:
    """Query j of the largest scales holds an output, as '=' would stand there at a larger scale only."""
    select = load("select-first", base=2)
    task = replace(
        select,
        generate=lambda prompt: [*(prompt[:-1][place] for place in outputs), "$"],
        vectorised=None,
        reference=None,
    )
    analysis = analyse(task, "unaligned", LARGEST)
    relation = ideal_relation_by_token(analysis.circuit, analysis.traces)
    induced = induced_complexity(analysis.circuit, relation, analysis.traces, own_token=True)
    for scale in range(4, LARGEST + 1):
        assert not (induced.new_labels[scale] or induced.new_operators[scale] or induced.new_entries[scale])


def test_classes_with_a_common_token_are_one() -> None:
    """Prompts that end with '=' or with a digit: so all tokens at queries are of one class."""
    select = load("select-first")
    marked = replace(select, prompt=lambda n: [*select.prompt(n)[:-1], ("=", "0")], vectorised=None, reference=None)
    analysis = analyse(marked, "unaligned", 3)
    with pytest.raises(ScaleHintNeeded, match="for query 3 changes at scale 2"):
        ideal_relation_by_token(analysis.circuit, analysis.traces)


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
@pytest.mark.parametrize(("name", "roles"), [("copy", 1), ("parity", 2), ("permutation", 6)])
def test_the_number_of_labels_is_the_number_of_roles_and_one(
    name: str, layout: str, roles: int, analyses: Analyses
) -> None:
    circuit = analyses(name, layout, 6).circuit
    assert sorted(role_labels(circuit).values()) == list(range(1, roles + 1))
    met: set[int] = set()
    relation = ideal_relation(circuit, scale_hint=True)
    for scale, steps in circuit.wirings.items():
        met |= set(relation.labels(steps[-1].position, scale).ravel().tolist())
    assert met == {NO_LABEL, IRRELEVANT, *range(1, roles + 1)}


def test_slots_that_nothing_depends_on_have_no_role() -> None:
    first = np.array([0, 0, 1, 1], dtype=np.uint8)
    bits = replace(parity(), alphabet=("0", "1"), vectorised=None)
    steps = (Wiring(position=3, arguments=(1, 2), operator=0),)
    circuit = Circuit(task=bits, arity=2, wirings={1: steps}, operators=(first,))
    assert circuit.roles(1) == {(1, 2): frozenset({(0, 1)})}


def test_a_position_that_fills_two_slots_has_both_roles() -> None:
    xor = np.array([0, 1, 1, 0], dtype=np.uint8)
    bits = replace(parity(), alphabet=("0", "1"), vectorised=None)
    steps = (Wiring(position=3, arguments=(1, 2), operator=0), Wiring(position=4, arguments=(2, 2), operator=0))
    circuit = Circuit(task=bits, arity=2, wirings={1: steps}, operators=(xor,))
    first, second, both = frozenset({(0, 1)}), frozenset({(0, 2)}), frozenset({(0, 1), (0, 2)})
    assert circuit.roles(1) == {(1, 2): first, (2, 2): second, (2, 3): both}
    # In the order of (operator, slot): {slot 1} comes before {slot 1, slot 2}, and that before {slot 2}.
    assert role_labels(circuit) == {first: 1, both: 2, second: 3}


@pytest.mark.parametrize("seed", range(30))
def test_the_output_depends_on_no_position_that_no_step_reads(seed: int) -> None:
    """Random tasks that ignore some positions of their prompts: changing those changes no output."""
    draw = random.Random(seed)
    ignored = {n: {position for position in range(n) if draw.random() < 0.4} for n in range(1, 5)}
    full = random_task(seed, symbols=2, arity=2, scales=4, local=False)

    def generate(prompt: tuple[str, ...]) -> list[str]:
        kept = ("a" if place in ignored[len(prompt)] else symbol for place, symbol in enumerate(prompt))
        return list(full.generate(tuple(kept)))

    task = Task(name="ignoring", alphabet=full.alphabet, prompt=lambda n: ["ab"] * n, generate=generate)
    traces = traces_up_to(task, 4)
    arity = minimal_arity(traces)
    if arity is None:
        pytest.skip("some step needs too many arguments")
    circuit = src(task, traces, arity).circuit
    for n in range(1, 5):
        unread = unread_positions(circuit, n)
        for prompt in itertools.product("ab", repeat=n):
            changed = tuple("a" if place + 1 in unread else symbol for place, symbol in enumerate(prompt))
            assert task.generate(changed) == task.generate(prompt)
