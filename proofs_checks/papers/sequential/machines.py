"""SRC at every scale from a machine's table alone, and SRC of one task after another."""

from collections.abc import Mapping, Sequence

from lengthgen.circuits.questions.all_scales import src_for_all_scales
from lengthgen.circuits.questions.composition import after
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.transducer import State, Transducer, copy, counter, parity
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.papers.pola import formalised

SEARCHED = 4
"""Largest scale at which SRC is searched; the induction goes beyond."""
PAIRS = (
    ("reverse", "copy"),
    ("shift", "reverse"),
    ("copy", "copy"),
    ("copy", "parity"),
    ("parity", "copy"),
    ("parity", "shift"),
    ("parity", "parity"),
)
"""Tasks over bits, the second task first."""


def machines_have(*, machines: Sequence[Transducer], arities: Sequence[int], value: int) -> Evidence:
    """Decide the value of SRC at every scale, machine by machine, by a circuit that induction proves right."""
    facts = []
    for machine, arity in zip(machines, arities, strict=True):
        answer = src_for_all_scales(machine, arity, searched=SEARCHED)
        if (answer.value, answer.constant_from) != (value, 1):
            raise Refuted(f"{machine.name}, {len(machine.inputs)} inputs, arity {arity}: {answer.why}")
        assert answer.circuit is not None
        facts.append(f"{machine.name}, {len(machine.inputs)} inputs, arity {arity}: {answer.circuit.text()}")
    return Evidence(
        strength=Strength.GENERAL,
        reach="every scale",
        facts=(*facts, "lower bounds: SRC at scale 1, by search; it does not fall with the scale (`src-monotone`)"),
        assumptions=("the tasks are x1..xn = y1..yn $ of finite-state transducers",),
    )


def composition_bound(*, pairs: Sequence[tuple[str, str]], exponent: float) -> Evidence:
    """Decide if SRC of one task after another is at most the p-norm of both values: their sum for p = 1."""
    facts = []
    for names in pairs:
        tasks = [load(name) for name in names]
        arities = [minimal_arity(traces_up_to(task, SEARCHED)) for task in tasks]
        arity = max(each or 0 for each in arities)
        composed = after(*tasks)
        values = [src(task, traces_up_to(task, SEARCHED), arity).values[SEARCHED] for task in tasks]
        value = src(composed, traces_up_to(composed, SEARCHED), arity).values[SEARCHED]
        assert value is not None and None not in values, "small tasks are decided"
        bound = sum(float(each or 0) ** exponent for each in values) ** (1 / exponent)
        if value > bound:
            raise Refuted(f"{composed.name}, arity {arity}: SRC {value:g}, and {values[0]:g} and {values[1]:g} apart")
        facts.append(f"{composed.name}, arity {arity}: {value:g} <= {values[0]:g} + {values[1]:g}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"up to scale {SEARCHED}",
        facts=(
            *facts,
            "argument for all tasks: the steps that give the output of g keep their operators, with the symbols that "
            "end it renamed; those of f keep theirs and read the output of g where they read their prompt",
        ),
        assumptions=("both outputs are shown; one arity is enough for both tasks",),
    )


def _altered(machine: Transducer, changes: Mapping[tuple[State, str], tuple[State, str]]) -> Transducer:
    """Return a machine with some transitions changed or added."""
    return Transducer(
        name=f"{machine.name} altered", inputs=machine.inputs, start=machine.start, step={**machine.step, **changes}
    )


_MACHINES = (parity(), *(counter(base) for base in (3, 4, 5)), copy(2), copy(5))
_ARITIES = (2, 2, 2, 2, 1, 1)
_LATE = Transducer(
    name="parity until three ones",
    inputs=("0", "1"),
    start=0,
    step={
        (state, bit): (min(state + int(bit), 3), str((state + int(bit)) % 2) if state < 3 else "0")
        for state in range(4)
        for bit in "01"
    },
)
"""Parity of the ones up to the third, and 0 after it: no bounded number of outputs tells if the third has come."""

CLAIMS = (
    Claim(
        id="src-machines",
        source=formalised("Definition 4", "tasks given as finite-state transducers"),
        statement="At every scale, SRC is 1 for parity and the counters of bases 3 to 5 at arity 2, and for copy at "
        "arity 1. Proved from the machines' tables alone, without the tasks' own circuits.",
        latex=r"\forall n:\ \mathrm{SRC}_2(\mathrm{parity},n)=\mathrm{SRC}_2(\mathrm{counter},n)="
        r"\mathrm{SRC}_1(\mathrm{copy},n)=1",
        label="F",
        check=machines_have,
        holds={"machines": _MACHINES, "arities": _ARITIES, "value": 1},
        falsifiers={
            "two operators": {"machines": _MACHINES[:1], "arities": (2,), "value": 2},
            "parity by one argument": {"machines": _MACHINES[:1], "arities": (1,), "value": 1},
            "a sum that stops": {"machines": (_LATE,), "arities": (2,), "value": 1},
            "one transition altered": {
                "machines": (_altered(counter(3), {(2, "2"): (0, "1")}),),
                "arities": (2,),
                "value": 1,
            },
        },
    ),
    Claim(
        id="src-composition",
        source=formalised("Definition 4", "one task after another, with both outputs shown"),
        statement="If f reads the output of g as its prompt and both outputs are shown, SRC(f after g) is at most "
        "SRC(f) + SRC(g) at an arity that is enough for both. The sum is attained: reverse after copy has SRC 2. "
        "Decided for 7 pairs of tasks over bits up to scale 4.",
        latex=r"\mathrm{SRC}_k(f\circ g,n)\le\mathrm{SRC}_k(f,n)+\mathrm{SRC}_k(g,n)",
        label="F",
        check=composition_bound,
        holds={"pairs": PAIRS, "exponent": 1},
        falsifiers={
            "the larger of both": {"pairs": PAIRS, "exponent": 64},
            "the root of the sum of squares": {"pairs": PAIRS, "exponent": 2},
        },
    ),
)
