"""Formulas by definition, twice over; shares no code with lengthgen.theory.formula.

Random formulas are nested tuples, printed as text and evaluated as fractions. A tree is a leaf ("i",), ("j",), ("n",)
or ("number", text, value), or (symbol, child, ...). Every operand is parenthesised, so the text says nothing about
precedence: that is tested by hand-written cases.

`by_python` lets Python itself evaluate the text of a formula, with fractions for its numbers, or with 60 digits where
something is irrational.
"""

import ast
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, reduce
from random import Random
from types import CodeType
from typing import Any

import mpmath

Tree = tuple[Any, ...]

INFIX = ("+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "and", "or")
PREFIX = ("neg", "not")
CALLS = {"min": 2, "max": 2, "abs": 1, "floor": 1, "ceil": 1, "gcd": 2}
IRRATIONAL = ("sqrt", "exp", "log", "sin", "cos")
DIGITS = 60

# Formulas that take finitely, and infinitely, many values at i = j = 1, 2, 3, ...
FINITELY_MANY = [
    "floor(sin(i))",
    "sin(pi * i / 3)",
    "1 if sin(i) > 0 else 2",
    "(i % 7) * (sin(i) > 0)",
    "max(1, sin(i))",
    "max(-1, min(sin(i), -1))",
    "floor(log(i)) % 3",
    "floor(exp(-i))",
    "i // (i + sqrt(i))",
    "min(i, sqrt(i), 3)",
    "(-1) ** floor(sqrt(i))",
    "(i + log(2)) % 4",
    "(i + floor(sin(i))) / (2*i + 2*floor(sin(i)))",
    "(i + floor(sin(i))) * (3 / (i + floor(sin(i))))",
    "i - floor(sin(i)) - (i - 2*floor(sin(i)))",
    "min(i + sin(i), 3 - sin(i) + sin(i))",
    "(sin(i) % 2) - sin(i)",
    "5",
    "sqrt((i - 2)**2) - abs(i - 2)",
    "abs(i - 5) - (i - 5) if i > 9 else 1",
    "min(i, 7)",
    "floor(i / (i + 1))",
    "floor((i + 1) / i)",
    "i - floor(i)",
    "floor(i / 2) + floor((i + 1) / 2) - i",
    "i // 1000000 * 0",
    "cos(pi * i / 4)",
    "cos(pi * i) + cos(pi * (i + 1))",
    "sin(pi * i / 6) * cos(pi * i / 5)",
    "0**i",
    "0**(i - 1)",
    "1**i",
    "(-1)**i",
    "((-1)**i)**i",
    "gcd(i, 12)",
    "gcd(i, i) - i",
    "gcd(i, i + 1)",
    "(i**2 - 1) / (i + 1) - i",
    "(i**2 + 3*i + 2) / (i + 1) - i",
    "1 / (i + 1) - 1 / (i + 1)",
    "2**i * 0.5**i",
    "2**(i + 1) / 2**i",
    "exp(i) / exp(i - 1) - exp(1)",
    "exp(i) * exp(-i)",
    "4**i - 2**(2 * i)",
    "6**i / 3**i - 2**i",
    "sin(i)**2 + cos(i)**2",
    "cos(2*i) - 2*cos(i)**2",
    "sin(2*i) - 2*sin(i)*cos(i)",
    "sin(i + 1) - sin(i)*cos(1) - cos(i)*sin(1)",
    "log(i) - log(i)",
    "log(2**i) - i*log(2)",
    "log(exp(i)) - i",
    "log(i**2) - 2*log(i)",
    "log(2*i) - log(i)",
    "log(i)/log(2) - log(2*i)/log(2)",
    "sqrt(i**2 + 2*i + 1) - i",
    "sqrt(i)**2 - i",
    "sqrt(4*i) - 2*sqrt(i)",
    "(sqrt(i) + 1)**2 - i - 2*sqrt(i)",
    "(sqrt(i + 1) - sqrt(i)) * (sqrt(i + 1) + sqrt(i))",
    "1 / (sqrt(i + 1) - sqrt(i)) - sqrt(i + 1) - sqrt(i)",
    "(i + 1)**3 - i**3 - 3*i**2 - 3*i",
    "floor(sqrt(i)) - floor(sqrt(i))",
    "floor(sqrt(i**2))- i",
    "floor(sqrt(i**2 + 1)) - i",
    "floor(10 * 0.5**i)",
    "floor(sqrt(i + 1) - sqrt(i))",
    "floor(sin(i) / 2)",
    "max(sin(i), 2)",
    "i if i < 30 else 1",
    "i % 7",
    "(i * (i + 1) / 2) % 5",
    "2**i % 7 if i < 9 else 0",
    "max(i, 10) - max(i, 10)",
    "1 if i > 3 else i",
    "cos(2 * pi * i**2)",
    "(i - 3) / abs(i - 3) if i > 3 else 0",
    "abs(-1)**i",
    "exp(log(i)) - i",
    "cos(i) - cos(-i)",
    "sin(pi * i)",
    "(1/3)**i - 3**(-i)",
    "i*i*0",
]
INFINITELY_MANY = [
    "min(i, log(i + 1) + sin(i))",
    "max(i, cos(i))",
    "i / 4 - cos(exp(-i))",
    "sin(i) % 5",
    "floor(sin(5) % i)",
    "sin(2**i)",
    "cos(exp(-i)) + gcd(i, 10)",
    "cos(log(i + 1))",
    "sqrt(i) % 4",
    "log(i + 1) % 5",
    "exp(-abs(sin(max(4, log(i)))))",
    "max(0.4, sin(i))",
    "min(cos(3), cos(i))",
    "(i * i + 7) / (2**i + 1)",
    "i if i * 4 < 2**i else 1",
    "7 % (i + 1) + log(1 + 1/i)",
    "sqrt(1 + exp(-i) / i)",
    "1 / (2 - sin(i))",
    "exp(-floor(2**i / 7))",
    "(sin(i) % (i + 1)) * (i % 4)",
    "gcd(2*i + 3, 4*i + 6)",
    "i",
    "i + 10 * (i % 2)",
    "1/i",
    "0.5**i",
    "(-0.5)**i",
    "sqrt(i)",
    "log(i)",
    "exp(-i)",
    "i**i",
    "sqrt(i**2 + 1) - i",
    "sqrt((i - 20)**2)",
    "abs(i - 20)",
    "(i - 20)**2",
    "i**2 - 7*i + 12",
    "floor(i / 3)",
    "floor(sqrt(i))",
    "i * (-1)**i",
    "i // 10 // 10",
    "2**i - i**5",
    "sin(i)",
    "cos(i) + cos(2*i)",
    "cos(i) * 0.5**i",
    "i * sin(i)",
    "i / (i + 5)",
    "min(2**i, i**2)",
    "max(10, i) - i % 3",
    "i if i > 30 else 1",
    "log(i + 1) - log(i)",
    "(1 + 1/i)**i",
    "exp(i) / (exp(i) + 1)",
    "i**0.5 - floor(i**0.5) + i",
]


class NoValue(Exception):
    """The formula has no real value there."""


class Unsure(Exception):
    """Two numbers that a choice compares agree to 30 digits."""


def text(tree: Tree) -> str:
    match tree:
        case ("i",) | ("j",) | ("n",):
            return str(tree[0])
        case ("number", written, _):
            return str(written)
        case ("neg", child):
            return f"-({text(child)})"
        case ("not", child):
            return f"not ({text(child)})"
        case ("if", condition, then, otherwise):
            return f"({text(then)}) if ({text(condition)}) else ({text(otherwise)})"
        case (name, *children) if name in CALLS:
            return f"{name}({', '.join(text(child) for child in children)})"
        case (name, left, right):
            return f"({text(left)}) {name} ({text(right)})"
    raise AssertionError(tree)


def value(tree: Tree, i: int, j: int, n: int = 0) -> Fraction:
    """The value by the definition of each operation, everything a Fraction."""
    match tree:
        case ("i",) | ("j",) | ("n",):
            return Fraction({"i": i, "j": j, "n": n}[tree[0]])
        case ("number", _, number):
            return Fraction(number)
        case ("if", condition, then, otherwise):
            return value(then if value(condition, i, j, n) else otherwise, i, j, n)
        case ("and", left, right):
            return Fraction(value(left, i, j, n) != 0 and value(right, i, j, n) != 0)
        case ("or", left, right):
            return Fraction(value(left, i, j, n) != 0 or value(right, i, j, n) != 0)
    name, *children = tree
    return _apply(name, [value(child, i, j, n) for child in children])


def _apply(name: str, operands: list[Fraction]) -> Fraction:
    a, b = operands[0], operands[-1]
    if name in ("/", "//", "%") and b == 0:
        raise NoValue
    if name == "gcd" and (a.denominator != 1 or b.denominator != 1):
        raise NoValue
    if name == "**":
        return _power(a, b)
    results = {
        "neg": lambda: -a,
        "not": lambda: a == 0,
        "abs": lambda: a if a > 0 else -a,
        "floor": lambda: _floor(a),
        "ceil": lambda: -_floor(-a),
        "min": lambda: a if a < b else b,
        "max": lambda: a if a > b else b,
        "gcd": lambda: math.gcd(a.numerator, b.numerator),
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "/": lambda: Fraction(a.numerator * b.denominator, a.denominator * b.numerator),
        "//": lambda: _floor(a / b),
        "%": lambda: a - b * _floor(a / b),
        "<": lambda: a < b,
        "<=": lambda: a <= b,
        ">": lambda: a > b,
        ">=": lambda: a >= b,
        "==": lambda: a == b,
        "!=": lambda: a != b,
    }
    return Fraction(results[name]())


def _floor(number: Fraction) -> int:
    return number.numerator // number.denominator


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or (base == 0 and exponent < 0):
        raise NoValue
    # Exponents beyond this stand for "too large": the caller sees to it that only 0, 1 and -1 get them.
    result = Fraction(1)
    for _ in range(abs(exponent.numerator)):
        result *= base
    return result if exponent >= 0 else 1 / result


def by_python(written: str, at: Mapping[str, int], *, real: bool = False) -> Any:
    """The value of the formula as Python computes it: a Fraction, or an mpf of 60 digits.

    It is the latter where functions or pi say that it may be irrational, or `real` does, as with roots by `**`.

    Raises:
        NoValue: there is none.
        Unsure: a choice hangs on more than 30 digits.
    """
    code, irrational = _compiled(written)
    irrational |= real
    with mpmath.workdps(DIGITS):
        values = {name: _Real(mpmath.mpf(number)) if irrational else Fraction(number) for name, number in at.items()}
        try:
            result = eval(code, {"__builtins__": {}, **(_REAL if irrational else _RATIONAL), **values})
        except (ZeroDivisionError, mpmath.libmp.ComplexResult):
            raise NoValue from None
    return result.number if isinstance(result, _Real) else Fraction(result)


@cache
def _compiled(written: str) -> tuple[CodeType, bool]:
    tree = ast.parse(written.strip(), mode="eval")
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    code = compile(ast.fix_missing_locations(_Exact().visit(tree)), "formula", "eval")
    return code, bool(used & {*IRRATIONAL, "pi"})


class _Exact(ast.NodeTransformer):
    """Rewriting of a formula: a number becomes number("its text"); `and`, `or`, `not` give 1 and 0."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Call(ast.Name("number", ast.Load()), [ast.Constant(str(node.value))], [])

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._truth(self.generic_visit(node))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        inner = self.generic_visit(node)
        return self._truth(inner) if isinstance(node.op, ast.Not) else inner  # type: ignore[return-value]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return self._truth(self.generic_visit(node))

    def _truth(self, node: Any) -> ast.expr:
        zero, unit = (self.visit_Constant(ast.Constant(number)) for number in (0, 1))
        return ast.IfExp(node, unit, zero)


class _Real:
    """A number of 60 digits that refuses to be compared with what it equals in the first 30."""

    def __init__(self, number: Any) -> None:
        self.number = number

    def _sign(self, other: "_Real") -> int:
        gap = self.number - other.number
        if gap != 0 and abs(gap) < mpmath.mpf(10) ** (-DIGITS // 2) * max(1, abs(self.number)):
            raise Unsure
        return int(mpmath.sign(gap))

    def __add__(self, other: "_Real") -> "_Real":
        return _Real(self.number + other.number)

    def __sub__(self, other: "_Real") -> "_Real":
        return _Real(self.number - other.number)

    def __mul__(self, other: "_Real") -> "_Real":
        return _Real(self.number * other.number)

    def __truediv__(self, other: "_Real") -> "_Real":
        if not other:
            raise NoValue
        return _Real(self.number / other.number)

    def __floordiv__(self, other: "_Real") -> "_Real":
        return (self / other).floor()

    def __mod__(self, other: "_Real") -> "_Real":
        return self - other * (self // other)

    def __pow__(self, other: "_Real") -> "_Real":
        if not other:
            return _Real(mpmath.mpf(1))
        integral = other.number == mpmath.nint(other.number)
        if (self.number < 0 and not integral) or (not self and other.number < 0):
            raise NoValue
        return _Real(self.number ** (int(other.number) if integral else other.number))

    def __neg__(self) -> "_Real":
        return _Real(-self.number)

    def __abs__(self) -> "_Real":
        return _Real(abs(self.number))

    def __bool__(self) -> bool:
        return self._sign(_Real(mpmath.mpf(0))) != 0

    def __lt__(self, other: "_Real") -> bool:
        return self._sign(other) < 0

    def __le__(self, other: "_Real") -> bool:
        return self._sign(other) <= 0

    def __gt__(self, other: "_Real") -> bool:
        return self._sign(other) > 0

    def __ge__(self, other: "_Real") -> bool:
        return self._sign(other) >= 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Real) and self._sign(other) == 0

    __hash__ = None  # type: ignore[assignment]

    def floor(self) -> "_Real":
        nearest = _Real(mpmath.nint(self.number))
        return _Real(mpmath.floor(self.number)) if self._sign(nearest) else nearest

    def as_integer(self) -> int:
        nearest = mpmath.nint(self.number)
        if self._sign(_Real(nearest)):
            raise NoValue
        return int(nearest)

    def apply(self, name: str) -> "_Real":
        if (name == "sqrt" and self < _REAL["number"]("0")) or (name == "log" and self <= _REAL["number"]("0")):
            raise NoValue
        return _Real(getattr(mpmath, name)(self.number))


def _gcd(first: Fraction, second: Fraction) -> Fraction:
    if first.denominator != 1 or second.denominator != 1:
        raise NoValue
    return Fraction(math.gcd(int(first), int(second)))


_RATIONAL: dict[str, Any] = {
    "number": Fraction,
    "min": min,
    "max": max,
    "abs": abs,
    "floor": lambda x: Fraction(math.floor(x)),
    "ceil": lambda x: Fraction(math.ceil(x)),
    "gcd": _gcd,
}
_REAL: dict[str, Any] = {
    "number": lambda written: _Real(mpmath.mpf(written)),
    "pi": _Real(mpmath.mpf(0)),
    "min": lambda *numbers: reduce(lambda a, b: b if b < a else a, numbers),
    "max": lambda *numbers: reduce(lambda a, b: b if b > a else a, numbers),
    "abs": abs,
    "floor": lambda x: x.floor(),
    "ceil": lambda x: -(-x).floor(),
    "gcd": lambda a, b: _Real(mpmath.mpf(math.gcd(a.as_integer(), b.as_integer()))),
    **{name: lambda x, name=name: x.apply(name) for name in IRRATIONAL},
}
with mpmath.workdps(DIGITS):
    _REAL["pi"] = _Real(+mpmath.pi)


def random_text(draw: Random, depth: int, names: Sequence[str]) -> str:
    """A formula without irrational functions; names are its leaves besides small numbers."""
    if depth == 0 or draw.random() < 0.15:
        return draw.choice([*names, "0", "1", "2", "3", "5", "0.5", "(-1)"])

    def part() -> str:
        return random_text(draw, depth - 1, names)

    kind = draw.random()
    if kind < 0.42:
        return f"({part()} {draw.choice(['+', '-', '*', '+', '-', '*', '/', '//', '%'])} {part()})"
    if kind < 0.5:
        return f"({part()})**{draw.choice(['2', '3', '(j-i)', 'i', '(-1)', '0'])}"
    if kind < 0.6:
        return f"({part()} {draw.choice(['<', '<=', '==', '!=', '>', '>='])} {part()})"
    if kind < 0.72:
        return f"{draw.choice(['min', 'max'])}({part()}, {part()})" if kind < 0.66 else f"abs({part()})"
    if kind < 0.77:
        return f"{draw.choice(['floor', 'ceil'])}({part()})"
    if kind < 0.8:
        return f"gcd(floor({part()}), floor({part()}))"
    if kind < 0.88:
        return f"({part()} if {part()} else {part()})"
    if kind < 0.94:
        return f"({part()} {draw.choice(['and', 'or'])} {part()})"
    return draw.choice([f"(not {part()})", "(j-i)", "(i+j)", "(j-i+1)"])


def random_real_text(draw: Random, depth: int, names: str = "ij") -> str:
    """A formula with irrational functions, identities among them."""
    if depth == 0:
        forms = [
            "({0}+{1})",
            "({0}-{1})",
            "2*{0}",
            "{0}/2",
            "{0}*{1}",
            "pi*{0}/3",
            "({0}*sqrt(2)-{1})",
            "pi*({0}+{1})/4",
        ]
        leaves = ["1", "2", "pi", "0.5", "3", "sqrt(2)", *names, *names]
        name, other = draw.choice(names), draw.choice(names)
        return draw.choice([draw.choice(forms).format(name, other), draw.choice(leaves)])

    def part() -> str:
        return random_real_text(draw, depth - 1, names)

    kind = draw.random()
    if kind < 0.28:
        return f"({part()} {draw.choice('+-*')} {part()})"
    if kind < 0.46:
        return f"{draw.choice(['sin', 'cos'])}({part()})"
    if kind < 0.52:
        return f"exp({draw.choice(['', '-'])}{random_real_text(draw, 0, names)})"
    if kind < 0.57:
        return f"log(abs({part()}) + {draw.choice(['1', '2'])})"
    if kind < 0.63:
        return f"sqrt(abs({part()}))"
    if kind < 0.7:
        return f"abs({part()})"
    if kind < 0.75:
        return f"({part()})**{draw.choice(['2', '3', '(-1)', '0.5', '4'])}"
    if kind < 0.8:
        return f"({part()} / {part()})"
    if kind < 0.84:
        return f"{draw.choice(['floor', 'ceil'])}({part()})"
    if kind < 0.88:
        return f"({part()} % {draw.choice(['2', '3', '1.5', 'pi'])})"
    if kind < 0.91:
        return f"({part()} if {part()} {draw.choice(['<', '<=', '==', '!='])} {part()} else {part()})"
    if kind < 0.95:
        return f"{draw.choice(['min', 'max'])}({part()}, {part()})"
    return _identity(draw, part())


def _identity(draw: Random, inner: str) -> str:
    angle = random_real_text(draw, 0)
    return (
        "("
        + draw.choice(
            [
                f"sin({angle})**2 + cos({angle})**2*1 + 0*{inner}",
                f"cos({angle} - {inner}) - cos({angle})*cos({inner}) - sin({angle})*sin({inner})",
                f"sin(2*{angle}) - 2*sin({angle})*cos({angle}) + {inner}",
                f"exp({angle} + sin({inner}))/exp({angle})",
                f"sqrt(({inner})**2)",
                f"abs({angle} - {inner}) - abs({inner} - {angle})",
            ]
        )
        + ")"
    )


def random_mixed_text(draw: Random, depth: int, names: Sequence[str]) -> str:
    """A formula with products, quotients by formulas, powers, roots, logarithms, waves, floors and choices."""
    if depth == 0 or draw.random() < 0.12:
        return draw.choice(names) if draw.random() < 0.7 else draw.choice("12345")

    def part() -> str:
        return random_mixed_text(draw, depth - 1, names)

    def number() -> str:
        return draw.choice(["2", "3", "4", "5", "7", "10"])

    forms = {
        f"({part()} {draw.choice('+-')} {part()})": 28,
        f"({part()} * {draw.choice([part(), number()])})": 8,
        f"({part()} / {draw.choice([number(), f'max(1, {part()})'])})": 6,
        f"({part()} // {draw.choice([number(), number(), draw.choice(names)])})": 10,
        f"({part()} % {draw.choice([number(), number(), draw.choice(names)])})": 10,
        f"{draw.choice(['min', 'max'])}({part()}, {part()})": 8,
        f"abs({part()})": 4,
        f"sqrt(abs({part()}))": 4,
        f"log(1 + abs({part()}))": 3,
        f"{draw.choice(['cos', 'sin'])}({part()})": 3,
        f"exp(-abs({part()}))": 2,
        f"floor({part()})": 3,
        f"{draw.choice(['2', '3', '(-1)'])}**{draw.choice(['i', 'j', '(j - i)', f'abs({part()})'])}": 3,
        f"gcd({draw.choice('ij')}, {draw.choice(['i', 'j', number()])})": 2,
        f"({part()} if {part()} {draw.choice(['<', '<=', '==', '!=', '>'])} {part()} else {part()})": 6,
    }
    return draw.choices(list(forms), list(forms.values()))[0]


def random_presburger_text(draw: Random, depth: int) -> str:
    """Random formula of Presburger arithmetic."""
    if not depth:
        return draw.choice(["i", "j", "j - i", "i + j", "i", "j", "n", *["1", "2", "3", "5", "7", "12", "22"]])

    def part() -> str:
        return f"({random_presburger_text(draw, depth - 1)})"

    return draw.choice(
        [
            f"{part()} {draw.choice('+-')} {part()}",
            f"{draw.choice((-3, -1, 2, 5))}*{part()}",
            f"{part()} // {draw.choice((2, 3, 7, -3, 1000))}",
            f"{part()} % {draw.choice((2, 3, 5, -4))}",
            f"{part()} % {draw.choice((7, 12))}",
            f"{draw.choice(('min', 'max'))}({part()}, {part()})",
            f"abs({part()})",
            f"{part()} if {part()} {draw.choice(('<', '<=', '==', '!='))} {part()} else {part()}",
            f"{part()} / {draw.choice((2, 3))}",
        ]
    )
