"""Graph ALiBi: relabelling of nodes, closed forms on paths and cycles, and the axioms of a metric.

The graphs here are those on which the claims are decided, with distances that are wrong in some way.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Refuted, Source, Strength, Unsettled
from lengthgen.proofs_checks.facts import same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory import laws
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import LENGTH, Law, Recovery
from lengthgen.theory.graph_distances import shortest_distances

if TYPE_CHECKING:
    import networkx as nx

SOURCE = Source(paper="Graph ALiBi (S23D)", arxiv="2506.19834", place="bias by graph distance")
Distances = NDArray[np.int64]
MOST_NODES = 6
"""Largest number of nodes of the graphs that exhaustive checks go through."""
Bias = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
DistancesOf = Callable[["nx.Graph"], Distances]
Form = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""Distance of the nodes u and v among n nodes, as a formula."""
_LARGEST = 9
"""Largest path or cycle that a closed form is compared with, in search of a counterexample."""
_STEPS, _MORE = sp.symbols("t a", integer=True, nonnegative=True)
_NODE = sp.Symbol("u", integer=True, nonnegative=True)
_SAMENESS = (
    "a function f of the nodes is the distance from u if f(u) = 0, f differs by at most 1 along every edge (so no path "
    "is shorter), and every other node has a neighbour with f less by 1 (so a path of this length exists)"
)


@cache
def all_graphs() -> "tuple[nx.Graph, ...]":
    """Return all graphs of 1 to MOST_NODES nodes up to isomorphism, 208 of them, with nodes 0 .. n - 1."""
    import networkx as nx  # slow to import, and few claims need it

    return tuple(graph for graph in nx.graph_atlas_g() if 0 < len(graph) <= MOST_NODES)


def swapped(graph: "nx.Graph", node: int) -> "nx.Graph":
    """Return the graph with the names of `node` and `node + 1` exchanged; its nodes are 0 .. n - 1 in this order."""
    import networkx as nx

    names = {node: node + 1, node + 1: node}
    other = nx.empty_graph(len(graph))
    other.add_edges_from((names.get(u, u), names.get(v, v)) for u, v in graph.edges)
    return other


def edges_text(graph: "nx.Graph") -> str:
    """Text with the number of nodes and the edges."""
    return f"{len(graph)} nodes, edges {sorted(graph.edges)}"


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


def squared(graph: "nx.Graph") -> Distances:
    """Square of the distance; 1 for nodes that no path joins."""
    return shortest_distances(graph) ** 2


if TYPE_CHECKING:
    import networkx as nx


def _places() -> tuple[sp.Expr, ...]:
    """Arguments of a formula of distances."""
    return tuple(biases.PATH_HOPS.variables)


def _compare(kind: str, form: Form) -> None:
    """Raise `Refuted` if the form is not the distance in some small path or cycle."""
    import networkx as nx

    make = {"path": nx.path_graph, "cycle": nx.cycle_graph}[kind]
    for count in range(3, _LARGEST + 1):
        right = shortest_distances(make(count))
        for u in range(count):
            for v in range(count):
                value = form(sp.Integer(u), sp.Integer(v), sp.Integer(count))
                if value != right[u, v]:
                    raise Refuted(f"{kind} of {count} nodes: {u} and {v} are {right[u, v]} apart, not {value}")


def _index_difference(query: sp.Expr, key: sp.Expr, length: sp.Expr) -> sp.Expr:
    return biases.graph_alibi_bias(biases.ALIBI_SLOPE, hops=abs(query - key))


def _next_query(query: sp.Expr, key: sp.Expr, length: sp.Expr) -> sp.Expr:
    return biases.graph_alibi_bias(biases.ALIBI_SLOPE, hops=biases.HOPS[query + 1, key, length])


def _around(u: sp.Expr, v: sp.Expr, nodes: sp.Expr) -> sp.Expr:
    return sp.Min(abs(u - v), nodes - abs(u - v))


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "graph-alibi-1",
    "",
    r"b_{\pi G}(\pi u,\pi v)=b_G(u,v)",
    assumptions=("distances of pairs are free numbers that move with their nodes",),
    falsifiers={
        "the difference of the nodes' numbers": {"bias": _index_difference},
        "the hops of the node after the query": {"bias": _next_query},
    },
)
def equivariant(bias: Bias | None = biases.GRAPH_ALIBI.bias) -> Facts:
    """A permutation of the nodes of any graph permutes the scores of graph ALiBi, and an automorphism leaves them as
    they are.
    """
    ruling = laws.decide_law(replace(biases.GRAPH_ALIBI, bias=bias), Law.RELABELLING)
    if ruling.holds is False:
        raise Refuted(ruling.reason)
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
    reach=f"at most {MOST_NODES} nodes",
    falsifiers={
        "the difference of the nodes' numbers": {"distances": by_order},
        "the depth in a depth-first tree": {"distances": depth_first},
    },
)
def equivariant_graphs(distances: DistancesOf = shortest_distances) -> Facts:
    """Shortest-path distances move with the nodes under every permutation. Decided on all graphs with at most 6
    nodes.
    """
    checked = 0
    for graph in all_graphs():
        before = distances(graph)
        for node in range(len(graph) - 1):
            order = [*range(len(graph))]
            order[node], order[node + 1] = order[node + 1], order[node]
            after = distances(swapped(graph, node))[order][:, order]
            if (after != before).any():
                u, v = (after != before).nonzero()
                raise Refuted(
                    f"{edges_text(graph)}, {node} and {node + 1} exchanged: nodes {u[0]} and {v[0]} are at "
                    f"{after[u[0], v[0]]}, not {before[u[0], v[0]]}"
                )
            checked += 1
    yield f"{len(all_graphs())} graphs, {checked} swaps of neighbouring numbers, which generate all permutations"


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
def on_path(form: Form = biases.PATH_HOPS) -> Facts:
    """In a path the distance of nodes u and v is |u - v|, so graph ALiBi is ALiBi with keys on both sides."""
    _compare("path", form)
    ahead, behind = _NODE + _STEPS, _NODE + _STEPS + 1
    recovered = biases.GRAPH_ALIBI.bias
    assert recovered is not None and biases.ALIBI.bias is not None
    yield _SAMENESS
    yield same_by_sympy("f(u)", form(_NODE, _NODE, LENGTH), sp.S.Zero)
    for side, far, near in (
        ("after u: f(v + 1) - f(v)", form(_NODE, behind, LENGTH), form(_NODE, ahead, LENGTH)),
        ("before u: f(v - 1) - f(v)", form(behind, _NODE, LENGTH), form(ahead, _NODE, LENGTH)),
    ):
        yield same_by_sympy(side, far - near, sp.S.One)
    values = Recovery(of="alibi", assignment={biases.HOPS: sp.Lambda(biases.PATH_HOPS.signature, form(*_places()))})
    for side, query, key in (("before", ahead, _NODE), ("after", _NODE, ahead)):
        yield same_by_sympy(
            f"bias, key {side} the query",
            laws.assigned(recovered(query, key, LENGTH), values),
            biases.ALIBI.bias(query, key, LENGTH),
        )


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
def on_cycle(form: Form = _around) -> Facts:
    """In a cycle of n nodes the distance of u and v is min(|u - v|, n - |u - v|)."""
    _compare("cycle", form)
    nodes, step = sp.Symbol("n", integer=True, positive=True), sp.Symbol("t", integer=True, nonnegative=True)
    left = _STEPS + 1

    def from_zero(node: sp.Expr, count: sp.Expr) -> sp.Expr:
        return form(sp.S.Zero, node, count)

    odd, rising, falling = 2 * step + 1, 2 * step + 2 + _MORE, 2 * left + _MORE
    yield _SAMENESS
    yield same_by_sympy(
        "t steps on from u, without a wrap: as from node 0", form(_NODE, _NODE + step, nodes), from_zero(step, nodes)
    )
    yield same_by_sympy(
        "t steps on from u = v + n - t, with a wrap to v: as from node 0",
        form(_NODE + left, _NODE, nodes),
        form(sp.S.Zero, left, nodes),
    )
    yield same_by_sympy(
        "n - t steps are t steps back", form(sp.S.Zero, left, left + _MORE), from_zero(_MORE, left + _MORE)
    )
    yield same_by_sympy("f(0)", from_zero(sp.S.Zero, nodes), sp.S.Zero)
    yield same_by_sympy(
        "n = 2t + 2 + a: f(t + 1) - f(t)", from_zero(step + 1, rising) - from_zero(step, rising), sp.S.One
    )
    yield same_by_sympy("n = 2t + 1: f(t + 1) - f(t)", from_zero(step + 1, odd) - from_zero(step, odd), sp.S.Zero)
    yield same_by_sympy(
        "n = 2s + a, s > 0, t = s + a: f(t + 1) - f(t), where t + 1 = n is node 0",
        from_zero(left + _MORE + 1, falling) - from_zero(left + _MORE, falling),
        sp.S.NegativeOne,
    )
    yield "so f differs by at most 1 along every edge, and falls towards node 0 by one of its two sides"


@CLAIMS.claim(
    "graph-alibi-3",
    "",
    r"d(u,w)\le d(u,v)+d(v,w),\quad d(u,v)=d(v,u)",
    strength=Strength.EXHAUSTIVE,
    reach=f"at most {MOST_NODES} nodes",
    falsifiers={
        "the square of the distance": {"distances": squared},
        "the depth in a depth-first tree": {"distances": depth_first},
        "all distances 0": {"distances": lambda graph: 0 * shortest_distances(graph)},
    },
)
def metric(distances: DistancesOf = shortest_distances) -> Facts:
    """The distance of nodes is a metric on each component: symmetric, 0 for one node alone, and no longer than any
    detour. Decided on all graphs with at most 6 nodes.
    """
    triples = 0
    for graph in all_graphs():
        hops = distances(graph)
        joined = shortest_distances(graph) >= 0
        for u in graph:
            for v in (node for node in graph if joined[u, node]):
                if hops[u, v] != hops[v, u]:
                    raise Refuted(f"{edges_text(graph)}: {u} to {v} is {hops[u, v]}, and back {hops[v, u]}")
                if (hops[u, v] > 0) != (u != v):
                    raise Refuted(f"{edges_text(graph)}: {u} and {v} are {hops[u, v]} apart")
                for w in (node for node in graph if joined[v, node]):
                    triples += 1
                    if hops[u, w] > hops[u, v] + hops[v, w]:
                        raise Refuted(f"{edges_text(graph)}: {hops[u, w]} from {u} to {w}, less by {v}")
    yield f"{len(all_graphs())} graphs, {triples} triples: symmetric, 0 for one node alone, triangle inequality"
