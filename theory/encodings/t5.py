"""T5: a bias learned for each bucket of distances; near distances have a bucket each, far ones share.

Source: Raffel et al., arXiv 1910.10683, section 2.1; the rule of the buckets is that of its published code.  T5 also
leaves out the division by sqrt(d), which is not part of the bias.
"""

import numpy as np
import sympy as sp

from theory.encodings.encoding import HEADS, Encoding, Law, Option, Parameter, Recovery
from theory.relation import t5_buckets

BUCKETS, LONGEST = 32, 128
"""Of the released models: how many buckets, and the distance from which on all share the last."""
WEIGHTS = sp.IndexedBase("w")


class Bucket(sp.Function):  # type: ignore[misc]  # sympy has no types
    """Bucket(D, buckets, longest): the bucket of a distance D >= 0, as `theory.relation.t5_buckets` numbers it.  [P]

    A number where D is one, or is known to be `longest` or more; unevaluated elsewhere.
    """

    @classmethod
    def eval(cls, distance: sp.Expr, buckets: sp.Integer, longest: sp.Integer) -> sp.Integer | None:
        within = sp.Min(distance, longest)
        if not within.is_Integer:
            return None
        relation = t5_buckets(int(buckets), int(longest))
        return sp.Integer(relation.label(np.array([1]), np.array([1 + int(within)]))[0])


def bucket(offset: sp.Expr) -> sp.Expr:
    """Causal: the bucket of D = j - i, and that of 0 for a key after the query.  [P]"""
    return Bucket(sp.Max(offset, 0), BUCKETS, LONGEST)


def bidirectional_bucket(offset: sp.Expr) -> sp.Expr:
    """Half of the buckets for D = j - i >= 0, by D; the other half for a key after the query, by -D.  [P]"""
    half = BUCKETS // 2
    return Bucket(abs(offset), half, LONGEST) + sp.Piecewise((0, offset >= 0), (half, True))


_PARAMETERS = (Parameter(symbol=WEIGHTS, meaning="bias of each bucket, in every head", learned=BUCKETS * HEADS),)
_OPTIONS = {"buckets": Option(default=32, least=2, most=1_024), "longest": Option(default=128, least=2, most=100_000)}
_RECOVERS = (Recovery(of="nope", assignment={WEIGHTS: sp.Integer(0)}),)

ENCODING = Encoding(
    name="t5",
    title="T5 bias",
    arxiv="1910.10683",
    summary="relative, in buckets (T5)",
    options=_OPTIONS,
    relation_of=lambda circuit, buckets, longest: t5_buckets(buckets, longest),
    parameters=_PARAMETERS,
    bias=lambda query_position, key_position, _: WEIGHTS[bucket(query_position - key_position)],
    relation=t5_buckets(BUCKETS, LONGEST),
    laws=tuple(Law),
    recovers=_RECOVERS,
)
"""The decoder's, causal."""

BIDIRECTIONAL = Encoding(
    name="t5-bidirectional",
    title="T5 bias (bidirectional)",
    arxiv="1910.10683",
    summary="relative, in buckets of both sides (T5)",
    options=_OPTIONS,
    relation_of=lambda circuit, buckets, longest: t5_buckets(buckets // 2, longest),
    parameters=_PARAMETERS,
    bias=lambda query_position, key_position, _: WEIGHTS[bidirectional_bucket(query_position - key_position)],
    relation=t5_buckets(BUCKETS // 2, LONGEST),
    laws=tuple(Law),
    recovers=_RECOVERS,
)
"""The encoder's; its relation is that of keys up to the query."""
