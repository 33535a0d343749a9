"""Choice of the simplest circuit among those with the fewest operators.

Minimum circuits are not unique: an argument may be read at any position that holds the same token. A template gives
the position of an argument relative to the step, for every scale at once. Among all wirings, those that need the
fewest templates are taken, then those with the smallest offsets ([F], the tie-breaking rule of
docs/theory/circuits.md).
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.determining import determines, determining_sets, known_sets
from lengthgen.circuits.tables import counted_steps
from lengthgen.circuits.task import Segment
from lengthgen.circuits.trace import Trace

KINDS = ("along", "start", "end", "against", "query")
"""Origins from which templates count; the order breaks ties.

along: the position of the segment that moves on with the number of the step; start, end: a fixed place in the segment;
against: as along, but from the segment's end; query: backwards from the query, the position before the step.
"""

MAX_COMBINATIONS = 250
"""Largest number of template combinations tried for one wiring; from arity 3 on, each slot offers its simplest only."""
HOLE = 0
"""Marks an open slot in place of a position."""
MAX_PACE = 4
"""Largest number of steps in a group."""
MAX_JUDGES = 256
"""Approximate number of steps that decide which combination serves most."""
MAX_GUESSES = 6
"""Largest number of template combinations that are tried on a step."""
_JUDGED = 2_000
"""Steps counted for each such step, tried or not: the order of combinations must not matter."""


class Template(NamedTuple):
    """Rule that gives the position of an argument.

    Attributes:
        kind: one of KINDS.
        segment: index of the segment in the prompt; -1 for kind query.
        offset: offset in positions.
        pace: number of steps by which kinds along and against move on by one position. If outputs come in groups, such
            as digit and carry, a group of steps reads one place of an operand.
    """

    kind: str
    segment: int
    offset: int
    pace: int = 1

    def cost(self) -> tuple[int, int, int, int]:
        """Return the sort key of simplicity; smaller is simpler."""
        return abs(self.offset), self.pace, KINDS.index(self.kind), self.segment

    def locate(self, position: int, segments: tuple[Segment, ...]) -> int:
        """Return the argument's position for the step at `position`; 0 or another position outside if there is none."""
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
"""One template for each slot."""


Place = tuple[int, int]
"""One step: its scale and its position."""


def choose_wirings(
    traces: Sequence[Trace], arity: int, *, exact: bool, clock: Clock
) -> tuple[dict[Place, tuple[int, ...]], tuple[Combination, ...]]:
    """Return one wiring for each step, and the few template combinations that give them, as a greedy cover finds them.

    The hardest step must be served by one of its own combinations. It needs most positions and has fewest ways to
    choose them; ties go to the largest scale, where fewest templates give the same position. Among its combinations the
    one that serves most other steps is taken, the simplest one on ties. This repeats until all steps are served.

    A template may give no earlier position for a step. Then the slot is open (HOLE), and its content does not matter.
    With `exact`, a wiring has exactly as many slots as the step needs, instead of `arity`.
    """
    trace_of = {trace.scale: trace for trace in traces}
    open_places = dict.fromkeys((trace.scale, position) for trace in traces for position in trace.steps)
    chosen: dict[Place, tuple[int, ...]] = {}
    combinations: list[Combination] = []
    pace = pace_of(traces[-1]) if traces else 1

    def sets_of(place: Place) -> tuple[frozenset[int], ...]:
        return determining_sets(trace_of[place[0]], place[1], arity, clock).sets

    def is_wiring_at(wiring: tuple[int, ...], place: Place) -> bool:
        return is_wiring(wiring, trace_of[place[0]], place[1], arity, exact=exact)

    while open_places:
        hardest = _hardest(open_places, arity, sets_of)
        judges = [hardest, *list(open_places)[:: max(1, len(open_places) // MAX_JUDGES)]]
        candidates = _candidates(hardest, sets_of(hardest), trace_of[hardest[0]].segments, arity, exact, pace)
        clock.check(_JUDGED * len(judges) * len(candidates))
        combination = _most_serving(candidates, judges, trace_of, is_wiring_at)
        combinations.append(combination)
        for place in list(open_places):
            clock.check(counted_steps(trace_of[place[0]], arity))
            wiring = located_wiring(combination, trace_of[place[0]], place[1])
            if is_wiring_at(wiring, place):
                chosen[place] = wiring
                del open_places[place]
    return chosen, tuple(combinations)


def _most_serving(
    candidates: Iterable[Combination],
    judges: Sequence[Place],
    trace_of: Mapping[int, Trace],
    is_wiring_at: Callable[[tuple[int, ...], Place], bool],
) -> Combination:
    """Return the combination that leaves fewest judges unserved, the simplest one on ties."""

    @cache
    def located(template: Template) -> tuple[int, ...]:
        return tuple([located_wiring((template,), trace_of[scale], position)[0] for scale, position in judges])

    fewest = len(judges)
    strict = list(range(len(judges)))  # judges that some combination did not serve come first: they decide soonest
    unserved: dict[tuple[tuple[int, ...], ...], int] = {}  # many combinations give the same wirings
    for combination in sorted(candidates, key=_cost):
        by_slot = tuple(map(located, combination))
        if by_slot in unserved:
            continue
        failed: list[int] = []
        for judge in strict:
            if not is_wiring_at(tuple([slot[judge] for slot in by_slot]), judges[judge]):
                failed.append(judge)
                if len(failed) > fewest:
                    break
        strict = list(dict.fromkeys((*reversed(failed), *strict)))
        unserved[by_slot] = len(failed)
        fewest = min(fewest, len(failed))
    return min((each for each in candidates if unserved[tuple(map(located, each))] == fewest), key=_cost)


def _cost(combination: Combination) -> tuple[int, list[tuple[int, int, int, int]], Combination]:
    """Return the sort key of simplicity of a combination; smaller is simpler."""
    costs = [template.cost() for template in combination]
    return sum(cost[0] for cost in costs), costs, combination


def _hardest(places: Iterable[Place], arity: int, sets_of: Callable[[Place], tuple[frozenset[int], ...]]) -> Place:
    """Return the step that needs most positions, then with fewest sets, of the largest scale, the first on ties.

    The sets of few steps are searched: no step is harder than one that needs `arity` positions and has one set.
    """
    hardest: tuple[int, int, int, int] | None = None
    for scale, position in sorted(places, key=lambda place: (-place[0], place[1])):
        if hardest and hardest < (-arity, 1, -scale, position):
            break
        sets = sets_of((scale, position))
        hardness = -min(map(len, sets)), len(sets), -scale, position
        hardest = min(hardest or hardness, hardness)
    assert hardest is not None
    return -hardest[2], hardest[3]


def located_wiring(combination: Combination, trace: Trace, position: int) -> tuple[int, ...]:
    """Return the positions that templates give for a step; HOLE where that is no earlier position."""
    located = [template.locate(position, trace.segments) for template in combination]
    return tuple([place if 0 < place < position else HOLE for place in located])


def is_wiring(wiring: tuple[int, ...], trace: Trace, position: int, arity: int, *, exact: bool) -> bool:
    """True if these earlier positions determine the step, whatever fills holes.

    With `exact`, every position must be needed as well.
    """
    positions = frozenset(wiring) - {HOLE}
    if exact:
        return len(wiring) == len(positions) and positions in determining_sets(trace, position, arity).sets
    searched = known_sets(trace, position, arity)
    if searched and any(needed <= positions for needed in searched.sets):
        return True
    return not (searched and searched.complete) and determines(trace, position, positions)


def _candidates(
    place: Place, sets: Sequence[frozenset[int]], segments: tuple[Segment, ...], arity: int, exact: bool, pace: int
) -> set[Combination]:
    """Return the template combinations that serve one step, slots in order of cost.

    Spare slots repeat needed positions.
    """
    combinations = set()
    for needed in sets:
        spare = 0 if exact else arity - len(needed)
        # If no position is needed, any will do, such as the query itself.
        for fill in itertools.combinations_with_replacement(sorted(needed) or [place[1] - 1], spare):
            for combination in combinations_for((*sorted(needed), *fill), place[1], segments, pace):
                combinations.add(tuple(sorted(combination, key=Template.cost)))
    return combinations


def combinations_for(
    wiring: tuple[int, ...], position: int, segments: tuple[Segment, ...], pace: int = 1
) -> Iterable[Combination]:
    """Return the template combinations that give this wiring at this step, from the simplest templates of each slot."""
    offered = int(MAX_COMBINATIONS ** (1 / max(1, len(wiring))))
    slots = [sorted(_templates(argument, position, segments, pace), key=Template.cost)[:offered] for argument in wiring]
    return itertools.product(*slots)


def _templates(argument: int, position: int, segments: tuple[Segment, ...], pace: int) -> list[Template]:
    """Return every template that gives this argument at this step: `locate` solved for the offset."""
    number = position - segments[-1].last - 1
    templates = [Template("query", -1, position - 1 - argument)]
    for index, segment in enumerate(segments):
        templates.append(Template("start", index, argument - segment.first))
        if segment.operand:  # parts between operands have a fixed width: counting from their end is redundant
            templates.append(Template("end", index, segment.last - argument))
        for steps in {1, pace}:
            templates.append(Template("along", index, argument - segment.first - number // steps, steps))
            if segment.operand:
                templates.append(Template("against", index, segment.last - number // steps - argument, steps))
    return templates


def pace_of(trace: Trace) -> int:
    """Return the number of steps that a task takes for a place of its widest operand, if at most MAX_PACE; else 1."""
    widest = max((segment.width for segment in trace.segments if segment.operand), default=len(trace.steps))
    pace = max(1, len(trace.steps) // widest)
    return pace if pace <= MAX_PACE else 1


class Guesses:
    """Template combinations that determined the steps asked about before, the last successful one first."""

    def __init__(self) -> None:
        self._latest: list[Combination] = []
        self._served: Counter[Combination] = Counter()

    def has_determining_set(self, trace: Trace, position: int, arity: int, clock: Clock | None = None) -> bool:
        """True if some set of at most `arity` earlier positions determines the step, on the inputs of the trace."""
        clock = clock or Clock()
        for combination in self._latest:
            positions = frozenset(located_wiring(combination, trace, position)) - {HOLE}
            clock.check(counted_steps(trace, len(positions)))
            if len(positions) <= arity and determines(trace, position, positions):
                self._put_first(combination)
                return True
        sets = determining_sets(trace, position, arity, clock).sets
        pace = pace_of(trace)
        combinations = {
            tuple(sorted(combination, key=Template.cost))
            for needed in sets
            for combination in combinations_for(tuple(sorted(needed)), position, trace.segments, pace)
        }
        if combinations:
            self._served.update(combinations)
            # Combinations are compared last, so that the choice does not follow Python's order of sets.
            self._put_first(
                min(combinations, key=lambda each: (-self._served[each], [slot.cost() for slot in each], each))
            )
        return bool(sets)

    def _put_first(self, combination: Combination) -> None:
        """Make a combination the first guess; the last one of too many is dropped."""
        self._latest = [combination, *(each for each in self._latest if each != combination)][:MAX_GUESSES]
