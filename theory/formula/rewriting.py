"""Arithmetic in i and j rewritten by sympy, to see which positions it really looks at.

Sympy takes long over large expressions: numbers at a few pairs say first whether it is worth while, and what would
have too many terms is left alone.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from theory.formula import exact
from theory.formula.linear import linear_bounds
from theory.formula.syntax import Comparison, FormulaError, Name, Node, Number, Operation, children, names

MOST_TERMS = 1_000
"""Terms of an expression that is still multiplied out."""

_ARITHMETIC = frozenset({"+", "-", "*", "/", "**", "neg", "pos", "sqrt", "exp", "log"})
_CORNERS = 3
"""So many k are tried."""
_SIZE = 7
"""Pairs up to this query are tried first."""

Values = dict[tuple[int, int], Fraction]


def looked_at(node: Node) -> frozenset[str] | None:
    """{"i"}, {"j"}, {"d"} (for j - i) or nothing, where the tree is proved to depend on that alone; None where not."""
    import sympy as sp

    if not _total(node) or _terms(node) > MOST_TERMS:
        return None
    try:
        values = _values(node)
    except FormulaError:
        return None
    i, j = sp.symbols("i j", positive=True, integer=True)
    d = sp.Symbol("d", nonnegative=True, integer=True)
    one_position: tuple[tuple[str, Any, Callable[[int, int], int]], ...] = (
        ("d", (i, i + d), lambda key, query: query - key),
        ("i", (i, j), lambda key, _: key),
        ("j", (i, j), lambda _, query: query),
    )
    for symbol, at, position in one_position:
        if values is not None and not _depends_on(values, position):
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
    try:
        values = _values(node)
    except FormulaError:
        return False
    if values is not None and not all(_square(name, values, *keys) for keys in combinations(range(1, 4), 2)):
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


def _values(node: Node) -> Values | None:
    """The values at the first pairs, parameters at some numbers; None where some are irrational.

    Raises:
        FormulaError: some pair has no value, or one too large, which sympy would compute.
    """
    at = {name: Fraction(7, 3) + place for place, name in enumerate(sorted(names(node) - {"i", "j"}))}
    pairs = [(key, query) for query in range(1, _SIZE + 1) for key in range(1, query + 1)]
    values = {}
    for key, query in sorted(pairs, key=lambda pair: pair[1] - pair[0]):
        values[key, query] = exact.evaluate(node, {"i": key, "j": query, **at})
        if key > _CORNERS and not all(isinstance(value, int | Fraction) for value in values.values()):
            return None
    return values


def _depends_on(values: Values, position: Callable[[int, int], int]) -> bool:
    """Whether pairs with the same position have the same value."""
    of_position: dict[int, Fraction] = {}
    return all(of_position.setdefault(position(*pair), value) == value for pair, value in values.items())


def _square(name: str, values: Values, first: int, last: int) -> bool:
    """Whether the rows of two keys are multiples (or shifts) of each other as far as both are known."""
    for one, other in combinations(range(last, _SIZE + 1), 2):
        a, b, c, d = values[first, one], values[last, other], values[first, other], values[last, one]
        if (a * b != c * d) if name == "*" else (a + b != c + d):
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
        case Operation(name="sqrt" | "exp" | "log"):
            return True
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
            return name in _ARITHMETIC and all(map(_total, children(node)))
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
            return _SYMPY[name](*(to_sympy(part, at) for part in parts))
    raise ValueError(f"not arithmetic: {node}")


def _function(name: str) -> Any:
    def call(argument: Any) -> Any:
        import sympy as sp

        return getattr(sp, name)(argument)

    return call


_SYMPY: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    "pos": lambda a: a,
    **{name: _function(name) for name in ("sqrt", "exp", "log")},
}
