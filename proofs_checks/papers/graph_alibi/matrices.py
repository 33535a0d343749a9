"""Graph ALiBi: determinant and rank of the distances in a tree, and the graphs on which -d is of negative type."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

import flint
import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.graph_alibi.graphs import SOURCE, edges_text
from lengthgen.theory import rational
from lengthgen.theory.graph_distances import shortest_distances

if TYPE_CHECKING:
    import networkx as nx

Count = Callable[[sp.Expr], sp.Expr]

_MOST_NODES = 7
"""Largest trees that a formula is compared with, in search of a counterexample."""
_GRAPHS: Mapping[str, Iterable[tuple[int, int]]] = {
    "path of 6": tuple(pairwise(range(6))),
    "star of 6": tuple(product([0], range(1, 6))),
    "ring of 6 (benzene)": (*pairwise(range(6)), (5, 0)),
    "complete graph of 5": tuple(combinations(range(5), 2)),
    "two rings of 6 with a common bond (naphthalene)": (*pairwise(range(10)), (9, 0), (0, 5)),
    "norbornane": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 6), (6, 3)),
    "bicyclo[1.1.1]pentane (K_2,3)": tuple(product(range(2), range(2, 5))),
}
"""Edges of graphs: of the heavy atoms of molecules, without hydrogens, and of some standard graphs."""
_TWO_CENTRES = "bicyclo[1.1.1]pentane (K_2,3)"


def negative_type(*, graphs: Sequence[str]) -> Evidence:
    """Decide that -d is conditionally positive definite on these graphs, where d counts hops."""
    import networkx as nx  # slow to import

    facts = []
    for name in graphs:
        graph = nx.Graph(_GRAPHS[name])
        distances = shortest_distances(nx.to_networkx_graph({node: sorted(graph[node]) for node in sorted(graph)}))
        characteristic = _characteristic(distances)
        if not _has_negative_type(characteristic):
            raise Refuted(f"{name}: {_witness(distances)}")
        facts.append(f"{name}: no negative coefficient in {characteristic}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"{len(graphs)} graphs",
        facts=tuple(facts),
        assumptions=("the graphs named",),
    )


def _characteristic(distances: np.ndarray) -> flint.fmpz_poly:
    """Polynomial det(tI + g) of the Gram matrix g_ij = d_i0 + d_j0 - d_ij, which is that of -d on sums 0."""
    gram = distances[:, :1] + distances[:1] - distances
    return flint.fmpz_mat((-gram).tolist()).charpoly()


def _has_negative_type(characteristic: flint.fmpz_poly) -> bool:
    """True if the Gram matrix is positive semidefinite: no coefficient of det(tI + g) is negative, and only then."""
    return all(coefficient >= 0 for coefficient in characteristic.coeffs())


def _witness(distances: np.ndarray) -> str:
    """Witness against positive definiteness: the unit vector with sum 0 on which -d is least."""
    size = len(distances)
    centring = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(centring @ -distances @ centring)
    weights = np.round(vectors[:, 0] / np.abs(vectors[:, 0]).max(), 3).tolist()
    return f"-d is {values[0]:.2g} on the vector of sum 0 along {weights}"


def _require_determinant(graph: "nx.Graph", determinant: Count) -> None:
    """Raise `Refuted` if the determinant of a tree's distances is another than the formula's."""
    exact = int(rational.exact_matrix(shortest_distances(graph)).det().p)
    stated = determinant(sp.Integer(len(graph)))
    if exact != stated:
        raise Refuted(f"{edges_text(graph)}: the determinant is {exact}, not {stated}")


def _trees() -> "list[nx.Graph]":
    """Return all trees of at most _MOST_NODES nodes up to isomorphism, with nodes 0 .. n - 1."""
    import networkx as nx

    larger = [tree for count in range(2, _MOST_NODES + 1) for tree in nx.nonisomorphic_trees(count)]
    return [nx.trivial_graph(), *larger]


def _graham_pollak(count: sp.Expr) -> sp.Expr:
    return (-1) ** (count - 1) * (count - 1) * 2 ** (count - 2)


_ALL_BUT_ONE = tuple(name for name in _GRAPHS if name != _TWO_CENTRES)


CLAIMS = PaperClaims(SOURCE)


CLAIMS.append(
    Claim(
        id="graph-alibi-4",
        source=SOURCE,
        statement="-d_G is conditionally positive definite on paths, stars, rings, complete graphs, naphthalene and "
        "norbornane (errata F15: not on every molecule's graph, so Kerple's justification does not carry over). "
        "Decided on 6 graphs.",
        latex=r"\sum c_i=0\Rightarrow -c^\top d_G\,c\ge 0",
        label="F",
        check=negative_type,
        holds={"graphs": _ALL_BUT_ONE},
        printed={"graphs": tuple(_GRAPHS)},
        falsifiers={"bicyclo[1.1.1]pentane as well": {"graphs": (*_ALL_BUT_ONE, _TWO_CENTRES)}},
    )
)


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
def trees_of_negative_type(distance: Callable[[sp.Expr], sp.Expr] = lambda hops: hops) -> Facts:
    """-d_G is conditionally positive definite on every tree: a molecule without rings has Kerple's justification.

    Decide that -f(d) is conditionally positive definite on every tree, f = `distance`, by induction over leaves.

    Q(c) is the sum of -c_u c_v d(u, v). A new leaf with weight x hangs at the node p; A = Q(c), B is the sum of
    c_u d(u, p), S that of all c_u before.
    """
    for graph in _trees():
        distances = np.array([[int(distance(sp.Integer(hops))) for hops in row] for row in shortest_distances(graph)])
        if not _has_negative_type(_characteristic(distances)):
            raise Refuted(f"{edges_text(graph)}: {_witness(distances)}")
    before, at_parent, total, leaf = sp.symbols("A B S x", real=True)
    hops = sp.Symbol("d", positive=True)
    yield "f(d + 1) - f(d)", lambda: distance(hops + 1) - distance(hops), sp.S.One
    yield "so d(u, leaf) = d(u, p) + 1, and Q' = A - 2x (B + S); moving the leaf's weight to p gives A - 2x B"
    yield (
        "for a sum 0, that is S = -x: Q' = Q with x moved to p, plus 2 x^2",
        lambda: before - 2 * leaf * (at_parent + total.subs(total, -leaf)),
        lambda: (before - 2 * leaf * at_parent) + 2 * leaf**2,
    )
    yield "the moved weights have sum 0 in the smaller tree, and one node has Q = 0: Q' is not negative in any tree"


@CLAIMS.claim(
    "graph-alibi-5",
    "",
    r"\det D_T=(-1)^{n-1}(n-1)2^{n-2}",
    assumptions=("every tree grows leaf by leaf", "m > 0"),
    falsifiers={
        "without the factor n - 1": {"determinant": lambda count: (-1) ** (count - 1) * 2 ** (count - 2)},
        "a singular matrix from 3 nodes on": {
            "determinant": lambda count: sp.Piecewise((-1, sp.Eq(count, 2)), (0, True))
        },
        "the last edge of length 2": {"edge": sp.Integer(2)},
    },
)
def tree_determinant(determinant: Count = _graham_pollak, edge: sp.Expr = sp.Integer(1)) -> Facts:
    """The distances of a tree of n >= 2 nodes have the determinant (-1)^(n-1) (n - 1) 2^(n-2) (Graham and Pollak), so
    vectors of queries and keys need n more numbers each to give the bias -m d, already 3 on the path of 3 nodes, where
    ALiBi to one side needs 2.

    The last edge that a tree gets has the length `edge`. D is the matrix of distances before, 1 the vector of ones,
    s = 1^T D^-1 1, p the node at which the new leaf hangs: the new column is b = D e_p + edge 1.
    """
    for graph in _trees():
        if len(graph) > 1:
            _require_determinant(graph, determinant)
    count, total = sp.Symbol("n", integer=True, positive=True), sp.Symbol("s", positive=True)
    stated = 2 / (count - 1)
    corner = -(edge + edge + edge**2 * total)
    ratio = sp.powsimp(sp.expand_power_base(determinant(count + 1) / determinant(count))).simplify()
    yield "D^-1 b = e_p + edge D^-1 1, so -b^T D^-1 b = -(d(p,p) + 2 edge + edge^2 s), and d(p,p) = 0"
    yield "det D' = det D (-b^T D^-1 b): Schur complement, as the new diagonal entry is 0"
    yield (
        "with s = 2/(n - 1): the factor is det(n + 1) / det(n) of the formula",
        lambda: corner.subs(total, stated),
        lambda: ratio,
    )
    yield (
        "s' = s + (1 - b^T D^-1 1)^2 / (-b^T D^-1 b), with b^T D^-1 1 = 1 + edge s, is 2/n",
        lambda: (total + (edge * total) ** 2 / corner).subs(total, stated),
        lambda: stated.subs(count, count + 1),
    )
    yield "two nodes: D = [[0, 1], [1, 0]], det D = -1, s = 2; the factor is not 0, so D^-1 exists at every size"
    yield (
        "so the rank is n: vectors u_j, v_i with u_j . v_i = -m d(j, i) have n numbers at least; the rows of the "
        "matrix with unit vectors have n"
    )
    yield f"the same by exact determinants of all {len(_trees())} trees of at most {_MOST_NODES} nodes"


@CLAIMS.claim(
    "graph-alibi-5-rank",
    "",
    r"\operatorname{rank} D_T=n",
    strength=Strength.EXHAUSTIVE,
    reach=f"at most {_MOST_NODES} nodes",
    falsifiers={
        "rank 2, as ALiBi to one side": {"width": lambda count: sp.Integer(2)},
        "rank 3, as squares of coordinates": {"width": lambda count: sp.Min(count, 3)},
    },
)
def rank_of_trees(width: Count = lambda count: count) -> Facts:
    """The bias of a tree of n nodes has rank n. Decided for trees with at most 7 nodes.

    Decide that the bias of every small tree needs vectors of `width`(n) numbers for n nodes, and no fewer.
    """
    for graph in _trees():
        exact = rational.rank(shortest_distances(graph))
        stated = width(sp.Integer(len(graph)))
        if len(graph) > 1 and exact != stated:
            raise Refuted(f"{edges_text(graph)}: the rank is {exact}, not {stated}")
    yield f"{len(_trees())} trees: the exact rank of the distances is the number of nodes, from 2 nodes on"
