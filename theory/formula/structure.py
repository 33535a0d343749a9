"""Which positions a formula looks at: a function of the key alone, the query alone, the distance j - i, or more.

What is recognised is proved: linear forms are compared by their coefficients, and arithmetic without choices is
rewritten by sympy with j = i + d, after which i must be gone.
"""

from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Any

from theory.formula import Formula
from theory.formula.syntax import Comparison, Name, Node, Number, Operation, children

Form = tuple[Fraction, Fraction, Fraction, Fraction]
"""Coefficients of i, j, n and 1."""
NOTHING = (Fraction(0), Fraction(0), Fraction(0), Fraction(0))

_ARITHMETIC = frozenset({"+", "-", "*", "/", "**", "neg", "pos", "sqrt", "exp", "log"})


class Structure(StrEnum):
    """How the entry of a pair depends on it; the value says it in words."""

    CONSTANT = "the same at every pair"
    TOEPLITZ = "a function of the distance j - i (Toeplitz)"
    KEY = "a function of the key i alone"
    QUERY = "a function of the query j alone"
    PRODUCT = "separable: a function of i times a function of j"
    SUM = "separable: a function of i plus a function of j"
    GENERAL = "a function of i and j"
    SCALE = "a function of i, j and the scale n"


_SINGLE = {frozenset("i"): Structure.KEY, frozenset("j"): Structure.QUERY, frozenset("d"): Structure.TOEPLITZ}


def structure(formula: Formula) -> Structure:
    """The most special structure that is proved."""
    if "n" in formula.variables:
        return Structure.SCALE
    nodes = [settled(node) for node in formula.nodes]
    looked_at = frozenset().union(*map(dependence, nodes))
    if not looked_at:
        return Structure.CONSTANT
    if looked_at in _SINGLE:
        return _SINGLE[looked_at]
    if not formula.shape:
        for name, found in (("*", Structure.PRODUCT), ("+", Structure.SUM)):
            if _separates(nodes[0], name):
                return found
    return Structure.GENERAL


@lru_cache(maxsize=4096)
def dependence(node: Node) -> frozenset[str]:
    """What the value is proved to be a function of: some of "i", "j", "d" = j - i and "n"; empty for a constant."""
    form = linear(node)
    if form is not None:
        return _of_form(form)
    if isinstance(node, Comparison):
        parts = [Operation("-", pair) for pair in zip(node.sides, node.sides[1:], strict=False)]
        return frozenset().union(*map(_of_difference, parts))
    found = frozenset().union(*map(dependence, children(node)))
    if len(found) > 1 and "n" not in found and _total(node):
        rewritten = _by_rewriting(node)
        return found if rewritten is None else rewritten
    return found


@lru_cache(maxsize=4096)
def settled(node: Node) -> Node:
    """The tree without those choices between linear forms that come out the same at every pair, as max(i, j) = j."""
    match node:
        case Comparison(tests=(test,), sides=sides):
            left, right = map(settled, sides)
            low, high = linear_bounds(Operation("-", (left, right)))
            found = decided(test, low, high)
            return Comparison((test,), (left, right)) if found is None else Number(int(found))
        case Comparison(tests=tests, sides=sides):
            return Comparison(tests, tuple(map(settled, sides)))
        case Operation(name="if", operands=(condition, then, otherwise)):
            tested = settled(condition)
            if isinstance(tested, Number):
                return settled(then if tested.value else otherwise)
            return Operation("if", (tested, settled(then), settled(otherwise)))
        case Operation(name="abs", operands=(inside,)):
            inner = settled(inside)
            low, high = linear_bounds(inner)
            return inner if low >= 0 else Operation("neg", (inner,)) if high <= 0 else Operation("abs", (inner,))
        case Operation(name="min" | "max" as name, operands=parts):
            kept: list[Node] = []
            for part in map(settled, parts):
                kept = _extreme(name, kept, part)
            return kept[0] if len(kept) == 1 else Operation(name, tuple(kept))
        case Operation(name=name, operands=parts):
            return Operation(name, tuple(map(settled, parts)))
    return node


def _extreme(name: str, kept: list[Node], part: Node) -> list[Node]:
    """The candidates for min or max with one more, without those that another always beats."""
    for one in kept:
        low, high = linear_bounds(Operation("-", (part, one)))
        if (low >= 0 and name == "min") or (high <= 0 and name == "max"):
            return kept
    beaten = []
    for one in kept:
        low, high = linear_bounds(Operation("-", (part, one)))
        if (high <= 0 and name == "min") or (low >= 0 and name == "max"):
            beaten.append(one)
    return [one for one in kept if one not in beaten] + [part]


def decided(test: str, low: Fraction | float, high: Fraction | float) -> bool | None:
    """Whether `x test 0` always comes out the same for low <= x <= high; None where it does not."""
    match test:
        case "<" | ">=" if high < 0 or low >= 0:
            return (high < 0) == (test == "<")
        case ">" | "<=" if low > 0 or high <= 0:
            return (low > 0) == (test == ">")
        case "==" | "!=" if high < 0 or low > 0:
            return test == "!="
        case "==" | "!=" if low == high == 0:
            return test == "=="
    return None


def slopes(form: Form) -> Form:
    """a i + b j + c n + e as x + y u + z v + w t with u, v, t >= 0, where i = 1 + u, j = i + v, n = j + t."""
    a, b, c, constant = form
    return a + b + c + constant, a + b + c, b + c, c


def linear_bounds(node: Node) -> tuple[Fraction | float, Fraction | float]:
    """The least and the largest value at pairs i <= j <= n of a linear form; infinite for all else."""
    form = linear(node)
    if form is None:
        return -inf, inf
    start, *growing = slopes(form)
    return (
        start if all(slope >= 0 for slope in growing) else -inf,
        start if all(slope <= 0 for slope in growing) else inf,
    )


@lru_cache(maxsize=4096)
def linear(node: Node) -> Form | None:
    """Coefficients of i, j, n and 1 where the tree is a rational linear form; None where it is not seen to be one."""
    match node:
        case Number(value=value):
            return Fraction(0), Fraction(0), Fraction(0), Fraction(value)
        case Name(name="i" | "j" | "n" as name):
            return Fraction(name == "i"), Fraction(name == "j"), Fraction(name == "n"), Fraction(0)
        case Operation(name="+" | "-" | "*" | "/" | "neg" | "pos" as name, operands=parts):
            forms = [linear(part) for part in parts]
            if None not in forms:
                return _combine(name, [form for form in forms if form is not None])
    return None


def _combine(name: str, forms: list[Form]) -> Form | None:
    first, last = forms[0], forms[-1]
    match name:
        case "+" | "-":
            sign = 1 if name == "+" else -1
            return _scaled(first, 1, last, sign)
        case "neg" | "pos":
            return _scaled(first, 1 if name == "pos" else -1)
        case "*" if not any(first[:3]):
            return _scaled(last, first[3])
        case "*" if not any(last[:3]):
            return _scaled(first, last[3])
        case "/" if not any(last[:3]) and last[3]:
            return _scaled(first, 1 / last[3])
    return None


def _scaled(first: Form, factor: Fraction | int, last: Form = NOTHING, weight: int = 0) -> Form:
    a, b, c, d = (factor * one + weight * other for one, other in zip(first, last, strict=True))
    return a, b, c, d


def _of_form(form: Form) -> frozenset[str]:
    key, query, scale, _ = form
    if not scale and key == -query:
        return frozenset("d" if key else "")
    return frozenset(name for name, weight in zip("ijn", (key, query, scale), strict=True) if weight)


def _of_difference(node: Operation) -> frozenset[str]:
    return dependence(node) if linear(node) else frozenset().union(*map(dependence, node.operands))


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


def _by_rewriting(node: Node) -> frozenset[str] | None:
    import sympy as sp

    i, j = sp.symbols("i j", positive=True, integer=True)
    d = sp.Symbol("d", nonnegative=True, integer=True)
    for symbol, keys in (("d", (i, i + d)), ("i", (i, j)), ("j", (i, j))):
        try:
            rewritten = sp.powsimp(sp.expand(to_sympy(node, {"i": keys[0], "j": keys[1]})))
        except (TypeError, ValueError, ArithmeticError):
            return None
        names = {str(one) for one in rewritten.free_symbols} & {"i", "j", "d"}
        if names <= {symbol}:
            return frozenset(names)
    return None


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


def _separates(node: Node, name: str) -> bool:
    """Whether the tree is a product (or sum) of functions of i alone and of j alone."""
    inverse = {"*": "/", "+": "-"}[name]
    if isinstance(node, Operation) and node.name in (name, inverse, "neg", "pos"):
        if all(_separates(part, name) for part in node.operands):
            return True
    elif dependence(node) in (frozenset(), frozenset("i"), frozenset("j")):
        return True
    return _total(node) and _separates_by_factoring(node, name)


def _separates_by_factoring(node: Node, name: str) -> bool:
    import sympy as sp

    i, j = sp.symbols("i j", positive=True, integer=True)
    try:
        expression = sp.expand(to_sympy(node, {"i": i, "j": j}))
        expression = sp.factor(expression) if name == "*" else expression
    except (TypeError, ValueError, ArithmeticError):
        return False
    parts = sp.Mul.make_args(expression) if name == "*" else sp.Add.make_args(expression)
    return all(len(part.free_symbols & {i, j}) < 2 for part in parts)
