"""The search in rounds: prompts that refute a circuit found on a sample join it, and it is searched again."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.determining import determines
from lengthgen.circuits.reference import check_reference, reference_complexity
from lengthgen.circuits.roles import role_labels
from lengthgen.circuits.search.narrowing import Narrowing, declared
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.sat import SolverError, SolverFailed
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

    Ctrl-C ends the search in the same way. Unless `patient`, the check that all scales are feasible uses at most half
    of the time.
    """
    narrowing = Narrowing(problem, clock)
    circuit: Circuit | None = None
    combinations: tuple[Combination, ...] = ()
    stopped, failed = None, False
    try:
        with clock.phase("wirings"):
            narrowing.find_scales(patient=patient)
            narrowing.find_circuits()
        narrowing.narrow()
    except OutOfTime as limit:
        stopped = str(limit)
    except SolverError as error:
        stopped, failed = str(error), isinstance(error, SolverFailed)
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    try:
        if narrowing.bounds:
            circuit, combinations = circuit_of(narrowing.smallest(), narrowing.scales, problem, narrowing.combinations)
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    return Searched(
        bounds=narrowing.bounds,
        stuck=narrowing.stuck,
        stopped=stopped or narrowing.stopped,
        failed=failed,
        hardest=tuple(place for place, alternatives in narrowing.wirings.items() if alternatives.complete),
        kernel=narrowing.kernel,
        circuit=circuit,
        combinations=combinations,
    )


@dataclass(kw_only=True)
class Rounds:
    """Result of all rounds together.

    Attributes:
        problem: the problem with all prompts of the last round.
        last: result of the last round.
        bounds: scale -> (lower, upper) of all rounds, as far as later prompts leave them valid.
        hardest: steps that the lower bounds of any round rest on; a stuck step is the last of them.
    """

    problem: Problem
    last: Searched = field(default_factory=Searched)
    bounds: dict[int, tuple[float, float]] = field(default_factory=dict)
    hardest: tuple[Place, ...] = ()

    def search(self, clock: Clock, *, patient: bool) -> None:
        """Search once more and merge the bounds with those before."""
        self.last = search(self.problem, clock, patient=patient)
        for scale, (low, high) in self.last.bounds.items():
            lowest, highest = self.bounds.get(scale, (1, math.inf))
            self.bounds[scale] = max(lowest, low), min(highest, high)
        self.rest_on(self.last.hardest)

    def rest_on(self, places: Iterable[Place]) -> None:
        """Add steps that the lower bounds rest on."""
        self.hardest = tuple(dict.fromkeys((*self.hardest, *places)))


def search_in_rounds(problem: Problem, clock: Clock) -> Rounds:
    """Search until fresh prompts do not refute the circuit found, or for MAX_ROUNDS.

    The task's own circuit takes the place of the one found if it is simpler (`_size`).

    Raise TaskError if that circuit is wrong on a prompt that joins the sample.
    """
    rounds = _search_in_rounds(problem, clock)
    if rounds.last.circuit and not rounds.last.stuck and (own := _own_circuit(rounds)):
        rounds.last = min(rounds.last, own, key=_size)
    return rounds


def _search_in_rounds(problem: Problem, clock: Clock) -> Rounds:
    rounds = Rounds(problem=problem)
    rounds.search(clock, patient=False)
    for number in range(MAX_ROUNDS - 1):
        refuted = refuting(rounds.last, rounds.problem, number, clock)
        if not refuted:
            break
        if problem.has_reference:
            check_reference(problem.task, refuted.values())
        extended_problem = replace(rounds.problem, traces={**rounds.problem.traces, **refuted})
        if grown := _grown(rounds, extended_problem, min(refuted)):
            rounds.problem, rounds.last = extended_problem, replace(rounds.last, circuit=grown)
            continue
        if number >= PATIENCE and _own_is_minimal(rounds) and (own := _own_circuit(rounds)):
            rounds.last = own
            return rounds
        # More prompts keep every lower bound valid, and the upper bounds of all smaller scales.
        rounds.bounds = {n: (low, high if n < min(refuted) else math.inf) for n, (low, high) in rounds.bounds.items()}
        rounds.problem = extended_problem
        rounds.search(clock, patient=True)
    if rounds.last.stuck:
        rounds.rest_on([rounds.last.stuck])
    return rounds


def _own_is_minimal(rounds: Rounds) -> bool:
    """True if the reference circuit meets all lower bounds."""
    problem = rounds.problem
    operators = reference_complexity(problem.task, problem.arity, [*problem.traces][-1])
    return all(rounds.bounds.get(scale, (0, 0))[0] == operators[scale] for scale in problem.traces)


def _own_circuit(rounds: Rounds) -> Searched | None:
    """Return the last round's result with the reference circuit, right on all prompts; None if there is none."""
    problem, scales = rounds.problem, tuple(rounds.problem.traces)
    if problem.mode != "free" or not problem.has_reference:
        return None
    circuit, combinations = circuit_of(declared(problem, scales), scales, problem, ())
    return replace(rounds.last, circuit=circuit, combinations=combinations)


def _size(searched: Searched) -> tuple[int, int]:
    """Return the number of operators of the circuit, and that of the roles which its ideal relation tells apart."""
    circuit = searched.circuit
    assert circuit is not None
    return len(circuit.operators), len(role_labels(circuit))


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


def refuting(searched: Searched, problem: Problem, number: int, clock: Clock) -> dict[int, Trace]:
    """Return the sampled traces with fresh prompts on which the circuit is wrong, extended by such prompts.

    Each round `number` draws other fresh prompts. No more traces are checked once the limit has passed.
    """
    circuit, wrong = searched.circuit, dict[int, Trace]()
    if circuit is None or searched.stopped:
        return wrong
    with clock.phase("check"):
        for scale, trace in problem.traces.items():
            if trace.exhaustive or scale not in circuit.wirings or clock.over():
                continue
            prompts = circuit.task.sample_prompts(scale, CHECKED, np.random.default_rng([scale, number]))
            fresh = of_prompts(circuit.task, trace, prompts)
            clock.count(fresh.tokens.size)
            longer = fresh.tokens[trace.length :] != UNDEFINED  # steps that no prompt of the sample has
            fresh = replace(fresh, tokens=fresh.tokens[: trace.length])
            steps = [position - 1 for position in trace.steps]
            refuted = (circuit.evaluate(fresh) != fresh.tokens[steps]).any(axis=0) | longer.any(axis=0)
            if refuted.any():
                wrong[scale] = extended(circuit.task, trace, prompts[refuted][:ADDED])
    return wrong
