"""Decisions inside a check: identities, zeros, signs, enclosures, cases, induction. An open question raises an error.

Two engines decide identities exactly, and refute them with a point at which the two sides differ. sympy evaluates while
it builds an expression, so an identity may hold before any engine sees it. Therefore a side is best given as a function
that builds it: it is called with sympy's evaluation switched off. Products of matrices, exponentials of sums and
positions in formulas then reach both engines as they are written.

Zeros, signs and the case of a formula that holds are decided or raise `Undecided`. Comparisons of enclosures are
certain. Induction goes over the length of a path: sums and products with symbolic ends over an indexed family of
scalars.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import sympy as sp
from sympy.matrices import dotprodsimp

from lengthgen.proofs_checks.claim import Refuted
from lengthgen.theory.zero import equality, sympy_engine, two_engines
from lengthgen.theory.zero.enclosure import enclose
from lengthgen.theory.zero.sympy_engine import Undecided
from lengthgen.theory.zero.two_engines import engine_trees

Value: TypeAlias = Any  # sp.Expr | sp.Matrix, for which there are no types
Side: TypeAlias = Value | Callable[[], Value]
"""A side of an identity, or a function that builds it and is called with sympy's evaluation switched off."""
Formula: TypeAlias = Callable[..., Value]
"""Part of a statement that falsifiers replace: a function of expressions."""
_BITS = 128


def derivative(value: Value, symbol: sp.Symbol) -> Value:
    """Return the unevaluated derivative of each entry; the engines evaluate it."""
    if isinstance(value, sp.MatrixBase):
        return value.applyfunc(lambda entry: sp.Derivative(entry, symbol))
    return sp.Derivative(value, symbol)


def product(left: sp.Matrix, right: sp.Matrix) -> sp.Matrix:
    """Return the matrix product with every sum of products unevaluated; sympy would evaluate numbers at once."""
    with sp.evaluate(False):
        return sp.Matrix(
            left.rows,
            right.cols,
            lambda row, column: sp.Add(*(left[row, at] * right[at, column] for at in range(left.cols))),
        )


def require_equal(what: str, left: Side, right: Side, *, squares: sympy_engine.Squares | None = None) -> str:
    """Return the fact that the two sides are identical, entry by entry.

    >>> require_equal("a square", (sp.Symbol("x") + 1) ** 2, sp.Symbol("x") ** 2 + 2 * sp.Symbol("x") + 1)
    'a square: 1 entry decided equal over Q(i) and again by python-flint'

    Two engines decide each entry (`lengthgen.theory.zero.two_engines`), except entries that are the same expression on
    both sides. The fact says how many those are. It also names the parts that sympy evaluated, because no engine
    decided them.

    Args:
        what: name of the identity, for the fact and the messages.
        left: expression or matrix, or a function that builds it.
        right: the other side, with as many entries.
        squares: symbol -> its square, for symbols that stand for square roots (see `theory.zero.sympy_engine`).

    Raises:
        Refuted: the sides differ; the message has the entry, the point and both values.
        OneExpression: no entry is left to decide.
        EnginesDisagree: the answers of the two engines differ.
        Undecided, FlintUndecided: an entry is outside the fragment of an engine.
    """
    lefts, rights = _sides(what, left, right)
    trees = engine_trees((*lefts, *rights))
    pairs = list(zip(trees.trees[: len(lefts)], trees.trees[len(lefts) :], strict=True))
    same = [left_tree for left_tree, right_tree in pairs if left_tree == right_tree]
    if len(same) == len(pairs):
        raise two_engines.OneExpression(f"{what}: the sides are one expression, so nothing is decided: {same}")
    rings: tuple[set[str], set[str]] = (set(), set())
    for position, (left_tree, right_tree) in enumerate(pairs):
        if left_tree == right_tree:
            continue
        try:
            answer, second_answer = two_engines.decide(left_tree, right_tree, squares=squares)
        except two_engines.EnginesDisagree as error:
            raise two_engines.EnginesDisagree(f"{what}, entry {position + 1}: {error}") from error
        if not answer.zero:
            raise Refuted(_difference(what, position, lefts[position].doit(), rights[position].doit(), squares))
        rings[0].update(f"({name})^±1" for name in answer.generators)
        rings[1].update(second_answer.generators)
    ring, second_ring = map(_ring, rings)
    again = "" if second_ring == ring else f" over {second_ring}"
    decided = f"{_count(len(pairs) - len(same))} decided equal over {ring} and again by python-flint{again}"
    return f"{what}: {decided}{_same_as_written(same)}{_evaluated(trees.evaluated)}"


def same_by_sympy(what: str, left: Side, right: Side) -> str:
    """Return the fact that sympy evaluates both sides to the same expression, which leaves nothing to the engines.

    This is for sides outside the engines' fragment, such as powers with symbols in their exponents. If sympy leaves the
    sides different, the engines decide; raises as `require_equal` does.
    """
    lefts, rights = ([entry.doit() for entry in side] for side in _sides(what, left, right))
    if lefts != rights:
        return require_equal(what, sp.Matrix(lefts), sp.Matrix(rights))
    return f"{what}: sympy evaluates both sides to {', '.join(map(str, lefts))}; no engine decides"


def _sides(what: str, left: Side, right: Side) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """Entries of both sides. Raises `Refuted` if their numbers differ."""
    lefts, rights = _entries(left), _entries(right)
    if len(lefts) != len(rights):
        raise Refuted(f"{what}: the sides have {len(lefts)} and {len(rights)} entries")
    return lefts, rights


def _same_as_written(same: list[sp.Expr]) -> str:
    """Text that counts the entries that needed no decision: 0, or the same expression, on both sides."""
    zeros = sum(1 for entry in same if entry == 0)
    others = len(same) - zeros
    return (f"; {_count(zeros)} 0 on both sides as written" if zeros else "") + (
        f"; {_count(others)} one expression on both sides as written" if others else ""
    )


def _evaluated(parts: dict[sp.Expr, sp.Expr]) -> str:
    """Text that lists the expressions which sympy evaluated before the engines decided."""
    values = dict.fromkeys(map(str, parts.values()))
    return f"; evaluated by sympy before: {', '.join(values)}" if values else ""


def _count(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries} entries"


def _ring(generators: set[str]) -> str:
    """Name of the polynomial ring over the Gaussian rationals in these generators."""
    return "Q(i)" + "".join(f"[{name}]" for name in sorted(generators))


def _entries(side: Side) -> list[sp.Expr]:
    """Entries of a side; a function that builds it is called with sympy's evaluation switched off."""
    if callable(side) and not isinstance(side, sp.Basic):
        with sp.evaluate(False), dotprodsimp(False):
            return _entries(side())
    return list(side) if isinstance(side, sp.MatrixBase) else [sp.sympify(side, strict=True)]


def _difference(what: str, position: int, left: sp.Expr, right: sp.Expr, squares: sympy_engine.Squares | None) -> str:
    """Message with a point at which the two entries differ, and their values there."""
    point = sympy_engine.witness(left - right, squares=squares)
    point |= {symbol: sp.Integer(1) for symbol in (left.free_symbols | right.free_symbols) - set(point)}
    place = ", ".join(f"{symbol} = {point[symbol]}" for symbol in sorted(point, key=str)) or "every point"
    values = f"{_number(left, point)} != {_number(right, point)}"
    return f"{what}, entry {position + 1}: {values} at {place}"


def _number(expression: sp.Expr, point: dict[sp.Symbol, sp.Expr]) -> str:
    """Value of the expression at the point, as text with 6 digits."""
    return str(sp.N(expression.subs(point), 6))


def is_zero(value: sp.Expr) -> bool:
    """Return whether a value is identically zero. Raises `Undecided` if neither is proved."""
    answer = equality.zero(value)
    if answer is equality.Answer.UNDECIDED:
        raise Undecided(f"{value} is neither proved to be 0 nor not to be")
    return answer is equality.Answer.YES


def sign(value: sp.Expr) -> int:
    """Return the sign of a value, -1, 0 or 1. Raises `Undecided` if it depends on a parameter or is not found."""
    answer = equality.sign(value)
    if answer is None:
        raise Undecided(f"the sign of {value} is not known")
    return answer


def ball(number: sp.Expr) -> Any:
    """Return a ball (midpoint and radius) that contains the number; comparisons of balls are true only if certain.

    Raises `ArithmeticError` if no enclosure is found.
    """
    enclosure = enclose(number, bits=_BITS)
    if enclosure is None:
        raise ArithmeticError(f"no enclosure of {number}")
    return enclosure


def short(number: Any, digits: int = 4) -> str:
    """Return the midpoint of a ball as text."""
    return f"{float(number.mid()):.{digits}g}"


def empty_value(what: str, path: sp.Expr) -> sp.Expr:
    """Return the value of a path whose two ends meet: its few terms written out; 0 or 1 if it has none.

    Raises `Refuted` if the number of terms is not a number from 0 on.
    """
    with sp.evaluate(True):
        path = _evaluated_path(path)
        _, lower, upper = path.limits[0]
        length = sp.expand(upper - lower + 1)
        if not (length.is_Integer and length >= 0):
            raise Refuted(f"{what}: the path from a position to itself has {length} terms")
        terms = [_term(path, lower + offset) for offset in range(int(length))]
        return sp.Add(*terms) if isinstance(path, sp.Sum) else sp.Mul(*terms)


def last_term(what: str, path: sp.Expr, extended: sp.Expr) -> sp.Expr:
    """Return the single term that the extended path has and the path has not.

    Raises `Refuted` if `extended` is not the path with one more term.
    """
    with sp.evaluate(True):
        path, extended = _evaluated_path(path), _evaluated_path(extended)
        *start, upper = path.limits[0]
        *extended_start, extended_upper = extended.limits[0]
        same_family = (extended.func, extended.function) == (path.func, path.function)
        if not (same_family and extended_start == start and sp.expand(extended_upper - upper) == 1):
            raise Refuted(f"{what}: {extended} is not {path} with one more term")
        return _term(path, extended_upper)


def next_term(what: str, path: Formula, key: sp.Expr, query: sp.Expr) -> sp.Expr:
    """Return the term by which the path from the key to the next query is longer; raises as `last_term` does."""
    return last_term(what, path(key, query), path(key, query + 1))


def combine(path: sp.Expr, value: sp.Expr, term: sp.Expr) -> sp.Expr:
    """Return the value of the extended path from the value of the path and the last term."""
    return value + term if isinstance(path, sp.Sum) else value * term


def _evaluated_path(path: sp.Expr) -> sp.Expr:
    """Path with its terms and ends evaluated, in case it was built with evaluation off."""
    return path.func(path.function.doit(), *(tuple(part.doit() for part in limit) for limit in path.limits))


def _term(path: sp.Expr, index: sp.Expr) -> sp.Expr:
    """Term of the path at an index, with each member of the family replaced by a plain symbol."""
    term = path.function.subs(path.limits[0][0], index)
    return term.xreplace({member: sp.Symbol(str(member), real=True) for member in term.atoms(sp.Indexed)})


def decided_cases(value: sp.Expr) -> sp.Expr:
    """Value with each condition of a case decided by the sign of the difference of its sides.

    Raises `Undecided` if the assumptions on the symbols leave a sign open.
    """

    def holds(test: sp.Basic) -> bool:
        difference = sp.factor(sp.together(sp.expand(test.lhs - test.rhs)))
        answers = {
            sp.GreaterThan: difference.is_nonnegative,
            sp.StrictGreaterThan: difference.is_positive,
            sp.LessThan: difference.is_nonpositive,
            sp.StrictLessThan: difference.is_negative,
        }
        answer = answers[type(test)]
        if answer is None:
            raise Undecided(f"{test} is not decided")
        return bool(answer)

    def case(cases: sp.Piecewise) -> sp.Expr:
        for part, condition in cases.args:
            tests = {test: sp.sympify(holds(test)) for test in condition.atoms(sp.core.relational.Relational)}
            if condition.xreplace(tests) == sp.true:
                return part
        raise Undecided(f"no case of {cases} holds")

    return value.replace(lambda part: isinstance(part, sp.Piecewise), case)
