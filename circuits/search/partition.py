"""The fewest operators for a set of steps: an exact search over partial tables.

Each step may be computed through any of its tables; steps share an operator if the union of their chosen tables is
still a function. This is a minimum hitting set over all operators. The lower bound is a clique of steps that pairwise
cannot share, the upper bound a first fit; the gap is closed by depth-first search if that is quick, else by SAT.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search import sat
from lengthgen.circuits.tables import Table, as_table, entries

MAX_LOOKS = 100_000
"""Pairs of table and operator that the depth-first search tries for one number of operators before the solver takes
over: about as long as the solver takes to start. A pair of large tables counts as several.
"""
_BITS = 40_000
"""Bits of a large table that take as long as all else about a pair."""
FIRST_BUDGET = 20_000_000_000
"""Steps counted for one question to the solver before another is tried: some ten seconds."""


@dataclass(frozen=True, kw_only=True)
class Partition:
    """Result of the search: lower <= fewest operators <= upper.

    `operators` (unions of tables) are `upper` many and serve every step. The steps of the `kernel` need as many
    operators as all steps; no two of its first `clique` steps can share one.
    """

    lower: int
    upper: int
    operators: tuple[Table, ...]
    kernel: tuple[frozenset[Table], ...]
    clique: int


def minimal_tables(tables: Iterable[Table], clock: Clock) -> frozenset[Table]:
    """Return the tables that contain no other of them. A larger table never helps if a smaller one is allowed."""
    minimal: list[Table] = []
    for _, of_size in itertools.groupby(sorted(set(tables), key=int.bit_count), key=int.bit_count):
        smallest = len(minimal)  # no table contains another of its size
        for table in of_size:
            within = next((place for place in range(smallest) if minimal[place] & table == minimal[place]), None)
            clock.check(_containment_steps(table) * (1 + (smallest if within is None else within)))
            if within is None:
                minimal.append(table)
    return frozenset(minimal)


def kernel(steps: Iterable[frozenset[Table]], clock: Clock) -> list[frozenset[Table]]:
    """Return one step of each class: equal steps merged, and steps dropped that any solution of another step serves.

    Once the clock's limit has passed, no more steps are dropped.
    """
    classes = sorted(set(steps), key=lambda tables: (len(tables), sorted(tables)))

    def served_by(easy: frozenset[Table], hard: frozenset[Table]) -> bool:
        for table_of_hard in hard:
            clock.count(_containment_steps(table_of_hard) * len(easy))
            if clock.over() or not any(table & table_of_hard == table for table in easy):
                return False
        return True

    remaining: list[frozenset[Table]] = []
    for index, easy in enumerate(classes):
        if not any(served_by(easy, hard) for hard in [*remaining, *classes[index + 1 :]]):
            remaining.append(easy)
    return remaining


def _containment_steps(table: Table) -> int:
    """Return the steps counted for testing if a table contains another."""
    return 100 + table.bit_length() // 16


class Compatibility:
    """Predicate on two tables: True if their union is still a function, for an alphabet of the given size."""

    def __init__(self, symbols: int) -> None:
        self.keys: Callable[[Table], int] = cache(lambda table: as_table(entries(table, symbols)[0]))
        """Function from a table to the keys on which it is defined, as bits."""

    def __call__(self, first: Table, second: Table) -> bool:
        shared = (self.keys(first) & self.keys(second)).bit_count()
        return (first & second).bit_count() == shared


def fewest_operators(steps: Sequence[frozenset[Table]], symbols: int, clock: Clock | None = None) -> Partition:
    """Return the fewest operators that serve all steps.

    The result is exact iff lower == upper, which only a clock's limit can prevent.

    A short depth-first search decides small cases; CaDiCaL (`lengthgen.circuits.search.sat`) decides the rest. `steps`
    has the possible tables of each step, none empty.
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
                operators = _search(order, lower, compatible, clock, budget=MAX_LOOKS)
            except _OutOfBudget:
                break
            if operators is None:
                lower += 1
            else:
                upper = operators
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
    """Narrow the bounds with the SAT solver until they meet or time is up.

    One operator less than the upper bound is tried first. If that is hard, the lower bound is raised as far as it is
    easy: numbers near either end are decided far more quickly than those between.

    The first `pinned` steps of the order are a clique.
    """
    alternatives = [sorted(step) for step in order]
    classes = [tuple(plain(table, symbols) for table in tables) for tables in alternatives]
    budget = FIRST_BUDGET
    while lower < len(upper):
        left = clock.steps_left()
        steps = budget if left is None else min(budget, left)
        for count in dict.fromkeys((len(upper) - 1, lower)):
            answer = sat.decide(classes, count, range(pinned), seconds=clock.left(), steps=steps, proof=False)
            clock.count(answer.steps)
            if answer.satisfiable is not None or not answer.steps:  # without steps, the time was up
                break
        if answer.satisfiable:
            assert answer.choice is not None
            operators: dict[int, Table] = {}
            for tables, (operator, alternative) in zip(alternatives, answer.choice, strict=True):
                operators[operator] = operators.get(operator, 0) | tables[alternative]
            upper = tuple(operators.values())
        elif answer.satisfiable is False:
            lower = count + 1
        elif not answer.steps or steps < budget:
            break
        else:
            budget *= 2
    return lower, upper


def plain(table: Table, symbols: int) -> sat.Table:
    """Return a table as its pairs of key and value, ascending."""
    keys, values = entries(table, symbols)
    return tuple(zip(keys.tolist(), values.tolist(), strict=True))


def _clique(
    classes: list[frozenset[Table]], compatible: Callable[[Table, Table], bool], clock: Clock
) -> list[frozenset[Table]]:
    """Return steps no two of which can share an operator: the most that a greedy choice from any first step finds.

    Each time, the step that leaves most others to choose from joins. Once the clock's limit has passed, two steps not
    yet compared count as able to share.
    """

    def can_share(table: Table, other: frozenset[Table]) -> bool:
        clock.count((500 + table.bit_length() // 4) * len(other))
        return clock.over() or any(compatible(table, another) for another in other)

    conflicts = [0] * len(classes)  # bits of the steps that each step cannot share with
    for (i, first), (j, second) in itertools.combinations(enumerate(classes), 2):
        if not any(can_share(table, second) for table in first):
            conflicts[i] |= 1 << j
            conflicts[j] |= 1 << i
    best: list[int] = []
    for start in range(len(classes)):
        chosen, left = [start], conflicts[start]
        while left:
            rest = [step for step in range(len(classes)) if left >> step & 1]
            chosen.append(max(rest, key=lambda step: (conflicts[step] & left).bit_count()))
            left &= conflicts[chosen[-1]]
        best = max(best, chosen, key=len)
    return [classes[step] for step in best]


class _OutOfBudget(Exception):
    """The depth-first search has used its budget."""


_Keyed = tuple[Table, int]
"""Table and the keys on which it is defined, as bits."""


def _search(
    steps: list[frozenset[Table]], count: int, compatible: Compatibility, clock: Clock, budget: int | None = None
) -> tuple[Table, ...] | None:
    """Return at most `count` operators that serve all steps, or None if there are none. First fit if that succeeds."""
    # Each table carries the keys on which it is defined; the keys of a union are the union of the keys.
    choices = [[(table, compatible.keys(table)) for table in sorted(step)] for step in steps]
    looks = 0

    def placed(step: list[_Keyed], operators: tuple[_Keyed, ...]) -> Iterator[tuple[_Keyed, ...]]:
        """Yield every way to serve one more step: with an existing operator, best fit first, or with a new one."""
        nonlocal looks
        for index, (operator, keys) in enumerate(operators):
            looks += len(step) * (1 + operator.bit_length() // _BITS)
            clock.count(_containment_steps(operator) * len(step))
            fits = [
                (table | operator, more | keys)
                for table, more in step
                if (table & operator).bit_count() == (more & keys).bit_count()
            ]
            for union in sorted(fits, key=lambda fit: fit[0].bit_count()):
                yield (*operators[:index], union, *operators[index + 1 :])
        if len(operators) < count:
            for keyed in step:
                yield (*operators, keyed)

    # Depth first with an explicit stack: there may be more steps than Python's limit of nested calls.
    stack: list[Iterator[tuple[_Keyed, ...]]] = [iter([()])]
    while stack:
        if budget is not None and looks > budget:
            raise _OutOfBudget
        operators = next(stack[-1], None)
        if operators is None:
            stack.pop()
            continue
        if len(stack) > len(steps):
            return tuple(table for table, _ in operators)
        stack.append(placed(choices[len(stack) - 1], operators))
    return None
