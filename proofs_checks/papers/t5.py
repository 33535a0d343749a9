"""T5 (arXiv 1910.10683): relative position buckets, and the bias learned for each bucket."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.facts import Formula, same_by_sympy
from lengthgen.proofs_checks.formulas import bias_of
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.biases import T5_BUCKETS, T5_LONGEST
from lengthgen.theory.encodings.encoding import HEADS, Encoding
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="T5", arxiv="1910.10683")
CLAIMS = PaperClaims(SOURCE)
PLACE = "section 2.1, relative position embeddings"
RULE = f"{PLACE}; the rule of the released code"
RELEASED: dict[str, Any] = {
    "strength": Strength.EXHAUSTIVE,
    "reach": "32 buckets",
    "assumptions": ("32 buckets, 128 the longest distance, as released",),
}
FARTHEST = 160
BEYOND = T5_LONGEST + sp.Symbol("k", integer=True, nonnegative=True)
_HALF = T5_BUCKETS // 2


def causal_rule(buckets: int, longest: int) -> Formula:
    """Causal rule with this number of buckets; the last one contains all distances from at most `longest` on."""
    return lambda offset: biases.Bucket(sp.Max(offset, 0), buckets, longest)


def row(encoding: Encoding) -> Formula:
    """Function that gives the row of the table for an offset j - i."""
    bias = bias_of(encoding)
    return lambda offset: bias(offset, sp.S.Zero).indices[0]


def _of_query_position(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias that reads the bucket of the query's position, not of the distance."""
    return biases.T5_WEIGHTS[biases.t5_bucket(query)]


def _own_offset_after(offset: sp.Expr) -> sp.Expr:
    """Bidirectional bucket, except that offset 0 counts as after the query."""
    return biases.Bucket(abs(offset), _HALF, T5_LONGEST) + sp.Piecewise((0, offset > 0), (_HALF, True))


def _require_labels(encoding: Encoding, buckets: list[int]) -> None:
    """Require that the relation of the encoding gives each distance its bucket as label."""
    assert encoding.relation is not None
    labels = encoding.relation.label(np.ones_like(buckets), 1 + np.arange(len(buckets))).tolist()
    for distance, (label, bucket) in enumerate(zip(labels, buckets, strict=True)):
        refute(label != bucket, f"the relation labels distance {distance} with {label}, its bucket is {bucket}")


@CLAIMS.claim(
    "t5-1",
    RULE,
    r"\beta(D)=D\ (D\le 16),\quad \min\{D:\beta(D)=b\}=\lceil 16\cdot 8^{(b-16)/16}\rceil\ (16\le b\le 31)",
    label="P",
    **RELEASED,
    answers=("exact", "count"),
    falsifiers={
        "numbered from the far end": {"bucket": lambda offset: T5_BUCKETS - 1 - biases.t5_bucket(offset)},
        "half of the buckets": {"bucket": causal_rule(_HALF, T5_LONGEST)},
        "the last bucket never used": {"bucket": lambda offset: sp.Min(biases.t5_bucket(offset), T5_BUCKETS - 2)},
        "by the distance on both sides": {"bucket": lambda offset: biases.t5_bucket(abs(offset))},
        "buckets begin a distance early": {"rounding": sp.floor},
    },
)
def buckets_of_distances(
    bucket: Formula = biases.t5_bucket, exact: int = 16, count: int = 32, rounding: Formula = sp.ceiling
) -> Facts:
    """The causal bucket never falls with the distance, is the distance itself up to 16, takes all of 0 to 31, and
    bucket b >= 16 begins at the distance ceil(16 * 8^((b - 16)/16)); a key after the query has bucket 0. Decided for
    the released rule: 32 buckets, up to distance 128.
    """
    buckets = [int(bucket(sp.Integer(distance))) for distance in range(FARTHEST + 1)]
    for distance, (before, after) in enumerate(pairwise(buckets)):
        refute(after < before, f"distances {distance} and {distance + 1} have buckets {before} and {after}: it falls")
    used = set(buckets)
    refute(used != set(range(count)), f"{len(used)} buckets are used, 0 to {max(buckets)}, not {count}")
    shared = next(distance for distance in range(FARTHEST + 1) if buckets[distance] != distance)
    own = f"distances up to {shared - 1} are their own buckets"
    refute(shared - 1 != exact, f"{own}, distance {shared} has bucket {buckets[shared]}")
    for index in range(_HALF, T5_BUCKETS):
        stated = rounding(_HALF * sp.Integer(8) ** sp.Rational(index - _HALF, _HALF))
        first = buckets.index(index)
        refute(first != stated, f"bucket {index} begins at distance {first}, not {stated}")
    last, beyond = buckets[T5_LONGEST], bucket(BEYOND)
    refute(beyond != last, f"the bucket of 128 + k is {beyond}, not {last}")
    for distance in range(1, FARTHEST + 1):
        for after in (rule(sp.Integer(-distance)) for rule in (bucket, row(biases.T5))):
            refute(after != 0, f"a key {distance} after the query has bucket {after}, not 0")
    _require_labels(biases.T5, buckets)
    trained, _ = (
        same_by_sympy("trained numbers", encoding.learned, count * HEADS)
        for encoding in (biases.T5, biases.T5_BIDIRECTIONAL)
    )
    yield f"distances 0 to {FARTHEST} one by one: the bucket never falls and takes all {count} values"
    yield f"distances 0 to {exact} and no more are their own buckets"
    yield f"buckets 16 to 30 hold {[buckets.count(index) for index in range(16, T5_BUCKETS - 1)]} distances each"
    yield "bucket b >= 16 begins at ceil(16 8^((b - 16)/16)), exactly"
    yield f"every distance 128 + k has bucket {last}; keys after the query have bucket 0"
    yield f"{trained}: one for each bucket and head, bidirectional or not"


@CLAIMS.claim(
    "t5-1-bidirectional",
    RULE,
    r"\beta_{\pm}(-D)=\beta_{\pm}(D)+16\ (D>0),\quad 16\notin\beta_{\pm}(\mathbb{Z})",
    **RELEASED,
    answers=("first_row_unused",),
    falsifiers={
        "the offset 0 counts as after": {"bucket": _own_offset_after},
        "the causal buckets": {"bucket": row(biases.T5)},
        "sides exchanged": {"bucket": lambda offset: row(biases.T5_BIDIRECTIONAL)(-offset)},
    },
)
def both_sides(first_row_unused: int = 16, bucket: Formula = row(biases.T5_BIDIRECTIONAL)) -> Facts:
    """In the bidirectional form a key after the query has the bucket of the key at the same distance before it, plus
    16; the offset 0 counts as before, so no pair of positions uses row 16 of the table. Decided for the released rule:
    32 buckets, up to distance 128.
    """
    buckets = {offset: int(bucket(sp.Integer(offset))) for offset in range(-FARTHEST, FARTHEST + 1)}
    for distance in range(1, FARTHEST + 1):
        before, after = buckets[distance], buckets[-distance]
        both = f"a key {distance} before the query and one {distance} after have buckets {before} and {after}"
        refute(after != before + _HALF, both)
    unused = sorted(set(range(T5_BUCKETS)) - set(buckets.values()))
    refute(unused != [first_row_unused], f"the buckets without an offset are {unused}")
    _require_labels(biases.T5_BIDIRECTIONAL, [buckets[distance] for distance in range(FARTHEST + 1)])
    ends = [bucket(sign * BEYOND) for sign in (1, -1)]
    refute(ends != [_HALF - 1, T5_BUCKETS - 1], f"offsets of 128 + k and more have the buckets {ends}")
    yield f"offsets from -{FARTHEST} to {FARTHEST} one by one, and all beyond 128 by their common buckets"
    near = f"distances 1 before and 1 after the query have the buckets {buckets[1]} and {buckets[-1]}"
    yield f"{near}, far ones {ends[0]} and {ends[1]}"
    yield f"no offset has bucket {unused[0]}: that row of the table is never trained"


@CLAIMS.claim(
    "t5-3",
    PLACE,
    r"w[\beta((j+s)-(i+s))]=w[\beta(j-i)]",
    label="P",
    falsifiers={
        "the query's own position bucketed": {"causal": _of_query_position},
        "so in the bidirectional form": {"bidirectional": _of_query_position},
    },
)
def relative_law(
    causal: Formula = bias_of(biases.T5), bidirectional: Formula = bias_of(biases.T5_BIDIRECTIONAL)
) -> Facts:
    """T5's bias, causal or bidirectional, depends on positions through j - i alone, whatever its weights."""
    i, distance, shift = symbols = sp.symbols("i D s", integer=True, nonnegative=True)
    for name, bias in (("causal", causal), ("bidirectional", bidirectional)):
        for order, query, key in (("up to the query", i + distance, i), ("after the query", i, i + distance)):
            change = bias(query + shift, key + shift) - bias(query, key)
            for point in product(range(20), repeat=3) if change != 0 else ():
                value = change.subs(dict(zip(symbols, point, strict=True)))
                place = ", ".join(f"{symbol} = {at}" for symbol, at in zip(symbols, point, strict=True))
                where = f"b(j + s, i + s) - b(j, i) = {value} at {place}, not 0 for every table"
                refute(value != 0, f"{name}, key {order}: {where}")
            if change != 0:
                raise Undecided(f"{change} is not recognised as zero, and no small positions show that it is not")
            yield f"{name}, key {order}: b(j + s, i + s) and b(j, i) are one entry of the table"
