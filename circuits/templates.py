"""The simplest circuit among those with the fewest operators.

Minimum circuits are not unique: an argument may be read at any position that holds the same token. A template says
where an argument is found relative to the step, at every scale at once; of all wirings those are taken that need the
fewest templates, then the smallest offsets ([F], the tie-breaking rule of docs/theory.md).
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from circuits.formats import Segment
from circuits.wirings import Alternatives, Table

KINDS = ("along", "start", "end", "against", "query")
"""Where a template counts from; the order breaks ties.

along: the segment's position with the number of the step; start, end: a fixed place in the segment; against: as
along, from the segment's end; query: back from the query, the position before the step."""

MAX_COMBINATIONS = 200
"""Template combinations looked at for one wiring; from arity 3 on each slot offers its simplest templates only."""


class Template(NamedTuple):
    """One way to find an argument: kind, segment (index in the prompt; -1 for kind query) and offset."""

    kind: str
    segment: int
    offset: int

    def cost(self) -> tuple[int, int, int]:
        """Smaller is simpler."""
        return abs(self.offset), KINDS.index(self.kind), self.segment

    def locate(self, position: int, segments: tuple[Segment, ...]) -> int:
        """The argument's position for the step at `position`; 0 or another place outside where there is none."""
        if self.segment >= len(segments):
            return 0
        number = position - segments[-1].last - 1
        match self.kind:
            case "query":
                return position - 1 - self.offset
            case "along":
                return segments[self.segment].first + number + self.offset
            case "start":
                return segments[self.segment].first + self.offset
            case "end":
                return segments[self.segment].last - self.offset
            case _:
                return segments[self.segment].last - number - self.offset


Combination = tuple[Template, ...]
"""A template for each slot."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The wiring chosen for each (scale, position), and the template combinations that were needed."""

    wirings: Mapping[tuple[int, int], tuple[int, ...]]
    combinations: tuple[Combination, ...]


def choose_wirings(
    steps: Sequence[Alternatives], segments: Mapping[int, tuple[Segment, ...]], operators: Sequence[Table] | None
) -> Choice:
    """One wiring for each step, from as few template combinations as a greedy cover finds.

    The step with the fewest wirings left must be served by one of its own combinations: of these the one that serves
    most other steps is taken, the simplest among equals; and again, until all are served.

    Args:
        steps: the alternatives of every step, none empty.
        segments: scale -> the segments of its prompt.
        operators: if given, only wirings whose table one of these contains.
    """
    open_steps = {
        (step.scale, step.position): {
            wiring
            for table, wirings in step.wirings.items()
            if operators is None or any(table & operator == table for operator in operators)
            for wiring in wirings
        }
        for step in steps
    }
    locate = cache(lambda template, scale, position: template.locate(position, segments[scale]))
    chosen: dict[tuple[int, int], tuple[int, ...]] = {}
    combinations: list[Combination] = []

    def served(combination: Combination) -> dict[tuple[int, int], tuple[int, ...]]:
        found = {place: tuple(locate(template, *place) for template in combination) for place in open_steps}
        return {place: wiring for place, wiring in found.items() if wiring in open_steps[place]}

    def rank(combination: Combination) -> tuple[int, int, list[tuple[int, int, int]], Combination]:
        costs = [template.cost() for template in combination]
        return -len(served(combination)), sum(cost[0] for cost in costs), costs, combination

    while open_steps:
        scale, position = min(open_steps, key=lambda place: (len(open_steps[place]), place))
        candidates = {
            combination
            for wiring in open_steps[scale, position]
            for combination in _combinations(wiring, position, segments[scale])
        }
        best = min(candidates, key=rank)
        combinations.append(best)
        for place, wiring in served(best).items():
            chosen[place] = wiring
            del open_steps[place]
    return Choice(wirings=chosen, combinations=tuple(combinations))


def _combinations(wiring: tuple[int, ...], position: int, segments: tuple[Segment, ...]) -> Iterable[Combination]:
    offered = int(MAX_COMBINATIONS ** (1 / len(wiring)))
    slots = [sorted(_templates(argument, position, segments), key=Template.cost)[:offered] for argument in wiring]
    return itertools.product(*slots)


def _templates(argument: int, position: int, segments: tuple[Segment, ...]) -> list[Template]:
    """Every template that finds this argument at this step: what `locate` gives, solved for the offset."""
    number = position - segments[-1].last - 1
    found = [Template("query", -1, position - 1 - argument)]
    for index, segment in enumerate(segments):
        found.append(Template("along", index, argument - segment.first - number))
        found.append(Template("start", index, argument - segment.first))
        if segment.operand:  # between operands the width is fixed: counting from the end says nothing new
            found.append(Template("end", index, segment.last - argument))
            found.append(Template("against", index, segment.last - number - argument))
    return found
