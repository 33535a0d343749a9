"""Algebraic zero test: is a real expression with parameters, pi, e, logarithms, sines and the like identically zero?

The expression is written as P/Q, with polynomials P and Q in generators: parameters, pi, log b for pairwise coprime
integers b, exp(m/D), cos(m/D) and sin(m/D) for the monomials m of exponents and angles, and algebraic numbers. The
square of sin(m/D) is replaced by 1 - cos(m/D)**2. Every rewriting is an identity, so P = 0 proves zero. Suppose that
besides parameters and algebraic numbers at most one generator is a number, and that it is pi, log b, exp(1/D) or
cos(1/D), which are transcendental (Lindemann 1882). Then the generators satisfy no relations but those that were used,
so P = 0 is necessary as well.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from math import comb, gcd, lcm, prod
from operator import mul
from typing import Any

import flint
import sympy as sp

from lengthgen.theory.zero import algebraic

MOST_TERMS = 20_000
"""Largest number of terms of a polynomial that is expanded."""
_LARGEST_MULTIPLE = 32
"""Largest multiple of an angle whose sine and cosine are expanded in those of the angle."""

Terms = dict[tuple[int, ...], Any]
"""Polynomial: exponents of the generators -> coefficient."""
Quotient = tuple[Any, Any]
"""Numerator and denominator."""
Scales = dict[tuple[Any, sp.Expr], sp.Rational]
"""D of each monomial, by the base of its power or "angle" for a sine or cosine."""


def is_zero(value: sp.Expr) -> bool | None:
    """True if the expression is identically zero, False if not, None if undecided; it must have a value somewhere."""
    names = _Names()
    named = names.rename(value)
    # The replacement of a power may contain symbols that the expression itself does not.
    generators = sorted(named.free_symbols.union(*(new.free_symbols for _, new in names.powers.values())), key=str)
    if _most_terms(named, len(generators)) > MOST_TERMS:
        return None
    context = flint.fmpq_mpoly_ctx.get([f"x{index}" for index in range(len(generators))] or ["x"], "lex")
    polynomials = dict(zip(generators, context.gens(), strict=False))
    numerator = _fraction(named, polynomials, context)[0]
    for index, generator in enumerate(generators):
        if generator in names.powers:
            power, replacement = names.powers[generator]
            numerator = _reduced(numerator, index, power, _fraction(replacement, polynomials, context)[0], context)
    answers = [algebraic.is_zero(coefficient) for coefficient in _coefficients(numerator.to_dict(), generators, names)]
    if all(answers):
        return True
    return None if None in answers or not names.independent else False


@dataclass
class _Names:
    """Symbols that stand for the generators met so far.

    Attributes:
        algebraic: the symbols that stand for algebraic numbers, with these numbers.
        powers: the power of a generator that is replaced, and its replacement.
        transcendental: the symbols that stand for numbers known to be transcendental.
        opaque: True if there are other generators, about which nothing is known.
    """

    algebraic: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)
    powers: dict[sp.Symbol, tuple[int, sp.Expr]] = field(default_factory=dict)
    transcendental: set[sp.Symbol] = field(default_factory=set)
    opaque: bool = False
    _symbols: dict[Any, sp.Symbol] = field(default_factory=dict)

    @property
    def independent(self) -> bool:
        """True if the generators satisfy no relations but those that were used."""
        return len(self.transcendental) <= 1 and not self.opaque

    def rename(self, value: sp.Expr) -> sp.Expr:
        """Value with a symbol for each generator."""
        leaves = set(_leaves(value))
        numbers = [leaf.args[0] for leaf in leaves if isinstance(leaf, sp.log | sp.Pow)]
        coprime_base = algebraic.coprime_base(part for number in numbers for part in _parts(number))
        weights: dict[tuple[Any, sp.Expr], list[sp.Rational]] = {}
        for leaf in leaves:
            for kind, weight, monomial in _multiples(leaf, coprime_base):
                weights.setdefault((kind, monomial), []).append(weight)
        # All weights of a monomial become integers when multiplied by D; for angles, these have no common divisor.
        scales = {
            (kind, monomial): sp.Rational(
                lcm(*(int(weight.q) for weight in of_monomial)),
                gcd(*(int(weight.p) for weight in of_monomial)) if kind == "angle" else 1,
            )
            for (kind, monomial), of_monomial in weights.items()
        }
        return value.xreplace({leaf: self._name(leaf, scales, coprime_base) for leaf in leaves})

    def _name(self, leaf: sp.Expr, scales: Scales, coprime_base: list[int]) -> sp.Expr:
        """Expression in the symbols that stands for one leaf."""
        if leaf.is_Symbol:
            return leaf
        if leaf is sp.pi:
            return self._number(leaf)
        root = leaf.is_Pow and leaf.base.is_Rational and leaf.exp.is_Rational
        if not root and algebraic.bounds(leaf) is not None:
            return self._algebraic(leaf)
        if isinstance(leaf, sp.log) and leaf.args[0].is_Rational:
            powers = _factors(leaf.args[0], coprime_base)
            return sp.Add(*(power * self._number(sp.log(factor)) for factor, power in powers))
        if isinstance(leaf, sp.sin | sp.cos):
            cosine, sine = self._wave(leaf.args[0], scales)
            return sine if isinstance(leaf, sp.sin) else cosine
        factors = list(_multiples(leaf, coprime_base))
        if factors:
            return sp.Mul(*(self._power(*factor, scales) for factor in factors))
        self.opaque = True
        return self._symbol(leaf)

    def _power(self, base: Any, weight: sp.Rational, monomial: sp.Expr, scales: Scales) -> sp.Expr:
        """Power base**(weight monomial) as an integer power of base**(monomial/D)."""
        scale = int(scales[base, monomial])
        root, times = base ** (monomial / scale), int(weight * scale)
        if monomial == 1 and base is sp.E:
            return self._number(root) ** times
        if monomial == 1 and base.is_Integer:
            symbol = self._algebraic(root)
            self.powers[symbol] = scale, base
            return symbol**times
        self.opaque = True
        if monomial == 1 and base.is_polynomial() and all(part.is_Symbol or part.is_Rational for part in base.atoms()):
            self.powers[self._symbol(root)] = scale, base
        return self._symbol(root) ** times

    def _wave(self, angle: sp.Expr, scales: Scales) -> tuple[sp.Expr, sp.Expr]:
        """Cosine and sine of a sum of multiples of angles, by the addition theorems."""
        cosine, sine = sp.Integer(1), sp.Integer(0)
        for weight, monomial in _terms(angle):
            if monomial is sp.pi:
                c, s = self._algebraic(sp.cos(weight * sp.pi)), self._algebraic(sp.sin(weight * sp.pi))
            else:
                c, s = self._multiple(monomial, weight * scales["angle", monomial], scales["angle", monomial])
            cosine, sine = cosine * c - sine * s, sine * c + cosine * s
        return cosine, sine

    def _multiple(self, monomial: sp.Expr, times: sp.Rational, scale: int) -> tuple[sp.Expr, sp.Expr]:
        """Cosine and sine of times/scale monomial, by Chebyshev polynomials."""
        number = monomial == 1
        self.opaque |= not number
        if abs(times) > _LARGEST_MULTIPLE:  # a generator of its own
            self.opaque, number = True, False
            scale, times = scale / abs(times), sp.sign(times)
        c = self._number(sp.cos(monomial / scale)) if number else self._symbol(sp.cos(monomial / scale))
        s = self._symbol(sp.sin(monomial / scale))
        self.powers[s] = 2, 1 - c**2
        count = abs(int(times))
        sine = s * sp.chebyshevu(count - 1, c) if count else sp.Integer(0)
        return sp.chebyshevt(count, c), sine if times > 0 else -sine

    def _number(self, value: sp.Expr) -> sp.Symbol:
        """Symbol of a transcendental number."""
        symbol = self._symbol(value)
        self.transcendental.add(symbol)
        return symbol

    def _algebraic(self, value: sp.Expr) -> sp.Expr:
        """Symbol of an algebraic number; a rational number stays itself."""
        if value.is_Rational:
            return value
        symbol = self._symbol(value)
        self.algebraic[symbol] = value
        return symbol

    def _symbol(self, value: sp.Expr) -> sp.Symbol:
        """Symbol of a generator, one per value."""
        return self._symbols.setdefault(value, sp.Dummy(str(len(self._symbols))))


def _leaves(value: sp.Expr) -> Iterator[sp.Expr]:
    """Yield the parts from which the value is built by sums, products and integer powers."""
    if value.is_Add or value.is_Mul:
        for part in value.args:
            yield from _leaves(part)
    elif value.is_Pow and value.exp.is_Integer:
        yield from _leaves(value.base)
    elif not value.is_Rational:
        yield value


def _multiples(leaf: sp.Expr, base: list[int]) -> Iterator[tuple[Any, sp.Rational, sp.Expr]]:
    """Yield (b, weight, monomial) for the terms of the exponent of a power of b, ("angle", ...) for a sine or cosine.

    A rational b is factored in the coprime base.
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
    """Yield the terms of a sum as weights and monomials."""
    for term in sp.Add.make_args(total):
        weight, monomial = term.as_coeff_Mul()
        yield sp.Rational(weight), monomial


def _parts(number: sp.Expr) -> tuple[int, int]:
    """Numerator and denominator of a positive rational; (1, 1) for anything else."""
    return (int(number.p), int(number.q)) if number.is_Rational and number > 0 else (1, 1)


def _factors(number: sp.Expr, base: list[int]) -> list[tuple[sp.Integer, int]]:
    """Factors of a positive rational in a coprime base, with their powers."""
    numerator, denominator = _parts(number)
    powers = ((factor, _power_in(numerator, factor) - _power_in(denominator, factor)) for factor in base)
    return [(sp.Integer(factor), power) for factor, power in powers if power]


def _power_in(number: int, factor: int) -> int:
    """Multiplicity of a factor of a coprime base in a product of such factors."""
    count = 0
    while number % factor == 0:
        number //= factor
        count += 1
    return count


def _most_terms(value: sp.Expr, generators: int) -> int:
    """Upper bound on the number of terms in `_fraction`: from the products that occur, or from the degree."""
    degree = max(_degrees(value))
    if degree > MOST_TERMS:
        return degree
    return min(comb(degree + generators, generators), max(_lengths(value)))


def _degrees(value: sp.Expr) -> tuple[int, int]:
    """Upper bounds on the degrees of numerator and denominator."""
    if value.is_Symbol or value.is_Rational:
        return int(value.is_Symbol), 0
    if value.is_Pow:
        numerator, denominator = _degrees(value.base)
        times = abs(int(value.exp))
        return (numerator * times, denominator * times) if value.exp > 0 else (denominator * times, numerator * times)
    inner = [_degrees(part) for part in value.args]
    denominator = sum(degrees[1] for degrees in inner)
    if value.is_Mul:
        return sum(degrees[0] for degrees in inner), denominator
    return max(degrees[0] - degrees[1] for degrees in inner) + denominator, denominator


def _lengths(value: sp.Expr) -> tuple[int, int]:
    """Upper bounds on the numbers of terms of numerator and denominator."""
    if value.is_Symbol or value.is_Rational:
        return 1, 1
    if value.is_Pow:
        times = abs(int(value.exp))
        numerator, denominator = (comb(terms + times - 1, times) for terms in _lengths(value.base))
        return (numerator, denominator) if value.exp > 0 else (denominator, numerator)
    inner = [_lengths(part) for part in value.args]
    denominator = prod(lengths[1] for lengths in inner)
    if value.is_Mul:
        return prod(lengths[0] for lengths in inner), denominator
    return sum(lengths[0] * denominator // lengths[1] for lengths in inner), denominator


def _fraction(value: sp.Expr, polynomials: dict[sp.Symbol, Any], context: Any) -> Quotient:
    """Numerator and denominator as polynomials."""
    if value.is_Rational:
        return context.constant(flint.fmpq(int(value.p), int(value.q))), context.constant(1)
    if value.is_Symbol:
        return polynomials[value], context.constant(1)
    if value.is_Pow:
        numerator, denominator = _fraction(value.base, polynomials, context)
        times = abs(int(value.exp))
        return (numerator**times, denominator**times) if value.exp > 0 else (denominator**times, numerator**times)
    parts = [_fraction(part, polynomials, context) for part in value.args]
    return reduce(_product if value.is_Mul else _sum, parts)


def _product(first: Quotient, second: Quotient) -> Quotient:
    return first[0] * second[0], first[1] * second[1]


def _sum(first: Quotient, second: Quotient) -> Quotient:
    if first[1] == second[1]:
        return first[0] + second[0], first[1]
    return first[0] * second[1] + second[0] * first[1], first[1] * second[1]


def _reduced(polynomial: Any, index: int, power: int, replacement: Any, context: Any) -> Any:
    """Polynomial in which a power of one generator is replaced until none is left."""
    by_times: dict[int, Terms] = {}
    for exponents, coefficient in polynomial.to_dict().items():
        times, rest = divmod(exponents[index], power)
        by_times.setdefault(times, {})[*exponents[:index], rest, *exponents[index + 1 :]] = coefficient
    parts = (context.from_dict(terms) * replacement**times for times, terms in by_times.items())
    return sum(parts, context.constant(0))


def _coefficients(terms: Terms, generators: list[sp.Symbol], names: _Names) -> Iterable[sp.Expr]:
    """Coefficients, which are algebraic numbers, of the monomials in the other generators."""
    by_monomial: dict[tuple[int, ...], list[sp.Expr]] = {}
    for exponents, coefficient in terms.items():
        powers = list(zip(generators, exponents, strict=False))
        rest = tuple(power for symbol, power in powers if symbol not in names.algebraic)
        number = sp.Rational(int(coefficient.p), int(coefficient.q))
        roots = reduce(
            mul, (names.algebraic[symbol] ** power for symbol, power in powers if symbol in names.algebraic), number
        )
        by_monomial.setdefault(rest, []).append(roots)
    return [sp.Add(*parts) for parts in by_monomial.values()]
