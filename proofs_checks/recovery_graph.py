"""Graph of exact recoveries: which encoding contains which other one, and which does not; a claim decides each edge."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthgen.theory.encodings.catalogue import with_formulas
from lengthgen.theory.encodings.encoding import Recovery

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class NonEdge:
    """An encoding that does not contain another, although it may seem so: the reason, and the claim that decides it."""

    by: str
    of: str
    reason: str
    claim: str


COMPLEX = ("hope", "rope", "hope-6-complex")
"""The one edge that needs complex parameters: general encoding, special encoding, claim."""

_BOTH_SIDES = "alibi on both sides"

NON_EDGES = (
    NonEdge(by="hope", of="rope", reason="real parameters decay, they do not turn", claim="hope-6-real"),
    NonEdge(by="t5", of="alibi", reason="distances 16 and 17 share a bucket", claim="t5-5"),
    NonEdge(by="grape-additive", of=_BOTH_SIDES, reason="-m|j - i| on both sides has full rank", claim="alibi-7"),
    NonEdge(
        by="grape-path", of="grape-gated", reason="a gate may lower the bias of a nearer key", claim="grape-15-monotone"
    ),
    NonEdge(by="grape-gated", of="alibi", reason="its slopes rise with the content", claim="grape-gated"),
    NonEdge(by="bam", of="rope", reason="what it adds for a distance is the same for all contents", claim="bam-10"),
    NonEdge(by="bam-ssmax", of="alibi", reason="its slope grows with the number of keys", claim="bam-9"),
    NonEdge(
        by="cable-gated", of="alibi", reason="ReLU of a content or its opposite is 0", claim="cable-3-without-bias"
    ),
    NonEdge(by="wavelet", of="alibi", reason="it adds at most |q|_1, and ALiBi is unbounded", claim="wavelet-6"),
    NonEdge(by="kerple-power", of="t5", reason="strictly falling, where T5 is constant on a bucket", claim="kerple-t5"),
    NonEdge(by="swat", of="alibi", reason="a constant of a row changes its weights", claim="swat-5"),
    NonEdge(by="swat", of="rope", reason="the weight of a key ignores the other keys", claim="swat-3"),
)


def _kind(recovery: Recovery) -> str:
    """Value of the edge attribute `kind` for a recovery."""
    if recovery.function:
        return "function"
    if recovery.within:
        return "within"
    if recovery.at:
        return "some"
    return "exact" if recovery.attained else "limit"


def _reason(recovery: Recovery) -> str:
    """Text on why or for which parameters only the recovery holds; empty if it holds without restriction."""
    if recovery.function:
        return "by some function, not by the network"
    if recovery.weights_only:
        return "up to a number that all keys of a query share"
    return ", ".join(f"only for {symbol} = {value}" for symbol, value in recovery.at.items())


def lattice() -> "nx.MultiDiGraph":
    """Return the graph with edges from the general to the special encoding.

    Node attribute: `title`.

    Edge attributes:

    - `kind`: "exact", "some" (only for some parameters of the special encoding), "limit" (only at the edge of the
      domain of the general encoding's parameters), "within" (up to the trained length), "function" (equal if a suitable
      function replaces the network), "complex" or "impossible".
    - `claim`: id of the claim that decides the edge.
    - `reason`: why the edge is impossible, or in which case it holds.
    """
    import networkx as nx  # slow to import, and no claim needs it

    graph = nx.MultiDiGraph()
    for encoding in with_formulas():
        graph.add_node(encoding.name, title=encoding.title)
    for encoding in with_formulas():
        for recovery in encoding.recovers:
            claim = f"recovery-{encoding.name}-{recovery.of}"
            graph.add_edge(encoding.name, recovery.of, kind=_kind(recovery), claim=claim, reason=_reason(recovery))
    graph.add_node(_BOTH_SIDES, title="ALiBi, keys on both sides")
    by, of, claim = COMPLEX
    graph.add_edge(by, of, kind="complex", claim=claim, reason="complex parameters and basis")
    for non_edge in NON_EDGES:
        graph.add_edge(non_edge.by, non_edge.of, kind="impossible", claim=non_edge.claim, reason=non_edge.reason)
    return graph
