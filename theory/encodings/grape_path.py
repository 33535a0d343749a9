"""GRAPE-AP: the bias of a key is a sum of edge potentials on the path from the key to the query.

An edge potential depends on the query and on a token of the path.

Source: GRAPE, arXiv 2512.07805, path-integral additive form.  The paper's query is at t and its key at j; here j is the
query, i the key, l a token on the path.
"""

from collections.abc import Callable

import sympy as sp

from lengthgen.theory.encodings import alibi, rotary
from lengthgen.theory.encodings.encoding import (
    DEPENDS_ON_TOKENS,
    HEADS,
    LAYERS,
    ONE_LAW,
    WIDTH,
    Encoding,
    Family,
    Law,
    Parameter,
    Recovery,
)
from lengthgen.theory.encodings.links import log_sigmoid

SLOPE = sp.Symbol("alpha", positive=True)
EDGES = sp.IndexedBase("psi", negative=True)
INCREMENTS = sp.IndexedBase("a", real=True)
PROBE_DIM = 8
"""Dimension of the probe vectors p in the published runs.  [P]"""
_STEP = sp.Symbol("l", integer=True)


def path(*, query: sp.Expr, key: sp.Expr, until: sp.Expr) -> sp.Sum:
    """Sum of psi(j, l) over i < l <= until, as an unevaluated sum in `EDGES`.  [P]

    For the bias, `until` is the query position.
    """
    return sp.Sum(EDGES[query, _STEP], (_STEP, key + 1, until))


def bias(*, query: sp.Expr, key: sp.Expr) -> sp.Sum:
    """Bias b(j, i) = sum of psi(j, l) over i < l <= j.  [P]"""
    return path(query=query, key=key, until=query)


def edge(row: Callable[[sp.Expr], sp.Expr], token: sp.Expr) -> sp.Expr:
    """Edge potential psi(j, l) = b(j, l - 1) - b(j, l) into l; `row` is a row of biases, key -> b(j, key).  [F]"""
    return row(token - 1) - row(token)


def affinity(
    query_probe: sp.Matrix, token_probe: sp.Matrix, *, query_position: sp.Expr, token_position: sp.Expr
) -> sp.Expr:
    """Affinity <R_j p_j, R_l p_l> on one plane, R_t a rotation by t.  [F; the paper rotates p_l alone]"""
    return rotary.score(
        query_probe, token_probe, query_position=query_position, key_position=token_position, frequency=sp.Integer(1)
    )


def potential(affinity_: sp.Expr, *, slope: sp.Expr, probe_dim: sp.Expr) -> sp.Expr:
    """Edge potential psi = alpha log sigma(<p_j, p_l> / d_p), the scalar product summed over planes.  [P]"""
    return slope * log_sigmoid(affinity_ / probe_dim)


def increments(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """Sum of a_l over i < l <= j, for edge potentials that do not depend on the query.  [P]"""
    return sp.Sum(INCREMENTS[_STEP], (_STEP, key + 1, query))


def prefix(position: sp.Expr) -> sp.Sum:
    """Prefix sum A_u = sum of a_l over 0 <= l <= u; the path from i to j is A_j - A_i.  [F; the paper prints l < u]"""
    return sp.Sum(INCREMENTS[_STEP], (_STEP, 0, position))


CONTENT_FREE = potential(sp.Integer(0), slope=SLOPE, probe_dim=sp.Integer(PROBE_DIM))
"""Potential -alpha log 2 of every edge if W = 0; no other value is the same for all content.  [F]"""

ENCODING = Encoding(
    name="grape-path",
    title="GRAPE-AP",
    arxiv="2512.07805",
    aliases=("grape-ap",),
    summary="sums of edge potentials (GRAPE-AP)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    parameters=(
        Parameter(
            symbol=EDGES,
            meaning="potential of the edge into l for the query j, from probes W x_j and W x_l; ALiBi's slopes",
            learned=LAYERS * HEADS * PROBE_DIM * WIDTH,
            family=Family.TOKENS,
            domain=sp.FiniteSet(CONTENT_FREE),
        ),
        Parameter(symbol=SLOPE, meaning="ALiBi's slope of the head"),
    ),
    bias=lambda query_position, key_position, _: bias(query=query_position, key=key_position),
    laws=(Law.TRANSLATION, Law.NORM, Law.STREAMING),
    recovers=(Recovery(of="alibi", assignment={EDGES: CONTENT_FREE}, at={alibi.SLOPE: -CONTENT_FREE}),),
)
ENCODINGS = (ENCODING,)
