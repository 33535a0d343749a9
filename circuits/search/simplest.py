"""Last stage of the search: the circuit of a `Served`, with as few templates as possible."""

import itertools
from collections.abc import Mapping, Sequence

from circuits.circuit import Circuit, Wiring
from circuits.operators import Operators, missing
from circuits.search.problem import Problem
from circuits.search.serving import Served
from circuits.templates import HOLE, Combination, Place, combinations_for, is_wiring, located_wiring, pace_of


def circuit_of(
    served: Served, scales: Sequence[int], problem: Problem, combinations: Sequence[Combination]
) -> tuple[Circuit, tuple[Combination, ...]]:
    """Return the circuit of some scales, all of whose steps are served, and the template combinations of its wiring.

    Operators are in order of their first use, with only the entries in use. In mode "declared" there are no templates.
    """
    used = Operators(problem.symbols)
    numbers: dict[int, int] = {}
    wirings: dict[int, list[Wiring]] = {scale: [] for scale in scales}
    for place in problem.places(scales):
        wiring = _simplest(place, served, problem, combinations)
        step = problem.step_entries(place, wiring)
        serving = next(i for i, table in enumerate(served.operators) if missing(table, step, problem.symbols) == 0)
        numbers[serving] = used.give(numbers.get(serving), step)
        wirings[place[0]].append(Wiring(position=place[1], arguments=wiring, operator=numbers[serving]))
    circuit = Circuit(
        task=problem.task,
        arity=problem.arity,
        wirings={scale: tuple(steps) for scale, steps in wirings.items()},
        operators=tuple(used.tables),
    )
    return circuit, () if problem.mode == "declared" else _combinations_in_use(circuit.wirings, problem, combinations)


def _simplest(place: Place, served: Served, problem: Problem, combinations: Sequence[Combination]) -> tuple[int, ...]:
    """Return the simplest wiring of a step.

    This is the first wiring given by templates through which the operators serve the step; else its present wiring.
    """
    trace, position = problem.traces[place[0]], place[1]
    for combination in combinations:
        for order in itertools.permutations(combination):
            located = located_wiring(order, trace, position)
            if HOLE in located and _agree(served.wirings[place], located):
                return served.wirings[place]  # its filling was chosen to suit the operators
            if HOLE not in located and is_wiring(located, trace, position, problem.arity, exact=problem.exact):
                step = problem.step_entries(place, located)
                if any(missing(table, step, problem.symbols) == 0 for table in served.operators):
                    return located
    return served.wirings[place]


def _combinations_in_use(
    wirings: Mapping[int, Sequence[Wiring]], problem: Problem, combinations: Sequence[Combination]
) -> tuple[Combination, ...]:
    """Return template combinations that give every wiring: the known ones if they do, with the slots in any order."""
    known_orders = [order for each in combinations for order in itertools.permutations(each)]
    used: dict[Combination, None] = {}
    # The largest scale comes first: there the fewest templates give the same position.
    for scale in sorted(wirings, reverse=True):
        trace = problem.traces[scale]
        for step in wirings[scale]:
            match = next(
                (
                    each
                    for each in (*used, *known_orders)
                    if _agree(step.arguments, located_wiring(each, trace, step.position))
                ),
                None,
            )
            if match is None:
                pace = pace_of(problem.traces[max(wirings)])
                match = next(iter(combinations_for(step.arguments, step.position, trace.segments, pace)))
            used[match] = None
    return tuple(used)


def _agree(wiring: tuple[int, ...], located: tuple[int, ...]) -> bool:
    """True if a wiring has the positions that templates give, holes filled in any way."""
    return len(wiring) == len(located) and all(p in (HOLE, w) for p, w in zip(located, wiring, strict=True))
