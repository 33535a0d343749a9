"""First stages of the search: scales at which every step can be computed, and circuits of few templates there."""

from collections.abc import Sequence
from dataclasses import dataclass

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.serving import Attempt, Served, filled
from lengthgen.circuits.search.templates import HOLE, Combination, Guesses, Place, choose_wirings


@dataclass(frozen=True, kw_only=True)
class Feasible:
    """Scales at which every step has a wiring.

    Attributes:
        scales: ascending, without a gap.
        stuck: first step that no wiring determines; None if all have one.
        stopped: reason why no more scales were searched; None if all were, or if a step is stuck.
    """

    scales: tuple[int, ...] = ()
    stuck: Place | None = None
    stopped: str | None = None


def feasible(problem: Problem, clock: Clock, *, patient: bool) -> Feasible:
    """Return the scales at which every step has a wiring.

    Unless `patient`, the search of scales ends at half of the clock's limit.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    feasible_scales: list[int] = []
    guesses = Guesses()
    for scale in problem.traces:
        if feasible_scales and not patient and clock.used() > 0.5:
            return Feasible(scales=tuple(feasible_scales), stopped=clock.reason())
        stuck = next(
            (place for place in problem.places([scale]) if not _has_wiring(problem, place, guesses, clock)), None
        )
        if stuck:
            return Feasible(scales=tuple(feasible_scales), stuck=stuck)
        feasible_scales.append(scale)
    return Feasible(scales=tuple(feasible_scales))


def _has_wiring(problem: Problem, place: Place, guesses: Guesses, clock: Clock) -> bool:
    """True if some wiring determines the step."""
    trace, position = problem.traces[place[0]], place[1]
    return problem.mode == "declared" or guesses.has_determining_set(trace, position, problem.arity, clock)


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Circuits that serve every step of some scales.

    Attributes:
        scales: ascending.
        circuits: at least one, unless there are no scales.
        combinations: template combinations of the first circuit; none in mode "declared".
    """

    scales: tuple[int, ...]
    circuits: tuple[Served, ...]
    combinations: tuple[Combination, ...]

    def openers(self) -> dict[int, list[Place]]:
        """Return scale -> the first steps of each operator of the circuit that is smallest up to this scale."""
        first = [circuit.openers() for circuit in self.circuits]
        return {
            scale: min(([place for place in places if place[0] <= scale] for places in first), key=len)
            for scale in self.scales
        }


def candidates(problem: Problem, scales: Sequence[int], clock: Clock) -> Candidates:
    """Return a circuit of few templates, and the reference circuit, as far as the mode and the arity allow them.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    circuits: list[Served] = []
    combinations: tuple[Combination, ...] = ()
    if problem.mode != "declared":
        simple, combinations = _simple(problem, scales, clock)
        circuits.append(simple)
    reference = problem.task.reference
    if problem.mode != "typed" and reference is not None and reference.arity <= problem.arity:
        circuits.append(declared(problem, scales, clock))
    return Candidates(scales=tuple(scales), circuits=tuple(circuits), combinations=combinations)


def _simple(problem: Problem, scales: Sequence[int], clock: Clock) -> tuple[Served, tuple[Combination, ...]]:
    """Return a circuit of few templates. Steps without holes are served first."""
    traces = [problem.traces[scale] for scale in scales]
    choice = choose_wirings(traces, problem.arity, exact=problem.exact, clock=clock)
    attempt = Attempt(problem, clock, combinations=choice.combinations)
    # A step with a hole comes last, with a filling that suits the operators of the others.
    for place, located in sorted(choice.wirings.items(), key=lambda item: HOLE in item[1]):
        wiring = next(filled(problem, place, located))
        step = problem.step_entries(place, wiring)
        fit = attempt.operators.first_fit(step)
        if fit is not None or not attempt.serve(place):
            attempt.give(place, wiring, fit, step)
    return attempt.served(), choice.combinations


def declared(problem: Problem, scales: Sequence[int], clock: Clock) -> Served:
    """Return the reference circuit; slots beyond its arity repeat its last argument."""
    attempt = Attempt(problem, clock)
    numbers: dict[str, int] = {}
    for scale in scales:
        # A sample may lack the last steps of a task whose outputs end early.
        steps = problem.task.reference_steps(scale)
        for position, (name, arguments) in zip(problem.traces[scale].steps, steps, strict=False):
            place = scale, position
            wiring = (*arguments, *[arguments[-1]] * (problem.arity - len(arguments)))
            numbers[name] = attempt.give(place, wiring, numbers.get(name), problem.step_entries(place, wiring))
    return attempt.served()
