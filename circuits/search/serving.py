"""Steps served by operators: which operator computes each step, and through which wiring."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuits.clock import LOOK, Clock
from circuits.operators import Asked, Operators
from circuits.search.problem import Problem
from circuits.templates import HOLE, Combination, Place, is_wiring, pointed_at
from circuits.wirings import Alternatives, constants, look_steps, plain_wirings

MAX_FILLED = 64
"""Ways looked at to fill slots whose templates point nowhere."""
MAX_TRIED = 2_000
"""Other wirings of a step looked at before it counts as one that the operators cannot serve."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """Operators and the steps that they serve.

    Attributes:
        operators: partial tables, uint8 [symbols ** slots] each.
        wirings: step -> the wiring through which it is served.
        serving: step -> the index of its operator.
    """

    operators: tuple[NDArray[np.uint8], ...]
    wirings: Mapping[Place, tuple[int, ...]]
    serving: Mapping[Place, int]

    def openers(self) -> tuple[Place, ...]:
        """The first step of each operator, ascending."""
        first: dict[int, Place] = {}
        for place, operator in sorted(self.serving.items()):
            first.setdefault(operator, place)
        return tuple(sorted(first.values()))


class Attempt:
    """A `Served` in the making: it serves one step after the other."""

    def __init__(
        self,
        problem: Problem,
        clock: Clock,
        *,
        start: Served | None = None,
        combinations: Sequence[Combination] = (),
        known: Mapping[Place, Alternatives] | None = None,
    ) -> None:
        """Begins with what is served already, of which nothing is changed, or with nothing.

        Args:
            problem: whose steps these are.
            clock: of the computation that asks.
            start: operators and steps to begin with.
            combinations: templates, which point to the wirings that are tried first.
            known: every wiring of some steps.
        """
        self._problem = problem
        self._clock = clock
        self._combinations = combinations
        self._known = known or {}
        self.operators = Operators(problem.symbols, start.operators if start else ())
        self._wirings = dict(start.wirings) if start else {}
        self._serving = dict(start.serving) if start else {}

    def served(self) -> Served:
        """The operators and the steps served so far."""
        return Served(operators=tuple(self.operators.tables), wirings=self._wirings, serving=self._serving)

    def give(self, place: Place, wiring: tuple[int, ...], operator: int | None, step: Asked) -> int:
        """Has a step served by an operator, or by a new one; returns which it is."""
        self._wirings[place] = wiring
        self._serving[place] = self.operators.give(operator, step)
        return self._serving[place]

    def serve(self, place: Place) -> bool:
        """Has a step served by some operator there is, extended by as few entries as need be, if any can serve it.

        Raises:
            OutOfTime: the clock's limit has passed.
        """
        count = len(self.operators.tables)
        cost = look_steps(self._problem.traces[place[0]], self._problem.arity) + LOOK * count
        for wirings in self._wirings_to_try(place) if count else ():
            best: tuple[int, int, tuple[int, ...], Asked] | None = None
            for wiring in wirings:
                self._clock.check(cost)
                step = self._problem.asked(place, wiring)
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

    def _wirings_to_try(self, place: Place) -> Iterator[Iterable[tuple[int, ...]]]:
        """Wirings of a step, the simplest first: where the templates point, then with slots in any order, then others.

        A slot whose template points nowhere may read any constant token instead.
        """
        problem = self._problem
        one, position = problem.traces[place[0]], place[1]
        pointed: dict[tuple[int, ...], None] = {}
        if problem.mode != "declared":
            for combination in self._combinations:
                found = pointed_at(combination, one, position)
                if is_wiring(found, one, position, problem.arity, exact=problem.exact):
                    pointed |= dict.fromkeys(itertools.islice(filled(problem, place, found), MAX_FILLED))
            yield pointed
            yield (order for wiring in pointed for order in itertools.permutations(wiring) if order != wiring)
        if place in self._known or problem.mode != "free":
            known = self._known.get(place) or problem.alternatives(place, self._clock)
            yield itertools.chain.from_iterable(known.wirings.values())
        else:
            yield itertools.islice(plain_wirings(one, position, problem.arity, self._clock), MAX_TRIED)


def filled(problem: Problem, place: Place, pointed: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Wirings without holes: constant tokens fill them, or where there are none other arguments."""
    one, position = problem.traces[place[0]], place[1]
    fillers = constants(one, position) or [p for p in pointed if p != HOLE] or [1]
    return itertools.product(*(fillers if p == HOLE else [p] for p in pointed))
