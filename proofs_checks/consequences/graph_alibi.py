"""Graph ALiBi: relabelling of nodes, closed forms on paths and cycles, and the axioms of a metric.

The graphs here are those on which the claims are decided, with distances that are wrong in some way.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, compress, product
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Strength, Unsettled
from lengthgen.proofs_checks.facts import Formula, same_by_sympy
from lengthgen.proofs_checks.formulas import bias_of
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.graph_alibi import SOURCE, edges_text
from lengthgen.theory import laws
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import LENGTH, Law, Recovery
from lengthgen.theory.graph_distances import shortest_distances

if TYPE_CHECKING:
    import networkx as nx

CLAIMS = PaperClaims(SOURCE)
Distances = NDArray[np.int64]
DistancesOf = Callable[["nx.Graph"], Distances]
MOST_NODES = 6
"""Largest number of nodes of the graphs that exhaustive checks go through up to isomorphism."""
_MOST_ORDERED = 5
"""Largest number of nodes of the graphs that are gone through with their nodes in every order."""
_LARGEST = 9
"""Largest path or cycle that a closed form is compared with, in search of a counterexample."""
_STEPS, _MORE, _NODE = sp.symbols("t a u", integer=True, nonnegative=True)
_SAMENESS = (
    "a function f of the nodes is the distance from u if f(u) = 0, f differs by at most 1 along every edge (so no path "
    "is shorter), and every other node has a neighbour with f less by 1 (so a path of this length exists)"
)


@cache
def all_graphs() -> "tuple[nx.Graph, ...]":
    """Return all graphs of 1 to MOST_NODES nodes up to isomorphism, 208 of them, with nodes 0 .. n - 1."""
    import networkx as nx  # slow to import, and few claims need it

    return tuple(graph for graph in nx.graph_atlas_g() if 0 < len(graph) <= MOST_NODES)


def _ordered_graphs() -> "Iterator[nx.Graph]":
    """Yield all graphs of 1 to _MOST_ORDERED nodes 0 .. n - 1, isomorphic or not."""
    import networkx as nx

    for count in range(1, _MOST_ORDERED + 1):
        pairs = [*combinations(range(count), 2)]
        for kept in product((False, True), repeat=len(pairs)):
            graph = nx.empty_graph(count)
            graph.add_edges_from(compress(pairs, kept))
            yield graph


def by_order(graph: "nx.Graph") -> Distances:
    """Difference of the nodes' numbers in place of their distance."""
    return np.abs(np.subtract.outer(np.arange(len(graph)), np.arange(len(graph))))


def depth_first(graph: "nx.Graph") -> Distances:
    """Depth of v in the depth-first tree from u in place of the distance; -1 if no path joins them."""
    import networkx as nx

    depths = np.full((len(graph), len(graph)), -1, dtype=np.int64)
    for root in graph:
        tree = nx.dfs_tree(graph, root, sort_neighbors=sorted)
        for node, depth in nx.single_source_shortest_path_length(tree, root).items():
            depths[root, node] = depth
    return depths


@CLAIMS.claim(
    "graph-alibi-1",
    "",
    r"b_{\pi G}(\pi u,\pi v)=b_G(u,v)",
    assumptions=("distances of pairs are free numbers that move with their nodes",),
    falsifiers={
        "the difference of the nodes' numbers": {"hops": lambda query, key, length: abs(query - key)},
        "the hops of the node after the query": {"hops": lambda j, i, length: biases.HOPS[j + 1, i, length]},
    },
)
def equivariant(hops: Formula | None = None) -> Facts:
    """A permutation of the nodes of any graph permutes the scores of graph ALiBi, and an automorphism leaves the biases
    as they are.
    """
    encoding = biases.GRAPH_ALIBI
    if hops is not None:
        encoding = replace(encoding, bias=lambda *at: biases.graph_alibi_bias(biases.ALIBI_SLOPE, hops=hops(*at)))
    ruling = laws.decide_law(encoding, Law.RELABELLING)
    refute(ruling.holds is False, ruling.reason)
    if ruling.holds is None:
        raise Unsettled(ruling.reason)
    yield f"score after = score before, for two nodes in either order and for one node: {ruling.reason}"
    yield "a permutation takes the paths of a graph to those of its image, so hops move with the nodes"
    yield "an automorphism has the graph itself as its image, so it leaves every bias as it is"


@CLAIMS.claim(
    "graph-alibi-1-graphs",
    "",
    r"d_{\pi G}(\pi u,\pi v)=d_G(u,v)",
    strength=Strength.EXHAUSTIVE,
    reach=f"at most {_MOST_ORDERED} nodes",
    falsifiers={
        "the difference of the nodes' numbers": {"distances": by_order},
        "the depth in a depth-first tree": {"distances": depth_first},
    },
)
def equivariant_graphs(distances: DistancesOf = shortest_distances) -> Facts:
    """Shortest-path distances move with the nodes under every permutation. Decided on all graphs with at most 5
    nodes.
    """
    graphs = {(len(graph), *sorted(graph.edges)): graph for graph in _ordered_graphs()}
    values, checked = {edges: distances(graph) for edges, graph in graphs.items()}, 0
    for (count, *edges), before in values.items():
        for node in range(count - 1):
            order = [{node: node + 1, node + 1: node}.get(place, place) for place in range(count)]
            swapped = sorted((min(order[u], order[v]), max(order[u], order[v])) for u, v in edges)
            after = values[count, *swapped][order][:, order]
            for u, v in np.argwhere(after != before):
                exchanged = f"{count} nodes, edges {edges}, {node} and {node + 1} exchanged"
                refute(True, f"{exchanged}: nodes {u} and {v} are at {after[u, v]}, not {before[u, v]}")
            checked += 1
    yield f"{len(graphs)} graphs with numbered nodes, {checked} swaps of neighbouring numbers, so all permutations"


def _compare(kind: str, form: Formula) -> None:
    """Raise `Refuted` if the form is not the distance in some small path or cycle."""
    import networkx as nx

    for count in range(3, _LARGEST + 1):
        right = shortest_distances({"path": nx.path_graph, "cycle": nx.cycle_graph}[kind](count))
        for u, v in product(range(count), repeat=2):
            value = form(sp.Integer(u), sp.Integer(v), sp.Integer(count))
            wrong = value != right[u, v]
            refute(wrong, f"{kind} of {count} nodes: {u} and {v} are {right[u, v]} apart, not {value}")


def _around(u: sp.Expr, v: sp.Expr, nodes: sp.Expr) -> sp.Expr:
    return sp.Min(abs(u - v), nodes - abs(u - v))


@CLAIMS.claim(
    "graph-alibi-2-path",
    "",
    r"d_{P_n}(u,v)=|u-v|",
    assumptions=("nodes numbered along the path",),
    falsifiers={
        "keys before the query only": {"form": lambda u, v, nodes: sp.Max(u - v, 0)},
        "the square": {"form": lambda u, v, nodes: (u - v) ** 2},
        "the way around, as in a cycle": {"form": _around},
    },
)
def on_path(form: Formula = biases.PATH_HOPS) -> Facts:
    """In a path the distance of nodes u and v is |u - v|, so graph ALiBi is ALiBi with keys on both sides."""
    _compare("path", form)
    ahead, behind = _NODE + _STEPS, _NODE + _STEPS + 1
    recovered, alibi = bias_of(biases.GRAPH_ALIBI), bias_of(biases.ALIBI)
    yield _SAMENESS
    yield same_by_sympy("f(u)", form(_NODE, _NODE, LENGTH), sp.S.Zero)
    for side, far, near in (
        ("after u: f(v + 1) - f(v)", form(_NODE, behind, LENGTH), form(_NODE, ahead, LENGTH)),
        ("before u: f(v - 1) - f(v)", form(behind, _NODE, LENGTH), form(ahead, _NODE, LENGTH)),
    ):
        yield same_by_sympy(side, far - near, sp.S.One)
    hops = sp.Lambda(biases.PATH_HOPS.signature, form(*biases.PATH_HOPS.variables))
    values = Recovery(of="alibi", assignment={biases.HOPS: hops})
    for side, query, key in (("before", ahead, _NODE), ("after", _NODE, ahead)):
        on_graph = laws.assigned(recovered(query, key), values)
        yield same_by_sympy(f"bias, key {side} the query", on_graph, alibi(query, key))


@CLAIMS.claim(
    "graph-alibi-2-cycle",
    "",
    r"d_{C_n}(u,v)=\min(|u-v|,\,n-|u-v|)",
    assumptions=("nodes numbered along the cycle, n >= 3",),
    falsifiers={
        "|u - v|": {"form": biases.PATH_HOPS},
        "one node more on the way around": {"form": lambda u, v, nodes: _around(u, v, nodes + 1)},
    },
)
def on_cycle(form: Formula = _around) -> Facts:
    """In a cycle of n >= 3 nodes, numbered along it, the distance of u and v is min(|u - v|, n - |u - v|)."""
    _compare("cycle", form)
    n, t = sp.Symbol("n", integer=True, positive=True), _STEPS
    left = t + 1

    def from_zero(node: sp.Expr, count: sp.Expr) -> sp.Expr:
        return form(sp.S.Zero, node, count)

    odd, rising, falling = 2 * t + 1, 2 * t + 2 + _MORE, 2 * left + _MORE
    wrapped = form(_NODE + left, _NODE, n)
    over_the_end = from_zero(left + _MORE + 1, falling) - from_zero(left + _MORE, falling)
    yield _SAMENESS
    for what, value, expected in (
        ("t steps on from u, without a wrap: as from node 0", form(_NODE, _NODE + t, n), from_zero(t, n)),
        ("t steps on from u = v + n - t, with a wrap to v: as from node 0", wrapped, from_zero(left, n)),
        ("n - t steps are t steps back", from_zero(left, left + _MORE), from_zero(_MORE, left + _MORE)),
        ("f(0)", from_zero(sp.S.Zero, n), sp.S.Zero),
        ("n = 2t + 2 + a: f(t + 1) - f(t)", from_zero(t + 1, rising) - from_zero(t, rising), sp.S.One),
        ("n = 2t + 1: f(t + 1) - f(t)", from_zero(t + 1, odd) - from_zero(t, odd), sp.S.Zero),
        ("n = 2s + a, s > 0, t = s + a: f(t + 1) - f(t), where t + 1 = n is node 0", over_the_end, sp.Integer(-1)),
    ):
        yield same_by_sympy(what, value, expected)
    yield "so f differs by at most 1 along every edge, and falls towards node 0 by one of its two sides"


@CLAIMS.claim(
    "graph-alibi-3",
    "",
    r"d(u,w)\le d(u,v)+d(v,w),\quad d(u,v)=d(v,u)",
    strength=Strength.EXHAUSTIVE,
    reach=f"at most {MOST_NODES} nodes",
    falsifiers={
        "the square of the distance": {"distances": lambda graph: shortest_distances(graph) ** 2},
        "the depth in a depth-first tree": {"distances": depth_first},
        "all distances 0": {"distances": lambda graph: 0 * shortest_distances(graph)},
    },
)
def metric(distances: DistancesOf = shortest_distances) -> Facts:
    """The distance of nodes is a metric on each component: symmetric, 0 only from a node to itself, and no longer than
    any detour. Decided on all graphs with at most 6 nodes, up to isomorphism.
    """
    triples = 0
    for graph in all_graphs():
        hops, text = distances(graph), edges_text(graph)
        joined = shortest_distances(graph) >= 0
        for u, v in np.argwhere(joined):
            there, back = hops[u, v], hops[v, u]
            refute(there != back, f"{text}: {u} to {v} is {there}, and back {back}")
            refute((there > 0) != (u != v), f"{text}: {u} and {v} are {there} apart")
            for w in np.flatnonzero(joined[v]):
                triples += 1
                refute(hops[u, w] > there + hops[v, w], f"{text}: {hops[u, w]} from {u} to {w}, less by {v}")
    yield f"{len(all_graphs())} graphs, {triples} triples: symmetric, 0 only from a node to itself, triangle inequality"
