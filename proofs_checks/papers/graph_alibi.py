"""Graph ALiBi (arXiv 2506.19834): Kerple's condition on the distances of a molecule's graph (errata F15)."""

from collections.abc import Sequence
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

import flint
import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.facts import Formula
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach, refute
from lengthgen.theory.graph_distances import shortest_distances

if TYPE_CHECKING:
    import networkx as nx

SOURCE = Source(paper="Graph ALiBi (S23D)", arxiv="2506.19834", place="bias by graph distance")
CLAIMS = PaperClaims(SOURCE)
Edges = Sequence[tuple[int, int]]
MOST_NODES = 7
"""Number of nodes of the largest trees that a formula is compared with, in search of a counterexample."""
_TWO_CENTRES = "bicyclo[1.1.1]pentane (K_2,3)"
_GRAPHS: dict[str, Edges] = {
    "path of 6": [*pairwise(range(6))],
    "star of 6": [(0, leaf) for leaf in range(1, 6)],
    "ring of 6 (benzene)": [*pairwise(range(6)), (5, 0)],
    "complete graph of 5": [*combinations(range(5), 2)],
    "two rings of 6 with a common bond (naphthalene)": [*pairwise(range(10)), (9, 0), (0, 5)],
    "norbornane": [*pairwise(range(6)), (5, 0), (0, 6), (6, 3)],
    _TWO_CENTRES: [*product(range(2), range(2, 5))],
}
"""Edges of graphs: of the heavy atoms of molecules, without hydrogens, and of some standard graphs."""
_ALL_BUT_ONE = tuple(name for name in _GRAPHS if name != _TWO_CENTRES)


def graph_of(edges: Edges) -> "nx.Graph":
    """Graph of these edges, with nodes in increasing order."""
    import networkx as nx  # slow to import, and few claims need it

    graph = nx.empty_graph(1 + max(map(max, edges)))
    graph.add_edges_from(edges)
    return graph


def edges_text(graph: "nx.Graph") -> str:
    """Text with the number of nodes and the edges."""
    return f"{len(graph)} nodes, edges {sorted(graph.edges)}"


def trees() -> "list[nx.Graph]":
    """Return all trees of at most MOST_NODES nodes up to isomorphism, with nodes 0 .. n - 1."""
    import networkx as nx

    listed = [nx.trivial_graph()]
    for count in range(2, MOST_NODES + 1):
        for tree in nx.nonisomorphic_trees(count):
            listed.append(nx.empty_graph(count))  # nodes in order, which those of the tree are not
            listed[-1].add_edges_from(tree.edges)
    return listed


def require_negative_type(name: str, distances: NDArray[np.int64]) -> flint.fmpz_poly:
    """Polynomial det(tI + g) of the Gram matrix g_ij = d_i0 + d_j0 - d_ij, which is that of -d on sums 0.

    The Gram matrix is positive semidefinite if no coefficient is negative, and only then. Otherwise raises `Refuted`
    with the unit vector of sum 0 on which -d is least.
    """
    gram = distances[:, :1] + distances[:1] - distances
    characteristic = flint.fmpz_mat((-gram).tolist()).charpoly()
    if any(coefficient < 0 for coefficient in characteristic.coeffs()):
        centring = np.eye(len(distances)) - 1 / len(distances)
        values, vectors = np.linalg.eigh(centring @ -distances @ centring)
        weights = np.round(vectors[:, 0] / np.abs(vectors[:, 0]).max(), 3).tolist()
        refute(True, f"{name}: -d is {values[0]:.2g} on the vector of sum 0 along {weights}")
    return characteristic


@CLAIMS.claim(
    "graph-alibi-4",
    "",
    r"\sum c_i=0\Rightarrow -c^\top d_G\,c\ge 0",
    strength=Strength.EXHAUSTIVE,
    assumptions=("the graphs named",),
    falsifiers={"bicyclo[1.1.1]pentane as well": {"graphs": (*_ALL_BUT_ONE, _TWO_CENTRES)}},
)
def negative_type(graphs: Sequence[str] = _ALL_BUT_ONE) -> Facts:
    """-d_G is conditionally positive definite on the path, the star and the ring of 6 nodes, the complete graph of 5,
    naphthalene and norbornane (errata F15: not on every molecule's graph, so Kerple's justification does not carry
    over). Decided on 6 graphs.
    """
    for name in graphs:
        characteristic = require_negative_type(name, shortest_distances(graph_of(_GRAPHS[name])))
        yield f"{name}: no negative coefficient in {characteristic}"
    yield Reach(f"{len(graphs)} graphs")


@CLAIMS.claim(
    "graph-alibi-4-trees",
    "",
    r"\sum c_i=0\Rightarrow -c^\top d_T\,c\ge 0",
    assumptions=("finite trees; every one grows leaf by leaf",),
    falsifiers={
        "the square of the distance": {"distance": lambda hops: hops**2},
        "twice the distance, less 1": {"distance": lambda hops: sp.Max(0, 2 * hops - 1)},
    },
)
def trees_of_negative_type(distance: Formula = lambda hops: hops) -> Facts:
    """-d_G is conditionally positive definite on every tree: a molecule without rings has Kerple's justification.

    Q(c) is the sum of -c_u c_v d(u, v). A new leaf with weight x hangs at the node p; A = Q(c), B is the sum of
    c_u d(u, p), S that of all c_u before.
    """
    for graph in trees():
        distances = [[int(distance(sp.Integer(hops))) for hops in row] for row in shortest_distances(graph)]
        require_negative_type(edges_text(graph), np.array(distances))
    A, B, S, x = sp.symbols("A B S x", real=True)
    hops = sp.Symbol("d", positive=True)
    yield "f(d + 1) - f(d)", lambda: distance(hops + 1) - distance(hops), sp.S.One
    yield "so d(u, leaf) = d(u, p) + 1, and Q' = A - 2x (B + S); moving the leaf's weight to p gives A - 2x B"
    moved = "for a sum 0, that is S = -x: Q' = Q with x moved to p, plus 2 x^2"
    yield moved, lambda: A - 2 * x * (B + S.subs(S, -x)), lambda: (A - 2 * x * B) + 2 * x**2
    yield "the moved weights have sum 0 in the smaller tree, and one node has Q = 0: Q' is not negative in any tree"
