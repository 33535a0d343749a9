"""A formula at many pairs at once, irrational or with parameters: each operation once for equal operands.

What a part of the formula is at the pairs is a list of values and the number of each pair's own.  An operation is done
once for every combination of numbers that occurs, in the arithmetic of theory.formula.exact; parts that are rational
throughout go through theory.formula.blocks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.formula import blocks, exact
from theory.formula.canonical import element_of
from theory.formula.domain import total
from theory.formula.syntax import Comparison, Name, Node, Number, Operation, may_be_irrational, names
from theory.ring import Key, is_monomial, whole_turn

Integers = NDArray[np.int64]
Value = Any

_LARGEST_TURN = 2**30
"""Denominators of angles over pi below this are counted in machine words."""


@dataclass(frozen=True)
class Numbered:
    """Values that occur, none twice as an object of computation, and the index of each pair's own, int64 [m]."""

    values: list[Value]
    codes: Integers


def entries(
    nodes: Sequence[Node], at: Mapping[str, Integers], parameters: Mapping[str, Value], *, whole: bool
) -> Numbered:
    """The values of the tree, if `whole`, or of all trees as a tuple; arguments and errors as of `evaluate`."""
    found = [evaluate(node, at, parameters) for node in nodes]
    return found[0] if whole else _applied(lambda *values: values, found)


def evaluate(node: Node, at: Mapping[str, Integers], parameters: Mapping[str, Value]) -> Numbered:
    """The values of the tree where `at` gives i, j and, if it occurs, n: int64 arrays of one shape [m], m >= 1.

    Raises:
        FormulaError: some pair has no value, or one too large; without saying which pair.
    """
    if not (names(node) & parameters.keys()) and not may_be_irrational(node):
        try:
            return Numbered(*blocks.evaluate(node, at).distinct())
        except blocks.NotVectorised:
            pass
    match node:
        case Number() | Name(name="pi"):
            return _everywhere(exact.evaluate(node, {}), at)
        case Name(name=name) if name in parameters:
            return _everywhere(parameters[name], at)
        case Name(name=name):
            values, codes = np.unique(at[name], return_inverse=True)
            return Numbered(values.tolist(), codes)
        case Comparison(tests=tests, sides=sides):
            return _chain(tests, sides, at, parameters)
        case Operation(name="if", operands=(condition, then, otherwise)):
            holds = _holds(evaluate(condition, at, parameters))
            return _joined(holds, (then, otherwise), at, parameters)
        case Operation(name="and" | "or" as name, operands=parts):
            return _junction(name, parts, at, parameters)
        case Operation(name="sin" | "cos" as name, operands=(angle,)) if (turns := _half_turns(angle)) is not None:
            return _wave(name, turns, at)
        case Operation(name=name, operands=parts):
            operands = [evaluate(part, at, parameters) for part in parts]
            return _applied(lambda *values: exact.apply(name, list(values)), operands)
    raise AssertionError(node)


def _half_turns(angle: Node) -> dict[Key, Fraction] | None:
    """The angle over pi, where that is a polynomial in positions with rational coefficients."""
    element = element_of(angle)
    if not element or not total(angle):
        return None
    found: dict[Key, Fraction] = {}
    for key, weight in element.items():
        rest = whole_turn(key)
        if rest is None or not is_monomial(rest):
            return None
        found[rest] = weight
    return found if lcm(*(weight.denominator for weight in found.values())) < _LARGEST_TURN else None


def _wave(name: str, turns: Mapping[Key, Fraction], at: Mapping[str, Integers]) -> Numbered:
    """A sine or cosine, once for every angle between 0 and 2 pi that occurs."""
    whole = lcm(*(weight.denominator for weight in turns.values()))
    total_turns = np.zeros_like(at["i"])
    for (product, _), weight in turns.items():
        part = np.full_like(total_turns, int(weight * whole) % (2 * whole))
        for (base, _), exponent in product:
            for _ in range(int(exponent)):
                part = part * (at[base[1]] % (2 * whole)) % (2 * whole)
        total_turns = (total_turns + part) % (2 * whole)
    used, codes = np.unique(total_turns, return_inverse=True)
    pi = exact.evaluate(Name("pi"), {})
    angles = (exact.apply("*", [pi, Fraction(turn, whole)]) for turn in used.tolist())
    return _renumbered([exact.apply(name, [angle]) for angle in angles], codes)


def _everywhere(value: Value, at: Mapping[str, Integers]) -> Numbered:
    return Numbered([value], np.zeros_like(at["i"]))


def _applied(operation: Callable[..., Value], operands: Sequence[Numbered]) -> Numbered:
    """The operation, once for every combination of values that occurs."""
    combined, rows = operands[0].codes, [[value] for value in operands[0].values]
    for operand in operands[1:]:
        pairs, combined = np.unique(combined * len(operand.values) + operand.codes, return_inverse=True)
        firsts, lasts = np.divmod(pairs, len(operand.values))
        rows = [
            [*rows[first], operand.values[last]] for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
        ]
    return _renumbered([operation(*row) for row in rows], combined)


def _renumbered(values: Sequence[Value], codes: Integers) -> Numbered:
    """The same with every value that occurs once, and no other."""
    used, codes = np.unique(codes, return_inverse=True)
    numbers: dict[Value, int] = {}
    again = np.array([numbers.setdefault(values[one], len(numbers)) for one in used.tolist()], dtype=np.int64)
    return Numbered(list(numbers), again[codes])


def _holds(condition: Numbered) -> NDArray[np.bool_]:
    return np.array([exact.holds(value) for value in condition.values])[condition.codes]


def _some(at: Mapping[str, Integers], where: Any) -> dict[str, Integers]:
    return {name: positions[where] for name, positions in at.items()}


def _joined(
    holds: NDArray[np.bool_],
    branches: tuple[Node, Node],
    at: Mapping[str, Integers],
    parameters: Mapping[str, Value],
) -> Numbered:
    values: list[Value] = []
    codes = np.empty(len(holds), dtype=np.int64)
    for mask, branch in zip((holds, ~holds), branches, strict=True):
        if mask.any():
            chosen = evaluate(branch, _some(at, mask), parameters)
            codes[mask] = chosen.codes + len(values)
            values += chosen.values
    return _renumbered(values, codes)


def _junction(
    name: str, parts: tuple[Node, ...], at: Mapping[str, Integers], parameters: Mapping[str, Value]
) -> Numbered:
    """Each part only where those before it have not decided."""
    open_ = np.arange(len(at["i"]))
    found = np.full(len(open_), int(name == "and"), dtype=np.int64)
    for part in parts:
        if not open_.size:
            break
        holds = _holds(evaluate(part, _some(at, open_), parameters))
        decided = ~holds if name == "and" else holds
        found[open_[decided]] = int(name == "or")
        open_ = open_[~decided]
    return _renumbered((0, 1), found)


def _chain(
    tests: tuple[str, ...], sides: tuple[Node, ...], at: Mapping[str, Integers], parameters: Mapping[str, Value]
) -> Numbered:
    found = np.ones(len(at["i"]), dtype=np.int64)
    alive = np.arange(len(found))
    left = evaluate(sides[0], at, parameters)
    for test, side in zip(tests, sides[1:], strict=True):
        if not alive.size:
            break
        right = evaluate(side, _some(at, alive), parameters)
        compared = _applied(lambda a, b, test=test: exact.COMPARISONS[test](exact.compare(a, b)), [left, right])
        passed = np.array([bool(value) for value in compared.values])[compared.codes]
        found[alive[~passed]] = 0
        alive, left = alive[passed], Numbered(right.values, right.codes[passed])
    return _renumbered((0, 1), found)
