"""Distances of the nodes of a graph: the number of edges of a shortest path."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError

if TYPE_CHECKING:
    import networkx as nx

NO_PATH = -1
"""Distance of two nodes that no path joins."""


def shortest_distances(graph: "nx.Graph") -> NDArray[np.int64]:
    """Return the hops between all pairs of nodes, int64 [n, n], nodes in the order of `graph.nodes`.

    NO_PATH stands for nodes of different components. Weights of edges are ignored.

    Raises:
        LengthgenError: the graph is directed, or has no node.
    """
    import networkx as nx  # slow to import
    from scipy.sparse.csgraph import shortest_path

    if graph.is_directed() or not graph:
        kind = "a directed graph" if graph else "a graph without nodes"
        raise LengthgenError(f"distances need an undirected graph with nodes, not {kind}")
    hops = shortest_path(nx.to_scipy_sparse_array(graph, weight=None), directed=False)
    return np.where(np.isinf(hops), NO_PATH, hops).astype(np.int64)
