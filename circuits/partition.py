"""The fewest operators for a set of steps: an exact search over partial tables.

Each step may be computed through any of its tables; steps share an operator when the union of the tables chosen for
them is still a function. Minimum hitting set over all operators, solved by depth-first search between a clique of
pairwise unshareable steps and a first fit.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from circuits.wirings import Table, entries

MAX_NODES = 200_000
"""Nodes of the search before it gives bounds instead of a value."""


@dataclass(frozen=True, kw_only=True)
class Partition:
    """lower <= fewest operators <= upper; `operators` (unions of tables) are upper many and serve every step."""

    lower: int
    upper: int
    operators: tuple[Table, ...]


def minimal_tables(tables: Iterable[Table]) -> frozenset[Table]:
    """The tables that contain no other of them. A larger table never helps where a smaller one is allowed."""
    kept: list[Table] = []
    for table in sorted(set(tables), key=int.bit_count):
        if not any(smaller & table == smaller for smaller in kept):
            kept.append(table)
    return frozenset(kept)


def kernel(steps: Iterable[frozenset[Table]]) -> list[frozenset[Table]]:
    """One step a class: equal steps merged, and steps dropped that any solution of another step serves as well."""
    classes = sorted(set(steps), key=lambda tables: (len(tables), sorted(tables)))

    def served_by(easy: frozenset[Table], hard: frozenset[Table]) -> bool:
        return all(any(table & wanted == table for table in easy) for wanted in hard)

    kept: list[frozenset[Table]] = []
    for index, easy in enumerate(classes):
        others = [*kept, *classes[index + 1 :]]
        if not any(served_by(easy, hard) for hard in others):
            kept.append(easy)
    return kept


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


def fewest_operators(steps: Sequence[frozenset[Table]], symbols: int) -> Partition:
    """The fewest operators that serve all steps; exact iff lower == upper.

    Args:
        steps: for each step its possible tables, none empty.
        symbols: size of the alphabet.
    """
    compatible = Compatibility(symbols)
    classes = kernel(steps)
    # A hard step first: few tables, so few branches at the top of the search.
    clique = _clique(classes, compatible)
    order = [*clique, *(step for step in classes if step not in clique)]
    upper = _search(order, len(order), compatible)
    assert upper is not None, "as many operators as steps always suffice"
    for count in range(len(clique), len(upper)):
        try:
            found = _search(order, count, compatible, budget=MAX_NODES)
        except _OutOfBudget:
            return Partition(lower=count, upper=len(upper), operators=upper)
        if found is not None:
            return Partition(lower=count, upper=count, operators=found)
    return Partition(lower=len(upper), upper=len(upper), operators=upper)


def _clique(classes: list[frozenset[Table]], compatible: Callable[[Table, Table], bool]) -> list[frozenset[Table]]:
    """Steps no two of which can share an operator, chosen greedily: a lower bound."""
    conflicts = {
        step: {other for other in classes if not any(compatible(a, b) for a in step for b in other)} for step in classes
    }
    chosen: list[frozenset[Table]] = []
    for step in sorted(classes, key=lambda step: -len(conflicts[step])):
        if all(other in conflicts[step] for other in chosen):
            chosen.append(step)
    return chosen


class _OutOfBudget(Exception):
    """The search has looked at as many nodes as it may."""


def _search(
    steps: list[frozenset[Table]],
    count: int,
    compatible: Callable[[Table, Table], bool],
    budget: int | None = None,
) -> tuple[Table, ...] | None:
    """At most `count` operators that serve all steps, or None when there are none. First fit where it succeeds."""

    def placed(step: frozenset[Table], operators: tuple[Table, ...]) -> Iterator[tuple[Table, ...]]:
        """Every way to serve one more step: with an operator there is, the best fit first, or with a new one."""
        for which, operator in enumerate(operators):
            for table in sorted(step, key=lambda t: (t & ~operator).bit_count()):
                if compatible(operator, table):
                    yield (*operators[:which], operator | table, *operators[which + 1 :])
        if len(operators) < count:
            for table in sorted(step):
                yield (*operators, table)

    # Depth first on a stack of our own: there may be more steps than Python allows calls within calls.
    stack: list[Iterator[tuple[Table, ...]]] = [iter([()])]
    nodes = 0
    while stack:
        operators = next(stack[-1], None)
        if operators is None:
            stack.pop()
            continue
        nodes += 1
        if budget is not None and nodes > budget:
            raise _OutOfBudget
        if len(stack) > len(steps):
            return operators
        stack.append(placed(steps[len(stack) - 1], operators))
    return None
