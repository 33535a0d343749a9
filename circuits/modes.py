"""Modes of SRC: which wirings a step may have, and which tables may share an operator."""

import itertools
from collections.abc import Iterable
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import UNDEFINED
from circuits.clock import Clock
from circuits.task import Task
from circuits.trace import Trace
from circuits.wirings import Alternatives, Table, alternatives, determining_sets, entries, look_steps, table_of


class Mode(StrEnum):
    """Freedom in the wiring of a step ([F])."""

    FREE = "free"  # any wiring
    DECLARED = "declared"  # that of the reference circuit
    TYPED = "typed"  # an exact number of arguments: none is repeated or in vain


def all_wirings(
    task: Task, one: Trace, position: int, arity: int, mode: str, clock: Clock | None = None
) -> Alternatives:
    """Every wiring that a mode allows a step.

    In mode "typed" those of a sample are not complete: with inputs left out fewer positions may seem to be needed,
    and the wiring that is needed is not among those of the fewer.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    if mode == "free":
        return alternatives(one, position, arity, clock)
    known = True
    if mode == "declared":
        assert task.reference is not None
        wirings: Iterable[tuple[int, ...]] = [task.reference.steps(one.scale)[position - one.prompt_length - 1][1]]
    else:
        sets, known = determining_sets(one, position, arity, clock)
        wirings = itertools.chain.from_iterable(itertools.permutations(sorted(each)) for each in sets)
    clock = clock or Clock()
    tags = {slots: _tag(slots, arity, one.symbols) if mode == "typed" else 0 for slots in range(arity + 1)}
    found: dict[Table, list[tuple[int, ...]]] = {}
    for wiring in wirings:
        clock.check(look_steps(one, len(wiring)))
        found.setdefault(table_of(one, position, wiring) | tags[len(wiring)], []).append(wiring)
    complete = mode == "declared" or (known and one.exhaustive)
    return Alternatives(wirings=found, complete=complete)


def _tag(slots: int, arity: int, symbols: int) -> Table:
    """Entries by which tables of different numbers of slots exclude each other; they are beyond all keys."""
    first = symbols**arity
    return sum(1 << (first + size) * symbols + (size == slots) for size in range(arity + 1))


def as_array(table: Table, arity: int, symbols: int) -> NDArray[np.uint8]:
    """A table of `all_wirings`, or a union of such, as an operator: uint8 [symbols ** slots], else UNDEFINED."""
    keys, values = entries(table, symbols)
    tags = keys >= symbols**arity
    slots = int(keys[tags & (values == 1)][0]) - symbols**arity if tags.any() else arity
    array = np.full(symbols**slots, UNDEFINED, dtype=np.uint8)
    array[keys[~tags]] = values[~tags]
    return array
