"""Stages of the search run in order, as far as a limit allows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.sat import SolverError, SolverFailed
from lengthgen.circuits.search.candidates import Candidates, Feasible, candidates, feasible
from lengthgen.circuits.search.narrowing import BoundSteps, Narrowed, narrowed
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.serving import Served
from lengthgen.circuits.search.simplest import circuit_of
from lengthgen.circuits.templates import Combination, Place

INTERRUPTED = "interrupted"


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
