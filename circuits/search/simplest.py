"""The last stage of the search: the circuit of a `Served`, through as few templates as may be."""

import itertools
from collections.abc import Mapping, Sequence

from circuits.circuit import Circuit, Wiring
from circuits.operators import Operators, missing
from circuits.search.problem import Problem
from circuits.search.serving import Served
from circuits.templates import HOLE, Combination, Place, combinations_for, is_wiring, pace_of, pointed_at


def circuit_of(
    served: Served, scales: Sequence[int], problem: Problem, combinations: Sequence[Combination]
) -> tuple[Circuit, tuple[Combination, ...]]:
    """The circuit of some scales, all of whose steps are served, and the template combinations of its wiring.

    Operators are in order of their first use, with the entries in use only. In mode "declared" there are no templates.
    """
    used = Operators(problem.symbols)
    numbers: dict[int, int] = {}
    wirings: dict[int, list[Wiring]] = {scale: [] for scale in scales}
    for place in problem.places(scales):
        wiring = _simplest(place, served, problem, combinations)
        step = problem.asked(place, wiring)
        serving = next(i for i, table in enumerate(served.operators) if missing(table, step, problem.symbols) == 0)
        numbers[serving] = used.give(numbers.get(serving), step)
        wirings[place[0]].append(Wiring(position=place[1], arguments=wiring, operator=numbers[serving]))
    circuit = Circuit(
        task=problem.task,
        arity=problem.arity,
        wirings={scale: tuple(steps) for scale, steps in wirings.items()},
        operators=tuple(used.tables),
    )
    return circuit, () if problem.mode == "declared" else _pointing(circuit.wirings, problem, combinations)


def _simplest(place: Place, served: Served, problem: Problem, combinations: Sequence[Combination]) -> tuple[int, ...]:
    """The first wiring that templates point to through which the operators serve the step; else the one there is."""
    one, position = problem.traces[place[0]], place[1]
    for combination in combinations:
        for order in itertools.permutations(combination):
            pointed = pointed_at(order, one, position)
            if HOLE in pointed and _agree(served.wirings[place], pointed):
                return served.wirings[place]  # whose filling was chosen to suit the operators
            if HOLE not in pointed and is_wiring(pointed, one, position, problem.arity, exact=problem.exact):
                step = problem.asked(place, pointed)
                if any(missing(table, step, problem.symbols) == 0 for table in served.operators):
                    return pointed
    return served.wirings[place]


def _pointing(
    wirings: Mapping[int, Sequence[Wiring]], problem: Problem, combinations: Sequence[Combination]
) -> tuple[Combination, ...]:
    """Template combinations that point to every wiring: those known where they do, with the slots in any order."""
    known = [order for each in combinations for order in itertools.permutations(each)]
    used: dict[Combination, None] = {}
    # From the largest scale down: there fewest templates point alike.
    for scale in sorted(wirings, reverse=True):
        one = problem.traces[scale]
        for step in wirings[scale]:
            found = next(
                (each for each in (*used, *known) if _agree(step.arguments, pointed_at(each, one, step.position))),
                None,
            )
            if found is None:
                pace = pace_of(problem.traces[max(wirings)])
                found = next(iter(combinations_for(step.arguments, step.position, one.segments, pace)))
            used[found] = None
    return tuple(used)


def _agree(wiring: tuple[int, ...], pointed: tuple[int, ...]) -> bool:
    """Whether a wiring is where templates point, holes filled in any way."""
    return len(wiring) == len(pointed) and all(p in (HOLE, w) for p, w in zip(pointed, wiring, strict=True))
