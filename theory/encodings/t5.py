"""T5: a learned attention bias for each bucket of distances; small distances have their own buckets, large ones share.

Source: Raffel et al., arXiv 1910.10683, section 2.1; the rule of the buckets is that of its published code.  T5 also
omits the division by sqrt(d), which is not part of the bias.
"""

import numpy as np
import sympy as sp

from lengthgen.theory.encodings.encoding import DISTANCE_LAWS, HEADS, Encoding, Option, Parameter, Recovery
from lengthgen.theory.relation import t5_buckets

BUCKETS, LONGEST = 32, 128
"""Values of the released models: number of buckets, and the distance from which on all distances share the last."""
WEIGHTS = sp.IndexedBase("w")


class Bucket(sp.Function):  # type: ignore[misc]  # sympy has no types
    """Bucket(D, buckets, longest): bucket of a distance D >= 0, numbered as in `t5_buckets` of theory/relation.py.  [P]

    It is a number if D is a number, or is known to be at least `longest`; otherwise it stays unevaluated.
    """

    @classmethod
    def eval(cls, distance: sp.Expr, buckets: sp.Integer, longest: sp.Integer) -> sp.Integer | None:
        """Number of the bucket, or None to stay unevaluated."""
        clipped = sp.Min(distance, longest)
        if not clipped.is_Integer:
            return None
        relation = t5_buckets(int(buckets), int(longest))
        return sp.Integer(relation.label(np.array([1]), np.array([1 + int(clipped)]))[0])


def bucket(offset: sp.Expr) -> sp.Expr:
    """Bucket of the causal model: that of D = j - i; a key after the query has the bucket of 0.  [P]"""
    return Bucket(sp.Max(offset, 0), BUCKETS, LONGEST)


def bidirectional_bucket(offset: sp.Expr) -> sp.Expr:
    """Bucket of the bidirectional model.

    Half of the buckets serve D = j - i >= 0, by D; the other half serve a key after the query, by -D.  [P]
    """
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
    laws=DISTANCE_LAWS,
    recovers=_RECOVERS,
)
"""T5 bias of the decoder, causal."""

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
    laws=DISTANCE_LAWS,
    recovers=_RECOVERS,
)
"""T5 bias of the encoder; its relation covers keys up to the query."""
ENCODINGS = (ENCODING, BIDIRECTIONAL)
