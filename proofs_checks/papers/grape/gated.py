"""Gated GRAPE-A (arXiv 2512.07805): the bias as a scalar product of a few features, for streaming."""

from collections.abc import Mapping

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.grape.source import source
from theory.encodings import grape_gated
from theory.encodings.encoding import KEY, QUERY

VARIANTS = {"query and key": (1, 1), "query": (1, 0), "key": (0, 1)}
"""Which of the query's and the key's gate each variant has."""
EXAMPLE_SIZE = 6


def streaming_rank(*, ranks: Mapping[str, int]) -> Evidence:
    """Decide the least number of features, of query and key apart, whose scalar product is the bias."""
    position, key, query_gate, key_gate, slope = sp.symbols("j i lambda_q lambda_k omega", positive=True)
    facts = [
        require_equal(
            "bias = omega (query features).(key features)",
            grape_gated.bias(
                slope, query_gate=query_gate, key_gate=key_gate, query_position=position, key_position=key
            ),
            slope * grape_gated.query_features(position, query_gate).dot(grape_gated.key_features(key, key_gate)),
        ),
        _encoded(),
    ]
    for variant, claimed in ranks.items():
        by_query, by_key = VARIANTS[variant]
        on_query = grape_gated.query_features(position, by_query * query_gate)
        on_key = grape_gated.key_features(key, by_key * key_gate)
        features = sum(1 for one, other in zip(on_query, on_key, strict=True) if one * other != 0)
        rank = _rank_of_example(by_query, by_key)
        if not rank <= claimed <= features:
            raise Refuted(
                f"gated by {variant}: rank {rank} in an example, {features} features are enough, not {claimed}"
            )
        facts.append(
            f"gated by {variant}: {features} features, and a {EXAMPLE_SIZE} x {EXAMPLE_SIZE} example of that rank"
        )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("the law at all pairs, keys after the query too: the causal mask is applied by the streaming",),
    )


def _encoded() -> str:
    """The fact that the symbolic encoding adds this bias."""
    position, key = sp.symbols("j i", integer=True)
    gates = grape_gated.QUERY_GATES[position], grape_gated.KEY_GATES[key]
    names = sp.symbols("lambda_q lambda_k", positive=True)
    bias = grape_gated.ENCODING.score(query_position=position, key_position=key) - QUERY.dot(KEY)
    stated = -grape_gated.SLOPE * (position - key) * (names[0] + names[1])
    return require_equal("the encoding's bias", bias.xreplace(dict(zip(gates, names, strict=True))), stated)


def _rank_of_example(by_query: int, by_key: int) -> int:
    """The rank of the bias at positions 0, 1, .. with gates 1, 4, 9, ... of queries and 1, 8, 27, ... of keys."""
    places = range(EXAMPLE_SIZE)
    matrix = sp.Matrix(
        EXAMPLE_SIZE,
        EXAMPLE_SIZE,
        lambda j, i: grape_gated.bias(
            sp.Integer(1),
            query_gate=sp.Integer(by_query * (j + 1) ** 2),
            key_gate=sp.Integer(by_key * (i + 1) ** 3),
            query_position=sp.Integer(places[j]),
            key_position=sp.Integer(places[i]),
        ),
    )
    return int(DomainMatrix.from_Matrix(matrix).to_field().rank())


CLAIMS = (
    Claim(
        id="grape-17",
        source=source("streaming form of the gated additive bias"),
        statement="The bias of GRAPE-A gated by query and key is a scalar product of 4 features, gated by one of them "
        "of 2, and there are gates for which fewer do not suffice.",
        latex=r"-(j-i)(\lambda^q_j+\lambda^k_i)=[-j\lambda^q_j,\lambda^q_j,-j,1]\cdot[1,i,\lambda^k_i,i\lambda^k_i]",
        label="P",
        check=streaming_rank,
        holds={"ranks": {"query and key": 4, "query": 2, "key": 2}},
        falsifiers={
            "two features for query and key": {"ranks": {"query and key": 2, "query": 2, "key": 2}},
            "one feature for the key": {"ranks": {"query and key": 4, "query": 2, "key": 1}},
            "four features for the query": {"ranks": {"query and key": 4, "query": 4, "key": 2}},
        },
    ),
)
