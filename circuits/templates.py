"""The simplest circuit among those with the fewest operators.

Minimum circuits are not unique: an argument may be read at any position that holds the same token. A template says
where an argument is found relative to the step, at every scale at once; of all wirings those are taken that need the
fewest templates, then the smallest offsets ([F], the tie-breaking rule of docs/theory.md).
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from circuits.formats import Segment
from circuits.wirings import Alternatives, Table

KINDS = ("along", "start", "end", "against", "query")
"""Where a template counts from; the order breaks ties.

along: the segment's position with the number of the step; start, end: a fixed place in the segment; against: as
along, from the segment's end; query: back from the query, the position before the step."""

MAX_COMBINATIONS = 200
"""Template combinations looked at for one wiring; from arity 3 on each slot offers its simplest templates only."""


@dataclass(frozen=True, kw_only=True)
class Template:
    """One way to find an argument: kind, segment (index in the prompt; -1 for kind query) and offset."""

    kind: str
    segment: int
    offset: int

    def cost(self) -> tuple[int, int, int]:
        """Smaller is simpler."""
        return abs(self.offset), KINDS.index(self.kind), self.segment


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The wiring chosen for each (scale, position), and the template combinations that were needed."""

    wirings: Mapping[tuple[int, int], tuple[int, ...]]
    combinations: tuple[tuple[Template, ...], ...]


def choose_wirings(
    steps: Sequence[Alternatives], segments: Mapping[int, tuple[Segment, ...]], operators: Sequence[Table] | None
) -> Choice:
    """One wiring for each step, from as few template combinations as a greedy cover finds.

    Args:
        steps: the alternatives of every step, none empty.
        segments: scale -> the segments of its prompt.
        operators: if given, only wirings whose table one of these contains.
    """
    where: dict[tuple[Template, ...], dict[tuple[int, int], tuple[int, ...]]] = defaultdict(dict)
    open_steps: set[tuple[int, int]] = set()
    for step in steps:
        place = (step.scale, step.position)
        open_steps.add(place)
        for table, wirings in step.wirings.items():
            if operators is None or any(table & operator == table for operator in operators):
                for wiring in wirings:
                    for combination in _combinations(wiring, step.position, segments[step.scale]):
                        where[combination].setdefault(place, wiring)
    chosen: dict[tuple[int, int], tuple[int, ...]] = {}
    combinations: list[tuple[Template, ...]] = []

    def rank(combination: tuple[Template, ...]) -> tuple[int, int, list[tuple[int, int, int]]]:
        costs = [template.cost() for template in combination]
        return -len(where[combination].keys() & open_steps), sum(cost[0] for cost in costs), costs

    while open_steps:
        best = min(where, key=rank)
        combinations.append(best)
        for place in where[best].keys() & open_steps:
            chosen[place] = where[best][place]
            open_steps.remove(place)
    return Choice(wirings=chosen, combinations=tuple(combinations))


def _combinations(
    wiring: tuple[int, ...], position: int, segments: tuple[Segment, ...]
) -> Iterable[tuple[Template, ...]]:
    offered = int(MAX_COMBINATIONS ** (1 / len(wiring)))
    slots = [sorted(_templates(argument, position, segments), key=Template.cost)[:offered] for argument in wiring]
    return itertools.product(*slots)


def _templates(argument: int, position: int, segments: tuple[Segment, ...]) -> list[Template]:
    """Every template that finds this argument at this step."""
    number = position - segments[-1].last - 1
    found = [Template(kind="query", segment=-1, offset=position - 1 - argument)]
    for index, segment in enumerate(segments):
        found.append(Template(kind="along", segment=index, offset=argument - segment.first - number))
        found.append(Template(kind="start", segment=index, offset=argument - segment.first))
        if segment.operand:  # between operands the width is fixed: counting from the end says nothing new
            found.append(Template(kind="end", segment=index, offset=segment.last - argument))
            found.append(Template(kind="against", segment=index, offset=segment.last - number - argument))
    return found
