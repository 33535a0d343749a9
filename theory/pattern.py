"""Patterns of attention, A(i, j) or A(i, j, n): from a formula, a function, an array, or a relation with parameters.

Entries stay exact: ints, Fractions, real sympy expressions (theory.equality says when two are equal), floats as the
fractions that they are, and tuples of such, row by row, where the entry is a matrix (vector tokens).  A pattern that
depends on the scale n is a family: its cells are the triples (i, j, n), and only a relation with scale hint can
represent it [F].
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import LengthgenError
from theory.formula import Formula, parse
from theory.relation import Relation

Integers = NDArray[np.int64]
Value = Any
Entries = Callable[[Integers, Integers, Integers | None], tuple[list[Value], Integers]]


class PatternError(LengthgenError):
    """What was given is no pattern; one line that says where."""


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A pattern of attention, i the key and j the query, 1 <= i <= j.

    Attributes:
        name: what tables and figures call it.
        entries: takes int64 arrays of keys, queries and (with scale hint) scales, all [m]; returns values, and for
            each pair the index of its own, int64 [m].  Two values of the list may be equal.
        scale_hint: whether entries depend on the scale n.
        limit: the largest scale at which it is given; None for all.
        shape: of one entry: () for numbers, (rows, columns) for matrices.
        formula: where it was made from one.
    """

    name: str
    entries: Entries
    scale_hint: bool = False
    limit: int | None = None
    shape: tuple[int, ...] = ()
    formula: Formula | None = None

    def matrix(self, size: int, scale: int | None = None) -> NDArray[Any]:
        """The pattern of positions 1..size, exactly: objects [size, size, *shape], rows keys, zero below the diagonal.

        Args:
            size: positions.
            scale: of the instance, where the pattern depends on it; `size` if left out.

        Raises:
            PatternError: beyond the pattern's limit.
            FormulaError: a formula without a value at some pair.
        """
        matrix: NDArray[Any] = np.zeros((size, size, *self.shape), dtype=object)
        self._fill(matrix, lambda value: value, scale or size)
        return matrix

    def numeric(self, size: int, scale: int | None = None) -> NDArray[np.float64]:
        """As `matrix`, in floats.  Raises `PatternError` also where an entry has free parameters."""
        matrix = np.zeros((size, size, *self.shape))
        self._fill(matrix, _as_float, scale or size)
        return matrix

    def _fill(self, matrix: NDArray[Any], convert: Callable[[Value], Any], scale: int) -> None:
        self.require(scale)
        keys, queries = _pairs(len(matrix))
        values, codes = self.entries(keys, queries, np.full(len(keys), scale) if self.scale_hint else None)
        table = np.empty((len(values), *self.shape), dtype=matrix.dtype)
        for index, value in enumerate(values):
            table[index] = np.array(convert(value), dtype=matrix.dtype).reshape(self.shape)
        matrix[keys - 1, queries - 1] = table[codes]

    def require(self, scale: int) -> None:
        """Raises `PatternError` where the scale is not in 1..limit."""
        if scale < 1 or (self.limit is not None and scale > self.limit):
            most = "or more" if self.limit is None else f"to {self.limit}"
            raise PatternError(f"scale must be 1 {most} for pattern '{self.name:.60}', not {scale}")


def from_formula(formula: str | Formula, *, parameters: Iterable[str] = ()) -> Pattern:
    """The pattern of a formula; see `theory.formula.parse`, whose errors it raises."""
    read = formula if isinstance(formula, Formula) else parse(formula, parameters)
    return Pattern(
        name=read.text,
        entries=read.entries,
        scale_hint="n" in read.variables,
        shape=read.shape,
        formula=read,
    )


def from_function(function: Callable[..., Any], *, name: str, scale_hint: bool = False) -> Pattern:
    """The pattern of a plain function A(i, j), or A(i, j, n) with scale hint, of 1-based Python integers.

    It returns an int, Fraction, float, or real sympy expression; or a matrix of such, as a nested list or an array.

    Raises (when entries are asked for):
        PatternError: it returned anything else, a NaN, or matrices of different shapes.
    """
    first = _value(function(1, 1, 1) if scale_hint else function(1, 1), f"'{name}' at i=1, j=1")[1]

    def entries(keys: Integers, queries: Integers, scales: Integers | None) -> tuple[list[Value], Integers]:
        numbers: dict[Value, int] = {}
        codes = np.empty(len(keys), dtype=np.int64)
        columns = [keys, queries] if scales is None else [keys, queries, scales]
        for index, at in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            where = f"'{name}' at {', '.join(f'{k}={v}' for k, v in zip('ijn', at, strict=False))}"
            value, shape = _value(function(*at), where)
            if shape != first:
                raise PatternError(f"{where} has shape {shape}, and {first} at i=1, j=1")
            codes[index] = numbers.setdefault(value, len(numbers))
        return list(numbers), codes

    return Pattern(name=name, entries=entries, scale_hint=scale_hint, shape=first)


def from_array(matrix: ArrayLike, *, name: str = "array") -> Pattern:
    """The pattern of a matrix [n, n], rows keys and columns queries; or [n, n, d, e] for matrices d x e.

    Raises:
        PatternError: it is no pattern; see `as_matrix`.
    """
    pattern = as_matrix(matrix)

    def entries(keys: Integers, queries: Integers, _: Integers | None) -> tuple[list[Value], Integers]:
        found = pattern[keys - 1, queries - 1]
        if pattern.ndim == 2 and pattern.dtype != object:
            values, codes = np.unique(found, return_inverse=True)
            return [_exact(value) for value in values.tolist()], codes
        numbers: dict[Value, int] = {}
        codes = np.empty(len(keys), dtype=np.int64)
        for index, entry in enumerate(found.reshape(len(keys), -1).tolist()):
            value = tuple(map(_exact, entry))
            codes[index] = numbers.setdefault(value if pattern.ndim > 2 else value[0], len(numbers))
        return list(numbers), codes

    return Pattern(name=name, entries=entries, limit=len(pattern), shape=pattern.shape[2:])


def from_relation(relation: Relation, parameters: Mapping[int, Value] | None = None) -> Pattern:
    """A_ij = theta_phi(i, j): the pattern that POLA computes under the relation.

    Args:
        relation: phi.
        parameters: theta, label to value; where left out every label has a free parameter of its own.

    Raises (when entries are asked for):
        PatternError: a label has no parameter.
    """

    def entries(keys: Integers, queries: Integers, scales: Integers | None) -> tuple[list[Value], Integers]:
        labels, codes = np.unique(relation.label(keys, queries, scales), return_inverse=True)
        return [_parameter(label) for label in labels.tolist()], codes

    def _parameter(label: int) -> Value:
        if parameters is None:
            import sympy as sp

            return sp.Symbol(f"theta_{label}", real=True)
        if label not in parameters:
            raise PatternError(f"relation '{relation.name}' has label {label}, for which no parameter is given")
        return _value(parameters[label], f"the parameter of label {label}")[0]

    return Pattern(name=relation.name, entries=entries, scale_hint=relation.scale_hint)


def as_matrix(matrix: ArrayLike) -> NDArray[Any]:
    """The matrix as a pattern of attention: [n, n] or [n, n, d, e], rows keys i, columns queries j, 0 where i > j.

    Entries are numbers of any exact or floating type; an object array may hold ints, Fractions and sympy expressions.

    Raises:
        PatternError: not square, empty, not of real numbers, holds a NaN, or is non-zero below the diagonal.
    """
    # Lists stay what they are: numpy would turn mixed or large integers into floats, and unequal ones into equal.
    pattern = matrix if isinstance(matrix, np.ndarray) else np.array(matrix, dtype=object)
    if pattern.ndim not in (2, 4) or pattern.shape[0] != pattern.shape[1] or not pattern.size:
        raise PatternError(f"a pattern must be a square matrix, not of shape {pattern.shape}")
    if pattern.dtype == object:
        _check_objects(pattern)
        return pattern
    from theory.distinct import check_upper_triangular

    if pattern.dtype.kind not in "iufb":
        raise PatternError(f"a pattern must hold real numbers, not {pattern.dtype}")
    try:
        check_upper_triangular(pattern)
    except ValueError as error:
        raise PatternError(str(error)) from None
    return pattern


def _check_objects(pattern: NDArray[Any]) -> None:
    below = None
    for at in np.ndindex(pattern.shape):
        value = _scalar(pattern[at], f"the entry of the pattern at i={at[0] + 1}, j={at[1] + 1}")
        if at[0] > at[1] and value != 0 and below is None:
            below = at
    if below is not None:
        place = f"A({below[0] + 1}, {below[1] + 1})"
        raise PatternError(f"the pattern is not upper triangular: {place} is not 0 although i > j")


def _value(found: Any, where: str) -> tuple[Value, tuple[int, ...]]:
    """One entry, exact, and its shape."""
    if isinstance(found, list | tuple | np.ndarray) or type(found).__name__.endswith("Matrix"):
        rows = found.tolist() if hasattr(found, "tolist") else found
        if not all(isinstance(row, list | tuple) and len(row) == len(rows[0]) for row in rows) or not rows:
            raise PatternError(f"{where} is no matrix: its rows differ in length")
        return tuple(_scalar(entry, where) for row in rows for entry in row), (len(rows), len(rows[0]))
    return _scalar(found, where), ()


def _scalar(found: Any, where: str) -> Value:
    if isinstance(found, np.generic):
        found = found.item()
    if isinstance(found, int | Fraction):
        return int(found) if isinstance(found, bool) else found
    if isinstance(found, float):
        if math.isnan(found):
            raise PatternError(f"{where} is a NaN")
        return _exact(found)
    if hasattr(found, "is_real") and hasattr(found, "free_symbols"):
        if found.is_real is False:
            raise PatternError(f"{where} is {found}, which is not real")
        return _simplest(found)
    raise PatternError(f"{where} must hold real numbers, not {type(found).__name__}")


def _simplest(found: Any) -> Value:
    """A sympy number as an int or Fraction where it is one."""
    return Fraction(int(found.p), int(found.q)) if found.is_Rational else found


def _exact(value: Any) -> Value:
    """A float as the fraction that it is; infinities stay."""
    if isinstance(value, float) and math.isfinite(value):
        exact = Fraction(value)
        return int(exact) if exact.denominator == 1 else exact
    return value


def _as_float(value: Value) -> Any:
    if isinstance(value, tuple):
        return [_as_float(entry) for entry in value]
    if getattr(value, "free_symbols", None):
        names = ", ".join(sorted(map(str, value.free_symbols)))
        raise PatternError(f"the entry {value} holds free parameters: give {names} a value to have numbers")
    return float(value)


def _pairs(size: int) -> tuple[Integers, Integers]:
    """Keys and queries of T_size, query by query."""
    queries, keys = np.tril_indices(size)
    return keys + 1, queries + 1
