"""Operators that grow with what steps ask of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import UNDEFINED
from circuits.trace import Trace
from circuits.wirings import asked


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Entries that a step asks of its operator through one wiring: `slots` arguments, keys and their values."""

    slots: int
    keys: NDArray[np.int64]
    values: NDArray[np.uint8]


def asked_of(one: Trace, position: int, wiring: tuple[int, ...]) -> Asked:
    """Entries that the step at a position asks for through a wiring that determines it, on the inputs of the trace."""
    keys, values = asked(one, position, wiring)
    return Asked(slots=len(wiring), keys=keys, values=values)


def missing(table: NDArray[np.uint8], step: Asked, symbols: int) -> int | None:
    """Number of entries that a table lacks to serve a step; None where it has other values, or other slots."""
    if len(table) != symbols**step.slots:
        return None
    have = table[step.keys]
    fresh = have == UNDEFINED
    return int(fresh.sum()) if ((have == step.values) | fresh).all() else None


class Operators:
    """A list of partial tables, uint8 [symbols ** slots] each, UNDEFINED where nothing was asked."""

    def __init__(self, symbols: int, tables: Iterable[NDArray[np.uint8]] = ()) -> None:
        """Begins with copies of some tables."""
        self.symbols = symbols
        self.tables = [table.copy() for table in tables]

    def missing(self, operator: int, step: Asked) -> int | None:
        """Number of entries that an operator lacks to serve a step (`missing`)."""
        return missing(self.tables[operator], step, self.symbols)

    def first_fit(self, step: Asked) -> int | None:
        """The first operator that can serve the step."""
        return next((index for index in range(len(self.tables)) if self.missing(index, step) is not None), None)

    def give(self, operator: int | None, step: Asked) -> int:
        """Gives an operator (None: a new one) the entries that the step asks for; returns which it is."""
        if operator is None:
            operator = len(self.tables)
            self.tables.append(np.full(self.symbols**step.slots, UNDEFINED, dtype=np.uint8))
        self.tables[operator][step.keys] = step.values
        return operator
