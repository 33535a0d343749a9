"""Operators as partial tables that gain entries while steps are assigned to them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.tables import step_entries
from lengthgen.circuits.task import UNDEFINED
from lengthgen.circuits.trace import Trace


@dataclass(frozen=True, kw_only=True)
class StepEntries:
    """Table entries that a step needs through one wiring: number of arguments `slots`, keys, and their values."""

    slots: int
    keys: NDArray[np.int64]
    values: NDArray[np.uint8]


def entries_of_step(trace: Trace, position: int, wiring: tuple[int, ...]) -> StepEntries:
    """Return the entries that the step at a position needs through a wiring, on the inputs of the trace.

    The wiring must determine the step.
    """
    keys, values = step_entries(trace, position, wiring)
    return StepEntries(slots=len(wiring), keys=keys, values=values)


def missing(table: NDArray[np.uint8], step: StepEntries, symbols: int) -> int | None:
    """Return the number of entries that a table lacks to serve a step.

    None if other values or another number of slots exclude it.
    """
    if len(table) != symbols**step.slots:
        return None
    present = table[step.keys]
    fresh = present == UNDEFINED
    return int(fresh.sum()) if ((present == step.values) | fresh).all() else None


class Operators:
    """List of partial tables, uint8 [symbols ** slots] each; UNDEFINED marks entries that no step needs yet."""

    def __init__(self, symbols: int, tables: Iterable[NDArray[np.uint8]] = ()) -> None:
        """Begin with copies of some tables."""
        self.symbols = symbols
        self.tables = [table.copy() for table in tables]

    def missing(self, operator: int, step: StepEntries) -> int | None:
        """Return the number of entries that an operator lacks to serve a step (`missing`)."""
        return missing(self.tables[operator], step, self.symbols)

    def first_fit(self, step: StepEntries) -> int | None:
        """Return the index of the first operator that can serve the step; None if there is none."""
        return next((index for index in range(len(self.tables)) if self.missing(index, step) is not None), None)

    def give(self, operator: int | None, step: StepEntries) -> int:
        """Add the entries of a step to an operator, or to a new one if `operator` is None; return its index."""
        if operator is None:
            operator = len(self.tables)
            self.tables.append(np.full(self.symbols**step.slots, UNDEFINED, dtype=np.uint8))
        self.tables[operator][step.keys] = step.values
        return operator
