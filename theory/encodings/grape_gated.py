"""GRAPE-A with gates: a linear bias whose slope depends on the query, the key, or both.

Source: GRAPE, arXiv 2512.07805, gated additive forms.  The paper's query is at i and its key at j; here j is the query.
"""

import sympy as sp

from lengthgen.theory.encodings.encoding import (
    DISTANCE_LAWS,
    HEAD_DIM,
    HEADS,
    LAYERS,
    ONE_LAW,
    Encoding,
    Family,
    Option,
    Parameter,
)
from lengthgen.theory.encodings.links import softplus
from lengthgen.theory.relation import relative

SLOPE = sp.Symbol("omega", positive=True)
QUERY_GATES = sp.IndexedBase("lambda_q", positive=True)
KEY_GATES = sp.IndexedBase("lambda_k", positive=True)


def bias(
    slope: sp.Expr, *, query_gate: sp.Expr, key_gate: sp.Expr, query_position: sp.Expr, key_position: sp.Expr
) -> sp.Expr:
    """Bias -omega (j - i) (lambda_q + lambda_k); a gate that a variant does not use is 0.  [P]"""
    return -slope * (query_position - key_position) * (query_gate + key_gate)


def query_features(position: sp.Expr, gate: sp.Expr) -> sp.Matrix:
    """Query features (-j lambda_q, lambda_q, -j, 1), 4 x 1.  [P]

    Their scalar product with `key_features` is a bias of slope 1.
    """
    return sp.Matrix([-position * gate, gate, -position, 1])


def key_features(position: sp.Expr, gate: sp.Expr) -> sp.Matrix:
    """Key features (1, i, lambda_k, i lambda_k), 4 x 1.  [P]"""
    return sp.Matrix([1, position, gate, position * gate])


def gate(along: sp.Expr) -> sp.Expr:
    """Gate softplus(w . x / sqrt d) of a query or a key x; `along` is w . x / sqrt d, and |w| = 1.  [P]"""
    return softplus(along)


def _gate_parameter(family: sp.IndexedBase, vector: str) -> Parameter:
    """Parameter for a family of gates."""
    return Parameter(
        symbol=family,
        meaning=f"`gate` of w . {vector} / sqrt d, w of length 1 and trained",
        learned=LAYERS * HEADS * HEAD_DIM,
        family=Family.CONTENT,
        domain=sp.S.EmptySet,
    )


ENCODING = Encoding(
    name="grape-gated",
    title="GRAPE-A, gated by query and key",
    arxiv="2512.07805",
    summary="linear in the distance, gated (GRAPE-A)",
    options={"gates": Option(default="both", words=("both", "query", "key"))},
    relation=relative(),
    caveat=ONE_LAW,
    parameters=(
        Parameter(symbol=SLOPE, meaning="ALiBi's slope times softplus of a trained number", learned=LAYERS * HEADS),
        _gate_parameter(QUERY_GATES, "q_j"),
        _gate_parameter(KEY_GATES, "k_i"),
    ),
    bias=lambda query_position, key_position, _: bias(
        SLOPE,
        query_gate=QUERY_GATES[query_position],
        key_gate=KEY_GATES[key_position],
        query_position=query_position,
        key_position=key_position,
    ),
    laws=DISTANCE_LAWS,
)
"""GRAPE-A with gates; it never equals ALiBi.

A gate increases with the content along w, and w has length 1, so it cannot be 0 (claim grape-gated).
"""
ENCODINGS = (ENCODING,)
