"""FIRE (arXiv 2310.04418): the input of its network, its form beyond the threshold, and the biases it represents."""

from collections.abc import Iterator
from itertools import product

import sympy as sp

from lengthgen.proofs_checks.claim import Source
from lengthgen.proofs_checks.facts import Formula, ball, same_by_sympy, sign
from lengthgen.proofs_checks.formulas import alibi
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.biases import ALIBI_SLOPE
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="FIRE", arxiv="2310.04418")
CLAIMS = PaperClaims(SOURCE)
INTERPOLATION = "progressive interpolation with a threshold; positions counted from 1"
FARTHEST = 8
c, i, D, s = sp.symbols("c i D s", positive=True)
_RATES = (sp.Rational(1, 10), sp.Integer(1), sp.Integer(3))
_THRESHOLDS = (sp.Rational(1, 2), sp.Integer(1), sp.Integer(4))


def psi(distance: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Transformed distance log(c x + 1)."""
    return biases.fire_psi(distance, rate=rate)


def published(distance: sp.Expr, query: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Input of the network as the paper defines it."""
    return biases.fire_fraction(distance=distance, query_position=query, threshold=threshold, rate=rate)


def require_same(what: str, left: sp.Expr, right: sp.Expr) -> str:
    """Return the fact that two expressions are equal as sympy writes them. Raises `Undecided` if they are not."""
    if left != right:
        raise Undecided(f"{what}: {left} and {right} are not written alike")
    return f"{what}: {left}"


def require_positive(what: str, amount: sp.Expr) -> str:
    """Return the fact that a polynomial in positive symbols has only positive coefficients; else raise `Undecided`."""
    polynomial = sp.Poly(sp.expand(amount))
    if not all(coefficient > 0 for coefficient in polynomial.coeffs()):
        raise Undecided(f"{what} {amount}, the sign of which is not seen")
    return f"{what} {polynomial.as_expr()}, positive"


def _refute_if_apart(what: str, value: sp.Expr, stated: sp.Expr) -> None:
    """Raise `Refuted` if the enclosures of two numbers are disjoint."""
    refute(not ball(value - stated).contains(0), f"{what}: {value.n(4)} is not {stated.n(4)}")


def _cases() -> Iterator[tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]]:
    """Rates, thresholds, queries and distances that are checked in numbers."""
    for rate, threshold, query in product(_RATES, _THRESHOLDS, range(1, FARTHEST + 1)):
        for distance in range(query):
            yield rate, threshold, sp.Integer(query), sp.Integer(distance)


@CLAIMS.claim(
    "fire-1",
    INTERPOLATION,
    r"0\le\frac{\psi(j-i)}{\psi(\max(j,L))}<1\quad(1\le i\le j)",
    label="P",
    assumptions=("keys i = 1 .. j, positions counted from 1", "c > 0, L > 0"),
    falsifiers={
        "divided by psi(L) alone": {"fraction": lambda D, j, L, c: psi(D, c) / psi(L, c)},
        "positions counted from 0, as in the listing": {"fraction": lambda D, j, L, c: published(D, j - 1, L, c)},
    },
)
def unit_range(fraction: Formula = published) -> Facts:
    """The input of FIRE's network, psi(j - i) / psi(max(j, L)) with psi(x) = log(c x + 1), is in [0, 1) for all keys i
    up to the query j.
    """
    for rate, threshold, query, distance in _cases():
        part = fraction(distance, query, threshold, rate)
        inside = sign(part) >= 0 and sign(1 - part) > 0
        case = f"c = {rate}, L = {threshold}, j = {query}, D = {distance}"
        refute(not inside, f"{case}: the input is {part.n(4)}")
    x, query = sp.Symbol("x", positive=True), i + D
    yield "e^psi(x) = c x + 1, so psi rises, from psi(0) = 0", lambda: sp.exp(psi(x, c)), lambda: c * x + 1
    for name, threshold, reach in (("L = j + s", query + s, query + s), ("L = j - s", query - s, query)):
        value, stated = fraction(D, query, threshold, c), psi(D, c) / psi(reach, c)
        yield require_same(f"{name}: the input is psi(D) / psi({'L' if reach == threshold else 'j'})", value, stated)
        yield require_positive(f"{name}: the argument below exceeds D by", reach - D)
    yield "so 0 <= psi(D) < psi(max(j, L)): the input is in [0, 1)"


def _matched(distance: sp.Expr, query: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Distance in the row of query L that has the input of this distance in the row of the query."""
    return biases.fire_distance(published(distance, query, threshold, rate), threshold=threshold, rate=rate)


@CLAIMS.claim(
    "fire-4",
    INTERPOLATION,
    r"u_j(D)=u_L(D'),\quad cD'+1=(cD+1)^{\psi(L)/\psi(j)}\qquad(j>L)",
    label="P",
    assumptions=("c > 0, j > L > 0, keys 1 .. j", "psi rises (fire-1), so psi(L) < psi(j)"),
    falsifiers={
        "equal at equal distances": {"matched": lambda D, j, L, c: D},
        "distances scaled by L/j": {"matched": lambda D, j, L, c: D * L / j},
    },
)
def rescaled_rows(matched: Formula = _matched) -> Facts:
    """For a query j > L the whole row is that of query L with psi(D) scaled by psi(L)/psi(j): distance D > 0 has the
    input of the smaller distance ((c D + 1)^(psi(L)/psi(j)) - 1)/c, and no input leaves [0, 1).
    """
    for rate, threshold, query, distance in _cases():
        if rate == 1 and query > threshold and distance > 0:
            here, other = published(distance, query, threshold, rate), matched(distance, query, threshold, rate)
            what = f"c = 1, L = {threshold}, j = {query}: the input at D = {distance}, and of row L at {other.n(4)}"
            _refute_if_apart(what, here, published(other, threshold, threshold, rate))
    threshold = sp.Symbol("L", positive=True)
    query = threshold + s
    here, other = published(D, query, threshold, c), matched(D, query, threshold, c)
    there = published(other, threshold, threshold, c)
    yield require_same("j = L + s: the input at D is that of row L at D' = ((c D + 1)^k - 1)/c", here, there)
    scaled = psi(D, c) * psi(threshold, c) / psi(query, c)
    yield require_same("k = psi(L)/psi(j), below 1, so 0 < D' < D", sp.log(c * other + 1), scaled)
    yield "so row j is row L with psi(D) scaled by psi(L)/psi(j), and stays in [0, 1) (claim fire-1)"


def _alibi_shape(part: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """The f that gives ALiBi's bias."""
    return alibi(biases.fire_distance(part, threshold=threshold, rate=rate))


_BIASES: dict[str, Formula] = {
    "ALiBi": alibi,
    "Kerple, power": lambda D: biases.kerple_power(D, scale=biases.KERPLE_SCALE, exponent=biases.KERPLE_EXPONENT),
    "Kerple, log": lambda D: biases.kerple_logarithm(D, scale=biases.KERPLE_SCALE, rate=biases.KERPLE_RATE),
    "T5": lambda D: biases.T5_WEIGHTS[biases.t5_bucket(D)],
}


@CLAIMS.claim(
    "fire-3",
    "representation of T5's, ALiBi's and Kerple's biases; psi fixed to log(c x + 1)",
    r"f(u)=g\Big(\frac{e^{u\psi(L)}-1}{c}\Big)\Rightarrow b(j,i)=g(j-i)\ \forall\,i\le j\le L",
    label="P",
    assumptions=("f is any function of [0, 1), not only a network of 32 units", "c > 0, L > 0"),
    falsifiers={
        "exact at j = L + 1": {"beyond": 1},
        "f linear": {"shape": lambda u, L, c: -ALIBI_SLOPE * L * u},
        "without the 1 taken off": {"shape": lambda u, L, c: _alibi_shape(u, L, c) - ALIBI_SLOPE / c},
    },
)
def exact_up_to_threshold(shape: Formula = _alibi_shape, beyond: int = 0) -> Facts:
    """With threshold L some f gives any bias g(j - i) exactly for all keys of all queries up to L: f(u) = g((e^(u
    psi(L)) - 1)/c), for ALiBi -(m/c)(e^(u log(c L + 1)) - 1); beyond L this one is not ALiBi: at c = m = L = 1 it
    gives -0.732 at distance 2 of query 3.
    """
    unit = sp.Integer(1)
    for threshold in range(1, 5):
        for query in range(1, threshold + beyond + 1):
            for distance in range(query):
                part = published(distance, query, threshold, unit)
                value = shape(part, sp.Integer(threshold), unit).subs(ALIBI_SLOPE, unit)
                where = f"c = 1, L = {threshold}, j = {query}, D = {distance}, m = 1"
                _refute_if_apart(f"{where}: f of the input", value, sp.Integer(-distance))
    distance, part = sp.Symbol("D", integer=True, nonnegative=True), sp.Symbol("u", nonnegative=True)
    threshold = i + distance + s
    recovered = _matched(distance, i + distance, threshold, c)
    yield same_by_sympy("j <= L = j + s: (e^(u psi(L)) - 1)/c = D", recovered, distance)
    for name, bias in _BIASES.items():
        yield require_same(f"{name}: f(u) = bias at (e^(u psi(L)) - 1)/c", bias(recovered), bias(distance))
    power = sp.Symbol("e^(u psi(L))", positive=True)
    written = shape(part, threshold, c).subs(sp.exp(part * psi(threshold, c)), power)
    stated = -ALIBI_SLOPE / c * (power - 1)
    yield same_by_sympy("ALiBi: f(u) = -(m/c) (e^(u log(c L + 1)) - 1)", written, stated)
    far = _alibi_shape(published(2, 3, unit, unit), unit, unit).subs(ALIBI_SLOPE, 1)
    _refute_if_apart("beyond L, c = 1, L = 1, j = 3, D = 2: f of the input", far, 1 - sp.sqrt(3))
    yield "L = 1 .. 4 in numbers; beyond L distance D is taken for a smaller one (claim fire-4)"
