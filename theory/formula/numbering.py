"""Exact values of a formula at many pairs, irrational or with parameters: each operation once for equal operands.

Each part of the formula is represented by a list of its values and, for each pair, an index into this list.  An
operation is computed once for every combination of indices that occurs, in the arithmetic of
lengthgen.theory.formula.exact. Parts that are rational everywhere are computed by lengthgen.theory.formula.blocks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.theory.formula import blocks, exact
from lengthgen.theory.formula.canonical import POSITIONS, expression_of, is_rational
from lengthgen.theory.formula.definedness import defined_everywhere
from lengthgen.theory.formula.syntax import (
    VARIABLES,
    ComparisonChain,
    Name,
    Node,
    Number,
    Operation,
    may_be_irrational,
    names,
)

Integers = NDArray[np.int64]
Value = Any

_LARGEST_TURN = 2**30
"""Bound on the common denominator of angles over pi, so that they are counted in 64-bit integers."""


@dataclass(frozen=True)
class IndexedValues:
    """Values of a formula at many pairs.

    Attributes:
        values: the values that occur, each Python object once.
        codes: index of the value of each pair, int64 [m].
    """

    values: list[Value]
    codes: Integers


def entries(
    nodes: Sequence[Node], at: Mapping[str, Integers], parameters: Mapping[str, Value], *, scalar: bool
) -> IndexedValues:
    """Values of a single tree if `scalar`, else tuples of the values of all trees.

    The other arguments and the errors are those of `evaluate`.
    """
    components = [evaluate(node, at, parameters) for node in nodes]
    return components[0] if scalar else _apply(lambda *values: values, components)


def evaluate(node: Node, at: Mapping[str, Integers], parameters: Mapping[str, Value]) -> IndexedValues:
    """Values of the tree at the pairs that `at` describes.

    Args:
        node: the tree.
        at: i, j and, if it occurs, n: int64 arrays of one shape [m], m >= 1.
        parameters: symbols of the parameters.

    Raises:
        FormulaError: some pair has no value, or one that is too large; the message does not name the pair.
    """
    if not (names(node) & parameters.keys()) and not may_be_irrational(node):
        try:
            return IndexedValues(*blocks.evaluate(node, at).distinct())
        except blocks.NotVectorised:
            pass
    match node:
        case Number() | Name(name="pi"):
            return _constant(exact.evaluate(node, {}), at)
        case Name(name=name) if name in parameters:
            return _constant(parameters[name], at)
        case Name(name=name):
            values, codes = np.unique(at[name], return_inverse=True)
            return IndexedValues(values.tolist(), codes)
        case ComparisonChain() as chain:
            truth = blocks.truth_of_chain(
                chain, at, lambda side, where: evaluate(side, where, parameters), _passes, _select
            )
            return _deduplicate((0, 1), truth)
        case Operation(name="if", operands=(condition, then, otherwise)):
            holds = _holds(evaluate(condition, at, parameters))
            return _choose(holds, (then, otherwise), at, parameters)
        case Operation(name="and" | "or") as connected:
            truth = blocks.truth_of_parts(connected, at, lambda part, where: _holds(evaluate(part, where, parameters)))
            return _deduplicate((0, 1), truth)
        case Operation(name="sin" | "cos" as name, operands=(angle,)) if (turns := _half_turns(angle)) is not None:
            return _sine_or_cosine(name, turns, at)
        case Operation(name=name, operands=parts):
            operands = [evaluate(part, at, parameters) for part in parts]
            return _apply(lambda *values: exact.apply(name, list(values)), operands)
    raise AssertionError(node)


def _half_turns(angle: Node) -> dict[tuple[int, ...], Fraction] | None:
    """Coefficients of the powers of i, j and n in angle / pi; None if it is no polynomial with rational ones."""
    expression = expression_of(angle)
    if not expression or not defined_everywhere(angle):
        return None
    turns = sp.expand(expression / sp.pi)
    if not is_rational(turns):
        return None
    terms = [term.as_coeff_Mul() for term in sp.Add.make_args(turns)]
    weights = {tuple(int(unit.as_powers_dict()[position]) for position in POSITIONS): weight for weight, unit in terms}
    return weights if lcm(*(int(weight.q) for weight in weights.values())) < _LARGEST_TURN else None


def _sine_or_cosine(name: str, turns: Mapping[tuple[int, ...], Any], at: Mapping[str, Integers]) -> IndexedValues:
    """Sine or cosine, computed once for every angle between 0 and 2 pi that occurs."""
    denominator = lcm(*(int(weight.q) for weight in turns.values()))
    total_turns = np.zeros_like(at["i"])
    for powers, weight in turns.items():
        part = np.full_like(total_turns, int(weight * denominator) % (2 * denominator))
        for position, exponent in zip(VARIABLES, powers, strict=True):
            for _ in range(exponent):
                part = part * (at[position] % (2 * denominator)) % (2 * denominator)
        total_turns = (total_turns + part) % (2 * denominator)
    used, codes = np.unique(total_turns, return_inverse=True)
    angles = (exact.apply("*", [sp.pi, Fraction(turn, denominator)]) for turn in used.tolist())
    return _deduplicate([exact.apply(name, [angle]) for angle in angles], codes)


def _constant(value: Value, at: Mapping[str, Integers]) -> IndexedValues:
    """Same value at every pair."""
    return IndexedValues([value], np.zeros_like(at["i"]))


def _apply(operation: Callable[..., Value], operands: Sequence[IndexedValues]) -> IndexedValues:
    """Results of an operation, computed once for every combination of values that occurs."""
    combined, rows = operands[0].codes, [[value] for value in operands[0].values]
    for operand in operands[1:]:
        pairs, combined = np.unique(combined * len(operand.values) + operand.codes, return_inverse=True)
        firsts, lasts = np.divmod(pairs, len(operand.values))
        rows = [
            [*rows[first], operand.values[last]] for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
        ]
    return _deduplicate([operation(*row) for row in rows], combined)


def _deduplicate(values: Sequence[Value], codes: Integers) -> IndexedValues:
    """Same values with equal ones merged and unused ones removed."""
    used, codes = np.unique(codes, return_inverse=True)
    numbers: dict[Value, int] = {}
    new_codes = np.array([numbers.setdefault(values[code], len(numbers)) for code in used.tolist()], dtype=np.int64)
    return IndexedValues(list(numbers), new_codes[codes])


def _holds(condition: IndexedValues) -> NDArray[np.bool_]:
    """Mask of the pairs at which the condition holds."""
    return np.array([exact.holds(value) for value in condition.values])[condition.codes]


def _choose(
    holds: NDArray[np.bool_],
    branches: tuple[Node, Node],
    at: Mapping[str, Integers],
    parameters: Mapping[str, Value],
) -> IndexedValues:
    """Values of the first branch where the condition holds and of the second elsewhere."""
    values: list[Value] = []
    codes = np.empty(len(holds), dtype=np.int64)
    for mask, branch in zip((holds, ~holds), branches, strict=True):
        if mask.any():
            branch_values = evaluate(branch, blocks.at_pairs(at, mask), parameters)
            codes[mask] = branch_values.codes + len(values)
            values += branch_values.values
    return _deduplicate(values, codes)


def _passes(test: str, left: IndexedValues, right: IndexedValues) -> NDArray[np.bool_]:
    """Mask of the pairs at which a comparison holds."""
    compared = _apply(lambda a, b: exact.COMPARISONS[test](exact.compare(a, b)), [left, right])
    return np.array([bool(value) for value in compared.values])[compared.codes]


def _select(indexed: IndexedValues, selection: NDArray[np.bool_]) -> IndexedValues:
    """Values at the selected pairs."""
    return IndexedValues(indexed.values, indexed.codes[selection])
