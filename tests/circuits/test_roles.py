"""The ideal relation labels the argument slots of each step, as the table of worked tasks says."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from circuits.circuit import Circuit, Wiring
from circuits.formats import CLOSING
from circuits.roles import (
    IRRELEVANT,
    ScaleHintNeeded,
    ideal_relation,
    role_labels,
    step_roles,
    unread_positions,
)
from circuits.src import minimal_arity, src, traces_up_to
from circuits.task import Task
from circuits.tasks.counter import parity
from tests.circuits.conftest import Analyses
from tests.circuits.examples import random_task
from theory.relation import NO_LABEL

LARGEST = 8


def _table_of_parity(scale: int, gap: int) -> dict[tuple[int, int], int]:
    """(key, query) -> slot for the queries of one scale, by the table: slot 1 is i = j - gap, slot 2 is i = j."""
    queries = range(gap + 1, gap + 1 + scale + 1)
    return {(j - gap, j): 1 for j in queries} | {(j, j): 2 for j in queries}


@pytest.mark.parametrize("scale", range(1, LARGEST + 1))
def test_parity_unaligned_reads_key_j_minus_n_and_key_j(scale: int, analyses: Analyses) -> None:
    relation = ideal_relation(analyses("parity", "unaligned", LARGEST).circuit, scale_hint=True)
    labels = relation.labels(2 * scale + 2, scale)
    expected = np.full(labels.shape, IRRELEVANT)
    expected[np.tril_indices(len(labels), -1)] = NO_LABEL
    for (key, query), slot in _table_of_parity(scale, scale).items():
        expected[key - 1, query - 1] = slot
    assert (labels == expected).all()


def test_parity_aligned_has_one_table_for_all_scales_and_needs_no_hint(analyses: Analyses) -> None:
    circuit = analyses("parity", "aligned", LARGEST).circuit
    relation = ideal_relation(circuit, scale_hint=False)
    assert not relation.scale_hint
    gap = LARGEST + CLOSING
    longest = gap + 1 + LARGEST + 1
    labels = relation.labels(longest)
    expected = np.full(labels.shape, IRRELEVANT)
    expected[np.tril_indices(longest, -1)] = NO_LABEL
    for (key, query), slot in _table_of_parity(LARGEST, gap).items():
        expected[key - 1, query - 1] = slot
    assert (labels == expected).all()
    for scale in range(1, LARGEST + 1):
        assert set(step_roles(circuit, scale)) == set(_table_of_parity(scale, gap))


def test_with_and_without_hint_agree_where_no_hint_is_needed(analyses: Analyses) -> None:
    circuit = analyses("parity", "aligned", LARGEST).circuit
    free, hinted = (ideal_relation(circuit, scale_hint=hint) for hint in (False, True))
    for scale, steps in circuit.wirings.items():
        queries = [wiring.position - 2 for wiring in steps]
        length = steps[-1].position
        assert (free.labels(length)[:, queries] == hinted.labels(length, scale)[:, queries]).all()


@pytest.mark.parametrize("name", ["parity", "copy", "permutation"])
def test_unaligned_without_hint_is_refused(name: str, analyses: Analyses) -> None:
    with pytest.raises(ScaleHintNeeded, match=r"role of key 1 for query 3 changes at scale 2: use the"):
        ideal_relation(analyses(name, "unaligned", 6).circuit, scale_hint=False)


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


def test_a_step_of_the_permutation_has_the_role_of_its_own_operator(analyses: Analyses) -> None:
    circuit = analyses("permutation", "unaligned", 6).circuit
    roles = step_roles(circuit, 6)
    own = [roles[t, 6 + t] for t in range(1, 7)]
    assert len(set(own)) == 6
    assert all(len(role) == 1 for role in own)


def test_slots_that_nothing_depends_on_have_no_role() -> None:
    first = np.array([0, 0, 1, 1], dtype=np.uint8)
    bits = replace(parity(), alphabet=("0", "1"), vectorised=None)
    steps = (Wiring(position=3, arguments=(1, 2), operator=0),)
    circuit = Circuit(task=bits, arity=2, wirings={1: steps}, operators=(first,))
    assert step_roles(circuit, 1) == {(1, 2): frozenset({(0, 1)})}


def test_a_larger_arity_gives_parity_no_further_roles() -> None:
    circuit = src(parity(), traces_up_to(parity(), 3), 3).circuit
    assert circuit is not None
    assert len(role_labels(circuit)) == 2


def test_a_position_that_fills_two_slots_has_both_roles() -> None:
    xor = np.array([0, 1, 1, 0], dtype=np.uint8)
    bits = replace(parity(), alphabet=("0", "1"), vectorised=None)
    steps = (Wiring(position=3, arguments=(1, 2), operator=0), Wiring(position=4, arguments=(2, 2), operator=0))
    circuit = Circuit(task=bits, arity=2, wirings={1: steps}, operators=(xor,))
    first, second, both = frozenset({(0, 1)}), frozenset({(0, 2)}), frozenset({(0, 1), (0, 2)})
    assert step_roles(circuit, 1) == {(1, 2): first, (2, 2): second, (2, 3): both}
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
    assert circuit is not None
    for n in range(1, 5):
        unread = unread_positions(circuit, n)
        for prompt in itertools.product("ab", repeat=n):
            changed = tuple("a" if place + 1 in unread else symbol for place, symbol in enumerate(prompt))
            assert task.generate(changed) == task.generate(prompt)


def test_a_position_of_a_single_symbol_is_not_missed() -> None:
    circuit = src(parity(), traces_up_to(parity(), 3), 2).circuit
    assert circuit is not None
    assert [unread_positions(circuit, n) for n in (1, 2, 3)] == [[], [], []], "the '=' is not counted"
