"""Distances of Cable: their additivity, their geometry, prefixes and caches, and the logarithm of K-Cable."""

from collections.abc import Callable, Sequence

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.induction import combine, empty_value, last_term
from lengthgen.proofs_checks.papers.cable import SOURCE
from lengthgen.proofs_checks.papers.cable.bias import OVER_PATHS, minus_gated
from lengthgen.proofs_checks.papers.fox.bias import RowTerm, Weight, sigmoid
from lengthgen.theory import exact
from lengthgen.theory.encodings import paths

_ROW = sp.symbols("g_j g_l D_lj D_il", real=True)
_POINTS = range(1, 6)
"""Numbers of tokens for which the quadratic form is written out."""


def gated_cocycle(*, defect: Callable[..., sp.Expr], gates: Callable[..., tuple[sp.Expr, sp.Expr]]) -> Evidence:
    """Decide B_ij = B_lj + B_il + `defect`, where the two paths have the gates of their queries.

    Args:
        defect: function of the gates of the queries j and l and of the distances from l to j and from i to l.
        gates: the same gates as they enter the biases with query j and with query l.
    """
    at_query, at_middle, near, far = _ROW
    i, middle, j = sp.symbols("i l j", integer=True)
    path, tail = (paths.cable_distance(paths.CABLE_STEPS, key=key, query=j) for key in (i, middle))
    added, added_to_tail = (
        last_term("D", part, paths.cable_distance(paths.CABLE_STEPS, key=key, query=j + 1))
        for part, key in ((path, i), (tail, middle))
    )
    first, second = gates(at_query, at_middle)
    tests = (
        ("step: D_i,j+1 - D_ij = D_l,j+1 - D_lj", lambda: combine(path, far + near, added) - far,
         lambda: combine(tail, near, added_to_tail)),
        (
            "B_ij = B_lj + B_il + what is stated",
            lambda: minus_gated(far + near, first),
            lambda: minus_gated(near, first) + minus_gated(far, second) + defect(at_query, at_middle, near, far),
        ),
    )  # fmt: skip
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            same_by_sympy(
                "base j = l: D_ll = 0",
                empty_value("D_ll", paths.cable_distance(paths.CABLE_STEPS, key=j, query=j)),
                sp.Integer(0),
            ),
            *(require_equal(*test) for test in tests),
            "the defect is 0 for all paths only if the gates of j and l are equal, as they are without gates",
        ),
        assumptions=(OVER_PATHS,),
    )


def geometry(*, kernel: Callable[[sp.Expr, sp.Expr], sp.Expr], total: sp.Expr) -> Evidence:
    """Decide that a kernel of the distances is symmetric, and that its form is not negative on weights of sum `total`.

    Args:
        kernel: kernel of a distance |S_i - S_j| and the gate of its row.
        total: sum of the weights.
    """
    gates, distance = sp.symbols("g_1 g_2", positive=True), sp.Symbol("D", positive=True)
    rows = [kernel(distance, gate) for gate in gates]
    if sp.expand(rows[0] - rows[1]) != 0:
        values = {gates[0]: 1, gates[1]: 2, distance: 1}
        raise Refuted(f"D = 1, gates 1 and 2: K_12 = {rows[0].subs(values)}, K_21 = {rows[1].subs(values)}")
    i, j = sp.symbols("i j", integer=True)
    if not (paths.CABLE_STEPS[i].is_positive and paths.CABLE_RECTIFIED[i].is_nonnegative):
        raise exact.Undecided("the signs of the steps are not known")
    _, first, last = paths.cable_distance(paths.CABLE_STEPS, key=i, query=j).limits[0]
    before, scale = sp.symbols("A s", real=True)
    form = 2 * before * (total - before) * kernel(scale, sp.Integer(1))
    if form.subs({before: 1, scale: 1}) < 0:
        raise Refuted(f"two tokens, s = 1, weights (1, {total - 1}): c^T K c = {form.subs({before: 1, scale: 1})}")
    facts = [
        "symmetric: the kernel of a pair does not depend on which of them is the query",
        same_by_sympy("a step l is on the path from i to j if i + 1 <= l", first, i + 1),
        same_by_sympy("and l <= j", last, j),
        require_equal(
            "so s_l has the factor 2 A (total - A) K(1), A the sum of the weights before l; this is a square",
            lambda: form,
            lambda: 2 * scale * before**2,
        ),
        *(_written_out(kernel, tokens) for tokens in _POINTS),
        "|S_i - S_j| is a distance of real numbers, so symmetric and triangular; it is 0 for tokens with steps of 0 "
        "between them, which the released code has not, and otherwise positive",
    ]
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("steps are not negative", "any number of tokens: the form is linear in the steps"),
    )


def _written_out(kernel: Callable[[sp.Expr, sp.Expr], sp.Expr], tokens: int) -> str:
    """Fact that the form of this many steps is the sum of 2 s_l A_l^2, for weights of sum 0."""
    weights: Sequence[sp.Expr] = sp.symbols(f"c1:{tokens + 1}", real=True)
    weights = (-sp.Add(*weights), *weights)
    steps = [sp.Symbol(f"s{index}", positive=True) for index in range(tokens + 1)]

    pairs = [(a, b) for a in range(tokens + 1) for b in range(a + 1, tokens + 1)]
    distances = {
        (a, b): paths.cable_distance(paths.CABLE_STEPS, key=sp.Integer(a), query=sp.Integer(b))
        .doit()
        .xreplace({paths.CABLE_STEPS[index]: step for index, step in enumerate(steps)})
        for a, b in pairs
    }
    return require_equal(
        f"{tokens + 1} tokens",
        lambda: sp.Add(*(2 * weights[a] * weights[b] * kernel(distances[a, b], sp.Integer(1)) for a, b in pairs)),
        lambda: sp.Add(*(2 * steps[at] * sp.Add(*weights[:at]) ** 2 for at in range(1, tokens + 1))),
    )


def after_a_prefix(*, weight: Weight, kept: RowTerm) -> Evidence:
    """Decide that a prefix, which adds one number to all running sums after it, leaves the weights as they are.

    Args:
        weight: weight of a key from exp of its logit, and that of the others.
        kept: part of S_j - S_i that enters the logit, a function of both.
    """
    s, start, j = sp.symbols("s t j", integer=True)
    at_query, at_key, other, content, prefix, gate, total = sp.symbols("S_j S_i w q.k P g S", real=True)
    long, short = (paths.cable_distance(paths.CABLE_STEPS, key=key, query=j) for key in (s, start))
    added, added_to_short = (
        last_term("S", part, paths.cable_distance(paths.CABLE_STEPS, key=key, query=j + 1))
        for part, key in ((long, s), (short, start))
    )

    def weight_with(shift: sp.Expr) -> sp.Expr:
        logit = content + minus_gated(kept(at_query + shift, at_key + shift), gate)
        return weight(sp.exp(logit), sp.exp(other))

    facts = (
        require_equal(
            "running sums from two origins keep their difference P when a token is added",
            lambda: combine(long, prefix + total, added) - combine(short, total, added_to_short),
            lambda: prefix,
        ),
        require_equal(
            "weight with S + P = weight with S",
            lambda: weight_with(prefix),
            lambda: weight_with(sp.Integer(0)),
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("the inputs of the layer at the later tokens are given, as in the first layer", OVER_PATHS),
    )


def tail(*, law: Callable[[sp.Expr], sp.Expr], power: sp.Expr, finite: bool) -> Evidence:
    """Decide the power of the distance with which the weight e^B falls for equal steps, and if its sum is finite.

    Args:
        law: bias of a distance.
        power: -D B'(D) for D to infinity.
        finite: True if the sum of the weights over all whole distances is finite.
    """
    distance, size, slope = sp.Symbol("D", positive=True), sp.Symbol("a", positive=True), sp.Symbol("m", positive=True)
    bias = law(size * distance)
    elasticity = sp.limit(sp.simplify(-distance * bias.diff(distance)), distance, sp.oo)
    if elasticity != power:
        raise Refuted(
            f"-D B'(D) tends to {elasticity}, not {power}: the weight is not a power -{power} of the distance"
        )
    if (power > 1) != finite:
        raise Refuted(f"the sum of D^-{power} over D is {'finite' if power > 1 else 'infinite'}")
    facts = (
        f"-D B'(D) tends to {elasticity}",
        require_equal("1/e^B = 1 + (a D)^2", lambda: 1 / sp.exp(bias), lambda: 1 + (size * distance) ** 2),
        require_equal(
            "(1/(D - 1) - 1/D)/a^2 exceeds 1/(a D)^2 by 1/(a^2 D^2 (D - 1)) > 0: the sum over D >= 2 is below 1/a^2",
            lambda: (1 / (distance - 1) - 1 / distance) / size**2 - 1 / (size * distance) ** 2,
            lambda: 1 / (size**2 * distance**2 * (distance - 1)),
        ),
        same_by_sympy(
            "ALiBi's weight divided by it tends to 0",
            sp.limit(sp.exp(-slope * distance) * (1 + (size * distance) ** 2), distance, sp.oo),
            sp.Integer(0),
        ),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("equal steps a > 0, equal content",))


def streaming(*, recalled: Callable[..., sp.Expr]) -> Evidence:
    """Decide that the biases of the next query follow from one cached number for each key.

    `recalled` takes the running sum at the new query, that cached with the key, the old bias, the step and the new
    gate.
    """
    i, j = sp.symbols("i j", integer=True)
    running, cached, old_gate, new_gate, step = sp.symbols("S_j S_i g_j g_j+1 s_j+1", real=True)
    path = paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=j)
    added = last_term("D", path, paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=j + 1))
    anew = combine(path, running - cached, added.subs(added, step))
    old = minus_gated(running - cached, old_gate)
    facts = [
        require_equal(
            "bias of the query j + 1",
            lambda: minus_gated(anew, new_gate),
            lambda: recalled(running + step, cached, old, step, new_gate),
        ),
        require_equal(
            "K-Cable: e^-B of the query j + 1",
            lambda: sp.exp(-paths.cable_logarithm(new_gate * anew)),
            lambda: 1 + recalled(running + step, cached, old, step, new_gate) ** 2,
        ),
    ]
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "S_i is fixed once the key is read, so it may be stored with it"),
        assumptions=(OVER_PATHS,),
    )


CLAIMS = (
    Claim(
        id="cable-5",
        source=SOURCE.at("definition of the bias"),
        statement="Distances add up along the path, and so do the biases of Cable without gates; with gates B_ij - "
        "B_lj - B_il = (g_l - g_j) times the distance from i to l.",
        latex=r"B_{ij}=B_{il}+B_{lj}+(g_l-g_i)(S_l-S_j),\quad j\le l\le i",
        label="F",
        check=gated_cocycle,
        holds={
            "defect": lambda at_query, at_middle, near, far: (at_middle - at_query) * far,
            "gates": lambda at_query, at_middle: (at_query, at_middle),
        },
        falsifiers={
            "no defect whatever the gates": {"defect": lambda at_query, at_middle, near, far: sp.Integer(0)},
            "the defect of the near part": {
                "defect": lambda at_query, at_middle, near, far: (at_middle - at_query) * near
            },
            "the defect where there are no gates": {"gates": lambda at_query, at_middle: (sp.S.One, sp.S.One)},
        },
    ),
    Claim(
        id="cable-7",
        source=SOURCE.at("the distance between tokens; Kerple's condition: arXiv 2205.09921"),
        statement="|S_i - S_j| is a pseudo-metric on the tokens, a metric in the released code, and -|S_i - S_j| is "
        "conditionally positive definite for every input; with the gate of the query it is not symmetric.",
        latex=r"\sum_ic_i=0\Rightarrow-\sum_{i,j}c_ic_j|S_i-S_j|=2\sum_ls_l\Big(\sum_{i<l}c_i\Big)^2\ge0",
        label="F",
        check=geometry,
        holds={"kernel": lambda distance, gate: minus_gated(distance, sp.Integer(1)), "total": sp.Integer(0)},
        falsifiers={
            "with the gate of the query": {"kernel": minus_gated},
            "for weights of sum 2": {"total": sp.Integer(2)},
            "+|S_i - S_j|": {"kernel": lambda distance, gate: -minus_gated(distance, sp.Integer(1))},
            "twice the distance": {"kernel": lambda distance, gate: minus_gated(distance, sp.Integer(2))},
        },
    ),
    Claim(
        id="cable-8",
        source=SOURCE.at("running sums S"),
        statement="A prefix changes the biases among later tokens only through the layer's inputs: it adds one number "
        "to all later running sums, and their differences stay, under sigmoid attention too.",
        latex=r"(S_i+P)-(S_j+P)=S_i-S_j",
        label="F",
        check=after_a_prefix,
        holds={"weight": sigmoid, "kept": lambda at_query, at_key: at_query - at_key},
        falsifiers={
            "the key's running sum alone": {"kept": lambda at_query, at_key: -at_key},
            "the query's running sum alone": {"kept": lambda at_query, at_key: at_query},
        },
    ),
    Claim(
        id="cable-9",
        source=SOURCE.at("K-Cable, the logarithmic kernel; its tail is ours"),
        statement="With equal steps the weights of K-Cable fall like the distance to the power -2: their sum is "
        "finite, and ALiBi's exponential weights are ever smaller beside them.",
        latex=r"e^{-\log(1+a^2D^2)}=\frac{1}{1+a^2D^2},\quad\sum_{D}\frac{1}{1+a^2D^2}<\infty",
        label="F",
        check=tail,
        holds={
            "law": lambda distance: paths.cable_logarithm(distance_=distance),
            "power": sp.Integer(2),
            "finite": True,
        },
        answers=("power", "finite"),
        falsifiers={
            "exponential": {"law": lambda distance: minus_gated(distance, sp.Integer(1))},
            "Kerple's log(1 + D)": {"law": lambda distance: -sp.log(1 + distance)},
            "log(2 + D^2)": {"law": lambda distance: -sp.log(2 + distance**2)},
        },
    ),
    Claim(
        id="cable-10",
        source=SOURCE.at("inference: one number per head and token is cached"),
        statement="With the running sum S_i stored beside each key, the biases of the next query are those of a full "
        "recomputation, with gates and under the logarithm too; rows of biases cannot be stored instead.",
        latex=r"B_{i+1,j}=-g_{i+1}(S_{i+1}-S_j)",
        label="F",
        check=streaming,
        holds={"recalled": lambda running, cached, old, step, gate: minus_gated(running - cached, gate)},
        falsifiers={
            "the row of the query before": {"recalled": lambda running, cached, old, step, gate: old},
            "that row and the new step": {
                "recalled": lambda running, cached, old, step, gate: old + minus_gated(step, gate)
            },
        },
    ),
)
