"""Finite-state tasks: SRC at every scale from the machine's table alone, and the scale of training that shows all."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from lengthgen.circuits.questions.all_scales import src_for_all_scales
from lengthgen.circuits.questions.periodic_circuit import Key, PeriodicCircuit, check_proof
from lengthgen.circuits.tasks.transducer import State, Transducer, copy, counter, parity
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised

SEARCHED = 4
"""Largest scale whose SRC is listed; the proof goes beyond."""
MACHINES = (parity(), *(counter(base) for base in (3, 4, 5)), copy(2), copy(5))
ARITIES = (2, 2, 2, 2, 1, 1)
LATE = Transducer(
    name="parity until three ones",
    inputs=("0", "1"),
    start=0,
    step={
        (state, bit): (min(state + int(bit), 3), str((state + int(bit)) % 2) if state < 3 else "0")
        for state in range(4)
        for bit in "01"
    },
)
FIRST = Transducer(
    name="x_t + x_1",
    inputs=("0", "1"),
    start="-",
    step={
        (first, bit): (bit if first == "-" else first, str(int(first not in ("-", bit))))
        for first in "-01"
        for bit in "01"
    },
)
FIFTH = Transducer(
    name="1 from step 5 on",
    inputs=("0", "1"),
    start=1,
    step={(step, bit): (min(step + 1, 5), str(int(step == 5))) for step in range(1, 6) for bit in "01"},
)
COVERED = {"parity": 2, "counter": 2, "copy": 1, FIRST.name: 2, FIFTH.name: 5}
"""Name of a machine -> first scale of training that shows all."""
TASKS = (parity(), counter(3), copy(2), FIRST, FIFTH)

CLAIMS = PaperClaims(SOURCE)


def altered(machine: Transducer, changes: Mapping[tuple[State, str], tuple[State, str]], name: str = "") -> Transducer:
    """Return a machine with some transitions changed or added."""
    return replace(machine, name=name or f"{machine.name} altered", step={**machine.step, **changes})


@CLAIMS.claim(
    "src-machines",
    formalised("Definition 4", "tasks given as finite-state transducers"),
    r"\forall n:\ \mathrm{SRC}_2(\mathrm{parity},n)=\mathrm{SRC}_2(\mathrm{counter},n)="
    r"\mathrm{SRC}_1(\mathrm{copy},n)=1",
    reach="every scale",
    assumptions=("the tasks are x1..xn = y1..yn $ of finite-state transducers",),
    answers=("value",),
    falsifiers={
        "parity by one argument": {"machines": MACHINES[:1], "arities": (1,)},
        "a sum that stops": {"machines": (LATE,), "arities": (2,)},
        "one transition altered": {
            "machines": (altered(counter(3), {(2, "2"): (0, "1")}),),
            "arities": (2,),
        },
    },
)
def machines_have(machines: Sequence[Transducer] = MACHINES, arities: Sequence[int] = ARITIES, value: int = 1) -> Facts:
    """At every scale, SRC is 1 for parity and the counters of bases 3 to 5 at arity 2, and for copy of 2 and of 5
    symbols at arity 1. Proved from the machines' tables alone, without the tasks' own circuits.
    """
    for machine, arity in zip(machines, arities, strict=True):
        answer = src_for_all_scales(machine, arity, searched=SEARCHED)
        if (answer.value, answer.constant_from) != (value, 1):
            raise Refuted(f"{machine.name}, {len(machine.inputs)} inputs, arity {arity}: {answer.why}")
        assert answer.circuit is not None
        yield f"{machine.name}, {len(machine.inputs)} inputs, arity {arity}: {answer.circuit.text()}"
    yield "lower bounds: SRC at scale 1, by search; it does not fall with the scale (`src-monotone`)"


def _circuit(machine: Transducer) -> PeriodicCircuit:
    circuit = src_for_all_scales(machine).circuit
    assert circuit is not None
    return circuit


def _others(circuit: PeriodicCircuit, operator: int, key: Key, alphabet: Sequence[str]) -> Iterator[PeriodicCircuit]:
    """Yield the circuits with another token in one entry."""
    for token in alphabet:
        if token != circuit.operators[operator][key]:
            changed = {**circuit.operators[operator], key: token}
            yield replace(
                circuit, operators=(*circuit.operators[:operator], changed, *circuit.operators[operator + 1 :])
            )


def _first_difference(first: PeriodicCircuit, second: PeriodicCircuit, machine: Transducer, scales: int) -> float:
    """Return the first of some scales at which two circuits differ on an input; infinity if there is none."""
    for scale in range(1, scales + 1):
        if any(
            [*first.steps(word)] != [*second.steps(word)] for word in itertools.product(machine.inputs, repeat=scale)
        ):
            return scale
    return math.inf


@CLAIMS.claim(
    "src-coverage-decides",
    formalised("Definition 4", "training up to N0, a prompt of a later scale, the wiring of a task"),
    r"K(p)\subseteq K(N_0)\Rightarrow(\forall u:\ u\text{ right up to }N_0\Rightarrow u\text{ right on }p);\quad "
    r"K(p)\not\subseteq K(N_0)\Rightarrow\exists g:\ g=f\text{ up to }N_0,\ g(p)\ne f(p)",
    assumptions=("both tasks have one wiring, and the learner has nothing but the training",),
    falsifiers={
        "an entry shows a scale earlier": {"shows": lambda first: first - 1},
        "an entry shows a scale later": {"shows": lambda first: first + 1},
        "every entry shows at once": {"shows": lambda first: 1},
        "nothing shows": {"shows": lambda first: math.inf},
    },
)
def coverage_decides(
    machines: Sequence[Transducer] = TASKS, shows: Callable[[int], float] = lambda first: first
) -> Facts:
    """Prompts, a wiring and operators make a task, with two tokens or more. If training reads every entry of the
    operators that a prompt of a later scale reads, all operators that are right in training are right on the prompt. If
    it does not, another token in the entry makes a second task of the same wiring: its sequences in training are the
    same, and that of the prompt is another. No learner, a function of the training, is right about the prompt in both
    tasks. So with the wiring given, coverage is necessary and enough.
    """
    for machine in machines:
        circuit = _circuit(machine)
        needed = check_proof(machine, circuit)
        for (operator, key), first in needed.items():
            for other in _others(circuit, operator, key, machine.alphabet):
                differs = _first_difference(circuit, other, machine, first + 1)
                if differs != shows(first):
                    entry = f"entry {' '.join(key)} of operator {operator + 1}"
                    raise Refuted(f"{machine.name}: another token in {entry} shows first at scale {differs}")
        scales = ", ".join(map(str, needed.values()))
        yield f"{machine.name}: entries are read first at scales {scales}, where another token in one shows first"


@CLAIMS.claim(
    "src-coverage-scale",
    formalised("Definition 4", "the first scale up to which training shows every entry of a finite-state task"),
    r"\exists N_0\ \forall N:\ K(N)\subseteq K(N_0)",
    strength=Strength.EXHAUSTIVE,
    reach="five finite-state tasks",
    assumptions=("the tasks are x1..xn = y1..yn $ of finite-state transducers",),
    answers=("covered",),
    falsifiers={
        "a scale less is enough": {"settled": lambda scale: scale - 1},
        "a scale more is needed": {"settled": lambda scale: scale + 1},
        "a sum that stops for copy": {"machines": [replace(LATE, name="copy")]},
        "one transition altered": {"machines": [altered(FIFTH, {(4, "1"): (4, "0")}, name=FIFTH.name)]},
    },
)
def coverage_has_a_scale(
    machines: Sequence[Transducer] = TASKS,
    settled: Callable[[int], int] = lambda scale: scale,
    covered: Mapping[str, int] = COVERED,
) -> Facts:
    """For five finite-state tasks, the scale from which on training shows every entry of a circuit for all scales, and
    so all that any scale reads: 2 for parity, for the counter of base 3 and for x_t + x_1, 1 for copy, and 5 if the
    output changes at step 5.

    Where such a circuit is found, the configurations that some prompt of some scale reaches are enumerated, and each
    entry has a first scale that reads it.
    """
    for machine in machines:
        answer = src_for_all_scales(machine)
        if answer.coverage_scale != covered[machine.name] or answer.circuit is None:
            raise Refuted(f"{machine.name}: all entries are read up to scale {answer.coverage_scale}: {answer.why}")
        scale, entries = settled(answer.coverage_scale), []
        for training in (scale - 1, scale, scale + 2):
            words = itertools.chain(*(itertools.product(machine.inputs, repeat=n) for n in range(1, training + 1)))
            entries.append({step[:2] for word in words for step in answer.circuit.steps(word)})
        if entries[0] == entries[1] or entries[1] != entries[2]:
            counts = ", ".join(str(len(each)) for each in entries)
            raise Refuted(f"{machine.name}: {counts} entries are read up to scales {scale - 1}, {scale}, {scale + 2}")
        yield f"{machine.name}: all {len(entries[1])} entries are read up to scale {scale}, fewer before; {answer.why}"
