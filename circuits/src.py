"""Sequential Representation Complexity (SRC): the fewest unit operators of any circuit of a task.

SRC(f, n) is the minimum, over circuits of one fixed arity that are right at every scale up to n, of the number of
distinct unit operators ([P] for the minimum, [F] for the fixed arity, without which it is trivially 1; arXiv
2510.04130, Def. 4). It is non-decreasing in n, and infinite if some step is determined by no `arity` earlier positions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.reference import check_reference, reference_complexity
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.rounds import INTERRUPTED, Rounds, search_in_rounds
from lengthgen.circuits.search.templates import Combination, Guesses, Place
from lengthgen.circuits.search.wirings import Mode
from lengthgen.circuits.tables import step_entries
from lengthgen.circuits.task import Task
from lengthgen.circuits.trace import Trace, trace
from lengthgen.infrastructure.brief import Brief, by_scale

MAX_ARITY = 8
"""Largest number of slots that the search for a minimal arity tries."""
MAX_ENTRIES = 20_000_000
"""Largest number of entries of one operator."""
MAX_TOKENS = 50_000_000
"""Largest number of tokens of all traces together, one byte each. Scales beyond it rest on the reference circuit."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SRCResult(Brief):
    """SRC of one task at one arity.

    Attributes:
        arity: number of slots of every operator; in mode "typed" the largest number.
        mode: one of lengthgen.circuits.search.wirings.Mode.
        bounds: scale n -> (lower, upper) bound of SRC(f, n). The value is math.inf if no circuit exists or, as an upper
            bound, if none is known. If only a sample of a scale's prompts was tried, the upper bound holds for this
            sample, unless the reference circuit gives it.
        status: "exact" (the bounds meet, and every prompt was tried), "reference" (they meet, and at sampled scales the
            task's own circuit attains them: exact if that circuit defines the task), "sampled" (they meet on the
            prompts tried: the value is a lower bound of SRC, and the circuit is right on those prompts), or "bounds"
            (some bounds do not meet).
        inputs: number of prompts tried, over all scales.
        sampled: number of prompts tried at scales above `exhaustive_to`, including those on which only the reference
            circuit was tried.
        exhaustive_to: last scale up to which every prompt was tried.
        kernel: number of steps that the lower bound rests on, without equal steps and steps served by solutions of
            others.
        circuit: a circuit with as many operators as the upper bound at its last scale; None if infeasible.
        templates: template combinations that the circuit's wiring needs; none in mode "declared".
        coverage_scale: first scale up to which the circuit has used every table entry that it uses at any scale; None
            if that scale was only sampled.
        hardest: steps that the lower bounds rest on, with all their wirings considered. If SRC is infinite, the last
            one has no wiring.
        traces: traces of all prompts tried.
        stopped: reason why the computation ended early; None if it did not.
        failed: True if the machine was the reason, so that another run may succeed.
        seconds: phase -> seconds; phases are traces, wirings, kernel, solver and check.
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
        """SRC by scale; math.inf if infeasible, None if the bounds differ."""
        return {scale: low if low == high else None for scale, (low, high) in self.bounds.items()}

    def _brief(self) -> str:
        bounds = {n: low if low == high else f"{low}..{high}" for n, (low, high) in self.bounds.items()}
        stopped = f"; stopped: {self.stopped}" if self.stopped else ""
        return f"SRC {by_scale(bounds)}; arity {self.arity}, {self.status}{stopped}"

    def _details(self) -> dict[str, str]:
        first = "" if self.coverage_scale is None else f"complete from scale {self.coverage_scale} on"
        return {
            "circuit": repr(self.circuit) if self.circuit else "none",
            "operator tables": first,
            "prompts tried": f"{self.inputs:,}, all up to scale {self.exhaustive_to}",
        }


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during the computation of SRC; `result` holds the bounds known so far."""

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result = result


def minimal_arity(traces: Sequence[Trace], *, at_least: int = 1, guesses: Guesses | None = None) -> int | None:
    """Return the fewest slots, but not fewer than `at_least`, with which every step of the traces is determined.

    >>> from lengthgen import load_task
    >>> minimal_arity(traces_up_to(load_task("parity"), 4))
    2

    None if more than MAX_ARITY are needed. Calls on neighbouring scales are faster if they share their guesses.

    Raise ValueError if no traces are given.
    """
    if not traces:
        raise ValueError("no traces given")
    arity, guesses = at_least, guesses or Guesses()
    for scale_trace in traces:
        for position in scale_trace.steps:
            while not guesses.has_determining_set(scale_trace, position, arity):
                arity += 1
                if arity > MAX_ARITY:
                    return None
    return arity


def traces_up_to(task: Task, scale: int, clock: Clock | None = None) -> list[Trace]:
    """Return the traces of scales 1..scale; SRC at a scale depends on all scales up to it.

    The list ends early, but never before scale 1, once a quarter of the clock's limit has passed or all traces together
    would hold more than MAX_TOKENS.

    Raise TaskError if the scale is below 1, or the task breaks its contract.
    """
    if scale < 1:
        raise task.error(f"a scale is at least 1, not {scale}")
    clock = clock or Clock()
    traces: list[Trace] = []
    with clock.phase("traces"):
        for n in range(1, scale + 1):
            if traces and (clock.used() > 0.25 or sum(scale_trace.tokens.size for scale_trace in traces) > MAX_TOKENS):
                break
            traces.append(trace(task, n))
    return traces


def src(
    task: Task,
    traces: Sequence[Trace],
    arity: int,
    *,
    mode: str = "free",
    largest: int | None = None,
    clock: Clock | None = None,
) -> SRCResult:
    """Return SRC at every scale of the traces, with a circuit that attains it.

    >>> from lengthgen import load_task
    >>> parity = load_task("parity")
    >>> src(parity, traces_up_to(parity, 4), arity=2).values
    {1: 1, 2: 1, 3: 1, 4: 1}

    A circuit with few templates is built first. Its operators are an upper bound. The lower bound starts from the steps
    at which one of these operators is used for the first time, with all their wirings. While the bounds differ,
    circuits of fewer operators are tried, and each step that such a circuit cannot serve joins the steps of the lower
    bound.

    Args:
        task: the task of the traces.
        traces: traces of scales 1, 2, ..., n without a gap (`traces_up_to`).
        arity: number of slots of every operator, at least 1.
        mode: one of lengthgen.circuits.search.wirings.Mode.
        largest: last scale to bound, if beyond the traces; there the reference circuit is the upper bound.
        clock: time limit; None for no limit.

    Raises:
        ValueError: the arity is not positive, the scales have a gap, or the mode does not exist.
        TaskError: operators of this arity have more than MAX_ENTRIES entries, the task's reference circuit does not
            compute it, or mode "declared" needs one of this arity and there is none.
        Interrupted: Ctrl-C in the search; carries the result so far.
    """
    if arity < 1:
        raise ValueError(f"the arity must be at least 1, not {arity}")
    if mode not in [*Mode]:
        raise ValueError(f"no mode '{mode}': choose one of {', '.join(Mode)}")
    if not traces:
        raise ValueError("no traces given")
    if [scale_trace.scale for scale_trace in traces] != list(range(1, len(traces) + 1)):
        raise ValueError("SRC needs the traces of scales 1, 2, ... without a gap")
    symbols = len(task.alphabet)
    if symbols**arity > MAX_ENTRIES:
        raise task.error(
            f"an operator of arity {arity} over {symbols} symbols has {symbols**arity:,} entries, "
            f"more than {MAX_ENTRIES:,}; use fewer symbols or slots"
        )
    if mode == "declared" and (task.reference is None or task.reference.arity != arity):
        status = f"has arity {task.reference.arity}" if task.reference else "is missing"
        raise task.error(f"mode 'declared' at arity {arity} needs a reference circuit; it {status}")
    clock = clock or Clock()
    largest_beyond = largest if largest and largest > len(traces) else None
    beyond_traces: list[Trace] = []
    problem = Problem.of(task, traces, arity, mode)
    if problem.has_reference:
        with clock.phase("check"):
            beyond_traces = [trace(task, largest_beyond)] if largest_beyond else []
            check_reference(task, [*traces, *beyond_traces])
    rounds = search_in_rounds(problem, clock)
    result = _result(rounds, beyond_traces, largest_beyond or len(traces), clock)
    if rounds.last.stopped == INTERRUPTED:
        raise Interrupted(result)
    return result


def _result(rounds: Rounds, last: Sequence[Trace], largest: int, clock: Clock) -> SRCResult:
    """Return the result at every scale up to `largest`.

    `last` holds the traces on which only the reference circuit was tried.
    """
    problem, search = rounds.problem, rounds.last
    traces = tuple(problem.traces.values())
    reference_bound = dict.fromkeys(range(1, largest + 1), math.inf)
    if problem.mode != "typed":
        reference_bound = reference_complexity(problem.task, problem.arity, largest)
    bounds = _bounds(rounds, reference_bound)
    sampled_from = min((each.scale for each in traces if not each.exhaustive), default=len(traces) + 1)
    status = _status(bounds, reference_bound, sampled_from)
    stopped = search.stopped
    if stopped is None and any(bounds[scale][0] != bounds[scale][1] for scale in range(len(traces) + 1, largest + 1)):
        stopped = f"scales above {len(traces)} were not searched"
    if stopped is None and status == "bounds" and clock.over():
        stopped = clock.reason()
    circuit = None if search.stuck else search.circuit
    return SRCResult(
        arity=problem.arity,
        mode=problem.mode,
        bounds=bounds,
        status=status,
        inputs=sum(each.tokens.shape[1] for each in traces),
        sampled=sum(each.tokens.shape[1] for each in (*traces, *last) if each.scale >= sampled_from),
        exhaustive_to=sampled_from - 1,
        kernel=search.kernel,
        circuit=circuit,
        templates=search.combinations if circuit else (),
        coverage_scale=_coverage_scale(circuit, traces) if circuit else None,
        hardest=rounds.hardest,
        stopped=stopped,
        failed=search.failed,
        traces=traces,
        seconds=dict(clock.seconds),
    )


def _bounds(rounds: Rounds, reference_bound: Mapping[int, float]) -> dict[int, tuple[float, float]]:
    """Return the bounds of the search, cut by the reference circuit's upper bounds. Lower ones hold at later scales."""
    bounds: dict[int, tuple[float, float]] = {}
    stuck = rounds.last.stuck
    lower: float = 1
    for scale, reference in reference_bound.items():
        if stuck and scale >= stuck[0]:
            bounds[scale] = (math.inf, math.inf)
            continue
        low, high = rounds.bounds.get(scale, (lower, math.inf))
        lower = max(lower, low)
        bounds[scale] = (lower, min(high, reference))
    return bounds


def _status(bounds: Mapping[int, tuple[float, float]], reference_bound: Mapping[int, float], sampled_from: int) -> str:
    """Return the status of a result (`SRCResult`); every prompt was tried at scales below `sampled_from`."""
    if any(low != high for low, high in bounds.values()):
        return "bounds"
    sampled = [scale for scale, (low, _) in bounds.items() if scale >= sampled_from and not math.isinf(low)]
    met = all(bounds[scale][0] == reference_bound[scale] for scale in sampled)
    return "exact" if not sampled else "reference" if met else "sampled"


def _coverage_scale(circuit: Circuit, traces: Sequence[Trace]) -> int | None:
    """Return the first scale up to which every (operator, key) that occurs at any scale has occurred.

    None if it was sampled.
    """
    seen = [np.zeros(len(table), dtype=bool) for table in circuit.operators]
    last = traces[0]
    for scale_trace in traces:
        for wiring in circuit.wirings.get(scale_trace.scale, ()):
            keys, _ = step_entries(scale_trace, wiring.position, wiring.arguments)
            if not seen[wiring.operator][keys].all():
                seen[wiring.operator][keys] = True
                last = scale_trace
    return last.scale if last.exhaustive else None
