"""A circuit is accepted where every step is right from earlier tokens, and rejected by any single fault."""

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthgen.circuits.circuit import Circuit, CircuitError, Wiring
from lengthgen.circuits.reference import reference_circuit
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import UNDEFINED, Task, Tokens
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.copying import copy
from lengthgen.circuits.tasks.counter import parity
from lengthgen.circuits.tasks.growing import permutation
from lengthgen.circuits.trace import Trace, trace

SCALES = 6


def _circuit(task: Task, arity: int, scales: int = SCALES) -> Circuit:
    circuit = src(task, traces_up_to(task, scales), arity).circuit
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
    prompts = sum(len(circuit.task.all_prompts(n)) for n in range(1, SCALES + 1))
    assert circuit.check(traces_up_to(circuit.task, SCALES)) == prompts
    for scale_trace in traces_up_to(circuit.task, SCALES):
        assert (circuit.evaluate(scale_trace) == scale_trace.tokens[len(scale_trace.given) :]).all()


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


IDENTITY = np.arange(4, dtype=np.uint8)


@pytest.mark.parametrize("offset", [0, 1], ids=["the step itself", "a later step"])
def test_a_circuit_that_reads_a_token_not_yet_computed_is_rejected(offset: int) -> None:
    """An identity operator on the step's own token agrees with every trace, but computes nothing."""
    circuit = Circuit(
        task=replace(parity(), generate=lambda p: ["0"] * 3, vectorised=None, prompt=lambda n: [("0", "1")]),
        arity=1,
        wirings={1: tuple(Wiring(position=p, arguments=(min(p + offset, 4),), operator=0) for p in (2, 3, 4))},
        operators=(IDENTITY,),
    )
    with pytest.raises(CircuitError):
        circuit.check(traces_up_to(circuit.task, 1))


def test_slot_one_is_the_highest_digit_of_a_key() -> None:
    (table,) = CIRCUITS["parity"].operators
    bit_0, bit_1, equals, end = range(4)
    expected = {(x, y): x ^ y for x in (bit_0, bit_1) for y in (bit_0, bit_1)}
    expected |= {(bit_0, equals): bit_0, (bit_1, equals): bit_1, (equals, bit_0): end, (equals, bit_1): end}
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


PROMPT, STEPS = 3, 6


def _random_circuit(rng: np.random.Generator, *, symbols: int, arity: int) -> Circuit:
    """Random circuit of one scale: PROMPT free tokens, STEPS steps of two operators, a quarter of entries undefined."""
    alphabet = tuple(map(str, range(symbols)))
    tables = rng.integers(0, symbols, (2, symbols**arity)).astype(np.uint8)
    tables[rng.random(tables.shape) < 0.25] = UNDEFINED
    wirings = [
        Wiring(position=p, arguments=tuple(rng.integers(1, p, arity).tolist()), operator=int(rng.integers(2)))
        for p in range(PROMPT + 1, PROMPT + STEPS + 1)
    ]
    task = Task(name="random", alphabet=alphabet, prompt=lambda n: [alphabet] * PROMPT, generate=lambda x: (*x, *x))
    return Circuit(task=task, arity=arity, wirings={1: tuple(wirings)}, operators=tuple(tables))


def _one_step(circuit: Circuit, wiring: Wiring, tokens: list[int]) -> int:
    """Token that a step computes from the tokens before it, digit by digit."""
    key = 0
    for argument in wiring.arguments:
        if tokens[argument - 1] == UNDEFINED:
            return UNDEFINED
        key = key * len(circuit.task.alphabet) + tokens[argument - 1]
    return int(circuit.operators[wiring.operator][key])


def _with_tokens(circuit: Circuit, tokens: Tokens) -> Trace:
    return replace(trace(circuit.task, 1), tokens=tokens)


shapes = pytest.mark.parametrize(
    ("symbols", "arity"),
    # Keys of one, two and four bytes, and the largest number of each that fits fewer.
    [(1, 2), (3, 1), (254, 1), (4, 2), (16, 2), (17, 2), (7, 3), (16, 4), (17, 4), (10, 5)],
)
COUNTS = (1, 7, 8, 50)


@shapes
def test_evaluation_gives_what_a_loop_over_inputs_gives(symbols: int, arity: int) -> None:
    for count in COUNTS:
        rng = np.random.default_rng([symbols, arity, count])
        circuit = _random_circuit(rng, symbols=symbols, arity=arity)
        tokens = rng.integers(0, symbols, (PROMPT + STEPS, count)).astype(np.uint8)
        plain = [[_one_step(circuit, wiring, column) for column in tokens.T.tolist()] for wiring in circuit.wirings[1]]
        outputs = circuit.evaluate(_with_tokens(circuit, tokens))
        assert outputs.dtype == np.uint8
        assert outputs.tolist() == plain, count


@shapes
def test_free_running_gives_what_a_loop_over_inputs_gives(symbols: int, arity: int) -> None:
    for count in COUNTS:
        rng = np.random.default_rng([symbols, arity, count])
        circuit = _random_circuit(rng, symbols=symbols, arity=arity)
        prompts = rng.integers(0, symbols, (count, PROMPT)).astype(np.uint8)
        plain = prompts.tolist()
        for sequence in plain:
            for wiring in circuit.wirings[1]:
                sequence.append(_one_step(circuit, wiring, sequence))
        sequences = circuit.run(prompts, 1)
        assert sequences.dtype == np.uint8
        assert sequences.tolist() == plain, count


def test_no_inputs_give_no_tokens() -> None:
    circuit = CIRCUITS["parity"]
    assert circuit.run(np.empty((0, 3), dtype=np.uint8), 2).shape == (0, 6)
    scale_trace = trace(circuit.task, 2)
    assert circuit.evaluate(replace(scale_trace, tokens=scale_trace.tokens[:, :0])).shape == (3, 0)


@pytest.mark.parametrize(
    ("task", "scale"),
    [
        (load("parity"), 7),
        (load("copy"), 5),
        (load("addition-carry", base=2), 4),
        (load("addition-carry"), 6),
        (load("multiplication", base=2), 3),
    ],
    ids=lambda value: value.name if isinstance(value, Task) else str(value),
)
def test_a_right_circuit_on_its_own_gives_the_traces(task: Task, scale: int) -> None:
    circuit = reference_circuit(task, [scale])
    scale_trace = trace(task, scale)
    assert (circuit.run(np.ascontiguousarray(scale_trace.prompts), scale) == scale_trace.tokens.T).all()


def test_one_flipped_entry_goes_wrong_in_free_running_where_check_says() -> None:
    task = load("addition-carry", base=2)
    circuit = reference_circuit(task, [3])
    digit, carry = circuit.operators
    flipped = digit.copy()
    arguments = [task.alphabet.index(symbol) for symbol in "110"]
    key = sum(token * len(task.alphabet) ** (2 - slot) for slot, token in enumerate(arguments))
    assert flipped[key] == 0
    flipped[key] = 1
    wrong = replace(circuit, operators=(flipped, carry))
    expected = "the circuit of 'addition-carry-base2' is wrong at scale 3, position 11, prompt 0 1 0 + 0 1 0 ="
    with pytest.raises(CircuitError) as caught:
        wrong.check([trace(task, 3)])
    assert str(caught.value) == expected
    symbols = tuple(expected.partition("prompt ")[2].split())
    ran, right = (dict(its.graph(3, symbols).nodes(data="token")) for its in (wrong, circuit))
    assert [position for position in right if ran[position] != right[position]] == [11]


def test_check_names_the_first_wrong_step_of_all_inputs() -> None:
    """The error names position 5 of input 5, although input 3 goes wrong at position 6."""
    scale_trace = trace(parity(), 3)
    tokens = scale_trace.tokens.copy()
    tokens[5, 3] ^= 1
    tokens[4, 5] ^= 1
    wrong = replace(scale_trace, tokens=tokens)
    with pytest.raises(CircuitError) as caught:
        CIRCUITS["parity"].check([wrong])
    assert str(caught.value) == "the circuit of 'parity' is wrong at scale 3, position 5, prompt 1 0 1 ="


def test_a_trace_with_a_token_outside_the_alphabet_is_refused() -> None:
    scale_trace = trace(parity(), 3)
    tokens = scale_trace.tokens.copy()
    tokens[0, 2] = UNDEFINED
    with pytest.raises(CircuitError, match=r"scale 3 holds token 255: 'parity' has the tokens 0\.\.3"):
        CIRCUITS["parity"].evaluate(replace(scale_trace, tokens=tokens))


@pytest.mark.parametrize(
    "changes",
    [{"arity": 1}, {"operators": (IDENTITY,)}],
    ids=["arguments", "entries"],
)
def test_a_circuit_whose_steps_do_not_fit_its_arity_is_refused(changes: dict[str, object]) -> None:
    wrong = replace(CIRCUITS["parity"], **changes)  # type: ignore[arg-type]
    with pytest.raises(
        CircuitError, match=r"with a table of \d+ entries .* give at most \d arguments and a table of their size"
    ):
        wrong.check([trace(parity(), 2)])


@pytest.mark.parametrize(
    ("scale", "prompts", "message"),
    [
        (2, [[0, 1]], r"prompts of 'parity' at scale 2 are of shape \[count, 3\], not \[1, 2\]"),
        (2, [0, 1, 2], r"not \[3\]"),
        (2, [[0, 1, 2], [0, 2, 2]], "'parity' does not allow '=' at position 2 of a prompt of scale 2: 0 1"),
        (2, [[0, 1, 200]], "'parity' does not allow token 200 at position 3"),
        (9, [[0] * 9 + [2]], "does not give the steps of scale 9"),
    ],
)
def test_a_circuit_does_not_run_on_an_invalid_prompt(scale: int, prompts: list[object], message: str) -> None:
    with pytest.raises(CircuitError, match=message):
        CIRCUITS["parity"].run(np.array(prompts, dtype=np.uint8), scale)


def test_the_graph_of_a_prompt_holds_its_tokens() -> None:
    graph = CIRCUITS["parity"].graph(4, ("1", "0", "1", "1", "="))
    assert nx.get_node_attributes(graph, "token") == dict(enumerate("1011=1101$", start=1))
    plain = CIRCUITS["parity"].graph(4)
    assert nx.get_node_attributes(plain, "token") == {}
    assert nx.get_node_attributes(graph, "operator") == nx.get_node_attributes(plain, "operator")
    assert sorted(graph.edges(data="slot")) == sorted(plain.edges(data="slot"))


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (("1", "x", "="), "symbol 'x' is not in the alphabet of 'parity'"),
        (("1", "="), "at scale 2 are of shape"),
        (("1", "=", "="), "'parity' does not allow '=' at position 2 of a prompt of scale 2: 0 1"),
        ((), "at scale 2 are of shape"),
    ],
)
def test_a_graph_of_an_invalid_prompt_is_refused(prompt: tuple[str, ...], message: str) -> None:
    with pytest.raises(CircuitError, match=message):
        CIRCUITS["parity"].graph(2, prompt)


def test_a_graph_is_refused_where_the_circuit_gives_no_token() -> None:
    broken = replace(CIRCUITS["parity"], operators=(np.full(16, UNDEFINED, dtype=np.uint8),))
    with pytest.raises(CircuitError, match="gives no token at scale 2, position 4, prompt 1 0 ="):
        broken.graph(2, ("1", "0", "="))
