"""Cable: the distances between tokens that its bias sums up; gates of 1, prefixes and caches, the tail of K-Cable."""

from itertools import combinations

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, Side, combine, derivative, empty_value, next_term, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.cable import SOURCE, any_distance, i, j, minus_gated, text_distance, text_step
from lengthgen.proofs_checks.papers.fox import OVER_PATHS, sigmoid
from lengthgen.theory.encodings import paths
from lengthgen.theory.zero.sympy_engine import Undecided

CLAIMS = PaperClaims(SOURCE)
_MOST_TOKENS = 6
"""Largest number of tokens for which the quadratic form is written out."""


@CLAIMS.claim(
    "cable-6",
    "the variant without gates (NW)",
    r"e^{B_{ij}}=\prod_{l=j+1}^{i}e^{-\mathrm{ReLU}(z_l)},\quad f_l=1,\ \partial f_l/\partial z_l=0\ (z_l<0)",
    assumptions=(OVER_PATHS,),
    falsifiers={
        "softplus, whose gates stay below 1": {"step": lambda logit: -paths.cable_log_gate(logit)},
        "gates that grow": {"gate_of": sp.exp},
        "gates 1 - s": {"gate_of": lambda step: 1 - step},
    },
)
def gate_of_one(step: Formula = text_step, gate_of: Formula = lambda step: sp.exp(-step)) -> Facts:
    """Cable without gates is a path product as in FoX, of f = e^(-ReLU(z)): a gate is exactly 1 at every z <= 0, and
    at z < 0 its gradient is 0.
    """
    D, s = sp.symbols("D s", real=True)
    z, down = sp.Symbol("z", negative=True), sp.Symbol("p", nonnegative=True)
    added = next_term("D", text_distance, i, j)
    longer = combine(text_distance(i, j), D, added.subs(added, s))
    refute(gate_of(step(-down)) != 1, f"z = -1: the gate is {sp.N(gate_of(step(sp.S.NegativeOne)), 4)}, not 1")
    one_more = "step: e^B of a path with one token more = e^B times its gate"
    yield one_more, lambda: sp.exp(minus_gated(longer)), lambda: sp.exp(minus_gated(D)) * gate_of(s)
    yield same_by_sympy("the step at z >= 0 is z", step(down), down)
    yield "the gate is 1 at every z <= 0, which no sigmoid is"
    yield same_by_sympy("and its derivative at z < 0 is 0: no gradient", derivative(step(z), z), sp.S.Zero)


@CLAIMS.claim(
    "cable-5",
    "definition of the bias",
    r"B_{ij}=B_{il}+B_{lj}+(g_l-g_j)D_{il},\quad i\le l\le j",
    assumptions=(OVER_PATHS,),
    falsifiers={
        "no defect whatever the gates": {"defect": lambda at_query, at_middle, near, far: sp.S.Zero},
        "the defect of the near part": {"defect": lambda at_query, at_middle, near, far: (at_middle - at_query) * near},
        "the defect where there are no gates": {"gates": lambda at_query, at_middle: (sp.S.One, sp.S.One)},
    },
)
def gated_cocycle(
    defect: Formula = lambda g_j, g_l, D_lj, D_il: (g_l - g_j) * D_il, gates: Formula = lambda g_j, g_l: (g_j, g_l)
) -> Facts:
    """Distances add up along the path, and so do the biases of Cable without gates; with gates B_ij - B_lj - B_il =
    (g_l - g_j) times the distance from i to l, for the key i, the query j and l between them.
    """
    row = g_j, g_l, D_lj, D_il = sp.symbols("g_j g_l D_lj D_il", real=True)
    mid = sp.Symbol("l", integer=True)
    first, second = gates(g_j, g_l)
    added, added_to_tail = (next_term("D", any_distance, key, j) for key in (i, mid))
    path, tail = any_distance(i, j), any_distance(mid, j)
    yield same_by_sympy("base j = l: D_ll = 0", empty_value("D_ll", any_distance(j, j)), sp.S.Zero)
    yield (
        "step: D_i,j+1 - D_ij = D_l,j+1 - D_lj",
        lambda: combine(path, D_il + D_lj, added) - D_il,
        lambda: combine(tail, D_lj, added_to_tail),
    )
    yield (
        "B_ij = B_lj + B_il + what is stated",
        lambda: minus_gated(D_il + D_lj, first),
        lambda: minus_gated(D_lj, first) + minus_gated(D_il, second) + defect(*row),
    )
    yield "the defect is 0 for all paths only if the gates of j and l are equal, as they are without gates"


def _written_out(kernel: Formula, tokens: int) -> tuple[str, Side, Side]:
    """Identity: the form of this many tokens is the sum of 2 s_l A_l^2, for weights of sum 0."""
    weights = sp.symbols(f"c1:{tokens}", real=True)
    weights = (-sp.Add(*weights), *weights)
    steps = [sp.Symbol(f"s{index}", positive=True) for index in range(tokens)]
    values = {paths.CABLE_STEPS[index]: step for index, step in enumerate(steps)}
    pairs = [
        (weights[a], weights[b], any_distance(sp.Integer(a), sp.Integer(b)).doit().xreplace(values))
        for a, b in combinations(range(tokens), 2)
    ]
    return (
        f"{tokens} tokens",
        lambda: sp.Add(*(2 * first * second * kernel(distance, sp.S.One) for first, second, distance in pairs)),
        lambda: sp.Add(*(2 * steps[at] * sp.Add(*weights[:at]) ** 2 for at in range(1, tokens))),
    )


@CLAIMS.claim(
    "cable-7",
    "the distance between tokens; Kerple's condition: arXiv 2205.09921",
    r"\sum_ic_i=0\Rightarrow-\sum_{i,j}c_ic_j|S_i-S_j|=2\sum_ls_l\Big(\sum_{i<l}c_i\Big)^2\ge0",
    assumptions=("steps are not negative", "any number of tokens: the form is linear in the steps"),
    falsifiers={
        "with the gate of the query": {"kernel": minus_gated},
        "for weights of sum 2": {"total": sp.Integer(2)},
        "+|S_i - S_j|": {"kernel": lambda distance, gate: -minus_gated(distance)},
        "the cube of the distance": {"kernel": lambda distance, gate: minus_gated(distance**3)},
    },
)
def geometry(kernel: Formula = lambda D, gate: minus_gated(D), total: sp.Expr = sp.S.Zero) -> Facts:
    """|S_i - S_j| is a pseudo-metric on the tokens, a metric in the released code, and -|S_i - S_j| is conditionally
    positive definite for every input; with the gate of the query it is in general not symmetric.
    """
    gates, D = sp.symbols("g_1 g_2", positive=True), sp.Symbol("D", positive=True)
    rows = [kernel(D, gate) for gate in gates]
    at_one = [row.subs({gates[0]: 1, gates[1]: 2, D: 1}) for row in rows]
    refute(sp.expand(rows[0] - rows[1]) != 0, f"D = 1, gates 1 and 2: K_12 = {at_one[0]}, K_21 = {at_one[1]}")
    if not (paths.CABLE_STEPS[i].is_positive and paths.CABLE_RECTIFIED[i].is_nonnegative):
        raise Undecided("the signs of the steps are not known")
    _, first, last = any_distance(i, j).limits[0]
    A, s = sp.symbols("A s", real=True)
    form = 2 * A * (total - A) * kernel(s, sp.S.One)
    value = form.subs({A: 1, s: 1})
    refute(value < 0, f"two tokens, s = 1, weights (1, {total - 1}): c^T K c = {value}")
    middle = 2 * (kernel(sp.Integer(2), sp.S.One) - 4 * kernel(sp.S.One, sp.S.One))
    refute(middle < 0, f"three tokens, s = 1, weights (1, -2, 1): c^T K c = {middle}")
    yield "symmetric: the kernel of a pair does not depend on which of them is the query"
    yield same_by_sympy("a step l is on the path from i to j if i + 1 <= l", first, i + 1)
    yield same_by_sympy("and l <= j", last, j)
    square = "so s_l has the factor 2 A (total - A) K(1), A the sum of the weights before l; this is a square"
    yield square, lambda: form, lambda: 2 * s * A**2
    for tokens in range(2, _MOST_TOKENS + 1):
        yield _written_out(kernel, tokens)
    yield (
        "|S_i - S_j| is a distance of real numbers, so symmetric and triangular; it is 0 for tokens with steps of 0 "
        "between them, which the released code has not, and otherwise positive"
    )


@CLAIMS.claim(
    "cable-8",
    "running sums S",
    r"(S_i+P)-(S_j+P)=S_i-S_j",
    assumptions=("the inputs of the layer at the later tokens are given, as in the first layer", OVER_PATHS),
    falsifiers={
        "the key's running sum alone": {"kept": lambda at_query, at_key: -at_key},
        "the query's running sum alone": {"kept": lambda at_query, at_key: at_query},
    },
)
def after_a_prefix(weight: Formula = sigmoid, kept: Formula = lambda S_j, S_i: S_j - S_i) -> Facts:
    """A prefix changes the biases among later tokens only through the layer's inputs: it adds one number to all later
    running sums, and their differences stay, under sigmoid attention too.
    """
    s, start = sp.symbols("s t", integer=True)
    S_j, S_i, w, qk, P, g, S = sp.symbols("S_j S_i w q.k P g S", real=True)
    added, added_to_short = (next_term("S", any_distance, key, j) for key in (s, start))
    long, short = any_distance(s, j), any_distance(start, j)

    def weight_with(shift: sp.Expr) -> sp.Expr:
        logit = qk + minus_gated(kept(S_j + shift, S_i + shift), g)
        return weight(sp.exp(logit), sp.exp(w))

    origins = "running sums from two origins keep their difference P when a token is added"
    yield origins, lambda: combine(long, P + S, added) - combine(short, S, added_to_short), lambda: P
    yield "weight with S + P = weight with S", lambda: weight_with(P), lambda: weight_with(sp.S.Zero)


@CLAIMS.claim(
    "cable-9",
    "K-Cable, the logarithmic kernel; its tail is ours",
    r"e^{-\log(1+a^2D^2)}=\frac{1}{1+a^2D^2},\quad\sum_{D}\frac{1}{1+a^2D^2}<\infty",
    assumptions=("equal steps a > 0, equal content",),
    answers=("power", "finite"),
    falsifiers={
        "exponential": {"law": minus_gated},
        "Kerple's log(1 + D)": {"law": lambda distance: -sp.log(1 + distance)},
        "half the kernel": {"law": lambda distance: paths.cable_logarithm(distance) / 2},
    },
)
def tail(law: Formula = paths.cable_logarithm, power: sp.Expr = sp.Integer(2), finite: bool = True) -> Facts:
    """With equal steps the weights of K-Cable fall like the distance to the power -2: their sum is finite, and ALiBi's
    exponential weights divided by them tend to 0.

    `power` is -D B'(D) for D to infinity; `finite` says if the sum of the weights over all whole distances is finite.
    """
    D, a, m = sp.symbols("D a m", positive=True)
    bias, squared = law(a * D), (a * D) ** 2
    elasticity = sp.limit(sp.simplify(-D * bias.diff(D)), D, sp.oo)
    no_power = f"the weight is not a power -{power} of the distance"
    refute(elasticity != power, f"-D B'(D) tends to {elasticity}, not {power}: {no_power}")
    refute((power > 1) != finite, f"the sum of D^-{power} over D is {'finite' if power > 1 else 'infinite'}")
    yield f"-D B'(D) tends to {elasticity}"
    yield "1/e^B = 1 + (a D)^2", lambda: 1 / sp.exp(bias), lambda: 1 + (a * D) ** 2
    yield (
        "(1/(D - 1) - 1/D)/a^2 exceeds 1/(a D)^2 by 1/(a^2 D^2 (D - 1)) > 0: the sum over D >= 2 is below 1/a^2",
        lambda: (1 / (D - 1) - 1 / D) / a**2 - 1 / (a * D) ** 2,
        lambda: 1 / (a**2 * D**2 * (D - 1)),
    )
    ratio = sp.limit(sp.exp(-m * D) * (1 + squared), D, sp.oo)
    yield same_by_sympy("ALiBi's weight divided by it tends to 0", ratio, sp.S.Zero)


@CLAIMS.claim(
    "cable-10",
    "inference: one number per head and token is cached",
    r"B_{i+1,j}=-g_{i+1}(S_{i+1}-S_j)",
    assumptions=(OVER_PATHS,),
    falsifiers={
        "the row of the query before": {"recalled": lambda S_j, S_i, old, step, gate: old},
        "that row and the new step": {"recalled": lambda S_j, S_i, old, step, gate: old + minus_gated(step, gate)},
    },
)
def streaming(recalled: Formula = lambda S_j, S_i, old, s, gate: minus_gated(S_j - S_i, gate)) -> Facts:
    """With the running sum S_i stored beside each key, the biases of the next query are those of a full recomputation,
    with gates and under the logarithm too; with gates the row of the query before, or that row less its new step, is
    in general not the new row.
    """
    S_j, S_i, g_j, g, s = sp.symbols("S_j S_i g_j g_j+1 s_j+1", real=True)
    added = next_term("D", text_distance, i, j)
    anew = combine(text_distance(i, j), S_j - S_i, added.subs(added, s))
    read = S_j + s, S_i, minus_gated(S_j - S_i, g_j), s, g
    yield "bias of the query j + 1", lambda: minus_gated(anew, g), lambda: recalled(*read)
    of_log = paths.cable_logarithm
    yield "K-Cable: e^-B of the query j + 1", lambda: sp.exp(-of_log(g * anew)), lambda: 1 + recalled(*read) ** 2
    yield "S_i is fixed once the key is read, so it may be stored with it"
