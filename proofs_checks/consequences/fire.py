"""FIRE's bias is relative up to the threshold alone, and tables that alternate need wider networks than its own."""

from collections.abc import Sequence
from itertools import combinations, groupby, pairwise

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.facts import Formula, require_equal, same_by_sympy, sign
from lengthgen.proofs_checks.formulas import bias_of
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers import fire
from lengthgen.proofs_checks.papers.fire import FARTHEST, psi, published, require_positive, require_same
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import HEADS, LAYERS

CLAIMS = PaperClaims(fire.SOURCE)
MOST_DISTANCES = 6


@CLAIMS.claim(
    "fire-2",
    fire.INTERPOLATION,
    r"b(j,i)=f\big(\psi(j-i)/\psi(L)\big)\ (j\le L);\quad j>L,\ D\ge 1:\ u_{j+1}(D)<u_j(D)",
    assumptions=(
        "c > 0, L > 0",
        "f is any function; a constant one gives every query one bias",
        "in words: log rises, so psi(max(j, L)) does with j from L on",
    ),
    falsifiers={
        "for every query": {"last": lambda threshold: FARTHEST},
        "up to L + 1": {"last": lambda threshold: threshold + 1},
        "up to L - 1": {"last": lambda threshold: threshold - 1},
    },
)
def relative_up_to_threshold(last: Formula = lambda threshold: threshold) -> Facts:
    """FIRE's input, and so its bias, depends on positions through j - i alone for queries j <= L. From L on the input
    at each distance D >= 1 falls strictly with the query, so f(u) = u gives no query beyond L the bias that another one
    has at that distance.
    """
    keys, queries = (index + 1 for index in np.triu_indices(FARTHEST))
    for threshold in range(1, 6):
        end = last(threshold)
        seen: dict[int, sp.Expr] = {}
        for distance, before in combinations(range(1, FARTHEST), 2):
            after = before + 1
            value, following = (published(distance, query, threshold, sp.S.One) for query in (before, after))
            inputs = f"{value.n(4)} at j = {before}, {following.n(4)} at j = {after}"
            verdict = f"so {'not' if after <= end else 'not only'} relative up to j = {end}"
            wrong = (sign(value - following) == 0) != (after <= end)
            refute(wrong, f"c = 1, L = {threshold}, D = {distance}: the input is {inputs}, {verdict}")
        labels = biases.fire_relation(threshold).label(keys, queries)
        for label, key, query in zip(labels.tolist(), keys.tolist(), queries.tolist(), strict=True):
            part = published(query - key, query, threshold, biases.FIRE_RATE)
            first = seen.setdefault(label, part)
            refute(first != part, f"L = {threshold}: label {label} has the inputs {first} and {part} (i = {key})")
        many = f"the relation has {len(seen)} labels up to query {FARTHEST}"
        refute(len(seen) != threshold + sum(range(threshold, FARTHEST)), f"L = {threshold}: {many}")
    c, query, later = fire.c, fire.i + fire.D, sp.Symbol("j", positive=True)
    yield require_same(
        "j <= L = j + s: the input is psi(D) / psi(L), in which j does not occur",
        published(fire.D, query, query + fire.s, c),
        psi(fire.D, c) / psi(query + fire.s, c),
    )
    rise = sp.exp(psi(later + 1, c)) - sp.exp(psi(later, c))
    yield require_positive("j > L: the argument of psi(j + 1) exceeds that of psi(j) by", rise)
    yield "so for D >= 1 and j > L the input falls strictly from j to j + 1, and some f tells the two apart"
    j, i = sp.symbols("j i", integer=True, positive=True)
    law = biases.FIRE_LAW(published(sp.Abs(j - i), j, biases.FIRE_THRESHOLD, biases.FIRE_RATE))
    yield require_same("the law counted from 0, at j - 1 and i - 1", bias_of(biases.FIRE)(j - 1, i - 1), law)
    yield f"L = 1 .. 5, queries up to {FARTHEST}: pairs of one label of `fire.relation(L)` have one input"


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
    width: Formula = lambda count: count - 1,
    bucket: Formula = biases.t5_bucket,
    forced_by_t5: int = 45,
    t5_width: int = 32,
) -> Facts:
    """n - 1 ReLU units give any table of n distances; a table that alternates forces n - 2 kinks; and T5's table of 32
    buckets up to distance 127 may force 45, so that 32 units do not represent T5's bias there. The width is decided for
    n <= 6.

    A network 1 -> w -> 1 is piecewise linear with at most w kinks, so it cannot give a table that forces more kinks.
    """
    counts = range(2, MOST_DISTANCES + 1)
    for count in counts:
        alternating = [position % 2 for position in range(count)]
        forced = _least_kinks(alternating)
        few = f"the table {alternating} forces {forced} kinks, {width(count)} units have less"
        refute(forced != count - 2, f"the table {alternating} forces {forced} kinks, not {count - 2}")
        refute(width(count) < forced, f"{count} distances: {few}")
    for count in counts:
        yield _interpolation(count, width(count))
    values = [(-1) ** int(bucket(sp.Integer(distance))) for distance in range(biases.T5_LONGEST)]
    forced = _least_kinks(values)
    signs = f"the buckets, +1 and -1 in turn, force {forced} kinks on 128 distances"
    refute(forced != forced_by_t5 or forced <= t5_width, f"{signs}: not {forced_by_t5}, of {t5_width}")
    refute(t5_width != biases.FIRE_HIDDEN, f"the network has {biases.FIRE_HIDDEN} units, not {t5_width}")
    first_count = next(count for count in range(2, biases.T5_LONGEST + 1) if _least_kinks(values[:count]) > t5_width)
    yield (
        "between two jumps of opposite sign there is a kink, and two if three distances or more share the value; "
        "after the last jump there is one if two or more do"
    )
    yield f"n distances of values 0, 1 in turn: {_least_kinks([0, 1] * 4)} kinks for n = 8, n - 2 for every n"
    yield (
        f"T5's 32 buckets, +1 and -1 in turn, force {forced} kinks on 128 distances, the published network has "
        f"{t5_width} units; from {first_count} distances on they are too few"
    )
    trained = "numbers trained: the network, c and L, in every layer"
    yield trained, lambda: biases.FIRE.learned, lambda: LAYERS * (2 * t5_width + (t5_width + 1) * HEADS + 2)


def _least_kinks(values: Sequence[int]) -> int:
    """Lower bound on the kinks of any piecewise linear function through these values, in order.

    In the gap of each jump there is a point at which the slope has the jump's sign. Between two such points a function
    with one kink is monotone, or takes every value at most twice; without a kink it is strictly monotone.
    """
    runs = [(value, len(list(run))) for value, run in groupby(values)]
    kinks = sum(size > 1 for _, size in (runs[0], runs[-1]) if len(runs) > 1)
    for (before, _), (value, size), (after, _) in zip(runs, runs[1:], runs[2:], strict=False):
        turned = (value > before) != (after > value)
        kinks += (2 if size > 2 else 1) if turned else (2 if size > 1 else 0)
    return kinks


def _interpolation(count: int, units: int) -> str:
    """Fact that the network t_0 + sum over k < `units` of a_k relu(u - u_k) gives any table of `count` distances.

    The inputs u_0 < u_1 < ... are those of the distances; a table is its first value and the slopes between neighbours.
    """
    inputs = [published(distance, count, count, sp.Rational(1, 10)) for distance in range(count)]
    for distance, (before, after) in enumerate(pairwise(inputs)):
        both = f"{before.n(4)} and {after.n(4)}"
        refute(sign(after - before) <= 0, f"distances {distance} and {distance + 1} have the inputs {both}")
    first, nodes = sp.Symbol("t0", real=True), sp.symbols(f"u:{count}", real=True)
    slopes = sp.symbols(f"s:{count - 1}", real=True)
    steps = [slope * (after - before) for slope, (before, after) in zip(slopes, pairwise(nodes), strict=True)]
    weights = [after - before for before, after in pairwise((sp.S.Zero, *slopes))][:units]
    table = [sp.Add(first, *steps[:at]) for at in range(count)]
    reached = [
        sp.Add(first, *(weight * (nodes[at] - node) for weight, node in zip(weights, nodes[:at], strict=False)))
        for at in range(count)
    ]
    equal = same_by_sympy if count == 2 else require_equal  # with one slope both sides are the same expression
    return equal(f"{count} distances, {units} units, any table", sp.Matrix(reached), sp.Matrix(table))
