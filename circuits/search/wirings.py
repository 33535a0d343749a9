"""Wirings of a step: the ordered tuples of earlier positions that determine its token, with their partial tables."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.determining import determining_sets
from lengthgen.circuits.tables import Table, add_by_table, counted_steps, entries, most_tables, table_of
from lengthgen.circuits.task import UNDEFINED, Task
from lengthgen.circuits.trace import Trace

MAX_WIRINGS = 20_000
"""Largest number of wirings for which unused slots of a step may hold any position (`Alternatives.complete`)."""


class Mode(StrEnum):
    """Freedom in the wiring of a step ([F])."""

    FREE = "free"  # any wiring
    DECLARED = "declared"  # the wiring of the reference circuit
    TYPED = "typed"  # an exact number of arguments: none is repeated or unneeded


@dataclass(frozen=True, kw_only=True)
class Alternatives:
    """Ways to compute one step at one arity.

    Attributes:
        wirings: table -> the wirings (tuples of 1-based positions) that have exactly this table.
        complete: True if no wiring is missing. If False, unneeded slots were filled only with needed and constant
            positions: circuits made of these wirings are valid, but they support no lower bound.
    """

    wirings: dict[Table, list[tuple[int, ...]]]
    complete: bool


def most_wirings(trace: Trace, arity: int) -> int:
    """Return the largest number of wirings of a step whose tables are all kept."""
    return min(MAX_WIRINGS, most_tables(trace, arity))


def alternatives(trace: Trace, position: int, arity: int, clock: Clock | None = None) -> Alternatives:
    """Return the wirings of one step by their table; none if no set of `arity` positions determines the step."""
    needed, all_sets = determining_sets(trace, position, arity, clock)
    spare = sum((position - 1) ** (arity - len(chosen)) for chosen in needed)
    max_wirings = most_wirings(trace, arity)
    complete = all_sets and spare <= max_wirings
    candidates = _filled(needed, range(1, position), arity) if complete else _plain(trace, position, needed, arity)
    clock = clock or Clock()
    wirings: dict[Table, list[tuple[int, ...]]] = {}
    left = None if complete else max(1, max_wirings)
    for places in candidates:
        orders = _orders(places)[:left]
        clock.check(counted_steps(trace, arity) * len(orders))
        if not add_by_table(wirings, trace, position, orders):
            complete = False
            break
        if left is not None:
            left -= len(orders)
            if not left:
                break
    return Alternatives(wirings=wirings, complete=complete)


def plain_wirings(trace: Trace, position: int, arity: int, clock: Clock | None = None) -> Iterator[tuple[int, ...]]:
    """Yield wirings of one step whose unneeded slots hold only needed and constant positions."""
    for places in _plain(trace, position, determining_sets(trace, position, arity, clock).sets, arity):
        yield from _orders(places)


def _plain(trace: Trace, position: int, needed: Iterable[frozenset[int]], arity: int) -> Iterator[tuple[int, ...]]:
    """Yield every needed set with its spare slots filled by needed and constant positions, in ascending order."""
    for chosen in needed:
        yield from _filled([chosen], sorted({*chosen, *constants(trace, position)}) or [1], arity)


def _filled(needed: Iterable[frozenset[int]], fillers: Iterable[int], arity: int) -> Iterator[tuple[int, ...]]:
    """Yield every needed set with its spare slots filled from `fillers`, each once, in ascending order."""
    done: set[tuple[int, ...]] = set()
    for chosen in needed:
        for fill in itertools.combinations_with_replacement(fillers, arity - len(chosen)):
            places = tuple(sorted((*chosen, *fill)))
            if places not in done:
                done.add(places)
                yield places


def _orders(places: tuple[int, ...]) -> list[tuple[int, ...]]:
    return sorted(set(itertools.permutations(places)))


def constants(trace: Trace, position: int) -> list[int]:
    """Return, for each token that is constant over all inputs at some earlier position, the last such position.

    The last one is taken because it does not move with the scale when operands are padded.
    """
    if "constants" not in trace.memory:
        rows = np.flatnonzero((trace.tokens == trace.tokens[:, :1]).all(axis=1))
        trace.memory["constants"] = [(int(row) + 1, int(trace.tokens[row, 0])) for row in rows]
    last = {token: place for place, token in trace.memory["constants"] if place < position}
    return sorted(last.values())


def all_wirings(
    task: Task, trace: Trace, position: int, arity: int, mode: str, clock: Clock | None = None
) -> Alternatives:
    """Return every wiring that a mode allows for a step.

    In mode "typed" the wirings beyond `most_wirings` are left out. Those of a sample are not complete either: with
    inputs left out, fewer positions may seem to suffice, and the wiring that is needed is not among those of the fewer.
    """
    if mode == "free":
        return alternatives(trace, position, arity, clock)
    if mode == "declared":
        wiring = task.reference_steps(trace.scale)[trace.steps.index(position)][1]
        return Alternatives(wirings={table_of(trace, position, wiring): [wiring]}, complete=True)
    clock = clock or Clock()
    sets, tried_all = determining_sets(trace, position, arity, clock)
    wirings: dict[Table, list[tuple[int, ...]]] = {}
    left = max(1, most_wirings(trace, arity))
    for places in sets:
        every = [*itertools.permutations(sorted(places))]
        orders = every[:left]
        tried_all = tried_all and len(orders) == len(every)
        if not orders:
            break
        clock.check(counted_steps(trace, len(places)) * len(orders))
        left -= len(orders)
        # Entries beyond all keys make tables of different numbers of slots exclude each other.
        first = trace.symbols**arity
        tag = sum(1 << (first + size) * trace.symbols + (size == len(places)) for size in range(arity + 1))
        tried_all = add_by_table(wirings, trace, position, orders, tag) and tried_all
    return Alternatives(wirings=wirings, complete=tried_all and trace.exhaustive)


def as_array(table: Table, arity: int, symbols: int) -> NDArray[np.uint8]:
    """Return a table of `all_wirings`, or a union of such tables, as the array of an operator.

    The array is uint8 [symbols ** slots], UNDEFINED outside the table.
    """
    keys, values = entries(table, symbols)
    tags = keys >= symbols**arity
    slots = int(keys[tags & (values == 1)][0]) - symbols**arity if tags.any() else arity
    array = np.full(symbols**slots, UNDEFINED, dtype=np.uint8)
    array[keys[~tags]] = values[~tags]
    return array
