"""The fewest operators for a set of steps: an exact search over partial tables.

Each step may be computed through any of its tables; steps share an operator when the union of the tables chosen for
them is still a function. Minimum hitting set over all operators, solved between a clique of pairwise unshareable
steps and a first fit: by depth-first search where that is quick, by SAT where it is not.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from circuits import sat
from circuits.clock import Clock
from circuits.wirings import Table, entries

MAX_LOOKS = 100_000
"""Pairs of table and operator that our own search looks at, for one number of operators, before a solver takes over:
about as long as that takes to start."""


@dataclass(frozen=True, kw_only=True)
class Partition:
    """lower <= fewest operators <= upper; `operators` (unions of tables) are upper many and serve every step.

    The steps of the `kernel` need as many operators as all; no two of its first `clique` steps can share one.
    """

    lower: int
    upper: int
    operators: tuple[Table, ...]
    kernel: tuple[frozenset[Table], ...]
    clique: int


def minimal_tables(tables: Iterable[Table], clock: Clock) -> frozenset[Table]:
    """The tables that contain no other of them. A larger table never helps where a smaller one is allowed.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    kept: list[Table] = []
    for table in sorted(set(tables), key=int.bit_count):
        within = next((place for place, smaller in enumerate(kept) if smaller & table == smaller), None)
        clock.check(_compared(table) * (1 + (len(kept) if within is None else within)))
        if within is None:
            kept.append(table)
    return frozenset(kept)


def kernel(steps: Iterable[frozenset[Table]], clock: Clock) -> list[frozenset[Table]]:
    """One step a class: equal steps merged, and steps dropped that any solution of another step serves as well.

    Once the clock's limit has passed no more are dropped.
    """
    classes = sorted(set(steps), key=lambda tables: (len(tables), sorted(tables)))

    def served_by(easy: frozenset[Table], hard: frozenset[Table]) -> bool:
        for wanted in hard:
            clock.count(_compared(wanted) * len(easy))
            if clock.over() or not any(table & wanted == table for table in easy):
                return False
        return True

    kept: list[frozenset[Table]] = []
    for index, easy in enumerate(classes):
        others = [*kept, *classes[index + 1 :]]
        if not any(served_by(easy, hard) for hard in others):
            kept.append(easy)
    return kept


def _compared(table: Table) -> int:
    """The steps that it takes to see whether a table contains another."""
    return 100 + table.bit_length() // 16


def _shared(table: Table) -> int:
    """The steps that it takes to see whether a table can share an operator with another."""
    return 500 + table.bit_length() // 4


class Compatibility:
    """Whether the union of tables is still a function, for an alphabet of the given size."""

    def __init__(self, symbols: int) -> None:
        self._symbols = symbols
        self._keys: dict[Table, int] = {}

    def keys(self, table: Table) -> int:
        """The keys on which a table is defined, as bits. Remembered: the search asks again and again."""
        if table not in self._keys:
            mask = np.zeros(table.bit_length() // self._symbols + 1, dtype=bool)
            mask[entries(table, self._symbols)[0]] = True
            self._keys[table] = int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")
        return self._keys[table]

    def __call__(self, first: Table, second: Table) -> bool:
        shared = (self.keys(first) & self.keys(second)).bit_count()
        return (first & second).bit_count() == shared


def fewest_operators(steps: Sequence[frozenset[Table]], symbols: int, clock: Clock | None = None) -> Partition:
    """The fewest operators that serve all steps; exact iff lower == upper, which only a clock's limit prevents.

    A short search of our own decides small cases; what it leaves open, CaDiCaL does (`circuits.sat`).

    Args:
        steps: for each step its possible tables, none empty.
        symbols: size of the alphabet.
        clock: of the computation that asks.
    """
    clock = clock or Clock()
    with clock.phase("kernel"):
        compatible = Compatibility(symbols)
        classes = kernel(steps, clock)
        # A hard step first: few tables, so few branches at the top of the search.
        clique = _clique(classes, compatible, clock)
        order = [*clique, *(step for step in classes if step not in clique)]
        upper = _search(order, len(order), compatible, clock)
        assert upper is not None, "as many operators as steps always suffice"
        lower = len(clique)
        while lower < len(upper):
            try:
                found = _search(order, lower, compatible, clock, budget=MAX_LOOKS)
            except _OutOfBudget:
                break
            if found is None:
                lower += 1
            else:
                upper = found
    if lower < len(upper):
        with clock.phase("solver"):
            lower, upper = _by_sat(order, symbols, len(clique), lower, upper, clock)
    return Partition(lower=lower, upper=len(upper), operators=upper, kernel=tuple(order), clique=len(clique))


def _by_sat(
    order: list[frozenset[Table]],
    symbols: int,
    pinned: int,
    lower: int,
    upper: tuple[Table, ...],
    clock: Clock,
) -> tuple[int, tuple[Table, ...]]:
    """Bounds that meet, or those that stand when time is up. The first `pinned` steps of the order are a clique."""
    alternatives = [sorted(step) for step in order]
    classes = [tuple(plain(table, symbols) for table in tables) for tables in alternatives]
    while lower < len(upper):
        answer = sat.decide(
            classes, len(upper) - 1, range(pinned), seconds=clock.left(), steps=clock.steps_left(), proof=False
        )
        clock.count(answer.steps)
        if answer.satisfiable is None:
            break
        if not answer.satisfiable:
            return len(upper), upper
        assert answer.choice is not None
        operators: dict[int, Table] = {}
        for tables, (operator, alternative) in zip(alternatives, answer.choice, strict=True):
            operators[operator] = operators.get(operator, 0) | tables[alternative]
        upper = tuple(operators.values())
    return lower, upper


def plain(table: Table, symbols: int) -> sat.Table:
    """A table as its pairs of key and value, ascending."""
    keys, values = entries(table, symbols)
    return tuple(zip(keys.tolist(), values.tolist(), strict=True))


def _clique(
    classes: list[frozenset[Table]], compatible: Callable[[Table, Table], bool], clock: Clock
) -> list[frozenset[Table]]:
    """Steps no two of which can share an operator, the most that a greedy choice from any first one finds.

    Each time the step joins that leaves most others to choose from. Once the clock's limit has passed, two steps not
    yet compared count as able to share.
    """

    def can_share(table: Table, other: frozenset[Table]) -> bool:
        clock.count(_shared(table) * len(other))
        return clock.over() or any(compatible(table, another) for another in other)

    conflicts = [0] * len(classes)  # for each step those it excludes, as bits
    for (i, one), (j, other) in itertools.combinations(enumerate(classes), 2):
        if not any(can_share(a, other) for a in one):
            conflicts[i] |= 1 << j
            conflicts[j] |= 1 << i
    best: list[int] = []
    for first in range(len(classes)):
        chosen, left = [first], conflicts[first]
        while left:
            rest = [step for step in range(len(classes)) if left >> step & 1]
            chosen.append(max(rest, key=lambda step: (conflicts[step] & left).bit_count()))
            left &= conflicts[chosen[-1]]
        best = max(best, chosen, key=len)
    return [classes[step] for step in best]


class _OutOfBudget(Exception):
    """The search has looked at as much as it may."""


_Keyed = tuple[Table, int]
"""A table and the keys on which it is defined, as bits."""


def _search(
    steps: list[frozenset[Table]], count: int, compatible: Compatibility, clock: Clock, budget: int | None = None
) -> tuple[Table, ...] | None:
    """At most `count` operators that serve all steps, or None when there are none. First fit where it succeeds."""
    # With each table go the keys on which it is defined: those of a union are the union.
    choices = [[(table, compatible.keys(table)) for table in sorted(step)] for step in steps]
    looked_at = 0

    def placed(step: list[_Keyed], operators: tuple[_Keyed, ...]) -> Iterator[tuple[_Keyed, ...]]:
        """Every way to serve one more step: with an operator there is, the best fit first, or with a new one."""
        nonlocal looked_at
        for which, (operator, keys) in enumerate(operators):
            looked_at += len(step)
            clock.count(_compared(operator) * len(step))
            fits = [
                (table | operator, more | keys)
                for table, more in step
                if (table & operator).bit_count() == (more & keys).bit_count()
            ]
            for union in sorted(fits, key=lambda fit: fit[0].bit_count()):
                yield (*operators[:which], union, *operators[which + 1 :])
        if len(operators) < count:
            for keyed in step:
                yield (*operators, keyed)

    # Depth first on a stack of our own: there may be more steps than Python allows calls within calls.
    stack: list[Iterator[tuple[_Keyed, ...]]] = [iter([()])]
    while stack:
        if budget is not None and looked_at > budget:
            raise _OutOfBudget
        operators = next(stack[-1], None)
        if operators is None:
            stack.pop()
            continue
        if len(stack) > len(steps):
            return tuple(table for table, _ in operators)
        stack.append(placed(choices[len(stack) - 1], operators))
    return None
