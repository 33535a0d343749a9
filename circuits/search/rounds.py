"""The search: its stages in order, as far as a limit allows, in rounds with ever more prompts of sampled scales.

Prompts that refute a circuit found on a sample join the sample, and the stages are run again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.determining import determines
from lengthgen.circuits.reference import reference_complexity
from lengthgen.circuits.search.candidates import Candidates, Feasible, candidates, declared, feasible
from lengthgen.circuits.search.narrowing import BoundSteps, Narrowed, narrowed
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.sat import SolverError, SolverFailed
from lengthgen.circuits.search.serving import Served
from lengthgen.circuits.search.simplest import circuit_of
from lengthgen.circuits.search.templates import Combination, Place
from lengthgen.circuits.tables import Operators
from lengthgen.circuits.task import UNDEFINED
from lengthgen.circuits.trace import Trace, extended, of_prompts

INTERRUPTED = "interrupted"
"""Reason of a search that Ctrl-C ended."""
CHECKED = 4_096
"""Number of fresh prompts at each scale on which a circuit found on a sample is checked."""
ADDED = 64
"""Largest number of refuting prompts that join the sample at each scale."""
MAX_ROUNDS = 8
"""Largest number of rounds of a search."""
PATIENCE = 3
"""Number of refuted circuits after which the reference circuit is taken, if no circuit has fewer operators."""


@dataclass(frozen=True, kw_only=True)
class Searched:
    """Bounds at the scales of a problem, and the circuit that attains the upper bound.

    Attributes:
        bounds: scale -> (lower, upper), as far as the search came; scales with a step that no wiring determines are
            left out.
        stuck: first step that no wiring determines; None if there is none.
        stopped: reason why the search ended early; None if it did not.
        failed: True if the machine was the reason, so that another run may succeed.
        hardest: steps that the lower bounds rest on, with all their wirings searched.
        kernel: number of these steps without equal steps and steps served by solutions of others.
        circuit: circuit that attains the upper bound of the last scale; None if the search did not come so far.
        combinations: template combinations of its wiring.
    """

    bounds: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    stuck: Place | None = None
    stopped: str | None = None
    failed: bool = False
    hardest: tuple[Place, ...] = ()
    kernel: int = 0
    circuit: Circuit | None = None
    combinations: tuple[Combination, ...] = ()


def search(problem: Problem, clock: Clock, *, patient: bool = False) -> Searched:
    """Return the bounds and the circuit of a problem, or as much as time allows.

    Ctrl-C ends the search in the same way.

    Args:
        problem: the problem.
        clock: the limit.
        patient: True if the check that all scales are feasible may use more than half of the time.
    """
    possible, candidate_circuits, latest = Feasible(), None, None
    circuit: Circuit | None = None
    combinations: tuple[Combination, ...] = ()
    stopped, failed = None, False
    try:
        with clock.phase("wirings"):
            possible = feasible(problem, clock, patient=patient)
            candidate_circuits = candidates(problem, possible.scales, clock)
        for now in narrowed(problem, candidate_circuits, clock):
            latest = now
    except OutOfTime as limit:
        stopped = str(limit)
    except SolverError as error:
        stopped, failed = str(error), isinstance(error, SolverFailed)
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    try:
        if candidate_circuits and latest and candidate_circuits.scales:
            circuit, combinations = circuit_of(
                _smallest(candidate_circuits, latest, problem),
                candidate_circuits.scales,
                problem,
                candidate_circuits.combinations,
            )
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    bound_steps = latest.bound_steps if latest else BoundSteps()
    return Searched(
        bounds=latest.bounds if latest else {},
        stuck=possible.stuck,
        stopped=stopped or possible.stopped,
        failed=failed,
        hardest=tuple(place for place, alternatives in bound_steps.wirings.items() if alternatives.complete),
        kernel=bound_steps.kernel,
        circuit=circuit,
        combinations=combinations,
    )


def _smallest(candidate_circuits: Candidates, latest: Narrowed, problem: Problem) -> Served:
    """Return the circuit of the fewest operators that serves every step up to the last scale."""
    last = candidate_circuits.scales[-1], problem.traces[candidate_circuits.scales[-1]].length
    if latest.fewer and last in latest.fewer.wirings:
        return latest.fewer
    return min(candidate_circuits.circuits, key=lambda served: len(served.openers()))


Bounds = Mapping[int, tuple[float, float]]
"""scale -> (lower, upper)."""


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """Result of all rounds together.

    Attributes:
        problem: the problem with all prompts of the last round.
        last: result of the last round.
        bounds: bounds of all rounds, as far as later prompts leave them valid.
        hardest: steps that the lower bounds of any round rest on; a stuck step is the last of them.
    """

    problem: Problem
    last: Searched
    bounds: Bounds = field(default_factory=dict)
    hardest: tuple[Place, ...] = ()


def search_in_rounds(problem: Problem, clock: Clock) -> Rounds:
    """Search until fresh prompts do not refute the circuit found, or for MAX_ROUNDS."""
    rounds = _one_more_round(Rounds(problem=problem, last=Searched()), clock, patient=False)
    for number in range(MAX_ROUNDS - 1):
        refuted = refuting(rounds.last, rounds.problem, number, clock)
        if not refuted:
            break
        # More prompts keep every lower bound valid, and the upper bounds of all smaller scales.
        valid_bounds = {n: (low, high if n < min(refuted) else math.inf) for n, (low, high) in rounds.bounds.items()}
        extended_problem = replace(rounds.problem, traces={**rounds.problem.traces, **refuted})
        if grown := _grown(rounds, extended_problem, min(refuted)):
            rounds = replace(rounds, problem=extended_problem, last=replace(rounds.last, circuit=grown))
            continue
        if number >= PATIENCE and (reference := _smallest_reference(rounds, clock)):
            return replace(rounds, last=reference)
        rounds = _one_more_round(replace(rounds, problem=extended_problem, bounds=valid_bounds), clock, patient=True)
    if rounds.last.stuck:
        rounds = replace(rounds, hardest=_joined(rounds.hardest, (rounds.last.stuck,)))
    return rounds


def _smallest_reference(rounds: Rounds, clock: Clock) -> Searched | None:
    """Return the last round's result with the reference circuit, right on all prompts, if it meets all lower bounds."""
    problem, scales = rounds.problem, tuple(rounds.problem.traces)
    operators = reference_complexity(problem.task, problem.arity, scales[-1])
    if problem.mode == "typed" or any(rounds.bounds.get(scale, (0, 0))[0] != operators[scale] for scale in scales):
        return None
    circuit, combinations = circuit_of(declared(problem, scales, clock), scales, problem, ())
    return replace(rounds.last, circuit=circuit, combinations=combinations)


def _grown(rounds: Rounds, problem: Problem, scale: int) -> Circuit | None:
    """Return the circuit found, with the entries that more prompts need; None if they contradict it or have more steps.

    None also if it has more operators up to `scale` or a later scale than the upper bound there.
    """
    circuit = rounds.last.circuit
    assert circuit is not None
    operators = Operators(problem.symbols, circuit.operators)
    used: set[int] = set()
    for each, wirings in circuit.wirings.items():
        trace = problem.traces[each]
        if len(wirings) < len(trace.steps):
            return None  # the new prompts have longer outputs
        for wiring in wirings:
            if not determines(trace, wiring.position, wiring.arguments):
                return None
            step = problem.step_entries((each, wiring.position), wiring.arguments)
            if operators.missing(wiring.operator, step) is None:
                return None
            operators.give(wiring.operator, step)
            used.add(wiring.operator)
        if each >= scale and len(used) > rounds.bounds[each][1]:
            return None
    return replace(circuit, operators=tuple(operators.tables))


def _one_more_round(before: Rounds, clock: Clock, *, patient: bool) -> Rounds:
    """Search once more and merge the bounds with those before."""
    searched = search(before.problem, clock, patient=patient)
    merged = dict(before.bounds)
    for scale, (low, high) in searched.bounds.items():
        lowest, highest = merged.get(scale, (1, math.inf))
        merged[scale] = max(lowest, low), min(highest, high)
    return replace(before, last=searched, bounds=merged, hardest=_joined(before.hardest, searched.hardest))


def _joined(places: tuple[Place, ...], more: tuple[Place, ...]) -> tuple[Place, ...]:
    """Return both tuples of steps as one, without duplicates."""
    return tuple(dict.fromkeys((*places, *more)))


def refuting(searched: Searched, problem: Problem, number: int, clock: Clock) -> dict[int, Trace]:
    """Return the sampled traces with fresh prompts on which the circuit is wrong, extended by such prompts.

    Args:
        searched: result of the search on the prompts of the problem.
        problem: the problem whose traces are extended.
        number: number of the round; each round draws other fresh prompts.
        clock: no more traces are checked once its limit has passed.
    """
    if searched.circuit is None or searched.stopped:
        return {}
    wrong: dict[int, Trace] = {}
    with clock.phase("check"):
        for scale, trace in problem.traces.items():
            if not trace.exhaustive and scale in searched.circuit.wirings and not clock.over():
                extended_trace = _with_refuting(trace, searched.circuit, number, clock)
                if extended_trace:
                    wrong[scale] = extended_trace
    return wrong


def _with_refuting(trace: Trace, circuit: Circuit, number: int, clock: Clock) -> Trace | None:
    """Return a sampled trace with fresh prompts on which the circuit is wrong; None if none of CHECKED prompts is."""
    rng = np.random.default_rng([trace.scale, number])
    prompts = circuit.task.sample_prompts(trace.scale, CHECKED, rng)
    fresh = of_prompts(circuit.task, trace, prompts)
    clock.count(fresh.tokens.size)
    longer = fresh.tokens[trace.length :] != UNDEFINED  # steps that no prompt of the sample has
    fresh = replace(fresh, tokens=fresh.tokens[: trace.length])
    steps = [position - 1 for position in trace.steps]
    wrong = (circuit.evaluate(fresh) != fresh.tokens[steps]).any(axis=0) | longer.any(axis=0)
    return extended(circuit.task, trace, prompts[wrong][:ADDED]) if wrong.any() else None
