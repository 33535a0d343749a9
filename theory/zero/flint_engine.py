"""Second exact engine, on python-flint's polynomials: is an expression identically zero?

It is independent of the first, sympy_engine.py. The fragment is the same: rational functions over Q(i) of symbols, and
of exp, trigonometric and hyperbolic functions of polynomials without constant term over Q(i); symbols may be bound as
square roots of polynomials over Q. The code is different: only the trees of the two sides are read from sympy, and the
polynomials are python-flint's. Trees may be unevaluated, with derivatives in them: all arithmetic and differentiation
is done here. Two things are common to both engines: what sympy evaluated before it returned a tree, and flint's
integers if sympy uses them as well (it does not if SYMPY_GROUND_TYPES=python is set in the environment).

Method. An argument is A + iB, with A and B over Q. For each monomial m of such an A or B, with d the greatest common
divisor of its coefficients, there are generators and relations

    u = exp(dm), v = exp(-dm), uv = 1;    c = cos(dm), s = sin(dm), s^2 = 1 - c^2;    besides i^2 = -1 and root^2 = r.

exp(A) and exp(-A) are power products of u and v; cos B and sin B come by Chebyshev's polynomials in c and the addition
theorems. Each step is an identity of analytic functions of complex variables. The result is P/Q, and every divisor was
non-zero. P = 0 modulo the relations is decided by division: the remainder has no i^2, root^2, s^2 and uv, and since
these leading monomials have no generator in common, the remainder is unique.

Why P = 0 modulo the relations is equivalent to identically zero. Let K = C(symbols)(roots), a field because no product
of distinct r is a square, and z = exp(idm), so that c = (z + 1/z)/2 and s = (z - 1/z)/2i. The remainder of P is a
polynomial over K in the c, s, u, v. In it p(c) + q(c) s is zero as an expression in z only if p and q are: if z and 1/z
are exchanged, p stays and q s changes its sign. And the functions z and u satisfy no polynomial: exponentials of
elements of K are algebraically dependent over K only if a product of powers of them lies in K (Kolchin and Ostrowski),
and that product is exp(g) with g a combination over Q(i) of different monomials, none of them constant. So g is not
constant and has a pole, where exp(g) has an essential singularity, which no element of K has. Hence the polynomials
modulo the relations are functions without zero divisors: Q is not zero, and P/Q vanishes only if P does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import flint
import sympy as sp

Squares = Mapping[sp.Symbol, sp.Expr]
Monomial = tuple[tuple[sp.Symbol, int], ...]
Weights = dict[Monomial, Any]
Polynomial = Any  # flint.fmpq_mpoly, which has no type stubs

_OF_ANGLE = {
    sp.cos: ("even", "one"),
    sp.sin: ("odd", "one"),
    sp.tan: ("odd", "even"),
    sp.cot: ("even", "odd"),
    sp.sec: ("one", "even"),
    sp.csc: ("one", "odd"),
}
_OF_EXPONENT = {
    sp.exp: ("sum", "one"),
    sp.cosh: ("even", "one"),
    sp.sinh: ("odd", "one"),
    sp.tanh: ("odd", "even"),
    sp.coth: ("even", "odd"),
    sp.sech: ("one", "even"),
    sp.csch: ("one", "odd"),
}


class FlintUndecided(Exception):
    """Raised if the expression is outside the fragment in which this engine decides."""


@dataclass(frozen=True, kw_only=True)
class FlintDecision:
    """Answer of the second engine.

    Attributes:
        zero: True if the difference of the two sides is identically zero.
        generators: the functions that served as generators, by argument.
    """

    zero: bool
    generators: tuple[str, ...]


def is_zero(expression: sp.Expr, *, squares: Squares | None = None) -> bool:
    """True if `expression` vanishes identically; see `decide`."""
    return decide(expression, sp.Integer(0), squares=squares).zero


def decide(left: sp.Expr, right: sp.Expr, *, squares: Squares | None = None) -> FlintDecision:
    """Decide exactly whether `left` and `right` are identical, given `root**2 == squares[root]`. Label [F].

    Raises:
        FlintUndecided: the expressions are outside the fragment.
        ValueError: the relations do not define a field.
        ZeroDivisionError: a denominator is identically zero.
    """
    roots = dict(squares or {})
    nodes = _nodes([left, right, *roots, *roots.values()])
    _check_atoms(nodes, roots)
    symbols = sorted((node for node in nodes if node.is_Symbol and node not in roots), key=str)
    field_of_roots = _Field(roots, symbols, {})
    _check_squares(roots, field_of_roots)
    arguments = {
        node: field_of_roots.argument(node.args[0])
        for node in nodes
        if node.func in _OF_ANGLE or node.func in _OF_EXPONENT
    }
    field = _Field(roots, symbols, arguments)
    return FlintDecision(zero=field.difference(left, right).is_zero(), generators=field.functions)


class _Quotient(NamedTuple):
    """Quotient of two polynomials in the generators."""

    numerator: Polynomial
    denominator: Polynomial


class _Argument(NamedTuple):
    """Argument A + iB of a function; A and B as rational coefficients of monomials."""

    real: Weights
    imaginary: Weights


class _Field:
    """Field of quotients of polynomials in symbols, roots, i and the generators that the functions' arguments need."""

    def __init__(self, roots: Squares, symbols: Sequence[sp.Symbol], arguments: Mapping[sp.Expr, _Argument]) -> None:
        parts = [_angle_and_exponent(node, argument) for node, argument in arguments.items()]
        self._angle_units = _units(angle for angle, _ in parts)
        self._exponent_units = _units(exponent for _, exponent in parts)
        sines, cosines = ([(name, m) for m in self._angle_units] for name in ("sin", "cos"))
        ups, downs = ([(name, m) for m in self._exponent_units] for name in ("up", "down"))
        # In the lexicographic order a generator comes before those in the replacement of its square.
        names: list[Any] = [*sines, *roots, sp.I, *ups, *downs, *cosines, *symbols]
        context = flint.fmpq_mpoly_ctx.get([f"x{place}" for place in range(len(names))], "lex")
        self._constant = context.constant
        self._at = dict(zip(names, context.gens(), strict=True))
        self._arguments = arguments
        self._rooted = {*roots, *_nodes(roots.values())}
        self._known: dict[sp.Expr, _Quotient] = {}
        self._relations = [self._at[sp.I] ** 2 + 1]
        self._relations += [self._at[root] ** 2 - self.polynomial(square) for root, square in roots.items()]
        self._relations += [self._at[s] ** 2 + self._at[c] ** 2 - 1 for s, c in zip(sines, cosines, strict=True)]
        self._relations += [self._at[up] * self._at[down] - 1 for up, down in zip(ups, downs, strict=True)]

    @property
    def functions(self) -> tuple[str, ...]:
        """Transcendental generators, in words."""
        exponentials = (f"(exp({_text(unit, m)}))^±1" for m, unit in self._exponent_units.items())
        angles = (_text(unit, m) for m, unit in self._angle_units.items())
        return *exponentials, *(f"cos({angle}), sin({angle})" for angle in angles)

    def polynomial(self, node: sp.Expr) -> Polynomial:
        """Value of a node as a polynomial; raises `FlintUndecided` if it is not one."""
        numerator, denominator = self.value(node)
        common = numerator.gcd(denominator)
        numerator, denominator = numerator / common, denominator / common
        if not denominator.is_constant():
            raise FlintUndecided(f"not a polynomial over Q(i): {node}")
        return numerator / denominator

    def difference(self, left: sp.Expr, right: sp.Expr) -> Polynomial:
        """Numerator of the difference of two values."""
        first, second = self.value(left), self.value(right)
        return self._reduced(first.numerator * second.denominator - second.numerator * first.denominator)

    def argument(self, node: sp.Expr) -> _Argument:
        """Real and imaginary part of a polynomial without constant term."""
        parts = _Argument({}, {})
        for powers, coefficient in self.polynomial(node).to_dict().items():
            factors = {name: power for name, power in zip(self._at, powers, strict=True) if power}
            weights = parts.imaginary if factors.pop(sp.I, 0) else parts.real
            if not factors:
                raise FlintUndecided(f"constant term in the argument {node}")
            weights[tuple(factors.items())] = coefficient
        return parts

    def value(self, node: sp.Expr) -> _Quotient:
        """Quotient that a node of the tree stands for."""
        if node not in self._known:
            self._known[node] = self._read(node)
        return self._known[node]

    def _read(self, node: sp.Expr) -> _Quotient:
        """Value of a node, computed from its arguments."""
        if node.is_Rational:
            return self._whole(self._constant(flint.fmpq(int(node.p), int(node.q))))
        if node in self._at:
            return self._whole(self._at[node])
        if node in self._arguments:
            return self._function(node)
        if node.is_Add:
            return reduce(self._sum, map(self.value, node.args))
        if node.is_Mul:
            return reduce(self._product, map(self.value, node.args))
        if node.is_Pow:
            return self._power(self.value(node.base), self._whole_number(node.exp))
        if node.func is sp.Derivative:
            return self._derivative(node)
        raise FlintUndecided(f"not a rational function over Q(i) of symbols and exponentials: {node}")

    def _whole(self, polynomial: Polynomial) -> _Quotient:
        return _Quotient(polynomial, self._constant(1))

    def _sum(self, first: _Quotient, second: _Quotient) -> _Quotient:
        common = first.denominator.gcd(second.denominator)
        widening, second_widening = second.denominator / common, first.denominator / common
        numerator = first.numerator * widening + second.numerator * second_widening
        return _Quotient(self._reduced(numerator), self._reduced(first.denominator * widening))

    def _product(self, first: _Quotient, second: _Quotient) -> _Quotient:
        return _Quotient(
            self._reduced(first.numerator * second.numerator), self._reduced(first.denominator * second.denominator)
        )

    def _power(self, base: _Quotient, times: int) -> _Quotient:
        numerator, denominator = base if times >= 0 else self._inverse(base)
        return _Quotient(self._reduced(numerator ** abs(times)), self._reduced(denominator ** abs(times)))

    def _inverse(self, value: _Quotient) -> _Quotient:
        if value.numerator.is_zero():
            raise ZeroDivisionError("a denominator is identically zero")
        return _Quotient(value.denominator, value.numerator)

    def _reduced(self, polynomial: Polynomial) -> Polynomial:
        """Polynomial reduced modulo the relations."""
        for relation in self._relations:
            polynomial %= relation
        return polynomial

    def _whole_number(self, node: sp.Expr) -> int:
        number = self.polynomial(node)
        if not number.is_constant() or number.leading_coefficient().q != 1:
            raise FlintUndecided(f"not an integer: {node}")
        return int(number.leading_coefficient()) if number else 0

    def _derivative(self, node: sp.Expr) -> _Quotient:
        """Value of a derivative node."""
        value, *steps = node.args
        result = self.value(value)
        for symbol, times in (step.args for step in steps):
            if symbol in self._rooted:
                raise FlintUndecided(f"the derivative by {symbol}, on which a root depends, in {node}")
            for _ in range(int(times)):
                result = self._quotient_derivative(result, symbol)
        return result

    def _quotient_derivative(self, value: _Quotient, symbol: sp.Symbol) -> _Quotient:
        """Derivative (a'b - ab')/b^2 of a quotient a/b."""
        numerator_slope, denominator_slope = (self._polynomial_derivative(part, symbol) for part in value)
        minus = self._constant(-1)
        gain = self._product(numerator_slope, self._whole(value.denominator))
        loss = self._product(denominator_slope, self._whole(minus * value.numerator))
        return self._product(self._sum(gain, loss), self._power(self._whole(value.denominator), -2))

    def _polynomial_derivative(self, polynomial: Polynomial, symbol: sp.Symbol) -> _Quotient:
        """Derivative of a polynomial, by the chain rule over the generators."""
        total = self._whole(self._constant(0))
        for index, name in enumerate(self._at):
            partial = polynomial.derivative(index)
            if partial:
                total = self._sum(total, self._product(self._whole(partial), self._generator_derivative(name, symbol)))
        return total

    def _generator_derivative(self, name: Any, symbol: sp.Symbol) -> _Quotient:
        """Derivative of one generator by a symbol."""
        if name == symbol:
            return self._whole(self._constant(1))
        if not isinstance(name, tuple):
            return self._whole(self._constant(0))
        kind, monomial = name
        unit = (self._angle_units if kind in ("sin", "cos") else self._exponent_units)[monomial]
        sign, partner = {"sin": (1, "cos"), "cos": (-1, "sin"), "up": (1, "up"), "down": (-1, "down")}[kind]
        inner = self._polynomial_derivative(self._monomial(monomial), symbol)
        return self._product(self._whole(sign * unit * self._at[partner, monomial]), inner)

    def _monomial(self, monomial: Monomial) -> Polynomial:
        return prod((self._at[symbol] ** power for symbol, power in monomial), start=self._constant(1))

    def _function(self, node: sp.Expr) -> _Quotient:
        """Value of an exponential, trigonometric or hyperbolic function."""
        angle, exponent = _angle_and_exponent(node, self._arguments[node])
        (cosine, sine), (growth, decay), i = self._turn(angle), self._growth(exponent), self._at[sp.I]
        even, odd = (growth + decay) / 2, (growth - decay) / 2
        if node.func in _OF_ANGLE:
            even, odd = cosine * even - i * sine * odd, sine * even + i * cosine * odd
        else:
            even, odd = even * cosine + i * odd * sine, odd * cosine + i * even * sine
        parts = {"one": self._constant(1), "even": even, "odd": odd, "sum": even + odd}
        numerator, denominator = (
            self._whole(self._reduced(parts[name])) for name in (_OF_ANGLE | _OF_EXPONENT)[node.func]
        )
        return self._product(numerator, self._inverse(denominator))

    def _turn(self, angle: Weights) -> tuple[Polynomial, Polynomial]:
        """Cosine and sine of a sum, by the addition theorems."""
        cosine, sine = self._constant(1), self._constant(0)
        for monomial, weight in angle.items():
            c, s = self._multiple(monomial, int(weight / self._angle_units[monomial]))
            cosine, sine = cosine * c - sine * s, sine * c + cosine * s
        return cosine, sine

    def _multiple(self, monomial: Monomial, times: int) -> tuple[Polynomial, Polynomial]:
        """Cosine T_n(c) and sine s U_n-1(c) of a multiple of an angle."""
        c, s = self._at["cos", monomial], self._at["sin", monomial]
        first, second = flint.fmpz_poly.chebyshev_t(abs(times)), flint.fmpz_poly.chebyshev_u(abs(times) - 1)
        return _at(first, c), s * _at(second, c) if times > 0 else -s * _at(second, c)

    def _growth(self, exponent: Weights) -> tuple[Polynomial, Polynomial]:
        """Exponentials of a sum and of its negative."""
        growth, decay = self._constant(1), self._constant(1)
        for monomial, weight in exponent.items():
            times = int(weight / self._exponent_units[monomial])
            up, down = self._at["up", monomial] ** abs(times), self._at["down", monomial] ** abs(times)
            growth, decay = (growth * up, decay * down) if times > 0 else (growth * down, decay * up)
        return growth, decay


def _nodes(trees: Iterable[sp.Expr]) -> list[sp.Expr]:
    """Nodes of the trees, each once."""
    nodes: dict[sp.Expr, None] = {}
    stack = list(trees)
    while stack:
        node = stack.pop()
        if node not in nodes:
            nodes[node] = None
            stack.extend(node.args)
    return list(nodes)


def _check_squares(roots: Squares, field: _Field) -> None:
    """Raise `ValueError` if a product of distinct squares is a square of polynomials over C."""
    for size in range(1, len(roots) + 1):
        for squares in combinations(roots.values(), size):
            product = prod(map(field.polynomial, squares))
            if all(power % 2 == 0 for _, power in product.factor_squarefree()[1]):
                raise ValueError(f"the product of {squares} is a square, so its root is not a new element")


def _check_atoms(nodes: Iterable[sp.Expr], roots: Squares) -> None:
    """Raise an error for squares that contain roots or i, and for symbols that do not commute."""
    for root, square in roots.items():
        inner = _nodes([square])
        if not roots.keys().isdisjoint(inner):
            raise ValueError(f"the square of {root} may not contain a root: {square}")
        if sp.I in inner:
            raise FlintUndecided(f"the square of {root} is not a polynomial over Q: {square}")
    for node in nodes:
        if node.is_Symbol and not node.is_commutative:
            raise FlintUndecided(f"{node} does not commute")


def _angle_and_exponent(node: sp.Expr, argument: _Argument) -> tuple[Weights, Weights]:
    """Angle and exponent of a function: real and imaginary part of its argument, or the reverse."""
    return (argument.real, argument.imaginary) if node.func in _OF_ANGLE else (argument.imaginary, argument.real)


def _units(sums: Iterable[Weights]) -> Weights:
    """Greatest common divisor of the coefficients of each monomial."""
    units: Weights = {}
    for weights in sums:
        for monomial, weight in weights.items():
            units[monomial] = weight.gcd(units.get(monomial, 0))
    return units


def _at(polynomial: Any, place: Polynomial) -> Polynomial:
    """Value of a polynomial in one variable at a polynomial in several, by Horner's rule."""
    return reduce(lambda total, coefficient: total * place + coefficient, reversed(polynomial.coeffs()), 0 * place)


def _text(unit: Any, monomial: Monomial) -> str:
    """Text of a multiple of a monomial."""
    factors = [str(symbol) if power == 1 else f"{symbol}**{power}" for symbol, power in monomial]
    numerator = "*".join([str(unit.p)] * (unit.p != 1) + factors)
    return numerator if unit.q == 1 else f"{numerator}/{unit.q}"
