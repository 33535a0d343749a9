"""Identities inside a check: decided exactly by two engines, and refuted with the point at which the sides differ.

sympy evaluates while it builds an expression, and what it has cancelled no engine sees.  So a side is best given as a
function that builds it: it is called with evaluation off, and products of matrices, exponentials of sums, positions in
formulas reach both engines undone.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import sympy as sp
from sympy.matrices import dotprodsimp

from proofs_checks.claim import Refuted
from theory import exact, twice
from theory.written import written

Value: TypeAlias = Any  # sp.Expr | sp.Matrix, for which there are no types
Side: TypeAlias = Value | Callable[[], Value]
"""A side of an identity, or what builds it: that is called with sympy's evaluation switched off."""


def derivative(value: Value, symbol: sp.Symbol) -> Value:
    """The derivative of each entry, which is left to the engines."""
    if isinstance(value, sp.MatrixBase):
        return value.applyfunc(lambda entry: sp.Derivative(entry, symbol))
    return sp.Derivative(value, symbol)


def product(left: sp.Matrix, right: sp.Matrix) -> sp.Matrix:
    """The matrix product with every sum of products undone, which sympy does at once where all entries are numbers."""
    with sp.evaluate(False):
        return sp.Matrix(
            left.rows,
            right.cols,
            lambda row, column: sp.Add(*(left[row, at] * right[at, column] for at in range(left.cols))),
        )


def require_equal(what: str, left: Side, right: Side, *, squares: exact.Squares | None = None) -> str:
    """The fact that the two sides are identical, entry by entry; raises `Refuted` where they are not.

    Each entry is decided twice, by `theory.twice`, but those that are one expression on both sides: the fact says how
    many these are.  It also says which parts sympy evaluated, as the engines do not know them (`theory.written`).

    Raises the `OneExpression` of `theory.twice` where no entry is left to decide, its `EnginesDisagree` where the
    engines' answers differ, and `Undecided` or `SecondEngineUndecided` outside an engine's fragment.
    """
    lefts, rights = _sides(what, left, right)
    trees = written((*lefts, *rights))
    pairs = list(zip(trees.trees[: len(lefts)], trees.trees[len(lefts) :], strict=True))
    same = [one for one, other in pairs if one == other]
    if len(same) == len(pairs):
        raise twice.OneExpression(f"{what}: the sides are one expression, so nothing is decided: {same}")
    rings: tuple[set[str], set[str]] = (set(), set())
    for position, (one, other) in enumerate(pairs):
        if one == other:
            continue
        try:
            first, second = twice.decide(one, other, squares=squares)
        except twice.EnginesDisagree as error:
            raise twice.EnginesDisagree(f"{what}, entry {position + 1}: {error}") from error
        if not first.zero:
            raise Refuted(_difference(what, position, lefts[position].doit(), rights[position].doit(), squares))
        rings[0].update(f"({name})^±1" for name in first.generators)
        rings[1].update(second.generators)
    ring, second_ring = map(_ring, rings)
    again = "" if second_ring == ring else f" over {second_ring}"
    decided = f"{_count(len(pairs) - len(same))} decided equal over {ring} and again by python-flint{again}"
    return f"{what}: {decided}{_undecided(same)}{_evaluated(trees.evaluated)}"


def same_by_sympy(what: str, left: Side, right: Side) -> str:
    """The fact that sympy evaluates both sides to one expression, which leaves nothing to the engines.

    For sides outside the engines' fragment, such as powers with symbols in their exponents.  Where sympy leaves them
    different the engines decide; raises as `require_equal` does.
    """
    lefts, rights = ([entry.doit() for entry in side] for side in _sides(what, left, right))
    if lefts != rights:
        return require_equal(what, sp.Matrix(lefts), sp.Matrix(rights))
    return f"{what}: sympy evaluates both sides to {', '.join(map(str, lefts))}; no engine decides"


def _sides(what: str, left: Side, right: Side) -> tuple[list[sp.Expr], list[sp.Expr]]:
    lefts, rights = _entries(left), _entries(right)
    if len(lefts) != len(rights):
        raise Refuted(f"{what}: the sides have {len(lefts)} and {len(rights)} entries")
    return lefts, rights


def _undecided(same: list[sp.Expr]) -> str:
    """Number of entries left undecided, as they are one expression on both sides, in words."""
    zeros = sum(1 for entry in same if entry == 0)
    others = len(same) - zeros
    return (f"; {_count(zeros)} 0 on both sides as written" if zeros else "") + (
        f"; {_count(others)} one expression on both sides as written" if others else ""
    )


def _evaluated(parts: dict[sp.Expr, sp.Expr]) -> str:
    """Expressions that sympy evaluated before the engines decided, in words."""
    values = dict.fromkeys(map(str, parts.values()))
    return f"; evaluated by sympy before: {', '.join(values)}" if values else ""


def _count(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries} entries"


def _ring(generators: set[str]) -> str:
    return "Q(i)" + "".join(f"[{name}]" for name in sorted(generators))


def _entries(side: Side) -> list[sp.Expr]:
    if callable(side) and not isinstance(side, sp.Basic):
        with sp.evaluate(False), dotprodsimp(False):
            return _entries(side())
    return list(side) if isinstance(side, sp.MatrixBase) else [sp.sympify(side, strict=True)]


def _difference(what: str, position: int, left: sp.Expr, right: sp.Expr, squares: exact.Squares | None) -> str:
    point = exact.witness(left - right, squares=squares)
    point |= {symbol: sp.Integer(1) for symbol in (left.free_symbols | right.free_symbols) - set(point)}
    place = ", ".join(f"{symbol} = {point[symbol]}" for symbol in sorted(point, key=str)) or "every point"
    values = f"{_number(left, point)} != {_number(right, point)}"
    return f"{what}, entry {position + 1}: {values} at {place}"


def _number(expression: sp.Expr, point: dict[sp.Symbol, sp.Expr]) -> str:
    return str(sp.N(expression.subs(point), 6))
