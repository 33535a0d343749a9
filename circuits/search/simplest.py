"""Last stage of the search: the circuit of a `Served`, with as few templates as possible."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.serving import Served
from lengthgen.circuits.search.templates import (
    HOLE,
    Combination,
    Place,
    combinations_for,
    is_wiring,
    located_wiring,
    pace_of,
)
from lengthgen.circuits.tables import Operators


def circuit_of(
    served: Served, scales: Sequence[int], problem: Problem, combinations: Sequence[Combination]
) -> tuple[Circuit, tuple[Combination, ...]]:
    """Return the circuit of some scales, all of whose steps are served, and the template combinations of its wiring.

    Operators are in order of their first use, with only the entries in use. In mode "declared" there are no templates.
    Where an operator serves a step with its arguments in another order too, the query's own token keeps the slot that
    it has at the first step of this operator: a Transformer reads that token without attention, and does not follow
    labels that move it ([F], docs/theory/circuits.md).
    """
    used = Operators(problem.symbols)
    numbers: dict[int, int] = {}
    own_slots: dict[int, int] = {}
    wirings: dict[int, list[Wiring]] = {scale: [] for scale in scales}
    for place in problem.places(scales):
        wiring, serving = _simplest(place, served, problem, combinations, own_slots)
        if place[1] - 1 in wiring:
            own_slots.setdefault(serving, wiring.index(place[1] - 1))
        numbers[serving] = used.give(numbers.get(serving), problem.step_entries(place, wiring))
        wirings[place[0]].append(Wiring(position=place[1], arguments=wiring, operator=numbers[serving]))
    circuit = Circuit(
        task=problem.task,
        arity=problem.arity,
        wirings={scale: tuple(steps) for scale, steps in wirings.items()},
        operators=tuple(used.tables),
    )
    return circuit, () if problem.mode == "declared" else _combinations_in_use(circuit.wirings, problem, combinations)


def _simplest(
    place: Place, served: Served, problem: Problem, combinations: Sequence[Combination], own_slots: Mapping[int, int]
) -> tuple[tuple[int, ...], int]:
    """Return the simplest wiring of a step, and the index of the operator that serves it.

    This is the first wiring given by templates through which the operators serve the step; else its present wiring. Of
    the orders of one combination, the first that leaves the query's own token in its slot comes before others.
    `own_slots` has the slot of the query's own token at earlier steps of each operator.
    """
    query = place[1] - 1
    for combination in combinations:
        first = None
        for wiring in _located(place, served, problem, combination):
            serving = _serving(place, wiring, served, problem)
            if serving is None:
                continue
            if query not in wiring or own_slots.get(serving) in (None, wiring.index(query)):
                return wiring, serving
            first = first or (wiring, serving)
        if first:
            return first
    present = served.wirings[place]
    serving = _serving(place, present, served, problem)
    assert serving is not None
    return present, serving


def _located(place: Place, served: Served, problem: Problem, combination: Combination) -> Iterator[tuple[int, ...]]:
    """Yield the wirings of a step that templates give, slots in any order."""
    trace, position = problem.traces[place[0]], place[1]
    located, present = located_wiring(combination, trace, position), served.wirings[place]
    if HOLE in located:
        if any(_agree(present, order) for order in itertools.permutations(located)):
            yield present  # its filling was chosen to suit the operators
    elif is_wiring(located, trace, position, problem.arity, exact=problem.exact):
        yield from dict.fromkeys(itertools.permutations(located))


def _serving(place: Place, wiring: tuple[int, ...], served: Served, problem: Problem) -> int | None:
    """Return the index of the first operator that serves a step through a wiring; None if none does."""
    step = problem.step_entries(place, wiring)
    return next((i for i in range(len(served.operators.tables)) if served.operators.missing(i, step) == 0), None)


def _combinations_in_use(
    wirings: Mapping[int, Sequence[Wiring]], problem: Problem, combinations: Sequence[Combination]
) -> tuple[Combination, ...]:
    """Return template combinations that give every wiring: the known ones if they do, with the slots in any order."""
    used: dict[Combination, None] = {}
    # The largest scale comes first: there the fewest templates give the same position.
    for scale in sorted(wirings, reverse=True):
        trace = problem.traces[scale]
        for step in wirings[scale]:
            located = {each: located_wiring(each, trace, step.position) for each in (*used, *combinations)}
            match = next((each for each in used if _agree(step.arguments, located[each])), None) or next(
                (order for each in combinations for order in _orders_giving(step.arguments, each, located[each])), None
            )
            if match is None:
                pace = pace_of(problem.traces[max(wirings)])
                match = next(iter(combinations_for(step.arguments, step.position, trace.segments, pace)))
            used[match] = None
    return tuple(used)


def _orders_giving(
    wiring: tuple[int, ...], combination: Combination, located: tuple[int, ...]
) -> Iterator[Combination]:
    """Yield the orders of templates, which give these positions, that give a wiring; holes may be filled in any way."""
    if Counter(place for place in located if place != HOLE) <= Counter(wiring):
        for order in itertools.permutations(range(len(combination))):
            if _agree(wiring, tuple([located[slot] for slot in order])):
                yield tuple([combination[slot] for slot in order])


def _agree(wiring: tuple[int, ...], located: tuple[int, ...]) -> bool:
    """True if a wiring has the positions that templates give, holes filled in any way."""
    return len(wiring) == len(located) and all(p in (HOLE, w) for p, w in zip(located, wiring, strict=True))
