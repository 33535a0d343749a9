"""Formulas that the claims of several papers compare with."""

import sympy as sp

from lengthgen.proofs_checks.facts import Formula
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import LENGTH, Encoding


def alibi(distance: sp.Expr, slope: sp.Expr = biases.ALIBI_SLOPE) -> sp.Expr:
    """ALiBi's bias of a key at this distance before the query."""
    return biases.alibi_bias(slope, query_position=distance, key_position=sp.S.Zero)


def bias_of(encoding: Encoding) -> Formula:
    """Bias of an encoding as a function of query and key position, for sequences of n tokens."""
    bias = encoding.bias
    assert bias is not None
    return lambda query, key: bias(query, key, LENGTH)
