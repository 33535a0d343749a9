"""Attention patterns A(i, j) or A(i, j, n): from a formula, a function, an array, or a relation with parameters.

Entries stay exact: ints, Fractions, real sympy expressions (`lengthgen.theory.zero.equality` decides when two are
equal), and floats converted to the Fractions that they are. If the entry is a matrix (vector tokens), it is a tuple of
such numbers, row by row. A pattern that depends on the scale n is a family: its cells are the triples (i, j, n), and
only a relation with scale hint can represent it [F].
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.brief import Brief
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.userfile import user_code
from lengthgen.theory.distinct import check_upper_triangular
from lengthgen.theory.formula import Formula, parse
from lengthgen.theory.formula.syntax import MAX_BITS
from lengthgen.theory.relation import Relation

Integers = NDArray[np.int64]
Value = Any
Entries = Callable[[Integers, Integers, Integers | None], tuple[list[Value], Integers]]

LONGEST = 65_536
"""Largest number of positions of a matrix; every entry is read once, to check that it is a number."""


class PatternError(LengthgenError):
    """Raised for input that is not a pattern; the message is one line and names the place."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Pattern(Brief):
    """Attention pattern A(i, j), i the key and j the query, 1 <= i <= j.

    Attributes:
        name: name of the pattern in tables and figures.
        entries: function of int64 arrays of keys, queries and (with scale hint) scales, all [m]. It returns a list of
            values, and for each pair the index of its value, int64 [m]. Two values of the list may be equal.
        scale_hint: True if entries depend on the scale n.
        limit: the largest scale at which the pattern is given; None for all.
        shape: shape of one entry: () for numbers, (rows, columns) for matrices.
        formula: the formula from which the pattern was made, if any.
        array: the matrix of machine numbers, [n, n] or [n, n, d, e], from which the pattern was made, if any.
    """

    name: str
    entries: Entries
    scale_hint: bool = False
    limit: int | None = None
    shape: tuple[int, ...] = ()
    formula: Formula | None = None
    array: NDArray[Any] | None = field(default=None, repr=False, compare=False)

    def matrix(self, size: int, scale: int | None = None) -> NDArray[Any]:
        """Pattern of positions 1..size, exactly: objects [size, size, *shape], rows keys, zero below the diagonal.

        Args:
            size: number of positions.
            scale: scale of the instance, if the pattern depends on it; `size` if left out.

        Raises:
            PatternError: size or scale is beyond the pattern's limit.
            FormulaError: a formula without a value at some pair.
        """
        values, codes = self.entries(*self._pairs(size, scale))
        return self._to_matrix(size, _table(values, lambda value: value, self.shape, object)[codes])

    def numeric(self, size: int, scale: int | None = None) -> NDArray[np.float64]:
        """Same as `matrix`, in float64. Also raises `PatternError` as `floats` does."""
        return self._to_matrix(size, self.floats(*self._pairs(size, scale)))

    def floats(self, keys: Integers, queries: Integers, scales: Integers | None = None) -> NDArray[np.float64]:
        """Entries of many cells in floats, float64 [m, *shape]; arguments as of `entries`.

        Raises:
            PatternError: an entry has free parameters, or is too large for a float.
        """
        values, codes = self.entries(keys, queries, scales if self.scale_hint else None)
        return _table(values, _as_float, self.shape, np.float64)[codes]

    def _pairs(self, size: int, scale: int | None) -> tuple[Integers, Integers, Integers | None]:
        """Keys, queries and scales of all pairs of positions 1..size."""
        instance_scale = size if scale is None else scale
        self.require(min(size, instance_scale))
        self.require(max(size, instance_scale))
        queries, keys = np.tril_indices(size)
        return keys + 1, queries + 1, np.full(len(keys), instance_scale) if self.scale_hint else None

    def _to_matrix(self, size: int, entries: NDArray[Any]) -> NDArray[Any]:
        """Matrix [size, size, ...] with these entries at the pairs i <= j."""
        queries, keys = np.tril_indices(size)
        matrix = np.zeros((size, size, *self.shape), dtype=entries.dtype)
        matrix[keys, queries] = entries
        return matrix

    def require(self, scale: int) -> None:
        """Raise `PatternError` if the scale is not in 1..limit."""
        if scale < 1 or (self.limit is not None and scale > self.limit):
            most = "or more" if self.limit is None else f"to {self.limit}"
            raise PatternError(f"scale must be 1 {most} for pattern '{self.name:.60}', not {scale}")

    def _brief(self) -> str:
        return self.name + (f", up to scale {self.limit}" if self.limit else "")


def from_formula(formula: str | Formula, *, parameters: Iterable[str] = ()) -> Pattern:
    """Pattern of a formula; raises the errors of `lengthgen.theory.formula.parse`."""
    parsed = formula if isinstance(formula, Formula) else parse(formula, parameters)
    return Pattern(
        name=parsed.text,
        entries=parsed.entries,
        scale_hint="n" in parsed.variables,
        shape=parsed.shape,
        formula=parsed,
    )


def from_function(function: Callable[..., Any], *, name: str, scale_hint: bool = False) -> Pattern:
    """Pattern of a plain function A(i, j), or A(i, j, n) with scale hint, of 1-based Python integers.

    The function returns an int, Fraction, float, or real sympy expression; or a matrix of such, as a nested list or an
    array.

    Raises (when entries are computed):
        PatternError: the function returned anything else, a NaN, or matrices of different shapes.
    """

    def evaluate(*cell: int) -> tuple[Value, tuple[int, ...]]:
        where = f"'{name}' at {', '.join(f'{axis}={place}' for axis, place in zip('ijn', cell, strict=False))}"
        with user_code(f"{where} fails", error=PatternError):
            return _value(function(*cell), where)

    first_shape = evaluate(1, 1, 1)[1] if scale_hint else evaluate(1, 1)[1]

    def entries(keys: Integers, queries: Integers, scales: Integers | None) -> tuple[list[Value], Integers]:
        numbers: dict[Value, int] = {}
        codes = np.empty(len(keys), dtype=np.int64)
        columns = [keys, queries] if scales is None else [keys, queries, scales]
        for index, cell in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            value, shape = evaluate(*cell)
            if shape != first_shape:
                raise PatternError(
                    f"'{name}' has entries of shape {first_shape} at the first pair and {shape} at {cell}"
                )
            codes[index] = numbers.setdefault(value, len(numbers))
        return list(numbers), codes

    return Pattern(name=name, entries=entries, scale_hint=scale_hint, shape=first_shape)


def from_array(matrix: ArrayLike, *, name: str = "array") -> Pattern:
    """Pattern of a matrix [n, n], rows keys and columns queries; or [n, n, d, e] for d x e matrices as entries.

    Raises:
        PatternError: the matrix is not a pattern; see `as_matrix`.
    """
    pattern = as_matrix(matrix)

    def entries(keys: Integers, queries: Integers, _: Integers | None) -> tuple[list[Value], Integers]:
        cells = pattern[keys - 1, queries - 1]
        if pattern.ndim == 2 and pattern.dtype != object:
            values, codes = np.unique(cells, return_inverse=True)
            return [_exact(value) for value in values.tolist()], codes
        numbers: dict[Value, int] = {}
        codes = np.empty(len(keys), dtype=np.int64)
        for index, entry in enumerate(cells.reshape(len(keys), -1).tolist()):
            value = tuple(_exact(component) for component in entry)
            codes[index] = numbers.setdefault(value if pattern.ndim > 2 else value[0], len(numbers))
        return list(numbers), codes

    return Pattern(
        name=name,
        entries=entries,
        limit=len(pattern),
        shape=pattern.shape[2:],
        array=None if pattern.dtype == object else pattern,
    )


def with_scale(pattern: Pattern | ArrayLike, scale: int | None) -> tuple[Pattern, int]:
    """Pattern and scale of a question about a pattern, or about a matrix, whose size is the scale if none is given."""
    if not isinstance(pattern, Pattern):
        pattern = from_array(pattern)
        scale = pattern.limit if scale is None else scale
    assert scale is not None, "a pattern that is not a matrix needs a scale"
    return pattern, scale


def from_relation(relation: Relation, parameters: Mapping[int, Value] | None = None) -> Pattern:
    """Pattern A_ij = theta_phi(i, j), which POLA computes under the relation.

    Args:
        relation: phi.
        parameters: theta, label to value; if left out every label has its own free parameter.

    Raises:
        PatternError: a parameter is not a valid entry, or parameters differ in shape; when entries are computed, a
            label has no parameter.
    """
    parameter_of = {
        label: _value(value, f"the parameter of label {label}") for label, value in (parameters or {}).items()
    }
    shapes = {shape for _, shape in parameter_of.values()} or {()}
    if len(shapes) > 1:
        raise PatternError(f"the parameters of relation '{relation.name}' have different shapes: {sorted(shapes)}")

    def entries(keys: Integers, queries: Integers, scales: Integers | None) -> tuple[list[Value], Integers]:
        labels, codes = np.unique(relation.label(keys, queries, scales), return_inverse=True)
        return [_parameter(label) for label in labels.tolist()], codes

    def _parameter(label: int) -> Value:
        if parameters is None:
            return sp.Symbol(f"theta_{label}", real=True)
        if label not in parameter_of:
            raise PatternError(f"relation '{relation.name}' has label {label}, for which no parameter is given")
        return parameter_of[label][0]

    return Pattern(name=relation.name, entries=entries, scale_hint=relation.scale_hint, shape=shapes.pop())


def as_matrix(matrix: ArrayLike) -> NDArray[Any]:
    """Check a matrix as an attention pattern: [n, n] or [n, n, d, e], rows keys i, columns queries j, 0 where i > j.

    Entries are numbers of any exact or floating type; an object array may hold ints, Fractions and sympy expressions.

    Raises:
        PatternError: the matrix is not square, empty, not of real numbers, holds a NaN, or is non-zero below the
            diagonal.
    """
    # Read lists as objects: numpy would turn mixed or large integers into floats, which can make unequal ones equal.
    with user_code("the pattern is not a matrix", error=PatternError):
        pattern = matrix if isinstance(matrix, np.ndarray) else np.array(matrix, dtype=object)
    if pattern.ndim not in (2, 4) or pattern.shape[0] != pattern.shape[1] or not pattern.size:
        raise PatternError(f"a pattern must be a square matrix, not of shape {pattern.shape}")
    if len(pattern) > LONGEST:
        raise PatternError(f"a matrix has at most {LONGEST:,} positions, not {len(pattern):,}: give a part of it")
    if pattern.dtype == object:
        return _exact_objects(pattern)
    if pattern.dtype.kind not in "iufb":
        raise PatternError(f"a pattern must hold real numbers, not {pattern.dtype}")
    try:
        check_upper_triangular(pattern)
    except ValueError as error:
        raise PatternError(str(error)) from None
    return pattern


def _exact_objects(pattern: NDArray[Any]) -> NDArray[Any]:
    """Object array with exact entries; raises `PatternError` for an entry that is not a real number."""
    exact = np.empty_like(pattern)
    below = None
    for index in np.ndindex(pattern.shape):
        exact[index] = _scalar(pattern[index], f"the entry of the pattern at i={index[0] + 1}, j={index[1] + 1}")
        if index[0] > index[1] and exact[index] != 0 and below is None:
            below = index
    if below is not None:
        place = f"A({below[0] + 1}, {below[1] + 1})"
        raise PatternError(f"the pattern is not upper triangular: {place} is not 0 although i > j")
    return exact


def _value(entry_value: Any, where: str) -> tuple[Value, tuple[int, ...]]:
    """Exact form of one entry, and its shape."""
    if isinstance(entry_value, list | tuple | np.ndarray) or type(entry_value).__name__.endswith("Matrix"):
        rows = entry_value.tolist() if hasattr(entry_value, "tolist") else entry_value
        if not isinstance(rows, list | tuple):  # an array without dimensions
            return _scalar(rows, where), ()
        widths = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
        if len(widths) != 1 or not all(widths):
            raise PatternError(f"{where} is not a matrix: write its rows as lists of equal length")
        return tuple(_scalar(entry, where) for row in rows for entry in row), (len(rows), len(rows[0]))
    return _scalar(entry_value, where), ()


def _scalar(number: Any, where: str) -> Value:
    """Exact form of one number; raises `PatternError` if it is not real."""
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, int | Fraction):
        _require_short((number,), where)
        return int(number) if isinstance(number, bool) else number
    if isinstance(number, float):
        if math.isnan(number):
            raise PatternError(f"{where} is a NaN")
        return _exact(number)
    if hasattr(number, "is_real") and hasattr(number, "free_symbols"):
        if number.is_real is False or number.has(sp.nan, sp.oo, -sp.oo, sp.zoo):
            raise PatternError(f"{where} is {number}, which is not real")
        _require_short((Fraction(int(atom.p), int(atom.q)) for atom in number.atoms() if atom.is_Rational), where)
        return _simplest(number)
    raise PatternError(f"{where} must hold real numbers, not {type(number).__name__}")


def _require_short(numbers: Iterable[int | Fraction], where: str) -> None:
    """Raise `PatternError` if a numerator or denominator has more bits than a formula's may have."""
    if any(part.bit_length() > MAX_BITS for number in numbers for part in (number.numerator, number.denominator)):
        raise PatternError(f"{where} holds a number of more than {MAX_BITS} bits")


def _simplest(number: Any) -> Value:
    """Int or Fraction where a sympy number is one; its floats become the Fractions that they are."""
    exact = number.xreplace({float_atom: sp.Rational(float_atom) for float_atom in number.atoms(sp.Float)})
    if not exact.is_Rational:
        return exact
    return int(exact) if exact.is_Integer else Fraction(int(exact.p), int(exact.q))


def _exact(value: Any) -> Value:
    """Float as the Fraction that it is; infinities stay."""
    if isinstance(value, float) and math.isfinite(value):
        exact = Fraction(value)
        return int(exact) if exact.denominator == 1 else exact
    return value


def _as_float(value: Value) -> Any:
    """Value as a float, or nested list of floats; raises `PatternError` for free parameters and overflow."""
    if isinstance(value, tuple):
        return [_as_float(entry) for entry in value]
    if getattr(value, "free_symbols", None):
        names = ", ".join(sorted(map(str, value.free_symbols)))
        raise PatternError(f"the entry {value} holds free parameters: give {names} a value to get numbers")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number) and value not in (math.inf, -math.inf):
        raise PatternError("an entry is too large for a float: learners and figures compute in floats")
    return number


def _table(values: list[Value], convert: Callable[[Value], Any], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Values as an array [values, *shape]."""
    table = np.empty((len(values), *shape), dtype=dtype)
    for index, value in enumerate(values):
        table[index] = np.array(convert(value), dtype=dtype).reshape(shape) if shape else convert(value)
    return table
