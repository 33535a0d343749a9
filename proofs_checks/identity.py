"""Identities inside a check: decided exactly by two engines, and refuted with the point at which the sides differ."""

import sympy as sp

from proofs_checks.claim import Refuted
from theory import exact, twice


def require_equal(
    what: str, left: sp.Expr | sp.Matrix, right: sp.Expr | sp.Matrix, *, squares: exact.Squares | None = None
) -> str:
    """The fact that the two sides are identical, entry by entry; raises `Refuted` where they are not.

    Each entry is decided twice, by `theory.twice`.  Raises its `EnginesDisagree` where the engines' answers differ, and
    the `Undecided` of either outside its fragment.
    """
    lefts, rights = _entries(left), _entries(right)
    if len(lefts) != len(rights):
        raise Refuted(f"{what}: the sides have {len(lefts)} and {len(rights)} entries")
    first_generators: set[str] = set()
    second_generators: set[str] = set()
    for position, (one, other) in enumerate(zip(lefts, rights, strict=True)):
        try:
            first, second = twice.decide(one - other, squares=squares)
        except twice.EnginesDisagree as error:
            raise twice.EnginesDisagree(f"{what}, entry {position + 1}: {error}") from error
        if not first.zero:
            raise Refuted(_difference(what, position, one, other, squares))
        first_generators.update(f"({name})^±1" for name in first.generators)
        second_generators.update(second.generators)
    entries = "1 entry" if len(lefts) == 1 else f"{len(lefts)} entries"
    ring, second_ring = _ring(first_generators), _ring(second_generators)
    again = "" if second_ring == ring else f" over {second_ring}"
    return f"{what}: {entries} decided equal over {ring} and again by python-flint{again}"


def _ring(generators: set[str]) -> str:
    return "Q(i)" + "".join(f"[{name}]" for name in sorted(generators))


def _entries(side: sp.Expr | sp.Matrix) -> list[sp.Expr]:
    return list(side) if isinstance(side, sp.MatrixBase) else [sp.sympify(side, strict=True)]


def _difference(what: str, position: int, left: sp.Expr, right: sp.Expr, squares: exact.Squares | None) -> str:
    point = exact.witness(left - right, squares=squares)
    point |= {symbol: sp.Integer(1) for symbol in (left.free_symbols | right.free_symbols) - set(point)}
    place = ", ".join(f"{symbol} = {point[symbol]}" for symbol in sorted(point, key=str)) or "every point"
    values = f"{_number(left, point)} != {_number(right, point)}"
    return f"{what}, entry {position + 1}: {values} at {place}"


def _number(expression: sp.Expr, point: dict[sp.Symbol, sp.Expr]) -> str:
    return str(sp.N(expression.subs(point), 6))
