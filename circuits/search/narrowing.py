"""The stage of the search in which bounds are narrowed until they meet.

A lower bound rests on some steps, all their wirings considered: at first those at which a circuit's operators are met
for the first time. Where it is below the upper bound, the operators that serve these steps are tried on all others;
the first step that they cannot serve joins those of the lower bound, and again.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from circuits.clock import Clock
from circuits.modes import as_array
from circuits.partition import Partition, fewest_operators, minimal_tables
from circuits.search.candidates import Candidates
from circuits.search.problem import Problem
from circuits.search.serving import Attempt, Served
from circuits.templates import Combination, Place
from circuits.wirings import Alternatives, Table


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Steps that a lower bound rests on.

    Attributes:
        wirings: step -> all its wirings, as far as possible; in the order in which steps were admitted.
        tables: step -> its minimal tables.
        kernel: how many of the steps were left when equal and served ones were dropped.
    """

    wirings: Mapping[Place, Alternatives] = field(default_factory=dict)
    tables: Mapping[Place, frozenset[Table]] = field(default_factory=dict)
    kernel: int = 0


@dataclass(frozen=True, kw_only=True)
class Narrowed:
    """Bounds as far as they are known.

    Attributes:
        bounds: scale -> (lower, upper).
        fewer: a circuit of fewer operators than any candidate has, up to the scale that was looked at last.
    """

    bounds: Mapping[int, tuple[int, int]]
    evidence: Evidence = field(default_factory=Evidence)
    fewer: Served | None = None


Narrowing = Generator[Narrowed, None, Narrowed]
"""Gives all that is known each time more is: whatever ends the computation, the last of these stands."""


def narrowed(problem: Problem, candidates: Candidates, clock: Clock) -> Narrowing:
    """Bounds at every scale of the candidates.

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
    """Bounds at one scale that meet, or are as near as possible, once those of all scales before it are known."""
    for place in places:
        now = replace(now, evidence=admitted(now.evidence, place, problem, clock))
        yield now
    found = fewest(now.evidence, problem, clock)
    now = _at_least(_with_kernel(now, found), scale, found.lower)
    yield now
    if now.fewer:
        served = extended(now.fewer, [scale], now.evidence, problem, candidates.combinations, clock)
        now = replace(now, fewer=served if isinstance(served, Served) else None)
        yield now
    lower, fewer = now.bounds[scale][0], now.fewer
    best = len(fewer.operators) if fewer else len(places)
    while lower < best:
        found = fewest(now.evidence, problem, clock)
        now = _with_kernel(now, found)
        yield now
        lower = max(lower, found.lower)
        if found.upper >= best:  # they meet, or the solver was stopped
            break
        tables = tuple(as_array(table, problem.arity, problem.symbols) for table in found.operators)
        start = Served(operators=tables, wirings={}, serving={})
        scales = [each for each in candidates.scales if each <= scale]
        served = extended(start, scales, now.evidence, problem, candidates.combinations, clock)
        if isinstance(served, Served):
            fewer, best = served, found.upper
        else:
            now = replace(now, evidence=admitted(now.evidence, served, problem, clock))
            yield now
    now = replace(_at_least(now, scale, lower), fewer=fewer)
    if fewer:
        now = replace(now, bounds={**now.bounds, scale: (lower, len(fewer.operators))})
    yield now
    return now


def _at_least(now: Narrowed, scale: int, lower: int) -> Narrowed:
    """The bounds with a lower bound at one scale, which holds at all later ones."""
    lower = max(lower, now.bounds[scale][0])
    return replace(
        now, bounds={each: (lower, high) if each >= scale else (low, high) for each, (low, high) in now.bounds.items()}
    )


def _with_kernel(now: Narrowed, found: Partition) -> Narrowed:
    return replace(now, evidence=replace(now.evidence, kernel=len(found.kernel)))


def admitted(evidence: Evidence, place: Place, problem: Problem, clock: Clock) -> Evidence:
    """The evidence with all wirings of one more step.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    if place in evidence.wirings:
        return evidence
    with clock.phase("wirings"):
        found = problem.alternatives(place, clock)
        tables = minimal_tables(found.wirings, clock)
    return replace(evidence, wirings={**evidence.wirings, place: found}, tables={**evidence.tables, place: tables})


def fewest(evidence: Evidence, problem: Problem, clock: Clock) -> Partition:
    """The fewest operators of the steps. Only steps with all their wirings count for the lower bound.

    Raises:
        SolverError: the solver cannot decide.
    """
    found = fewest_operators(list(evidence.tables.values()), problem.symbols, clock)
    lower = found.lower
    if not all(one.complete for one in evidence.wirings.values()):
        sure = [evidence.tables[place] for place, one in evidence.wirings.items() if one.complete]
        lower = fewest_operators(sure, problem.symbols, clock).lower if sure else 1
    return replace(found, lower=max(1, lower))


def extended(
    start: Served,
    scales: Iterable[int],
    evidence: Evidence,
    problem: Problem,
    combinations: Sequence[Combination],
    clock: Clock,
) -> Served | Place:
    """All steps of some scales, served by operators that are extended as steps are met; or the first unserved one.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    with clock.phase("wirings"):
        attempt = Attempt(problem, clock, start=start, combinations=combinations, known=evidence.wirings)
        unserved = next((place for place in problem.places(scales) if not attempt.serve(place)), None)
    return unserved or attempt.served()
