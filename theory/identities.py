"""Is a real expression with parameters, pi, e, logarithms, sines and the like identically zero?

It is written as P/Q, with polynomials in generators: parameters, pi, log b for pairwise coprime whole numbers b,
exp(m/D), cos(m/D) and sin(m/D), the square of which is replaced, for what stands in an exponent or angle m, and
algebraic numbers.  Every rewriting is an identity, so P = 0 proves zero.  If besides parameters and algebraic numbers
at most one generator is a number, and that is pi, log b, exp(1/D) or cos(1/D), which are transcendental (Lindemann
1882), then generators satisfy no relation but those that were used, so P = 0 is necessary as well.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from math import comb, lcm
from operator import mul
from typing import Any

import flint
import sympy as sp

from theory import algebraic

MOST_TERMS = 20_000
"""Terms of a polynomial that is still written out."""
_LARGEST_MULTIPLE = 256
"""Of an angle, in terms of which sines and cosines of multiples are written out."""

Terms = dict[tuple[int, ...], Any]
Fractions = tuple[Any, Any]


def is_zero(value: sp.Expr) -> bool | None:
    """Whether the expression, which has a value somewhere, is identically zero; None where that is not decided."""
    names = _Names()
    named = names.rename(value)
    # What a square holds is not always left in the expression itself.
    generators = sorted(named.free_symbols.union(*(one.free_symbols for one in names.squares.values())), key=str)
    if _largest(named, len(generators)) > MOST_TERMS:
        return None
    context = flint.fmpq_mpoly_ctx.get([f"x{place}" for place in range(len(generators))] or ["x"], "lex")
    at = dict(zip(generators, context.gens(), strict=False))
    numerator = _fraction(named, at, context)[0]
    for sine in names.squares.keys() & set(generators):
        square = _fraction(names.squares[sine], at, context)[0]
        numerator = _reduced(numerator, generators.index(sine), square, context)
    answers = [algebraic.is_zero(coefficient) for coefficient in _coefficients(numerator.to_dict(), generators, names)]
    if all(answers):
        return True
    return None if None in answers or not names.independent else False


@dataclass
class _Names:
    """Generators met so far."""

    algebraic: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)
    squares: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)
    transcendental: set[sp.Symbol] = field(default_factory=set)
    opaque: bool = False
    _symbols: dict[Any, sp.Symbol] = field(default_factory=dict)

    @property
    def independent(self) -> bool:
        """Whether nothing but what was used relates them."""
        return len(self.transcendental) <= 1 and not self.opaque

    def rename(self, value: sp.Expr) -> sp.Expr:
        """The value with a symbol for each generator."""
        leaves = set(_leaves(value))
        scales: dict[Any, int] = {}
        for leaf in leaves:
            for kind, weight, monomial in _multiples(leaf):
                scales[kind, monomial] = lcm(scales.get((kind, monomial), 1), int(weight.q))
        whole = [int(part) for leaf in leaves if isinstance(leaf, sp.log) for part in _parts(leaf.args[0])]
        base = algebraic.coprime_base(whole)
        return value.xreplace({leaf: self._name(leaf, scales, base) for leaf in leaves})

    def _name(self, leaf: sp.Expr, scales: dict[Any, int], base: list[int]) -> sp.Expr:
        if leaf.is_Symbol:
            return leaf
        if leaf is sp.pi:
            return self._number(leaf)
        if algebraic.bounds(leaf) is not None:
            return self._algebraic(leaf)
        if isinstance(leaf, sp.log) and leaf.args[0].is_Rational:
            above, below = _parts(leaf.args[0])
            return sp.Add(
                *((_power_in(above, one) - _power_in(below, one)) * self._number(sp.log(one)) for one in base)
            )
        if isinstance(leaf, sp.sin | sp.cos):
            cosine, sine = self._wave(leaf.args[0], scales)
            return sine if isinstance(leaf, sp.sin) else cosine
        powers = list(_multiples(leaf))
        if powers:
            return sp.Mul(*(self._power(*power, scales) for power in powers))
        self.opaque = True
        return self._symbol(leaf)

    def _power(self, base: Any, weight: sp.Rational, monomial: sp.Expr, scales: dict[Any, int]) -> sp.Expr:
        """base**(weight monomial) as a whole power of base**(monomial/D)."""
        if monomial == 1 and base.is_Rational:
            return self._algebraic(base**weight)
        scale = scales[base, monomial]
        root = base ** (monomial / scale)
        if monomial == 1 and base is sp.E:
            return self._number(root) ** int(weight * scale)
        self.opaque = True
        return self._symbol(root) ** int(weight * scale)

    def _wave(self, angle: sp.Expr, scales: dict[Any, int]) -> tuple[sp.Expr, sp.Expr]:
        """Cosine and sine of a sum of multiples of angles."""
        cosine, sine = sp.Integer(1), sp.Integer(0)
        for _, weight, monomial in _multiples(sp.cos(angle, evaluate=False)):
            if monomial is sp.pi:
                c, s = self._algebraic(sp.cos(weight * sp.pi)), self._algebraic(sp.sin(weight * sp.pi))
            else:
                c, s = self._multiple(monomial, weight * scales["angle", monomial], scales["angle", monomial])
            cosine, sine = cosine * c - sine * s, sine * c + cosine * s
        return cosine, sine

    def _multiple(self, monomial: sp.Expr, times: sp.Rational, scale: int) -> tuple[sp.Expr, sp.Expr]:
        """Cosine and sine of times/scale monomial by Chebyshev's polynomials."""
        number = monomial == 1
        self.opaque |= not number
        if abs(times) > _LARGEST_MULTIPLE:
            self.opaque = True
            angle = times * monomial / scale
            return self._symbol(sp.cos(angle)), self._symbol(sp.sin(angle))
        c = self._number(sp.cos(monomial / scale)) if number else self._symbol(sp.cos(monomial / scale))
        s = self._symbol(sp.sin(monomial / scale))
        self.squares[s] = 1 - c**2
        count = abs(int(times))
        sine = s * sp.chebyshevu(count - 1, c) if count else sp.Integer(0)
        return sp.chebyshevt(count, c), sine if times > 0 else -sine

    def _number(self, value: sp.Expr) -> sp.Symbol:
        symbol = self._symbol(value)
        self.transcendental.add(symbol)
        return symbol

    def _algebraic(self, value: sp.Expr) -> sp.Expr:
        if value.is_Rational:
            return value
        symbol = self._symbol(value)
        self.algebraic[symbol] = value
        return symbol

    def _symbol(self, value: sp.Expr) -> sp.Symbol:
        return self._symbols.setdefault(value, sp.Dummy(str(value)))


def _leaves(value: sp.Expr) -> Iterator[sp.Expr]:
    """What sums, products and whole powers are made of."""
    if value.is_Add or value.is_Mul:
        for part in value.args:
            yield from _leaves(part)
    elif value.is_Pow and value.exp.is_Integer:
        yield from _leaves(value.base)
    elif not value.is_Rational:
        yield value


def _multiples(leaf: sp.Expr) -> Iterator[tuple[Any, sp.Rational, sp.Expr]]:
    """(base, weight, monomial) for a power base**(sum of weight monomial), ("angle", ...) for a sine or cosine."""
    kind: Any
    if leaf is sp.E or isinstance(leaf, sp.exp):
        kind, exponent = sp.E, leaf.args[0] if leaf.args else sp.Integer(1)
    elif leaf.is_Pow and leaf.base.is_positive:
        kind, exponent = leaf.args
    elif isinstance(leaf, sp.sin | sp.cos):
        kind, exponent = "angle", leaf.args[0]
    else:
        return
    for term in sp.Add.make_args(exponent):
        weight, monomial = term.as_coeff_Mul()
        yield kind, sp.Rational(weight), monomial


def _parts(number: sp.Expr) -> tuple[int, int]:
    return (int(number.p), int(number.q)) if number.is_Rational else (1, 1)


def _power_in(number: int, factor: int) -> int:
    """How often a factor of a coprime base divides a product of such."""
    count = 0
    while number % factor == 0:
        number //= factor
        count += 1
    return count


def _largest(value: sp.Expr, generators: int) -> int:
    """A bound of the terms that come up in `_fraction`."""

    def sizes(part: sp.Expr) -> tuple[int, int]:
        """At most the degrees of numerator and denominator."""
        if part.is_Rational:
            return 0, 0
        if part.is_Symbol:
            return 1, 0
        if part.is_Pow:
            above, below = sizes(part.base)
            times = abs(int(part.exp))
            return (above * times, below * times) if part.exp > 0 else (below * times, above * times)
        inner = [sizes(one) for one in part.args]
        below = sum(one[1] for one in inner)
        if part.is_Mul:
            return sum(one[0] for one in inner), below
        return max(one[0] - one[1] for one in inner) + below, below

    degree = max(sizes(value))
    return degree if generators < 2 else comb(min(degree, MOST_TERMS) + generators, generators)


def _fraction(value: sp.Expr, at: dict[sp.Symbol, Any], context: Any) -> Fractions:
    """Numerator and denominator as polynomials."""
    if value.is_Rational:
        return context.constant(flint.fmpq(int(value.p), int(value.q))), context.constant(1)
    if value.is_Symbol:
        return at[value], context.constant(1)
    if value.is_Pow:
        above, below = _fraction(value.base, at, context)
        times = abs(int(value.exp))
        return (above**times, below**times) if value.exp > 0 else (below**times, above**times)
    parts = [_fraction(part, at, context) for part in value.args]
    return reduce(_product if value.is_Mul else _sum, parts)


def _product(first: Fractions, second: Fractions) -> Fractions:
    return first[0] * second[0], first[1] * second[1]


def _sum(first: Fractions, second: Fractions) -> Fractions:
    if first[1] == second[1]:
        return first[0] + second[0], first[1]
    return first[0] * second[1] + second[0] * first[1], first[1] * second[1]


def _reduced(polynomial: Any, place: int, square: Any, context: Any) -> Any:
    """The polynomial with the square of one generator replaced until its degree in it is at most 1."""
    by_power: dict[int, Terms] = {}
    for exponents, coefficient in polynomial.to_dict().items():
        power, left = divmod(exponents[place], 2)
        by_power.setdefault(power, {})[*exponents[:place], left, *exponents[place + 1 :]] = coefficient
    parts = (context.from_dict(terms) * square**power for power, terms in by_power.items())
    return sum(parts, context.constant(0))


def _coefficients(terms: Terms, generators: list[sp.Symbol], names: _Names) -> Iterable[sp.Expr]:
    """The coefficients, algebraic numbers, of the monomials in the other generators."""
    found: dict[tuple[int, ...], list[sp.Expr]] = {}
    for exponents, coefficient in terms.items():
        powers = list(zip(generators, exponents, strict=False))
        rest = tuple(power for one, power in powers if one not in names.algebraic)
        number = sp.Rational(int(coefficient.p), int(coefficient.q))
        roots = reduce(mul, (names.algebraic[one] ** power for one, power in powers if one in names.algebraic), number)
        found.setdefault(rest, []).append(roots)
    return [sp.Add(*parts) for parts in found.values()]
