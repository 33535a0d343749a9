"""Graphs on which claims about graph ALiBi are decided, and distances that are wrong in some way."""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Source
from lengthgen.theory.graph_distances import shortest_distances

if TYPE_CHECKING:
    import networkx as nx

SOURCE = Source(paper="Graph ALiBi (S23D)", arxiv="2506.19834", place="bias by graph distance")
Distances = NDArray[np.int64]
MOST_NODES = 6
"""Largest number of nodes of the graphs that exhaustive checks go through."""


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
