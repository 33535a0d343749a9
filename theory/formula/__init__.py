"""Patterns as formulas that a user types: A(i, j) with i the key and j the query, 1-based, i <= j; see `syntax`.

The text is untrusted.  Python's own parser turns it into a syntax tree, in which only the nodes of the grammar are
known; nothing of it is ever executed, and every operation is exact on numbers whose size is bounded.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.formula import exact, numbering
from theory.formula.syntax import VARIABLES, FormulaError, Node, NoValue, may_be_irrational, names, read

__all__ = ["Formula", "FormulaError", "NoValue", "parse"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A pattern A(i, j) or, with n in it, A(i, j, n), evaluated exactly.

    Attributes:
        text: as it was typed.
        parameters: names that stand for real numbers left open.
        rows: the trees of a matrix of formulas; one row of one tree for a pattern of numbers.
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
        """The trees of the entry's components, row by row."""
        return tuple(node for row in self.rows for node in row)

    @cached_property
    def variables(self) -> frozenset[str]:
        """Which of i, j, n occur."""
        return frozenset().union(*map(names, self.nodes)) & frozenset(VARIABLES)

    @cached_property
    def exact_only(self) -> bool:
        """Whether entries may be irrational, or matrices, so that they are computed one by one."""
        return bool(self.shape or self.parameters) or any(map(may_be_irrational, self.nodes))

    def value(self, key: int, query: int, scale: int | None = None) -> Any:
        """The entry at one pair: int, Fraction or real sympy expression; a tuple of such, row by row, for matrices.

        Raises:
            NoValue: no real value there; says where.
            FormulaError: a value too large, or one that hangs on a parameter; says where.
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
        """The entries at many pairs: the values that occur, as of `value`, and the index of each pair's own.

        Args:
            keys: i, int64 [m].
            queries: j, int64 [m].
            scales: n, int64 [m]; needed where the formula has n in it.

        Returns:
            Values that are not the same object of computation (two of them may still be equal), and int64 [m].

        Raises:
            NoValue, FormulaError: some pair has no value, as of `value`; names the first in the order given.
        """
        at = {"i": keys, "j": queries} | ({} if scales is None else {"n": scales})
        try:
            found = numbering.entries(self.nodes, at, self._symbols, whole=not self.shape)
        except FormulaError:
            listed = [None] * len(keys) if scales is None else scales.tolist()
            for pair in zip(keys.tolist(), queries.tolist(), listed, strict=True):
                self.value(*pair)  # says where
            raise
        return found.values, found.codes

    @cached_property
    def _symbols(self) -> dict[str, Any]:
        """What the parameters stand for."""
        if not self.parameters:
            return {}
        import sympy as sp

        return {name: sp.Symbol(name, real=True) for name in self.parameters}


def parse(text: str, parameters: Iterable[str] = ()) -> Formula:
    """Reads a formula.

    Args:
        text: in the grammar of `theory.formula.syntax`.
        parameters: names that stand for real numbers left open; entries are equal iff they are for all of them.

    Raises:
        FormulaError: too long, not in the grammar, or an unknown name.
    """
    known = tuple(parameters)
    return Formula(text=text.strip(), parameters=known, rows=tuple(map(tuple, read(text, known))))
