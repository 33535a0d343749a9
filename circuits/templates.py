"""The simplest circuit among those with the fewest operators.

Minimum circuits are not unique: an argument may be read at any position that holds the same token. A template says
where an argument is found relative to the step, at every scale at once; of all wirings those are taken that need the
fewest templates, then the smallest offsets ([F], the tie-breaking rule of docs/theory.md).
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from circuits.clock import Clock
from circuits.trace import Segment, Trace
from circuits.wirings import determines, determining_sets

KINDS = ("along", "start", "end", "against", "query")
"""Origins from which templates count; the order breaks ties.

along: the segment's position with the number of the step; start, end: a fixed place in the segment; against: as
along, from the segment's end; query: back from the query, the position before the step."""

MAX_COMBINATIONS = 250
"""Template combinations looked at for one wiring; from arity 3 on each slot offers its simplest templates only."""
HOLE = 0
"""Stands for a position in a slot that is open."""
MAX_PACE = 4
"""Steps of a group."""
MAX_JUDGES = 256
"""About as many steps decide which combination serves most."""
_JUDGED = 2_000
"""Counted for each of them, whether it is looked at or not: the order of combinations must not matter."""


class Template(NamedTuple):
    """One way to find an argument.

    Attributes:
        kind: one of KINDS.
        segment: index in the prompt; -1 for kind query.
        offset: in positions.
        pace: steps by which kinds along and against move on by one position: where outputs come in groups, as digit
            and carry, a whole group reads one place of an operand.
    """

    kind: str
    segment: int
    offset: int
    pace: int = 1

    def cost(self) -> tuple[int, int, int, int]:
        """Smaller is simpler."""
        return abs(self.offset), self.pace, KINDS.index(self.kind), self.segment

    def locate(self, position: int, segments: tuple[Segment, ...]) -> int:
        """The argument's position for the step at `position`; 0 or another place outside where there is none."""
        if self.segment >= len(segments):
            return 0
        number = position - segments[-1].last - 1
        match self.kind:
            case "query":
                return position - 1 - self.offset
            case "along":
                return segments[self.segment].first + number // self.pace + self.offset
            case "start":
                return segments[self.segment].first + self.offset
            case "end":
                return segments[self.segment].last - self.offset
            case _:
                return segments[self.segment].last - number // self.pace - self.offset


Combination = tuple[Template, ...]
"""A template for each slot."""


Place = tuple[int, int]
"""A step: its scale and its position."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The wiring chosen for each step, maybe with holes, and the template combinations that were needed."""

    wirings: Mapping[Place, tuple[int, ...]]
    combinations: tuple[Combination, ...]


def choose_wirings(traces: Sequence[Trace], arity: int, *, exact: bool, clock: Clock) -> Choice:
    """One wiring for each step, from as few template combinations as a greedy cover finds.

    The hardest step, which needs most positions and has fewest ways to choose them, and among equals is of the largest
    scale, where fewest templates point alike, must be served by one of its own combinations: of these the one that
    serves most other steps is taken, the simplest among equals; and again, until all are served.

    A template may point to no earlier position of a step: then that slot is open (HOLE), and whatever fills it is in
    vain there.

    Args:
        traces: one of each scale; every step is determined by some `arity` positions.
        arity: slots of every wiring.
        exact: whether a wiring has as many slots as the step needs, instead of `arity`.
        clock: of the computation that asks.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    trace_of = {one.scale: one for one in traces}
    sets = {
        (one.scale, position): determining_sets(one, position, arity, clock).found
        for one in traces
        for position in one.steps
    }
    hardest_first = sorted(sets, key=lambda place: (-min(map(len, sets[place])), len(sets[place]), -place[0], place[1]))
    open_places = dict.fromkeys(hardest_first)
    chosen: dict[Place, tuple[int, ...]] = {}
    combinations: list[Combination] = []
    pace = pace_of(traces[-1]) if traces else 1

    def wiring_at(combination: Combination, place: Place) -> tuple[int, ...] | None:
        one, position = trace_of[place[0]], place[1]
        wiring = pointed_at(combination, one, position)
        return wiring if is_wiring(wiring, one, position, arity, exact=exact) else None

    while open_places:
        hardest = next(iter(open_places))
        judges = list(open_places)[:: max(1, len(open_places) // MAX_JUDGES)]
        best: tuple[Any, ...] = (len(judges),)
        for combination in _candidates(hardest, sets[hardest], trace_of[hardest[0]].segments, arity, exact, pace):
            clock.check(_JUDGED * len(judges))
            unserved = 0
            for place in judges:
                unserved += wiring_at(combination, place) is None
                if unserved > best[0]:
                    break
            else:
                costs = [template.cost() for template in combination]
                best = min(best, (unserved, sum(cost[0] for cost in costs), costs, combination))
        *_, combination = best  # the hardest, itself a judge, is served by every candidate
        combinations.append(combination)
        for place in sorted(open_places):
            wiring = wiring_at(combination, place)
            if wiring is not None:
                chosen[place] = wiring
                del open_places[place]
    return Choice(wirings=chosen, combinations=tuple(combinations))


def pointed_at(combination: Combination, one: Trace, position: int) -> tuple[int, ...]:
    """Positions to which templates point at a step; HOLE where that is no earlier position."""
    located = (template.locate(position, one.segments) for template in combination)
    return tuple(place if 0 < place < position else HOLE for place in located)


def is_wiring(wiring: tuple[int, ...], one: Trace, position: int, arity: int, *, exact: bool) -> bool:
    """Whether these earlier positions determine the step, whatever fills holes; with `exact`, none of them in vain."""
    positions = frozenset(wiring) - {HOLE}
    sets, complete = determining_sets(one, position, arity)
    if exact:
        return len(wiring) == len(positions) and positions in sets
    if any(each <= positions for each in sets):
        return True
    return not complete and determines(one, position, sorted(positions))


def _candidates(
    place: Place, sets: Sequence[frozenset[int]], segments: tuple[Segment, ...], arity: int, exact: bool, pace: int
) -> Iterable[Combination]:
    """Template combinations that serve one step, slots in order of cost. Slots to spare repeat what is needed."""
    found = set()
    for one in sets:
        spare = 0 if exact else arity - len(one)
        # Where nothing is needed anything will do, such as the query itself.
        for fill in itertools.combinations_with_replacement(sorted(one) or [place[1] - 1], spare):
            for combination in combinations_for((*sorted(one), *fill), place[1], segments, pace):
                found.add(tuple(sorted(combination, key=Template.cost)))
    return found


def combinations_for(
    wiring: tuple[int, ...], position: int, segments: tuple[Segment, ...], pace: int = 1
) -> Iterable[Combination]:
    """Template combinations that find this wiring at this step, made of the simplest templates of each slot."""
    offered = int(MAX_COMBINATIONS ** (1 / max(1, len(wiring))))
    slots = [sorted(_templates(argument, position, segments, pace), key=Template.cost)[:offered] for argument in wiring]
    return itertools.product(*slots)


def _templates(argument: int, position: int, segments: tuple[Segment, ...], pace: int) -> list[Template]:
    """Every template that finds this argument at this step: what `locate` gives, solved for the offset."""
    number = position - segments[-1].last - 1
    found = [Template("query", -1, position - 1 - argument)]
    for index, segment in enumerate(segments):
        found.append(Template("start", index, argument - segment.first))
        if segment.operand:  # between operands the width is fixed: counting from the end says nothing new
            found.append(Template("end", index, segment.last - argument))
        for steps in {1, pace}:
            found.append(Template("along", index, argument - segment.first - number // steps, steps))
            if segment.operand:
                found.append(Template("against", index, segment.last - number // steps - argument, steps))
    return found


def pace_of(one: Trace) -> int:
    """Number of steps that a task takes for a place of its widest operand, if at most MAX_PACE; else 1."""
    widest = max((segment.width for segment in one.segments if segment.operand), default=len(one.steps))
    pace = max(1, len(one.steps) // widest)
    return pace if pace <= MAX_PACE else 1
