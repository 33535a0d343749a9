"""FIRE (arXiv 2310.04418): the input of its network, and the biases that it can represent.

The input has a range, queries for which it is relative, and another form beyond the threshold. Biases are represented
exactly for certain queries, with a certain function f and width of a ReLU network.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise, product

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.facts import require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import HEADS, LAYERS, LENGTH
from lengthgen.theory.zero.enclosure import enclose
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="FIRE", arxiv="2310.04418")

Fraction = Callable[[sp.Expr, sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(distance, query position, threshold, rate) -> the input of the network."""
Shape = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(input u, L, c) -> f(u), which should be ALiBi's bias."""

_BITS = 128
FARTHEST = 8
_RATES = (sp.Rational(1, 10), sp.Integer(1), sp.Integer(3))
_THRESHOLDS = (sp.Rational(1, 2), sp.Integer(1), sp.Integer(4))
_INTERPOLATION = "progressive interpolation with a threshold; positions counted from 1"
_BIASES: tuple[tuple[str, Callable[[sp.Expr], sp.Expr]], ...] = (
    ("ALiBi", lambda distance: biases.alibi_bias(biases.ALIBI_SLOPE, query_position=distance, key_position=sp.S.Zero)),
    (
        "Kerple, power",
        lambda distance: biases.kerple_power(distance, scale=biases.KERPLE_SCALE, exponent=biases.KERPLE_EXPONENT),
    ),
    (
        "Kerple, log",
        lambda distance: biases.kerple_logarithm(distance, scale=biases.KERPLE_SCALE, rate=biases.KERPLE_RATE),
    ),
    ("T5", lambda distance: biases.T5_WEIGHTS[biases.t5_bucket(distance)]),
)
MOST_DISTANCES = 6


def sign(number: sp.Expr) -> int:
    """Return the sign of a number: -1, 0 or 1.

    Raises `Undecided` if the number is not written as 0 but its enclosure contains 0.
    """
    if number.is_Rational:
        return int(sp.sign(number))
    ball = enclose(number, bits=_BITS)
    if ball is None or ball.contains(0):
        raise Undecided(f"the sign of {number}")
    return 1 if ball > 0 else -1


def refute_if_apart(what: str, value: sp.Expr, stated: sp.Expr) -> None:
    """Raise `Refuted` if the enclosures of two numbers are disjoint."""
    ball = enclose(value - stated, bits=_BITS)
    if ball is not None and not ball.contains(0):
        raise Refuted(f"{what}: {value.n(4)} is not {stated.n(4)}")


def require_same(what: str, left: sp.Expr, right: sp.Expr) -> str:
    """Return the fact that two expressions are equal as sympy writes them. Raises `Undecided` if they are not."""
    if left != right:
        raise Undecided(f"{what}: {left} and {right} are not written alike")
    return f"{what}: {left}"


def require_positive(what: str, amount: sp.Expr) -> str:
    """Return the fact that a polynomial in positive symbols has only positive coefficients.

    Raises `Undecided` if it has not.
    """
    polynomial = sp.Poly(sp.expand(amount))
    if not all(coefficient > 0 for coefficient in polynomial.coeffs()):
        raise Undecided(f"{what} {amount}, the sign of which is not seen")
    return f"{what} {polynomial.as_expr()}, positive"


def _cases() -> Iterator[tuple[sp.Rational, sp.Rational, sp.Integer, sp.Integer]]:
    """Rates, thresholds, queries and distances that are checked in numbers."""
    for rate, threshold, query in product(_RATES, _THRESHOLDS, range(1, FARTHEST + 1)):
        for distance in range(query):
            yield rate, threshold, sp.Integer(query), sp.Integer(distance)


def _require_last(threshold: int, last: int) -> None:
    """Require that each distance has one input for all queries up to `last`, and a different one beyond."""
    for distance in range(1, FARTHEST):
        queries = range(distance + 1, FARTHEST + 1)
        inputs = [_published(sp.Integer(distance), sp.Integer(j), sp.Integer(threshold), sp.S.One) for j in queries]
        for (before, after), (value, next_value) in zip(pairwise(queries), pairwise(inputs), strict=True):
            if (sign(value - next_value) == 0) != (after <= last):
                where = f"c = 1, L = {threshold}, D = {distance}"
                verdict = f"so {'not' if after <= last else 'not only'} relative up to j = {last}"
                raise Refuted(
                    f"{where}: the input is {value.n(4)} at j = {before}, {next_value.n(4)} at j = {after}, {verdict}"
                )


def _require_relation(threshold: int) -> None:
    """Require that pairs with the same label of `fire.relation` have the same input."""
    keys, queries = (index + 1 for index in np.triu_indices(FARTHEST))
    seen: dict[int, sp.Expr] = {}
    for label, key, query in zip(biases.fire_relation(threshold).label(keys, queries), keys, queries, strict=True):
        part = biases.fire_fraction(
            distance=sp.Integer(query - key),
            query_position=sp.Integer(query),
            threshold=sp.Integer(threshold),
            rate=biases.FIRE_RATE,
        )
        if seen.setdefault(int(label), part) != part:
            raise Refuted(f"L = {threshold}: label {label} has the inputs {seen[int(label)]} and {part} (i = {key})")
    if len(seen) != threshold + sum(range(threshold, FARTHEST)):
        raise Refuted(f"L = {threshold}: the relation has {len(seen)} labels up to query {FARTHEST}")


def _positions_from_0() -> Facts:
    """Fact that this project's encoding, which counts positions from 0, is the paper's after a shift by one."""
    query, key = sp.symbols("j i", integer=True, positive=True)
    assert biases.FIRE.bias is not None
    law = biases.FIRE_LAW(
        biases.fire_fraction(
            distance=sp.Abs(query - key), query_position=query, threshold=biases.FIRE_THRESHOLD, rate=biases.FIRE_RATE
        )
    )
    yield require_same("the law counted from 0, at j - 1 and i - 1", biases.FIRE.bias(query - 1, key - 1, LENGTH), law)


def _argument(position: sp.Expr) -> sp.Expr:
    """The number c x + 1, whose logarithm is psi(x)."""
    return sp.exp(biases.fire_psi(position, rate=biases.FIRE_RATE))


def _published(distance: sp.Expr, query: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Input of the network as the paper defines it."""
    return biases.fire_fraction(distance=distance, query_position=query, threshold=threshold, rate=rate)


def _matched(distance: sp.Expr, query: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Distance in the row of query L that has the input of this distance in the row of the query."""
    return biases.fire_distance(_published(distance, query, threshold, rate), threshold=threshold, rate=rate)


def _without_position(distance: sp.Expr, query: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Input divided by psi(L) alone, without the query position."""
    return biases.fire_psi(distance, rate=rate) / biases.fire_psi(threshold, rate=rate)


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "fire-1",
    _INTERPOLATION,
    r"0\le\frac{\psi(j-i)}{\psi(\max(j,L))}<1\quad(1\le i\le j)",
    label="P",
    assumptions=("keys i = 1 .. j, positions counted from 1", "c > 0, L > 0"),
    falsifiers={
        "divided by psi(L) alone": {"fraction": _without_position},
        "positions counted from 0, as in the listing": {
            "fraction": lambda distance, query, threshold, rate: _published(distance, query - 1, threshold, rate)
        },
    },
)
def unit_range(fraction: Fraction = _published) -> Facts:
    """The input of FIRE's network, psi(j - i) / psi(max(j, L)) with psi(x) = log(c x + 1), is in [0, 1) for all keys i
    up to the query j.
    """
    for rate, threshold, query, distance in _cases():
        part = fraction(distance, query, threshold, rate)
        if not (sign(part) >= 0 and sign(1 - part) > 0):
            raise Refuted(f"c = {rate}, L = {threshold}, j = {query}, D = {distance}: the input is {part.n(4)}")
    rate, key, distance, more, x = sp.symbols("c i D s x", positive=True)
    query = key + distance
    yield (
        "e^psi(x) = c x + 1, so psi rises, from psi(0) = 0",
        lambda: sp.exp(biases.fire_psi(x, rate=rate)),
        lambda: rate * x + 1,
    )
    for name, threshold, reach in (("L = j + s", query + more, query + more), ("L = j - s", query - more, query)):
        value = fraction(distance, query, threshold, rate)
        stated = biases.fire_psi(distance, rate=rate) / biases.fire_psi(reach, rate=rate)
        yield require_same(f"{name}: the input is psi(D) / psi({'L' if reach == threshold else 'j'})", value, stated)
        yield require_positive(f"{name}: the argument below exceeds D by", reach - distance)
    yield "so 0 <= psi(D) < psi(max(j, L)): the input is in [0, 1)"


@CLAIMS.claim(
    "fire-2",
    _INTERPOLATION,
    r"b(j,i)=f\big(\psi(j-i)/\psi(L)\big)\ (j\le L);\quad j>L,\ D\ge 1:\ u_{j+1}(D)<u_j(D)",
    assumptions=("c > 0, L > 0", "f is any function"),
    falsifiers={
        "for every query": {"last": lambda threshold: FARTHEST},
        "up to L + 1": {"last": lambda threshold: threshold + 1},
        "up to L - 1": {"last": lambda threshold: threshold - 1},
    },
)
def relative_up_to_threshold(last: Callable[[int], int] = lambda threshold: threshold) -> Facts:
    """FIRE's bias depends on positions through j - i alone for queries j <= L, and for no query beyond."""
    for threshold in range(1, 6):
        _require_last(threshold, last(threshold))
        _require_relation(threshold)
    rate, key, distance, more = sp.symbols("c i D s", positive=True)
    later = sp.Symbol("j", positive=True)
    query = key + distance
    within = biases.fire_fraction(distance=distance, query_position=query, threshold=query + more, rate=rate)
    yield require_same(
        "j <= L = j + s: the input is psi(D) / psi(L), in which j does not occur",
        within,
        biases.fire_psi(distance, rate=rate) / biases.fire_psi(query + more, rate=rate),
    )
    yield require_positive(
        "j > L: the argument of psi(j + 1) exceeds that of psi(j) by", _argument(later + 1) - _argument(later)
    )
    yield "so for D >= 1 and j > L the input falls strictly from j to j + 1, and some f tells the two apart"
    yield from _positions_from_0()
    yield f"L = 1 .. 5, queries up to {FARTHEST}: pairs of one label of `fire.relation(L)` have one input"


@CLAIMS.claim(
    "fire-4",
    _INTERPOLATION,
    r"u_j(D)=u_L(D'),\quad cD'+1=(cD+1)^{\psi(L)/\psi(j)}\qquad(j>L)",
    label="P",
    assumptions=("c > 0, j > L > 0",),
    falsifiers={
        "equal at equal distances": {"matched": lambda distance, query, threshold, rate: distance},
        "distances scaled by L/j": {"matched": lambda distance, query, threshold, rate: distance * threshold / query},
    },
)
def rescaled_rows(matched: Fraction = _matched) -> Facts:
    """For a query j > L the whole row is that of query L with psi(D) scaled by psi(L)/psi(j): distance D has the input
    of the smaller distance ((c D + 1)^(psi(L)/psi(j)) - 1)/c, and no input leaves [0, 1).
    """
    for rate, threshold, query, distance in _cases():
        if rate == 1 and query > threshold and distance > 0:
            other = matched(distance, query, threshold, rate)
            here = _published(distance, query, threshold, rate)
            what = f"c = 1, L = {threshold}, j = {query}: the input at D = {distance}, and of row L at {other.n(4)}"
            refute_if_apart(what, here, _published(other, threshold, threshold, rate))
    rate, distance, threshold, more = sp.symbols("c D L s", positive=True)
    query = threshold + more
    here, other = _published(distance, query, threshold, rate), matched(distance, query, threshold, rate)
    there = _published(other, threshold, threshold, rate)
    yield require_same("j = L + s: the input at D is that of row L at D' = ((c D + 1)^k - 1)/c", here, there)
    yield require_same(
        "k = psi(L)/psi(j), below 1, so 0 < D' < D",
        sp.log(rate * other + 1),
        biases.fire_psi(distance, rate=rate)
        * biases.fire_psi(threshold, rate=rate)
        / biases.fire_psi(query, rate=rate),
    )
    yield "so row j is row L with psi(D) scaled by psi(L)/psi(j), and stays in [0, 1) (claim fire-1)"


def _beyond() -> sp.Expr:
    """Value of f for ALiBi at c = 1, L = 1, j = 3, D = 2, beyond the threshold."""
    part = biases.fire_fraction(distance=sp.Integer(2), query_position=sp.Integer(3), threshold=sp.S.One, rate=sp.S.One)
    return _alibi_shape(part, sp.S.One, sp.S.One).subs(biases.ALIBI_SLOPE, 1)


def _alibi_shape(part: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """The f that gives ALiBi's bias."""
    distance = biases.fire_distance(part, threshold=threshold, rate=rate)
    return biases.alibi_bias(biases.ALIBI_SLOPE, query_position=distance, key_position=sp.S.Zero)


def least_kinks(values: Sequence[int]) -> int:
    """Return a lower bound on the kinks of any piecewise linear function through these values, in order.

    In the gap of each jump there is a point at which the slope has the jump's sign. Between two such points a function
    with one kink is monotone, or takes every value at most twice; without a kink it is strictly monotone.
    """
    runs = [len(list(run)) for _, run in groupby(values)]
    rises = [after > before for before, after in pairwise(value for value, _ in groupby(values))]
    turns = sum(
        _kinks_between(size, turned=before != after)
        for size, before, after in zip(runs[1:-1], rises, rises[1:], strict=False)
    )
    return turns + sum(run > 1 for run in (runs[0], runs[-1]) if len(runs) > 1)


def _kinks_between(size: int, *, turned: bool) -> int:
    """Lower bound on the kinks between two jumps with a run of `size` equal values between them."""
    if turned:
        return 2 if size > 2 else 1
    return 2 if size > 1 else 0


def _interpolation(count: int, units: int) -> str:
    """Fact that the network t_0 + sum over k < `units` of a_k relu(u - u_k) gives any table of `count` distances.

    The inputs u_0 < u_1 < ... are those of the distances.
    """
    inputs = [
        biases.fire_fraction(
            distance=sp.Integer(distance),
            query_position=sp.Integer(count),
            threshold=sp.Integer(count),
            rate=sp.Rational(1, 10),
        )
        for distance in range(count)
    ]
    for distance, (before, after) in enumerate(pairwise(inputs)):
        if sign(after - before) <= 0:
            raise Refuted(f"distances {distance} and {distance + 1} have the inputs {before.n(4)} and {after.n(4)}")
    # A table is determined by its first value and the slopes between neighbours.
    first, nodes = sp.Symbol("t0", real=True), sp.symbols(f"u:{count}", real=True)
    slopes = sp.symbols(f"s:{count - 1}", real=True)
    steps = [slope * (after - before) for slope, (before, after) in zip(slopes, pairwise(nodes), strict=True)]
    table = [sp.Add(first, *steps[:at]) for at in range(count)]
    weights = [after - before for before, after in pairwise((sp.S.Zero, *slopes))][:units]
    reached = [
        sp.Add(first, *(weight * (nodes[at] - node) for weight, node in zip(weights, nodes[:at], strict=False)))
        for at in range(count)
    ]
    what = f"{count} distances, {units} units, any table"
    if count == 2:  # one slope only, so both sides are the same expression
        return same_by_sympy(what, sp.Matrix(reached), sp.Matrix(table))
    return require_equal(what, sp.Matrix(reached), sp.Matrix(table))


@CLAIMS.claim(
    "fire-3",
    "representation of T5's, ALiBi's and Kerple's biases; psi fixed to log(c x + 1)",
    r"f(u)=g\Big(\frac{e^{u\psi(L)}-1}{c}\Big)\Rightarrow b(j,i)=g(j-i)\ \forall\,i\le j\le L",
    label="P",
    assumptions=("f is any function of [0, 1), not only a network of 32 units", "c > 0, L > 0"),
    falsifiers={
        "exact at j = L + 1": {"beyond": 1},
        "f linear": {"shape": lambda part, threshold, rate: -biases.ALIBI_SLOPE * threshold * part},
        "without the 1 taken off": {
            "shape": lambda part, threshold, rate: _alibi_shape(part, threshold, rate) - biases.ALIBI_SLOPE / rate
        },
    },
)
def exact_up_to_threshold(shape: Shape = _alibi_shape, beyond: int = 0) -> Facts:
    """With threshold L some f gives any bias g(j - i) exactly for all keys of all queries up to L: f(u) = g((e^(u
    psi(L)) - 1)/c), for ALiBi -(m/c)(e^(u log(c L + 1)) - 1); beyond L it does not.

    Decide that f of the input is the bias for queries up to L + `beyond`, and for ALiBi in closed form.
    """
    unit = sp.Integer(1)
    for threshold in range(1, 5):
        for query in range(1, threshold + beyond + 1):
            for distance in range(query):
                part = biases.fire_fraction(
                    distance=sp.Integer(distance),
                    query_position=sp.Integer(query),
                    threshold=sp.Integer(threshold),
                    rate=unit,
                )
                value = shape(part, sp.Integer(threshold), unit).subs(biases.ALIBI_SLOPE, unit)
                where = f"c = 1, L = {threshold}, j = {query}, D = {distance}, m = 1"
                refute_if_apart(f"{where}: f of the input", value, sp.Integer(-distance))
    rate, key, more = sp.symbols("c i s", positive=True)
    distance = sp.Symbol("D", integer=True, nonnegative=True)
    part = sp.Symbol("u", nonnegative=True)
    query, threshold = key + distance, key + distance + more
    recovered = biases.fire_distance(
        biases.fire_fraction(distance=distance, query_position=query, threshold=threshold, rate=rate),
        threshold=threshold,
        rate=rate,
    )
    yield same_by_sympy("j <= L = j + s: (e^(u psi(L)) - 1)/c = D", recovered, distance)
    for name, bias in _BIASES:
        yield require_same(f"{name}: f(u) = bias at (e^(u psi(L)) - 1)/c", bias(recovered), bias(distance))
    power = sp.Symbol("e^(u psi(L))", positive=True)
    stated = -biases.ALIBI_SLOPE / rate * (power - 1)
    written = shape(part, threshold, rate).subs(sp.exp(part * biases.fire_psi(threshold, rate=rate)), power)
    yield same_by_sympy("ALiBi: f(u) = -(m/c) (e^(u log(c L + 1)) - 1)", written, stated)
    yield (
        "L = 1 .. 4 in numbers; beyond L distance D is taken for a smaller one (claim fire-4), as at c = 1, L = 1, "
        f"j = 3, D = 2: {_beyond().n(4)} for -2"
    )


@CLAIMS.claim(
    "fire-3-width",
    "representation of T5's, ALiBi's and Kerple's biases; the network has 32 hidden units",
    r"f(u)=t_0+\sum_{k<n-1}a_k\,\mathrm{relu}(u-u_k),\quad f(u_D)=t_D\ (D<n);\quad 45>32",
    strength=Strength.BOUNDED,
    reach=f"n <= {MOST_DISTANCES}",
    assumptions=(f"n = 2 .. {MOST_DISTANCES} for the width that is enough", "the order of inputs is that of distances"),
    answers=("forced_by_t5", "t5_width"),
    falsifiers={
        "n - 3 units, or 1": {"width": lambda count: max(count - 3, 1)},
        "n - 2 units": {"width": lambda count: count - 2},
        "the rule of 16 buckets": {"bucket": lambda offset: biases.Bucket(offset, 16, biases.T5_LONGEST)},
        "buckets paired": {"bucket": lambda offset: biases.t5_bucket(offset) // 2},
    },
)
def interpolating_width(
    width: Callable[[int], int] = lambda count: count - 1,
    bucket: Callable[[sp.Expr], sp.Expr] = biases.t5_bucket,
    forced_by_t5: int = 45,
    t5_width: int = 32,
) -> Facts:
    """n - 1 ReLU units give any table of n distances; a table that alternates forces n - 2 kinks; and T5's table of 32
    buckets up to distance 127 may force 45, so that 32 units do not represent T5's bias there. The width is decided for
    n <= 6.

    Decide that `width(n)` units give any table of n distances, and that T5's buckets need more than `t5_width`.

    A network 1 -> w -> 1 is piecewise linear with at most w kinks, so it cannot give a table that forces more kinks.
    """
    for count in range(2, MOST_DISTANCES + 1):
        alternating = [position % 2 for position in range(count)]
        forced = least_kinks(alternating)
        if width(count) < forced:
            raise Refuted(
                f"{count} distances: the table {alternating} forces {forced} kinks, {width(count)} units have less"
            )
    yield from (_interpolation(count, width(count)) for count in range(2, MOST_DISTANCES + 1))
    values = [(-1) ** int(bucket(sp.Integer(distance))) for distance in range(biases.T5_LONGEST)]
    forced = least_kinks(values)
    if forced != forced_by_t5 or forced <= t5_width:
        raise Refuted(
            f"the buckets, +1 and -1 in turn, force {forced} kinks on 128 distances: not {forced_by_t5}, of {t5_width}"
        )
    if t5_width != biases.FIRE_HIDDEN:
        raise Refuted(f"the network has {biases.FIRE_HIDDEN} units, not {t5_width}")
    first_count = next(count for count in range(2, biases.T5_LONGEST + 1) if least_kinks(values[:count]) > t5_width)
    yield (
        "between two jumps of opposite sign there is a kink, and two if three distances or more share the value; "
        "after the last jump there is one if two or more do"
    )
    yield f"n distances of values 0, 1 in turn: {least_kinks([0, 1] * 4)} kinks for n = 8, n - 2 for every n"
    yield (
        f"T5's 32 buckets, +1 and -1 in turn, force {forced} kinks on 128 distances, the published network has "
        f"{t5_width} units; from {first_count} distances on they are too few"
    )
    yield (
        "numbers trained: the network, c and L, in every layer",
        lambda: biases.FIRE.learned,
        lambda: LAYERS * (2 * t5_width + (t5_width + 1) * HEADS + 2),
    )
