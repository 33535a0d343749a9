"""Legendre codes, Haar codes and the cosines of the DCT: orthogonality, growth, rescaling, and which are distinct.

P_n is defined by P_0 = 1, P_1 = x and the recurrence (n + 1) P_(n+1) = (2n + 1) x P_n - n P_(n-1), as the module
computes it. Attention without distinct codes cannot tell the order of its keys.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.facts import decided_cases, derivative, is_zero, require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.orthogonal import SOURCE
from lengthgen.theory import laws
from lengthgen.theory.encodings import absolute, encoding
from lengthgen.theory.encodings.encoding import LENGTH, Law
from lengthgen.theory.zero.sympy_engine import Undecided

Function = Callable[[sp.Expr, sp.Expr], sp.Expr]
Bound = Callable[[sp.Expr, sp.Expr], sp.Expr]
Column = Callable[..., sp.Expr]
Coordinate = Callable[[sp.Expr, sp.Expr], sp.Expr]

_DEGREES = 12
_NODES = 8
_X = sp.Symbol("x", real=True)
_N = sp.Symbol("n", integer=True, nonnegative=True)
_WIDEST, _POSITIONS = 16, 64
_LONGEST = 6


def _recurrence(degree: sp.Expr, now: sp.Expr, before: sp.Expr) -> sp.Expr:
    """P_(n+1) of the three-term recurrence, from P_n and P_(n-1)."""
    return ((2 * degree + 1) * _X * now - degree * before) / (degree + 1)


def _mean(polynomial: sp.Expr) -> sp.Expr:
    """Mean over [-1, 1] of a polynomial in x with rational coefficients: x^k has the mean 1/(k + 1) for even k."""
    terms = sp.Poly(polynomial, _X).terms()
    return sp.Add(*(coefficient / (power + 1) for (power,), coefficient in terms if power % 2 == 0))


def _differential_equation() -> Facts:
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
    yield "n = 1: (1 - x^2) P_1' = P_0 - x P_1", width, lambda: 1 * (1 - _X * _X)
    yield (
        "step: (1 - x^2) P_(n+1)' = (n + 1) (P_n - x P_(n+1))",
        width * slope(following),
        lambda: (n + 1) * (p - _X * following),
    )
    yield "step: (1 - x^2) P_n' = (n + 1) (x P_n - P_(n+1))", width * slope(p), lambda: (n + 1) * (_X * p - following)
    yield "so ((1 - x^2) P_n')' = -n (n + 1) P_n", slope(width * slopes(n, p, q)[0]), lambda: -n * (n + 1) * p
    yield (
        "((1 - x^2)(P_m P_n' - P_n P_m'))' = (m (m + 1) - n (n + 1)) P_m P_n",
        slope(turned),
        lambda: (m * (m + 1) - n * (n + 1)) * r * p,
    )
    yield "1 - x^2 is 0 at both ends, so the integral of P_m P_n is 0 for m != n"


def _norms(function: Function) -> Facts:
    """Facts that the integral of P_n^2 is 2 / (2n + 1), by induction, and that the stated weights make the mean 1."""
    n, square, mixed = sp.symbols("n N_n M_n", positive=True)
    integral = 2 / (2 * n + 1)
    weight = function(_N, _X) / sp.legendre(_N, _X)
    yield (
        "with N_n, M_n the integrals of P_n^2 and x P_n P_(n+1): the recurrence times P_(n+1), and the next times P_n, "
        "give (n + 1) N_(n+1) = (2n + 1) M_n and (2n + 3) M_n = (n + 1) N_n"
    )
    yield (
        "so N_(n+1) = (2n + 1) / (2n + 3) N_n",
        ((2 * n + 1) * mixed / (n + 1)).subs(mixed, (n + 1) * square / (2 * n + 3)),
        lambda: (2 * n + 1) * square / (2 * n + 3),
    )
    yield (
        "N_n = 2/(2n + 1) solves this, and N_0 = 2",
        lambda: integral.subs(n, n + 1) * (2 * n + 3),
        lambda: integral * (2 * n + 1),
    )
    yield "weight^2 N_n / 2 = 1", (weight**2).subs(_N, n) * integral / 2, lambda: n / n


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


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "orthogonal-1",
    "",
    r"\int_{-1}^1P_mP_n\,dx=\frac{2}{2n+1}\,\delta_{mn}",
    assumptions=("P_n is defined by its three-term recurrence; induction on n",),
    falsifiers={
        "without the weights": {"function": sp.legendre},
        "weights sqrt(2n + 2)": {"function": lambda n, x: sp.sqrt(2 * n + 2) * sp.legendre(n, x)},
        "Chebyshev's polynomials": {"function": lambda n, x: sp.sqrt(2 * n + 1) * sp.chebyshevt(n, x)},
    },
)
def orthonormal(function: Function = _formula) -> Facts:
    """The functions sqrt(2n + 1) P_n are orthonormal under the mean over [-1, 1], for all degrees (our reading of the
    paper's orthogonal codes).
    """
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
    yield from _differential_equation()
    yield from _norms(function)
    yield f"degrees 0 to {_DEGREES}: the formulas are the polynomials of the recurrence, with these means"


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
    point: Callable[[sp.Expr, sp.Expr], sp.Expr] = _raw,
    entry: Callable[[sp.Expr], sp.Expr] = lambda count: sp.sqrt(5) / (count - 1),
) -> Facts:
    """On N uniform positions Legendre codes are never orthogonal: the mean of f_0 f_2 is sqrt(5)/(N - 1) for every N >=
    2 (our reading; the paper was not at hand).

    N - 1, whose points are `point(p, N)`, for every N >= 2.
    """
    count, position = sp.symbols("N p", integer=True, positive=True)
    function = absolute.legendre_function(sp.S.Zero, _X) * absolute.legendre_function(sp.Integer(2), _X)
    for number in range(2, 8):
        values = [function.subs(_X, point(sp.Integer(at), sp.Integer(number))) for at in range(number)]
        mean, stated = sp.nsimplify(sp.Add(*values) / number), entry(sp.Integer(number))
        if sp.expand(mean - stated) != 0:
            raise Refuted(f"{number} positions: the mean of f_0 f_2 is {mean}, not {stated}")
    term = sp.expand(function.subs(_X, point(position, count)))
    mean = sp.summation(term, (position, 0, count - 1)) / count
    yield "mean of f_0 f_2 over the N positions", sp.expand(mean), lambda: entry(count)
    yield "sympy sums the powers of p; 2 to 7 positions are summed term by term"
    yield "positive for every N, so no uniform grid makes the codes orthogonal"


@CLAIMS.claim(
    "orthogonal-1-gauss",
    "",
    r"\sum_kw_kf_m(x_k)f_n(x_k)=2\delta_{mn},\quad P_N(x_k)=0,\ m,n<N",
    strength=Strength.BOUNDED,
    reach=f"N <= {_NODES}",
    assumptions=("the weights are those of interpolation at the nodes",),
    falsifiers={
        "roots of Chebyshev's polynomial": {"node_polynomial": lambda count: sp.chebyshevt(count, _X)},
        "uniform nodes": {
            "node_polynomial": lambda count: sp.expand(
                sp.Mul(*(_X + 1 - sp.Rational(2 * k + 1, count) for k in range(count)))
            )
        },
    },
)
def gauss_nodes(node_polynomial: Callable[[int], sp.Expr] = lambda count: sp.legendre(count, _X)) -> Facts:
    """On the N roots of P_N, with the weights of Gauss, the first N functions are exactly orthonormal (our
    reading).  Decided for N <= 8.

    A sum over the nodes with the weights of interpolation sees a polynomial through its remainder after division by
    the node polynomial.  So no root is computed.
    """
    for count in range(1, _NODES + 1):
        for first, second in combinations_with_replacement(range(count), 2):
            pair = sp.expand(sp.legendre(first, _X) * sp.legendre(second, _X))
            seen = sp.sqrt((2 * first + 1) * (2 * second + 1)) * _mean(sp.rem(pair, node_polynomial(count), _X))
            if seen != int(first == second):
                raise Refuted(f"{count} nodes: the weighted mean of f_{first} f_{second} is {seen}")
    yield f"all pairs of degrees below N, for N = 1 to {_NODES}, in exact numbers"


@CLAIMS.claim(
    "orthogonal-2",
    "",
    r"\binom{2n}{n}4^{-n}r^n\le P_n(x)\le r^n,\quad r=x+\sqrt{x^2-1}",
    assumptions=("x > 1; for x < -1, P_n(-x) = (-1)^n P_n(x)",),
    answers=("size",),
    falsifiers={
        "bounded by 1, as inside [-1, 1]": {"upper": lambda n, r: sp.S.One},
        "at least r^n": {"lower": lambda n, r: r**n},
        "at most x^n": {"upper": lambda n, r: ((r + 1 / r) / 2) ** n},
        "degree 30": {"degree": 30},
    },
)
def growth(
    lower: Bound = lambda n, r: sp.binomial(2 * n, n) / 4**n * r**n,
    upper: Bound = lambda n, r: r**n,
    point: int = 2,
    degree: int = 31,
    size: str = "5.6e+16",
) -> Facts:
    """Beyond the trained length raw Legendre codes grow exponentially in the degree: for x > 1, P_n(x) lies between
    C(2n, n)/4^n r^n and r^n with r = x + sqrt(x^2 - 1); P_31(2) = 5.6e+16 (our reading).

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
    yield (
        "G = (1 - 2xz + z^2)^(-1/2): 1 - 2xz + z^2 = (1 - zr)(1 - z/r)",
        lambda: 1 - (ratio + 1 / ratio) * z + z**2,
        lambda: (1 - z * ratio) * (1 - z / ratio),
    )
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
    yield same_by_sympy(
        "the term k = 0 is the lower bound", sp.simplify(lower(_N, ratio) - term * ratio**_N), sp.S.Zero
    )
    yield same_by_sympy("r^n is the upper bound", sp.simplify(upper(_N, ratio) - ratio**_N), sp.S.Zero)
    yield "all terms are positive; a_k a_(n-k) sum to P_n(1) = 1, the coefficient in 1/(1 - z), and r^(n-2k) <= r^n"
    yield f"P_{degree}({point}) = {value} = {size}"


@CLAIMS.claim(
    "orthogonal-3",
    "",
    r"x_p(T)-x_p(T')=\frac{2p\,(T'-T)}{(T-1)(T'-1)},\quad T'>T\ge L",
    assumptions=("D >= 2, so that f_1 is there",),
    answers=("keep",),
    falsifiers={
        "clamped: codes do not depend on the length": {"coordinate": _with("clamp")},
        "raw: codes do not depend on the length": {"coordinate": _with("raw")},
        "twice the change": {"change": lambda length, longer: 4 * (longer - length) / ((length - 1) * (longer - 1))},
    },
)
def rescaled(
    coordinate: Callable[..., sp.Expr] = _with("rescale"),
    change: Bound = lambda length, longer: 2 * (longer - length) / ((length - 1) * (longer - 1)),
    keep: Mapping[str, bool] = {"rescale": False, "clamp": True, "raw": True},
) -> Facts:
    """Rescaling with the length T changes the code of every position but 0 whenever T grows beyond the trained length,
    by 2p (T' - T)/((T - 1)(T' - 1)) in x; with clamp and raw a longer sequence changes no score (our reading).

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
    yield same_by_sympy("up to the trained length the length does not enter", *inside)
    yield "T = L + a, T' = L + a + b: change of the point of p", points[0] - points[1], lambda: position * change(*ends)
    if not sp.factor(sp.together(change(*ends).subs(trained, more + 1))).is_positive:
        raise Refuted("the change is 0 or not positive at L = 2")
    yield "positive for p > 0: f_1 = sqrt(3) x changes at every position but 0, whose point is always -1"
    for policy, streams in keep.items():
        record = replace(absolute.LEGENDRE, positions=_positions(policy))
        ruling = laws.decide_law(record, Law.STREAMING)
        if ruling.holds is None:
            raise Undecided(f"{policy}: {ruling.reason}")
        if ruling.holds != streams:
            raise Refuted(f"{policy}: {'no score changes' if ruling.holds else 'scores change'}, {ruling.reason}")
        yield f"{policy}: streaming {'holds' if streams else 'fails'}: {ruling.reason}"
    same = absolute.LEGENDRE.positions
    assert same is not None
    yield same_by_sympy(
        "the record has this point", same(position, LENGTH), coordinate(position, length=LENGTH, trained_length=trained)
    )


def _count_codes(wavelet: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr], positions: int, width: int) -> int:
    """Number of distinct codes of width D on positions 0 .. N - 1, function 0 being constant."""
    places = [(sp.Integer(n.bit_length() - 1), sp.Integer(n - 2 ** (n.bit_length() - 1))) for n in range(1, width)]
    return len({tuple(wavelet(*place, sp.Rational(at, positions)) for place in places) for at in range(positions)})


def _turned(cosine: sp.Expr) -> sp.Expr:
    """Cosine with whole half turns split off: cos(a + pi m) = cos(pi m) cos a for an integer m."""
    terms = sp.Add.make_args(sp.expand(cosine.args[0]))
    halves = sp.Add(*(term for term in terms if (term / sp.pi).is_integer))
    rest = sp.Add(*(term for term in terms if not (term / sp.pi).is_integer))
    return sp.cos(halves) * sp.cos(rest)


def _wavelet(level: sp.Expr, shift: sp.Expr, point: sp.Expr) -> sp.Expr:
    """Haar function of the encoding."""
    return absolute.haar_function(level, shift, point)


def _column(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Cosine of the encoding."""
    return absolute.dct_cosine(index, position, trained_length=trained_length)


def _legendre(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Legendre column in place of a cosine."""
    point = absolute.legendre_coordinate(position, length=trained_length, trained_length=trained_length, beyond="raw")
    return absolute.legendre_function(index, point)


def _without_half(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Cosine at the positions themselves."""
    return sp.cos(sp.pi * index * position / trained_length)


@CLAIMS.claim(
    "orthogonal-4",
    "",
    r"\#\{PE(p):0\le p<L\}\le D\quad\text{for every }L",
    assumptions=("positions within the trained length, u = p/L in [0, 1)", "functions in the order n = 2^j + k"),
    falsifiers={
        "every position has a code of its own": {"codes": lambda positions, width: positions},
        "without the change of sign": {
            "wavelet": lambda level, shift, point: sp.Abs(absolute.haar_function(level, shift, point))
        },
        "wavelets of twice the length": {"wavelet": lambda j, k, u: absolute.haar_function(j, k, u / 2)},
    },
)
def cells(
    wavelet: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr] = _wavelet,
    codes: Callable[[int, int], int] = lambda positions, width: width,
) -> Facts:
    """The first D Haar functions are constant on D cells, so that however many positions there are, at most D codes
    differ; exactly D if no cell is narrower than a step (our reading).

    `codes` takes a number N of positions and a width D: the number of distinct codes if no cell is narrower than 1/N.
    """
    for width in range(1, _WIDEST + 1):
        count = _count_codes(wavelet, _POSITIONS, width)
        if count != codes(_POSITIONS, width):
            raise Refuted(f"{_POSITIONS} positions, D = {width}: {count} codes, not {codes(_POSITIONS, width)}")
    level, shift, apart = sp.symbols("j k e", integer=True, nonnegative=True)
    odds = sp.Symbol("w", nonnegative=True)
    inner = odds / (1 + odds)  # any number of [0, 1)
    height = sp.sqrt(2) ** level

    def value(cell: sp.Expr, place: sp.Expr) -> sp.Expr:
        return decided_cases(wavelet(level, shift, (cell + place) / 2**level))

    yield same_by_sympy("0 on every later cell of level j", value(shift + 1 + apart, inner), sp.S.Zero)
    yield same_by_sympy("0 on every earlier cell", value(shift - 1 - apart, inner), sp.S.Zero)
    yield same_by_sympy("2^(j/2) on the left half of cell k", value(shift, inner / 2), height)
    yield same_by_sympy("-2^(j/2) on the right half", value(shift, (1 + inner) / 2), -height)
    yield (
        "so before function n = 2^j + k, k cells of level j are split: 2k + (2^j - k) = n cells",
        lambda: 2 * shift + (sp.Symbol("2^j") - shift),
        lambda: sp.Symbol("2^j") + shift,
    )
    yield (
        "the first function is constant on one cell, and each further function splits one cell into two: by induction "
        "D functions are constant on D cells and differ between any two of them"
    )
    yield f"counted: {_POSITIONS} positions have D codes for D = 1 to {_WIDEST}"


@CLAIMS.claim(
    "orthogonal-5",
    "",
    r"\sum_{p<L}\cos\tfrac{\pi m(p+1/2)}{L}\cos\tfrac{\pi n(p+1/2)}{L}=\tfrac L2\delta_{mn},\ 0<n<L",
    assumptions=("columns n = 0 .. L - 1, so D <= L",),
    falsifiers={
        "Legendre columns": {"column": _legendre},
        "at the positions themselves": {"column": _without_half},
        "squared norm L": {"square": lambda length: length},
    },
)
def dct_orthogonal(column: Column = _column, square: Callable[[sp.Expr], sp.Expr] = lambda length: length / 2) -> Facts:
    """The columns of the DCT are exactly orthogonal on the uniform grid of L positions, for every L, with the squared
    norm L/2 for n > 0: a control that Legendre codes fail (our reading).

    L - 1, with the stated squared norm for n > 0.
    """
    for length in range(2, _LONGEST + 1):
        for first, second in product(range(1, length), repeat=2):
            total = sp.Add(
                *(
                    column(sp.Integer(first), sp.Integer(at), trained_length=sp.Integer(length))
                    * column(sp.Integer(second), sp.Integer(at), trained_length=sp.Integer(length))
                    for at in range(length)
                )
            )
            stated = square(sp.Integer(length)) if first == second else sp.S.Zero
            if not is_zero(total - stated):
                raise Refuted(
                    f"L = {length}: columns {first} and {second} have the product {sp.N(total, 6)}, not {stated}"
                )
    angle, other, turn, position = sp.symbols("a b phi p", real=True)
    length, number = sp.symbols("L k", integer=True, positive=True)
    yield same_by_sympy(
        "column n at p is cos((2p + 1) phi/2) with phi = pi n/L",
        column(number, position, trained_length=length),
        sp.cos(sp.pi * number * (2 * position + 1) / (2 * length)),
    )
    yield (
        "the product of two is half the sum of cosines of the sum and of the difference",
        lambda: sp.cos(angle) * sp.cos(other),
        lambda: (sp.cos(angle + other) + sp.cos(angle - other)) / 2,
    )
    yield (
        "2 sin(phi/2) cos((2p + 1) phi/2) = sin((p + 1) phi) - sin(p phi)",
        lambda: 2 * sp.sin(turn / 2) * sp.cos((2 * position + 1) * turn / 2),
        lambda: sp.sin((position + 1) * turn) - sp.sin(position * turn),
    )
    yield same_by_sympy("so 2 sin(phi/2) times the sum over p < L is sin(L phi) = sin(pi k)", sp.sin(sp.pi * number), 0)
    yield "phi/2 = pi k/(2L) is between 0 and pi for 0 < k < 2L, so sin(phi/2) > 0 and the sum is 0"
    yield (
        "m + n and |m - n| are such k for m != n below L, and so is 2n; k = 0 gives L: the squared norm is "
        "L/2 for n > 0, and L for n = 0"
    )
    yield same_by_sympy("L/2", square(length), length / 2)


@CLAIMS.claim(
    "orthogonal-5-repeats",
    "",
    r"PE(2L-1-p)=PE(p)=PE(p+2L)",
    assumptions=("every width D and every trained length L",),
    falsifiers={
        "mirror image 2L - p": {"mirror": lambda p, length: 2 * length - p},
        "period L": {"period": 1},
        "at the positions themselves": {"column": _without_half},
    },
)
def repetition(
    column: Column = _column,
    mirror: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda p, length: 2 * length - 1 - p,
    period: int = 2,
) -> Facts:
    """DCT codes repeat beyond the trained length: position 2L - 1 - p has the code of p, and so has p + 2L (our
    reading).

    Decide that the position `mirror(p, L)` has the code of p, and so has p + `period` L.
    """
    number, position, length = sp.symbols("n p L", integer=True, positive=True)
    here = _turned(column(number, position, trained_length=length))
    for at, size in product(range(4), range(2, 5)):
        for index in range(1, 4):
            sizes = {"trained_length": sp.Integer(size)}
            value = column(sp.Integer(index), sp.Integer(at), **sizes)
            for place in (mirror(sp.Integer(at), sp.Integer(size)), sp.Integer(at + period * size)):
                if not is_zero(value - column(sp.Integer(index), place, **sizes)):
                    raise Refuted(f"L = {size}, n = {index}: the codes of {at} and {place} differ")
    images = {
        "the mirror image has the code of p": (mirror(position, length), here),
        f"p + {period} L has it too": (position + period * length, here),
    }
    for what, (image, code) in images.items():
        yield same_by_sympy(what, _turned(column(number, image, trained_length=length)), code)
    yield "so a position p from L to 2L - 1 has the code of 2L - 1 - p, which is below L"


def _rescaled(position: sp.Expr, count: sp.Expr) -> sp.Expr:
    """Legendre coordinate 1 of a sequence of N tokens, in units of sqrt(3)."""
    return absolute.legendre_coordinate(position, length=count, trained_length=sp.Integer(2), beyond="rescale")


def _clamped(position: sp.Expr, count: sp.Expr) -> sp.Expr:
    return absolute.legendre_coordinate(position, length=count, trained_length=sp.Integer(2), beyond="clamp")


def _cosine(position: sp.Expr, count: sp.Expr) -> sp.Expr:
    return absolute.dct_cosine(sp.S.One, position, trained_length=count)


@CLAIMS.claim(
    "orthogonal-9",
    "",
    r"PE(p)=PE(p')\Rightarrow f(\dots,x_p,\dots,x_{p'},\dots)=f(\dots,x_{p'},\dots,x_p,\dots)",
    assumptions=(
        "attention over keys on both sides; a causal mask tells more",
        "that distinct codes suffice for universal approximation is Yun et al.'s theorem (arXiv 1912.10077), not "
        "decided here",
    ),
    falsifiers={
        "a constant code suffices": {"coordinates": {"constant": lambda p, count: sp.S.One}, "steps": {}},
        "two Haar functions suffice": {
            "coordinates": {"Haar": lambda p, count: absolute.Haar(sp.S.One, p / count)},
            "steps": {},
        },
        "clamped codes suffice": {"coordinates": {"clamped": _clamped}, "steps": {}},
        "keys with different codes can be swapped": {"gap": sp.S.One},
    },
)
def order_is_seen(
    coordinates: Mapping[str, Coordinate] = {"Legendre, rescaled": _rescaled, "DCT": _cosine},
    steps: Mapping[str, Coordinate] = {
        "Legendre, rescaled": lambda p, count: 2 / (sp.Max(count, 2) - 1),
        "DCT": lambda p, count: -2 * sp.sin(sp.pi * (p + 1) / count) * sp.sin(sp.pi / (2 * count)),
    },
    gap: sp.Expr = sp.S.Zero,
) -> Facts:
    """Without encoding attention is equivariant under permutations of its tokens, and keys whose codes are equal can be
    swapped unseen, so a code must differ between positions; rescaled Legendre and DCT codes do within the trained
    length, and constant, clamped or few Haar codes do not (our reading).

    Args:
        coordinates: name of a code -> a coordinate that differs for all positions p of N, a function of p and N.
        steps: name of a code -> coordinate of p + 1 minus that of p.
        gap: code of the second of two swapped keys minus that of the first, for which the output is unchanged.
    """
    for name, coordinate in coordinates.items():
        for count in range(2, _LONGEST + 1):
            for first, second in combinations(range(count), 2):
                change = coordinate(sp.Integer(first), sp.Integer(count)) - coordinate(
                    sp.Integer(second), sp.Integer(count)
                )
                if is_zero(change):
                    raise Refuted(
                        f"{name}, {count} positions: {first} and {second} have one code, so tokens swapped there "
                        "leave the output as it is"
                    )
    query, code, value, x, y, rest, rest_value = sp.symbols("q e v x y Z R", positive=True)
    position, count = sp.symbols("p N", integer=True, positive=True)

    def output(first: sp.Expr, second: sp.Expr) -> sp.Expr:
        """Output of a query for two keys with these contents, the codes e and e + gap, and other keys of weight Z."""
        keys = (first + code, second + code + gap)
        weights = [sp.exp(query * key) for key in keys]
        weighted = [weight * value * key for weight, key in zip(weights, keys, strict=True)]
        return (rest_value + sp.Add(*weighted)) / (rest + sp.Add(*weights))

    positions = {"query_position": sp.Symbol("j"), "key_position": sp.Symbol("i")}
    if encoding.NOPE.score(**positions).free_symbols & set(positions.values()):
        raise Refuted("the score without encoding has a position in it: 1 position at least")
    yield "without encoding no score has a position in it, so a permutation of the keys permutes the terms of each sum"
    yield (
        "two keys with one code e, contents x and y, any other keys: the output for y, x is that for x, y",
        lambda: output(y, x),
        lambda: output(x, y),
    )
    turn = sp.Symbol("phi", positive=True)
    for name, step in steps.items():
        sides = (coordinates[name](position + 1, count) - coordinates[name](position, count), step(position, count))
        angles = {count: sp.pi / turn} if sides[0].has(sp.cos) else {}
        yield require_equal(f"{name}: step from p to p + 1, phi = pi/N", *(side.subs(angles) for side in sides))
    yield "for p + 1 < N every step has one sign and is not 0, so these codes are distinct on 0 .. N - 1"
    yield "the next layer gets equal rows at swapped places and works on each row alike, so any depth follows"
