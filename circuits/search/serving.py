"""Steps served by operators: the operator that computes each step, and the wiring through which it does."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lengthgen.circuits.clock import LOOK, Clock
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.templates import HOLE, Combination, Place, is_wiring, located_wiring
from lengthgen.circuits.search.wirings import Alternatives, constants, plain_wirings
from lengthgen.circuits.tables import Operators, StepEntries, counted_steps, different_orders

MAX_FILLED = 64
"""Largest number of fillings tried for slots whose templates give no position."""
MAX_TRIED = 2_000
"""Largest number of other wirings of a step, and of orders of one wiring, tried before the operators count as unable
to serve it.
"""


@dataclass(kw_only=True)
class Served:
    """Operators, and the steps that they serve.

    Attributes:
        operators: partial tables, which gain entries while steps are served.
        wirings: step -> the wiring through which it is served.
        serving: step -> the index of its operator.
    """

    operators: Operators
    wirings: dict[Place, tuple[int, ...]] = field(default_factory=dict)
    serving: dict[Place, int] = field(default_factory=dict)

    def copy(self) -> "Served":
        """Return a copy that shares nothing with this one."""
        operators = Operators(self.operators.symbols, self.operators.tables)
        return Served(operators=operators, wirings=dict(self.wirings), serving=dict(self.serving))

    def openers(self) -> tuple[Place, ...]:
        """Return the first step of each operator, ascending."""
        first: dict[int, Place] = {}
        for place, operator in sorted(self.serving.items()):
            first.setdefault(operator, place)
        return tuple(sorted(first.values()))

    def give(self, place: Place, wiring: tuple[int, ...], operator: int | None, step: StepEntries) -> int:
        """Let an operator serve a step, or a new operator if None; return its index."""
        self.wirings[place] = wiring
        self.serving[place] = self.operators.give(operator, step)
        return self.serving[place]

    def serve(
        self,
        place: Place,
        problem: Problem,
        clock: Clock,
        combinations: Sequence[Combination],
        alternatives: Mapping[Place, Alternatives],
    ) -> bool:
        """Serve a step by the existing operator that needs the fewest new entries; return False if none can serve it.

        The wirings that templates give are tried first; `alternatives` has every wiring of some steps.
        """
        count = len(self.operators.tables)
        cost = counted_steps(problem.traces[place[0]], problem.arity) + LOOK * count
        for wirings in _wirings_to_try(place, problem, clock, combinations, alternatives) if count else ():
            best: tuple[int, int, tuple[int, ...], StepEntries] | None = None
            for wiring in wirings:
                clock.check(cost)
                step = problem.step_entries(place, wiring)
                for operator in range(count):
                    missing = self.operators.missing(operator, step)
                    if missing is not None and (best is None or missing < best[0]):
                        best = missing, operator, wiring, step
                if best and best[0] == 0:
                    break
            if best:
                _, operator, wiring, step = best
                self.give(place, wiring, operator, step)
                return True
        return False


def _wirings_to_try(
    place: Place,
    problem: Problem,
    clock: Clock,
    combinations: Sequence[Combination],
    alternatives: Mapping[Place, Alternatives],
) -> Iterator[Iterable[tuple[int, ...]]]:
    """Yield wirings of a step in groups, the simplest first.

    First come the wirings that templates give, then these with slots in any order, then others. A slot whose template
    gives no position may read any constant token instead. Of wirings with the same table, the first does.
    """
    trace, position = problem.traces[place[0]], place[1]
    located: dict[tuple[int, ...], None] = {}
    if problem.mode != "declared":
        for combination in combinations:
            wiring = located_wiring(combination, trace, position)
            if is_wiring(wiring, trace, position, problem.arity, exact=problem.exact):
                located |= dict.fromkeys(itertools.islice(filled(problem, place, wiring), MAX_FILLED))
        yield located
        yield itertools.chain.from_iterable(
            itertools.islice(different_orders(trace, position, wiring), 1, MAX_TRIED) for wiring in located
        )
    if place in alternatives or problem.mode != "free":
        every = alternatives.get(place) or problem.alternatives(place, clock)
        yield (wirings[0] for wirings in every.wirings.values())
    else:
        yield itertools.islice(plain_wirings(trace, position, problem.arity, clock), MAX_TRIED)


def filled(problem: Problem, place: Place, located: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Return wirings without holes: constant tokens fill the holes, or other arguments if no token is constant."""
    trace, position = problem.traces[place[0]], place[1]
    fillers = constants(trace, position) or [p for p in located if p != HOLE] or [1]
    return itertools.product(*(fillers if p == HOLE else [p] for p in located))
