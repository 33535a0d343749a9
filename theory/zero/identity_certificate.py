"""Certificates of identities: data that a short program replays with rational arithmetic alone.

An identity is two trees of rational functions over Q(i) in symbols, square roots, and exponential, trigonometric and
hyperbolic functions of polynomials.  Its certificate has the trees, before any subtraction, and generators

    i^2 = -1,   root^2 = square,   exp(unit) exp(-unit) = 1,

one pair of exponentials for each monomial in an argument, where that of an angle is i times real.  The trees are read
as fractions in the generators, without any use of these relations, by rules that leave no choice:

* a denominator is a product of powers of distinct polynomials; a sum is taken over the least such product; the inverse
  of N/D is D over N, and D/N if N is a number;
* exp(n unit) is the n-th power of exp(unit), or of exp(-unit) if n < 0, and exp of a sum is a product;
* cosh z = (exp z + exp(-z))/2, sinh z = (exp z - exp(-z))/2, cos z = cosh iz, sin z = -i sinh iz, tan z = sin z/cos z;
* (N/D)' = (N'D - ND')/D^2.

The numerator of left - right is then the sum of the cofactors times the relations: that is the proof.  `point` gives
each generator a rational value that satisfies the relations.  No denominator is 0 there, so none is 0 identically.  If
the identity is false, the sides have different values there.  As the functions are algebraically independent (see
`lengthgen.theory.zero.flint_engine`), such a point refutes an identity of functions too.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction as Rational
from functools import reduce
from itertools import count
from math import isqrt, prod
from operator import itemgetter
from random import Random
from typing import Any

import flint
import sympy as sp

from lengthgen.theory.zero.two_engines import Identity

Polynomial = Any  # flint.fmpq_mpoly, which has no type stubs
Tree = Any
"""Name of a symbol, or a list of a head and its arguments."""
Denominator = dict[str, int]
"""Product of powers of distinct polynomials, each by its text."""
Quotient = tuple[Polynomial, Denominator]
Gaussian = tuple[Rational, Rational]
Monomial = tuple[tuple[int, ...], int]
"""Powers of the symbols, and 1 for a factor i."""

_ANGLES = ("cos", "sin", "tan", "cot", "sec", "csc")
_EXPONENTS = ("cosh", "sinh", "tanh", "coth", "sech", "csch", "exp")
_HEADS = {getattr(sp, name): name for name in (*_ANGLES, *_EXPONENTS)}
_I = (Rational(0), Rational(1))
_TRIALS = 5_000

UNIT = "imaginary unit"
"""Name of the generator i; a symbol may be called i."""


class NotCertified(Exception):
    """Raised for an identity of which no certificate is found."""


def certificate(identity: Identity) -> dict[str, Any]:
    """Certificate of a true or a false identity, as plain data for JSON.  Label [F].

    Raises:
        NotCertified: the identity is outside the fragment, or no suitable point is found.
    """
    return _Certifier(identity).certificate()


class _Trees:
    """Trees of expressions as plain data: names, ["q", number], ["i"], and heads with their arguments.

    Summands and factors are sorted by their JSON text: sympy's order depends on what the process met before.  Equal
    parts are one tree, so that what is found for one holds for all.
    """

    def __init__(self, names: dict[sp.Symbol, str]) -> None:
        self.names = names
        self._made: dict[sp.Expr, tuple[str, Tree]] = {}

    def of(self, node: sp.Expr) -> Tree:
        """Tree of an expression. Raises `NotCertified` if it is outside the fragment."""
        return self._with_text(node)[1]

    def _with_text(self, node: sp.Expr) -> tuple[str, Tree]:
        if node not in self._made:
            self._made[node] = self._build(node)
        return self._made[node]

    def _build(self, node: sp.Expr) -> tuple[str, Tree]:
        if node in self.names:
            return json.dumps(self.names[node]), self.names[node]
        if node.is_Rational:
            return f'["q", "{node}"]', ["q", str(node)]
        if node is sp.I:
            return '["i"]', ["i"]
        if node.is_Add or node.is_Mul:
            return _joined("+" if node.is_Add else "*", sorted(map(self._with_text, node.args), key=itemgetter(0)))
        if node.is_Pow and node.exp.doit().is_Integer:
            power = int(node.exp.doit())
            return _joined("^", [self._with_text(node.base), (str(power), power)])
        if node.func in _HEADS:
            return _joined(_HEADS[node.func], [self._with_text(node.args[0])])
        if node.func is sp.Derivative:
            value = self._with_text(node.args[0])
            for symbol, times in (step.args for step in node.args[1:]):
                for _ in range(int(times)):
                    value = _joined("d", [value, self._with_text(symbol)])
            return value
        raise NotCertified(f"no rational function of symbols and exponentials: {node}")


def _joined(head: str, parts: list[tuple[str, Tree]]) -> tuple[str, Tree]:
    """Text and tree of a head with its arguments."""
    return f'["{head}", {", ".join(text for text, _ in parts)}]', [head, *(part for _, part in parts)]


def symbol_names(identity: Identity) -> dict[sp.Symbol, str]:
    """Name of each symbol, in order of the names; symbols that look alike get different names."""
    parts = [identity.left, identity.right, *(part for pair in identity.squares for part in pair)]
    occurring = {node for part in parts for node in part.atoms(sp.Symbol)}
    symbols = sorted(occurring, key=lambda symbol: (str(symbol), str(symbol.assumptions0)))
    names: dict[sp.Symbol, str] = {}
    for symbol in symbols:
        text = str(symbol)
        names[symbol] = next(
            name for number in count(1) if (name := text if number == 1 else f"{text} ({number})") not in names.values()
        )
    return names


class _Certifier:
    """Generators of one identity, and the reading of its trees as fractions."""

    def __init__(self, identity: Identity) -> None:
        self.identity, self.names = identity, symbol_names(identity)
        trees = _Trees(self.names)
        self.trees = [trees.of(side) for side in (identity.left, identity.right)]
        self.roots = {self.names[root]: trees.of(square) for root, square in identity.squares}
        self.units: dict[Monomial, Any] = {}
        self._set_ring()
        for name, argument in _functions([*self.trees]):
            for monomial, weight in self._argument(name, argument).items():
                self.units[monomial] = weight.gcd(self.units.get(monomial, 0))
        self._set_ring()

    def _set_ring(self) -> None:
        """Make the ring of polynomials, with the units that are known."""
        symbols = [name for name in self.names.values() if name not in self.roots]
        exponentials = [f"{kind} {n}" for kind in ("up", "down") for n, _ in enumerate(self.units)]
        self.places = [*self.roots, UNIT, *exponentials, *symbols]
        context = flint.fmpq_mpoly_ctx.get([f"x{n}" for n, _ in enumerate(self.places)], "lex")
        self.at = dict(zip(self.places, context.gens(), strict=True))
        self.number = context.constant
        self._factors: dict[str, Polynomial] = {}
        self._values: dict[int, Quotient] = {}
        self.relations = [self.at[root] ** 2 - self.polynomial(square) for root, square in self.roots.items()]
        self.relations += [self.at[UNIT] ** 2 + 1]
        self.relations += [self.at[f"up {n}"] * self.at[f"down {n}"] - 1 for n, _ in enumerate(self.units)]

    def certificate(self) -> dict[str, Any]:
        """Certificate as plain data."""
        (left, lower), (right, other) = map(self.value, self.trees)
        common = _least_common(lower, other)
        numerator = left * self._quotient(common, lower) - right * self._quotient(common, other)
        cofactors = []
        for relation in self.relations:
            cofactor, numerator = divmod(numerator, relation)
            cofactors.append(self.plain(cofactor))
        if (not numerator) != self.identity.zero:
            raise NotCertified(f"the numerator of {self.identity.left} - ({self.identity.right}) is {numerator}")
        point = self.point([*map(self._factors.get, common), *([numerator] if numerator else [])])
        return {
            "holds": self.identity.zero,
            "left": self.trees[0],
            "right": self.trees[1],
            "roots": self.roots,
            "units": [self.plain(unit) for unit in self._units()],
            "relations": [self.plain(relation) for relation in self.relations],
            "cofactors": cofactors if self.identity.zero else [],
            "arguments": self._arguments(),
            "point": {name: [str(part) for part in parts] for name, parts in point.items()},
        }

    def plain(self, polynomial: Polynomial) -> list[Any]:
        """Polynomial as a list of coefficients with the powers of the generators."""
        return [
            [str(coefficient), {name: int(power) for name, power in zip(self.places, powers, strict=True) if power}]
            for powers, coefficient in polynomial.to_dict().items()
        ]

    def point(self, nonzero: Sequence[Polynomial]) -> dict[str, Gaussian]:
        """Point of the relations, in rational real and imaginary parts, at which none of some polynomials is 0."""
        random = Random(0)
        for trial in range(_TRIALS):
            most = 4 + trial // 50
            below = random.randint(1, most) if self.roots else 1  # the square of a root is to be a rational square
            point = {name: (Rational(random.randint(1, most), below), Rational(0)) for name in self.names.values()}
            for root, square in self.roots.items():
                point[root] = (_square_root(self.at_point(self.polynomial(square), point)[0]), Rational(0))
            if not all(any(parts) for parts in point.values()):
                continue
            for n, (_, imaginary) in enumerate(self.units):
                value, half = (Rational(random.randint(1, 9), random.randint(1, 9)) for _ in range(2))
                circle = (1 - half**2) / (1 + half**2), 2 * half / (1 + half**2)
                point[f"up {n}"] = circle if imaginary else (value, Rational(0))
                point[f"down {n}"] = (circle[0], -circle[1]) if imaginary else (1 / value, Rational(0))
            if all(any(self.at_point(polynomial, point)) for polynomial in nonzero):
                return point
        raise NotCertified(f"no rational point shows that {nonzero} are not 0")

    def at_point(self, polynomial: Polynomial, point: Mapping[str, Gaussian]) -> Gaussian:
        """Value of a polynomial at a point."""
        real = imaginary = Rational(0)
        for powers, coefficient in polynomial.to_dict().items():
            x, y = Rational(int(coefficient.p), int(coefficient.q)), Rational(0)
            for name, power in zip(self.places, powers, strict=True):
                a, b = _I if name == UNIT else point[name] if power else (Rational(1), Rational(0))
                for _ in range(int(power)):
                    x, y = x * a - y * b, x * b + y * a
            real, imaginary = real + x, imaginary + y
        return real, imaginary

    def polynomial(self, of: Tree) -> Polynomial:
        """Value of a tree that is a polynomial."""
        numerator, denominator = self.value(of)
        if denominator:
            raise NotCertified(f"not a polynomial: {of}")
        return numerator

    def value(self, of: Tree) -> Quotient:
        """Fraction that a tree stands for; one that occurs often is read once."""
        if isinstance(of, str):
            return self.at[of], {}
        if id(of) not in self._values:
            self._values[id(of)] = self._read(of)
        return self._values[id(of)]

    def _read(self, of: Tree) -> Quotient:
        head, *parts = of
        match head:
            case "q":
                return self.number(flint.fmpq(*Rational(parts[0]).as_integer_ratio())), {}
            case "i":
                return self.at[UNIT], {}
            case "+":
                return reduce(self._sum, map(self.value, parts))
            case "*":
                return reduce(_product, map(self.value, parts))
            case "^":
                base = self.value(parts[0]) if parts[1] >= 0 else self._inverse(self.value(parts[0]))
                return base[0] ** abs(parts[1]), {
                    factor: n * abs(parts[1]) for factor, n in base[1].items() if parts[1]
                }
            case "d":
                return self._derivative(self.value(parts[0]), parts[1])
        return self._function(head, parts[0])

    def _sum(self, first: Quotient, second: Quotient) -> Quotient:
        common = _least_common(first[1], second[1])
        widened = [numerator * self._quotient(common, below) for numerator, below in (first, second)]
        return widened[0] + widened[1], common

    def _inverse(self, value: Quotient) -> Quotient:
        numerator, inverse = value[0], self._quotient(value[1], {})
        if not numerator:
            raise NotCertified("a denominator is identically zero")
        return (inverse / numerator, {}) if numerator.is_constant() else (inverse, {self._named(numerator): 1})

    def _quotient(self, common: Denominator, divisor: Denominator) -> Polynomial:
        """Quotient of two products of powers."""
        powers = (self._factors[name] ** (n - divisor.get(name, 0)) for name, n in common.items())
        return prod(powers, start=self.number(1))

    def _named(self, polynomial: Polynomial) -> str:
        """Text of a polynomial, by which it is found again: it has no hash."""
        self._factors[str(polynomial)] = polynomial
        return str(polynomial)

    def _derivative(self, value: Quotient, symbol: str) -> Quotient:
        above, below = value[0], self._quotient(value[1], {})
        slope = self._slope(above, symbol) * below - above * self._slope(below, symbol)
        return slope, {factor: 2 * n for factor, n in value[1].items()}

    def _slope(self, polynomial: Polynomial, symbol: str) -> Polynomial:
        """Derivative of a polynomial by a symbol, with those of the exponentials of it."""
        total = polynomial.derivative(self.places.index(symbol))
        for n, unit in enumerate(self._units()):
            inner = unit.derivative(self.places.index(symbol))
            for sign, name in ((1, f"up {n}"), (-1, f"down {n}")):
                total += sign * inner * self.at[name] * polynomial.derivative(self.places.index(name))
        return total

    def _function(self, name: str, argument: Tree) -> Quotient:
        up = down = unity = self.number(1)
        weights = self._argument(name, argument)
        for n, (monomial, unit) in enumerate(self.units.items()):
            times = int(weights.get(monomial, flint.fmpq(0)) / unit)
            growth, decay = (self.at[f"{kind} {n}"] for kind in (("up", "down") if times > 0 else ("down", "up")))
            up, down = up * growth ** abs(times), down * decay ** abs(times)
        even, odd = (up + down) / 2, (up - down) / 2
        if name in _ANGLES:
            odd = odd * -self.at[UNIT]
        forms = (even, unity), (odd, unity), (odd, even), (even, odd), (unity, even), (unity, odd), (up, unity)
        above, below = forms[(_ANGLES if name in _ANGLES else _EXPONENTS).index(name)]
        return _product((above, {}), self._inverse((below, {})))

    def _argument(self, name: str, argument: Tree) -> dict[Monomial, Any]:
        """Coefficient of each monomial in the exponent that an argument gives, with i times the angle as exponent."""
        weights = {}
        inner = [self.places.index(symbol) for symbol in self.names.values()]
        for powers, coefficient in self.polynomial(argument).to_dict().items():
            monomial = tuple(int(powers[place]) for place in inner)
            imaginary = int(powers[self.places.index(UNIT)]) + (name in _ANGLES)
            if not any(monomial) or imaginary > 1:
                raise NotCertified(f"no polynomial in symbols without constant term: {argument}")
            weights[monomial, imaginary] = coefficient
        return weights

    def _arguments(self) -> list[list[Any]]:
        """Each argument once: "angle" or "exponent", its tree, and its multiple of each unit."""
        rows: list[list[Any]] = []
        for name, argument in _functions([*self.trees]):
            weights = self._argument(name, argument)
            times = [int(weights.get(monomial, flint.fmpq(0)) / unit) for monomial, unit in self.units.items()]
            row = ["angle" if name in _ANGLES else "exponent", argument, times]
            rows += [] if row in rows else [row]
        return rows

    def _units(self) -> list[Polynomial]:
        """Unit of each monomial: a rational multiple of it, with the factor i for an angle."""
        result = []
        for (powers, imaginary), weight in self.units.items():
            factors = (self.at[name] ** power for name, power in zip(self.names.values(), powers, strict=True))
            result.append(prod(factors, start=self.number(weight) * self.at[UNIT] ** imaginary))
        return result


def _functions(trees: list[Tree]) -> Iterator[tuple[str, Tree]]:
    """Functions in some trees with their arguments."""
    while trees:
        node = trees.pop()
        if isinstance(node, list):
            if node[0] in _ANGLES or node[0] in _EXPONENTS:
                yield node[0], node[1]
            trees += node[1:]


def _least_common(first: Denominator, second: Denominator) -> Denominator:
    """Least product of powers that both products divide."""
    return {factor: max(first.get(factor, 0), second.get(factor, 0)) for factor in (first | second)}


def _product(first: Quotient, second: Quotient) -> Quotient:
    """Product of two fractions."""
    below = {factor: first[1].get(factor, 0) + second[1].get(factor, 0) for factor in (first[1] | second[1])}
    return first[0] * second[0], below


def _square_root(value: Rational) -> Rational:
    """Rational square root; 0 if there is none."""
    if value <= 0:
        return Rational(0)
    root = Rational(isqrt(value.numerator), isqrt(value.denominator))
    return root if root**2 == value else Rational(0)
