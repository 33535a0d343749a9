"""Legendre codes: orthogonality on the interval and on grids, growth beyond the trained length, and rescaling.

P_n is defined by P_0 = 1, P_1 = x and the recurrence (n + 1) P_(n+1) = (2n + 1) x P_n - n P_(n-1), as the module
computes it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.orthogonal import SOURCE
from lengthgen.theory import laws
from lengthgen.theory.encodings import absolute
from lengthgen.theory.encodings.encoding import LENGTH, Law
from lengthgen.theory.exact import Undecided

Function = Callable[[sp.Expr, sp.Expr], sp.Expr]
Bound = Callable[[sp.Expr, sp.Expr], sp.Expr]

_DEGREES = 12
_NODES = 8
_X = sp.Symbol("x", real=True)
_N = sp.Symbol("n", integer=True, nonnegative=True)


def _recurrence(degree: sp.Expr, now: sp.Expr, before: sp.Expr) -> sp.Expr:
    """P_(n+1) of the three-term recurrence, from P_n and P_(n-1)."""
    return ((2 * degree + 1) * _X * now - degree * before) / (degree + 1)


def _mean(polynomial: sp.Expr) -> sp.Expr:
    """Mean over [-1, 1] of a polynomial in x with rational coefficients: x^k has the mean 1/(k + 1) for even k."""
    terms = sp.Poly(polynomial, _X).terms()
    return sp.Add(*(coefficient / (power + 1) for (power,), coefficient in terms if power % 2 == 0))


def orthonormal(*, function: Function) -> Evidence:
    """Decide that the mean of f_m f_n over [-1, 1] is 1 if m = n and else 0, for all degrees."""
    polynomials = [sp.S.One, _X]
    for degree in range(1, _DEGREES):
        polynomials.append(sp.expand(_recurrence(sp.Integer(degree), polynomials[-1], polynomials[-2])))
    for degree, polynomial in enumerate(polynomials):
        code = function(sp.Integer(degree), _X)
        weight = code.subs(_X, 1)
        if sp.expand(code / weight - polynomial) != 0:
            raise Refuted(f"degree {degree}: {code / weight} is not {polynomial}, the polynomial of the recurrence")
        square = weight**2 * _mean(polynomial**2)
        if square != 1:
            raise Refuted(f"degree {degree}: the mean square over [-1, 1] is {square}, not 1")
    for first, second in combinations(range(_DEGREES + 1), 2):
        mean = _mean(polynomials[first] * polynomials[second])
        if mean != 0:
            raise Refuted(f"the mean of P_{first} P_{second} over [-1, 1] is {mean}, not 0")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *_differential_equation(),
            *_norms(function),
            f"degrees 0 to {_DEGREES}: the formulas are the polynomials of the recurrence, with these means",
        ),
        assumptions=("P_n is defined by its three-term recurrence; induction on n",),
    )


def _differential_equation() -> tuple[str, ...]:
    """Facts that P_n solves Legendre's equation for all n, and so that different degrees are orthogonal."""
    n, m, p, q, r, s = sp.symbols("n m P_n P_n-1 P_m P_m-1", real=True)
    width = 1 - _X**2

    def slopes(degree: sp.Expr, now: sp.Expr, before: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        return degree * (before - _X * now) / width, degree * (_X * before - now) / width

    def slope(expression: sp.Expr) -> sp.Expr:
        """Derivative in x of an expression in x and in the polynomials of degrees n, n - 1, m and m - 1."""
        rates = {_X: sp.S.One} | dict(zip((p, q), slopes(n, p, q), strict=True))
        rates |= dict(zip((r, s), slopes(m, r, s), strict=True))
        return sp.Add(*(expression.diff(symbol) * rate for symbol, rate in rates.items()))

    following = _recurrence(n, p, q)
    turned = width * (r * slopes(n, p, q)[0] - p * slopes(m, r, s)[0])
    return (
        require_equal("n = 1: (1 - x^2) P_1' = P_0 - x P_1", width, lambda: 1 * (1 - _X * _X)),
        require_equal(
            "step: (1 - x^2) P_(n+1)' = (n + 1) (P_n - x P_(n+1))",
            width * slope(following),
            lambda: (n + 1) * (p - _X * following),
        ),
        require_equal(
            "step: (1 - x^2) P_n' = (n + 1) (x P_n - P_(n+1))",
            width * slope(p),
            lambda: (n + 1) * (_X * p - following),
        ),
        require_equal(
            "so ((1 - x^2) P_n')' = -n (n + 1) P_n", slope(width * slopes(n, p, q)[0]), lambda: -n * (n + 1) * p
        ),
        require_equal(
            "((1 - x^2)(P_m P_n' - P_n P_m'))' = (m (m + 1) - n (n + 1)) P_m P_n",
            slope(turned),
            lambda: (m * (m + 1) - n * (n + 1)) * r * p,
        ),
        "1 - x^2 is 0 at both ends, so the integral of P_m P_n is 0 for m != n",
    )


def _norms(function: Function) -> tuple[str, ...]:
    """Facts that the integral of P_n^2 is 2 / (2n + 1), by induction, and that the stated weights make the mean 1."""
    n, square, mixed = sp.symbols("n N_n M_n", positive=True)
    integral = 2 / (2 * n + 1)
    weight = function(_N, _X) / sp.legendre(_N, _X)
    return (
        "with N_n, M_n the integrals of P_n^2 and x P_n P_(n+1): the recurrence times P_(n+1), and the next times P_n, "
        "give (n + 1) N_(n+1) = (2n + 1) M_n and (2n + 3) M_n = (n + 1) N_n",
        require_equal(
            "so N_(n+1) = (2n + 1) / (2n + 3) N_n",
            ((2 * n + 1) * mixed / (n + 1)).subs(mixed, (n + 1) * square / (2 * n + 3)),
            lambda: (2 * n + 1) * square / (2 * n + 3),
        ),
        require_equal(
            "N_n = 2/(2n + 1) solves this, and N_0 = 2",
            lambda: integral.subs(n, n + 1) * (2 * n + 3),
            lambda: integral * (2 * n + 1),
        ),
        require_equal("weight^2 N_n / 2 = 1", (weight**2).subs(_N, n) * integral / 2, lambda: n / n),
    )


def uniform_grid(*, point: Callable[[sp.Expr, sp.Expr], sp.Expr], entry: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide the mean of f_0 f_2 over the positions 0 .. N - 1, whose points are `point(p, N)`, for every N >= 2."""
    count, position = sp.symbols("N p", integer=True, positive=True)
    function = absolute.legendre_function(sp.S.Zero, _X) * absolute.legendre_function(sp.Integer(2), _X)
    for number in range(2, 8):
        values = [function.subs(_X, point(sp.Integer(at), sp.Integer(number))) for at in range(number)]
        mean, stated = sp.nsimplify(sp.Add(*values) / number), entry(sp.Integer(number))
        if sp.expand(mean - stated) != 0:
            raise Refuted(f"{number} positions: the mean of f_0 f_2 is {mean}, not {stated}")
    term = sp.expand(function.subs(_X, point(position, count)))
    mean = sp.summation(term, (position, 0, count - 1)) / count
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal("mean of f_0 f_2 over the N positions", sp.expand(mean), lambda: entry(count)),
            "sympy sums the powers of p; 2 to 7 positions are summed term by term",
            "positive for every N, so no uniform grid makes the codes orthogonal",
        ),
        assumptions=("N >= 2 positions, the ends included",),
    )


def gauss_nodes(*, node_polynomial: Callable[[int], sp.Expr]) -> Evidence:
    """Decide that with the N roots of a polynomial as nodes the first N functions are exactly orthonormal.

    A sum over the nodes with the weights of interpolation sees a polynomial through its remainder after division by
    the node polynomial.  So no root is computed.
    """
    for count in range(1, _NODES + 1):
        for first, second in combinations_with_replacement(range(count), 2):
            pair = sp.expand(sp.legendre(first, _X) * sp.legendre(second, _X))
            seen = sp.sqrt((2 * first + 1) * (2 * second + 1)) * _mean(sp.rem(pair, node_polynomial(count), _X))
            if seen != int(first == second):
                raise Refuted(f"{count} nodes: the weighted mean of f_{first} f_{second} is {seen}")
    return Evidence(
        strength=Strength.BOUNDED,
        reach=f"N <= {_NODES}",
        facts=(f"all pairs of degrees below N, for N = 1 to {_NODES}, in exact numbers",),
        assumptions=("the weights are those of interpolation at the nodes",),
    )


def growth(*, lower: Bound, upper: Bound, point: int, degree: int, size: str) -> Evidence:
    """Decide that lower <= P_n(x) <= upper for x = (r + 1/r)/2 and r > 1, r = x + sqrt(x^2 - 1).

    The bounds are functions of n and r; `size` is P_degree(point) in two digits.
    """
    for number, ratio in product(range(1, 9), (sp.Rational(3, 2), sp.Integer(2), sp.Integer(6))):
        value = sp.legendre(number, (ratio + 1 / ratio) / 2)
        low, high = lower(sp.Integer(number), ratio), upper(sp.Integer(number), ratio)
        if not low <= value <= high:
            raise Refuted(f"n = {number}, r = {ratio}: P_n(x) = {value}, not in [{low}, {high}]")
    value = sp.legendre(degree, sp.Integer(point))
    if f"{float(value):.1e}" != size:
        raise Refuted(f"P_{degree}({point}) = {float(value):.1e}, not {size}")
    z, ratio, x, now, before = sp.symbols("z r x P_n P_n-1", positive=True)
    count = sp.Symbol("n", positive=True)
    term = sp.binomial(2 * _N, _N) / 4**_N
    facts = (
        require_equal(
            "G = (1 - 2xz + z^2)^(-1/2): 1 - 2xz + z^2 = (1 - zr)(1 - z/r)",
            lambda: 1 - (ratio + 1 / ratio) * z + z**2,
            lambda: (1 - z * ratio) * (1 - z / ratio),
        ),
        require_equal(
            "(1 - 2xz + z^2) G' = (x - z) G",
            lambda: -derivative(1 - 2 * x * z + z**2, z) / 2,
            lambda: x - z,
        ),
        require_equal(
            "by powers of z this is the recurrence of P_n",
            lambda: 2 * x * count * now - (count - 1) * before + x * now - before,
            lambda: (2 * count + 1) * x * now - count * before,
        ),
        "so P_n(x) is the coefficient of z^n in (1 - zr)^(-1/2) (1 - z/r)^(-1/2): the sum of a_k a_(n-k) r^(n-2k)",
        same_by_sympy(
            "a_n = C(2n, n)/4^n: a_(n+1)/a_n = (2n + 1)/(2n + 2), as (1 - w) A' = A/2 asks",
            sp.combsimp(term.subs(_N, _N + 1) / term),
            (2 * _N + 1) / (2 * (_N + 1)),
        ),
        same_by_sympy("the term k = 0 is the lower bound", sp.simplify(lower(_N, ratio) - term * ratio**_N), sp.S.Zero),
        same_by_sympy("r^n is the upper bound", sp.simplify(upper(_N, ratio) - ratio**_N), sp.S.Zero),
        "all terms are positive; a_k a_(n-k) sum to P_n(1) = 1, the coefficient in 1/(1 - z), and r^(n-2k) <= r^n",
        f"P_{degree}({point}) = {value} = {size}",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("x > 1; for x < -1, P_n(-x) = (-1)^n P_n(x)",))


def rescaled(*, coordinate: Callable[..., sp.Expr], change: Bound, keep: Mapping[str, bool]) -> Evidence:
    """Decide how the point of position p differs between the lengths T and T' >= L, and which policies stream.

    Args:
        coordinate: point of a position under the policy of the default.
        change: point at T minus point at T', divided by p, a function of T and T'.
        keep: policy -> True if a longer sequence changes no score.
    """
    trained = absolute.TRAINED_LENGTH
    position, more, most = sp.symbols("p a b", integer=True, positive=True)
    ends = (trained + more, trained + more + most)
    points = [coordinate(position, length=end, trained_length=trained) for end in ends]
    inside = [coordinate(position, length=end, trained_length=trained) for end in (sp.S.One, trained)]
    facts = [
        same_by_sympy("up to the trained length the length does not enter", *inside),
        require_equal(
            "T = L + a, T' = L + a + b: change of the point of p",
            points[0] - points[1],
            lambda: position * change(*ends),
        ),
    ]
    if not sp.factor(sp.together(change(*ends).subs(trained, more + 1))).is_positive:
        raise Refuted("the change is 0 or not positive at L = 2")
    facts.append("positive for p > 0: f_1 = sqrt(3) x changes at every position but 0, whose point is always -1")
    for policy, streams in keep.items():
        record = replace(absolute.LEGENDRE, positions=_positions(policy))
        ruling = laws.decide_law(record, Law.STREAMING)
        if ruling.holds is None:
            raise Undecided(f"{policy}: {ruling.reason}")
        if ruling.holds != streams:
            raise Refuted(f"{policy}: {'no score changes' if ruling.holds else 'scores change'}, {ruling.reason}")
        facts.append(f"{policy}: streaming {'holds' if streams else 'fails'}: {ruling.reason}")
    same = absolute.LEGENDRE.positions
    assert same is not None
    facts.append(
        same_by_sympy(
            "the record has this point",
            same(position, LENGTH),
            coordinate(position, length=LENGTH, trained_length=trained),
        )
    )
    return Evidence(strength=Strength.GENERAL, facts=tuple(facts), assumptions=("D >= 2, so that f_1 is there",))


def _formula(degree: sp.Expr, point: sp.Expr) -> sp.Expr:
    """Legendre function of the encoding."""
    return absolute.legendre_function(degree, point)


def _positions(beyond: str) -> Callable[[sp.Expr, sp.Expr], sp.Expr]:
    """Hook `positions` of a Legendre record with one policy."""

    def positions(index: sp.Expr, length: sp.Expr) -> sp.Expr:
        return absolute.legendre_coordinate(index, length=length, trained_length=absolute.TRAINED_LENGTH, beyond=beyond)

    return positions


def _with(beyond: str) -> Callable[..., sp.Expr]:
    """Point of a position under one policy."""
    return lambda position, **sizes: absolute.legendre_coordinate(position, beyond=beyond, **sizes)


def _raw(position: sp.Expr, count: sp.Expr) -> sp.Expr:
    """Point of a position of a grid with both ends."""
    return absolute.legendre_coordinate(position, length=count, trained_length=count, beyond="raw")


CLAIMS = (
    Claim(
        id="orthogonal-1",
        source=SOURCE,
        statement="The functions sqrt(2n + 1) P_n are orthonormal under the mean over [-1, 1], for all degrees "
        "(our reading of the paper's orthogonal codes).",
        latex=r"\int_{-1}^1P_mP_n\,dx=\frac{2}{2n+1}\,\delta_{mn}",
        label="F",
        check=orthonormal,
        holds={"function": _formula},
        falsifiers={
            "without the weights": {"function": sp.legendre},
            "weights sqrt(2n + 2)": {"function": lambda n, x: sp.sqrt(2 * n + 2) * sp.legendre(n, x)},
            "Chebyshev's polynomials": {"function": lambda n, x: sp.sqrt(2 * n + 1) * sp.chebyshevt(n, x)},
        },
    ),
    Claim(
        id="orthogonal-1-grid",
        source=SOURCE,
        statement="On N uniform positions Legendre codes are never orthogonal: the mean of f_0 f_2 is sqrt(5)/(N - 1) "
        "for every N >= 2 (our reading; the paper was not at hand).",
        latex=r"\frac1N\sum_pf_0(x_p)f_2(x_p)=\frac{\sqrt5}{N-1},\quad x_p=-1+\tfrac{2p}{N-1}",
        label="F",
        check=uniform_grid,
        holds={"point": _raw, "entry": lambda count: sp.sqrt(5) / (count - 1)},
        falsifiers={
            "orthogonal on the uniform grid": {"entry": lambda count: sp.S.Zero},
            "points in the middle of their cells": {"point": lambda p, count: -1 + (2 * p + 1) / count},
            "sqrt(5)/N": {"entry": lambda count: sp.sqrt(5) / count},
        },
    ),
    Claim(
        id="orthogonal-1-gauss",
        source=SOURCE,
        statement="On the N roots of P_N, with the weights of Gauss, the first N functions are exactly orthonormal "
        "(our reading).  Decided for N <= 8.",
        latex=r"\sum_kw_kf_m(x_k)f_n(x_k)=2\delta_{mn},\quad P_N(x_k)=0,\ m,n<N",
        label="F",
        check=gauss_nodes,
        holds={"node_polynomial": lambda count: sp.legendre(count, _X)},
        falsifiers={
            "roots of Chebyshev's polynomial": {"node_polynomial": lambda count: sp.chebyshevt(count, _X)},
            "uniform nodes": {
                "node_polynomial": lambda count: sp.expand(
                    sp.Mul(*(_X + 1 - sp.Rational(2 * k + 1, count) for k in range(count)))
                )
            },
        },
    ),
    Claim(
        id="orthogonal-2",
        source=SOURCE,
        statement="Beyond the trained length raw Legendre codes grow exponentially in the degree: for x > 1, P_n(x) "
        "lies between C(2n, n)/4^n r^n and r^n with r = x + sqrt(x^2 - 1); P_31(2) = 5.6e+16 (our reading).",
        latex=r"\binom{2n}{n}4^{-n}r^n\le P_n(x)\le r^n,\quad r=x+\sqrt{x^2-1}",
        label="F",
        check=growth,
        holds={
            "lower": lambda n, r: sp.binomial(2 * n, n) / 4**n * r**n,
            "upper": lambda n, r: r**n,
            "point": 2,
            "degree": 31,
            "size": "5.6e+16",
        },
        answers=("size",),
        falsifiers={
            "bounded by 1, as inside [-1, 1]": {"upper": lambda n, r: sp.S.One},
            "at least r^n": {"lower": lambda n, r: r**n},
            "at most x^n": {"upper": lambda n, r: ((r + 1 / r) / 2) ** n},
            "degree 30": {"degree": 30},
        },
    ),
    Claim(
        id="orthogonal-3",
        source=SOURCE,
        statement="Rescaling with the length T changes the code of every position but 0 whenever T grows beyond the "
        "trained length, by 2p (T' - T)/((T - 1)(T' - 1)) in x; with clamp and raw a longer sequence changes no score "
        "(our reading).",
        latex=r"x_p(T)-x_p(T')=\frac{2p\,(T'-T)}{(T-1)(T'-1)},\quad T'>T\ge L",
        label="F",
        check=rescaled,
        holds={
            "coordinate": _with("rescale"),
            "change": lambda length, longer: 2 * (longer - length) / ((length - 1) * (longer - 1)),
            "keep": {"rescale": False, "clamp": True, "raw": True},
        },
        answers=("keep",),
        falsifiers={
            "clamped: codes do not depend on the length": {"coordinate": _with("clamp")},
            "raw: codes do not depend on the length": {"coordinate": _with("raw")},
            "twice the change": {
                "change": lambda length, longer: 4 * (longer - length) / ((length - 1) * (longer - 1))
            },
        },
    ),
)
