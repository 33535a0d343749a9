"""First stages of the search: scales at which every step can be computed, and circuits of few templates there."""

from collections.abc import Sequence
from dataclasses import dataclass

from circuits.clock import Clock
from circuits.search.problem import Problem
from circuits.search.serving import Attempt, Served, filled
from circuits.templates import HOLE, Combination, Place, choose_wirings
from circuits.wirings import determining_sets


@dataclass(frozen=True, kw_only=True)
class Feasible:
    """Scales at which every step has a wiring.

    Attributes:
        scales: ascending, without a gap.
        stuck: the first step that no wiring determines, if one was met.
        stopped: why no more scales were looked at; None if all were, or a step is stuck.
    """

    scales: tuple[int, ...] = ()
    stuck: Place | None = None
    stopped: str | None = None


def feasible(problem: Problem, clock: Clock, *, patient: bool) -> Feasible:
    """The scales at which every step has a wiring; unless `patient`, as far as half of the clock's limit allows.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    found: list[int] = []
    for scale in problem.traces:
        if found and not patient and clock.used() > 0.5:
            return Feasible(scales=tuple(found), stopped=clock.reason())
        stuck = next((place for place in problem.places([scale]) if not _has_wiring(problem, place, clock)), None)
        if stuck:
            return Feasible(scales=tuple(found), stuck=stuck)
        found.append(scale)
    return Feasible(scales=tuple(found))


def _has_wiring(problem: Problem, place: Place, clock: Clock) -> bool:
    one, position = problem.traces[place[0]], place[1]
    return problem.mode == "declared" or bool(determining_sets(one, position, problem.arity, clock).found)


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Circuits that serve every step of some scales.

    Attributes:
        scales: ascending.
        circuits: at least one, unless there are no scales.
        combinations: the template combinations of the first circuit; none in mode "declared".
    """

    scales: tuple[int, ...]
    circuits: tuple[Served, ...]
    combinations: tuple[Combination, ...]

    def openers(self) -> dict[int, list[Place]]:
        """Scale -> the first steps of the operators that the smallest circuit up to this scale has."""
        first = [one.openers() for one in self.circuits]
        return {
            scale: min(([place for place in places if place[0] <= scale] for places in first), key=len)
            for scale in self.scales
        }


def candidates(problem: Problem, scales: Sequence[int], clock: Clock) -> Candidates:
    """A circuit of few templates, and the reference circuit, where the mode and the arity allow these.

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
        circuits.append(_declared(problem, scales, clock))
    return Candidates(scales=tuple(scales), circuits=tuple(circuits), combinations=combinations)


def _simple(problem: Problem, scales: Sequence[int], clock: Clock) -> tuple[Served, tuple[Combination, ...]]:
    """A circuit of few templates. The steps that show a combination at its clearest come first."""
    traces = [problem.traces[scale] for scale in scales]
    choice = choose_wirings(traces, problem.arity, exact=problem.exact, clock=clock)
    attempt = Attempt(problem, clock, combinations=choice.combinations)
    # A step with a hole is served by whatever filling suits the operators of the others.
    for place, pointed in sorted(choice.wirings.items(), key=lambda item: HOLE in item[1]):
        wiring = next(filled(problem, place, pointed))
        step = problem.asked(place, wiring)
        fit = attempt.operators.first_fit(step)
        if fit is not None or not attempt.serve(place):
            attempt.give(place, wiring, fit, step)
    return attempt.served(), choice.combinations


def _declared(problem: Problem, scales: Sequence[int], clock: Clock) -> Served:
    """The reference circuit; slots that it does not have repeat its last."""
    attempt = Attempt(problem, clock)
    reference = problem.task.reference
    assert reference is not None
    numbers: dict[str, int] = {}
    for scale in scales:
        for position, (name, arguments) in zip(problem.traces[scale].steps, reference.steps(scale), strict=True):
            place = scale, position
            wiring = (*arguments, *[arguments[-1]] * (problem.arity - len(arguments)))
            numbers[name] = attempt.give(place, wiring, numbers.get(name), problem.asked(place, wiring))
    return attempt.served()
