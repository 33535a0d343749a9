"""Grammar of position patterns: turn the text of a formula into a syntax tree of our own nodes, never executing it.

A pattern is A(i, j), i the key and j the query, 1-based, i <= j; with n in it, A(i, j, n) at scale n.  For vector
tokens, a matrix of formulas, [[a, b], [c, d]], is a pattern of matrices.

Grammar: names i, j, n, pi and the parameters that the caller declares; integers and decimal numbers (0.5 is read as
the exact fraction 1/2); + - * / // % **; comparisons, and, or, not (1 for true, 0 for false);
`a if condition else b`; and the functions in FUNCTIONS.
"""

import ast
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from lengthgen.infrastructure.errors import LengthgenError

MAX_LENGTH = 2_000
"""Largest number of characters: more than a person writes, less than overflows the parser stack."""
MAX_DEPTH = 100
"""Largest nesting depth of the syntax tree."""
MAX_NESTED = 20
"""Largest nesting of functions with irrational values; each level examines the inner value again."""
MAX_BITS = 4_096
"""Largest size in bits of any number; larger ones are refused before they are computed."""
MAX_SIDE = 16
"""Largest number of rows or columns of a matrix of formulas."""

VARIABLES = ("i", "j", "n")
FUNCTIONS = {
    "min": (2, 20),
    "max": (2, 20),
    "abs": (1, 1),
    "floor": (1, 1),
    "ceil": (1, 1),
    "gcd": (2, 2),
    "sqrt": (1, 1),
    "exp": (1, 1),
    "log": (1, 1),
    "sin": (1, 1),
    "cos": (1, 1),
}
"""Functions of the grammar: name -> (fewest, most) arguments."""
IRRATIONAL = frozenset({"sqrt", "exp", "log", "sin", "cos"})
"""Functions whose values are mostly irrational."""

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Not: "not"}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


class FormulaError(LengthgenError):
    """The formula cannot be read, or has no value at some pair; the one-line message says where."""


class NoValue(FormulaError):
    """The formula has no real value at some pair.

    Attributes:
        cell: (i, j), or (i, j, n) for a family of patterns; None if the pair is not known.
    """

    def __init__(self, message: str, cell: tuple[int, ...] | None = None) -> None:
        super().__init__(message)
        self.cell = cell


@dataclass(frozen=True)
class Number:
    """A rational number."""

    value: int | Fraction


@dataclass(frozen=True)
class Name:
    """A variable (i, j, n), the number pi, or a declared parameter."""

    name: str


@dataclass(frozen=True)
class Operation:
    """An operator or function applied to operands; "if" has the operands (condition, then, otherwise)."""

    name: str
    operands: tuple["Node", ...]


@dataclass(frozen=True)
class ComparisonChain:
    """A chain of comparisons, sides[0] tests[0] sides[1] tests[1] ..., such as a < b < c.

    Each side is computed once, and the sides after the first failed comparison are not computed.
    """

    tests: tuple[str, ...]
    sides: tuple["Node", ...]


Node = Number | Name | Operation | ComparisonChain


def children(node: Node) -> tuple[Node, ...]:
    """Direct subtrees of a node."""
    match node:
        case Operation(operands=parts) | ComparisonChain(sides=parts):
            return parts
    return ()


def names(node: Node) -> frozenset[str]:
    """Names of the variables and parameters in a tree."""
    if isinstance(node, Name):
        return frozenset() if node.name == "pi" else frozenset({node.name})
    return frozenset().union(*(names(child) for child in children(node)))


def with_numbers(node: Node, values: Mapping[str, int]) -> Node:
    """Tree with numbers in place of some names."""
    match node:
        case Name(name=name) if name in values:
            return Number(values[name])
        case Operation(name=name, operands=parts):
            return Operation(name, tuple(with_numbers(part, values) for part in parts))
        case ComparisonChain(tests=tests, sides=sides):
            return ComparisonChain(tests, tuple(with_numbers(side, values) for side in sides))
    return node


def may_be_irrational(node: Node) -> bool:
    """True if the tree contains pi or a function of IRRATIONAL, so that its value may be irrational."""
    match node:
        case Name(name="pi"):
            return True
        case Operation(name=name) if name in IRRATIONAL:
            return True
    return any(map(may_be_irrational, children(node)))


def read(text: str, parameters: Iterable[str] = ()) -> list[list[Node]]:
    """Parse a formula into rows of syntax trees; a pattern of numbers has one row with one tree.

    Raises:
        FormulaError: the text is too long or not in the grammar of this module, or it contains an unknown name.
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the formula has {len(text):,} characters; at most {MAX_LENGTH:,} are read")
    declared = tuple(parameters)
    for name in declared:
        if not name.isidentifier() or name in (*VARIABLES, "pi", *FUNCTIONS):
            raise FormulaError(f"'{name:.40}' cannot name a parameter: choose a word that the grammar does not use")
    source = text.strip()
    try:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
            tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error).split(";")[0]
        raise FormulaError(f"not a formula: {reason or 'too deeply nested'}") from None
    reader = _Reader(source, declared)
    if not isinstance(tree, ast.List):
        return [[reader.component(tree)]]
    rows = [row.elts if isinstance(row, ast.List) else [] for row in tree.elts]
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1 or max(len(rows), len(rows[0])) > MAX_SIDE:
        raise FormulaError(f"a matrix is written [[a, b], [c, d]], its rows equally long, of at most {MAX_SIDE} each")
    return [[reader.component(entry) for entry in row] for row in rows]


@dataclass(frozen=True)
class _Reader:
    """Converter from Python syntax trees to the nodes of the grammar."""

    text: str
    parameters: tuple[str, ...]

    def component(self, tree: ast.expr) -> Node:
        """Node of one component; functions that are nested too deeply are refused."""
        node = self.node(tree, 0)
        if _irrational_depth(node) > MAX_NESTED:
            raise FormulaError(f"{', '.join(sorted(IRRATIONAL))} are nested more than {MAX_NESTED} deep")
        return node

    def node(self, tree: ast.expr, depth: int) -> Node:
        """Convert a Python syntax tree; every construct outside the grammar is refused."""
        if depth > MAX_DEPTH:
            raise FormulaError(f"the formula is nested more than {MAX_DEPTH} deep")

        def inner(*parts: ast.expr) -> tuple[Node, ...]:
            return tuple(self.node(part, depth + 1) for part in parts)

        match tree:
            case ast.Constant(value=value) if type(value) is int:
                return Number(bounded(value))
            case ast.Constant(value=value) if type(value) is float:
                return Number(_decimal((ast.get_source_segment(self.text, tree) or "").replace("_", "")))
            case ast.Name(id=name):
                return self._name(name)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                return Operation(BINARY[type(op)], inner(left, right))
            case ast.BinOp(op=ast.BitXor()):
                raise FormulaError("'^' is not known here: write a power as **")
            case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
                return Operation(UNARY[type(op)], inner(operand))
            case ast.BoolOp(op=op, values=values):
                return Operation("and" if isinstance(op, ast.And) else "or", inner(*values))
            case ast.Compare(left=left, ops=ops, comparators=rights) if all(type(op) in COMPARISONS for op in ops):
                return ComparisonChain(tuple(COMPARISONS[type(op)] for op in ops), inner(left, *rights))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Operation("if", inner(test, body, orelse))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
                fewest, most = FUNCTIONS[name]
                if not fewest <= len(arguments) <= most:
                    expected = str(fewest) if fewest == most else f"{fewest} to {most}"
                    raise FormulaError(f"{name} takes {expected} arguments, not {len(arguments)}")
                return Operation(name, inner(*arguments))
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
                raise FormulaError(f"{name} takes its arguments by position, not by name")
            case ast.Call(func=ast.Name(id=name)):
                raise FormulaError(f"unknown function '{name}': a formula knows {', '.join(FUNCTIONS)}")
            case ast.List():
                raise FormulaError("a matrix can only be the whole formula, not a part of it")
        raise FormulaError(f"a formula cannot contain {_describe(tree)}")

    def _name(self, name: str) -> Name:
        """Node of a name; unknown names are refused."""
        if name in (*VARIABLES, "pi", *self.parameters):
            return Name(name)
        declared = f", {', '.join(self.parameters)} (parameters)" if self.parameters else ""
        raise FormulaError(
            f"unknown name '{name}': a formula knows i (key), j (query), n (scale), pi{declared}; "
            "declare a free parameter to use one"
        )


def _irrational_depth(node: Node) -> int:
    """Nesting depth of functions with irrational values."""
    own_level = isinstance(node, Operation) and node.name in IRRATIONAL
    return own_level + max(map(_irrational_depth, children(node)), default=0)


def bounded(value: int) -> int:
    """Return the value itself.

    Raises:
        FormulaError: the value has more than MAX_BITS bits.
    """
    if value.bit_length() > MAX_BITS:
        raise FormulaError(f"a number of more than {MAX_BITS} bits comes up")
    return value


def _decimal(literal: str) -> int | Fraction:
    """Exact value of a decimal literal."""
    mantissa, _, exponent = literal.lower().partition("e")
    # Fraction("1e999999999") would be computed before its size could be refused.
    if exponent and abs(int(exponent)) > MAX_BITS // 4:
        raise FormulaError(f"a number of more than {MAX_BITS} bits comes up")
    value = Fraction(mantissa) * Fraction(10) ** int(exponent or 0)
    bounded(value.numerator), bounded(value.denominator)
    return int(value) if value.denominator == 1 else value


def _describe(tree: ast.expr) -> str:
    """Words for a Python construct in an error message."""
    descriptions = {
        ast.Attribute: "attribute access",
        ast.Call: "a call of anything but its own functions",
        ast.Subscript: "an index",
        ast.Lambda: "a lambda",
        ast.Constant: f"the constant {getattr(tree, 'value', None)!r:.40}",
    }
    return descriptions.get(type(tree), f"this ({type(tree).__name__})")
