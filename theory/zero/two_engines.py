"""Double decision of an identity, by two engines that share no code, so that an error of one engine is noticed.

What is decided can be recorded, so that certificates and lemmas are written from the very trees that the engines saw.

The engines know rational functions over Q(i) of symbols and of exponential, trigonometric and hyperbolic functions of
polynomials without constant term, and derivatives. `engine_trees` prepares other unevaluated expressions: any other
part, such as a logarithm or a power with a symbol in its exponent, is evaluated by sympy and replaced by a name; equal
parts get the same name. So equal trees with names are equal expressions, but different trees may be equal expressions
too.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import sympy as sp

from lengthgen.theory.zero import flint_engine, sympy_engine

Answer = TypeVar("Answer")

_KNOWN_FUNCTIONS = (
    *(sp.exp, sp.sin, sp.cos, sp.tan, sp.cot, sp.sec, sp.csc),
    *(sp.sinh, sp.cosh, sp.tanh, sp.coth, sp.sech, sp.csch),
)


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Two sides, as the engines saw them, the squares of the roots, and whether the sides are identical."""

    left: sp.Expr
    right: sp.Expr
    squares: tuple[tuple[sp.Symbol, sp.Expr], ...]
    zero: bool


class EnginesDisagree(Exception):
    """Raised if the two engines decide one identity differently: one of them is wrong, so nothing is decided."""


class OneExpression(Exception):
    """Raised if both sides of an identity are the same expression, so that nothing is left for an engine to decide.

    The message has several parts, of which expressions become text only if it is read: that of a long one takes time.
    """

    def __str__(self) -> str:
        """Return the message."""
        return "".join(map(str, self.args))


def decide(
    left: sp.Expr, right: sp.Expr, *, squares: sympy_engine.Squares | None = None
) -> tuple[sympy_engine.Decision, flint_engine.FlintDecision]:
    """Decide whether both sides are identical, by sympy_engine.py and by flint_engine.py; both answers are equal.

    Each engine evaluates each side itself, so a side should be passed unevaluated: the engines do not see what sympy
    has evaluated before.

    Raises:
        OneExpression: the sides are the same tree.
        EnginesDisagree: the answers differ.
        Undecided: the sides are outside the fragment of the first engine.
        FlintUndecided: they are outside the fragment of the second engine.
    """
    if left == right:
        raise OneExpression("the sides are one expression, so nothing is decided: ", left)
    first = sympy_engine.decide(left, right, squares=squares)
    second = flint_engine.decide(left, right, squares=squares)
    if first.zero != second.zero:
        answers = f"{_answer(first.zero)} by sympy, {_answer(second.zero)} by python-flint"
        raise EnginesDisagree(f"{answers}: {left} = {right}")
    _report([Identity(left=left, right=right, squares=tuple((squares or {}).items()), zero=first.zero)])
    return first, second


def _answer(zero: bool) -> str:
    """Answer in words."""
    return "equal" if zero else "not equal"


_RECORD: ContextVar[list[Identity] | None] = ContextVar("record", default=None)


@contextmanager
def recorded() -> Iterator[list[Identity]]:
    """Yield a list that receives every identity decided inside the `with` block, in order."""
    record: list[Identity] = []
    outer = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(outer)


def remembered(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """Cache the answers of a function of hashable arguments; a remembered answer reports its identities again."""
    answers: dict[Hashable, tuple[Answer, list[Identity]]] = {}

    @wraps(function)
    def remembering(*arguments: Hashable) -> Answer:
        if arguments not in answers:
            with recorded() as identities:
                answers[arguments] = function(*arguments), identities
        answer, identities = answers[arguments]
        _report(identities)
        return answer

    return remembering


def _report(identities: list[Identity]) -> None:
    """Add identities to the list of the innermost `recorded` block, if there is one."""
    record = _RECORD.get()
    if record is not None:
        record += identities


@dataclass(frozen=True, kw_only=True)
class EngineTrees:
    """Expression trees that the engines know.

    Attributes:
        trees: the trees in order, with names for the unknown parts.
        evaluated: the parts that sympy evaluated, and their values.
    """

    trees: tuple[sp.Expr, ...]
    evaluated: dict[sp.Expr, sp.Expr]


def engine_trees(trees: Iterable[sp.Expr]) -> EngineTrees:
    """Trees with a name for each part that the engines do not know. Label [F]."""
    reader = _Reader()
    return EngineTrees(trees=tuple(map(reader.read, trees)), evaluated=reader.evaluated)


@dataclass
class _Reader:
    """Reader that shares names and evaluated parts between trees."""

    evaluated: dict[sp.Expr, sp.Expr] = field(default_factory=dict)
    _read: dict[sp.Expr, sp.Expr] = field(default_factory=dict)
    _names: dict[sp.Expr, sp.Symbol] = field(default_factory=dict)

    def read(self, node: sp.Expr) -> sp.Expr:
        """Tree of a node, cached."""
        if node not in self._read:
            self._read[node] = self._known(node)
        return self._read[node]

    def _known(self, node: sp.Expr) -> sp.Expr:
        if node.is_Symbol or node.is_Rational or node is sp.I:
            return node
        if node.is_Add or node.is_Mul:
            return node.func(*map(self.read, node.args), evaluate=False)
        if node.is_Pow and node.exp.doit().is_Integer and not _is_root(node.base):
            return sp.Pow(self.read(node.base), node.exp, evaluate=False)
        if isinstance(node, _KNOWN_FUNCTIONS):
            argument = self._argument(node.args[0])
            if argument is not None:
                return node.func(argument, evaluate=False)
        if isinstance(node, sp.Derivative) and self._knows(node.expr):
            return sp.Derivative(self.read(node.expr), *node.args[1:])
        return self._evaluated(node)

    def _argument(self, node: sp.Expr) -> sp.Expr | None:
        """Argument of a known function; None if it has numbers or logs, so that sympy evaluates the function."""
        argument = self.read(node)
        values = {name: value for value, name in self._names.items()}
        named = [values[name] for name in argument.atoms(sp.Dummy) if name in values]
        if any(value.is_number or value.has(sp.log) for value in named) or not _is_argument(argument):
            return None
        return argument

    def _knows(self, node: sp.Expr) -> bool:
        """True if the node needs no name."""
        return not self.read(node).atoms(sp.Dummy) - node.atoms(sp.Dummy)

    def _evaluated(self, node: sp.Expr) -> sp.Expr:
        """Tree of a part that sympy evaluates."""
        value = node.doit()
        self.evaluated[node] = value
        if value != node and _is_made_of_parts(value):
            return self.read(value)
        return self._names.setdefault(value, sp.Dummy(str(value)))


def _is_root(base: sp.Expr) -> bool:
    """True if the base is itself a power with an exponent that is not an integer."""
    return bool(base.is_Pow and not base.exp.doit().is_Integer)


def _is_made_of_parts(value: sp.Expr) -> bool:
    """True if the value is known, or a sum, a product or an integer power, whose parts may be known."""
    integer_power = value.is_Pow and value.exp.is_Integer and not _is_root(value.base)
    leaf = value.is_Symbol or value.is_Rational or value is sp.I
    return bool(leaf or value.is_Add or value.is_Mul or integer_power or isinstance(value, _KNOWN_FUNCTIONS))


def _is_argument(argument: sp.Expr) -> bool:
    """True if the expression is a polynomial over Q(i) without constant term."""
    value: Any = sp.expand(argument.doit())
    symbols = value.free_symbols
    return bool(value.is_polynomial(*symbols)) and all(
        term.free_symbols and all(part.is_Rational for part in term.as_coeff_mul(*symbols)[0].as_real_imag())
        for term in sp.Add.make_args(value)
        if term != 0
    )
