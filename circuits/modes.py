"""Modes of SRC: the wirings that a step may use, and the tables that may share an operator."""

import itertools
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.determining import determining_sets
from lengthgen.circuits.tables import Table, add_by_table, counted_steps, entries, table_of
from lengthgen.circuits.task import UNDEFINED, Task
from lengthgen.circuits.trace import Trace
from lengthgen.circuits.wirings import Alternatives, alternatives, most_wirings


class Mode(StrEnum):
    """Freedom in the wiring of a step ([F])."""

    FREE = "free"  # any wiring
    DECLARED = "declared"  # the wiring of the reference circuit
    TYPED = "typed"  # an exact number of arguments: none is repeated or unneeded


def all_wirings(
    task: Task, trace: Trace, position: int, arity: int, mode: str, clock: Clock | None = None
) -> Alternatives:
    """Return every wiring that a mode allows for a step.

    In mode "typed" the wirings beyond `most_wirings` are left out. Those of a sample are not complete either: with
    inputs left out, fewer positions may seem to suffice, and the wiring that is needed is not among those of the fewer.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    if mode == "free":
        return alternatives(trace, position, arity, clock)
    if mode == "declared":
        assert task.reference is not None
        wiring = task.reference.steps(trace.scale)[trace.steps.index(position)][1]
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
        tag = _tag(len(places), arity, trace.symbols)
        tried_all = add_by_table(wirings, trace, position, orders, tag) and tried_all
    return Alternatives(wirings=wirings, complete=tried_all and trace.exhaustive)


def _tag(slots: int, arity: int, symbols: int) -> Table:
    """Return entries beyond all keys that make tables of different numbers of slots exclude each other."""
    first = symbols**arity
    return sum(1 << (first + size) * symbols + (size == slots) for size in range(arity + 1))


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
