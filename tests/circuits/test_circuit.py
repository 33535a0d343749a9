"""A circuit is accepted where every step is right from earlier tokens, and rejected by any single fault."""

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuits.circuit import UNDEFINED, Circuit, CircuitError, Wiring
from circuits.src import src, traces_up_to
from circuits.task import Task
from circuits.tasks import copy, parity, permutation

SCALES = 6


def _circuit(task: Task, arity: int, scales: int = SCALES) -> Circuit:
    circuit = src(task, traces_up_to(task, scales), arity).circuit
    assert circuit is not None
    return circuit


CIRCUITS = {
    "copy": _circuit(copy(), 1),
    "parity": _circuit(parity(), 2),
    "permutation": _circuit(permutation(3), 1),
}
in_table = pytest.mark.parametrize("name", CIRCUITS)


@in_table
def test_the_circuit_found_is_right_on_every_prompt(name: str) -> None:
    circuit = CIRCUITS[name]
    prompts = sum(circuit.task.prompt_count(n) for n in range(1, SCALES + 1))
    assert circuit.check(traces_up_to(circuit.task, SCALES)) == prompts
    for one in traces_up_to(circuit.task, SCALES):
        assert (circuit.evaluate(one) == one.tokens[one.prompt_length :]).all()


@in_table
def test_any_flipped_table_entry_is_rejected(name: str) -> None:
    circuit = CIRCUITS[name]
    for index, table in enumerate(circuit.operators):
        for key in np.flatnonzero(table != UNDEFINED):
            for wrong in ((table[key] + 1) % len(circuit.task.alphabet), UNDEFINED):
                flipped = table.copy()
                flipped[key] = wrong
                operators = (*circuit.operators[:index], flipped, *circuit.operators[index + 1 :])
                with pytest.raises(CircuitError):
                    replace(circuit, operators=operators).check(traces_up_to(circuit.task, SCALES))


def _rewired(circuit: Circuit, scale: int, step: int, **changes: object) -> Circuit:
    steps = list(circuit.wirings[scale])
    steps[step] = replace(steps[step], **changes)
    return replace(circuit, wirings={**circuit.wirings, scale: tuple(steps)})


@pytest.mark.parametrize(
    ("name", "step", "arguments"),
    [
        ("copy", 0, (2,)),
        ("copy", 2, (4,)),
        ("parity", 0, (4, 1)),  # slots swapped: '=' in slot 1 gives '$'
        ("parity", 1, (1, 5)),
        ("parity", 2, (3, 4)),
        ("permutation", 1, (1,)),
    ],
)
def test_a_swapped_argument_is_rejected_with_scale_position_and_prompt(
    name: str, step: int, arguments: tuple[int, ...]
) -> None:
    wrong = _rewired(CIRCUITS[name], 3, step, arguments=arguments)
    with pytest.raises(CircuitError, match=rf"scale 3, position {5 + step}, prompt [012] [012] [012] =$"):
        wrong.check(traces_up_to(wrong.task, SCALES))


def test_a_swapped_operator_is_rejected() -> None:
    wrong = _rewired(CIRCUITS["permutation"], 3, 1, operator=0)
    with pytest.raises(CircuitError, match="scale 3, position 6"):
        wrong.check(traces_up_to(wrong.task, 3))


IDENTITY = np.arange(4, dtype=np.uint8)


@pytest.mark.parametrize("offset", [0, 1], ids=["the step itself", "a later step"])
def test_a_circuit_that_reads_what_is_not_there_yet_is_rejected(offset: int) -> None:
    """The identity of a step's own token is right on every trace, and computes nothing."""
    looking = Circuit(
        task=replace(parity(), generate=lambda p: ["0"] * 3, vectorised=None, prompt=lambda n: [("0", "1")]),
        arity=1,
        wirings={1: tuple(Wiring(position=p, arguments=(min(p + offset, 4),), operator=0) for p in (2, 3, 4))},
        operators=(IDENTITY,),
    )
    with pytest.raises(CircuitError):
        looking.check(traces_up_to(looking.task, 1))


def test_a_circuit_without_its_last_step_is_rejected() -> None:
    circuit = CIRCUITS["copy"]
    short = replace(circuit, wirings={**circuit.wirings, 2: circuit.wirings[2][:-1]})
    with pytest.raises(CircuitError):
        short.check(traces_up_to(circuit.task, 3))


def test_slot_one_is_the_highest_digit_of_a_key() -> None:
    (table,) = CIRCUITS["parity"].operators
    zero, one, equals, end = range(4)
    expected = {(x, y): x ^ y for x in (zero, one) for y in (zero, one)}
    expected |= {(zero, equals): zero, (one, equals): one, (equals, zero): end, (equals, one): end}
    assert {divmod(int(key), 4): int(table[key]) for key in np.flatnonzero(table != UNDEFINED)} == expected


@in_table
def test_the_graph_holds_the_wiring(name: str) -> None:
    circuit = CIRCUITS[name]
    graph = circuit.graph(4)
    assert type(graph) is nx.MultiDiGraph
    assert graph.graph == {"task": circuit.task.name, "scale": 4, "arity": circuit.arity}
    kinds = nx.get_node_attributes(graph, "kind")
    assert kinds == {p: "prompt" if p <= 5 else "step" for p in range(1, 11)}
    assert nx.get_node_attributes(graph, "operator") == {w.position: w.operator for w in circuit.wirings[4]}
    edges = sorted((step, data["slot"], argument) for argument, step, data in graph.edges(data=True))
    assert edges == [(w.position, slot, a) for w in circuit.wirings[4] for slot, a in enumerate(w.arguments, start=1)]
    assert all(argument < step for argument, step in graph.edges())


def test_one_position_may_fill_two_slots_of_the_graph() -> None:
    twice = Circuit(
        task=copy(), arity=2, wirings={1: (Wiring(position=3, arguments=(1, 1), operator=0),)}, operators=(IDENTITY,)
    )
    graph = twice.graph(1)
    assert sorted(data["slot"] for data in graph.get_edge_data(1, 3).values()) == [1, 2]
    assert graph.number_of_edges() == 2


def _with_table(table: dict[tuple[int, ...], int], arity: int) -> Circuit:
    array = np.full(3**arity, UNDEFINED, dtype=np.uint8)
    for key, value in table.items():
        array[sum(digit * 3 ** (arity - 1 - slot) for slot, digit in enumerate(key))] = value
    task = replace(parity(), alphabet=("0", "1", "="), vectorised=None)
    return Circuit(task=task, arity=arity, wirings={}, operators=(array,))


@given(
    table=st.dictionaries(st.tuples(*[st.integers(0, 2)] * 3), st.integers(0, 1), min_size=1, max_size=12),
)
def test_essential_slots_are_the_first_smallest_set_that_decides(table: dict[tuple[int, ...], int]) -> None:
    def decides(slots: tuple[int, ...]) -> bool:
        values: dict[tuple[int, ...], int] = {}
        return all(values.setdefault(tuple(key[s] for s in slots), value) == value for key, value in table.items())

    subsets = [slots for size in range(4) for slots in itertools.combinations(range(3), size)]
    assert _with_table(table, 3).essential_slots(0) == next(filter(decides, subsets))


def test_spare_slots_are_not_essential() -> None:
    three = _circuit(parity(), 3, 3)
    (operator,) = range(len(three.operators))
    assert len(three.essential_slots(operator)) == 2
    assert CIRCUITS["parity"].essential_slots(0) == (0, 1)
    assert _circuit(copy(), 2, 3).essential_slots(0) == (0,)
    assert _with_table({(0, 0): 1, (1, 1): 1}, 2).essential_slots(0) == ()
