"""How many extra numbers must a key-value cache store per key under each encoding?

The answer is decided from the formula of the encoding's bias.
"""

from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

from lengthgen.proofs_checks import mutations
from lengthgen.proofs_checks.claim import Claim, Evidence, Parameters, Refuted, Source, Strength, Unsettled
from lengthgen.proofs_checks.mutations import Formulas
from lengthgen.proofs_checks.papers.matrix import ROWS
from lengthgen.theory import cacheability
from lengthgen.theory.encodings import alibi, grape_gated, grape_path, t5
from lengthgen.theory.encodings.catalogue import named, with_formulas
from lengthgen.theory.encodings.encoding import Encoding


def width(*, name: str, formulas: Formulas, stated: str) -> Evidence:
    """Decide the least width r at which the bias is a product of cacheable per-token vectors: b(j, i) = u_j . v_i."""
    caching = cacheability.caching(formulas(named(name)))
    if caching.cases is None:
        raise Unsettled(caching.reason)
    if str(caching) != stated:
        raise Refuted(f"the width is {caching}, not {stated}: {caching.reason}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(f"width {caching}: {caching.reason}",),
        assumptions=(
            "gates, edges and table entries are free numbers; the width is for generic values of parameters",
            "a key's vector may hold what the tokens before it have summed up to",
        ),
    )


def _statement(stated: str) -> str:
    """Statement for a width: "none", a number, or widths by case of a parameter."""
    if stated == "none":
        return (
            "its logits are not products of per-token vectors of a fixed width that never change as the sequence grows"
        )
    if stated == "0":
        return "a cached key, stored after the encoding's action on it, needs no numbers beside its content"
    if ":" in stated:
        return f"a cached key needs this many numbers beside its content: {stated}"
    return f"a cached key needs {stated} numbers beside its content, and fewer do not suffice"


_LINEAR = mutations.with_bias_replaced(
    lambda query, key: alibi.bias(alibi.SLOPE, query_position=query, key_position=key)
)
_SHARED_EDGES = mutations.with_bias_replaced(lambda query, key: grape_path.increments(query=query, key=key))
_SEEN_EDGES = mutations.with_bias_replaced(lambda query, key: grape_path.bias(query=query, key=key))
_SQUARED = mutations.with_bias(lambda query, key, length: -((query - key) ** 2))
_LOGARITHM = mutations.with_bias(lambda query, key, length: -sp.log(1 + query - key))
_BY_QUERY_ALONE = mutations.with_bias_replaced(
    lambda query, key: -grape_gated.SLOPE * (query - key) * grape_gated.QUERY_GATES[query]
)
_SIXTEEN = mutations.with_bias_replaced(lambda query, key: t5.WEIGHTS[t5.Bucket(query - key, 16, 64)])


def _falsifiers(encoding: Encoding) -> Mapping[str, Parameters]:
    """Falsifiers: formulas for which the width is a different one."""
    own: Mapping[str, tuple[str, Formulas]] = {
        "dynamic-ntk": ("the formulas of one length at all lengths", mutations.at_fixed_length),
        "legendre": ("the formulas of one length at all lengths", mutations.at_fixed_length),
        "wavelet": ("keys without the vectors", mutations.with_vectors_dropped),
        "grape-path": ("edges that no query changes", _SHARED_EDGES),
        "graph-alibi": (
            "causal attention with the bias of ALiBi",
            lambda record: _LINEAR(replace(record, causal=True)),
        ),
        "grape-gated": ("without the gates of keys", _BY_QUERY_ALONE),
        "t5": ("16 buckets up to distance 64", _SIXTEEN),
        "t5-bidirectional": ("16 buckets up to distance 64", _SIXTEEN),
    }
    mutated: list[tuple[str, Formulas]]
    if encoding.drawn_from and not encoding.consecutive:
        mutated = [("tokens at their own indices", mutations.with_drawn_positions_dropped)]
    elif encoding.name in own:
        mutated = [own[encoding.name]]
    elif encoding.bias is None:
        mutated = [("a bias of -(j - i)^2", _SQUARED), ("a bias of -log(1 + D)", _LOGARITHM)]
    elif ROWS[encoding.name].width.isdigit():
        mutated = [("-(j - i)^2 more", _SQUARED), ("edges that the query sees in its own way", _SEEN_EDGES)]
    else:
        mutated = [("the bias of ALiBi", _LINEAR)]
    return {name: {"formulas": formulas} for name, formulas in mutated}


def _claim(encoding: Encoding) -> Claim:
    """Claim on the width of one encoding."""
    stated = ROWS[encoding.name].width
    return Claim(
        id=f"cache-{encoding.name}",
        source=Source(paper=encoding.title, arxiv=encoding.arxiv, place="what follows from its formulas"),
        statement=f"{encoding.title}: {_statement(stated)}.",
        latex=r"b(j,i)=u_j\cdot v_i,\quad u_j,v_i\in\mathbb{R}^r\ \text{fixed once}\ j\ \text{is read}",
        label="F",
        check=width,
        holds={"name": encoding.name, "formulas": mutations.unchanged, "stated": stated},
        answers=("stated",),
        falsifiers=_falsifiers(encoding),
    )


CLAIMS = tuple(_claim(encoding) for encoding in with_formulas() if encoding.name in ROWS)
