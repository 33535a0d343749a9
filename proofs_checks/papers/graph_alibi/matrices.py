"""Graph ALiBi: determinant, rank and type of the distances, and where the attention of a node lies.

The last claims are on the molecules that an attention layer tells apart.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

import flint
import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Strength, Unsettled
from lengthgen.proofs_checks.facts import ball, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach
from lengthgen.proofs_checks.papers.graph_alibi.symmetry import SOURCE, edges_text
from lengthgen.theory import laws, rational
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.catalogue import named
from lengthgen.theory.encodings.encoding import Law
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
_ALL_BUT_ONE = tuple(name for name in _GRAPHS if name != _TWO_CENTRES)
Bias = Callable[[sp.Expr, sp.Expr], sp.Expr]
"""Bias as a function of the slope and the hops."""
Normaliser = Callable[[sp.Expr, Sequence[sp.Expr]], sp.Expr]
"""Weight of a logit among all logits of its row."""
_SLOPE = biases.ALIBI_SLOPE
_HALVING = sp.log(2)
"""Slope of the examples: the weight of a node halves with every hop."""
_GAIN = sp.Integer(3)
"""Value of e^(2C) in the examples."""
_FIRST_PROPANOL = tuple(pairwise(range(4)))
_SECOND_PROPANOL = ((0, 1), (1, 2), (1, 3))
_SKELETONS = {"butane": tuple(pairwise(range(4))), "isobutane": ((0, 1), (0, 2), (0, 3))}


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


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "graph-alibi-4",
    "",
    r"\sum c_i=0\Rightarrow -c^\top d_G\,c\ge 0",
    strength=Strength.EXHAUSTIVE,
    assumptions=("the graphs named",),
    printed={"graphs": tuple(_GRAPHS)},
    falsifiers={"bicyclo[1.1.1]pentane as well": {"graphs": (*_ALL_BUT_ONE, _TWO_CENTRES)}},
)
def negative_type(graphs: Sequence[str] = _ALL_BUT_ONE) -> Facts:
    """-d_G is conditionally positive definite on paths, stars, rings, complete graphs, naphthalene and norbornane
    (errata F15: not on every molecule's graph, so Kerple's justification does not carry over). Decided on 6 graphs.
    """
    import networkx as nx  # slow to import

    for name in graphs:
        graph = nx.Graph(_GRAPHS[name])
        distances = shortest_distances(nx.to_networkx_graph({node: sorted(graph[node]) for node in sorted(graph)}))
        characteristic = _characteristic(distances)
        if not _has_negative_type(characteristic):
            raise Refuted(f"{name}: {_witness(distances)}")
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


if TYPE_CHECKING:
    import networkx as nx


def _bias(slope: sp.Expr, hops: sp.Expr) -> sp.Expr:
    return biases.graph_alibi_bias(slope, hops=hops)


def _far_share(weights: Sequence[sp.Expr], sizes: Sequence[int], reach: int, gain: sp.Expr) -> sp.Expr:
    """Share of the nodes from distance `reach` on, whose contents weigh `gain` times as much as the others."""
    parts = [weight * size for weight, size in zip(weights, sizes, strict=True)]
    far, near = gain * sp.Add(*parts[reach:]), sp.Add(*parts[:reach])
    return far / (far + near)


def _spheres() -> list[tuple[str, list[int]]]:
    """Names of graphs, each with the numbers of nodes at 0, 1, 2, ... hops from node 0."""
    import networkx as nx

    graphs = {
        "path of 7": nx.path_graph(7),
        "ring of 6": nx.cycle_graph(6),
        "star of 6": nx.star_graph(5),
        "binary tree of 15": nx.balanced_tree(2, 3),
    }
    rows = [(name, Counter(shortest_distances(graph)[0].tolist())) for name, graph in graphs.items()]
    return [(name, [sizes[hops] for hops in range(1 + max(sizes))]) for name, sizes in rows]


def _hops_from_first(edges: Sequence[tuple[int, int]]) -> list[int]:
    """Hops from node 0 to all nodes, in increasing order."""
    return sorted(shortest_distances(_graph(edges))[0].tolist())


def _graph(edges: Sequence[tuple[int, int]]) -> "nx.Graph":
    """Graph of these edges, with nodes in increasing order."""
    import networkx as nx

    graph = nx.empty_graph(1 + max(max(edge) for edge in edges))
    graph.add_edges_from(edges)
    return graph


def _output(bias: Callable[[sp.Expr], sp.Expr], row: Sequence[int]) -> sp.Expr:
    """Weight of the node at distance 0."""
    weights = [sp.exp(bias(sp.Integer(hops))) for hops in row]
    return weights[0] / sp.Add(*weights)


def _softmax(logit: sp.Expr, logits: Sequence[sp.Expr]) -> sp.Expr:
    return sp.exp(logit) / sp.Add(*map(sp.exp, logits))


def _sigmoid(logit: sp.Expr, logits: Sequence[sp.Expr]) -> sp.Expr:
    return 1 / (1 + sp.exp(-logit))


def _sharp(share: sp.Expr, gain: sp.Expr) -> sp.Expr:
    return gain * share / (1 - share + gain * share)


@CLAIMS.claim(
    "graph-alibi-6",
    "",
    r"\sum_{d\ge W}a\le\frac{e^{2C}h}{1-h+e^{2C}h},\ h=\frac{\sum_{r\ge W}|S_r|e^{-mr}}{\sum|S_r|e^{-mr}}",
    assumptions=("content logits within [-C, C]", "|S_r| nodes at r hops"),
    falsifiers={
        "one node at each distance, as in a sequence": {"counted": lambda size: 1},
        "without e^(2C)": {"bound": lambda share, gain: share},
        "e^C for e^(2C)": {"bound": lambda share, gain: _sharp(share, sp.sqrt(gain))},
    },
)
def window(
    bound: Callable[[sp.Expr, sp.Expr], sp.Expr] = _sharp, counted: Callable[[int], int] = lambda size: size
) -> Facts:
    """If every content logit is within [-C, C], at most e^(2C) h / (1 - h + e^(2C) h) <= e^(2C) h of a node's attention
    lies at W hops or more, and this is attained; h is the share of r >= W in the sum of |S_r| e^(-mr), with |S_r| nodes
    at r hops.

    Args:
        bound: function of h and e^(2C), where h is the far share of the weights at equal contents.
        counted: function of the number of nodes at a distance -> number that h counts there.
    """
    far, near, lost, gained, gain = sp.symbols("X Y x y E", positive=True)
    for name, sizes in _spheres():
        weights = [sp.exp(_bias(_HALVING, sp.Integer(hops))) for hops in range(len(sizes))]
        for reach in range(1, len(sizes)):
            mass = _far_share(weights, sizes, reach, _GAIN)
            stated = bound(_far_share(weights, [*map(counted, sizes)], reach, sp.S.One), _GAIN)
            if mass > stated:
                raise Refuted(
                    f"{name}, W = {reach}, e^(2C) = {_GAIN}, m = log 2: {mass} of the attention, not {stated}"
                )
    share = far / (far + near)
    yield same_by_sympy("weight at r hops", sp.exp(_bias(_SLOPE, sp.Symbol("r"))), sp.exp(-_SLOPE * sp.Symbol("r")))
    yield (
        "X/(X + Y) - (X - x)/(X - x + Y + y), not negative for 0 <= x <= X and y >= 0",
        lambda: far / (far + near) - (far - lost) / (far - lost + near + gained),
        lambda: (far * gained + lost * near) / ((far + near) * (far - lost + near + gained)),
    )
    yield "so the far mass is largest with content C on every far node and -C on every near one, where it is attained"
    yield (
        "E X/(E X + Y) with E = e^(2C), X and Y the sums of |S_r| e^(-mr) over r >= W and r < W, is the bound at "
        "h = X/(X + Y)",
        lambda: gain * far / (gain * far + near),
        lambda: bound(share, gain),
    )
    yield (
        "e^(2C) h exceeds it by this, which is not negative for E >= 1",
        lambda: gain * share - gain * far / (gain * far + near),
        lambda: gain * far * far * (gain - 1) / ((far + near) * (gain * far + near)),
    )
    yield f"examples: {', '.join(name for name, _ in _spheres())}"


@CLAIMS.claim(
    "graph-alibi-6-trees",
    "",
    r"|S_{r+1}|e^{-m(r+1)}/|S_r|e^{-mr}=3e^{-m}>1\quad(m<1)",
    assumptions=("equal contents", "an infinite tree, or spheres that do not reach a leaf"),
    falsifiers={
        "3 neighbours": {"neighbours": 3},
        "twice the slopes": {"bias": lambda slope, hops: _bias(2 * slope, hops)},
    },
)
def spheres_of_trees(bias: Bias = _bias, neighbours: int = 4) -> Facts:
    """Among carbon skeletons that branch like a tree with 4 neighbours per atom, farther spheres of atoms weigh more at
    equal contents, at every slope of ALiBi: the number of atoms grows like 3^r, and the weight of each falls by less
    than e.

    Decide that in a tree with `neighbours` per node farther spheres weigh more at every slope that ALiBi has.
    """
    branches = neighbours - 1
    slope, hops = _SLOPE, sp.Symbol("r", positive=True)
    growth = sp.Symbol("g", positive=True)  # log of the branches
    factor = sp.exp(growth) * sp.exp(bias(slope, sp.S.One))

    def weight(distance: sp.Expr) -> sp.Expr:
        return neighbours * sp.exp(growth * (distance - 1)) * sp.exp(bias(slope, distance))

    yield (
        "g = log(neighbours - 1): weight of the sphere of r + 1 hops over that of r hops",
        lambda: weight(hops + 1) / weight(hops),
        lambda: factor,
    )
    margin = ball(sp.log(branches) + bias(sp.S.One, sp.S.One))
    if not margin > 0:
        slope_of_head = max(biases.alibi_slopes(64))
        raise Refuted(
            f"{neighbours} neighbours: at slope {float(slope_of_head):.4g} a sphere weighs "
            f"{float(branches * sp.exp(bias(slope_of_head, sp.S.One))):.4g} of the one before"
        )
    yield f"log({branches}) - 1 > 0, enclosed by {margin}"
    yield "every slope is 2 to a negative power, so below 1: each sphere weighs more than the one before it"


@CLAIMS.claim(
    "graph-alibi-7",
    "",
    r"\Big(\sum_v e^{-m\,d(O,v)}\Big)_1-\Big(\sum_v e^{-m\,d(O,v)}\Big)_2=e^{-2m}(e^{-m}-1)<0",
    assumptions=("heavy atoms; queries and keys 0",),
    falsifiers={
        "without the graph": {"bias": lambda slope, hops: sp.S.Zero},
        "1-propanol twice, its carbons renumbered": {"molecules": (_FIRST_PROPANOL, ((0, 3), (3, 1), (1, 2)))},
    },
)
def isomers(
    bias: Bias = _bias, molecules: Sequence[Sequence[tuple[int, int]]] = (_FIRST_PROPANOL, _SECOND_PROPANOL)
) -> Facts:
    """One attention layer with graph ALiBi tells 1-propanol from 2-propanol at every slope; without the graph no number
    of layers does, as the atoms are the same.

    Node 0 is the oxygen with value 1, the others are carbon with value 0; queries and keys are 0.
    """
    rows = [_hops_from_first(edges) for edges in molecules]
    outputs = [_output(lambda hops: bias(_HALVING, hops), row) for row in rows]
    if outputs[0] == outputs[1]:
        raise Refuted(f"the output at the oxygen is {outputs[0]} in both molecules, at m = log 2")
    totals = [sp.Add(*(sp.exp(bias(_SLOPE, sp.Integer(hops))) for hops in row)) for row in rows]
    ruling = laws.decide_law(named("nope"), Law.RELABELLING)
    if not ruling.holds:
        raise Unsettled(ruling.reason)
    yield f"output at the oxygen: 1 over the sum of e^(-m d), d = {rows[0]} and {rows[1]}"
    yield (
        "difference of these sums, negative for every m > 0",
        lambda: totals[0] - totals[1],
        lambda: sp.exp(-2 * _SLOPE) * (sp.exp(-_SLOPE) - 1),
    )
    yield f"at m = log 2: {outputs[0]} and {outputs[1]}"
    yield (
        "without the graph the isomers are one multiset of atoms, and NoPE's scores move with the atoms: "
        f"{ruling.reason}; so do the outputs of attention to all atoms, of MLPs, and of any number of layers"
    )


@CLAIMS.claim(
    "graph-alibi-7-equal",
    "",
    r"x_v=x\ \forall v\Rightarrow\sum_v a_{uv}x_v=x",
    assumptions=("atoms enter by their kind alone: no degree, no ring, no charge, no position in the graph",),
    falsifiers={
        "a sigmoid of each logit": {"normaliser": _sigmoid},
        "weights without a normaliser": {"normaliser": lambda logit, logits: sp.exp(logit)},
    },
)
def equal_atoms(normaliser: Normaliser = _softmax) -> Facts:
    """Attention by softmax with graph ALiBi leaves atoms of one kind in equal states at every depth, so it does not
    tell the carbon skeletons of butane and isobutane apart: atoms need features of their surroundings.
    """
    for name, edges in _SKELETONS.items():
        rows = shortest_distances(_graph(edges)).tolist()
        sums = []
        for row in rows:
            logits = [_bias(_HALVING, sp.Integer(hops)) for hops in row]
            sums.append(sp.Add(*(normaliser(logit, logits) for logit in logits)))
        if len(set(sums)) > 1:
            raise Refuted(f"{name}, m = log 2: the atoms' outputs are {sums} times their value")
    value, first, others = sp.symbols("x w R", positive=True)
    yield (
        "output of a row: weights w and R, together, of the value x",
        lambda: (first * value + others * value) / (first + others),
        lambda: value,
    )
    yield (
        "so attention returns the common value at every node, and MLPs and norms act on each node alike: by "
        "induction over layers all states stay equal, in both molecules to the same vector"
    )
    yield f"examples, exact: {', '.join(_SKELETONS)}"
