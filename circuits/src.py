"""Sequential Representation Complexity: the fewest unit operators of any circuit of a task.

SRC(f, n) is the minimum, over circuits of one fixed arity that are right at every scale up to n, of the number of
distinct unit operators ([P] for the minimum, [F] for the fixed arity, without which it is trivially 1; arXiv
2510.04130, Def. 4). Non-decreasing in n; infinite where some step is determined by no `arity` earlier positions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuits.circuit import Circuit, CircuitError, Wiring, as_array
from circuits.formats import segments
from circuits.partition import Compatibility, Partition, fewest_operators, minimal_tables
from circuits.reference import reference_circuit, reference_complexity
from circuits.task import Task, TaskError, Trace, trace
from circuits.templates import Template, choose_wirings
from circuits.wirings import Alternatives, Table, alternatives, determining_sets, keys_of

MAX_ARITY = 8
MAX_ENTRIES = 20_000
"""Of an operator whose wirings are still searched."""
MAX_REFERENCE_ENTRIES = 10_000_000


@dataclass(frozen=True, kw_only=True)
class SRCResult:
    """SRC of one task at one arity.

    Attributes:
        arity: slots of every operator.
        bounds: scale n -> (lower, upper) bound of SRC(f, n); math.inf where no circuit exists.
        status: "exact" (bounds meet, and every prompt was looked at or the task's reference circuit attains them),
            "sampled" (bounds meet on the prompts looked at: the value is a lower bound of SRC, and the circuit is
            right on those prompts), "bounds" (some do not meet).
        inputs: prompts looked at, over all scales.
        circuit: a circuit with as many operators as the last upper bound; None if the last scale is infeasible.
        templates: the template combinations that the circuit's wiring needs; none where it is the reference circuit,
            because operators of so many entries are not searched.
        coverage_scale: first scale up to which every table entry that the circuit uses on the prompts looked at has
            been used; None if only some of that scale's prompts were looked at.
    """

    arity: int
    bounds: dict[int, tuple[float, float]]
    status: str
    inputs: int
    circuit: Circuit | None
    templates: tuple[tuple[Template, ...], ...]
    coverage_scale: int | None

    @property
    def values(self) -> dict[int, float | None]:
        """scale -> SRC, math.inf where infeasible, None where the bounds differ."""
        return {scale: low if low == high else None for scale, (low, high) in self.bounds.items()}


def minimal_arity(traces: Sequence[Trace]) -> int | None:
    """The fewest slots with which every step of the traces is determined; None if more than MAX_ARITY.

    Raises:
        ValueError: no traces.
    """
    if not traces:
        raise ValueError("no traces given")
    arity = 0
    for one in traces:
        for position in one.steps:
            while not determining_sets(one, position, arity):
                arity += 1
                if arity > MAX_ARITY:
                    return None
    return max(arity, 1)


def traces_up_to(task: Task, scale: int) -> list[Trace]:
    """The traces of scales 1..scale: SRC at a scale speaks of all scales up to it.

    Raises:
        TaskError: the scale is below 1, or the task breaks its contract.
    """
    if scale < 1:
        raise TaskError(f"task '{task.name}': a scale is at least 1, not {scale}")
    return [trace(task, n) for n in range(1, scale + 1)]


def src(task: Task, traces: Sequence[Trace], arity: int) -> SRCResult:
    """SRC at every scale of the traces, with a circuit that attains it.

    Args:
        task: whose traces these are.
        traces: scales 1, 2, ..., n without a gap (`traces_up_to`).
        arity: slots of every operator, at least 1.

    Raises:
        ValueError: the arity is not positive, or the scales have a gap.
        TaskError: an operator of this arity would have more than MAX_ENTRIES entries, and the task has no reference
            circuit of at most this arity; or that circuit does not compute the task.
    """
    if arity < 1:
        raise ValueError(f"the arity must be at least 1, not {arity}")
    if not traces:
        raise ValueError("no traces given")
    if [one.scale for one in traces] != list(range(1, len(traces) + 1)):
        raise ValueError("SRC needs the traces of scales 1, 2, ... without a gap")
    if not searchable(task, arity):
        return _by_reference(task, traces, arity)
    symbols = len(task.alphabet)
    steps: list[Alternatives] = []
    bounds: dict[int, tuple[float, float]] = {}
    partition = Partition(lower=0, upper=0, operators=())
    for one in traces:
        new = [alternatives(one, position, arity, symbols) for position in one.steps]
        if not all(step.wirings for step in new):
            bounds |= {later.scale: (math.inf, math.inf) for later in traces[one.scale - 1 :]}
            break
        steps += new
        partition = _operators(steps, symbols, partition)
        bounds[one.scale] = (partition.lower, partition.upper)
    feasible = len(bounds) == len(traces) and not math.isinf(bounds[traces[-1].scale][0])
    circuit, templates = _simplest_circuit(task, steps, arity, partition) if feasible else (None, ())
    if any(low != high for low, high in bounds.values()):
        status = "bounds"
    else:
        sampled = [n for n in bounds if not all(one.exhaustive for one in traces[:n])]
        attained = all(bounds[n][0] in (math.inf, reference_complexity(task, arity, n)) for n in sampled)
        status = "exact" if attained else "sampled"
    return SRCResult(
        arity=arity,
        bounds=bounds,
        status=status,
        inputs=sum(one.tokens.shape[1] for one in traces),
        circuit=circuit,
        templates=templates,
        coverage_scale=_coverage_scale(circuit, traces) if circuit else None,
    )


def searchable(task: Task, arity: int) -> bool:
    """Whether operators of this arity are small enough for all wirings to be searched."""
    return bool(len(task.alphabet) ** arity <= MAX_ENTRIES)


def _by_reference(task: Task, traces: Sequence[Trace], arity: int) -> SRCResult:
    """At least one operator, at most those of the reference circuit, which is checked on the traces."""
    symbols = len(task.alphabet)
    if task.reference is None or task.reference.arity > arity or symbols**task.reference.arity > MAX_REFERENCE_ENTRIES:
        raise TaskError(
            f"task '{task.name}': an operator of arity {arity} over {symbols} symbols has {symbols**arity:,} entries, "
            f"more than {MAX_ENTRIES:,}; use fewer symbols or slots"
        )
    circuit = reference_circuit(task, [one.scale for one in traces])
    try:
        circuit.check(traces)
    except CircuitError as error:
        raise TaskError(f"task '{task.name}': its reference is no circuit of it: {error}") from error
    bounds: dict[int, tuple[float, float]] = {
        one.scale: (1, reference_complexity(task, arity, one.scale)) for one in traces
    }
    return SRCResult(
        arity=arity,
        bounds=bounds,
        status="exact" if all(low == high for low, high in bounds.values()) else "bounds",
        inputs=sum(one.tokens.shape[1] for one in traces),
        circuit=circuit,
        templates=(),
        coverage_scale=_coverage_scale(circuit, traces),
    )


def _operators(steps: Sequence[Alternatives], symbols: int, before: Partition) -> Partition:
    """The fewest operators of all steps. Only steps with all their wirings count for the lower bound."""
    tables = [minimal_tables(step.wirings) for step in steps]
    found = fewest_operators(tables, symbols)
    lower = found.lower
    if not all(step.complete for step in steps):
        sure = [table for table, step in zip(tables, steps, strict=True) if step.complete]
        lower = fewest_operators(sure, symbols).lower if sure else 1
    return Partition(lower=max(lower, before.lower), upper=found.upper, operators=found.operators)


def _simplest_circuit(
    task: Task, steps: Sequence[Alternatives], arity: int, partition: Partition
) -> tuple[Circuit, tuple[tuple[Template, ...], ...]]:
    """The circuit with the simplest wiring among those with `partition.upper` operators.

    The simplest wiring of all is tried first; where it needs more operators, the wirings that fit the operators
    found by the search are the choice.
    """
    symbols = len(task.alphabet)
    cut = {scale: segments(task, scale) for scale in {step.scale for step in steps}}
    for allowed in (None, partition.operators):
        choice = choose_wirings(steps, cut, allowed)
        tables = [_table_of(step, choice.wirings[step.scale, step.position]) for step in steps]
        operators = _operators_in_order(tables, symbols, partition.upper)
        if len(operators) <= partition.upper:
            break
    else:  # where the search was cut short its own operators may be fewer
        operators = _in_use(partition.operators, tables)
    wirings: dict[int, list[Wiring]] = {scale: [] for scale in sorted(cut)}
    for step, table in zip(steps, tables, strict=True):
        wirings[step.scale].append(
            Wiring(
                position=step.position,
                arguments=choice.wirings[step.scale, step.position],
                operator=next(index for index, union in enumerate(operators) if table & union == table),
            )
        )
    circuit = Circuit(
        task=task,
        arity=arity,
        wirings={scale: tuple(chosen) for scale, chosen in wirings.items()},
        operators=tuple(as_array(table, symbols, arity) for table in operators),
    )
    return circuit, choice.combinations


def _operators_in_order(tables: Sequence[Table], symbols: int, enough: int) -> tuple[Table, ...]:
    """Operators for fixed tables: first fit in the order of the steps, or the fewest where that takes too many.

    First fit is preferred because it uses no operator at a small scale that only a larger one has need of.
    """
    compatible = Compatibility(symbols)
    operators: list[Table] = []
    for table in tables:
        fits = next((index for index, union in enumerate(operators) if compatible(union, table)), None)
        if fits is None:
            operators.append(table)
        else:
            operators[fits] |= table
    if len(operators) <= enough:
        return tuple(operators)
    return fewest_operators([frozenset({table}) for table in tables], symbols).operators


def _in_use(operators: Sequence[Table], tables: Sequence[Table]) -> tuple[Table, ...]:
    """The operators, cut down to the entries that the tables ask of them; each table is in one of them."""
    used: dict[Table, Table] = {}
    for table in tables:
        serving = next(operator for operator in operators if table & operator == table)
        used[serving] = used.get(serving, 0) | table
    return tuple(used.values())


def _table_of(step: Alternatives, wiring: tuple[int, ...]) -> Table:
    return next(table for table, wirings in step.wirings.items() if wiring in wirings)


def _coverage_scale(circuit: Circuit, traces: Sequence[Trace]) -> int | None:
    """First scale up to which every (operator, key) that occurs at any scale has occurred."""
    symbols = len(circuit.task.alphabet)
    seen: set[tuple[int, int]] = set()
    last = traces[0]
    for one in traces:
        for wiring in circuit.wirings[one.scale]:
            arguments = one.tokens[[position - 1 for position in wiring.arguments]]
            now = {(wiring.operator, int(key)) for key in np.unique(keys_of(arguments, symbols))}
            if not now <= seen:
                seen |= now
                last = one
    return last.scale if last.exhaustive else None
