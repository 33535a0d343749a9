"""Graph ALiBi: determinant and rank of the distances of trees, and where the attention of a node lies.

The last claims are on the molecules that an attention layer tells apart.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import sympy as sp

from lengthgen.proofs_checks.claim import Strength, Unsettled
from lengthgen.proofs_checks.facts import Formula, ball, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.graph_alibi import MOST_NODES, SOURCE, Edges, edges_text, graph_of, trees
from lengthgen.theory import laws, rational
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.catalogue import named
from lengthgen.theory.encodings.encoding import Law
from lengthgen.theory.graph_distances import shortest_distances

CLAIMS = PaperClaims(SOURCE)
m = biases.ALIBI_SLOPE
_HALVING = sp.log(2)
"""Slope of the examples: the weight of a node halves with every hop."""
_GAIN = sp.Integer(3)
"""Value of e^(2C) in the examples."""
_FIRST_PROPANOL, _SECOND_PROPANOL = [*pairwise(range(4))], [(0, 1), (1, 2), (1, 3)]
_SKELETONS = {"butane": [*pairwise(range(4))], "isobutane": [(0, 1), (0, 2), (0, 3)]}


@CLAIMS.claim(
    "graph-alibi-5",
    "",
    r"\det D_T=(-1)^{n-1}(n-1)2^{n-2}",
    assumptions=("every tree grows leaf by leaf", "m > 0"),
    falsifiers={
        "without the factor n - 1": {"determinant": lambda n: (-1) ** (n - 1) * 2 ** (n - 2)},
        "a singular matrix from 3 nodes on": {"determinant": lambda n: sp.Piecewise((-1, sp.Eq(n, 2)), (0, True))},
        "the last edge of length 2": {"edge": sp.Integer(2)},
    },
)
def tree_determinant(
    determinant: Formula = lambda n: (-1) ** (n - 1) * (n - 1) * 2 ** (n - 2), edge: sp.Expr = sp.Integer(1)
) -> Facts:
    """The distances of a tree of n >= 2 nodes have the determinant (-1)^(n-1) (n - 1) 2^(n-2) (Graham and Pollak), so
    vectors of queries and keys need n more numbers each to give the bias -m d, already 3 on the path of 3 nodes.

    The last edge that a tree gets has the length `edge`. D is the matrix of distances before, 1 the vector of ones,
    s = 1^T D^-1 1, p the node at which the new leaf hangs: the new column is b = D e_p + edge 1.
    """
    for graph in trees()[1:]:
        exact = int(rational.exact_matrix(shortest_distances(graph)).det().p)
        stated = determinant(sp.Integer(len(graph)))
        refute(exact != stated, f"{edges_text(graph)}: the determinant is {exact}, not {stated}")
    n, s = sp.Symbol("n", integer=True, positive=True), sp.Symbol("s", positive=True)
    of_n = 2 / (n - 1)
    corner = -(edge + edge + edge**2 * s)
    ratio = sp.powsimp(sp.expand_power_base(determinant(n + 1) / determinant(n))).simplify()
    yield "D^-1 b = e_p + edge D^-1 1, so -b^T D^-1 b = -(d(p,p) + 2 edge + edge^2 s), and d(p,p) = 0"
    yield "det D' = det D (-b^T D^-1 b): Schur complement, as the new diagonal entry is 0"
    factor = "with s = 2/(n - 1): the factor is det(n + 1) / det(n) of the formula"
    yield factor, lambda: corner.subs(s, of_n), lambda: ratio
    next_total = "s' = s + (1 - b^T D^-1 1)^2 / (-b^T D^-1 b), with b^T D^-1 1 = 1 + edge s, is 2/n"
    yield next_total, lambda: (s + (edge * s) ** 2 / corner).subs(s, of_n), lambda: of_n.subs(n, n + 1)
    yield "two nodes: D = [[0, 1], [1, 0]], det D = -1, s = 2; the factor is not 0, so D^-1 exists at every size"
    yield (
        "so the rank is n: vectors u_j, v_i with u_j . v_i = -m d(j, i) have n numbers at least; the rows of the "
        "matrix with unit vectors have n"
    )
    yield f"the same by exact determinants of all {len(trees()) - 1} trees of 2 to {MOST_NODES} nodes"


@CLAIMS.claim(
    "graph-alibi-5-rank",
    "",
    r"\operatorname{rank} D_T=n",
    strength=Strength.EXHAUSTIVE,
    reach=f"at most {MOST_NODES} nodes",
    falsifiers={
        "rank 2, as ALiBi to one side": {"width": lambda n: 2},
        "rank 3, as squares of coordinates": {"width": lambda n: min(n, 3)},
    },
)
def rank_of_trees(width: Callable[[int], int] = lambda n: n) -> Facts:
    """The bias of a tree of n >= 2 nodes has rank n. Decided for trees with at most 7 nodes."""
    larger = trees()[1:]
    for graph in larger:
        exact, stated = rational.rank(shortest_distances(graph)), width(len(graph))
        refute(exact != stated, f"{edges_text(graph)}: the rank is {exact}, not {stated}")
    yield f"{len(larger)} trees of 2 nodes and more: the exact rank of the distances is the number of nodes"


def _weights(bias: Formula, slope: sp.Expr, row: Sequence[int]) -> list[sp.Expr]:
    """Weights e^bias of nodes at these hops."""
    return [sp.exp(bias(slope, hops=sp.Integer(hops))) for hops in row]


def _far_share(weights: Sequence[sp.Expr], sizes: Sequence[int], reach: int, gain: sp.Expr) -> sp.Expr:
    """Share of the nodes from distance `reach` on, whose contents weigh `gain` times as much as the others."""
    parts = [weight * size for weight, size in zip(weights, sizes, strict=True)]
    far, near = gain * sp.Add(*parts[reach:]), sp.Add(*parts[:reach])
    return far / (far + near)


def _spheres() -> dict[str, list[int]]:
    """Graph -> numbers of nodes at 0, 1, 2, ... hops from node 0."""
    import networkx as nx

    graphs = {
        "path of 7": nx.path_graph(7),
        "ring of 6": nx.cycle_graph(6),
        "star of 6": nx.star_graph(5),
        "binary tree of 15": nx.balanced_tree(2, 3),
    }
    rows = {name: Counter(shortest_distances(graph)[0].tolist()) for name, graph in graphs.items()}
    return {name: [sizes[hops] for hops in range(1 + max(sizes))] for name, sizes in rows.items()}


def _sharp(share: sp.Expr, gain: sp.Expr) -> sp.Expr:
    return gain * share / (1 - share + gain * share)


@CLAIMS.claim(
    "graph-alibi-6",
    "",
    r"\sum_{d\ge W}a\le\frac{e^{2C}h}{1-h+e^{2C}h},\ h=\frac{\sum_{r\ge W}|S_r|e^{-mr}}{\sum|S_r|e^{-mr}}",
    assumptions=("content logits within [-C, C], C >= 0", "a connected graph, |S_r| nodes at r hops"),
    falsifiers={
        "one node at each distance, as in a sequence": {"counted": lambda size: 1},
        "without e^(2C)": {"bound": lambda share, gain: share},
        "e^C for e^(2C)": {"bound": lambda share, gain: _sharp(share, sp.sqrt(gain))},
    },
)
def window(bound: Formula = _sharp, counted: Callable[[int], int] = lambda size: size) -> Facts:
    """If every content logit is within [-C, C], at most e^(2C) h / (1 - h + e^(2C) h) <= e^(2C) h of a node's attention
    lies at W hops or more, and this is attained; h is the share of r >= W in the sum of |S_r| e^(-mr), with |S_r| nodes
    at r hops.
    """
    for name, sizes in _spheres().items():
        weights = _weights(biases.graph_alibi_bias, _HALVING, range(len(sizes)))
        for reach in range(1, len(sizes)):
            mass = _far_share(weights, sizes, reach, _GAIN)
            stated = bound(_far_share(weights, [*map(counted, sizes)], reach, sp.S.One), _GAIN)
            at = f"{name}, W = {reach}, e^(2C) = {_GAIN}, m = log 2"
            refute(mass != stated, f"{at}: {mass} of the attention, not {stated}")
    X, Y, x, y, E = sp.symbols("X Y x y E", positive=True)
    h, r = X / (X + Y), sp.Symbol("r")
    yield same_by_sympy("weight at r hops", sp.exp(biases.graph_alibi_bias(m, hops=r)), sp.exp(-m * r))
    yield (
        "X/(X + Y) - (X - x)/(X - x + Y + y), not negative for 0 <= x <= X and y >= 0",
        lambda: X / (X + Y) - (X - x) / (X - x + Y + y),
        lambda: (X * y + x * Y) / ((X + Y) * (X - x + Y + y)),
    )
    yield "so the far mass is largest with content C on every far node and -C on every near one, where it is attained"
    yield (
        "E X/(E X + Y) with E = e^(2C), X and Y the sums of |S_r| e^(-mr) over r >= W and r < W, is the bound at "
        "h = X/(X + Y)",
        lambda: E * X / (E * X + Y),
        lambda: bound(h, E),
    )
    excess = "e^(2C) h exceeds it by this, which is not negative for E >= 1"
    yield excess, lambda: E * h - E * X / (E * X + Y), lambda: E * X * X * (E - 1) / ((X + Y) * (E * X + Y))
    yield f"examples: {', '.join(_spheres())}"


@CLAIMS.claim(
    "graph-alibi-6-trees",
    "",
    r"|S_{r+1}|e^{-m(r+1)}/|S_r|e^{-mr}=3e^{-m}>1\quad(m<1)",
    assumptions=("equal contents", "an infinite tree, or spheres that do not reach a leaf"),
    falsifiers={
        "3 neighbours": {"neighbours": 3},
        "twice the slopes": {"bias": lambda slope, hops: biases.graph_alibi_bias(2 * slope, hops=hops)},
    },
)
def spheres_of_trees(bias: Formula = biases.graph_alibi_bias, neighbours: int = 4) -> Facts:
    """Among carbon skeletons that branch like a tree with 4 neighbours per atom, farther spheres of atoms weigh more at
    equal contents, at every slope of ALiBi: the number of atoms grows like 3^r, and the weight of each falls by less
    than e.
    """
    branches, r = neighbours - 1, sp.Symbol("r", positive=True)
    growth = sp.Symbol("g", positive=True)  # log of the branches
    factor = sp.exp(growth) * sp.exp(bias(m, hops=sp.S.One))

    def weight(hops: sp.Expr) -> sp.Expr:
        return neighbours * sp.exp(growth * (hops - 1)) * sp.exp(bias(m, hops=hops))

    ratio_of_spheres = "g = log(neighbours - 1): weight of the sphere of r + 1 hops over that of r hops"
    yield ratio_of_spheres, lambda: weight(r + 1) / weight(r), lambda: factor
    yield f"the neighbours weigh {neighbours} e^(bias at 1 hop) beside the node itself, which is more than this ratio"
    margin, slope = ball(sp.log(branches) + bias(sp.S.One, hops=sp.S.One)), max(biases.alibi_slopes(64))
    share = float(branches * sp.exp(bias(slope, hops=sp.S.One)))
    lighter = f"at slope {float(slope):.4g} a sphere weighs {share:.4g} of the one before"
    refute(not margin > 0, f"{neighbours} neighbours: {lighter}")
    yield f"log({branches}) - 1 > 0, enclosed by {margin}"
    yield "every slope is 2 to a negative power, so below 1: each sphere weighs more than the one before it"


@CLAIMS.claim(
    "graph-alibi-7",
    "",
    r"\Big(\sum_v e^{-m\,d(O,v)}\Big)_1-\Big(\sum_v e^{-m\,d(O,v)}\Big)_2=e^{-2m}(e^{-m}-1)<0",
    assumptions=("heavy atoms, which enter by their kind alone", "queries and keys 0 in the layer with the graph"),
    falsifiers={
        "without the graph": {"bias": lambda slope, hops: sp.S.Zero},
        "1-propanol twice, its carbons renumbered": {"molecules": (_FIRST_PROPANOL, [(0, 3), (3, 1), (1, 2)])},
    },
)
def isomers(
    bias: Formula = biases.graph_alibi_bias, molecules: Sequence[Edges] = (_FIRST_PROPANOL, _SECOND_PROPANOL)
) -> Facts:
    """One attention layer with graph ALiBi tells 1-propanol from 2-propanol at every slope; without the graph no number
    of layers does, as the atoms are the same.

    Node 0 is the oxygen with value 1, the others are carbon with value 0; queries and keys are 0.
    """
    rows = [sorted(shortest_distances(graph_of(edges))[0].tolist()) for edges in molecules]
    first, second = (1 / sp.Add(*_weights(bias, _HALVING, row)) for row in rows)
    refute(first == second, f"the output at the oxygen is {first} in both molecules, at m = log 2")
    totals = [sp.Add(*_weights(bias, m, row)) for row in rows]
    ruling = laws.decide_law(named("nope"), Law.RELABELLING)
    if not ruling.holds:
        raise Unsettled(ruling.reason)
    yield f"output at the oxygen: 1 over the sum of e^(-m d), d = {rows[0]} and {rows[1]}"
    difference = "difference of these sums, negative for every m > 0"
    yield difference, lambda: totals[0] - totals[1], lambda: sp.exp(-2 * m) * (sp.exp(-m) - 1)
    yield f"at m = log 2: {first} and {second}"
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
        "a sigmoid of each logit": {"normaliser": lambda logit, logits: 1 / (1 + sp.exp(-logit))},
        "weights without a normaliser": {"normaliser": lambda logit, logits: sp.exp(logit)},
    },
)
def equal_atoms(normaliser: Formula = lambda logit, logits: sp.exp(logit) / sp.Add(*map(sp.exp, logits))) -> Facts:
    """Where all atoms are of one kind, attention by softmax with graph ALiBi leaves them in equal states at every
    depth, so it does not tell the carbon skeletons of butane and isobutane apart: atoms need features of their
    surroundings.
    """
    for name, edges in _SKELETONS.items():
        distances = shortest_distances(graph_of(edges)).tolist()
        rows = [[biases.graph_alibi_bias(_HALVING, hops=sp.Integer(hops)) for hops in row] for row in distances]
        sums = [sp.Add(*(normaliser(logit, logits) for logit in logits)) for logits in rows]
        refute(any(total != 1 for total in sums), f"{name}, m = log 2: the atoms' outputs are {sums} times their value")
    x, w, R = sp.symbols("x w R", positive=True)
    pair = sp.symbols("a b", real=True)
    total = sp.cancel(sp.together(sp.Add(*(normaliser(logit, pair) for logit in pair))))
    yield same_by_sympy("logit a, and b for all others, whose e^logit sum to e^b: total weight", total, sp.S.One)
    yield "output of a row: weights w and R, together, of the value x", lambda: (w * x + R * x) / (w + R), lambda: x
    yield (
        "so attention returns the common value at every node, and MLPs and norms act on each node alike: by "
        "induction over layers all states stay equal, in both molecules to the same vector"
    )
    yield f"examples, exact: {', '.join(_SKELETONS)}"
