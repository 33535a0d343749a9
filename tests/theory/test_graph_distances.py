"""Shortest-path distances: against networkx, and what is refused."""

import networkx as nx
import numpy as np
import pytest

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.graph_distances import NO_PATH, shortest_distances


def test_distances_are_those_of_breadth_first_search() -> None:
    for seed in range(12):
        graph = nx.gnp_random_graph(14, 0.13, seed=seed)
        right = np.full((14, 14), NO_PATH)
        for source, lengths in nx.all_pairs_shortest_path_length(graph):
            for node, hops in lengths.items():
                right[source, node] = hops
        distances = shortest_distances(graph)
        assert distances.dtype == np.int64
        assert (distances == right).all()
        assert (right == NO_PATH).any() or nx.is_connected(graph)


def test_rows_follow_the_order_of_the_nodes_and_weights_do_not_count() -> None:
    graph = nx.Graph()
    graph.add_nodes_from(["c", "a", "b", "alone"])
    graph.add_edge("a", "b", weight=7.0)
    graph.add_edge("b", "c", weight=0.0)
    assert shortest_distances(graph).tolist() == [[0, 2, 1, -1], [2, 0, 1, -1], [1, 1, 0, -1], [-1, -1, -1, 0]]


@pytest.mark.parametrize(("graph", "kind"), [(nx.DiGraph([(0, 1)]), "directed"), (nx.Graph(), "without nodes")])
def test_other_graphs_are_refused(graph: nx.Graph, kind: str) -> None:
    with pytest.raises(LengthgenError, match=kind):
        shortest_distances(graph)
