"""Arithmetic in i and j rewritten by sympy, to see which positions it really looks at.

Sympy takes long over large expressions: enclosures of the values at a few pairs say first whether it is worth while,
and what would have too many terms is left alone.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

import flint

from theory.formula.linear import linear_bounds
from theory.formula.syntax import MAX_BITS, Comparison, Name, Node, Number, Operation, children, names

MOST_TERMS = 1_000
"""Terms of an expression that is still multiplied out."""

_FUNCTIONS = ("sqrt", "exp", "log")
_CORNERS = 3
"""So many k are tried."""
_PAIRS = [(key, query) for query in range(1, 8) for key in range(1, query + 1)]
"""Tried first."""
_LARGEST = flint.arb(2) ** MAX_BITS

Values = dict[tuple[int, int], Any]
"""Balls that hold the values."""


def looked_at(node: Node, known: frozenset[str]) -> frozenset[str] | None:
    """Nothing, {"d"} (for j - i), {"i"} or {"j"}, where the tree is proved to depend on that alone; None where not.

    Only what says more than `known`, what the tree is already known to depend on, is looked for.
    """
    import sympy as sp

    if not _total(node) or _terms(node) > MOST_TERMS:
        return None
    values = _values(node)
    if values is None:
        return None
    i, j = sp.symbols("i j", positive=True, integer=True)
    d = sp.Symbol("d", nonnegative=True, integer=True)
    one_position: tuple[tuple[str, Any, Callable[[int, int], int]], ...] = (
        ("", (i, j), lambda *_: 0),
        ("d", (i, i + d), lambda key, query: query - key),
        ("i", (i, j), lambda key, _: key),
        ("j", (i, j), lambda _, query: query),
    )
    for symbol, at, position in one_position[: 1 if len(known) == 1 else None]:
        if not _depends_on(values, position):
            continue
        try:
            rewritten = sp.powsimp(sp.expand(to_sympy(node, {"i": at[0], "j": at[1]})))
        except (TypeError, ValueError, ArithmeticError):
            return None
        found = {str(one) for one in rewritten.free_symbols & {i, j, d}}
        if found <= {symbol}:
            return frozenset(found)
    return None


def separates(node: Node, name: str) -> bool:
    """Whether the tree is proved to be a product (name "*") or sum ("+") of functions of i alone and of j alone.

    It is where A(i, j) A(k, k) = A(i, k) A(k, j) and A(k, k) is not zero, or A(i, j) + A(1, 1) = A(i, 1) + A(1, j).
    """
    import sympy as sp

    if not _total(node) or _terms(node) > MOST_TERMS:
        return False
    values = _values(node)
    if values is None or not all(_square(name, values, *keys) for keys in combinations(range(1, 4), 2)):
        return False
    i, j = sp.symbols("i j", positive=True, integer=True)
    for start in map(sp.Integer, range(1, _CORNERS + 1)):
        try:
            here, row, column, corner = (
                to_sympy(node, {"i": key, "j": query}) for query in (j, start) for key in (i, start)
            )
            if name == "+" or sp.expand(corner) != 0:
                gap = here * corner - row * column if name == "*" else here + corner - row - column
                return bool(sp.expand(sp.together(sp.expand(gap)).as_numer_denom()[0]) == 0)
        except (TypeError, ValueError, ArithmeticError):
            return False
    return False


@lru_cache(maxsize=4096)
def _values(node: Node) -> Values | None:
    """The values at the first pairs, parameters at some numbers; None where one is too large to be computed exactly."""
    match node:
        case Number(value=value):
            balls = [flint.arb(flint.fmpq(*Fraction(value).as_integer_ratio()))] * len(_PAIRS)
        case Name(name="i" | "j" as name):
            balls = [flint.arb(pair["ij".index(name)]) for pair in _PAIRS]
        case Name(name=name):
            balls = [flint.arb.pi() if name == "pi" else flint.arb(sum(name.encode())) / 97] * len(_PAIRS)
        case Operation(name=name, operands=parts):
            known = [found.values() for part in parts if (found := _values(part))]
            if len(known) < len(parts):
                return None
            balls = [_apply(name, operands) for operands in zip(*known, strict=True)]
        case _:
            raise ValueError(f"not arithmetic: {node}")
    within = all(abs(ball) < _LARGEST and (abs(ball) > 1 / _LARGEST or ball.contains(0)) for ball in balls)
    return dict(zip(_PAIRS, balls, strict=True)) if within else None


def _apply(name: str, operands: Sequence[Any]) -> Any:
    return _OPERATORS[name](*operands) if name in _OPERATORS else getattr(operands[0], name)()


def _depends_on(values: Values, position: Callable[[int, int], int]) -> bool:
    """Whether pairs with the same position may have the same value."""
    of_position = {position(*pair): ball for pair, ball in values.items()}
    return all(of_position[position(*pair)].overlaps(ball) for pair, ball in values.items())


def _square(name: str, values: Values, first: int, last: int) -> bool:
    """Whether the rows of two keys may be multiples (or shifts) of each other as far as both are known."""
    for one, other in combinations(range(last, 8), 2):
        a, b, c, d = values[first, one], values[last, other], values[first, other], values[last, one]
        if not ((a * b).overlaps(c * d) if name == "*" else (a + b).overlaps(c + d)):
            return False
    return True


def _terms(node: Node) -> int:
    """At most so many terms the tree has when it is multiplied out."""
    generators = len(names(node)) + sum(1 for part in _parts(node) if _is_generator(part))
    return comb(min(_degree(node), MOST_TERMS) + generators, generators)


def _degree(node: Node) -> int:
    match node:
        case Operation(name="+" | "-" | "neg" | "pos", operands=parts):
            return max(map(_degree, parts))
        case Operation(name="**", operands=(base, Number(value=exponent))) if isinstance(exponent, int):
            return _degree(base) * exponent
        case Operation(name="*" | "/", operands=parts):
            return sum(map(_degree, parts))
        case Number():
            return 0
    return 1


def _is_generator(node: Node) -> bool:
    """Whether sympy would treat the part as a whole."""
    match node:
        case Operation(name="**", operands=(_, exponent)):
            return not isinstance(exponent, Number)
        case Operation(name=name):
            return name in _FUNCTIONS
    return False


def _parts(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _parts(child)


def _total(node: Node) -> bool:
    """Whether the tree is arithmetic without choices that is seen to have a value at every pair.

    Rewriting cancels, so that a division by zero somewhere would be lost.
    """
    match node:
        case Operation(name="/", operands=(above, below)):
            return _total(above) and _positive(below)
        case Operation(name="**", operands=(base, exponent)):
            whole = isinstance(exponent, Number) and isinstance(exponent.value, int) and exponent.value >= 0
            return _total(base) and _total(exponent) and (whole or _positive(base))
        case Operation(name="sqrt" | "log", operands=(inside,)):
            return _positive(inside)
        case Operation(name=name):
            return (name in _OPERATORS or name in _FUNCTIONS) and all(map(_total, children(node)))
        case Comparison():
            return False
    return True


def _positive(node: Node) -> bool:
    """Whether the tree is seen to be positive at every pair."""
    if linear_bounds(node)[0] > 0:
        return True
    match node:
        case Name(name="pi"):
            return True
        case Operation(name="exp", operands=(inside,)):
            return _total(inside)
        case Operation(name="**", operands=(base, exponent)):
            return _positive(base) and _total(exponent)
        case Operation(name="+" | "*" | "/" | "pos" | "sqrt", operands=parts):
            return all(map(_positive, parts))
    return False


def to_sympy(node: Node, at: dict[str, Any]) -> Any:
    """Arithmetic without choices as a sympy expression in what `at` gives; names that it lacks become symbols."""
    import sympy as sp

    match node:
        case Number(value=value):
            return sp.Rational(Fraction(value).numerator, Fraction(value).denominator)
        case Name(name=name):
            return sp.pi if name == "pi" else at.get(name, sp.Symbol(name, real=True))
        case Operation(name=name, operands=parts):
            operands = [to_sympy(part, at) for part in parts]
            return _OPERATORS[name](*operands) if name in _OPERATORS else getattr(sp, name)(*operands)
    raise ValueError(f"not arithmetic: {node}")


_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "neg": operator.neg,
    "pos": operator.pos,
}
