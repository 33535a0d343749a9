"""Equal SRC does not determine what is learned: operator entries must be met in training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from lengthgen.circuits.circuit import Circuit, CircuitError
from lengthgen.circuits.reference import reference_circuit
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.trace import Trace
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach
from lengthgen.proofs_checks.papers.pola import CONJECTURE, SOURCE

Entry = tuple[int, int]
"""One entry of an operator table: (operator, key)."""
TaskUpTo = tuple[TaskSpec, int]
"""Task, and its largest scale N."""
CASES: Mapping[str, TaskUpTo] = {
    "parity": (TaskSpec(name="parity"), 5),
    "counter base 3": (TaskSpec(name="counter", base=3), 4),
    "addition-carry base 2": (TaskSpec(name="addition-carry", base=2), 4),
    "addition-carry base 3": (TaskSpec(name="addition-carry", base=3), 3),
    "addition base 2": (TaskSpec(name="addition", base=2), 5),
}
_COVERAGE: Mapping[str, int] = {
    "parity": 2,
    "counter base 3": 2,
    "addition-carry base 2": 2,
    "addition-carry base 3": 2,
    "addition base 2": 3,
}


@dataclass(frozen=True)
class TrainingCoverage:
    """SRC, operators and entries that training up to scale N0 meets, beside those of the task up to scale N."""

    complexity: tuple[float, float]
    operators: tuple[int, int]
    entries: tuple[int, int]


@dataclass(frozen=True)
class _Case:
    """Task with its circuit, its SRC and the entries in use, scale by scale."""

    circuit: Circuit
    traces: Sequence[Trace]
    complexity: Sequence[float]
    used: Sequence[frozenset[Entry]]

    def coverage(self, training_scale: int) -> TrainingCoverage:
        """Coverage by training up to a scale."""
        met, used, complexity = self.used[training_scale - 1], self.used[-1], self.complexity
        operators = len({operator for operator, _ in met}), len({operator for operator, _ in used})
        return TrainingCoverage((complexity[training_scale - 1], complexity[-1]), operators, (len(met), len(used)))

    def failure(self, training_scale: int) -> str:
        """Text on where operators that are right on the training scales are wrong; empty if there are none."""
        wrong = wrong_extension(self.circuit, self.used[training_scale - 1], self.used[-1])
        if wrong is None:
            return ""
        wrong.check(self.traces[:training_scale])
        try:
            wrong.check(self.traces)
        except CircuitError as error:
            return str(error)
        return ""


def wrong_extension(circuit: Circuit, met: frozenset[Entry], used: frozenset[Entry]) -> Circuit | None:
    """Return the circuit with a wrong value at the first entry that is used but not met; None if all are met."""
    if used <= met:
        return None
    operator, key = min(used - met)
    tables = [table.copy() for table in circuit.operators]
    tables[operator][key] = (int(tables[operator][key]) + 1) % len(circuit.task.alphabet)
    return replace(circuit, operators=tuple(tables))


def entries_used(circuit: Circuit, trace: Trace) -> frozenset[Entry]:
    """Return every (operator, key) that some prompt of the scale needs."""
    symbols = len(circuit.task.alphabet)
    entries = set()
    for step in circuit.wirings[trace.scale]:
        keys = np.zeros(trace.tokens.shape[1], dtype=np.int64)
        for argument in step.arguments:
            keys = keys * symbols + trace.tokens[argument - 1]
        entries |= {(step.operator, int(key)) for key in np.unique(keys)}
    return frozenset(entries)


@cache
def _case(spec: TaskSpec, largest: int) -> _Case:
    """Case of a task, computed once.

    Raises `ValueError` if a scale has too many prompts or the search does not close.
    """
    task = spec.plain()
    traces = traces_up_to(task, largest)
    circuit = reference_circuit(task, range(1, largest + 1))
    if not all(trace.exhaustive for trace in traces):
        raise ValueError(f"{spec.words}: scale {largest} has too many prompts")
    circuit.check(traces)
    used: list[frozenset[Entry]] = []
    for trace in traces:
        used.append(entries_used(circuit, trace) | (used[-1] if used else frozenset()))
    if len(circuit.operators) == 1:  # one operator is the least possible number, so no search is needed
        complexity: list[float] = [1] * largest
    else:
        bounds = src(task, traces, circuit.arity).bounds
        if any(low != high for low, high in bounds.values()):
            raise ValueError(f"{spec}: the search did not close")
        complexity = [low for low, _ in bounds.values()]
    return _Case(circuit, traces, complexity, used)


def _equal_complexity(coverage: TrainingCoverage) -> bool:
    """True if SRC is the same up to N0 and up to N."""
    return len({*coverage.complexity}) == 1


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "src-reading-needs-coverage",
    CONJECTURE,
    r"(\forall u:\ u\text{ right up to }N_0\Rightarrow u\text{ right up to }N)\iff K(N)=K(N_0)",
    strength=Strength.EXHAUSTIVE,
    assumptions=("the wiring of the task's own circuit is given, so only the operators are learned",),
    answers=("coverage_scale", "parity_at_once"),
    falsifiers={
        "equal SRC suffices": {"settled": _equal_complexity},
        "all operators met suffices": {"settled": lambda coverage: len({*coverage.operators}) == 1},
        "equal SRC and half of the entries suffice": {
            "settled": lambda coverage: _equal_complexity(coverage) and 2 * coverage.entries[0] >= coverage.entries[1]
        },
        "all scales must be met": {"settled": lambda coverage: False},
        "a counter for parity": {"tasks": {**CASES, "parity": CASES["counter base 3"]}},
        "carry tokens in addition": {"tasks": {**CASES, "addition base 2": CASES["addition-carry base 2"]}},
    },
)
def coverage_settles(
    settled: Callable[[TrainingCoverage], bool] = lambda coverage: len({*coverage.entries}) == 1,
    tasks: Mapping[str, TaskUpTo] = CASES,
    coverage_scale: Mapping[str, int] = _COVERAGE,
    parity_at_once: tuple[int, int, int] = (1, 4, 8),
) -> Facts:
    """With the wiring given, operators that are right up to N0 are right up to N if and only if every operator entry in
    use up to N is in use up to N0. An SRC that stays the same, which is all that our literal reading of the conjecture
    asks, does not suffice: parity has SRC 1 at scale 1 with 4 of its 8 entries. Decided on 5 tasks, up to scale 3 to 5.
    """
    parity = _case(*tasks["parity"]).coverage(1)
    if (parity.complexity[0], *parity.entries) != parity_at_once:
        raise Refuted(
            f"parity at scale 1: SRC {parity.complexity[0]:g}, {parity.entries[0]} of {parity.entries[1]} entries"
        )
    for name, scale in coverage_scale.items():
        case = _case(*tasks[name])
        largest, counts = len(case.traces), ", ".join(str(len(entries)) for entries in case.used)
        covering_scale = next(n for n, entries in enumerate(case.used, start=1) if entries == case.used[-1])
        if covering_scale != scale:
            raise Refuted(
                f"{name}: of {len(case.used[-1])} entries {counts} are met up to scales 1..{largest}: all from "
                f"{covering_scale} on, not {scale}"
            )
        for training_scale in range(1, largest):
            coverage, failure = case.coverage(training_scale), case.failure(training_scale)
            if settled(coverage) and failure:
                raise Refuted(
                    f"{name}, N0 = {training_scale}: SRC {coverage.complexity[0]:g} -> {coverage.complexity[1]:g}, "
                    f"{coverage.entries[0]} of {coverage.entries[1]} entries met; one that is not is changed: {failure}"
                )
            if not settled(coverage) and not failure:
                raise Refuted(f"{name}, N0 = {training_scale}: the operators are settled all the same")
        yield (
            f"{name}: SRC {', '.join(f'{value:g}' for value in case.complexity)} and entries {counts} at scales "
            f"1..{largest}, all from {scale} on"
        )
    yield (
        "for each N0 below the last scale at which an entry is new, operators that are right up to N0 and wrong "
        "after are constructed and run"
    )
    yield Reach(f"{len(coverage_scale)} tasks")
