"""First exact engine, on sympy's polynomials: is an exponential-polynomial expression identically zero?

The fragment: rational functions over Q(i) of symbols, of `exp(m)` with `m` a polynomial without constant term over
Q(i), and of the trigonometric and hyperbolic functions of such `m`. Symbols may be bound as square roots, `s**2 = r`,
of polynomials `r` in the other symbols.

Why both answers are right. Each monomial `m` that occurs in an exponent gives two generators, exp(m/D) and exp(I*m/D),
where D clears the denominators. The expression becomes P/Q with P, Q polynomials in symbols and generators over Q(i).

* P = 0 modulo the relations => the expression is zero wherever Q is not: every rewriting is an identity of functions.
* P != 0 => the expression is not identically zero. Let K = C(symbols)(roots), a field because no product of distinct
  `r` is a square. Different power products of the generators are exponentials of elements of K whose difference is not
  constant. Such exponentials are linearly independent over K: differentiate a shortest relation and subtract to get a
  shorter one, or else exp(g) would be algebraic over K for a non-constant g, which it never is. So a P that vanishes as
  a function has all its coefficients zero in K, that is, zero remainder modulo the relations. The relations are monic
  in distinct variables, hence a Groebner basis, and division decides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations
from operator import mul
from random import Random
from typing import Any

import sympy as sp
from sympy.polys.polyerrors import BasePolynomialError

Squares = Mapping[sp.Symbol, sp.Expr]

_REWRITTEN = (sp.sin, sp.cos, sp.tan, sp.cot, sp.sec, sp.csc, sp.sinh, sp.cosh, sp.tanh, sp.coth, sp.sech, sp.csch)
_WITNESS_TRIALS = 200
_WITNESS_DIGITS = 30
_WITNESS_LEAST = sp.Rational(1, 10**9)


class Undecided(Exception):
    """Raised if the expression is outside the fragment in which zero can be decided exactly."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Answer of the first engine.

    Attributes:
        zero: True if the difference of the two sides is identically zero.
        generators: the exponentials that served as polynomial generators.
    """

    zero: bool
    generators: tuple[str, ...]


def is_zero(expression: sp.Expr, *, squares: Squares | None = None) -> bool:
    """True if `expression` vanishes identically; see `decide`."""
    return decide(expression, sp.Integer(0), squares=squares).zero


def decide(left: sp.Expr, right: sp.Expr, *, squares: Squares | None = None) -> Decision:
    """Decide exactly whether `left` and `right` are identical, given `root**2 == squares[root]`. Label [F].

    Either side may be an unevaluated tree, with derivatives in it. sympy evaluates each side separately, and their
    difference is computed between polynomials.

    Raises:
        Undecided: the expressions are outside the fragment.
        ValueError: the relations do not define a field.
        ZeroDivisionError: a denominator is identically zero.
    """
    with sp.evaluate(True):  # parts of the answer are cached: they must not depend on the caller's setting
        return _decide(left, right, dict(squares or {}))


def _decide(left: sp.Expr, right: sp.Expr, relations: Squares) -> Decision:
    """Decision of `decide`, with sympy's evaluation switched on."""
    left, right = (sp.sympify(side, strict=True) for side in (left, right))
    _check_relations(tuple(relations.items()))
    _check_derivatives((left, right), relations)
    sides = sp.Tuple(*(_evaluated(side) for side in (left, right)))
    if any(node.is_Float for node in _nodes(sides)):
        raise Undecided(f"floating-point number in {sides}: use rationals")
    polynomial_form, exponentials = _name_exponentials(sides, relations)
    roots = sorted(relations, key=str)
    radicand_symbols = [square.free_symbols for square in relations.values()]
    variables = roots + sorted(polynomial_form.free_symbols.union(*radicand_symbols) - set(roots), key=str)
    ideal = [root**2 - relations[root] for root in roots]
    fractions = [_fraction(side) for side in polynomial_form]
    for side, (_, denominator) in zip((left, right), fractions, strict=True):
        if _vanishes(denominator, ideal, variables):
            raise ZeroDivisionError(f"the denominator of {side} is identically zero")
    (numerator, denominator), (other_numerator, other_denominator) = fractions
    zero = _vanishes(numerator * other_denominator - other_numerator * denominator, ideal, variables)
    return Decision(zero=zero, generators=tuple(map(str, exponentials)))


def _evaluated(side: sp.Expr) -> sp.Expr:
    """Side with its unevaluated parts computed, and written in exponentials."""
    value = side.doit()
    return value.rewrite(_REWRITTEN, sp.exp) if any(isinstance(node, _REWRITTEN) for node in _nodes([value])) else value


def witness(expression: sp.Expr, *, squares: Squares | None = None) -> dict[sp.Symbol, sp.Expr]:
    """Point of small positive integers at which a non-zero expression is clearly non-zero (roots taken positive).

    Raises:
        Undecided: no tried point shows that the expression is not zero.
    """
    relations = dict(squares or {})
    all_symbols = set(expression.free_symbols).union(*(square.free_symbols for square in relations.values()))
    symbols = sorted(all_symbols - set(relations), key=str)
    generator = Random(0)
    for _ in range(_WITNESS_TRIALS):
        point: dict[Any, Any] = {symbol: sp.Integer(generator.randint(1, 5)) for symbol in symbols}
        radicands = {root: square.subs(point) for root, square in relations.items()}
        if not all(radicand.is_positive for radicand in radicands.values()):
            continue
        point |= {root: sp.sqrt(radicand) for root, radicand in radicands.items()}
        if abs(sp.N(expression.subs(point), _WITNESS_DIGITS)) > _WITNESS_LEAST:
            return point
    raise Undecided(f"{expression} is not identically zero, but no small point shows it")


def _check_derivatives(sides: Iterable[sp.Expr], relations: Squares) -> None:
    """Raise `Undecided` for a derivative by a symbol on which a root depends."""
    rooted = set(relations).union(*(square.free_symbols for square in relations.values()))
    for derivative in (node for node in _nodes(sides) if isinstance(node, sp.Derivative)):
        if rooted.intersection(symbol for symbol, _ in derivative.variable_count):
            raise Undecided(f"a derivative by a symbol on which a root depends: {derivative}")


def _nodes(trees: Iterable[sp.Basic]) -> list[sp.Basic]:
    """Nodes of the trees, each once: sympy's own traversal goes through a part as often as it occurs."""
    nodes: dict[sp.Basic, None] = {}
    waiting = list(trees)
    while waiting:
        node = waiting.pop()
        if node not in nodes:
            nodes[node] = None
            waiting += node.args
    return list(nodes)


@cache
def _check_relations(relations: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> None:
    """Raise `ValueError` unless the square roots generate a field extension of full degree."""
    roots = {root for root, _ in relations}
    for root, square in relations:
        if sp.sympify(square).free_symbols & roots:
            raise ValueError(f"the square of {root} may not contain a root: {square}")
    for size in range(1, len(relations) + 1):
        for squares in combinations((square for _, square in relations), size):
            product = reduce(mul, squares)
            factors = sp.factor_list(product, extension=sp.I)[1]
            if all(multiplicity % 2 == 0 for _, multiplicity in factors):
                raise ValueError(f"{product} is a square, so its root is not a new element: substitute it instead")


def _name_exponentials(expression: sp.Expr, relations: Squares) -> tuple[sp.Expr, list[sp.Expr]]:
    """Replace every exponential by a power product of named generators; also return what the names stand for."""
    exponents = {atom: _exponent_terms(atom.exp, frozenset(relations)) for atom in expression.atoms(sp.exp)}
    scales: dict[sp.Expr, int] = {}
    for terms in exponents.values():
        for monomial, coefficient in terms:
            denominators = [part.q for part in coefficient.as_real_imag()]
            scales[monomial] = int(sp.ilcm(scales.get(monomial, 1), *denominators))
    generators: dict[sp.Dummy, sp.Expr] = {}
    replacement = {}
    for atom, terms in exponents.items():
        factors = []
        for monomial, coefficient in terms:
            parts = coefficient.as_real_imag()
            for name, unit, part in zip(_names(monomial), (1, sp.I), parts, strict=True):
                if part:
                    generators[name] = sp.exp(unit * monomial / scales[monomial])
                    factors.append(name ** int(part * scales[monomial]))
        replacement[atom] = sp.Mul(*factors)
    return expression.xreplace(replacement), sorted(generators.values(), key=str)


@cache
def _names(monomial: sp.Expr) -> tuple[sp.Dummy, sp.Dummy]:
    """Names of the two generators of a monomial: the same ones each time, so that equal sides stay equal."""
    return sp.Dummy(f"exp({monomial})"), sp.Dummy(f"exp(I {monomial})")


@cache
def _fraction(side: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Numerator and denominator of a rational expression."""
    numerator, denominator = sp.together(side).as_numer_denom()
    return numerator, denominator


@cache
def _exponent_terms(exponent: sp.Expr, roots: frozenset[sp.Symbol]) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
    """Exponent as (monomial, Gaussian rational) pairs."""
    symbols = sorted(exponent.free_symbols, key=str)
    if not symbols:
        raise Undecided(f"constant exponent {exponent}")
    polynomial = _polynomial(exponent if exponent.is_polynomial(*symbols) else sp.cancel(exponent), symbols)
    for powers in polynomial.monoms():
        if not any(powers):
            raise Undecided(f"constant term in the exponent {exponent}")
        if any(power > 1 for symbol, power in zip(symbols, powers, strict=True) if symbol in roots):
            raise Undecided(f"a root enters the exponent {exponent} to a power above one: write out its square")
    return tuple(
        (sp.Mul(*(symbol**power for symbol, power in zip(symbols, powers, strict=True))), coefficient)
        for powers, coefficient in polynomial.terms()
    )


def _polynomial(expression: sp.Expr, symbols: Iterable[sp.Symbol]) -> sp.Poly:
    """Polynomial over Q(i) of an expression; raises `Undecided` if it is not one."""
    try:
        return sp.Poly(expression, *symbols, domain=sp.QQ_I)
    except BasePolynomialError as error:
        raise Undecided(f"not a polynomial over Q(i): {expression}") from error


def _vanishes(expression: sp.Expr, ideal: list[sp.Expr], variables: list[sp.Symbol]) -> bool:
    """True if the polynomial is zero modulo the ideal."""
    if not variables:
        return bool(_polynomial(expression, [sp.Dummy()]).is_zero)
    polynomial = _polynomial(expression, variables)
    if not ideal:
        return bool(polynomial.is_zero)
    remainder = sp.reduced(polynomial.as_expr(), ideal, *variables, order="lex", domain=sp.QQ_I)[1]
    return bool(_polynomial(remainder, variables).is_zero)
