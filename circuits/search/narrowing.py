"""Stage of the search that narrows the bounds until they meet.

A lower bound rests on some steps, with all their wirings: at first the steps at which a circuit's operators are used
for the first time. While it is below the upper bound, the operators that serve these steps are tried on all others;
the first step that they cannot serve joins the steps of the lower bound, and the stage repeats.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search.candidates import Candidates
from lengthgen.circuits.search.partition import Partition, fewest_operators, minimal_tables
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.serving import Attempt, Served
from lengthgen.circuits.search.templates import Combination, Place
from lengthgen.circuits.search.wirings import Alternatives, as_array
from lengthgen.circuits.tables import Table


@dataclass(frozen=True, kw_only=True)
class BoundSteps:
    """Steps that a lower bound rests on.

    Attributes:
        wirings: step -> all its wirings, as far as possible; in the order in which steps were admitted.
        tables: step -> its minimal tables.
        kernel: number of the steps without equal steps and steps served by solutions of others.
    """

    wirings: Mapping[Place, Alternatives] = field(default_factory=dict)
    tables: Mapping[Place, frozenset[Table]] = field(default_factory=dict)
    kernel: int = 0


@dataclass(frozen=True, kw_only=True)
class Narrowed:
    """Bounds as far as they are known.

    Attributes:
        bounds: scale -> (lower, upper).
        bound_steps: steps that the lower bounds rest on.
        fewer: circuit with fewer operators than any candidate, up to the scale that was searched last; None if none is
            known.
    """

    bounds: Mapping[int, tuple[int, int]]
    bound_steps: BoundSteps = field(default_factory=BoundSteps)
    fewer: Served | None = None


Narrowing = Generator[Narrowed, None, Narrowed]
"""Generator of all that is known so far: whenever the computation ends, the last of these results is valid."""


def narrowed(problem: Problem, candidates: Candidates, clock: Clock) -> Narrowing:
    """Yield bounds at every scale of the candidates.

    Raises:
        OutOfTime: the clock's limit has passed.
        SolverError: the solver cannot decide.
    """
    openers = candidates.openers()
    now = Narrowed(bounds={scale: (1, len(places)) for scale, places in openers.items()})
    yield now
    for scale, places in openers.items():
        if now.bounds[scale][0] == len(places):
            now = replace(now, fewer=None)
            yield now
        else:
            now = yield from _at_scale(now, scale, places, problem, candidates, clock)
    return now


def _at_scale(
    now: Narrowed, scale: int, places: Sequence[Place], problem: Problem, candidates: Candidates, clock: Clock
) -> Narrowing:
    """Yield bounds at one scale until they meet or cannot be improved, given those of all smaller scales."""
    for place in places:
        now = replace(now, bound_steps=admitted(now.bound_steps, place, problem, clock))
        yield now
    partition = fewest(now.bound_steps, problem, clock)
    now = _at_least(_with_kernel(now, partition), scale, partition.lower)
    yield now
    if now.fewer:
        served = extended(now.fewer, [scale], now.bound_steps, problem, candidates.combinations, clock)
        now = replace(now, fewer=served if isinstance(served, Served) else None)
        yield now
    lower, fewer = now.bounds[scale][0], now.fewer
    best = len(fewer.operators) if fewer else len(places)
    while lower < best:
        partition = fewest(now.bound_steps, problem, clock)
        now = _with_kernel(now, partition)
        yield now
        lower = max(lower, partition.lower)
        if partition.upper >= best:  # the bounds meet, or the solver was stopped
            break
        tables = tuple(as_array(table, problem.arity, problem.symbols) for table in partition.operators)
        start = Served(operators=tables, wirings={}, serving={})
        scales = [each for each in candidates.scales if each <= scale]
        served = extended(start, scales, now.bound_steps, problem, candidates.combinations, clock)
        if isinstance(served, Served):
            fewer, best = served, partition.upper
        else:
            now = replace(now, bound_steps=admitted(now.bound_steps, served, problem, clock))
            yield now
    now = replace(_at_least(now, scale, lower), fewer=fewer)
    if fewer:
        now = replace(now, bounds={**now.bounds, scale: (lower, len(fewer.operators))})
    yield now
    return now


def _at_least(now: Narrowed, scale: int, lower: int) -> Narrowed:
    """Return the bounds with a lower bound raised at one scale and all later ones."""
    lower = max(lower, now.bounds[scale][0])
    return replace(
        now, bounds={each: (lower, high) if each >= scale else (low, high) for each, (low, high) in now.bounds.items()}
    )


def _with_kernel(now: Narrowed, partition: Partition) -> Narrowed:
    """Return the bounds with the kernel size of a partition."""
    return replace(now, bound_steps=replace(now.bound_steps, kernel=len(partition.kernel)))


def admitted(bound_steps: BoundSteps, place: Place, problem: Problem, clock: Clock) -> BoundSteps:
    """Return the steps of the lower bound, joined by one more step with all its wirings.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    if place in bound_steps.wirings:
        return bound_steps
    with clock.phase("wirings"):
        alternatives = problem.alternatives(place, clock)
        tables = minimal_tables(alternatives.wirings, clock)
    return replace(
        bound_steps, wirings={**bound_steps.wirings, place: alternatives}, tables={**bound_steps.tables, place: tables}
    )


def fewest(bound_steps: BoundSteps, problem: Problem, clock: Clock) -> Partition:
    """Return the fewest operators of the steps. Only steps with all their wirings count for the lower bound.

    Raises:
        SolverError: the solver cannot decide.
    """
    partition = fewest_operators(list(bound_steps.tables.values()), problem.symbols, clock)
    lower = partition.lower
    if not all(alternatives.complete for alternatives in bound_steps.wirings.values()):
        complete_steps = [
            bound_steps.tables[place] for place, alternatives in bound_steps.wirings.items() if alternatives.complete
        ]
        lower = fewest_operators(complete_steps, problem.symbols, clock).lower if complete_steps else 1
    return replace(partition, lower=max(1, lower))


def extended(
    start: Served,
    scales: Iterable[int],
    bound_steps: BoundSteps,
    problem: Problem,
    combinations: Sequence[Combination],
    clock: Clock,
) -> Served | Place:
    """Serve all steps of some scales by operators that are extended on the way.

    Return them, or the first unserved step.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    with clock.phase("wirings"):
        attempt = Attempt(problem, clock, start=start, combinations=combinations, alternatives=bound_steps.wirings)
        unserved = next((place for place in problem.places(scales) if not attempt.serve(place)), None)
    return unserved or attempt.served()
