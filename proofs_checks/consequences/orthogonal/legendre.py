"""Legendre codes: orthogonality, exact and on grids, growth beyond the trained length, and what rescaling changes.

P_n is defined by P_0 = 1, P_1 = x and the recurrence (n + 1) P_(n+1) = (2n + 1) x P_n - n P_(n-1), as the module
computes it.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product

import sympy as sp

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.consequences.orthogonal import SOURCE
from lengthgen.proofs_checks.facts import Formula, derivative, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory import laws
from lengthgen.theory.encodings import absolute
from lengthgen.theory.encodings.encoding import LENGTH, Law
from lengthgen.theory.zero.sympy_engine import Undecided

CLAIMS = PaperClaims(SOURCE)
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


@CLAIMS.claim(
    "orthogonal-1",
    "",
    r"\int_{-1}^1P_mP_n\,dx=\frac{2}{2n+1}\,\delta_{mn}",
    assumptions=(
        "P_n is defined by its three-term recurrence",
        "in words: induction on n, and integration of the identities over [-1, 1]",
    ),
    falsifiers={
        "without the weights": {"function": sp.legendre},
        "weights sqrt(2n + 2)": {"function": lambda n, x: sp.sqrt(2 * n + 2) * sp.legendre(n, x)},
        "Chebyshev's polynomials": {"function": lambda n, x: sp.sqrt(2 * n + 1) * sp.chebyshevt(n, x)},
    },
)
def orthonormal(function: Formula = absolute.legendre_function) -> Facts:
    """The functions sqrt(2n + 1) P_n are orthonormal under the mean over [-1, 1], for all degrees (our reading of the
    paper's orthogonal codes).
    """
    polynomials = [sp.S.One, _X]
    for degree in range(1, _DEGREES):
        polynomials.append(sp.expand(_recurrence(sp.Integer(degree), *polynomials[:-3:-1])))
    for degree, polynomial in enumerate(polynomials):
        code = function(sp.Integer(degree), _X)
        weight = code.subs(_X, 1)
        other = f"{code / weight} is not {polynomial}, the polynomial of the recurrence"
        refute(sp.expand(code / weight - polynomial) != 0, f"degree {degree}: {other}")
        square = weight**2 * _mean(polynomial**2)
        refute(square != 1, f"degree {degree}: the mean square over [-1, 1] is {square}, not 1")
    for first, second in combinations(range(_DEGREES + 1), 2):
        mean = _mean(polynomials[first] * polynomials[second])
        refute(mean != 0, f"the mean of P_{first} P_{second} over [-1, 1] is {mean}, not 0")
    yield from _differential_equation()
    yield from _norms(function)
    yield f"degrees 0 to {_DEGREES}: the formulas are the polynomials of the recurrence, with these means"


def _differential_equation() -> Facts:
    """Facts that P_n solves Legendre's equation for all n, and so that different degrees are orthogonal."""
    n, m, p, q, r, s = sp.symbols("n m P_n P_n-1 P_m P_m-1", real=True)
    width = 1 - _X**2

    def slopes(degree: sp.Expr, now: sp.Expr, before: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        return degree * (before - _X * now) / width, degree * (_X * before - now) / width

    rates = dict(zip((_X, p, q, r, s), (sp.S.One, *slopes(n, p, q), *slopes(m, r, s)), strict=True))

    def slope(expression: sp.Expr) -> sp.Expr:
        """Derivative in x of an expression in x and in the polynomials of degrees n, n - 1, m and m - 1."""
        return sp.Add(*(expression.diff(symbol) * rate for symbol, rate in rates.items()))

    following, turned = _recurrence(n, p, q), width * (r * rates[p] - p * rates[r])
    yield "n = 1: (1 - x^2) P_1' = P_0 - x P_1", width, lambda: 1 * (1 - _X * _X)
    step = "step: (1 - x^2) P_(n+1)' = (n + 1) (P_n - x P_(n+1))"
    yield step, width * slope(following), lambda: (n + 1) * (p - _X * following)
    yield "step: (1 - x^2) P_n' = (n + 1) (x P_n - P_(n+1))", width * slope(p), lambda: (n + 1) * (_X * p - following)
    yield "so ((1 - x^2) P_n')' = -n (n + 1) P_n", slope(width * rates[p]), lambda: -n * (n + 1) * p
    both = "((1 - x^2)(P_m P_n' - P_n P_m'))' = (m (m + 1) - n (n + 1)) P_m P_n"
    yield both, slope(turned), lambda: (m * (m + 1) - n * (n + 1)) * r * p
    yield "1 - x^2 is 0 at both ends, so the integral of P_m P_n is 0 for m != n"


def _norms(function: Formula) -> Facts:
    """Facts that the integral of P_n^2 is 2 / (2n + 1), by induction, and that the stated weights make the mean 1."""
    n, square, mixed = sp.symbols("n N_n M_n", positive=True)
    integral, weight = 2 / (2 * n + 1), function(_N, _X) / sp.legendre(_N, _X)
    yield (
        "with N_n, M_n the integrals of P_n^2 and x P_n P_(n+1): the recurrence times P_(n+1), and the next times P_n, "
        "give (n + 1) N_(n+1) = (2n + 1) M_n and (2n + 3) M_n = (n + 1) N_n"
    )
    yield (
        "so N_(n+1) = (2n + 1) / (2n + 3) N_n",
        ((2 * n + 1) * mixed / (n + 1)).subs(mixed, (n + 1) * square / (2 * n + 3)),
        lambda: (2 * n + 1) * square / (2 * n + 3),
    )
    solved = "N_n = 2/(2n + 1) solves this, and N_0 = 2"
    yield solved, lambda: integral.subs(n, n + 1) * (2 * n + 3), lambda: integral * (2 * n + 1)
    yield "weight^2 N_n / 2 = 1", (weight**2).subs(_N, n) * integral / 2, lambda: n / n


@CLAIMS.claim(
    "orthogonal-1-grid",
    "",
    r"\frac1N\sum_pf_0(x_p)f_2(x_p)=\frac{\sqrt5}{N-1},\quad x_p=-1+\tfrac{2p}{N-1}",
    assumptions=("N >= 2 positions, the ends included",),
    falsifiers={
        "orthogonal on the uniform grid": {"entry": lambda count: sp.S.Zero},
        "points in the middle of their cells": {"point": lambda p, count: -1 + (2 * p + 1) / count},
        "sqrt(5)/N": {"entry": lambda count: sp.sqrt(5) / count},
    },
)
def uniform_grid(
    point: Formula = lambda position, count: _point("raw")(position, length=count, trained_length=count),
    entry: Formula = lambda count: sp.sqrt(5) / (count - 1),
) -> Facts:
    """On N uniform positions with both ends, Legendre codes of three functions or more are never orthogonal: the mean
    of f_0 f_2 is sqrt(5)/(N - 1) for every N >= 2 (our reading; the paper was not at hand).
    """
    function = absolute.legendre_function(sp.S.Zero, _X) * absolute.legendre_function(sp.Integer(2), _X)
    for number in range(2, 8):
        values = [function.subs(_X, point(sp.Integer(at), sp.Integer(number))) for at in range(number)]
        mean, stated = sp.nsimplify(sp.Add(*values) / number), entry(sp.Integer(number))
        refute(sp.expand(mean - stated) != 0, f"{number} positions: the mean of f_0 f_2 is {mean}, not {stated}")
    count, position = sp.symbols("N p", integer=True, positive=True)
    term = sp.expand(function.subs(_X, point(position, count)))
    mean = sp.summation(term, (position, 0, count - 1)) / count
    yield "mean of f_0 f_2 over the N positions", sp.expand(mean), lambda: entry(count)
    yield "sympy sums the powers of p; 2 to 7 positions are summed term by term"
    yield "positive for every N, so no uniform grid with its ends makes codes with f_0 and f_2 orthogonal"


@CLAIMS.claim(
    "orthogonal-1-gauss",
    "",
    r"\sum_kw_kf_m(x_k)f_n(x_k)=2\delta_{mn},\quad P_N(x_k)=0,\ m,n<N",
    strength=Strength.BOUNDED,
    reach=f"N <= {_NODES}",
    assumptions=("the weights are those of interpolation at the nodes",),
    falsifiers={
        "roots of Chebyshev's polynomial": {"nodes": lambda count: sp.chebyshevt(count, _X)},
        "uniform nodes": {
            "nodes": lambda count: sp.expand(sp.Mul(*(_X + 1 - sp.Rational(2 * k + 1, count) for k in range(count))))
        },
    },
)
def gauss_nodes(nodes: Formula = lambda count: sp.legendre(count, _X)) -> Facts:
    """On the N roots of P_N, with the weights of Gauss, the first N functions are exactly orthonormal (our
    reading).  Decided for N <= 8.

    A sum over the nodes with the weights of interpolation sees a polynomial through its remainder after division by
    the polynomial `nodes(N)` of which they are the roots.  So no root is computed.
    """
    for count in range(1, _NODES + 1):
        for first, second in combinations_with_replacement(range(count), 2):
            pair = sp.expand(sp.legendre(first, _X) * sp.legendre(second, _X))
            seen = sp.sqrt((2 * first + 1) * (2 * second + 1)) * _mean(sp.rem(pair, nodes(count), _X))
            refute(seen != int(first == second), f"{count} nodes: the weighted mean of f_{first} f_{second} is {seen}")
    yield f"all pairs of degrees below N, for N = 1 to {_NODES}, in exact numbers"


@CLAIMS.claim(
    "orthogonal-2",
    "",
    r"\binom{2n}{n}4^{-n}r^n\le P_n(x)\le r^n,\quad r=x+\sqrt{x^2-1}",
    assumptions=(
        "x > 1; for x < -1, P_n(-x) = (-1)^n P_n(x)",
        "in words: a solution of the recurrence has one generating function, so P_n(x) is a sum of positive terms",
    ),
    answers=("size",),
    falsifiers={
        "bounded by 1, as inside [-1, 1]": {"upper": lambda n, r: sp.S.One},
        "at least r^n": {"lower": lambda n, r: r**n},
        "at most x^n": {"upper": lambda n, r: ((r + 1 / r) / 2) ** n},
        "degree 30": {"degree": 30},
    },
)
def growth(
    lower: Formula = lambda n, r: sp.binomial(2 * n, n) / 4**n * r**n,
    upper: Formula = lambda n, r: r**n,
    point: int = 2,
    degree: int = 31,
    size: str = "5.6e+16",
) -> Facts:
    """Beyond the trained length raw Legendre codes grow exponentially in the degree: for x > 1, P_n(x) lies between
    C(2n, n)/4^n r^n and r^n with r = x + sqrt(x^2 - 1); P_31(2) = 5.6e+16 (our reading).
    """
    for number, ratio in product(range(1, 9), (sp.Rational(3, 2), sp.Integer(2), sp.Integer(6))):
        value = sp.legendre(number, (ratio + 1 / ratio) / 2)
        low, high = lower(sp.Integer(number), ratio), upper(sp.Integer(number), ratio)
        refute(not low <= value <= high, f"n = {number}, r = {ratio}: P_n(x) = {value}, not in [{low}, {high}]")
    value = sp.legendre(degree, sp.Integer(point))
    refute(f"{float(value):.1e}" != size, f"P_{degree}({point}) = {float(value):.1e}, not {size}")
    z, ratio, x, now, before, count = sp.symbols("z r x P_n P_n-1 n", positive=True)
    term = sp.binomial(2 * _N, _N) / 4**_N
    generating = "G = (1 - 2xz + z^2)^(-1/2): 1 - 2xz + z^2 = (1 - zr)(1 - z/r)"
    yield generating, lambda: 1 - (ratio + 1 / ratio) * z + z**2, lambda: (1 - z * ratio) * (1 - z / ratio)
    yield "(1 - 2xz + z^2) G' = (x - z) G", lambda: -derivative(1 - 2 * x * z + z**2, z) / 2, lambda: x - z
    yield (
        "by powers of z this is the recurrence of P_n",
        lambda: 2 * x * count * now - (count - 1) * before + x * now - before,
        lambda: (2 * count + 1) * x * now - count * before,
    )
    yield "so P_n(x) is the coefficient of z^n in (1 - zr)^(-1/2) (1 - z/r)^(-1/2): the sum of a_k a_(n-k) r^(n-2k)"
    yield same_by_sympy(
        "a_n = C(2n, n)/4^n: a_(n+1)/a_n = (2n + 1)/(2n + 2), as (1 - w) A' = A/2 asks",
        sp.combsimp(term.subs(_N, _N + 1) / term),
        (2 * _N + 1) / (2 * (_N + 1)),
    )
    first, power = sp.simplify(lower(_N, ratio) - term * ratio**_N), sp.simplify(upper(_N, ratio) - ratio**_N)
    yield same_by_sympy("the term k = 0 is the lower bound", first, sp.S.Zero)
    yield same_by_sympy("r^n is the upper bound", power, sp.S.Zero)
    yield "all terms are positive; a_k a_(n-k) sum to P_n(1) = 1, the coefficient in 1/(1 - z), and r^(n-2k) <= r^n"
    yield f"P_{degree}({point}) = {value} = {size}"


def _point(beyond: str) -> Formula:
    """Point of a position under one policy."""
    return lambda position, **sizes: absolute.legendre_coordinate(position, beyond=beyond, **sizes)


def _positions(beyond: str) -> Formula:
    """Hook `positions` of a Legendre record with one policy."""
    return lambda index, length: _point(beyond)(index, length=length, trained_length=absolute.TRAINED_LENGTH)


@CLAIMS.claim(
    "orthogonal-3",
    "",
    r"x_p(T)-x_p(T')=\frac{2p\,(T'-T)}{(T-1)(T'-1)},\quad T'>T\ge L",
    assumptions=("D >= 2, so that f_1 is there", "L >= 2"),
    answers=("keep",),
    falsifiers={
        "clamped: codes do not depend on the length": {"coordinate": _point("clamp")},
        "raw: codes do not depend on the length": {"coordinate": _point("raw")},
        "twice the change": {"change": lambda length, longer: 4 * (longer - length) / ((length - 1) * (longer - 1))},
    },
)
def rescaled(
    coordinate: Formula = _point("rescale"),
    change: Formula = lambda length, longer: 2 * (longer - length) / ((length - 1) * (longer - 1)),
    keep: Mapping[str, bool] = {"rescale": False, "clamp": True, "raw": True},
) -> Facts:
    """Rescaling with the length T changes the code of every position but 0 whenever T grows beyond the trained length:
    x falls by 2p (T' - T)/((T - 1)(T' - 1)); with clamp and raw a longer sequence changes no score (our reading).

    `change` is the point at T minus that at T', divided by p; `keep` says by policy if a longer sequence changes no
    score.
    """
    trained, same = absolute.TRAINED_LENGTH, absolute.LEGENDRE.positions
    assert same is not None
    position, most = sp.symbols("p b", integer=True, positive=True)
    more = sp.Symbol("a", integer=True, nonnegative=True)

    def point(length: sp.Expr) -> sp.Expr:
        return coordinate(position, length=length, trained_length=trained)

    ends = (trained + more, trained + more + most)
    points = [point(end) for end in ends]
    yield same_by_sympy("up to the trained length the length does not enter", point(sp.S.One), point(trained))
    yield "T = L + a, T' = L + a + b: change of the point of p", points[0] - points[1], lambda: position * change(*ends)
    two_or_more = sp.Symbol("c", integer=True, nonnegative=True) + 2
    positive = sp.factor(sp.together(change(*ends).subs(trained, two_or_more))).is_positive
    refute(not positive, "the change is 0 or not positive at some L >= 2")
    yield "positive for p > 0: f_1 = sqrt(3) x changes at every position but 0, whose point is always -1"
    for policy, streams in keep.items():
        ruling = laws.decide_law(replace(absolute.LEGENDRE, positions=_positions(policy)), Law.STREAMING)
        if ruling.holds is None:
            raise Undecided(f"{policy}: {ruling.reason}")
        answer = f"{'no score changes' if ruling.holds else 'scores change'}, {ruling.reason}"
        refute(ruling.holds != streams, f"{policy}: {answer}")
        yield f"{policy}: streaming {'holds' if streams else 'fails'}: {ruling.reason}"
    yield same_by_sympy("the record has this point", same(position, LENGTH), point(LENGTH))
