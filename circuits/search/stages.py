"""All stages of the search one after the other, as far as a limit allows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from circuits.circuit import Circuit
from circuits.clock import Clock, OutOfTime
from circuits.sat import SolverError, SolverFailed
from circuits.search.candidates import Candidates, Feasible, candidates, feasible
from circuits.search.narrowing import Evidence, Narrowed, narrowed
from circuits.search.problem import Problem
from circuits.search.serving import Served
from circuits.search.simplest import circuit_of
from circuits.templates import Combination, Place

INTERRUPTED = "interrupted"


@dataclass(frozen=True, kw_only=True)
class Searched:
    """Bounds at the scales of a problem, and the circuit that attains the upper one.

    Attributes:
        bounds: scale -> (lower, upper), as far as the search came; scales with a step that nothing determines are not
            among them.
        stuck: the first step that no wiring determines, if there is one.
        stopped: why the search ended before its end; None if it did not.
        failed: whether that was the machine's fault, so that another time it may not end there.
        hardest: the steps that the lower bounds rest on, all their wirings looked at.
        kernel: how many steps were left when equal and served ones were dropped.
        circuit: attains the upper bound of the last scale; None if the search did not come so far.
        combinations: the template combinations of its wiring.
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
    """The bounds and the circuit of a problem, or as much of them as time allows; Ctrl-C is such an end too.

    Args:
        problem: what is searched for.
        clock: the limit.
        patient: half of the time need not be left when all scales are known to be feasible.
    """
    possible, found, known = Feasible(), None, None
    circuit: Circuit | None = None
    combinations: tuple[Combination, ...] = ()
    stopped, failed = None, False
    try:
        with clock.phase("wirings"):
            possible = feasible(problem, clock, patient=patient)
            found = candidates(problem, possible.scales, clock)
        for now in narrowed(problem, found, clock):
            known = now
    except OutOfTime as limit:
        stopped = str(limit)
    except SolverError as error:
        stopped, failed = str(error), isinstance(error, SolverFailed)
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    try:
        if found and known and found.scales:
            circuit, combinations = circuit_of(
                _smallest(found, known, problem), found.scales, problem, found.combinations
            )
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    evidence = known.evidence if known else Evidence()
    return Searched(
        bounds=known.bounds if known else {},
        stuck=possible.stuck,
        stopped=stopped or possible.stopped,
        failed=failed,
        hardest=tuple(place for place, one in evidence.wirings.items() if one.complete),
        kernel=evidence.kernel,
        circuit=circuit,
        combinations=combinations,
    )


def _smallest(found: Candidates, known: Narrowed, problem: Problem) -> Served:
    """The circuit of the fewest operators that serves every step up to the last scale."""
    last = found.scales[-1], problem.traces[found.scales[-1]].length
    if known.fewer and last in known.fewer.wirings:
        return known.fewer
    return min(found.circuits, key=lambda one: len(one.openers()))
