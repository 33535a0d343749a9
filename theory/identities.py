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
from math import comb, lcm, prod
from operator import mul
from typing import Any

import flint
import sympy as sp

from theory import algebraic

MOST_TERMS = 20_000
"""Terms of a polynomial that is still written out."""
_LARGEST_MULTIPLE = 32
"""Of an angle, in terms of which sines and cosines of multiples are written out."""

Terms = dict[tuple[int, ...], Any]
Fractions = tuple[Any, Any]


def is_zero(value: sp.Expr) -> bool | None:
    """Whether the expression, which has a value somewhere, is identically zero; None where that is not decided."""
    names = _Names()
    named = names.rename(value)
    # What a power is replaced by is not always left in the expression itself.
    generators = sorted(named.free_symbols.union(*(one.free_symbols for _, one in names.powers.values())), key=str)
    if _most_terms(named, len(generators)) > MOST_TERMS:
        return None
    context = flint.fmpq_mpoly_ctx.get([f"x{place}" for place in range(len(generators))] or ["x"], "lex")
    at = dict(zip(generators, context.gens(), strict=False))
    numerator = _fraction(named, at, context)[0]
    for place, generator in enumerate(generators):
        if generator in names.powers:
            power, replacement = names.powers[generator]
            numerator = _reduced(numerator, place, power, _fraction(replacement, at, context)[0], context)
    answers = [algebraic.is_zero(coefficient) for coefficient in _coefficients(numerator.to_dict(), generators, names)]
    if all(answers):
        return True
    return None if None in answers or not names.independent else False


@dataclass
class _Names:
    """Generators met so far.

    Attributes:
        algebraic: those that stand for algebraic numbers, and which.
        powers: the power of a generator that is replaced, and by what.
        transcendental: those that stand for numbers known to be transcendental.
        opaque: whether there are others, of which nothing is known.
    """

    algebraic: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)
    powers: dict[sp.Symbol, tuple[int, sp.Expr]] = field(default_factory=dict)
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
        numbers = [leaf.args[0] for leaf in leaves if isinstance(leaf, sp.log | sp.Pow)]
        base = algebraic.coprime_base(part for number in numbers for part in _parts(number))
        scales: dict[Any, int] = {}
        for leaf in leaves:
            for kind, weight, monomial in _multiples(leaf, base):
                scales[kind, monomial] = lcm(scales.get((kind, monomial), 1), int(weight.q))
        return value.xreplace({leaf: self._name(leaf, scales, base) for leaf in leaves})

    def _name(self, leaf: sp.Expr, scales: dict[Any, int], base: list[int]) -> sp.Expr:
        if leaf.is_Symbol:
            return leaf
        if leaf is sp.pi:
            return self._number(leaf)
        root = leaf.is_Pow and leaf.base.is_Rational and leaf.exp.is_Rational
        if not root and algebraic.bounds(leaf) is not None:
            return self._algebraic(leaf)
        if isinstance(leaf, sp.log) and leaf.args[0].is_Rational:
            powers = _factors(leaf.args[0], base)
            return sp.Add(*(power * self._number(sp.log(factor)) for factor, power in powers))
        if isinstance(leaf, sp.sin | sp.cos):
            cosine, sine = self._wave(leaf.args[0], scales)
            return sine if isinstance(leaf, sp.sin) else cosine
        factors = list(_multiples(leaf, base))
        if factors:
            return sp.Mul(*(self._power(*factor, scales) for factor in factors))
        self.opaque = True
        return self._symbol(leaf)

    def _power(self, base: Any, weight: sp.Rational, monomial: sp.Expr, scales: dict[Any, int]) -> sp.Expr:
        """base**(weight monomial) as a whole power of base**(monomial/D)."""
        scale = scales[base, monomial]
        root, times = base ** (monomial / scale), int(weight * scale)
        if monomial == 1 and base is sp.E:
            return self._number(root) ** times
        if monomial == 1 and base.is_Integer:
            symbol = self._algebraic(root)
            self.powers[symbol] = scale, base
            return symbol**times
        self.opaque = True
        return self._symbol(root) ** times

    def _wave(self, angle: sp.Expr, scales: dict[Any, int]) -> tuple[sp.Expr, sp.Expr]:
        """Cosine and sine of a sum of multiples of angles."""
        cosine, sine = sp.Integer(1), sp.Integer(0)
        for weight, monomial in _terms(angle):
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
        self.powers[s] = 2, 1 - c**2
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


def _multiples(leaf: sp.Expr, base: list[int]) -> Iterator[tuple[Any, sp.Rational, sp.Expr]]:
    """(b, weight, monomial) for a power b**(sum of weight monomial), ("angle", ...) for a sine or cosine.

    Rational b are taken apart into factors of the coprime base.
    """
    factors: list[tuple[Any, int]] = []
    exponent = leaf.args[-1] if leaf.args else sp.Integer(1)
    if leaf is sp.E or isinstance(leaf, sp.exp):
        factors = [(sp.E, 1)]
    elif isinstance(leaf, sp.sin | sp.cos):
        factors = [("angle", 1)]
    elif leaf.is_Pow and leaf.base.is_positive:
        factors = _factors(leaf.base, base) if leaf.base.is_Rational else [(leaf.base, 1)]
    for factor, power in factors:
        for weight, monomial in _terms(exponent):
            yield factor, power * weight, monomial


def _terms(total: sp.Expr) -> Iterator[tuple[sp.Rational, sp.Expr]]:
    """A sum as weights and monomials."""
    for term in sp.Add.make_args(total):
        weight, monomial = term.as_coeff_Mul()
        yield sp.Rational(weight), monomial


def _parts(number: sp.Expr) -> tuple[int, int]:
    """Numerator and denominator of a positive rational; of anything else none."""
    return (int(number.p), int(number.q)) if number.is_Rational and number > 0 else (1, 1)


def _factors(number: sp.Expr, base: list[int]) -> list[tuple[sp.Integer, int]]:
    """A positive rational as powers of members of a coprime base."""
    above, below = _parts(number)
    powers = ((factor, _power_in(above, factor) - _power_in(below, factor)) for factor in base)
    return [(sp.Integer(factor), power) for factor, power in powers if power]


def _power_in(number: int, factor: int) -> int:
    """How often a factor of a coprime base divides a product of such."""
    count = 0
    while number % factor == 0:
        number //= factor
        count += 1
    return count


def _most_terms(value: sp.Expr, generators: int) -> int:
    """A bound of the terms that come up in `_fraction`: by what is multiplied with what, or by the degree."""
    degree = max(_degrees(value))
    if degree > MOST_TERMS:
        return degree
    return min(comb(degree + generators, generators), max(_lengths(value)))


def _degrees(value: sp.Expr) -> tuple[int, int]:
    """At most the degrees of numerator and denominator."""
    if value.is_Symbol or value.is_Rational:
        return int(value.is_Symbol), 0
    if value.is_Pow:
        above, below = _degrees(value.base)
        times = abs(int(value.exp))
        return (above * times, below * times) if value.exp > 0 else (below * times, above * times)
    inner = [_degrees(part) for part in value.args]
    below = sum(degrees[1] for degrees in inner)
    if value.is_Mul:
        return sum(degrees[0] for degrees in inner), below
    return max(degrees[0] - degrees[1] for degrees in inner) + below, below


def _lengths(value: sp.Expr) -> tuple[int, int]:
    """At most the numbers of terms of numerator and denominator."""
    if value.is_Symbol or value.is_Rational:
        return 1, 1
    if value.is_Pow:
        times = abs(int(value.exp))
        above, below = (comb(terms + times - 1, times) for terms in _lengths(value.base))
        return (above, below) if value.exp > 0 else (below, above)
    inner = [_lengths(part) for part in value.args]
    below = prod(lengths[1] for lengths in inner)
    if value.is_Mul:
        return prod(lengths[0] for lengths in inner), below
    return sum(lengths[0] * below // lengths[1] for lengths in inner), below


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


def _reduced(polynomial: Any, place: int, power: int, replacement: Any, context: Any) -> Any:
    """The polynomial with a power of one generator replaced until none is left."""
    by_times: dict[int, Terms] = {}
    for exponents, coefficient in polynomial.to_dict().items():
        times, left = divmod(exponents[place], power)
        by_times.setdefault(times, {})[*exponents[:place], left, *exponents[place + 1 :]] = coefficient
    parts = (context.from_dict(terms) * replacement**times for times, terms in by_times.items())
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
