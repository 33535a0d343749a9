"""Sequential Representation Complexity: the fewest unit operators of any circuit of a task.

SRC(f, n) is the minimum, over circuits of one fixed arity that are right at every scale up to n, of the number of
distinct unit operators ([P] for the minimum, [F] for the fixed arity, without which it is trivially 1; arXiv
2510.04130, Def. 4). Non-decreasing in n; infinite where some step is determined by no `arity` earlier positions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from circuits.circuit import Circuit
from circuits.clock import Clock
from circuits.modes import Mode
from circuits.reference import check_reference, reference_complexity
from circuits.search.problem import Problem
from circuits.search.rounds import Rounds, search_in_rounds
from circuits.search.stages import INTERRUPTED
from circuits.task import Task, TaskError
from circuits.templates import Combination, Place
from circuits.trace import Trace, trace
from circuits.wirings import determining_sets, keys_of

MAX_ARITY = 8
MAX_ENTRIES = 20_000_000
"""Entries of one operator, at most."""
MAX_TOKENS = 50_000_000
"""Tokens of all traces together, a byte each; scales beyond are left to the reference circuit."""


@dataclass(frozen=True, kw_only=True)
class SRCResult:
    """SRC of one task at one arity.

    Attributes:
        arity: slots of every operator, in mode "typed" at most.
        mode: one of circuits.modes.Mode.
        bounds: scale n -> (lower, upper) bound of SRC(f, n); math.inf where no circuit exists or, as an upper bound,
            where none is known. Where only some prompts of a scale were looked at, the upper bound is of these, unless
            the reference circuit gives it.
        status: "exact" (bounds meet, and every prompt was looked at), "reference" (they meet, and where not every
            prompt was looked at the task's own circuit attains them: exact if the task is defined by that),
            "sampled" (they meet on the prompts looked at: the value is a lower bound of SRC, and the circuit is
            right on those prompts), "bounds" (some do not meet).
        inputs: prompts looked at, over all scales.
        sampled: of these, and of those that the reference circuit alone was tried on, the prompts of the scales above
            `exhaustive_to`.
        exhaustive_to: last scale up to which every prompt was looked at.
        kernel: steps that the lower bound rests on, equal and served ones left out.
        circuit: a circuit with as many operators as the upper bound at its last scale; None if that is infeasible.
        templates: the template combinations that the circuit's wiring needs; none in mode "declared".
        coverage_scale: first scale up to which every table entry that the circuit uses on the prompts looked at has
            been used; None if only some of that scale's prompts were looked at.
        hardest: the steps that the lower bounds rest on, all their wirings considered; where SRC is infinite the
            last one has none.
        traces: all prompts looked at.
        stopped: why the computation ended before its end; None if it did not.
        failed: whether that was the machine's fault, so that another time it may not end there.
        seconds: phase -> seconds: traces, wirings, kernel, solver, check.
    """

    arity: int
    mode: str
    bounds: dict[int, tuple[float, float]]
    status: str
    inputs: int
    sampled: int
    exhaustive_to: int
    kernel: int
    circuit: Circuit | None
    templates: tuple[Combination, ...]
    coverage_scale: int | None
    hardest: tuple[Place, ...]
    traces: tuple[Trace, ...]
    stopped: str | None
    failed: bool
    seconds: Mapping[str, float]

    @property
    def values(self) -> dict[int, float | None]:
        """scale -> SRC, math.inf where infeasible, None where the bounds differ."""
        return {scale: low if low == high else None for scale, (low, high) in self.bounds.items()}


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while SRC was computed; `result` is what is known."""

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result = result


def minimal_arity(traces: Sequence[Trace], *, at_least: int = 1) -> int | None:
    """The fewest slots, `at_least` so many, with which every step of the traces is determined.

    None if they are more than MAX_ARITY.

    Raises:
        ValueError: no traces.
    """
    if not traces:
        raise ValueError("no traces given")
    arity = at_least
    for one in traces:
        for position in one.steps:
            while not determining_sets(one, position, arity).found:
                arity += 1
                if arity > MAX_ARITY:
                    return None
    return arity


def traces_up_to(task: Task, scale: int, clock: Clock | None = None) -> list[Trace]:
    """The traces of scales 1..scale: SRC at a scale speaks of all scales up to it.

    Fewer, but at least scale 1, where a quarter of the clock's limit has passed, or where all together would hold
    more than MAX_TOKENS.

    Raises:
        TaskError: the scale is below 1, or the task breaks its contract.
    """
    if scale < 1:
        raise TaskError(f"task '{task.name}': a scale is at least 1, not {scale}")
    clock = clock or Clock()
    found: list[Trace] = []
    with clock.phase("traces"):
        for n in range(1, scale + 1):
            if found and (clock.used() > 0.25 or sum(one.tokens.size for one in found) > MAX_TOKENS):
                break
            found.append(trace(task, n))
    return found


def src(
    task: Task,
    traces: Sequence[Trace],
    arity: int,
    *,
    mode: str = "free",
    largest: int | None = None,
    clock: Clock | None = None,
) -> SRCResult:
    """SRC at every scale of the traces, with a circuit that attains it.

    A circuit with few templates is made first. Its operators are an upper bound; the steps at which one of them is
    met for the first time are what the lower bound is tried on, all their wirings considered. Where the bounds
    differ, circuits of fewer operators are tried, and each step that such a circuit cannot serve joins those of the
    lower bound, until the bounds meet.

    Args:
        task: whose traces these are.
        traces: scales 1, 2, ..., n without a gap (`traces_up_to`).
        arity: slots of every operator, at least 1.
        mode: one of circuits.modes.Mode.
        largest: last scale to give bounds for, if beyond the traces: there the reference circuit is the upper bound.
        clock: the time limit; without one, none.

    Raises:
        ValueError: the arity is not positive, the scales have a gap, or there is no such mode.
        TaskError: operators of this arity have more than MAX_ENTRIES entries; the task's reference circuit does not
            compute it; or it is needed and the task has none of this arity.
        Interrupted: Ctrl-C in the search; carries the result so far.
    """
    if arity < 1:
        raise ValueError(f"the arity must be at least 1, not {arity}")
    if mode not in [*Mode]:
        raise ValueError(f"no mode '{mode}': choose one of {', '.join(Mode)}")
    if not traces:
        raise ValueError("no traces given")
    if [one.scale for one in traces] != list(range(1, len(traces) + 1)):
        raise ValueError("SRC needs the traces of scales 1, 2, ... without a gap")
    symbols = len(task.alphabet)
    if symbols**arity > MAX_ENTRIES:
        raise TaskError(
            f"task '{task.name}': an operator of arity {arity} over {symbols} symbols has {symbols**arity:,} entries, "
            f"more than {MAX_ENTRIES:,}; use fewer symbols or slots"
        )
    if mode == "declared" and (task.reference is None or task.reference.arity != arity):
        has = f"has arity {task.reference.arity}" if task.reference else "is missing"
        raise TaskError(f"task '{task.name}': mode 'declared' at arity {arity} needs a reference circuit; it {has}")
    clock = clock or Clock()
    beyond = largest if largest and largest > len(traces) else None
    last: list[Trace] = []
    if task.reference and task.reference.arity <= arity:
        with clock.phase("check"):
            last = [trace(task, beyond)] if beyond else []
            check_reference(task, [*traces, *last])
    found = search_in_rounds(Problem.of(task, traces, arity, mode), clock)
    result = _result(found, last, beyond or len(traces), clock)
    if found.last.stopped == INTERRUPTED:
        raise Interrupted(result)
    return result


def _result(found: Rounds, last: Sequence[Trace], largest: int, clock: Clock) -> SRCResult:
    """The answer at every scale up to the largest; `last` is what the reference circuit alone was tried on."""
    problem, search = found.problem, found.last
    traces = tuple(problem.traces.values())
    known = dict.fromkeys(range(1, largest + 1), math.inf)
    if problem.mode != "typed":
        known = reference_complexity(problem.task, problem.arity, largest)
    bounds = _bounds(found, known)
    sampled_from = min((one.scale for one in traces if not one.exhaustive), default=len(traces) + 1)
    status = _status(bounds, known, sampled_from)
    stopped = search.stopped
    if stopped is None and any(bounds[scale][0] != bounds[scale][1] for scale in range(len(traces) + 1, largest + 1)):
        stopped = f"scales above {len(traces)} were not looked at"
    if stopped is None and status == "bounds" and clock.over():
        stopped = clock.reason()
    circuit = None if search.stuck else search.circuit
    return SRCResult(
        arity=problem.arity,
        mode=problem.mode,
        bounds=bounds,
        status=status,
        inputs=sum(one.tokens.shape[1] for one in traces),
        sampled=sum(one.tokens.shape[1] for one in (*traces, *last) if one.scale >= sampled_from),
        exhaustive_to=sampled_from - 1,
        kernel=search.kernel,
        circuit=circuit,
        templates=search.combinations if circuit else (),
        coverage_scale=_coverage_scale(circuit, traces) if circuit else None,
        hardest=found.hardest,
        stopped=stopped,
        failed=search.failed,
        traces=traces,
        seconds=dict(clock.seconds),
    )


def _bounds(found: Rounds, known: Mapping[int, float]) -> dict[int, tuple[float, float]]:
    """Bounds that were found, with the upper ones known anyway; a lower bound holds at all later scales."""
    stuck = found.last.stuck
    bounds: dict[int, tuple[float, float]] = {}
    lower: float = 1
    for scale, most in known.items():
        if stuck and scale >= stuck[0]:
            bounds[scale] = (math.inf, math.inf)
            continue
        low, high = found.bounds.get(scale, (lower, math.inf))
        lower = max(lower, low)
        bounds[scale] = (lower, min(high, most))
    return bounds


def _status(bounds: Mapping[int, tuple[float, float]], known: Mapping[int, float], sampled_from: int) -> str:
    """Status of a result (`SRCResult`), where every prompt was looked at below the scale `sampled_from`."""
    if any(low != high for low, high in bounds.values()):
        return "bounds"
    unsure = [scale for scale, (low, _) in bounds.items() if scale >= sampled_from and not math.isinf(low)]
    if not unsure:
        return "exact"
    return "reference" if all(bounds[scale][0] == known[scale] for scale in unsure) else "sampled"


def _coverage_scale(circuit: Circuit, traces: Sequence[Trace]) -> int | None:
    """First scale up to which every (operator, key) that occurs at any scale has occurred."""
    symbols = len(circuit.task.alphabet)
    seen = [np.zeros(len(table), dtype=bool) for table in circuit.operators]
    last = traces[0]
    for one in traces:
        for wiring in circuit.wirings.get(one.scale, ()):
            keys = keys_of(one.tokens[[position - 1 for position in wiring.arguments]], symbols)
            if not seen[wiring.operator][keys].all():
                seen[wiring.operator][keys] = True
                last = one
    return last.scale if last.exhaustive else None
