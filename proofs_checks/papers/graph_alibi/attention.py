"""Graph ALiBi: where the attention of a node lies, and which molecules an attention layer tells apart."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength, Unsettled
from lengthgen.proofs_checks.enclosing import ball
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.graph_alibi.graphs import SOURCE
from lengthgen.theory import laws
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.catalogue import named
from lengthgen.theory.encodings.encoding import Law
from lengthgen.theory.graph_distances import shortest_distances

if TYPE_CHECKING:
    import networkx as nx

Bias = Callable[[sp.Expr, sp.Expr], sp.Expr]
"""Bias as a function of the slope and the hops."""
Normaliser = Callable[[sp.Expr, Sequence[sp.Expr]], sp.Expr]
"""Weight of a logit among all logits of its row."""

_SLOPE = biases.ALIBI_SLOPE
_HALVING = sp.log(2)
"""Slope of the examples: the weight of a node halves with every hop."""
_GAIN = sp.Integer(3)
"""Value of e^(2C) in the examples."""


def _bias(slope: sp.Expr, hops: sp.Expr) -> sp.Expr:
    return biases.graph_alibi_bias(slope, hops=hops)


def window(*, bound: Callable[[sp.Expr, sp.Expr], sp.Expr], counted: Callable[[int], int]) -> Evidence:
    """Decide the most attention that a node can pay to all nodes at distance W or more, and that it is attained.

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
    facts = (
        same_by_sympy("weight at r hops", sp.exp(_bias(_SLOPE, sp.Symbol("r"))), sp.exp(-_SLOPE * sp.Symbol("r"))),
        require_equal(
            "X/(X + Y) - (X - x)/(X - x + Y + y), not negative for 0 <= x <= X and y >= 0",
            lambda: far / (far + near) - (far - lost) / (far - lost + near + gained),
            lambda: (far * gained + lost * near) / ((far + near) * (far - lost + near + gained)),
        ),
        "so the far mass is largest with content C on every far node and -C on every near one, where it is attained",
        require_equal(
            "E X/(E X + Y) with E = e^(2C), X and Y the sums of |S_r| e^(-mr) over r >= W and r < W, is the bound at "
            "h = X/(X + Y)",
            lambda: gain * far / (gain * far + near),
            lambda: bound(share, gain),
        ),
        require_equal(
            "e^(2C) h exceeds it by this, which is not negative for E >= 1",
            lambda: gain * share - gain * far / (gain * far + near),
            lambda: gain * far * far * (gain - 1) / ((far + near) * (gain * far + near)),
        ),
        f"examples: {', '.join(name for name, _ in _spheres())}",
    )
    return Evidence(
        strength=Strength.GENERAL, facts=facts, assumptions=("content logits within [-C, C]", "|S_r| nodes at r hops")
    )


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


def spheres_of_trees(*, bias: Bias, neighbours: int) -> Evidence:
    """Decide that in a tree with `neighbours` per node farther spheres weigh more at every slope that ALiBi has."""
    branches = neighbours - 1
    slope, hops = _SLOPE, sp.Symbol("r", positive=True)
    growth = sp.Symbol("g", positive=True)  # log of the branches
    factor = sp.exp(growth) * sp.exp(bias(slope, sp.S.One))

    def weight(distance: sp.Expr) -> sp.Expr:
        return neighbours * sp.exp(growth * (distance - 1)) * sp.exp(bias(slope, distance))

    fact = require_equal(
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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            fact,
            f"log({branches}) - 1 > 0, enclosed by {margin}",
            "every slope is 2 to a negative power, so below 1: each sphere weighs more than the one before it",
        ),
        assumptions=("equal contents", "an infinite tree, or spheres that do not reach a leaf"),
    )


def isomers(*, bias: Bias, molecules: Sequence[Sequence[tuple[int, int]]]) -> Evidence:
    """Decide that one attention layer tells two molecules of the same atoms apart, by the output at the oxygen.

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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"output at the oxygen: 1 over the sum of e^(-m d), d = {rows[0]} and {rows[1]}",
            require_equal(
                "difference of these sums, negative for every m > 0",
                lambda: totals[0] - totals[1],
                lambda: sp.exp(-2 * _SLOPE) * (sp.exp(-_SLOPE) - 1),
            ),
            f"at m = log 2: {outputs[0]} and {outputs[1]}",
            "without the graph the isomers are one multiset of atoms, and NoPE's scores move with the atoms: "
            f"{ruling.reason}; so do the outputs of attention to all atoms, of MLPs, and of any number of layers",
        ),
        assumptions=("heavy atoms; queries and keys 0",),
    )


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


def equal_atoms(*, normaliser: Normaliser) -> Evidence:
    """Decide that atoms of one kind keep equal states in every layer, whatever the bias."""
    for name, edges in _SKELETONS.items():
        rows = shortest_distances(_graph(edges)).tolist()
        sums = []
        for row in rows:
            logits = [_bias(_HALVING, sp.Integer(hops)) for hops in row]
            sums.append(sp.Add(*(normaliser(logit, logits) for logit in logits)))
        if len(set(sums)) > 1:
            raise Refuted(f"{name}, m = log 2: the atoms' outputs are {sums} times their value")
    value, first, others = sp.symbols("x w R", positive=True)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "output of a row: weights w and R, together, of the value x",
                lambda: (first * value + others * value) / (first + others),
                lambda: value,
            ),
            "so attention returns the common value at every node, and MLPs and norms act on each node alike: by "
            "induction over layers all states stay equal, in both molecules to the same vector",
            f"examples, exact: {', '.join(_SKELETONS)}",
        ),
        assumptions=("atoms enter by their kind alone: no degree, no ring, no charge, no position in the graph",),
    )


def _softmax(logit: sp.Expr, logits: Sequence[sp.Expr]) -> sp.Expr:
    return sp.exp(logit) / sp.Add(*map(sp.exp, logits))


def _sigmoid(logit: sp.Expr, logits: Sequence[sp.Expr]) -> sp.Expr:
    return 1 / (1 + sp.exp(-logit))


def _sharp(share: sp.Expr, gain: sp.Expr) -> sp.Expr:
    return gain * share / (1 - share + gain * share)


_FIRST_PROPANOL = tuple(pairwise(range(4)))
_SECOND_PROPANOL = ((0, 1), (1, 2), (1, 3))
_SKELETONS = {"butane": tuple(pairwise(range(4))), "isobutane": ((0, 1), (0, 2), (0, 3))}

CLAIMS = (
    Claim(
        id="graph-alibi-6",
        source=SOURCE,
        statement="If every content logit is within [-C, C], at most e^(2C) h / (1 - h + e^(2C) h) <= e^(2C) h of a "
        "node's attention lies at W hops or more, and this is attained; h is the share of r >= W in the sum of "
        "|S_r| e^(-mr), with |S_r| nodes at r hops.",
        latex=r"\sum_{d\ge W}a\le\frac{e^{2C}h}{1-h+e^{2C}h},\ h=\frac{\sum_{r\ge W}|S_r|e^{-mr}}{\sum|S_r|e^{-mr}}",
        label="F",
        check=window,
        holds={"bound": _sharp, "counted": lambda size: size},
        falsifiers={
            "one node at each distance, as in a sequence": {"counted": lambda size: 1},
            "without e^(2C)": {"bound": lambda share, gain: share},
            "e^C for e^(2C)": {"bound": lambda share, gain: _sharp(share, sp.sqrt(gain))},
        },
    ),
    Claim(
        id="graph-alibi-6-trees",
        source=SOURCE,
        statement="Among carbon skeletons that branch like a tree with 4 neighbours per atom, farther spheres of atoms "
        "weigh more at equal contents, at every slope of ALiBi: the number of atoms grows like 3^r, and the weight of "
        "each falls by less than e.",
        latex=r"|S_{r+1}|e^{-m(r+1)}/|S_r|e^{-mr}=3e^{-m}>1\quad(m<1)",
        label="F",
        check=spheres_of_trees,
        holds={"bias": _bias, "neighbours": 4},
        falsifiers={
            "3 neighbours": {"neighbours": 3},
            "twice the slopes": {"bias": lambda slope, hops: _bias(2 * slope, hops)},
        },
    ),
    Claim(
        id="graph-alibi-7",
        source=SOURCE,
        statement="One attention layer with graph ALiBi tells 1-propanol from 2-propanol at every slope; without the "
        "graph no number of layers does, as the atoms are the same.",
        latex=r"\Big(\sum_v e^{-m\,d(O,v)}\Big)_1-\Big(\sum_v e^{-m\,d(O,v)}\Big)_2=e^{-2m}(e^{-m}-1)<0",
        label="F",
        check=isomers,
        holds={"bias": _bias, "molecules": (_FIRST_PROPANOL, _SECOND_PROPANOL)},
        falsifiers={
            "without the graph": {"bias": lambda slope, hops: sp.S.Zero},
            "1-propanol twice, its carbons renumbered": {"molecules": (_FIRST_PROPANOL, ((0, 3), (3, 1), (1, 2)))},
        },
    ),
    Claim(
        id="graph-alibi-7-equal",
        source=SOURCE,
        statement="Attention by softmax with graph ALiBi leaves atoms of one kind in equal states at every depth, so "
        "it does not tell the carbon skeletons of butane and isobutane apart: atoms need features of their "
        "surroundings.",
        latex=r"x_v=x\ \forall v\Rightarrow\sum_v a_{uv}x_v=x",
        label="F",
        check=equal_atoms,
        holds={"normaliser": _softmax},
        falsifiers={
            "a sigmoid of each logit": {"normaliser": _sigmoid},
            "weights without a normaliser": {"normaliser": lambda logit, logits: sp.exp(logit)},
        },
    ),
)
