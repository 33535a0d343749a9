"""Graph ALiBi: an attention bias that falls linearly with the number of hops between two nodes of a graph.

The tokens are the nodes, for example the atoms of a molecule, and attention is bidirectional.  Source: Gurev and
Rumbell, S23D, arXiv 2506.19834.  Only its abstract and notes on it were within reach: the slopes are ALiBi's, and nodes
of different components do not attend to each other [F].
"""

import sympy as sp

from lengthgen.theory.encodings.alibi import SLOPE
from lengthgen.theory.encodings.encoding import ONE_LAW, Encoding, Family, Law, Parameter, Recovery

HOPS = sp.IndexedBase("hops", integer=True, nonnegative=True)
"""Distances: HOPS[u, v, n] is the length of a shortest path between the nodes u and v of a graph of n nodes."""
_NODE, _OTHER_NODE, _NODES = sp.symbols("u v n_", integer=True, nonnegative=True)
PATH = sp.Lambda((_NODE, _OTHER_NODE, _NODES), abs(_NODE - _OTHER_NODE))
"""Distances in a path whose nodes are numbered along it."""


def bias(slope: sp.Expr, *, hops: sp.Expr) -> sp.Expr:
    """Bias -m d_G(u, v), with d_G(u, v) = `hops`.  [P]"""
    return -slope * hops


ENCODING = Encoding(
    name="graph-alibi",
    title="Graph ALiBi",
    arxiv="2506.19834",
    summary="linear in the hops of a graph (graph ALiBi)",
    caveat=ONE_LAW,
    no_relation="its labels are distances in a graph that is given with the tokens, and a task gives none",
    parameters=(
        Parameter(symbol=SLOPE, meaning="slope of the head, from `alibi.slopes`"),
        Parameter(symbol=HOPS, meaning="hops between two nodes of the graph, symmetric", family=Family.STRUCTURE),
    ),
    bias=lambda query_position, key_position, length: bias(SLOPE, hops=HOPS[query_position, key_position, length]),
    causal=False,
    laws=(Law.TRANSLATION, Law.NORM, Law.RELABELLING),
    recovers=(Recovery(of="alibi", assignment={HOPS: PATH}),),
)
ENCODINGS = (ENCODING,)
