"""SRC at all scales: what is proved agrees with SRC at larger scales, and nothing is proved that is wrong somewhere."""

import itertools
import json
import math
import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lengthgen.circuits import checker
from lengthgen.circuits.certificate import certificate
from lengthgen.circuits.circuit import CircuitError
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.questions import periodic_circuit, views
from lengthgen.circuits.questions.all_scales import AllScales, src_for_all_scales
from lengthgen.circuits.questions.periodic_circuit import (
    AllScalesError,
    PeriodicCircuit,
    Phase,
    Place,
    Rule,
    check_proof,
)
from lengthgen.circuits.questions.views import TooManyError
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TaskSpec, load, load_machine
from lengthgen.circuits.tasks.transducer import MAX_STATES, Transducer

BITS = ("0", "1")
MANY = tuple(map(chr, range(200, 460)))


def shifted(base: int, period: int) -> Transducer:
    """y_t = x_t + t mod base, with t counted modulo the period."""
    inputs = tuple(map(str, range(base)))
    step = {(t, c): ((t + 1) % period, inputs[(int(c) + t) % base]) for t in range(period) for c in inputs}
    return Transducer(name="shifted", inputs=inputs, start=0, step=step)


def counter(base: int) -> Transducer:
    """y_t = y_(t-1) + x_t mod base."""
    inputs = tuple(map(str, range(base)))
    sums = {(s, c): (s + int(c)) % base for s in range(base) for c in inputs}
    return Transducer(name="counter", inputs=inputs, start=0, step={key: (s, str(s)) for key, s in sums.items()})


def first_added(base: int) -> Transducer:
    """y_1 = x_1 and y_t = x_t + x_1 mod base, so that every step reads x_1."""
    inputs = tuple(map(str, range(base)))
    step = {(s, c): (s, inputs[(int(c) + int(s)) % base]) for s in inputs for c in inputs}
    return Transducer(name="first-added", inputs=inputs, start="-", step={**step, **{("-", c): (c, c) for c in inputs}})


def late(count: int) -> Transducer:
    """y_t = 1 from some step on, which no window tells from those before."""
    step = {(s, c): (min(s + 1, count), str(int(s == count))) for s in range(count + 1) for c in BITS}
    return Transducer(name="late", inputs=BITS, start=0, step=step)


COPY = Transducer(name="copy", inputs=BITS, start=0, step={(0, c): (0, c) for c in BITS})
DELAY = Transducer(name="delay", inputs=BITS, start="0", step={(s, c): (c, s) for s in BITS for c in BITS})
OR = Transducer(name="or", inputs=BITS, start="0", step={(s, c): (max(s, c), max(s, c)) for s in BITS for c in BITS})
BLOCKS = Transducer(
    name="parity-of-blocks",
    inputs=(*BITS, "#"),
    start=0,
    step={(s, c): (0, str(s)) if c == "#" else (s ^ int(c), "-") for s in (0, 1) for c in (*BITS, "#")},
)


def random_machine(seed: int) -> Transducer:
    """2 or 3 states and random transitions."""
    rng = random.Random(seed)
    states = rng.choice((2, 3))
    step = {(s, c): (rng.randrange(states), rng.choice(BITS)) for s in range(states) for c in BITS}
    return Transducer(name=f"random-{seed}", inputs=BITS, start=0, step=step)


def varied_machine(seed: int) -> Transducer:
    """1 to 4 states, 1 to 3 inputs, 1 to 4 outputs that may be inputs, and random transitions."""
    rng = random.Random(seed)
    states, inputs, outputs = rng.randint(1, 4), "012"[: rng.randint(1, 3)], rng.choice(("01ab", "abcd"))
    outputs = outputs[: rng.randint(1, 4)]
    step = {(s, c): (rng.randrange(states), rng.choice(outputs)) for s in range(states) for c in inputs}
    return Transducer(name=f"varied-{seed}", inputs=tuple(inputs), start=0, step=step)


FIRST_XOR = Transducer(
    name="first-xor",
    inputs=BITS,
    start="-",
    step={("-", c): (c, "0") for c in BITS} | {(s, c): (s, str(int(s != c))) for s in BITS for c in BITS},
)


@cache
def result_of(seed: int) -> tuple[Transducer, AllScales]:
    machine = random_machine(seed)
    return machine, src_for_all_scales(machine, 1 + seed % 3, searched=5)


def words(machine: Transducer, largest: int) -> list[tuple[str, ...]]:
    """All inputs up to a scale, and some of scale 50."""
    every = [word for n in range(1, largest + 1) for word in itertools.product(machine.inputs, repeat=n)]
    return [*every, *(tuple(random.Random(n).choices(machine.inputs, k=50)) for n in range(20))]


def is_right(circuit: PeriodicCircuit, machine: Transducer, word: tuple[str, ...]) -> bool:
    """True if the rules, applied step by step, give the machine's outputs and '$'."""
    phases, given = [*circuit.first], list[str | None]()
    while len(phases) <= len(word):
        phases += circuit.repeated
    rows = {"x": word, "y": given, "=": ()}
    for step, phase in enumerate(phases[: len(word) + 1]):
        rule = phase.step if step < len(word) else phase.end
        at = [(place.kind, step - place.back if place.at is None else place.at - 1) for place in rule.places]
        key = [rows[kind][index] if 0 <= index < len(rows[kind]) else "=" for kind, index in at]
        given.append(circuit.operators[rule.operator].get(tuple(key)))
    return given == [*machine.outputs(word), "$"]


def require_agreement(machine: Transducer, result: AllScales, largest: int) -> None:
    """SRC at scales that were not searched is the proved value, and the circuit gives the machine's outputs."""
    values = src(machine.task(), traces_up_to(machine.task(), largest), result.arity).values
    assert {scale: values[scale] for scale in result.values} == result.values
    assert {values[scale] for scale in range(result.constant_from, largest + 1)} == {result.value}
    assert all(values[scale] != result.value for scale in range(1, result.constant_from))
    if result.circuit is None:
        assert math.isinf(result.upper)
    else:
        assert len(result.circuit.operators) == result.upper == result.value
        assert all(is_right(result.circuit, machine, word) for word in words(machine, largest))


@pytest.mark.parametrize(
    ("machine", "arity", "value", "constant_from"),
    [
        (counter(2), None, 1, 1),
        (counter(2), 1, math.inf, 2),
        (counter(3), None, 1, 1),
        (COPY, None, 1, 1),
        (COPY, 2, 1, 1),
        (DELAY, 1, 2, 2),
        (DELAY, 2, 1, 1),
        (shifted(2, 2), 1, 2, 2),
        (shifted(2, 2), 2, 1, 1),
        (shifted(3, 3), 1, 3, 3),
        (OR, None, 1, 1),
        (FIRST_XOR, None, 1, 1),
        (first_added(3), 2, 1, 1),
        (late(5), 1, 2, 6),
        (late(5), 2, 1, 1),
        (BLOCKS, 2, math.inf, 3),
    ],
    ids=lambda each: each.name if isinstance(each, Transducer) else str(each),
)
def test_values_of_machines_are_as_expected_and_hold_beyond_the_searched_scales(
    machine: Transducer, arity: int | None, value: float, constant_from: int
) -> None:
    result = src_for_all_scales(machine, arity, searched=5)
    assert (result.value, result.constant_from) == (value, constant_from)
    require_agreement(machine, result, 7)


@pytest.mark.parametrize("seed", range(40))
def test_values_of_random_machines_hold_at_three_larger_scales(seed: int) -> None:
    machine, result = result_of(seed)
    require_agreement(machine, result, 8)


@pytest.mark.parametrize("seed", range(30))
def test_values_of_machines_with_other_alphabets_hold_at_larger_scales(seed: int) -> None:
    machine = varied_machine(seed)
    require_agreement(machine, src_for_all_scales(machine, 1 + seed % 3, searched=3), 5)


def test_200_random_machines_are_all_decided() -> None:
    results = [src_for_all_scales(varied_machine(seed), 1 + seed % 3) for seed in range(100, 300)]
    assert [seed for seed, result in enumerate(results) if result.value is None] == []
    assert all((result.circuit is None) == math.isinf(result.value) for result in results)
    assert {result.value for result in results} >= {1, 2, math.inf}


@pytest.mark.parametrize("seed", range(300, 330))
def test_another_program_proves_the_value_at_the_first_scale_that_has_it(seed: int) -> None:
    """The circuit bounds SRC at later scales from above, and this scale from below."""
    machine = varied_machine(seed)
    result = src_for_all_scales(machine, 1 + seed % 3)
    task, scale = machine.task(), result.constant_from
    searched = src(task, traces_up_to(task, scale), result.arity)
    document = json.loads(json.dumps(certificate(task, searched, spec=TaskSpec(name=f"mine.py:{task.name}"))))
    verdict = checker.check(document, task, seed=0)
    assert (verdict.lower, document["scale"]) == (result.value, scale)


def test_the_reason_names_the_rules_of_the_circuit() -> None:
    assert src_for_all_scales(counter(2)).why == (
        "SRC is at least 1 at scale 1, and a circuit is right at all scales: "
        "every step t: operator 1 of x_t, y_(t-1); step t = n+1, '$': operator 1 of '=', '='"
    )
    assert "step t = 1 mod 2: operator 1 of x_t; every step t = 0 mod 2: operator 2 of x_t" in (
        src_for_all_scales(shifted(2, 2), 1).why
    )
    assert "every step t: operator 1 of x_t, x_1; " in src_for_all_scales(FIRST_XOR).why
    assert "steps t = 1-8: operator 1 of x_t; every step t above 8: operator 2 of x_t; " in (
        src_for_all_scales(late(8), 1).why
    )


def test_a_hidden_state_is_infeasible_from_the_first_scale_that_shows_it() -> None:
    """Parity of blocks is feasible at arity 3 up to scale 3, and not at scale 4."""
    result = src_for_all_scales(BLOCKS, 3, searched=3)
    assert dict(result.values) == {1: 1, 2: 1, 3: 1}
    assert (result.value, result.constant_from, result.upper, result.circuit) == (math.inf, 4, math.inf, None)
    assert result.why == "no 3 earlier positions determine the token at position 9 of scale 4"


def test_a_machine_may_change_beyond_the_scales_that_are_asked_for() -> None:
    machine = late(8)
    early = src_for_all_scales(machine, 1, searched=6)
    assert set(early.values.values()) == {1}
    assert (early.value, early.constant_from, early.coverage_scale) == (2, 9, 9)
    zero = Rule((Place("x", 0),), 0)
    claimed = PeriodicCircuit(
        arity=1, first=(), repeated=(Phase(zero, zero),), operators=({("0",): "0", ("1",): "0", ("=",): "$"},)
    )
    assert all(is_right(claimed, machine, word) == (len(word) < 9) for word in words(machine, 8))
    with pytest.raises(AllScalesError, match=r"every step t operator 1 gives 0 for 0, not 1: state 8, inputs \[0\]"):
        check_proof(machine, claimed)


@pytest.mark.parametrize("machine", [counter(3), DELAY, FIRST_XOR, first_added(3), late(4)], ids=lambda each: each.name)
def test_training_up_to_the_scale_of_coverage_shows_every_entry_and_up_to_one_less_does_not(
    machine: Transducer,
) -> None:
    result = src_for_all_scales(machine)
    shown = [needed_up_to(result.circuit, machine, scale) for scale in range(result.coverage_scale + 3)]
    everything = {(index, key) for index, operator in enumerate(result.circuit.operators) for key in operator}
    assert [entries == everything for entries in shown] == [False] * result.coverage_scale + [True] * 3


def needed_up_to(circuit: PeriodicCircuit, machine: Transducer, scale: int) -> set[tuple[int, tuple[str, ...]]]:
    """Entries without which the circuit is wrong on some input up to a scale."""
    inputs = [word for n in range(1, scale + 1) for word in itertools.product(machine.inputs, repeat=n)]
    needed = set()
    for index, operator in enumerate(circuit.operators):
        for key in operator:
            less = {other: token for other, token in operator.items() if other != key}
            changed = replace(circuit, operators=(*circuit.operators[:index], less, *circuit.operators[index + 1 :]))
            if not all(is_right(changed, machine, word) for word in inputs):
                needed.add((index, key))
    return needed


def test_large_alphabets_are_decided() -> None:
    result = src_for_all_scales(counter(9), searched=5)
    assert (result.value, result.constant_from) == (1, 1)
    assert set(result.values.values()) == {1}


def test_first_steps_have_rules_of_their_own() -> None:
    """Delay has x_0 = '=' at step 1, which the rule of later steps need not know."""
    earlier, equals = Place("x", 1), Place("=", 0)
    end = Rule((equals,), 2)
    circuit = PeriodicCircuit(
        arity=1,
        first=(Phase(Rule((equals,), 1), end),),
        repeated=(Phase(Rule((earlier,), 0), end),),
        operators=({(c,): c for c in BITS}, {("=",): "0"}, {("=",): "$"}),
    )
    check_proof(DELAY, circuit)
    assert all(is_right(circuit, DELAY, word) for word in words(DELAY, 4))
    with pytest.raises(AllScalesError, match=r"every step t operator 1 gives nothing for =, not 0: state 0, inputs \["):
        check_proof(DELAY, replace(circuit, first=()))


@pytest.mark.parametrize("machine", [counter(2), DELAY, shifted(3, 3)], ids=lambda machine: machine.name)
def test_every_wrong_or_missing_entry_is_refused(machine: Transducer) -> None:
    circuit = src_for_all_scales(machine, searched=4).circuit
    check_proof(machine, circuit)
    for index, operator in enumerate(circuit.operators):
        for key, token in operator.items():
            wrong = next(symbol for symbol in machine.alphabet if symbol != token)
            missing = {other: operator[other] for other in operator if other != key}
            for changed in ({**operator, key: wrong}, missing):
                operators = (*circuit.operators[:index], changed, *circuit.operators[index + 1 :])
                with pytest.raises(AllScalesError, match=r"state .*, inputs .*, outputs"):
                    check_proof(machine, replace(circuit, operators=operators))


@pytest.mark.parametrize("seed", range(0, 40))
def test_the_proof_accepts_a_changed_circuit_iff_it_is_right_on_all_prompts(seed: int) -> None:
    """Random places of random rules: these machines show all of their configurations up to scale 8."""
    machine, result = result_of(seed)
    if result.circuit is None:
        return
    rng = random.Random(seed)
    for _ in range(3):
        phases = [[*phase] for phase in result.circuit.repeated]
        rules, slot = rng.choice(phases), rng.randrange(result.arity)
        which = rng.randrange(2)
        places = list(rules[which].places)
        places[slot] = rng.choice([Place("x", 0), Place("x", 1), Place("y", 1), Place("y", 2), Place("=", 0)])
        rules[which] = rules[which]._replace(places=tuple(places))
        changed = replace(result.circuit, repeated=tuple(Phase(*each) for each in phases))
        if all(is_right(changed, machine, word) for word in words(machine, 8)):
            check_proof(machine, changed)
        else:
            with pytest.raises(AllScalesError):
                check_proof(machine, changed)


def test_limits_end_a_proof_without_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TaskError, match=r"its least arity is not known, the limit of 1 steps is reached: name one"):
        src_for_all_scales(COPY, clock=Clock(steps=1))
    nothing = src_for_all_scales(COPY, 1, clock=Clock(steps=1))
    assert nothing.why == "ended early: the limit of 1 steps is reached"
    assert (nothing.bounds[1], nothing.upper) == ((1, None), None)
    circuit = src_for_all_scales(COPY).circuit
    with monkeypatch.context() as limits:
        limits.setattr(periodic_circuit, "MAX_CONFIGURATIONS", 2)
        result = src_for_all_scales(COPY)
        assert (result.value, result.circuit) == (1, None)
        assert result.why == "ended early: more than 2 configurations can be reached"
        with pytest.raises(TooManyError):
            check_proof(COPY, circuit)
    monkeypatch.setattr(views, "MAX_VIEWS", 2)
    result = src_for_all_scales(counter(2), 2)
    assert (result.value, result.upper) == (None, None)
    assert result.why == "ended early: more than 2 views can be reached"


def test_a_limit_leaves_the_values_of_the_scales_before_it() -> None:
    """40 states that run in a circle: scale 3 is decided at once, and all scales need minutes."""
    rng = random.Random(0)
    step = {(s, c): ((s + 1) % 40, rng.choice("0123")) for s in range(40) for c in "0123"}
    machine = Transducer(name="circle", inputs=tuple("0123"), start=0, step=step)
    result = src_for_all_scales(machine, 2, searched=8, clock=Clock(steps=500_000_000))
    assert result.value is None and result.why.startswith("ended early: the limit")
    decided = {scale: value for scale, value in result.values.items() if value is not None}
    assert len(decided) >= 3
    searched = src(machine.task(), traces_up_to(machine.task(), 3), 2).values
    assert all(decided[scale] == searched[scale] for scale in (1, 2, 3))
    assert all(low >= decided[max(decided)] for scale, (low, _) in result.bounds.items() if scale > max(decided))


def test_a_circuit_is_json_and_its_text_lists_the_steps_of_a_rule() -> None:
    """Every third bit is turned round."""
    step = {(t, c): ((t + 1) % 3, c if t < 2 else str(1 - int(c))) for t in range(3) for c in BITS}
    circuit = src_for_all_scales(Transducer(name="third", inputs=BITS, start=0, step=step), 1).circuit
    assert circuit.text().startswith(
        "every step t = 1-2 mod 3: operator 1 of x_t; every step t = 0 mod 3: operator 2 of x_t; "
    )
    content = json.loads(json.dumps(circuit.as_json()))
    assert len(content["operators"]) == len(circuit.operators)
    assert [phase["step"] for phase in content["repeated"]] == [[1, ["x_t"]], [1, ["x_t"]], [2, ["x_t"]]]


def test_what_is_no_periodic_circuit_is_refused() -> None:
    circuit = src_for_all_scales(COPY).circuit
    end = circuit.repeated[0].end
    for rule in (
        Rule((Place("y", 0),), 0),
        Rule((Place("x", -1),), 0),
        Rule((Place("z", 1),), 0),
        Rule((Place("x", at=2),), 0),
        Rule((Place("y", at=1),), 0),
        Rule((Place("x", at=0),), 0),
        Rule((Place("x", 0),), 1),
        Rule((), 0),
    ):
        with pytest.raises(CircuitError, match="cannot have the rule"):
            replace(circuit, repeated=(Phase(rule, end),))
    with pytest.raises(CircuitError, match="at least one"):
        replace(circuit, repeated=())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "name of a machine"),
        ({"inputs": ()}, "inputs must be a tuple"),
        ({"inputs": ("0", "0")}, "different symbols"),
        ({"inputs": ("0", "=")}, "'=' cannot be an input"),
        ({"inputs": ("0", 1)}, "an input is a text of 1 to 50 printable characters, not 1"),
        ({"inputs": ("0",)}, "step has the input '1', which is not in"),
        ({"inputs": ("0", "1", "2")}, "no transition from state 0 with '2'"),
        ({"start": 1}, "no transition from the start 1"),
        ({"start": None}, "a state is a text or an integer, not None"),
        ({"step": None}, r"step must map \(state, input\) to \(next state, output\), not None"),
        ({"step": {0: (0, "0")}}, "a key of step must be a pair"),
        ({"step": {(0, "0"): "0"}}, "a value of step must be a pair"),
        ({"step": {(0, "0"): (1, "0"), (0, "1"): (0, "0")}}, "leads from state 0 with '0' to state 1, from which"),
        ({"step": {(0, "0"): (0, "$"), (0, "1"): (0, "0")}}, r"'\$' cannot be an output"),
        ({"step": {(s, c): (0, c) for s in range(MAX_STATES + 1) for c in BITS}}, "at most 256 states, not 257"),
        ({"inputs": MANY, "step": {(0, c): (0, c) for c in MANY}}, "at most 254 symbols, not 262"),
    ],
    ids=str,
)
def test_what_is_no_machine_is_refused_in_one_line(fields: dict[str, object], message: str) -> None:
    with pytest.raises(TaskError, match=message) as refused:
        replace(COPY, **fields)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def test_a_machine_is_an_ordinary_task() -> None:
    task = BLOCKS.task()
    assert task.alphabet == ("0", "1", "#", "-", "=", "$")
    assert task.generate(("1", "1", "#", "1", "#", "=")) == ["-", "-", "0", "-", "1", "$"]


@pytest.mark.parametrize(("name", "base"), [("parity", None), ("counter", None), ("counter", 3), ("copy", 3)])
def test_the_machines_of_named_tasks_give_their_outputs(name: str, base: int | None) -> None:
    task, machine = load(name, base=base), load_machine(name, base=base)
    for scale in (1, 2, 5):
        for prompt in task.sample_prompts(scale, 20, np.random.default_rng(scale)):
            symbols = tuple(task.alphabet[token] for token in prompt)
            assert machine.task().generate(symbols) == task.generate(symbols)


@pytest.mark.parametrize(
    ("name", "base", "says"),
    [
        ("reverse", None, "'reverse' is no finite-state transducer: choose parity, counter"),
        ("parity", 3, "has no base to choose"),
    ],
)
def test_what_has_no_machine_is_named(name: str, base: int | None, says: str) -> None:
    with pytest.raises(TaskError, match=says):
        load_machine(name, base=base)
