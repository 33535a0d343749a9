"""Identities inside a check: decided exactly, and refuted with the point at which the two sides differ."""

import sympy as sp

from proofs_checks.claim import Refuted
from theory import exact


def require_equal(
    what: str, left: sp.Expr | sp.Matrix, right: sp.Expr | sp.Matrix, *, squares: exact.Squares | None = None
) -> str:
    """The fact that the two sides are identical, entry by entry; raises `Refuted` where they are not.

    Raises `theory.exact.Undecided` outside its fragment.
    """
    lefts, rights = _entries(left), _entries(right)
    if len(lefts) != len(rights):
        raise Refuted(f"{what}: the sides have {len(lefts)} and {len(rights)} entries")
    generators: set[str] = set()
    for position, (one, other) in enumerate(zip(lefts, rights, strict=True)):
        decision = exact.decide(one - other, squares=squares)
        if not decision.zero:
            raise Refuted(_difference(what, position, one, other, squares))
        generators.update(decision.generators)
    entries = "1 entry" if len(lefts) == 1 else f"{len(lefts)} entries"
    ring = "Q(i)" + "".join(f"[({name})^±1]" for name in sorted(generators))
    return f"{what}: {entries} decided equal over {ring}"


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
