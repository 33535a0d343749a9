"""Position patterns written as text formulas: A(i, j), i the key and j the query, 1-based, i <= j.

The grammar is in `lengthgen.theory.formula.syntax`.  The text is untrusted: Python's parser turns it into a syntax
tree, only the nodes of the grammar are accepted, and the text is never executed.  All arithmetic is exact, on numbers
of bounded size.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.theory.formula import exact, numbering
from lengthgen.theory.formula.syntax import VARIABLES, FormulaError, Node, NoValue, may_be_irrational, names, read

__all__ = ["Formula", "FormulaError", "NoValue", "parse"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A pattern A(i, j), or A(i, j, n) if n occurs in it, that is evaluated exactly.

    Attributes:
        text: the formula as the user typed it.
        parameters: names that stand for unspecified real numbers.
        rows: the syntax trees of a matrix of formulas; a pattern of numbers has one row with one tree.
    """

    text: str
    parameters: tuple[str, ...]
    rows: tuple[tuple[Node, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one entry: () for numbers, (rows, columns) for matrices."""
        shape = (len(self.rows), len(self.rows[0]))
        return () if shape == (1, 1) else shape

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Syntax trees of the components of an entry, row by row."""
        return tuple(node for row in self.rows for node in row)

    @cached_property
    def names(self) -> frozenset[str]:
        """Variables and parameters that occur in the formula."""
        return frozenset().union(*map(names, self.nodes))

    @cached_property
    def variables(self) -> frozenset[str]:
        """Variables among i, j and n that occur in the formula."""
        return self.names & frozenset(VARIABLES)

    @cached_property
    def exact_only(self) -> bool:
        """True if entries may be irrational, depend on parameters or are matrices: computed one by one."""
        return bool(self.shape or self.parameters) or any(map(may_be_irrational, self.nodes))

    def value(self, key: int, query: int, scale: int | None = None) -> Any:
        """Entry at one pair: int, Fraction or real sympy expression; for matrices a tuple of these, row by row.

        Raises:
            NoValue: the formula has no real value at the pair; the message names the pair.
            FormulaError: the value is too large, or a choice depends on a parameter; the message names the pair.
        """
        at = {"i": key, "j": query, "n": scale} | self._symbols
        try:
            values = tuple(exact.evaluate(node, at) for node in self.nodes)
        except FormulaError as error:
            family = "n" in self.variables and scale is not None
            message = f"{error} at i={key}, j={query}" + (f", n={scale}" if family else "")
            if isinstance(error, NoValue):
                raise NoValue(message, (key, query, scale) if family and scale else (key, query)) from None
            raise FormulaError(message) from None
        return values if self.shape else values[0]

    def entries(self, keys: Integers, queries: Integers, scales: Integers | None = None) -> tuple[list[Any], Integers]:
        """Entries at many pairs: a list of values, as `value` returns them, and an index into it for each pair.

        Args:
            keys: i, int64 [m].
            queries: j, int64 [m].
            scales: n, int64 [m]; required if n occurs in the formula.

        Returns:
            Values that differ as Python objects (two may still be mathematically equal), and indices, int64 [m].

        Raises:
            NoValue, FormulaError: some pair has no value, see `value`; the message names the first
                such pair in the given order.
        """
        at = {"i": keys, "j": queries} | ({} if scales is None else {"n": scales})
        try:
            numbered = numbering.entries(self.nodes, at, self._symbols, scalar=not self.shape)
        except FormulaError:
            scale_list = [None] * len(keys) if scales is None else scales.tolist()
            for pair in zip(keys.tolist(), queries.tolist(), scale_list, strict=True):
                self.value(*pair)  # raises an error that names the pair
            raise
        return numbered.values, numbered.codes

    @cached_property
    def _symbols(self) -> dict[str, Any]:
        """Sympy symbol of each parameter."""
        return {name: sp.Symbol(name, real=True) for name in self.parameters}


def parse(text: str, parameters: Iterable[str] = ()) -> Formula:
    """Parse a formula.

    Args:
        text: the formula, in the grammar of `lengthgen.theory.formula.syntax`.
        parameters: names that stand for unspecified real numbers; two entries are equal iff they are equal for all
            values of the parameters.

    Raises:
        FormulaError: the text is too long or not in the grammar, or it contains an unknown name.
    """
    declared = tuple(parameters)
    return Formula(text=text.strip(), parameters=declared, rows=tuple(map(tuple, read(text, declared))))
