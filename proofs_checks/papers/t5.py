"""T5 (arXiv 1910.10683): relative position buckets, and the bias learned for each bucket."""

from collections.abc import Callable
from itertools import combinations, pairwise, product

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.facts import same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import HEADS, LENGTH, Encoding
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="T5", arxiv="1910.10683")

Buckets = Callable[[sp.Expr], sp.Expr]
Bias = Callable[[sp.Expr, sp.Expr], sp.Expr]

FARTHEST = 160
_BEYOND = sp.Symbol("k", integer=True, nonnegative=True)
_RULE = "section 2.1, relative position embeddings; the rule of the released code"


def _visible_change(change: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> str:
    """Counterexample: positions at which the change of the bias is not zero."""
    for point in product(range(20), repeat=len(symbols)):
        value = change.subs(dict(zip(symbols, point, strict=True)))
        if value != 0:
            place = ", ".join(f"{symbol} = {at}" for symbol, at in zip(symbols, point, strict=True))
            return f"b(j + s, i + s) - b(j, i) = {value} at {place}, not 0 for every table"
    raise Undecided(f"{change} is not recognised as zero, and no small positions show that it is not")


def _clash(bucket: Buckets, context: int) -> str:
    """Two keys of a row that share a bucket although ALiBi gives them different biases; empty if there are none."""
    buckets = [bucket(sp.Integer(distance)) for distance in range(context)]
    for near, far in combinations(range(context), 2):
        both = [
            biases.alibi_bias(biases.ALIBI_SLOPE, query_position=sp.Integer(at), key_position=sp.S.Zero)
            for at in (near, far)
        ]
        gap = sp.expand(both[0] - both[1])
        if buckets[near] == buckets[far] and not gap.is_zero:
            return f"distances {near} and {far} share bucket {buckets[near]}, and ALiBi's biases there differ by {gap}"
    return ""


def _require_labels(encoding: Encoding, buckets: list[int]) -> None:
    """Require that the relation of the encoding gives each distance its bucket as label."""
    assert encoding.relation is not None
    keys = np.ones(len(buckets), dtype=np.int64)
    labels = encoding.relation.label(keys, keys + np.arange(len(buckets))).tolist()
    for distance, (label, bucket) in enumerate(zip(labels, buckets, strict=True)):
        if label != bucket:
            raise Refuted(f"the relation labels distance {distance} with {label}, its bucket is {bucket}")


def _plain(weight: sp.Expr) -> sp.Symbol:
    """Plain symbol for an entry of the table."""
    return sp.Symbol(str(weight), real=True)


def _bias_of_query_position(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias that reads the bucket of the query's position, not of the distance."""
    return biases.T5_WEIGHTS[biases.t5_bucket(query)]


def _causal_rule(buckets: int, longest: int) -> Buckets:
    """Causal rule with this number of buckets; the last one contains all distances from at most `longest` on."""
    return lambda offset: biases.Bucket(sp.Max(offset, 0), buckets, longest)


def _own_offset_after(offset: sp.Expr) -> sp.Expr:
    """Bidirectional bucket, except that offset 0 counts as after the query."""
    half = biases.T5_BUCKETS // 2
    return biases.Bucket(abs(offset), half, biases.T5_LONGEST) + sp.Piecewise((0, offset > 0), (half, True))


def _bias_of(encoding: Encoding) -> Bias:
    """The encoding's bias as a function of query and key position."""
    assert encoding.bias is not None
    law = encoding.bias
    return lambda query, key: law(query, key, LENGTH)


def _row(encoding: Encoding) -> Buckets:
    """Function that gives the row of the table for an offset j - i."""
    bias = _bias_of(encoding)
    return lambda offset: bias(offset, sp.S.Zero).indices[0]


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "t5-1",
    _RULE,
    r"\beta(D)=D\ (D\le 16),\quad \min\{D:\beta(D)=b\}=\lceil 16\cdot 8^{(b-16)/16}\rceil\ (16\le b\le 31)",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach="32 buckets",
    assumptions=("32 buckets, 128 the longest distance, as released",),
    answers=("exact", "count"),
    falsifiers={
        "numbered from the far end": {"bucket": lambda offset: biases.T5_BUCKETS - 1 - biases.t5_bucket(offset)},
        "half of the buckets": {"bucket": _causal_rule(biases.T5_BUCKETS // 2, biases.T5_LONGEST)},
        "the last bucket never used": {
            "bucket": lambda offset: sp.Min(biases.t5_bucket(offset), biases.T5_BUCKETS - 2)
        },
        "buckets begin a distance early": {"rounding": sp.floor},
    },
)
def buckets_of_distances(
    bucket: Buckets = biases.t5_bucket, exact: int = 16, count: int = 32, rounding: type[sp.Function] = sp.ceiling
) -> Facts:
    """The causal bucket never falls with the distance, is the distance itself up to 16, takes all of 0 to 31, and
    bucket b >= 16 begins at the distance ceil(16 * 8^((b - 16)/16)); a key after the query has bucket 0. Decided for
    the released rule: 32 buckets, up to distance 128.

    Args:
        bucket: offset -> bucket.
        exact: largest distance that is its own bucket.
        count: number of buckets.
        rounding: floor or ceiling, for the first distance of each bucket.
    """
    buckets = [int(bucket(sp.Integer(distance))) for distance in range(FARTHEST + 1)]
    for distance, (before, after) in enumerate(pairwise(buckets)):
        if after < before:
            raise Refuted(f"distances {distance} and {distance + 1} have buckets {before} and {after}: it falls")
    if set(buckets) != set(range(count)):
        raise Refuted(f"{len(set(buckets))} buckets are used, 0 to {max(buckets)}, not {count}")
    shared = next(distance for distance in range(FARTHEST + 1) if buckets[distance] != distance)
    if shared - 1 != exact:
        raise Refuted(
            f"distances up to {shared - 1} are their own buckets, distance {shared} has bucket {buckets[shared]}"
        )
    for index in range(biases.T5_BUCKETS // 2, biases.T5_BUCKETS):
        coarse = sp.Rational(index - biases.T5_BUCKETS // 2, biases.T5_BUCKETS // 2)
        stated = rounding(biases.T5_BUCKETS // 2 * sp.Integer(8) ** coarse)
        if buckets.index(index) != stated:
            raise Refuted(f"bucket {index} begins at distance {buckets.index(index)}, not {stated}")
    if bucket(biases.T5_LONGEST + _BEYOND) != buckets[biases.T5_LONGEST]:
        raise Refuted(
            f"the bucket of 128 + k is {bucket(biases.T5_LONGEST + _BEYOND)}, not {buckets[biases.T5_LONGEST]}"
        )
    row = _row(biases.T5)
    for distance in range(1, FARTHEST + 1):
        if row(sp.Integer(-distance)) != 0:
            raise Refuted(f"a key {distance} after the query has bucket {row(sp.Integer(-distance))}, not 0")
    _require_labels(biases.T5, buckets)
    trained = [
        same_by_sympy("trained numbers", encoding.learned, count * HEADS)
        for encoding in (biases.T5, biases.T5_BIDIRECTIONAL)
    ]
    sizes = [buckets.count(index) for index in range(biases.T5_BUCKETS - 1)]
    yield f"distances 0 to {FARTHEST} one by one: the bucket never falls and takes all {count} values"
    yield f"distances 0 to {exact} and no more are their own buckets"
    yield f"buckets 16 to 30 hold {sizes[16:]} distances each"
    yield "bucket b >= 16 begins at ceil(16 8^((b - 16)/16)), exactly"
    yield f"every distance 128 + k has bucket {buckets[biases.T5_LONGEST]}; keys after the query have bucket 0"
    yield f"{trained[0]}: one for each bucket and head, bidirectional or not"


@CLAIMS.claim(
    "t5-1-bidirectional",
    _RULE,
    r"\beta_{\pm}(-D)=\beta_{\pm}(D)+16\ (D>0),\quad 16\notin\beta_{\pm}(\mathbb{Z})",
    strength=Strength.EXHAUSTIVE,
    reach="32 buckets",
    assumptions=("32 buckets, 128 the longest distance, as released",),
    answers=("first_row_unused",),
    falsifiers={
        "the offset 0 counts as after": {"bucket": _own_offset_after},
        "the causal buckets": {"bucket": _row(biases.T5)},
        "sides exchanged": {"bucket": lambda offset: _row(biases.T5_BIDIRECTIONAL)(-offset)},
    },
)
def both_sides(first_row_unused: int | None = 16, bucket: Buckets = _row(biases.T5_BIDIRECTIONAL)) -> Facts:
    """In the bidirectional form a key after the query has the bucket of the key at the same distance before it, plus
    16; the offset 0 counts as before, so no pair of positions uses row 16 of the table. Decided for the released rule:
    32 buckets, up to distance 128.
    """
    half = biases.T5_BUCKETS // 2
    buckets = {offset: int(bucket(sp.Integer(offset))) for offset in range(-FARTHEST, FARTHEST + 1)}
    for distance in range(1, FARTHEST + 1):
        if buckets[-distance] != buckets[distance] + half:
            both = f"{buckets[distance]} and {buckets[-distance]}"
            raise Refuted(f"a key {distance} before the query and one {distance} after have buckets {both}")
    unused = sorted(set(range(biases.T5_BUCKETS)) - set(buckets.values()))
    if unused != ([] if first_row_unused is None else [first_row_unused]):
        raise Refuted(f"the buckets without an offset are {unused}")
    _require_labels(biases.T5_BIDIRECTIONAL, [buckets[distance] for distance in range(FARTHEST + 1)])
    ends = [bucket(sign * (biases.T5_LONGEST + _BEYOND)) for sign in (1, -1)]
    if ends != [half - 1, biases.T5_BUCKETS - 1]:
        raise Refuted(f"offsets of 128 + k and more have the buckets {ends}")
    yield f"offsets from -{FARTHEST} to {FARTHEST} one by one, and all beyond 128 by their common buckets"
    yield (
        "distances 1 before and 1 after the query have the buckets "
        f"{buckets[1]} and {buckets[-1]}, far ones {ends[0]} and {ends[1]}"
    )
    yield f"no offset has bucket {unused[0] if unused else 'none'}: that row of the table is never trained"


@CLAIMS.claim(
    "t5-2",
    _RULE,
    r"\beta(D)=31\iff D\ge 113",
    strength=Strength.EXHAUSTIVE,
    reach="32 buckets",
    assumptions=("32 buckets, 128 the longest distance, as released",),
    answers=("first",),
    falsifiers={
        "the rule for distances up to 64": {"bucket": _causal_rule(biases.T5_BUCKETS, 64)},
        "the rule of 31 buckets": {"bucket": _causal_rule(biases.T5_BUCKETS - 1, biases.T5_LONGEST)},
    },
)
def saturation(bucket: Buckets = biases.t5_bucket, first: int = 113) -> Facts:
    """All distances from 113 on share bucket 31, and no nearer one has it. Decided for the released rule: 32 buckets,
    up to distance 128.

    Decide the distance `first` from which on all distances share the last bucket.
    """
    last = biases.T5_BUCKETS - 1
    if bucket(biases.T5_LONGEST + _BEYOND) != last:
        raise Refuted(f"distance 128 + k has bucket {bucket(biases.T5_LONGEST + _BEYOND)}, not {last}")
    for distance in range(biases.T5_LONGEST + 1):
        number = int(bucket(sp.Integer(distance)))
        if (number == last) != (distance >= first):
            raise Refuted(f"distance {distance} has bucket {number}, though saturation is said to begin at {first}")
    yield f"distance {first - 1} has bucket {bucket(sp.Integer(first - 1))}, distance {first} bucket {last}"
    yield f"so have all from {first} to 128, one by one, and every 128 + k"


@CLAIMS.claim(
    "t5-3",
    "section 2.1, relative position embeddings",
    r"w[\beta((j+s)-(i+s))]=w[\beta(j-i)]",
    label="P",
    falsifiers={
        "the query's own position bucketed": {"biases": (_bias_of_query_position, _bias_of(biases.T5_BIDIRECTIONAL))},
        "so in the bidirectional form": {"biases": (_bias_of(biases.T5), _bias_of_query_position)},
    },
)
def relative_law(biases: tuple[Bias, ...] = (_bias_of(biases.T5), _bias_of(biases.T5_BIDIRECTIONAL))) -> Facts:
    """T5's bias, causal or bidirectional, depends on positions through j - i alone, whatever its weights."""
    i, distance, shift = sp.symbols("i D s", integer=True, nonnegative=True)
    for name, bias in zip(("causal", "bidirectional"), biases, strict=True):
        for order, query, key in (("up to the query", i + distance, i), ("after the query", i, i + distance)):
            change = bias(query + shift, key + shift) - bias(query, key)
            if change != 0:
                raise Refuted(f"{name}, key {order}: {_visible_change(change, (i, distance, shift))}")
            yield f"{name}, key {order}: b(j + s, i + s) and b(j, i) are one entry of the table"


@CLAIMS.claim(
    "t5-4",
    _RULE,
    r"D,D'\ge 113:\quad \frac{a_{D}}{a_{D'}}=e^{s_D-s_{D'}}",
    strength=Strength.EXHAUSTIVE,
    reach="32 buckets",
    assumptions=("32 buckets, 128 the longest distance, as released",),
    answers=("first",),
    falsifiers={
        "the rule for distances up to 64": {"bucket": _causal_rule(biases.T5_BUCKETS, 64)},
        "the rule of 34 buckets": {"bucket": _causal_rule(biases.T5_BUCKETS + 2, biases.T5_LONGEST)},
    },
)
def far_keys(bucket: Buckets = biases.t5_bucket, first: int = 113) -> Facts:
    """Among keys at distance 113 or more the attention weights depend on content alone: there T5 is NoPE. Decided for
    the released rule: 32 buckets, up to distance 128.

    Decide that for keys at distance `first` or more only the content matters to attention.
    """
    last = bucket(biases.T5_LONGEST + _BEYOND)
    for distance in range(first, biases.T5_LONGEST):
        number = bucket(sp.Integer(distance))
        if number != last:
            raise Refuted(
                f"distance {distance} has bucket {number}, distance 128 bucket {last}: with w_{number} = 1 and "
                f"w_{last} = 0 equal contents at these distances weigh {sp.E.n(4)} to 1"
            )
    if bucket(sp.Integer(first - 1)) == last:
        raise Refuted(f"distance {first - 1} has bucket {last} too")
    content, other = sp.symbols("s s_", real=True)
    with_bias = [sp.exp(logit + _plain(biases.T5_WEIGHTS[last])) for logit in (content, other)]
    yield f"distances {first} to 127 have bucket {last} one by one, and so has every 128 + k"
    yield (
        "ratio of the weights of two such keys, for any contents and any w",
        lambda: with_bias[0] / with_bias[1],
        lambda: sp.exp(content) / sp.exp(other),
    )


@CLAIMS.claim(
    "t5-5",
    "section 2.1, relative position embeddings",
    r"\exists w,c:\ w[\beta(j-i)]+c_j=-m(j-i)\ \forall\,0\le i\le j<T\iff T\le 17",
    strength=Strength.EXHAUSTIVE,
    reach="32 buckets",
    assumptions=("32 buckets, 128 the longest distance, as released", "any slope m > 0"),
    answers=("longest_context",),
    falsifiers={
        "the rule of 64 buckets": {"bucket": _causal_rule(2 * biases.T5_BUCKETS, biases.T5_LONGEST)},
        "the bidirectional form": {"bucket": _row(biases.T5_BIDIRECTIONAL)},
    },
)
def alibi_as_table(bucket: Buckets = _row(biases.T5), longest_context: int = 17) -> Facts:
    """For contexts of 17 positions some table of T5 gives any bias that depends on the distance; for longer contexts no
    table gives ALiBi's bias, not even up to a constant in each row. Decided for the released rule: 32 buckets, up to
    distance 128.
    """
    clash = _clash(bucket, longest_context)
    if clash:
        raise Refuted(f"T = {longest_context}: {clash}")
    clash = _clash(bucket, longest_context + 1)
    if not clash:
        raise Refuted(f"T = {longest_context + 1}: all {longest_context + 1} distances have buckets of their own too")
    yield f"T = {longest_context}: the distances 0 to {longest_context - 1} have buckets of their own, so w_b = -m b"
    yield f"T = {longest_context + 1} and so every longer context: {clash}"
    yield "a constant added to a row cancels in the difference of its two keys, so it is of no help"
