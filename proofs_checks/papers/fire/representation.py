"""Biases that FIRE represents exactly: for which queries, with which function f, and with how wide a ReLU network."""

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.fire import SOURCE
from lengthgen.proofs_checks.papers.fire.inputs import refute_if_apart, require_same, sign
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import HEADS, LAYERS

Shape = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(input u, L, c) -> f(u), which should be ALiBi's bias."""

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


def exact_up_to_threshold(*, shape: Shape, beyond: int) -> Evidence:
    """Decide that f of the input is the bias for queries up to L + `beyond`, and for ALiBi in closed form."""
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
    facts = [same_by_sympy("j <= L = j + s: (e^(u psi(L)) - 1)/c = D", recovered, distance)]
    for name, bias in _BIASES:
        facts.append(require_same(f"{name}: f(u) = bias at (e^(u psi(L)) - 1)/c", bias(recovered), bias(distance)))
    power = sp.Symbol("e^(u psi(L))", positive=True)
    stated = -biases.ALIBI_SLOPE / rate * (power - 1)
    written = shape(part, threshold, rate).subs(sp.exp(part * biases.fire_psi(threshold, rate=rate)), power)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            same_by_sympy("ALiBi: f(u) = -(m/c) (e^(u log(c L + 1)) - 1)", written, stated),
            "L = 1 .. 4 in numbers; beyond L distance D is taken for a smaller one (claim fire-4), as at c = 1, L = 1, "
            f"j = 3, D = 2: {_beyond().n(4)} for -2",
        ),
        assumptions=("f is any function of [0, 1), not only a network of 32 units", "c > 0, L > 0"),
    )


def _beyond() -> sp.Expr:
    """Value of f for ALiBi at c = 1, L = 1, j = 3, D = 2, beyond the threshold."""
    part = biases.fire_fraction(distance=sp.Integer(2), query_position=sp.Integer(3), threshold=sp.S.One, rate=sp.S.One)
    return _alibi_shape(part, sp.S.One, sp.S.One).subs(biases.ALIBI_SLOPE, 1)


def _alibi_shape(part: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """The f that gives ALiBi's bias."""
    distance = biases.fire_distance(part, threshold=threshold, rate=rate)
    return biases.alibi_bias(biases.ALIBI_SLOPE, query_position=distance, key_position=sp.S.Zero)


def interpolating_width(
    *, width: Callable[[int], int], bucket: Callable[[sp.Expr], sp.Expr], forced_by_t5: int, t5_width: int
) -> Evidence:
    """Decide that `width(n)` units give any table of n distances, and that T5's buckets need more than `t5_width`.

    A network 1 -> w -> 1 is piecewise linear with at most w kinks, so it cannot give a table that forces more kinks.
    """
    for count in range(2, MOST_DISTANCES + 1):
        alternating = [position % 2 for position in range(count)]
        forced = least_kinks(alternating)
        if width(count) < forced:
            raise Refuted(
                f"{count} distances: the table {alternating} forces {forced} kinks, {width(count)} units have less"
            )
    facts = [_interpolation(count, width(count)) for count in range(2, MOST_DISTANCES + 1)]
    values = [(-1) ** int(bucket(sp.Integer(distance))) for distance in range(biases.T5_LONGEST)]
    forced = least_kinks(values)
    if forced != forced_by_t5 or forced <= t5_width:
        raise Refuted(
            f"the buckets, +1 and -1 in turn, force {forced} kinks on 128 distances: not {forced_by_t5}, of {t5_width}"
        )
    if t5_width != biases.FIRE_HIDDEN:
        raise Refuted(f"the network has {biases.FIRE_HIDDEN} units, not {t5_width}")
    first_count = next(count for count in range(2, biases.T5_LONGEST + 1) if least_kinks(values[:count]) > t5_width)
    return Evidence(
        strength=Strength.BOUNDED,
        reach=f"n <= {MOST_DISTANCES}",
        facts=(
            *facts,
            "between two jumps of opposite sign there is a kink, and two if three distances or more share the value; "
            "after the last jump there is one if two or more do",
            f"n distances of values 0, 1 in turn: {least_kinks([0, 1] * 4)} kinks for n = 8, n - 2 for every n",
            f"T5's 32 buckets, +1 and -1 in turn, force {forced} kinks on 128 distances, the published network has "
            f"{t5_width} units; from {first_count} distances on they are too few",
            require_equal(
                "numbers trained: the network, c and L, in every layer",
                lambda: biases.FIRE.learned,
                lambda: LAYERS * (2 * t5_width + (t5_width + 1) * HEADS + 2),
            ),
        ),
        assumptions=(
            f"n = 2 .. {MOST_DISTANCES} for the width that is enough",
            "the order of inputs is that of distances",
        ),
    )


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


CLAIMS = (
    Claim(
        id="fire-3",
        source=SOURCE.at("representation of T5's, ALiBi's and Kerple's biases; psi fixed to log(c x + 1)"),
        statement="With threshold L some f gives any bias g(j - i) exactly for all keys of all queries up to L: f(u) = "
        "g((e^(u psi(L)) - 1)/c), for ALiBi -(m/c)(e^(u log(c L + 1)) - 1); beyond L it does not.",
        latex=r"f(u)=g\Big(\frac{e^{u\psi(L)}-1}{c}\Big)\Rightarrow b(j,i)=g(j-i)\ \forall\,i\le j\le L",
        label="P",
        check=exact_up_to_threshold,
        holds={"shape": _alibi_shape, "beyond": 0},
        falsifiers={
            "exact at j = L + 1": {"beyond": 1},
            "f linear": {"shape": lambda part, threshold, rate: -biases.ALIBI_SLOPE * threshold * part},
            "without the 1 taken off": {
                "shape": lambda part, threshold, rate: _alibi_shape(part, threshold, rate) - biases.ALIBI_SLOPE / rate
            },
        },
    ),
    Claim(
        id="fire-3-width",
        source=SOURCE.at("representation of T5's, ALiBi's and Kerple's biases; the network has 32 hidden units"),
        statement="n - 1 ReLU units give any table of n distances; a table that alternates forces n - 2 kinks; and "
        "T5's table of 32 buckets up to distance 127 may force 45, so that 32 units do not represent T5's bias there. "
        "The width is decided for n <= 6.",
        latex=r"f(u)=t_0+\sum_{k<n-1}a_k\,\mathrm{relu}(u-u_k),\quad f(u_D)=t_D\ (D<n);\quad 45>32",
        label="F",
        check=interpolating_width,
        holds={"width": lambda count: count - 1, "bucket": biases.t5_bucket, "forced_by_t5": 45, "t5_width": 32},
        answers=("forced_by_t5", "t5_width"),
        falsifiers={
            "n - 3 units, or 1": {"width": lambda count: max(count - 3, 1)},
            "n - 2 units": {"width": lambda count: count - 2},
            "the rule of 16 buckets": {"bucket": lambda offset: biases.Bucket(offset, 16, biases.T5_LONGEST)},
            "buckets paired": {"bucket": lambda offset: biases.t5_bucket(offset) // 2},
        },
    ),
)
